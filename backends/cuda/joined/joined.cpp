#include "backends/cuda/cuda.hpp"

#include "backends/common/order/node_sum.hpp"
#include "backends/cuda/joined/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"

namespace tally::backends::cuda {
namespace {

void launch_join(const executor& where, join_kernel* kernel, join_job job, std::size_t sums) {
  const current_device current(where.device());
  launch_shape shape;
  shape.blocks = static_cast<unsigned>(sums);
  shape.threads = join_threads;
  launch(reinterpret_cast<const void*>(kernel), shape, &job, where.device(), where.stream());
}

}  // namespace

void backend::join_nodes(const executor& where, const join_arguments& a) const {
  join_job job;
  job.nodes = a.nodes;
  job.steps = a.steps.data();
  job.count = static_cast<unsigned>(a.steps.size());
  if (a.through != nullptr) {
    job.through = *a.through;
    job.nodes_per_rank = static_cast<unsigned>(a.nodes_per_rank);
  }
  job.conjugated = a.conjugated;
  job.results = a.results;
  const type accumulator = a.shape.accumulator;
  const bool is_real = a.shape.what == summand::magnitude || a.shape.what == summand::square;
  job.result_bytes = static_cast<unsigned>(size_of(is_real ? part_of(accumulator) : accumulator));
  launch_join(where, join_nodes_kernel(a.shape.what, accumulator), job, a.shape.fields);
}

void backend::join_words(const executor& where, const join_words_arguments& a) const {
  join_job job;
  job.words = a.words;
  job.parts = is_complex(a.sum) ? 2 : 1;
  job.root = a.root;
  job.to_float = part_of(a.result.element) == type::float32;
  job.results = a.result.data;
  job.result_bytes = static_cast<unsigned>(size_of(a.result.element));
  job.through = *a.through;
  launch_join(where, join_words_kernel(part_of(a.sum) == type::float32), job, a.count);
}

}  // namespace tally::backends::cuda
