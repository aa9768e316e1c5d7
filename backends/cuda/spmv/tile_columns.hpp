// Search for stencils or 16-bit differences, which row tiles and bands read in place of fixed
// columns.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis.hpp"
#include "backends/cuda/spmv/survey.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Static shared memory of the kernel of row tiles, at most.
inline constexpr std::size_t own_tile_bytes = 6144;

/// Allocates stencils, behind the hash table of those met, and their lengths and lists.
void make_room_for_patterns(const current_device& current, cudaStream_t stream,
                            const csr_operand& a, csr_survey& job, cut_analysis& to);

/// Returns the launch that finds stencils, in tiles of at most `job.tile_terms` terms.
survey_launch survey_of_tiles(const current_device& current, const csr_operand& a, csr_survey& job);

/// Whether row tiles were examined, and some difference does not fit in 16 bits.
bool is_far(const survey_words& found);

/// Allocates differences, if memory suffices and they are not there yet; returns whether they are.
bool make_room_for_differences(const current_device& current, cudaStream_t stream,
                               const csr_operand& a, csr_survey& job, cut_analysis& to);

/// Chooses what row tiles read instead of fixed columns: stencils, or else differences, for which
/// it sets the distance from the diagonal and the adjacent terms in `found`.
void find_columns(const current_device& current, cudaStream_t stream, const csr_operand& a,
                  csr_survey& job, survey_words& found, cut_analysis& to);

/// Returns the launch that finds the distance of columns from the diagonal, and writes differences.
survey_launch survey_of_band(const csr_operand& a);

/// Plans a band, if columns are near enough to the diagonal, few enough adjacent, and products have
/// a kernel for it.
void take_band(const current_device& current, const csr_operand& a, csr_survey& job,
               std::uint64_t furthest, std::uint64_t adjacent, cut_analysis& to);

}  // namespace tally::backends::cuda
