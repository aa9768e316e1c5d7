#include "backends/cuda/cuda.hpp"

#include "backends/common/order/reduce_sum.hpp"
#include "backends/cuda/reduce/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/sum.hpp"

namespace tally::backends::cuda {
namespace {

const reduce_kernel& kernel_of(const reduce_arguments& a, type accumulator) {
  switch (a.what) {
    case reduction::sum:
      return reduce_kernel_of<reduction::sum>(accumulator, a.x.element);
    case reduction::asum:
      return reduce_kernel_of<reduction::asum>(accumulator, a.x.element);
    default:
      return reduce_kernel_of<reduction::nrm2>(accumulator, a.x.element);
  }
}

void sum_elements(const executor& where, const reduce_arguments& a, sum_job job) {
  job.x = a.x.data;
  job.x_increment = a.x.increment;
  job.x_type = a.x.element;
  job.n = static_cast<std::int64_t>(a.x.size);

  static constexpr const char* names[] = {"sum", "asum", "nrm2"};
  int lanes = lanes_per_thread(size_of(a.x.element));
  const bool bytes_in_double =
      a.what != reduction::nrm2 && a.result.element == type::float64 && size_of(a.x.element) == 1;
  const bool contiguous = is_contiguous(a.x, lanes);
  job.as_double = bytes_in_double && contiguous && a.x.size <= max_exact_bytes;
  const reduce_kernel& kernel = kernel_of(a, job.as_double ? type::int64 : accumulator_of(a));
  sum_kernel_function* function = contiguous ? kernel.contiguous : nullptr;
  if (function == nullptr) {
    function = kernel.any;
    lanes = lanes_of_any;
  }
  run_sum(where, names[static_cast<int>(a.what)], function,
          shape_of_sum(a.x.size, lanes, kernel.words), kernel.words, job, a.result.data,
          size_of(a.result.element), a.options.wait);
}

}  // namespace

void backend::reduce(const executor& where, const reduce_arguments& a) const {
  sum_elements(where, a, sum_job());
}

void sum_node_of_elements(const executor& where, type accumulator, const interval_field& node,
                          void* sum) {
  sum_job job;
  job.unfinished = true;
  const bool is_value = node.what == summand::value;
  const reduction what = is_value                          ? reduction::sum
                         : node.what == summand::magnitude ? reduction::asum
                                                           : reduction::nrm2;
  const type result = is_value ? accumulator : part_of(accumulator);
  sum_elements(where, {node.x, what, {sum, result}, {.wait = false}}, job);
}

}  // namespace tally::backends::cuda
