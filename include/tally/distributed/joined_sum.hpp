// Sums of a vector whose parts lie on several devices, joined on a device without a host wait; used
// by <tally/nccl.hpp>. Promise: as <tally/distributed/interval_sum.hpp>.
//
// Steps:
//
// 1. The whole chunks of a part are an interval. A cut chunk is another, on the part with the first
//    element, which receives the rest.
// 2. `sum_part` without `wait` writes an interval's nodes to device memory. Others' are copied
//    beside them, in any order, or exchanged through windows while joining.
// 3. `join_nodes`, one launch, adds all nodes by `join_steps` and makes the results.
//
// In the exact grade limbs are added: by a collective on int64 and `round_words`, or by
// `join_words`.
//
// A window is peer-writable memory of a device: every device stores nodes or limbs, tagged with the
// call's number, to all windows and waits for the others' in its own.
#pragma once

#include <tally/export.h>
#include <tally/distributed/interval_sum.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operands/vector_reference.hpp>
#include <tally/operations/dot.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tally {

/// Adjacent chunks and their first node's index.
struct node_interval {
  std::int64_t first = 0;  ///< first chunk
  std::int64_t last = 0;   ///< past the last chunk
  std::int32_t place = 0;  ///< first node's index; others follow
};

/// A joining step: push a node, then add the top two sums `additions` times.
struct join_step {
  std::int32_t node = 0;       ///< node index
  std::int32_t additions = 0;  ///< number of additions
};

/// Nodes of chunks [first, last): at most 2 log2 of their number, and 1.
TALLY_EXPORT std::int64_t count_interval_nodes(std::int64_t first, std::int64_t last) noexcept;

/// The steps that join consecutive intervals, a whole vector.
/// @throws error invalid_argument for a gap.
TALLY_EXPORT void list_join_steps(std::span<const node_interval> intervals,
                                  vector_reference<join_step> steps);
/// The same.
inline std::vector<join_step> join_steps(std::span<const node_interval> intervals) {
  std::vector<join_step> steps;
  list_join_steps(intervals, steps);
  return steps;
}

/// Windows of several devices, as one addresses them. Owns nothing.
struct windows {
  static constexpr int most = 8;                          ///< at most, devices
  static constexpr std::size_t max_sums = 32;             ///< at most, per call
  static constexpr std::size_t max_numbers_bytes = 2304;  ///< at most, from one device per sum

  int rank = 0;                  ///< this device
  int ranks = 0;                 ///< number of devices
  std::uint64_t* of[most] = {};  ///< window of each device

  /// Bytes of a window, which is zero at first.
  static constexpr std::size_t bytes(int ranks) noexcept {
    const std::size_t words = max_numbers_bytes / 4;
    return (max_sums + 2 * max_sums * words * static_cast<std::size_t>(ranks)) * 8;
  }
};

/// Arguments of `join_nodes`.
struct join_arguments {
  interval_shape shape;                     ///< of the sums
  conjugate conjugated = conjugate::none;   ///< the conjugated vector of products
  std::span<const join_step> steps;         ///< where kernels can read
  const void* nodes = nullptr;              ///< all nodes; with windows this device's
  void* results = nullptr;                  ///< one per field
  const tally::windows* through = nullptr;  ///< null if all nodes are present
  /// Nodes per rank, with windows: rank r's first is r*nodes_per_rank. At least 1.
  std::int32_t nodes_per_rank = 0;
};

/// Joins nodes and makes the results. Doesn't block. With windows all devices must make the same
/// calls in the same order, on a stream each; kernels wait for each other.
/// @throws error null_pointer, misaligned, wrong_memory; invalid_argument for windows on an
///               executor other than `cuda`, too many sums or nodes for windows, or less than one
///               node per rank.
TALLY_EXPORT void join_nodes(const executor& where, const join_arguments& arguments);

/// Arguments of `join_words`.
struct join_words_arguments {
  std::int64_t* words = nullptr;            ///< this device's `exact_words(sum)` limbs per sum
  type sum = type::float64;                 ///< float32, float64, complex64 or complex128
  std::size_t count = 1;                    ///< contiguous sums
  bool root = false;                        ///< whether the result is the square root
  output result;                            ///< the first of `count` results
  const tally::windows* through = nullptr;  ///< the windows
};

/// Adds exact sums over devices, rounds them, and zeroes the limbs. Doesn't block.
/// @throws error as `round_words` and `join_nodes`.
TALLY_EXPORT void join_words(const executor& where, const join_words_arguments& arguments);

/// Whether windows have room for `sums` of `bytes` per device.
constexpr bool windows_take(std::size_t sums, std::size_t bytes) noexcept {
  return sums <= windows::max_sums && bytes <= windows::max_numbers_bytes;
}

}  // namespace tally
