// Updates with sums: one launch where there is a kernel, else several.
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

}  // namespace

void backend::fused(const executor& where, const fused_update& u) const {
  // Vectors of one type are not exchanged (`in_order`): the first is z.
  const dot_arguments& a = u.sum;
  const type element = a.x.element;
  const bool is_dot = u.what == fused_sum::dot;
  const char* const operation = is_dot ? "axpy_dot" : "waxpby_nrm2";
  const int lanes = lanes_per_thread(size_of(element));
  const fused_kernel kernel =
      is_dot ? fused_dot_kernel(element, a.y.data == u.update.z.data) : fused_nrm2_kernel(element);
  const bool fits =
      is_dot ? a.result.element == element && a.y.element == element && is_contiguous(a.y, lanes)
             : accumulator_of(u.nrm2()) == element;
  if (u.is_exact() || kernel.function == nullptr || !fits ||
      !is_plain(u.update, u.computation, element, a.x.size)) {
    prepare_two_calls(where, operation, a.options.wait);
    return backends::backend::fused(where, u);
  }
  fused_job job = job_of(u.update, element, a.x.size);
  job.v = is_dot ? a.y.data : nullptr;
  job.conjugated = a.conjugated;
  run_sum(where, operation, reinterpret_cast<const void*>(kernel.function),
          shape_of_sum(a.x.size, lanes, kernel.words), kernel.words, job, a.result.data,
          size_of(a.result.element), a.options.wait);
}

void backend::multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                             type computation, bool alpha_on_host, const multi_sum& sums) const {
  prepare_two_calls(where, "multi_axpy_dot", sums.options.wait);
  backends::backend::multi_axpy_dot(where, update, computation, alpha_on_host, sums);
}

}  // namespace tally::backends::cuda
