"""Statics: equilibrium, stability, natural vibrations, form finding.

equilibrium : a stable equilibrium under a load, or under a sequence of load factors
stability : the smallest eigenvalues of the stiffness, counts, mechanisms
modes : natural frequencies and mode shapes
form_finding : the equilibrium form of nets and membranes in tension
crumpling : whether thin bodies will crumple under their loads, so that steps take long

_equilibrium_search : down to an equilibrium, away from saddles, load factor by load factor
_proximal_descent : a descent that also works where the stiffness is singular or indefinite
_curvature : the lower end of the spectrum by pivots, or where they cost too much by iteration
_static_objective : the energy at rest as an objective; the checks all of statics begins with
_form_search : linear steps of force densities, then Newton's method across the membrane
_certificate : what results report about their residuals
"""
