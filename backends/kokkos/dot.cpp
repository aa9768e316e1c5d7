// dot on Kokkos's default execution space, with types of elements told apart at run time.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"
#include "src/core/types/tables.hpp"

namespace tally::backends::kokkos {
namespace {

template <class A>
struct products {
  using sum = dot_sum<A>;
  using R = real_t<A>;
  numbers x, y;

  KOKKOS_FUNCTION sum lane(std::size_t first, std::size_t end) const {
    sum s{};
    for (std::size_t i = first; i < end; i += order::lanes) s = s + term(i);
    return s;
  }

  KOKKOS_FUNCTION sum term(std::size_t i) const {
    const R re = x.get<R>(i, 0), yre = y.get<R>(i, 0);
    if constexpr (!is_complex_v<A>) {
      return {multiply(re, yre)};
    } else {  // at least y is complex: it comes last in a pair
      const R yim = y.get<R>(i, 1);
      if (!x.v.complex) return {multiply(re, yre), R{}, multiply(re, yim), R{}};
      const R im = x.get<R>(i, 1);
      return {multiply(re, yre), multiply(im, yim), multiply(re, yim), multiply(im, yre)};
    }
  }
};

}  // namespace

void dot(const executor&, const dot_arguments& a) {
  const auto lock = acquire();
  with_type<accumulator_types>(a.result.element, [&]<class A>() {
    write_sum<real_t<A>>(products<A>{numbers(a.x), numbers(a.y)}, a.x.size, a.conjugated,
                         a.result.data, is_complex_v<A> ? 2 : 1, a.options.wait);
  });
}

}  // namespace tally::backends::kokkos
