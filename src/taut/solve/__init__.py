"""Algebra without physics: linear solvers, Newton's method, line search."""
