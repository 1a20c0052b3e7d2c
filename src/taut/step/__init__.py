"""Time: one integrator per file, each a formula plus its order."""
