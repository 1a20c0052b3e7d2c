"""Algebra without physics: linear solvers, Newton's method, L-BFGS, line search, tolerances."""
