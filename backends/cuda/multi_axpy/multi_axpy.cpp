#include "backends/common/elementwise/multi_axpy.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/multi_axpy/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <algorithm>
#include <cstring>

namespace tally::backends::cuda {
namespace {

std::size_t misalignment(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16;
}

/// Whether all vectors are contiguous, of one type, and computed in it.
bool is_uniform(const multi_axpy_arguments& a, type computation) {
  const type element = a.y.element;
  if (a.y.increment != 1 || a.x.element() != element ||
      computation != detail::computation_type(elementwise::axpby, element, element)) {
    return false;
  }
  for (std::size_t j = 0; j < a.x.size(); ++j) {
    if (a.x[j].increment != 1) return false;
  }
  return true;
}

/// Whether all vectors start at y's distance from a multiple of 16 bytes.
bool are_aligned_alike(const multi_axpy_arguments& a) {
  for (std::size_t j = 0; j < a.x.size(); ++j) {
    if (misalignment(a.x[j].data) != misalignment(a.y.data)) return false;
  }
  return misalignment(a.y.data) % size_of(a.y.element) == 0;
}

template <class V, class C>
void put_factor(const scalar& s, unsigned char* to) {
  const auto f = factors<V>::template of<C>(s);
  static_assert(sizeof f <= multi_axpy_job::factor_bytes);
  std::memcpy(to, &f, sizeof f);
}

}  // namespace

void backend::multi_axpy(const executor& where, const multi_axpy_arguments& a, type computation,
                         bool alpha_on_host) const {
  const current_device current(where.device());
  multi_axpy_job job;
  job.y = typed_vector(a.y);
  job.n = static_cast<std::int64_t>(a.y.size);
  job.keeps_computed = a.y.element == computation;

  const bool wide = are_aligned_alike(a);
  multi_axpy_kernel* kernel =
      is_uniform(a, computation) ? uniform_update_kernel(a.y.element, wide) : nullptr;
  std::int64_t blocks = (std::min(job.n, std::int64_t{1} << 30) + threads_of_update - 1) /
                        std::int64_t{threads_of_update};
  if (kernel != nullptr) {
    const auto size = static_cast<std::int64_t>(size_of(a.y.element));
    const std::int64_t per_load = wide ? 16 / size : 1;
    const auto before = static_cast<std::int64_t>((16 - misalignment(a.y.data)) % 16);
    job.head = wide ? std::min(before / size, job.n) : 0;
    job.whole = (job.n - job.head) / per_load;
    blocks = std::max<std::int64_t>(1, (job.whole + threads_of_update - 1) / threads_of_update);
  } else {
    kernel = any_update_kernel(computation);
  }

  for (std::size_t first = 0; first < a.x.size(); first += vectors_per_launch) {
    const std::size_t vectors = std::min<std::size_t>(vectors_per_launch, a.x.size() - first);
    job.vectors = static_cast<int>(vectors);
    job.reads_y = first > 0 || !a.beta.is_zero();
    if (!alpha_on_host) job.alpha = typed_vector(a.alpha.slice(first, vectors));
    with_type<accumulator_types>(computation, [&]<class C>() {
      using V = computed_t<C>;
      put_factor<V, C>(first > 0 ? scalar(1) : a.beta, job.beta);
      for (std::size_t j = 0; j < vectors; ++j) {
        job.x = typed_vector(a.x[first + j]);
        job.data[j] = job.x.data;
        job.increment[j] = job.x.increment;
        if (!alpha_on_host) continue;
        put_factor<V, C>(factor_at(a.alpha, first + j),
                         job.factors + j * sizeof(typename factor_of<V>::type));
      }
    });
    launch(reinterpret_cast<const void*>(kernel),
           {static_cast<unsigned>(blocks), threads_of_update}, &job, where.device(),
           where.stream());
  }
}

}  // namespace tally::backends::cuda
