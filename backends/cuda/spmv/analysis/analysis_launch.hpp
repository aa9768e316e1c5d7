// Host side of the analysis kernels.
#pragma once

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/spmv/analysis/analysis_job.hpp"

#include <cstdint>
#include <vector>

namespace tally::backends::cuda {

/// Launch of an analysis kernel, whose parameter lives until the launch is queued.
struct analysis_launch {
  template <class Job>
  analysis_launch(void (*code)(Job), const launch_shape& grid, Job& parameter)
      : kernel(reinterpret_cast<const void*>(code)), shape(grid), job(&parameter) {}

  const void* kernel;
  launch_shape shape;
  analysis_job* job;  ///< the parameter's base
};

/// Returns a grid of blocks of 256 threads for `items` rows or terms.
launch_shape items_shape(std::size_t items);

/// Returns the launch of matrix_kernel, all of whose blocks run at once, and sets those that
/// examine rows; others check columns.
analysis_launch matrix_launch(const current_device& current, const csr_operand& a,
                              analysis_job& job);

/// Returns the rows per step of a block that balance the blocks.
int span_of(const current_device& current, const csr_operand& a);

/// Returns the launch that publishes the results.
analysis_launch publish_launch(analysis_job& job);

/// Stream of the library, for plans that the caller does not wait for: the caller's stream may
/// later be captured, or gone.
class side_stream {
 public:
  explicit side_stream(const current_device& current);
  ~side_stream();
  side_stream(const side_stream&) = delete;
  side_stream& operator=(const side_stream&) = delete;

  cudaStream_t get() const;
  /// Makes later work wait for what `other` has queued.
  void wait_for(cudaStream_t other) const;

 private:
  struct made;

  std::uint64_t context_;
  made* made_;
};

/// Queued analysis kernels, the last of which publishes.
class pending_analysis {
 public:
  /// `side` waits where the caller's stream may not.
  /// @throws error invalid_argument if the stream is being captured.
  pending_analysis(const current_device& current, cudaStream_t stream,
                   const std::vector<analysis_launch>& launches, const char* operation,
                   const side_stream* side = nullptr);
  /// Waits for the kernels, which use memory of this object, the plan and the matrix.
  ~pending_analysis();
  pending_analysis(const pending_analysis&) = delete;
  pending_analysis& operator=(const pending_analysis&) = delete;

  /// Waits, and returns the results. Called once.
  analysis_results arrive();

 private:
  int device_;
  std::uint64_t context_;
  cudaStream_t stream_;
  waited_words words_;
  result_buffer* box_;
};

inline analysis_results run_analysis(const current_device& current, cudaStream_t stream,
                                     const std::vector<analysis_launch>& launches,
                                     const char* operation) {
  return pending_analysis(current, stream, launches, operation).arrive();
}

}  // namespace tally::backends::cuda
