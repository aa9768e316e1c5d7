// Updates with a sum: one launch where there is a kernel, else two.
#include "backends/cuda/cuda.hpp"

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/cuda/fused/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/mailbox.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/runtime/sum.hpp"

#include <cstring>

namespace tally::backends::cuda {
namespace {

/// Whether a thread can load elements of all vectors of an update at once, all of this type.
/// Complex ones may come as twice as many real ones.
bool is_plain(const transform_arguments& u, type computation, type element, std::size_t n) {
  const auto fits = [&](const operand& v) {
    const bool as_numbers = v.size != n && v.element == part_of(element);
    return (as_numbers || v.element == element) &&
           is_contiguous({v.data, n, v.increment, element}, lanes_per_thread(size_of(element)));
  };
  return u.what == elementwise::axpby && part_of(computation) == part_of(element) && fits(u.x) &&
         fits(u.y) && fits(u.z);
}

fused_job job_of(const transform_arguments& u, type element, std::size_t n) {
  fused_job job;
  job.x = u.x.data;
  job.y = u.y.data;
  job.z = u.z.data;
  job.n = static_cast<std::int64_t>(n);
  with_type<accumulator_types>(element, [&]<class C>() {
    const auto f = factors<computed_t<C>>::template of<C>(u.alpha, u.beta);
    static_assert(sizeof f <= sizeof job.factors);
    std::memcpy(job.factors, &f, sizeof f);
  });
  return job;
}

/// Allocates what the second of two calls needs before the first.
void prepare_two_calls(const executor& where, const char* operation, bool wait) {
  const current_device current(where.device());
  const bool captured = is_captured(where.stream(), wait, operation);
  if (wait) result_buffer::of_this_thread(current);
  if (!captured) scratch_for(current, where.stream(), captured, scratch_words);
}

void run(const executor& where, const char* operation, const fused_kernel& kernel, fused_job& job,
         type element, const output& result, bool wait) {
  run_sum(where, operation, reinterpret_cast<const void*>(kernel.function),
          shape_of_sum(static_cast<std::size_t>(job.n), lanes_per_thread(size_of(element)),
                       kernel.words),
          kernel.words, job, result.data, size_of(result.element), wait);
}

}  // namespace

void backend::fused_dot(const executor& where, const transform_arguments& u, type computation,
                        const dot_arguments& a) const {
  // Vectors of one type are not exchanged (`in_order`): the first is z.
  const type element = a.x.element;
  const fused_kernel kernel = fused_dot_kernel(a.result.element, a.y.data == u.z.data);
  if (is_exact(a.options, a.result) || kernel.function == nullptr || element != a.result.element ||
      a.y.element != element || !is_contiguous(a.y, lanes_per_thread(size_of(element))) ||
      !is_plain(u, computation, element, a.x.size)) {
    prepare_two_calls(where, "axpy_dot", a.options.wait);
    return backends::backend::fused_dot(where, u, computation, a);
  }
  fused_job job = job_of(u, element, a.x.size);
  job.v = a.y.data;
  job.conjugated = a.conjugated;
  run(where, "axpy_dot", kernel, job, element, a.result, a.options.wait);
}

void backend::fused_nrm2(const executor& where, const transform_arguments& u, type computation,
                         const reduce_arguments& a) const {
  const type element = a.x.element;
  const fused_kernel kernel = fused_nrm2_kernel(element);
  if (is_exact(a.options, a.result) || kernel.function == nullptr || accumulator_of(a) != element ||
      !is_plain(u, computation, element, a.x.size)) {
    prepare_two_calls(where, "waxpby_nrm2", a.options.wait);
    return backends::backend::fused_nrm2(where, u, computation, a);
  }
  fused_job job = job_of(u, element, a.x.size);
  run(where, "waxpby_nrm2", kernel, job, element, a.result, a.options.wait);
}

}  // namespace tally::backends::cuda
