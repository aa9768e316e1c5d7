// Host side of the analysis kernels.
#pragma once

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"

#include <cstdint>
#include <vector>

namespace tally::backends::cuda {

struct survey_launch {
  survey_kernel* kernel;
  launch_shape shape;
};

/// Returns a launch for `items` rows or terms.
survey_launch survey_of(survey_kernel* kernel, std::size_t items);

/// Returns the launch of matrix_kernel, all of whose blocks run at once, and sets those that
/// examine rows. Where there is room, others check columns meanwhile.
survey_launch survey_of_matrix(const current_device& current, const csr_operand& a,
                               csr_survey& job);

/// Returns the rows per step of a block that balance the blocks.
int span_of(const current_device& current, const csr_operand& a);

/// Returns the launch that publishes the results.
survey_launch telling();

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
class queued_survey {
 public:
  /// `side` waits where the caller's stream may not.
  /// @throws error invalid_argument if the stream is being captured.
  queued_survey(const current_device& current, cudaStream_t stream,
                const std::vector<survey_launch>& launches, csr_survey job, const char* operation,
                const side_stream* side = nullptr);
  /// Waits for the kernels, which use memory of this object, the plan and the matrix.
  ~queued_survey();
  queued_survey(const queued_survey&) = delete;
  queued_survey& operator=(const queued_survey&) = delete;

  /// Waits, and returns the results. Called once.
  survey_words arrive();

 private:
  void queue(const current_device& current, cudaStream_t stream,
             const std::vector<survey_launch>& launches, csr_survey& job) const;

  int device_;
  std::uint64_t context_;
  cudaStream_t stream_;
  waited_words words_;
  mailbox* box_;
};

inline survey_words run_survey(const current_device& current, cudaStream_t stream,
                               const std::vector<survey_launch>& launches, const csr_survey& job,
                               const char* operation) {
  return queued_survey(current, stream, launches, job, operation).arrive();
}

}  // namespace tally::backends::cuda
