// This header declares the kernels of histograms. Those that load samples as one type are compiled
// in a source of their own (kernels.cu.in).
#pragma once

#include "backends/cuda/histogram/job.hpp"

#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda {

/// Samples of type X are loaded as this. All types of one byte have kernels in common, and so have
/// the floats of 16 bits: a job tells them apart.
template <class X>
using loaded_t = std::conditional_t<sizeof(X) == 1, std::uint8_t,
                                    std::conditional_t<sizeof(X) == 2, std::uint16_t, X>>;

/// A block that counts has so many threads.
inline constexpr unsigned histogram_threads = 1024;

/// Returns the kernel for samples that are loaded as L. (The function is hidden by name: as it
/// names types of the language alone, it would be visible outside the library.) The kernel takes a
/// histogram_job, or, where there may be edges, a histogram_edges_job.
template <class L>
[[gnu::visibility("hidden")]] const void* histogram_kernel_of(bin_rule rule, counting where);

// These kernels look at no samples, or at samples of any type. Each takes the job of its name.
/// Returns the kernel that adds weights, which are doubles or else floats, of samples of this type.
const void* histogram_weights_kernel(type element, bool doubles, bool in_tables);
const void* histogram_zeros_kernel();
const void* histogram_count_sorted_kernel();  ///< counts what a kernel of `counting::sorted` sorted
const void* histogram_bytes_kernel();
const void* histogram_sums_kernel();
const void* histogram_find_stray_kernel();  ///< finds the lowest index of a key outside
const void* histogram_tell_stray_kernel();  ///< delivers a stray_answer

}  // namespace tally::backends::cuda
