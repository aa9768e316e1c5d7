// Between the program and Eigen's kernels, which are also in a library compiled for newer
// processors.
#pragma once

#include "bench/workload.hpp"

using eigen_kernel = void(const void* x, const void* y, std::size_t n, void* result);
using eigen_kernel_of = eigen_kernel*(const bench::workload& w);

/// For the types of `w`; null for those that it lacks. That of an element-wise function writes the
/// vector `result`.
extern "C" [[gnu::visibility("default")]] eigen_kernel* bench_eigen_kernel(
    const bench::workload& w);

/// A sparse matrix times x, into z, on the threads of `w`.
extern "C" [[gnu::visibility("default")]] void bench_eigen_spmv(const bench::workload& w);
