// dot on Kokkos's default execution space.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"
#include "src/core/types/tables.hpp"

namespace tally::backends::kokkos {
namespace {

template <class A, class X, class Y>
struct products {
  using sum = dot_sum<A>;
  using R = real_t<A>;
  numbers<X> x;
  numbers<Y> y;

  KOKKOS_FUNCTION sum lane(std::size_t first, std::size_t end) const {
    sum s{};
    for (std::size_t i = first; i < end; i += order::lanes) s = s + term(i);
    return s;
  }

  KOKKOS_FUNCTION sum term(std::size_t i) const {
    const R re = x.template get<R>(i, 0);
    if constexpr (!is_complex_v<A>) {
      return {multiply(re, y.template get<R>(i, 0))};
    } else {  // at least y is complex: it comes last in a pair
      const R yre = y.template get<R>(i, 0);
      const R yim = y.template get<R>(i, 1);
      if constexpr (!is_complex_v<X>) {
        return {multiply(re, yre), R{}, multiply(re, yim), R{}};
      } else {
        const R im = x.template get<R>(i, 1);
        return {multiply(re, yre), multiply(im, yim), multiply(re, yim), multiply(im, yre)};
      }
    }
  }
};

template <class A, class X, class Y>
void run(const dot_arguments& a) {
  write_sum<is_complex_v<A> ? 2 : 1, real_t<A>>(products<A, X, Y>{numbers<X>(a.x), numbers<Y>(a.y)},
                                                a.x.size, a.conjugated, a.result.data, a.wait);
}

template <class A>
struct run_entry {  // nvcc warns of a lambda whose parameters don't tell X and Y
  template <class X, class Y>
  constexpr auto operator()() const {
    return &run<A, X, Y>;
  }
};

template <class A>
constexpr auto runs = make_pair_table<void(const dot_arguments&), A>(run_entry<A>{});

}  // namespace

void dot(const executor&, const dot_arguments& a) {
  const auto lock = acquire();
  with_type<accumulator_types>(a.result.element,
                               [&]<class A>() { runs<A>[a.x.element][a.y.element](a); });
}

}  // namespace tally::backends::kokkos
