"""The speed of taut on this machine, as ratios to a plain C++/Eigen step.

What `taut bench` runs.

suite            all rows by name; select, measure and report them
row              a row: a measured figure with its target
step_rows        rows of single integrators on the cloth
solid            the row of a solid of tetrahedra
growth           rows on the growth of cost with the mesh, and on threads
roofline         rows relative to the memory bandwidth; triad_kernels: the loop that measures it
processes        rows that need a process of their own: memory, time to the first step
baseline         the plain C++/Eigen step, whose time all other times are divided by
net              the bodies that are timed; trajectory: step them through time
timing           time a function, set the number of threads; accuracy: the accuracy of a step
plots            plots of the results
checkout         modules of `benchmarks/` in a source checkout
"""
