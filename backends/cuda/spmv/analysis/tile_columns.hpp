// Stencils, or 16-bit differences column - row, instead of fixed columns.
#pragma once

#include "backends/cuda/spmv/analysis/analysis_launch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::backends::cuda {

class search;

/// Range of column - row.
struct difference_range {
  std::int32_t lowest = 0;
  std::int32_t highest = -1;

  std::size_t width() const { return static_cast<std::size_t>(highest - lowest); }
};

/// Differences column - row of all terms, instead of columns.
struct column_differences {
  std::int16_t* data = nullptr;  ///< null: none
  std::size_t bytes = 0;
  difference_range range;
  std::int64_t furthest = 0;   ///< largest distance from the diagonal
  std::uint64_t adjacent = 0;  ///< terms in the column next to the one before

  /// Returns the end of a method's description.
  std::string describe() const;
};

/// Static shared memory of the kernel that finds stencils, at most.
inline constexpr std::size_t tiles_static_shared_bytes = 6144;

/// Returns the range of differences found with stencils.
difference_range range_in(const analysis_results& found);

/// Allocates stencils: the hash table, lengths and lists.
void allocate_stencils(search& s);
std::size_t bytes_of_stencils(const csr_operand& a);

/// Returns the launch that finds stencils and the range of differences, and checks columns.
analysis_launch tiles_launch(const search& s, analysis_job& job);

/// Decides by the first kernels' results whether rows may be in tiles (`examines_tiles`), repeats
/// these for tiles beyond their capacity, and gives stencils back (`job.lists` is null) if too
/// many.
void decide_tiles(search& s);

/// Returns memory for the differences of all terms, null if there is not enough.
column_differences allocate_differences(search& s);

/// Returns the differences of a matrix that may have row tiles, written once; none if one does not
/// fit in 16 bits.
const column_differences& tile_differences(search& s);

}  // namespace tally::backends::cuda
