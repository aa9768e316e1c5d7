#include "backends/cuda/cuda.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/transform/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tally::backends::cuda {
namespace {

/// Returns the kernel for contiguous vectors of one type, if any.
transform_kernel kernel_of(const transform_arguments& a) {
  if (copies_bits(a) && !is_complex(a.x.element)) return copy_kernel_of(a.x.element);
  if (detail::is_short(a.what)) return short_kernel_of(detail::inputs(a.what), a.x.element);
  return with_type(a.x.element, [&]<class X>() -> transform_kernel {
    if constexpr (is_complex_v<X> || std::is_same_v<X, bool>) {
      return {};
    } else {
      return transform_kernel_of<X>(a.what);
    }
  });
}

std::int64_t misalignment(const void* pointer) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer) % 16);
}

template <class V>
void put_factors(transform_job& job, const three_factors<V>& f) {
  static_assert(sizeof f <= sizeof job.factors);
  std::memcpy(job.factors, &f, sizeof f);
}

/// Sets the factors for contiguous vectors of one type.
void put_factors_of(const transform_arguments& a, transform_job& job) {
  with_type<real_types>(a.x.element, [&]<class X>() {
    if constexpr (std::is_same_v<X, bool>) {  // only copied
    } else if constexpr (std::is_integral_v<X>) {
      using U = std::make_unsigned_t<X>;
      const auto factor = [](const scalar& s) { return static_cast<U>(s.as<std::int64_t>()); };
      put_factors(job, three_factors<U>{{factor(a.alpha), factor(a.beta)}, factor(a.gamma)});
    } else {
      using C = dot_result_t<X, X>;
      put_factors(job, three_factors<C>::template of<C>(a));
    }
  });
}

}  // namespace

void backend::transform(const executor& where, const transform_arguments& a,
                        type computation) const {
  const current_device current(where.device());
  transform_job job;
  job.x = typed_vector(a.x);
  job.y = typed_vector(a.y);
  job.z = typed_vector(a.z);
  job.w = typed_vector(a.w);
  job.what = a.what;
  job.n = static_cast<std::int64_t>(a.x.size);
  const auto run = [&](transform_kernel_function* kernel, const transform_shape& shape) {
    job.early = shape.early;
    launch(reinterpret_cast<const void*>(kernel),
           {static_cast<unsigned>(shape.blocks), shape.threads}, &job, where.device(),
           where.stream());
  };

  const transform_kernel kernel = is_uniform(a, computation) ? kernel_of(a) : transform_kernel();
  if (kernel.cut != nullptr) {
    put_factors_of(a, job);
    const bool binary = detail::is_binary(a.what);
    const auto size = static_cast<std::int64_t>(size_of(a.z.element)), per_load = 16 / size;
    const std::int64_t offset = misalignment(a.z.data);
    const std::int64_t x_off = (misalignment(a.x.data) - offset) & 15;
    const std::int64_t y_off = binary ? (misalignment(a.y.data) - offset) & 15 : x_off;
    const std::int64_t w_off =
        detail::is_ternary(a.what) ? (misalignment(a.w.data) - offset) & 15 : x_off;
    const bool shifted = x_off != 0 || y_off != 0 || w_off != 0;
    job.head = (16 - offset) % 16 / size;
    job.whole = (job.n - job.head) / per_load;
    if (shifted) {  // one load less at either end, where an input's would lie outside
      if (job.head * size < std::max({x_off, y_off, w_off})) job.head += per_load;
      job.whole = (job.n - job.head) / per_load - 1;
    }
    job.whole = std::max<std::int64_t>(job.whole, 0);
    job.head = std::min(job.head, job.n);
    const auto whole = static_cast<std::uint64_t>(job.whole);
    if (shifted) return run(kernel.shifted, shape_of_shifted(whole));
    const transform_shape shape =
        shape_of_vectors(whole, *kernel.cut, binary, multiprocessors(where.device()),
                         threads_of_multiprocessor(where.device()));
    return run(kernel.vectors[std::countr_zero(shape.loads)], shape);
  }
  const transform_shape shape = shape_of_elements(a.x.size);
  if (copies_bits(a)) return run(any_copy_kernel_of(job.x.number), shape);
  with_type<accumulator_types>(computation, [&]<class C>() {
    put_factors(job, three_factors<computed_t<C>>::template of<C>(a));
    if (detail::is_short(a.what)) {
      return run(any_short_kernel_of(detail::inputs(a.what), type_of<C>), shape);
    }
    run(any_transform_kernel_of(a.what, type_of<C>), shape);
  });
}

}  // namespace tally::backends::cuda
