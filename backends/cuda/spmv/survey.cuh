// The kernels that look at a matrix before any product share this.
#pragma once

#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/spmv/plan.hpp"

namespace tally::backends::cuda {

__device__ inline std::int64_t offset(const csr_survey& s, std::int64_t i) {
  return s.offsets[static_cast<std::size_t>(i)];
}

/// Returns a counter. atomicMax and atomicAdd know std::uint64_t by the name unsigned long long
/// only.
__device__ inline unsigned long long* counter(const csr_survey& s, unsigned word) {
  return reinterpret_cast<unsigned long long*>(s.found + word);
}

__device__ inline std::int64_t first_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t all_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

/// Calls f with the number and the column of each of a thread's terms.
template <class F>
__device__ void for_each_term(const csr_survey& s, const F& f) {
  const auto go_over = [&]<class Column>(const Column* columns) {
    constexpr int in_flight = 4;
    for (std::int64_t i = first_index(); i < s.nonzeros; i += in_flight * all_threads()) {
      const auto at = [&](int k) { return i + k * all_threads(); };
      Column column[in_flight] = {};
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (at(k) < s.nonzeros) column[k] = columns[at(k)];
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (at(k) < s.nonzeros) f(at(k), std::int64_t{column[k]});
      }
    }
  };
  s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data))
                 : go_over(static_cast<const std::int32_t*>(s.columns.data));
}

}  // namespace tally::backends::cuda
