// A benchmark: one list of candidates over pairs of types, sizes and threads, in its own file.
// main.cpp runs all.
#pragma once

#include "bench/contender.hpp"
#include "bench/data.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

struct lane {
  std::string_view name;
  bool on_device = false;       ///< operands in memory of the CUDA device
  bool on_all_threads = false;  ///< on one thread and on all; else the candidates decide
  std::size_t offset = 0;       ///< of operands past a page, in bytes, on the host
  values drawn = values::uniform;
  bool exact = false;  ///< compares bits with the correctly rounded result
  operation what = operation::dot;
  std::size_t rows = 1;  ///< see workload
  bool y_has_rows = false;
  bool columns = false;
  std::size_t skipped = 0;  ///< leading elements left out, for unaligned addresses
  tally::binning bins = tally::binning::keys;
  bool transposes = false;  ///< spmv with the matrix's transpose
  /// Sizes for a pair of types, empty for none. Both lists are longer in the full comparison.
  std::vector<std::size_t> (*sizes)(const types& t, bool full);
  contenders (*ways)(const workload& w, bool full);
};

/// Alignment of malloc's large vectors: 16 bytes past a multiple of 64, where vector loads cross
/// cache lines.
inline constexpr std::size_t of_malloc = 16;

std::vector<std::size_t> sizes_of_one(const types& t, bool full);
contenders ways_of_one(const workload& w, bool full);

std::vector<std::size_t> matrices_for(const types& t, bool on_device, bool full);
/// Four; all in the full comparison, and of one's own.
std::vector<std::size_t> few_matrices_for(const types& t, bool on_device, bool full);

/// The lanes of each source.
extern const std::span<const lane> dot_lanes, reduce_lanes, extremum_lanes, transform_lanes,
    fused_lanes, exact_lanes, multi_dot_lanes, several_lanes, histogram_lanes, spmv_lanes,
    sparse_lanes, ladder_lanes;
#if TALLY_BENCH_CUDA
extern const std::span<const lane> device_dot_lanes, device_of_one_lanes, device_transform_lanes,
    device_fused_lanes, device_multi_dot_lanes, device_several_lanes, device_exact_lanes,
    device_histogram_lanes, device_spmv_lanes, device_sparse_lanes, device_ladder_lanes,
    device_spmv_ladder_lanes, host_lanes;
#endif

}  // namespace bench
