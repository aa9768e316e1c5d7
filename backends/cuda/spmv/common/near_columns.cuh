// Columns of adjacent terms in 16 bits, as differences from their least.
#pragma once

#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"

#include <cstdint>

namespace tally::backends::cuda {

/// Columns of a plan, as differences from the least of their group.
struct near_columns {
  const std::uint16_t* codes = nullptr;  ///< by term; null: the matrix's own are used
  const std::int32_t* least = nullptr;   ///< by group

  static std::size_t bytes(std::size_t groups, std::size_t terms) {
    return groups * sizeof *least + terms * sizeof *codes;
  }
};

struct near_job : analysis_job {
  near_job(const csr_operand& a, std::size_t groups_, void* memory)
      : analysis_job(a),
        groups(static_cast<std::int64_t>(groups_)),
        least(static_cast<std::int32_t*>(memory)),
        codes(reinterpret_cast<std::uint16_t*>(least + groups)) {}

  std::int64_t groups;
  std::int32_t* least;   ///< output
  std::uint16_t* codes;  ///< output

  near_columns written() const { return {codes, least}; }
};

/// Writes the columns of `terms` terms from `first` on, a group's, in a warp; returns how many of
/// the thread's do not fit.
__device__ inline unsigned encode_group(const near_job& s, std::int64_t group, int first, int terms,
                                        int thread) {
  constexpr int apart = static_cast<int>(warp);
  const auto column = [&](int i) {
    return static_cast<int>(s.columns[static_cast<std::size_t>(first + i)]);
  };
  int least = terms <= 0 ? 0 : INT32_MAX;
  for (int i = thread; i < terms; i += apart) least = ::min(least, column(i));
  for (unsigned d = 1; d < warp; d *= 2) {
    least = ::min(least, __shfl_xor_sync(whole_warp, least, d));
  }
  if (thread == 0) s.least[group] = least;
  unsigned wide = 0;
  for (int i = thread; i < terms; i += apart) {
    const unsigned code = static_cast<unsigned>(column(i)) - static_cast<unsigned>(least);
    wide += code > UINT16_MAX;
    s.codes[first + i] = static_cast<std::uint16_t>(code);
  }
  return wide;
}

}  // namespace tally::backends::cuda
