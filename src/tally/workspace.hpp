// Data in host memory, work on a GPU: memory that stays between the host and a device, and an
// executor whose operations take operands in host memory and go through it.
//
//   tally::workspace through(tally::cuda());
//   double r = tally::dot(through.executor(), x, y);  // x and y are std::vector<double>
//
// A long vector goes to the device in parts. The host's threads copy one into pinned memory while
// the one before is on its way and the one before that is being worked on; what is pinned already
// (`tally::pin`, `tally::reach::kernels_and_host`) goes from where it is. A short one takes one
// launch, whose kernel reads the pinned memory itself. So a workspace has a few MiB, however long
// the operands are. No call allocates memory of the device or pinned memory after the first of its
// kind on its thread, which has a mailbox, and pinned room for many results, of its own.
//
// Promise: the bits are those of the same operation on any other executor. Parts are nodes of the
// order's tree, whose sums are added up as the tree adds them.
//
// What it takes: dot, dotc, sum, asum, nrm2 in both grades and as words of exact sums, multi_dot,
// batched_dot, min, max, minmax, iamax, histograms, the element-wise functions and updates with a
// sum, of all types and increments; other operations are invalid_argument. Operands and results lie
// in host memory, or where the device reaches them, each as it likes. All calls wait: they return
// when the result, and what is written, is there.
//
// On an executor of the host, and on any whose kernels reach host memory, a workspace's executor is
// that one itself, which copies nothing and has all operations.
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>

#include <cstddef>
#include <memory>

namespace tally {

/// What a workspace may be asked for.
struct workspace_options {
  /// The least `stage_bytes`: a chunk of two vectors of complex128.
  static constexpr std::size_t least_stage_bytes = std::size_t{1} << 15;
  /// The most.
  static constexpr std::size_t most_stage_bytes = std::size_t{1} << 30;
  /// The most `threads`.
  static constexpr int most_threads = 256;

  /// How many bytes of all operands together go to the device at once; a workspace has several such
  /// stages. 0: as measured best, a few MiB.
  std::size_t stage_bytes = 0;
  /// How many threads copy what is not pinned, the calling one among them. The others sleep between
  /// calls. 0: as many as are worth while, at most one a processor.
  int threads = 0;
};

/// Owns memory and threads through which operations on data in host memory run on a device. It can
/// be moved but not copied.
///
/// It ends before the device's context does: after cudaDeviceReset nothing of it can be used.
///
/// Calls on one workspace from several threads come one after the other; two workspaces share
/// nothing. Work that was queued on the executor's stream before a call is done before it looks at
/// results, and at operands that a device reaches; what is pageable is read at once.
class TALLY_EXPORT workspace {
 public:
  /// @param where   a device and a stream; or an executor of the host.
  /// @param options see there.
  /// @throws error invalid_argument for options out of range and for `automatic()`; out_of_memory,
  ///               device_failure.
  explicit workspace(const tally::executor& where, const workspace_options& options = {});
  /// No call on its executor may be under way, or come later.
  ~workspace();
  /// Takes over what another one has; that one's executor is `automatic()` then.
  workspace(workspace&& other) noexcept;
  /// Ends what it has and takes over what another one has.
  workspace& operator=(workspace&& other) noexcept;

  /// The executor whose operations go through it, which owns nothing: it ends with the workspace.
  tally::executor executor() const noexcept;

 private:
  tally::executor where_;
  std::shared_ptr<const backends::backend> staged_;
};

}  // namespace tally
