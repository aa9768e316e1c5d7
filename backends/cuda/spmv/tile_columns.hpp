// Tiles of rows, and rows in a band, read patterns of rows or differences of 16 bits in the place
// of columns that stay as they are. This header finds them.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis.hpp"
#include "backends/cuda/spmv/survey.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// The kernel of tiles has at most so much shared memory beside what it is given.
inline constexpr std::size_t own_tile_bytes = 6144;

/// Makes room for patterns of rows. They come behind what is met of them, the lengths and the lists
/// of the patterns.
void make_room_for_patterns(const current_device& current, cudaStream_t stream,
                            const csr_operand& a, csr_survey& job, cut_analysis& to);

/// Returns a launch that finds patterns, in tiles of at most `job.tile_terms` terms.
survey_launch survey_of_tiles(const current_device& current, const csr_operand& a, csr_survey& job);

/// Says whether tiles have been looked at, and 16 bits don't tell all differences.
bool is_far(const survey_words& found);

/// Makes room for differences, unless there is too little memory or there is room already.
bool make_room_for_differences(const current_device& current, cudaStream_t stream,
                               const csr_operand& a, csr_survey& job, cut_analysis& to);

/// Says what tiles of rows read in the place of columns, which stay as they are: patterns or
/// differences, whichever were found; of these `found` then says how far and how many are adjacent.
void find_columns(const current_device& current, cudaStream_t stream, const csr_operand& a,
                  csr_survey& job, survey_words& found, cut_analysis& to);

/// Returns a launch that finds how far columns are from the diagonal, and writes differences.
survey_launch survey_of_band(const csr_operand& a);

/// Takes a band, if rows lie in one, since columns are so far from the diagonal and so many of them
/// next to each other, and products have a kernel for it.
void take_band(const current_device& current, const csr_operand& a, csr_survey& job,
               std::uint64_t furthest, std::uint64_t adjacent, cut_analysis& to);

}  // namespace tally::backends::cuda
