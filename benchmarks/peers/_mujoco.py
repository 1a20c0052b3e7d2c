"""MuJoCo's flex as a cloth of the same size and mass: a membrane with the moduli of the springs.

A square lattice with structural springs k and shear springs s has C₁₁ = k + s, C₁₂ = s, hence E t =
(C₁₁² - C₁₂²)/C₁₁ and ν = C₁₂/C₁₁. It has no bending stiffness, as the skip-one springs have none
where the cloth is flat. Steps of this length need MuJoCo 4, whose integrator "discrete" takes
elasticity implicitly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from taut.arrays import Float
from taut.bench.contact import HEIGHT, RADIUS
from taut.bench.net import CLOTH_MASS, SHEAR, STRUCTURAL, Net
from taut.bench.trajectory import H

THICKNESS = 1e-3  # [m]
MODEL = """
<mujoco>
  <option timestep="{h}" gravity="0 -9.81 0" integrator="discrete"/>
  <size memory="2G"/>
  <worldbody>
    <flexcomp name="cloth" type="grid" dim="2" count="{n} {n} 1" spacing="{d} {d} {d}" pos="0.5 0 0.5" euler="90 0 0" mass="{mass}"
              radius="1e-4">
      <elasticity young="{young}" poisson="{poisson}" thickness="{thickness}" elastic2d="stretch"/>
      <contact selfcollide="none" contype="0" conaffinity="0"/>
      <pin id="{pins}"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""

# Without a pin, above a sphere, with contact that is free of intersections and of friction
DRAPE = """
<mujoco>
  <option timestep="{h}" gravity="0 -9.81 0" integrator="discrete"><flag ipc="enable"/></option>
  <size memory="4G"/>
  <worldbody>
    <geom type="sphere" size="{radius}"/>
    <flexcomp name="cloth" type="grid" dim="2" count="{n} {n} 1" spacing="{d} {d} {d}" pos="0 {height} 0" euler="90 0 0" mass="{mass}"
              radius="1e-3">
      <elasticity young="{young}" poisson="{poisson}" thickness="{thickness}" elastic2d="stretch"/>
      <contact selfcollide="auto"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def _moduli() -> dict[str, float]:
    """Return the membrane with the moduli of the springs."""
    c11, c12 = STRUCTURAL + SHEAR, SHEAR
    return {
        "mass": CLOTH_MASS,
        "thickness": THICKNESS,
        "young": (c11**2 - c12**2) / c11 / THICKNESS,
        "poisson": c12 / c11,
    }


class _Flex:
    def __init__(self, net: Net, n: int) -> None:
        import mujoco

        text = MODEL.format(h=H, n=n, d=1.0 / (n - 1), pins=f"0 {n - 1}", **_moduli())
        self._mujoco = mujoco
        self._model = mujoco.MjModel.from_xml_string(text)
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)
        self._before = self._positions()

    def _positions(self) -> Float:
        return np.array(self._data.flexvert_xpos, dtype=np.float64)

    def step(self) -> None:
        self._before = self._positions()
        self._mujoco.mj_step(self._model, self._data)
        self._mujoco.mj_kinematics(self._model, self._data)
        self._mujoco.mj_flex(self._model, self._data)

    def state(self) -> tuple[Float, Float]:
        q = self._positions()
        return q, (q - self._before) / H


def flex(net: Net, n: int) -> _Flex:
    """Return a Stepper of a flex grid."""
    return _Flex(net, n)


def drape(n: int) -> Callable[[], None]:
    """Return a function that takes a step of a cloth that falls on a sphere."""
    import mujoco

    height = RADIUS + HEIGHT + 1e-3  # of its middle surface, 1 mm thick to each side
    text = DRAPE.format(h=H, n=n, d=1.0 / (n - 1), radius=RADIUS, height=height, **_moduli())
    # Otherwise it writes warnings to a file in the working directory.
    mujoco.set_mju_user_warning(lambda warning: print(warning, file=sys.stderr))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return lambda: mujoco.mj_step(model, data)
