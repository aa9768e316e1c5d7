// The kernels of several dot products, each kind of types in a source file of its own so that they
// compile side by side.
#pragma once

#include "backends/cuda/multi_dot/job.hpp"

#include <complex>
#include <cstdint>

namespace tally::backends::cuda {

/// A kernel. Called through cudaLaunchKernel, never directly.
using multi_dot_kernel = void(multi_dot_job);

/// The kernels for vectors of one type, in its own accumulator.
struct multi_dot_kernels {
  // For vectors that are contiguous and start at multiples of what a thread loads at once.
  multi_dot_kernel* against_one = nullptr;  ///< all have the same y
  multi_dot_kernel* aligned = nullptr;
  multi_dot_kernel* short_aligned = nullptr;  ///< of at most a chunk
  // For contiguous ones of at most a chunk, and for any.
  multi_dot_kernel* short_pairs = nullptr;
  multi_dot_kernel* pairs = nullptr;
  int lanes = 0;  ///< adjacent elements that a thread loads at once
  int slots = 0;  ///< pairs of at most a row of lanes that its threads take at once
};

/// The types that have such kernels.
using multi_dot_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;

template <class T>
multi_dot_kernels multi_dot_kernels_of();

template <>
multi_dot_kernels multi_dot_kernels_of<float16>();
template <>
multi_dot_kernels multi_dot_kernels_of<bfloat16>();
template <>
multi_dot_kernels multi_dot_kernels_of<float>();
template <>
multi_dot_kernels multi_dot_kernels_of<double>();
template <>
multi_dot_kernels multi_dot_kernels_of<std::complex<float>>();
template <>
multi_dot_kernels multi_dot_kernels_of<std::complex<double>>();

/// The kernel for vectors of any types that `accumulator` can accumulate.
multi_dot_kernel* any_pairs_kernel_of(type accumulator);

}  // namespace tally::backends::cuda
