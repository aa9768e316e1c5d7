// Interface to Eigen's kernels, which also exist in a library for newer processors.
#pragma once

#include "bench/workload.hpp"

using eigen_kernel = void(const void* x, const void* y, std::size_t n, void* result);
using eigen_kernel_of = eigen_kernel*(const bench::workload& w);

/// Null for types that Eigen lacks. Element-wise functions write the vector `result`.
extern "C" [[gnu::visibility("default")]] eigen_kernel* bench_eigen_kernel(
    const bench::workload& w);

/// Multiplies, by one vector or several, on the threads of `w`.
extern "C" [[gnu::visibility("default")]] void bench_eigen_spmv(const bench::workload& w);

/// Makes the matrix; copies its values if `values` is not null.
extern "C" [[gnu::visibility("default")]] void bench_eigen_assembly(const bench::workload& w,
                                                                    void* values);
