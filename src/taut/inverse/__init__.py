"""Inverse problems: gradients through steps, shapes and frequencies, and what they are good for.

gradient      `taut.gradient`, of a loss of a run, an equilibrium, frequencies or a form
result        `Gradient`: a gradient with its error bound, and where there is none
sensitivity   `taut.sensitivity`: all states by a few parameters; `hessian_product`
fit           `taut.fit`: parameters from experiments; `unknown`: the parameters;
              `journal`: the evaluations of a fit
observations  experiments: points over time; `rest_observations`: shapes, forces, frequencies
study         study files: a scene, its unknowns and what was observed; `_study_data`: data files
sag_free      `taut.sag_free`: rest values for which a shape is in equilibrium
targets       what can be differentiated by: names such as "spring.k"; `_collect`: their gradients
tableaux      each integrator as data, from which its derivative follows; `_sums`: their arithmetic
_stages       the derivative of a step backward; `_tangents`: forward, along the `_directions` of
              parameters; `_stage_points`: where its stages were solved
_moment       one step with its constraints, matrices and linear solves
_forces       products of the derivatives of all forces with vectors; `_part`: of one law;
              `_kinks`: where there is none
_friction     derivatives of friction with those of its normal forces, normals and weights
_sweep        the backward sweep over a tape
_tape         the steps of a run, kept or taken again; `_run_tape`: those of a run folder;
              `_polished_tape`: solved once more
_statics      gradients of equilibria and forms, from a `_static_point`; `_frequencies`: of
              frequencies
"""

from taut.inverse._collect import PathGradient
from taut.inverse.fit import Fit
from taut.inverse.observations import Motion
from taut.inverse.rest_observations import Forces, Frequencies, Shape
from taut.inverse.result import Gradient
from taut.inverse.sensitivity import Sensitivity, hessian_product
from taut.inverse.unknown import Unknown

__all__ = [
    "Fit",
    "Forces",
    "Frequencies",
    "Gradient",
    "Motion",
    "PathGradient",
    "Sensitivity",
    "Shape",
    "Unknown",
    "hessian_product",
]
