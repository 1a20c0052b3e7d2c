"""The catalogue: what stores or dissipates energy, one law per small file."""

from taut.laws.cable import cable
from taut.laws.drag import drag
from taut.laws.force import force
from taut.laws.gravity import gravity
from taut.laws.pin import pin
from taut.laws.rayleigh import rayleigh
from taut.laws.rod_hinge import rod_hinge
from taut.laws.spring import spring
from taut.laws.spring_damping import spring_damping
from taut.laws.surface_tension import surface_tension
from taut.laws.zero_length_spring import zero_length_spring

__all__ = [
    "cable", "drag", "force", "gravity", "pin", "rayleigh", "rod_hinge", "spring", "spring_damping", "surface_tension",
    "zero_length_spring",
]  # fmt: skip
