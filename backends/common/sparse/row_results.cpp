#include "backends/common/sparse/row_results.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/common/elementwise/elementwise.hpp"

#include <complex>
#include <cstdint>

namespace tally::backends {

namespace row_results {

template <class A, class Y>
void write(const sums_update& a, std::size_t first, std::size_t n, const A* sums) {
  using C = dot_result_t<A, Y>;
  using V = computed_t<C>;
  const auto f = factors<V>::template of<C>(a.alpha, a.beta);
  const auto part = a.y.slice(first, n);
  auto* const y = static_cast<Y*>(part.data);
  const auto rows = static_cast<std::ptrdiff_t>(n);
  if (a.reads_addend()) {
    const auto from = a.addend().slice(first, n);
    const auto* const added = static_cast<const Y*>(from.data);
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      y[i * part.increment] = blocks::leave<Y>(function<elementwise::axpby>(
          f, blocks::enter<V>(sums[i]), blocks::enter<V>(added[i * from.increment])));
    }
  } else {
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      y[i * part.increment] =
          blocks::leave<Y>(function<elementwise::scal>(f, blocks::enter<V>(sums[i]), V{}));
    }
  }
}

template <class A>
using writer = void(const sums_update& a, std::size_t first, std::size_t n, const A* sums);

template <class A>
constexpr auto writers = table_over<detail::spmv_vector_types>([]<class Y>() -> writer<A>* {
  if constexpr (is_complex_v<Y> || !is_complex_v<A>) {
    return &write<A, Y>;
  } else {
    return nullptr;
  }
});

}  // namespace row_results

template <class A>
void write_rows(const sums_update& a, std::size_t first, std::size_t n, const A* sums) {
  row_results::writers<A>[a.y.element](a, first, n, sums);
}

void write_rows(const sums_update& a, std::size_t first, std::size_t n, const std::int64_t* sums) {
  const auto part = a.y.slice(first, n);
  auto* const y = static_cast<std::int64_t*>(part.data);
  for (std::size_t i = 0; i < n; ++i) y[static_cast<std::ptrdiff_t>(i) * part.increment] = sums[i];
}

template void write_rows(const sums_update&, std::size_t, std::size_t, const float*);
template void write_rows(const sums_update&, std::size_t, std::size_t, const double*);
template void write_rows(const sums_update&, std::size_t, std::size_t, const std::complex<float>*);
template void write_rows(const sums_update&, std::size_t, std::size_t, const std::complex<double>*);

}  // namespace tally::backends
