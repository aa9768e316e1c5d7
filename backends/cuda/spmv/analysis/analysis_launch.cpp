#include "backends/cuda/spmv/analysis/analysis_launch.hpp"

#include "backends/cuda/device/words.hpp"
#include "backends/cuda/runtime/context.hpp"
#include "backends/cuda/spmv/method.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tally::backends::cuda {

launch_shape items_shape(std::size_t items) {
  // More blocks than run at a time contend for the counters (tuning/spmv.md: items_shape).
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::size_t>((items + 255) / 256, 1, std::size_t{1} << 10));
  return {.blocks = blocks, .threads = 256};
}

int span_of(const current_device& current, const csr_operand& a) {
  // Blocks with fewer rows end sooner (tuning/spmv.md: span_of).
  constexpr std::size_t unit = analysis_threads, max_span = analysis_span;
  std::size_t blocks = multiprocessors(current.device());
  if (a.rows > blocks * max_span) blocks *= analysis_blocks_per_sm;
  const std::size_t rounds = std::max<std::size_t>(1, ceil_div(a.rows, blocks * max_span));
  return static_cast<int>(std::max<std::size_t>(1, ceil_div(a.rows, rounds * blocks * unit)) *
                          unit);
}

analysis_launch matrix_launch(const current_device& current, const csr_operand& a,
                              analysis_job& job) {
  constexpr std::size_t columns_per_block = 16 * analysis_threads;
  const std::size_t spans = std::max<std::size_t>(
      1, ceil_div(a.rows, job.counts ? static_cast<std::size_t>(job.span) : 16 * analysis_threads));
  const std::size_t max_blocks = analysis_blocks_per_sm * multiprocessors(current.device());
  std::size_t others =
      job.check == defect_check::none ? 0 : ceil_div(a.nonzeros(), columns_per_block);
  const bool apart = job.counts && spans + others <= max_blocks;
  if (apart && job.check != defect_check::none) {
    job.check = defect_check::at_once;
  } else if (job.check != defect_check::at_once) {
    others = 0;
  }
  const auto blocks = static_cast<unsigned>(std::min(spans + others, max_blocks));
  job.row_blocks = apart ? static_cast<unsigned>(spans) : blocks;
  return {matrix_kernel(job.offsets.wide), {.blocks = blocks, .threads = analysis_threads}, job};
}

analysis_launch publish_launch(analysis_job& job) {
  return {publish_kernel(), {.blocks = 1, .threads = 32}, job};
}

struct side_stream::made {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;

  static void make(std::vector<made*>& to) {
    const beside_captures mode;
    auto one = std::make_unique<made>();
    check(cudaStreamCreateWithFlags(&one->stream, cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
    check(cudaEventCreateWithFlags(&one->event, cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
    to.push_back(one.get());
    (void)one.release();  // nothing of a context is ever destroyed
  }
};

side_stream::side_stream(const current_device& current)
    : context_(current.context()), made_(of_context<spares<made>>(context_).take()) {}
side_stream::~side_stream() { of_context<spares<made>>(context_).give_back(made_); }

cudaStream_t side_stream::get() const { return made_->stream; }

void side_stream::wait_for(cudaStream_t other) const {
  check(cudaEventRecord(made_->event, other), "cudaEventRecord");
  check(cudaStreamWaitEvent(made_->stream, made_->event, 0), "cudaStreamWaitEvent");
}

pending_analysis::pending_analysis(const current_device& current, cudaStream_t stream,
                                   const std::vector<analysis_launch>& launches,
                                   const char* operation, const side_stream* side)
    : device_(current.device()),
      context_(current.context()),
      stream_((is_captured(stream, true, operation), side ? side->get() : stream)),
      words_(current, stream_),
      box_(of_context<spares<result_buffer>>(context_).take()) {
  const std::uint32_t tag = box_->next_tag();
  try {
    for (const analysis_launch& of : launches) {
      allow_shared_bytes(of.kernel, current, of.shape.shared_bytes);
      of.job->found = words_.get();
      of.job->tag = tag;
      of.job->result = box_->address();
      of.job->tells = &of == &launches.back();
      launch(of.kernel, of.shape, of.job, device_, stream);
    }
    if (side != nullptr) side->wait_for(stream);
  } catch (...) {
    // Queued kernels may still write; words are cleared behind them.
    const beside_captures mode;
    (void)cudaStreamSynchronize(stream);
    of_context<spares<result_buffer>>(context_).give_back(box_);
    throw;
  }
}

analysis_results pending_analysis::arrive() {
  std::uint32_t payload[result_buffer::words];
  box_->wait(stream_, words_per<analysis_results>, payload);
  words_.emptied();
  of_context<spares<result_buffer>>(context_).give_back(std::exchange(box_, nullptr));
  analysis_results found;
  std::memcpy(&found, payload, sizeof found);
  return found;
}

pending_analysis::~pending_analysis() {
  if (box_ == nullptr) return;
  try {
    if (current_device(device_).context() == context_) {
      (void)arrive();
    } else {
      words_.emptied();
    }
  } catch (const error&) {  // the context has failed
  }
}

}  // namespace tally::backends::cuda
