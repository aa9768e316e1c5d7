// Parameters of the launches of a histogram.
#pragma once

#include "backends/common/histogram/bins.hpp"
#include "backends/common/histogram/weights.hpp"

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

enum class bin_rule : std::uint8_t {
  any,           ///< exact, chosen at run time
  bytes,         ///< the byte itself, mapped to slots after counting
  keys,          ///< `key_bins`
  even,          ///< `even_bins`, after a guess in float
  whole_even,    ///< `even_integer_bins`, after a guess in float
  linear_edges,  ///< cells of equal width find the nearest edge
  bitwise_edges  ///< cells of equally many floats do
};

enum class counting : std::uint8_t {
  spread,  ///< bytes, in shared memory, by place and thread of a warp
  tables,  ///< in shared memory: a block counts its range
  cache,   ///< first places in shared memory, others in memory
  sorted   ///< as `cache` or, if few samples share a place, sorted and in tables
};

// Sorted places (sorted.cuh).
inline constexpr unsigned buckets = 128;
inline constexpr slot adjacent = 8;  ///< places in one bucket
inline constexpr unsigned samples_per_tile = 8192;
/// Octets of a tile's places, at most: 8 numbers of 16 bits, of one bucket.
inline constexpr unsigned octets_per_tile = samples_per_tile / 8 + buckets * 7 / 8;

/// Parameter of a counting kernel. A *place* is a counter's index: a slot (a bin, or outside) of
/// one channel, or a byte; channels are numbered through.
struct histogram_job {
  const void* x = nullptr;
  std::ptrdiff_t increment = 1;
  std::int64_t n = 0;
  std::int64_t head = 0;   ///< samples before the first load
  std::int64_t loads = 0;  ///< 16-byte loads; 0: samples come one by one
  unsigned channels = 1;
  slot bins = 1;  ///< per channel
  /// Per channel: bins and, if it matters, outside; or bytes.
  slot places = 1;
  unsigned ranges = 1;
  slot a_range = 1;         ///< places per block, at most, or per bucket
  unsigned cache_bits = 0;  ///< low bits of a place, which select a cache's counter
  bool wide = false;        ///< 64-bit counts
  bool add = false;         ///< whether counts are added to existing ones
  bool alone = false;       ///< whether there is one block per range, which writes counts
  type element = type::int32;
  void* counts = nullptr;
  std::int64_t* outside = nullptr;  ///< three per channel, or null
  std::uint64_t* stray = nullptr;   ///< becomes 1 for a sample outside; or null

  uint4* octets = nullptr;  ///< sorted places, tile by tile
  /// First octet of each bucket in each tile: buckets + 1 rows, a number per tile.
  std::uint16_t* begins = nullptr;
  std::uint32_t* totals = nullptr;  ///< per bucket, in all tiles
  std::int64_t tiles = 0;
  unsigned pieces = 0;  ///< approximate number of blocks for sorted places

  binning what = binning::keys;
  bool whole = false;  ///< `whole_even`, not `even`
  key_bins keys{1};
  even_bins even{0, 1, 1};
  even_integer_bins whole_even{0, 1, 1};
  /// Bins of equal width: sample x is at x * rate + offset, in bins, off by less than `margin`.
  /// Cells of equal width: that is 2^23 plus x's position, in 2^-cell_bits cells.
  float rate = 0, offset = 0, margin = 1;

  const void* thresholds = nullptr;  ///< of edges, or null: in `few`
  slot reached = 0;                  ///< thresholds
  unsigned shared_bytes = 0;         ///< of the copied thresholds and cells
  unsigned cell_bits = 0;            ///< of a position below its cell
  unsigned shift = 0;                ///< bits of a float below its position
  std::uint32_t base = 0;            ///< rank of the float at position 0
};

/// Parameter of kernels that know edges, with few thresholds.
struct histogram_edges_job : histogram_job {
  static constexpr std::size_t room = 2080;  ///< 260 doubles or 520 floats
  alignas(8) std::byte few[room];
};

/// Threads per block, and blocks per SM of the cooperative kernel.
inline constexpr unsigned weight_threads = 256, blocks_of_all_limbs = 3;

/// Digits of a bin's sum, for weights that are multiples of unit[0] and less than `end` in
/// magnitude. Digit d counts units of unit[d], 2^exponent[d].
struct weight_window {
  int digits = 1;  ///< 1 or 2
  int exponent[2] = {};
  double unit[2] = {}, end = 0;
  double bias[2] = {};  ///< what is added to it becomes a multiple of unit[d]
};
inline constexpr int max_top = 950;
/// Numbers that may be added to a window's sums without overflow on the way.
inline constexpr double max_addend = 0x1p1000;

/// What the launches of a call tell each other.
struct weight_state {
  weight_window window;
  std::uint32_t full;     ///< 1: strays found no row, so the sums must be computed from all limbs
  std::uint32_t arrived;  ///< blocks at barriers
};

/// Addition of weights to the sums of bins [first, first + some).
///
/// A weight within the window is two adjacent numbers of its bin at most. The others, *strays*, are
/// added to rows of all limbs, which their bins find by hashing.
struct histogram_weights_job : histogram_edges_job {
  const void* weights = nullptr;
  std::ptrdiff_t weights_increment = 1;
  std::size_t first = 0, some = 0;
  bool counts_outside = false;  ///< whether this launch counts samples outside

  weight_state* state = nullptr;
  std::size_t room = 0;  ///< for `words` if full
  // Zeros at first, in one piece of memory, `bytes` long:
  std::int64_t* words = nullptr;  ///< rows of limbs, as in weight_sum
  std::size_t bytes = 0;
  std::uint32_t* owners = nullptr;   ///< of each row: 1 + its bin
  std::uint32_t row_bits = 0;        ///< 2^row_bits rows
  std::uint32_t* strayed = nullptr;  ///< a bit per bin, which has a row
  std::int64_t* digits = nullptr;    ///< `window.digits` per bin

  void* sums = nullptr;
  bool to_doubles = false;  ///< sums: doubles, else floats
  bool to_words = false;    ///< whether they are added to limbs
  bool keeps = false;       ///< sums whose weights add up to 0
  bool clears_outside = false;
};

struct histogram_zeros_job {
  std::uint32_t* counts = nullptr;
  std::size_t words = 0;  ///< of 32 bits
  std::uint32_t* outside = nullptr;
  std::size_t outside_words = 0;
  std::uint32_t* totals = nullptr;
  std::size_t totals_words = 0;
};

/// Bytes of the host for the device. Not a copy, which a graph would repeat after they are gone.
struct histogram_bytes_job {
  static constexpr std::size_t room = 4000;  ///< of 4 KiB of parameters
  std::byte* to = nullptr;
  unsigned count = 0;
  alignas(8) std::byte bytes[room];
};

/// Parameter of the kernels that find and report out-of-range keys.
struct histogram_out_of_range_job {
  const void* x = nullptr;
  std::ptrdiff_t increment = 1;
  std::int64_t n = 0;
  type element = type::int32;
  key_bins keys{1};
  std::uint64_t* stray = nullptr;  ///< 0, 1 or ~index
  std::uint32_t tag = 0;
  void* result = nullptr;
};

struct out_of_range_answer {
  std::uint64_t stray;
  std::int64_t key;  ///< at ~stray
};

}  // namespace tally::backends::cuda
