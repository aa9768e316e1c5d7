// These structs tell the launches of a histogram what to do. Each is the only parameter of its
// kernels.
#pragma once

#include "src/core/histogram/bins.hpp"
#include "src/core/histogram/weights.hpp"

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// A bin_rule says how a sample finds its place.
enum class bin_rule : std::uint8_t {
  any,           ///< the exact rule, told apart at run time
  bytes,         ///< the place is the byte itself; bytes find their slots when all are counted
  keys,          ///< `key_bins`
  even,          ///< `even_bins`, after a guess in float
  whole_even,    ///< `even_integer_bins`, after a guess in float
  linear_edges,  ///< a cell of equal width says which edge is near
  bitwise_edges  ///< a cell of equally many floats says it
};

/// Says where places are counted.
enum class counting : std::uint8_t {
  spread,  ///< bytes, in shared memory: a place has a counter for each thread of a warp
  tables,  ///< all places, in shared memory: a block counts those of its range
  cache,   ///< the places that come first, in shared memory; the others in memory
  sorted   ///< as `cache`, or, where few samples share a place, in tables of what has been sorted
};

// --- Sorted places (sorted.cuh) ------------------------------------------------------------------

inline constexpr unsigned buckets = 128;
inline constexpr slot adjacent = 8;  ///< so many adjacent places are in one bucket
inline constexpr unsigned samples_a_tile = 8192;
/// The places of a tile take at most so many octets: 8 numbers of 16 bits, all of one bucket.
inline constexpr unsigned octets_a_tile = samples_a_tile / 8 + buckets * 7 / 8;

/// Tells a kernel that counts what to do. A *place* is a slot of one channel, or a byte; the places
/// of all channels are numbered through.
struct histogram_job {
  const void* x = nullptr;
  std::ptrdiff_t increment = 1;
  std::int64_t n = 0;
  std::int64_t head = 0;   ///< samples before the first load
  std::int64_t loads = 0;  ///< loads of 16 bytes; 0: samples are loaded one by one
  unsigned channels = 1;
  slot bins = 1;  ///< bins of a channel
  /// Places of a channel: its bins, and those outside where they matter; or bytes.
  slot places = 1;
  unsigned ranges = 1;
  slot a_range = 1;         ///< a block counts at most this many places; a bucket has as many
  unsigned cache_bits = 0;  ///< a cache has a counter for each value of so many low bits of a place
  bool wide = false;        ///< whether counts have 64 bits
  bool add = false;         ///< whether counts are added to what is there
  bool alone = false;       ///< whether each range has one block, which writes its counts
  type element = type::int32;  ///< the samples' type
  void* counts = nullptr;
  std::int64_t* outside = nullptr;  ///< three counts for each channel, or null
  std::uint64_t* stray = nullptr;   ///< becomes 1 if a sample is outside, or null

  uint4* octets = nullptr;  ///< the sorted places, tile by tile
  /// Where each bucket begins in each tile, in octets: buckets + 1 rows of a number for each tile.
  std::uint16_t* begins = nullptr;
  std::uint32_t* totals = nullptr;  ///< how many octets each bucket has in all
  std::int64_t tiles = 0;
  unsigned pieces = 0;  ///< about so many blocks count what is sorted

  binning what = binning::keys;
  bool whole = false;  ///< whether `whole_even` holds the bins, not `even`
  key_bins keys{1};
  even_bins even{0, 1, 1};
  even_integer_bins whole_even{0, 1, 1};
  /// With bins of equal width, sample x is at x * rate + offset, in bins, off by less than
  /// `margin`. With edges in cells of equal width, that sum is 2^23 plus x's position in
  /// 2^-cell_bits cells.
  float rate = 0, offset = 0, margin = 1;

  const void* thresholds = nullptr;  ///< the thresholds of edges, or null: `few` has them
  slot reached = 0;                  ///< how many thresholds there are
  unsigned shared_bytes = 0;         ///< what the block's copy of them and the cells take
  unsigned cell_bits = 0;            ///< bits of a position below its cell
  unsigned shift = 0;                ///< bits of a float below its position
  std::uint32_t base = 0;            ///< the rank of the float at position 0
};

/// Adds the thresholds, where they are few. Kernels that look at edges have this parameter.
struct histogram_edges_job : histogram_job {
  static constexpr std::size_t room = 2080;  ///< it holds 260 doubles or 520 floats
  alignas(8) std::byte few[room];
};

/// A table in shared memory has so many words of the sum of a bin's weights of type W: so that a
/// weight may begin at one of two.
template <class W>
inline constexpr int weight_table_words = weight_sum<W>::digits + 1;

/// A block that adds weights in memory has so many threads.
inline constexpr unsigned weight_threads = 256;

struct histogram_weights_job : histogram_edges_job {
  const void* weights = nullptr;
  std::ptrdiff_t weights_increment = 1;
  /// The sums of bins [first, first + some), as weight_sum has them.
  std::int64_t* words = nullptr;
  std::size_t first = 0, some = 0;
};

/// Tells a kernel to round sums of weights, or to add them to words.
struct histogram_sums_job {
  const std::int64_t* words = nullptr;
  bool doubles = false;  ///< whether weights were doubles
  void* sums = nullptr;  ///< where the first sum goes
  std::size_t some = 0;
  bool to_doubles = false;  ///< whether sums are doubles, else floats
  bool to_words = false;    ///< whether they are added to the words of sums of these
  bool add = false;
};

/// Tells a kernel to write zeros.
struct histogram_zeros_job {
  std::uint32_t* counts = nullptr;
  std::size_t words = 0;  ///< words of 32 bits
  std::uint32_t* outside = nullptr;
  std::size_t outside_words = 0;
  std::uint32_t* totals = nullptr;
  std::size_t totals_words = 0;
};

/// Brings bytes of the host into the device's memory. A copy would not do: a graph would repeat it
/// when the host's bytes are gone.
struct histogram_bytes_job {
  static constexpr std::size_t room = 4000;  ///< a launch has 4 KiB of parameters
  std::byte* to = nullptr;
  unsigned count = 0;
  alignas(8) std::byte bytes[room];
};

/// Asks whether a key was outside, or which is the first.
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
  std::int64_t key;  ///< the key at ~stray
};

}  // namespace tally::backends::cuda
