// Sums of a vector whose parts lie on several devices, joined on a device without waiting for it:
// what <tally/nccl.hpp> is made of.
//
// Promise: joined, they have the bits of `dot`, `sum`, `asum` or `nrm2` of the whole vector,
// wherever it is cut, as the sums of <tally/interval_sum.hpp> have, and for the same reason. Here
// nodes stay in the memory of the device, and one launch joins them and writes the results.
//
// The steps:
//   1. Each part's whole chunks are an interval of the vector's chunks. Of a chunk that is cut, the
//      part that has its first element gets the other elements; that chunk is an interval, too.
//   2. `sum_nodes` writes the nodes of an interval. The nodes of other parts are brought beside
//      them, in any order, or are exchanged through windows while they are joined.
//   3. `join_nodes` adds up all nodes as `join_steps` says, and makes the results.
// In the exact grade words are added in the place of nodes: by a collective operation of int64, and
// `round_words`, or by `join_words`.
//
// A window is memory of one device that the others write: each stores its nodes or words, tagged
// with the number of the call, into all windows, and waits for theirs in its own. That takes
// neither a launch of its own nor a collective operation.
#pragma once

#include <tally/export.h>
#include <tally/dot.hpp>
#include <tally/executor.hpp>
#include <tally/interval_sum.hpp>
#include <tally/operand.hpp>
#include <tally/types.hpp>
#include <tally/vector_reference.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tally {

/// Some adjacent chunks of a vector, and where the first of their nodes is among all.
struct node_interval {
  std::int64_t first = 0;  ///< the first chunk
  std::int64_t last = 0;   ///< the one behind the last chunk
  std::int32_t place = 0;  ///< of the first node; the others follow it
};

/// One step of joining: a node is taken, and so many additions follow, each of the last two sums.
struct join_step {
  std::int32_t node = 0;       ///< its place
  std::int32_t additions = 0;  ///< how many
};

/// How many nodes chunks [first, last) have: at most 2 log2 of their number, and 1.
TALLY_EXPORT std::int64_t count_interval_nodes(std::int64_t first, std::int64_t last) noexcept;

/// The steps that join the nodes of intervals which lie one behind the other and are a whole
/// vector.
/// @throws error invalid_argument if they leave a gap.
TALLY_EXPORT void list_join_steps(std::span<const node_interval> intervals,
                                  vector_reference<join_step> steps);
/// The same, returned.
inline std::vector<join_step> join_steps(std::span<const node_interval> intervals) {
  std::vector<join_step> steps;
  list_join_steps(intervals, steps);
  return steps;
}

/// The bytes of a node, of all fields. Of each field it has `interval_shape::numbers()` numbers; of
/// squares twice as many as of values, the sum and one of elements that are scaled, in the place of
/// a second pass.
TALLY_EXPORT std::size_t node_bytes(const interval_shape& shape) noexcept;

/// Writes the nodes of whole chunks, as `sum_interval` does, but where kernels can write. Doesn't
/// block: on a device the call returns once the work is queued on the executor's stream, and may be
/// captured in a graph.
/// @param where  the executor.
/// @param shape  of the sums.
/// @param fields as many as the shape says, all as long.
/// @param first  the first element, a multiple of `order::chunk`.
/// @param nodes  memory for `count_interval_nodes` times `node_bytes`.
/// @throws error, as the function of the terms does; invalid_argument for fields that are not of
///         this shape, or don't begin and end at multiples of `order::chunk` or at the end of the
///         whole vector; null_pointer, misaligned, wrong_memory; overlap.
TALLY_EXPORT void sum_nodes(const executor& where, const interval_shape& shape,
                            std::span<const interval_field> fields, std::int64_t first,
                            void* nodes);

/// The windows of some devices, as one of them reaches them. It owns nothing.
struct windows {
  static constexpr int most = 8;                           ///< devices
  static constexpr std::size_t most_sums = 32;             ///< of one call
  static constexpr std::size_t most_numbers_bytes = 2304;  ///< that one device sends of a sum

  int rank = 0;                  ///< this device's number
  int ranks = 0;                 ///< how many there are
  std::uint64_t* of[most] = {};  ///< the window of each

  /// The bytes of a window, which begins as zeros.
  static constexpr std::size_t bytes(int ranks) noexcept {
    const std::size_t words = most_numbers_bytes / 4;
    return (most_sums + 2 * most_sums * words * static_cast<std::size_t>(ranks)) * 8;
  }
};

/// What joining nodes is asked for.
struct join_arguments {
  interval_shape shape;                     ///< of the sums
  conjugate conjugated = conjugate::none;   ///< which vector of products is conjugated
  std::span<const join_step> steps;         ///< where kernels can read
  const void* nodes = nullptr;              ///< all nodes; with windows this device's
  void* results = nullptr;                  ///< one a field, of the type that the function returns
  const tally::windows* through = nullptr;  ///< null where all nodes are there
  /// With windows: rank r has places from r times that on. It is 1 at least, where no steps need
  /// them, too.
  std::int32_t nodes_a_rank = 0;
};

/// Joins nodes and makes the results. Doesn't block, as `sum_nodes`. With windows all devices make
/// the same calls in the same order, on a stream each, and kernels wait for each other.
/// @throws error null_pointer, misaligned, wrong_memory; invalid_argument for windows on an
///         executor other than `cuda`, for more sums or nodes than windows take, or for less than
///         one node a rank.
TALLY_EXPORT void join_nodes(const executor& where, const join_arguments& arguments);

/// What joining words is asked for.
struct join_words_arguments {
  std::int64_t* words = nullptr;            ///< this device's `exact_words(sum)` of each sum
  type sum = type::float64;                 ///< float32, float64, complex64 or complex128
  std::size_t count = 1;                    ///< sums, one behind the other
  bool root = false;                        ///< whether the result is the root of the sum
  output result;                            ///< the first of `count` results
  const tally::windows* through = nullptr;  ///< the windows
};

/// Adds up the words of exact sums that several devices have, rounds them, and leaves zeros in
/// their place. Doesn't block, as `join_nodes`.
/// @throws error, as `round_words` and `join_nodes`.
TALLY_EXPORT void join_words(const executor& where, const join_words_arguments& arguments);

/// Whether windows take so many sums, of each of which one device sends so many bytes.
constexpr bool windows_take(std::size_t sums, std::size_t bytes) noexcept {
  return sums <= windows::most_sums && bytes <= windows::most_numbers_bytes;
}

}  // namespace tally
