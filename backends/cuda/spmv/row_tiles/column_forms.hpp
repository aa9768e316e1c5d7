// Stencils or 16-bit differences, which row tiles and bands read instead of fixed columns.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis_launch.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Static shared memory of tiles_kernel, at most.
inline constexpr std::size_t tiles_static_shared_bytes = 6144;

/// Allocates stencils: the hash table, lengths and lists.
void allocate_stencils(const current_device& current, cudaStream_t stream, const csr_operand& a,
                       analysis_job& job, cuda_plan& to);

analysis_launch tiles_launch(const current_device& current, const csr_operand& a,
                             analysis_job& job);

/// Whether, by tiles_kernel, some difference does not fit in 16 bits.
bool exceeds_16_bits(const analysis_results& found);

/// Allocates differences, if needed and possible; returns whether there are some.
bool allocate_deltas(const current_device& current, cudaStream_t stream, const csr_operand& a,
                     analysis_job& job, cuda_plan& to);

/// Chooses what row tiles read: stencils, or else differences, for which it sets the distance from
/// the diagonal and the adjacent terms in `found`.
void find_columns(const current_device& current, cudaStream_t stream, const csr_operand& a,
                  analysis_job& job, analysis_results& found, cuda_plan& to);

analysis_launch band_launch(const csr_operand& a);

/// Plans a band, if columns are near the diagonal, not mostly adjacent, and products have a kernel
/// for it.
void plan_band(const current_device& current, const csr_operand& a, analysis_job& job,
               std::uint64_t furthest, std::uint64_t adjacent, cuda_plan& to);

}  // namespace tally::backends::cuda
