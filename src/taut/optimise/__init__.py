"""Minimisation of smooth functions of particle positions, without physics.

newton : Newton's method in a trust region, with a certificate: the place to start reading
lbfgs : L-BFGS around a constant matrix that is factorised once
descent : the objective and a point of it, the record of a minimisation and its certificate
_line_search : how far to go along a direction; when the accepted steps stagnate
tolerance : residual tolerances and rounding floors, particle by particle
"""
