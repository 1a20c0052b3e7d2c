"""Source to machine code: compiled once, cached, loaded only from files that can be trusted.

compile             source modules, generated or of the package, compiled or loaded from the cache
background_compile  another process compiles what will be needed soon
kernel_cache        the folder of the cache, and the checks before code in it is run
runtime             what generated source imports: safe primitives, stack arrays, the batch's type
_numba_patches      all changes inside of Numba
"""
