// What the launches of a histogram are told: the kernels' only parameters.
#pragma once

#include "src/core/histogram/bins.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// How a sample finds its place.
enum class bin_rule : std::uint8_t {
  any,           ///< told apart at run time, exactly
  bytes,         ///< the place is the byte itself; bytes find their slots when all are counted
  keys,          ///< `key_bins`
  even,          ///< `even_bins`, guessed first
  whole_even,    ///< `even_integer_bins`, guessed first
  linear_edges,  ///< cells of equal width say which edge is near
  bitwise_edges  ///< cells of equally many floats do
};

/// Where places are counted.
enum class counting : std::uint8_t {
  lanes,   ///< bytes, in shared memory, each lane of a warp has counters of its own
  tables,  ///< in shared memory, all of them, each block those of its range
  cache    ///< in shared memory those that come first, the others in memory
};

/// A *place* is one of a channel's slots, or a byte; the places of all channels are numbered
/// through.
struct histogram_job {
  const void* x = nullptr;
  std::ptrdiff_t increment = 1;
  std::int64_t n = 0;
  std::int64_t head = 0;   ///< samples before the first of
  std::int64_t words = 0;  ///< words of 16 bytes; 0: samples are loaded one by one
  unsigned channels = 1;
  slot bins = 1;    ///< of a channel
  slot places = 1;  ///< of a channel: its bins, and those outside where they matter; or bytes
  unsigned ranges = 1;
  slot a_range = 1;         ///< places that a block counts, at most
  unsigned cache_bits = 0;  ///< the low bits of a place, where a cache has its counter
  bool wide = false;        ///< counts of 64 bits
  bool add = false;         ///< to what is there
  bool alone = false;       ///< each range has one block: it writes
  void* counts = nullptr;
  std::int64_t* outside = nullptr;  ///< three a channel, or null
  std::uint64_t* stray = nullptr;   ///< becomes 1 if a sample is outside, or null

  binning what = binning::keys;
  bool whole = false;  ///< `whole_even` holds, not `even`
  key_bins keys{1};
  even_bins even{0, 1, 1};
  even_integer_bins whole_even{0, 1, 1};
  /// Sample x of equal bins has the position x * rate + offset in bins, off by less than `margin`;
  /// among edges in cells of equal width, 2^23 + its position in 2^-cell_bits cells.
  float rate = 0, offset = 0, margin = 1;

  const void* thresholds = nullptr;  ///< of edges, null: `few` has them
  slot reached = 0;                  ///< how many there are
  unsigned shared_bytes = 0;         ///< of the block's copy of them, and the cells
  unsigned cell_bits = 0;            ///< of a position, below the cell
  unsigned shift = 0;                ///< and of a float, below its position
  std::uint32_t base = 0;            ///< the rank of the float at position 0
};

/// With thresholds, where they are few: kernels that look at edges have this parameter.
struct histogram_edges_job : histogram_job {
  static constexpr std::size_t room = 2080;  ///< of 260 doubles, 520 floats
  alignas(8) std::byte few[room];
};

struct histogram_weights_job : histogram_edges_job {
  const void* weights = nullptr;
  std::ptrdiff_t weights_increment = 1;
  bool doubles = false;           ///< weights are
  std::int64_t* words = nullptr;  ///< of the bins [first, first + some), of histogram_weights.hpp
  std::size_t first = 0, some = 0;
};

/// Rounds sums of weights.
struct histogram_sums_job {
  const std::int64_t* words = nullptr;
  bool doubles = false;  ///< weights were
  void* sums = nullptr;  ///< the first of
  std::size_t some = 0;
  bool to_doubles = false;  ///< sums are
  bool add = false;
};

/// Writes zeros.
struct histogram_zeros_job {
  std::uint32_t* counts = nullptr;
  std::size_t words = 0;  ///< of 32 bits
  std::uint32_t* outside = nullptr;
  std::size_t outside_words = 0;
};

/// Brings bytes of the host into the device's memory without a copy that a graph would repeat.
struct histogram_bytes_job {
  static constexpr std::size_t room = 4000;  ///< a launch has 4 KiB of parameters
  std::byte* to = nullptr;
  unsigned count = 0;
  alignas(8) std::byte bytes[room];
};

/// Of keys that may be outside: says whether one was, or finds the first.
struct histogram_stray_job {
  const void* x = nullptr;
  std::ptrdiff_t increment = 1;
  std::int64_t n = 0;
  type element = type::int32;
  key_bins keys{1};
  std::uint64_t* stray = nullptr;  ///< 0, 1 or ~index
  std::uint32_t tag = 0;
  void* result = nullptr;
};

struct stray_answer {
  std::uint64_t stray;
  std::int64_t key;  ///< that at ~stray
};

}  // namespace tally::backends::cuda
