// Stencils or 16-bit differences, which row tiles and bands read instead of fixed columns.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis.hpp"
#include "backends/cuda/spmv/analysis/survey.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Static shared memory of tiles_kernel, at most.
inline constexpr std::size_t own_tile_bytes = 6144;

/// Allocates stencils: the hash table, lengths and lists.
void make_room_for_patterns(const current_device& current, cudaStream_t stream,
                            const csr_operand& a, csr_survey& job, cut_analysis& to);

survey_launch survey_of_tiles(const current_device& current, const csr_operand& a, csr_survey& job);

/// Whether, by tiles_kernel, some difference does not fit in 16 bits.
bool is_far(const survey_words& found);

/// Allocates differences, if needed and possible; returns whether there are some.
bool make_room_for_differences(const current_device& current, cudaStream_t stream,
                               const csr_operand& a, csr_survey& job, cut_analysis& to);

/// Chooses what row tiles read: stencils, or else differences, for which it sets the distance from
/// the diagonal and the adjacent terms in `found`.
void find_columns(const current_device& current, cudaStream_t stream, const csr_operand& a,
                  csr_survey& job, survey_words& found, cut_analysis& to);

survey_launch survey_of_band(const csr_operand& a);

/// Plans a band, if columns are near the diagonal, not mostly adjacent, and products have a kernel
/// for it.
void take_band(const current_device& current, const csr_operand& a, csr_survey& job,
               std::uint64_t furthest, std::uint64_t adjacent, cut_analysis& to);

}  // namespace tally::backends::cuda
