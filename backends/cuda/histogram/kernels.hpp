// Kernels of histograms, a source per type of samples (kernels.cu.in).
#pragma once

#include "backends/cuda/histogram/job.hpp"

#include <tally/operands/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda {

/// Type as which samples of X are loaded. One-byte types share kernels, and so do 16-bit floats:
/// the job distinguishes them.
template <class X>
using loaded_t = std::conditional_t<sizeof(X) == 1, std::uint8_t,
                                    std::conditional_t<sizeof(X) == 2, std::uint16_t, X>>;

inline constexpr unsigned histogram_threads = 1024;

/// Returns the kernel of a histogram_job or, if there may be edges, of a histogram_edges_job.
/// (Hidden by name: it names types of the language alone, so it would be visible outside the
/// library.)
template <class L>
[[gnu::visibility("hidden")]] const void* histogram_kernel_of(bin_rule rule, counting where);

// For no samples, or any type's.
enum class weights_step : std::uint8_t {
  begin,      ///< zeros, and the window
  in_memory,  ///< weights to digits in memory
  in_tables,  ///< weights to digits in shared memory first
  all_limbs,  ///< cooperative: the sums from all limbs, if strays found no row
  finish      ///< sums
};
const void* histogram_weights_kernel(type element, bool doubles, weights_step step);
const void* histogram_zeros_kernel();
const void* histogram_count_sorted_kernel();  ///< after a kernel of `counting::sorted`
const void* histogram_bytes_kernel();
const void*
histogram_find_out_of_range_kernel();  ///< finds the lowest index of an out-of-range key
const void* histogram_report_out_of_range_kernel();  ///< delivers a out_of_range_answer

}  // namespace tally::backends::cuda
