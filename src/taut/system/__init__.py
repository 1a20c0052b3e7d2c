"""Particles and masses, constraints q = Pᵀq̂ + b(t), the sparsity pattern, assembly of V, f, K and D."""
