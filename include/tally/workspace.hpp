// Host data, work on a GPU: staging memory and an executor for operands in host memory.
//
//   tally::workspace through(tally::cuda());
//   double r = tally::dot(through.executor(), x, y);  // x and y are std::vector<double>
//
// Long vectors are sent in parts: host threads copy one into pinned memory while the previous is in
// transfer and the one before in use; pinned memory (`tally::pin`,
// `tally::reach::kernels_and_host`) is sent in place. Short ones take one launch that reads pinned
// memory. A few MiB suffice for any length, allocated by a thread's first call of a kind.
//
// Promise: the bits of any other executor; parts are nodes of the order's tree.
//
// Operations: sums and dot products in both grades and as limbs, extrema, histograms, element-wise
// functions and updates with a sum; others are invalid_argument. Operands and results may also be
// where the device reaches them. All calls block.
//
// For an executor whose kernels reach host memory, a workspace's executor is that one, with all
// operations and no copies.
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>

#include <cstddef>
#include <memory>

namespace tally {

/// Options of a workspace.
struct workspace_options {
  /// Minimum of `stage_bytes`: a chunk of two complex128 vectors.
  static constexpr std::size_t min_stage_bytes = std::size_t{1} << 15;
  /// Maximum of `stage_bytes`.
  static constexpr std::size_t max_stage_bytes = std::size_t{1} << 30;
  /// Maximum of `threads`.
  static constexpr int max_threads = 256;

  /// Bytes per stage, all operands together; there are several. 0: tuned, a few MiB.
  std::size_t stage_bytes = 0;
  /// Threads that copy pageable memory, the calling one included. 0: tuned.
  int threads = 0;
};

/// Owns memory and threads to run operations on host data on a device. Movable only; unusable after
/// cudaDeviceReset. Concurrent calls are serialised, and follow earlier work on the stream, except
/// that pageable memory is read at once.
class TALLY_EXPORT workspace {
 public:
  /// @param where  a device and a stream, or a host executor.
  /// @param options the options.
  /// @throws error invalid_argument for options out of range and for `automatic()`; out_of_memory,
  ///               device_failure.
  explicit workspace(const tally::executor& where, const workspace_options& options = {});
  /// Pre: no call on the executor, now or later.
  ~workspace();
  /// Takes over the other, whose executor becomes `automatic()`.
  workspace(workspace&& other) noexcept;
  /// Releases this workspace and takes over the other.
  workspace& operator=(workspace&& other) noexcept;

  /// The executor that goes through this workspace, and ends with it.
  tally::executor executor() const noexcept;

 private:
  tally::executor where_;
  std::shared_ptr<const backends::backend> staged_;
};

}  // namespace tally
