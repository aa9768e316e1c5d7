// The libraries that users would call instead, a file each. Which are built in is decided by
// CMakeLists.txt, which are there is found out at run time.
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
source tbb;  // oneTBB's own, and std::transform_reduce with execution policies, which run on it
source kokkos;

// The same of x alone: sum, asum, nrm2, max, iamax. (Eigen's above does these too.)
source standard_of_one;
source openblas_of_one;
source blis_of_one;
source blas_of_mkl_of_one;
source kokkos_of_one;

// Element-wise functions. (Eigen's above does these too.)
source standard_elementwise;  // a plain loop; on all threads with OpenMP
source standard_fused;        // the same of an update with a sum
source openblas_axpy;         // in place, as BLAS has it
source blis_axpy;
source mkl_elementwise;  // axpy, and exp of two accuracies
source kokkos_elementwise;
source histogram;  // plain loops, on all threads too; as NumPy does it

// Sparse matrix times vector.
source standard_spmv;  // a plain loop; on all threads with OpenMP
source eigen_spmv;
source kokkos_kernels_spmv;
source mkl_spmv;       // as it comes, and after its inspector
source mkl_spmv_anew;  // both, with its handle made anew for every product

/// Returns the number of threads of Kokkos's execution space; 0 where there are more than `w` may
/// use, or none.
int kokkos_threads(const workload& w);

// Several dot products at once (workload::rows).
source standard_rows;
source openblas_rows;

}  // namespace bench::peers
