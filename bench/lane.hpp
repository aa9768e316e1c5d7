// A benchmark: one list of candidates over pairs of types, sizes and threads, in its own file.
// main.cpp runs all.
#pragma once

#include "bench/contender.hpp"
#include "bench/data.hpp"

#include <cstddef>
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
/// Three; all in the full comparison, and of one's own.
std::vector<std::size_t> transposes_for(const types& t, bool on_device, bool full);

extern const lane dot;  // dot.cpp
extern const lane dot_aligned;
extern const lane sum;  // reduce.cpp
extern const lane asum;
extern const lane nrm2;
extern const lane max;  // extremum.cpp
extern const lane iamax;
extern const lane waxpby_nrm2;  // fused.cpp
extern const lane axpy_dot;
extern const lane exact;  // exact.cpp
extern const lane exact_spread;
extern const lane exact_sum;
extern const lane exact_sum_spread;
extern const lane accuracy;
extern const lane ladder;     // ladder.cpp
extern const lane multi_dot;  // multi_dot.cpp
extern const lane batched_dot;
extern const lane copy;  // transform.cpp
extern const lane axpy;
extern const lane waxpby;
extern const lane axpbypcz;
extern const lane add;
extern const lane mul;
extern const lane relu;
extern const lane sigmoid;
extern const lane exp;
extern const lane bincount;  // histogram.cpp
extern const lane bincount_zipf;
extern const lane bincount_constant;
extern const lane bincount_entropy;
extern const lane histogram_even;
extern const lane histogram_range;
extern const lane spmv;  // spmv.cpp
extern const lane spmv_new_plan;
extern const lane spmv_transpose;
#if TALLY_BENCH_CUDA
extern const lane dot_on_device;  // device_dot.cpp
extern const lane dot_to_host;
extern const lane sum_on_device;  // device_of_one.cpp
extern const lane asum_on_device;
extern const lane nrm2_on_device;
extern const lane max_on_device;
extern const lane iamax_on_device;
extern const lane exact_on_device;  // device_exact.cpp
extern const lane exact_spread_on_device;
extern const lane exact_sum_on_device;
extern const lane ladder_on_device;     // device_ladder.cu
extern const lane multi_dot_on_device;  // device_multi_dot.cpp
extern const lane batched_dot_on_device;
extern const lane waxpby_nrm2_on_device;  // device_fused.cpp
extern const lane axpy_dot_on_device;
extern const lane copy_on_device;  // device_transform.cpp
extern const lane axpy_on_device;
extern const lane waxpby_on_device;
extern const lane axpbypcz_on_device;
extern const lane add_on_device;
extern const lane mul_on_device;
extern const lane relu_on_device;
extern const lane sigmoid_on_device;
extern const lane exp_on_device;
extern const lane add_odd_on_device;
extern const lane sigmoid_odd_on_device;
extern const lane bincount_on_device;  // device_histogram.cpp
extern const lane bincount_zipf_on_device;
extern const lane bincount_constant_on_device;
extern const lane bincount_entropy_on_device;
extern const lane histogram_even_on_device;
extern const lane histogram_range_on_device;
extern const lane spmv_on_device;  // device_spmv.cpp
extern const lane spmv_transpose_on_device;
extern const lane ladder_spmv_on_device;  // device_spmv_ladder.cu
extern const lane host;                   // host.cpp
#endif

}  // namespace bench
