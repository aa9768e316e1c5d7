// The host queues the kernels that look at a matrix with these functions, and waits for what they
// find.
#pragma once

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/spmv/plan.hpp"

#include <cstdint>
#include <vector>

namespace tally::backends::cuda {

struct survey_launch {
  survey_kernel* kernel;
  launch_shape shape;
};

/// Returns a launch for so many rows or terms.
survey_launch survey_of(survey_kernel* kernel, std::size_t items);

/// Returns a launch of the kernel that looks at the whole matrix, and tells the job which of its
/// blocks look at rows. All blocks run at a time; where there are places enough, others look at
/// columns, which are then checked at once.
survey_launch survey_of_matrix(const current_device& current, const csr_operand& a,
                               csr_survey& job);

/// Returns how many rows a block of it looks at together, so that blocks have as much to do.
int span_of(const current_device& current, const csr_operand& a);

/// Returns the launch that delivers what the kernels before have found.
survey_launch telling();

/// Is a stream of the library's own, on which a plan waits that the caller did not wait for: by
/// then the caller's stream may be captured, or gone.
class side_stream {
 public:
  explicit side_stream(const current_device& current);
  ~side_stream();
  side_stream(const side_stream&) = delete;
  side_stream& operator=(const side_stream&) = delete;

  cudaStream_t get() const;
  /// Lets what is queued on it from here on wait for what is queued on another one.
  void wait_for(cudaStream_t other) const;

 private:
  struct made;

  std::uint64_t context_;
  made* made_;
};

/// Kernels that look at a matrix have been queued, the last of which delivers what was found.
class queued_survey {
 public:
  /// Queues them. `side` waits for them where the caller's stream may not.
  /// @throws error invalid_argument if the stream is being captured.
  queued_survey(const current_device& current, cudaStream_t stream,
                const std::vector<survey_launch>& launches, csr_survey job, const char* operation,
                const side_stream* side = nullptr);
  /// Waits for the kernels, which write to memory of this survey and of the plan, and read the
  /// matrix.
  ~queued_survey();
  queued_survey(const queued_survey&) = delete;
  queued_survey& operator=(const queued_survey&) = delete;

  /// Waits, and returns what was found. It is called once.
  survey_words arrive();

 private:
  void queue(const current_device& current, cudaStream_t stream,
             const std::vector<survey_launch>& launches, csr_survey& job) const;

  int device_;
  std::uint64_t context_;
  cudaStream_t stream_;  ///< the one that is waited for
  waited_words words_;
  mailbox* box_;
};

/// Queues kernels, waits and returns what was found.
inline survey_words run_survey(const current_device& current, cudaStream_t stream,
                               const std::vector<survey_launch>& launches, const csr_survey& job,
                               const char* operation) {
  return queued_survey(current, stream, launches, job, operation).arrive();
}

}  // namespace tally::backends::cuda
