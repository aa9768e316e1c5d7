// Libraries that users would call instead. CMakeLists.txt decides which are built in; which are
// present is found at run time.
#pragma once

#include "bench/contender.hpp"

namespace bench::peers {

source standard;  // a plain loop; std::transform_reduce, sequential
source accurate;  // long double, Kahan, Dot2, MPFR, a superaccumulator alone
source xsum;      // Radford Neal's exact sums of doubles
source openblas;
source blis;
source blas_of_mkl;
source numkong;
source eigen;
source tbb;  // oneTBB's own, and std::transform_reduce with execution policies on it
source kokkos;

// Peers for one vector: sum, asum, nrm2, max, iamax. (Also by `eigen` above.)
source standard_of_one;
source openblas_of_one;
source blis_of_one;
source blas_of_mkl_of_one;
source kokkos_of_one;

// Element-wise functions. (Also by `eigen` above.)
source standard_elementwise;  // a plain loop; on all threads with OpenMP
source standard_fused;        // the same for an update with a sum
source openblas_axpy;         // in place, as BLAS has it
source blis_axpy;
source mkl_elementwise;  // axpy, and vector functions of two accuracies
source kokkos_elementwise;
source histogram;  // plain loops, on all threads too; NumPy's method

// Sparse matrix times vector.
source standard_spmv;  // a plain loop; on all threads with OpenMP
source eigen_spmv;
source kokkos_kernels_spmv;
source mkl_spmv;       // plain, and after inspection
source mkl_spmv_anew;  // both, with a new handle for every product

// Other functions of sparse matrices. (spmm also by eigen_spmv and mkl_spmv above.)
source standard_sparse;  // plain loops; but for assembly on all threads with OpenMP
source eigen_assembly;   // setFromTriplets

/// 0 for none or more than `w` permits.
int kokkos_threads(const workload& w);

// Several dot products at once (workload::rows).
source standard_rows;
source openblas_rows;

// Several results (operation::sums ... scatter_add).
source standard_several;  // plain loops; on all threads with OpenMP
source openblas_several;  // gemv; multi_axpy by gemv, as PETSc has it
source mkl_several;       // likewise

}  // namespace bench::peers
