"""Linear algebra without physics: symmetric sparse matrices of 3×3 blocks.

blocks               BlockMatrix and its Pattern; vectors (n, 3); projection of element blocks
low_rank             low-rank parts Σ w g gᵀ, and LDLᵀ of a sparse matrix with one
linear               LinearSolver, the interface of all solvers; the choice of one (Auto)
trust_region         the minimum of a quadratic model within a ball, on a Krylov space
direct               LDLᵀ, and Woodbury's formula for low-rank parts
elimination          LDLᵀ of small matrices in compiled loops, with the bits of QDLDL
indefinite           LU with row interchanges, for matrices that are not positive definite
multigrid            conjugate gradients with a multigrid as preconditioner:
  _hierarchy         levels from the pattern; _hierarchy_kernels, its loops over the graph
  _multigrid_arrays  all arrays of the compiled loops, by name
  _coarsening_kernels   coarse matrices from new values of A
  _multigrid_kernels    conjugate gradients; _cycle, the W-cycle
  _smoother          damped block Jacobi: the place to change the smoother
  _worksharing       loops shared by threads; _atomics, what Numba lacks for them
eigen                the smallest eigenvalues, with exact counts, by factorisations
pencil               the smallest eigenvalues of A x = λ B x
bordered             systems with a border, through singular matrices
lowest_eigenvalues   the smallest eigenvalues by iteration, for large matrices;
  _shifted_multigrid    its preconditioner
simd                 sums over blocks with vector instructions
ordered_sums         sums of products in the order of NumPy
_block_kernels            the product of a block matrix with a vector
_bandwidth_kernels        the bandwidth of a pattern
_psd_projection_kernels   projection of element blocks onto positive semi-definite ones

docs/design/linear-algebra.md explains the multigrid.
"""
