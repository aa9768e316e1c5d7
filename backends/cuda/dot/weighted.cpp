#include "backends/cuda/dot/weighted.hpp"

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/sum.hpp"

namespace tally::backends::cuda {
namespace {

void sum_weighted(const executor& where, const weighted_norm_arguments& a, bool unfinished) {
  weighted_job job;
  job.x = a.x.data;
  job.y = a.w.data;
  job.x_increment = a.x.increment;
  job.y_increment = a.w.increment;
  job.n = static_cast<std::int64_t>(a.x.size);
  job.x_type = a.x.element;
  job.y_type = a.w.element;
  job.what = a.what;
  job.unfinished = unfinished;
  if (a.mask && a.x.size > 0) {
    job.mask = a.mask->data;
    job.mask_increment = a.mask->increment;
    job.mask_type = a.mask->element;
  }
  const type accumulator = a.result.element;
  int lanes = lanes_per_thread(size_of(accumulator), size_of(accumulator));
  const auto fits = [&](const operand& v) {
    return v.element == accumulator && is_contiguous(v, lanes);
  };
  const bool contiguous = fits(a.x) && fits(a.w) && (!a.mask || fits(*a.mask));
  if (!contiguous) lanes = lanes_of_any;
  with_type<type_list<float, double>>(accumulator, [&]<class R>() {
    constexpr unsigned words = words_per<dot_sum<R>>;
    run_sum(where, "weighted norms", weighted_kernel(accumulator, contiguous, a.mask.has_value()),
            shape_of_sum(a.x.size, lanes, words), words, job, a.result.data, sizeof(R),
            a.options.wait);
  });
}

}  // namespace

void backend::weighted(const executor& where, const weighted_norm_arguments& a) const {
  sum_weighted(where, a, false);
}

void sum_node_of_weighted(const executor& where, type accumulator, const interval_field& node,
                          void* sum) {
  sum_weighted(
      where,
      {node.x, node.y, node.mask, weighted_norm::squares, {sum, accumulator}, {.wait = false}},
      true);
}

void write_weighted_terms(const executor& where, type accumulator, const interval_field& field,
                          void* to) {
  weighted_terms_job job{weighted_vectors(field.x, field.y, field.mask), field.x.size, to};
  launch_shape shape;
  shape.blocks = static_cast<unsigned>(ceil_div(job.n, threads_of_weighted_terms));
  shape.threads = threads_of_weighted_terms;
  launch(weighted_terms_kernel(accumulator), shape, &job, where.device(), where.stream());
}

}  // namespace tally::backends::cuda
