"""The catalogue: laws that store or dissipate energy or apply forces, one per file.

Along lines      spring, zero_length_spring, cable, stiffening_spring, strain_limit,
                 plastic_spring, discrete_shell_edge, rod_bending, planar_rod_bending, rod_clamp,
                 rod_hinge
Sheets           shell_bending, plastic_bending, bridson_bending, discrete_shell_bending, area,
                 area_barrier, discrete_shell_area, surface_tension, stvk_membrane,
                 orthotropic_membrane, neo_hookean_membrane
Volumes          volume, volume_barrier, pressure, membrane_pressure, gas, enclosed_volume,
                 neo_hookean_solid, corotated_solid
External forces  gravity, force, wind, pin; attachment and offset_attachment join bodies
Form finding     force_density, tension, equal_lengths, planarity, plane_spring, sphere_spring
Damping          spring_damping, bridson_damping, drag, rayleigh
Contact          point_point_contact, point_edge_contact, point_triangle_contact,
                 edge_edge_contact, plane_contact, contact_friction
_geometry        lengths, angles, areas and volumes that several of them share
_barrier         the energy of a gap, which the laws of contact share
_continuum       deformation gradients, moduli and metrics of the laws of continua
"""

from taut.laws.area import area
from taut.laws.area_barrier import area_barrier
from taut.laws.attachment import attachment
from taut.laws.bridson_bending import bridson_bending
from taut.laws.bridson_damping import bridson_damping
from taut.laws.cable import cable
from taut.laws.contact_friction import contact_friction
from taut.laws.corotated_solid import corotated_solid
from taut.laws.discrete_shell_area import discrete_shell_area
from taut.laws.discrete_shell_bending import discrete_shell_bending
from taut.laws.discrete_shell_edge import discrete_shell_edge
from taut.laws.drag import drag
from taut.laws.edge_edge_contact import edge_edge_contact
from taut.laws.enclosed_volume import enclosed_volume
from taut.laws.equal_lengths import equal_lengths
from taut.laws.force import force
from taut.laws.force_density import force_density
from taut.laws.gas import gas
from taut.laws.gravity import gravity
from taut.laws.membrane_pressure import membrane_pressure
from taut.laws.neo_hookean_membrane import neo_hookean_membrane
from taut.laws.neo_hookean_solid import neo_hookean_solid
from taut.laws.offset_attachment import offset_attachment
from taut.laws.orthotropic_membrane import orthotropic_membrane
from taut.laws.pin import pin
from taut.laws.planar_rod_bending import planar_rod_bending
from taut.laws.planarity import planarity
from taut.laws.plane_contact import plane_contact
from taut.laws.plane_spring import plane_spring
from taut.laws.plastic_bending import plastic_bending
from taut.laws.plastic_spring import plastic_spring
from taut.laws.point_edge_contact import point_edge_contact
from taut.laws.point_point_contact import point_point_contact
from taut.laws.point_triangle_contact import point_triangle_contact
from taut.laws.pressure import pressure
from taut.laws.rayleigh import rayleigh
from taut.laws.rod_bending import rod_bending
from taut.laws.rod_clamp import rod_clamp
from taut.laws.rod_hinge import rod_hinge
from taut.laws.shell_bending import shell_bending
from taut.laws.sphere_spring import sphere_spring
from taut.laws.spring import spring
from taut.laws.spring_damping import spring_damping
from taut.laws.stiffening_spring import stiffening_spring
from taut.laws.strain_limit import strain_limit
from taut.laws.stvk_membrane import stvk_membrane
from taut.laws.surface_tension import surface_tension
from taut.laws.tension import tension
from taut.laws.volume import volume
from taut.laws.volume_barrier import volume_barrier
from taut.laws.wind import wind
from taut.laws.zero_length_spring import zero_length_spring

__all__ = [
    "area",
    "area_barrier",
    "attachment",
    "bridson_bending",
    "bridson_damping",
    "cable",
    "contact_friction",
    "corotated_solid",
    "discrete_shell_area",
    "discrete_shell_bending",
    "discrete_shell_edge",
    "drag",
    "edge_edge_contact",
    "enclosed_volume",
    "equal_lengths",
    "force",
    "force_density",
    "gas",
    "gravity",
    "membrane_pressure",
    "neo_hookean_membrane",
    "neo_hookean_solid",
    "offset_attachment",
    "orthotropic_membrane",
    "pin",
    "planar_rod_bending",
    "planarity",
    "plane_contact",
    "plane_spring",
    "plastic_bending",
    "plastic_spring",
    "point_edge_contact",
    "point_point_contact",
    "point_triangle_contact",
    "pressure",
    "rayleigh",
    "rod_bending",
    "rod_clamp",
    "rod_hinge",
    "shell_bending",
    "sphere_spring",
    "spring",
    "spring_damping",
    "stiffening_spring",
    "strain_limit",
    "stvk_membrane",
    "surface_tension",
    "tension",
    "volume",
    "volume_barrier",
    "wind",
    "zero_length_spring",
]
