"""Statics: equilibrium, stability, natural vibrations, form finding.

equilibrium : a stable equilibrium under a load, or under a sequence of load factors
path : equilibrium paths through limit points, critical points, branches
buckling : linear buckling factors
determinacy : the equilibrium matrix, self-stress, mechanisms
stability : the smallest eigenvalues of the stiffness, counts, mechanisms
modes : natural frequencies, mode shapes, damping ratios
form_finding : the equilibrium form of nets and membranes of given forces
crumpling : whether thin bodies will crumple under their loads, so that steps take long

_equilibrium_search : down to an equilibrium, away from saddles, load factor by load factor
_proximal_descent : a descent that also works where the stiffness is singular or indefinite
_curvature : the lower end of the spectrum by pivots, or where they cost too much by iteration
_static_objective : the energy at rest as an objective; the checks all of statics begins with
_rigid_motions : rigid motions that constraints leave free and nothing resists
_parametrised_forces : unbalanced forces as functions of a load factor, or of time
_path_search : one step of a path: tangent, Newton's method with a border
_path_follower : how long steps are, and where a path ends
_critical_points : limit points and bifurcations on a step
_slack_chains : load factors that lead to the equilibrium of a slack chain
_form_search : from any start to the form, with good triangles along it
_form_accuracy : how far a form can be from the one sought, by solver and by mesh
_membrane : areas, normals, qualities and forces of triangles
_tangential_moves : where along a membrane its points belong
_form_arguments : the arguments of form finding, checked
_strut_net : the linear problem of nets with struts
_certificate : what results report about their residuals
"""
