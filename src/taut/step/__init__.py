"""Time: one integrator per file, each a formula plus its order. Rest: equilibria, their stability and vibrations, forms."""
