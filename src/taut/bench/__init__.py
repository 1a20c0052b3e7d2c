"""The speed of taut on this machine, as ratios to C++ programs.

What `taut bench` runs.

suite            all rows by name; select, measure and report them
row              a row: a measured figure with its target
step_rows        rows of single integrators on the cloth
converged        rows of converged implicit steps; cholmod: the C++ program they are compared with
newton_rows      rows on the iterations and failures of Newton's method
contact          rows on a cloth that drapes over a sphere
solid            the row of a solid of tetrahedra
small_steps      rows on a pendulum and a chain against plain NumPy, and on many copies at once
growth           rows on the growth of cost with the mesh, and on threads
passes           rows on the memory traffic of a step, in passes over the matrix
roofline         rows relative to the memory bandwidth; triad_kernels: the loop that measures it
processes        rows that need a process of their own: memory, time to the first step
baseline         the plain C++/Eigen step, whose time most other times are divided by
cpp_program      build a C++ program of this folder
net              the bodies that are timed; trajectory: step them through time
timing           time a function, set the number of threads; accuracy: the accuracy of a step
plots            plots of the results
checkout         modules of `benchmarks/` in a source checkout
"""
