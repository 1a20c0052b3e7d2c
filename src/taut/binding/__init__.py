"""Laws: a formula with its parameters, bound to elements, placed among particles.

decorators     `energy`, `dissipation` and `load`, which make a law of a formula
law            `Law`: a formula and its parameters; `BoundLaw`: with elements and values, as an
               `Energy`, `Damping` or `Load`
placed_law     `PlacedLaw`: a bound law among the particles of a system, ready to evaluate
_parameters    its parameters, resolved to numbers or functions of time
_elements      its elements, checked
compiled_law   `CompiledLaw`: one form of a law with its derivatives and compiled loops
law_products   products of its higher derivatives with vectors, for gradients through steps
batch_call     calls a compiled batch by its address
batch_kernels  the loop over elements that all laws share
"""
