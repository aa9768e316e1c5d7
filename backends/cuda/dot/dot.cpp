#include "backends/cuda/cuda.hpp"

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/dot/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/sum.hpp"

namespace tally::backends::cuda {
namespace {

void sum_products(const executor& where, const dot_arguments& a, sum_job job) {
  job.x = a.x.data;
  job.y = a.y.data;
  job.x_increment = a.x.increment;
  job.y_increment = a.y.increment;
  job.n = static_cast<std::int64_t>(a.x.size);
  job.x_type = a.x.element;
  job.y_type = a.y.element;
  job.conjugated = a.conjugated;

  int lanes = lanes_per_thread(size_of(a.x.element), size_of(a.y.element));
  const bool bytes_in_double =
      a.result.element == type::float64 && size_of(a.x.element) == 1 && size_of(a.y.element) == 1;
  const bool contiguous = is_contiguous(a.x, lanes) && is_contiguous(a.y, lanes);
  job.as_double = bytes_in_double && contiguous && a.x.size <= max_exact_bytes;
  const type accumulator = job.as_double ? type::int64 : a.result.element;
  with_type<accumulator_types>(accumulator, [&]<class A>() {
    constexpr unsigned words = words_per<dot_sum<A>>;
    auto* kernel = contiguous ? dot_kernel<A>(a.x.element, a.y.element) : nullptr;
    if (kernel == nullptr) {
      kernel = any_dot_kernel<A>(is_complex(a.x.element));
      lanes = lanes_of_any;
    }
    run_sum(where, "dot", kernel, shape_of_sum(a.x.size, lanes, words), words, job, a.result.data,
            size_of(a.result.element), a.options.wait);
  });
}

}  // namespace

void backend::dot(const executor& where, const dot_arguments& a) const {
  sum_products(where, a, sum_job());
}

void sum_node_of_products(const executor& where, type accumulator, const interval_field& node,
                          void* sum) {
  sum_job job;
  job.unfinished = true;
  job.exchanged = !in_order(node.x.element, node.y.element);
  const operand &x = job.exchanged ? node.y : node.x, &y = job.exchanged ? node.x : node.y;
  sum_products(where, {x, y, conjugate::none, {sum, accumulator}, {.wait = false}}, job);
}

}  // namespace tally::backends::cuda
