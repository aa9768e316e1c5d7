// dot on Kokkos.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/order/node_sum.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {
namespace {

template <class A, class Numbers>
struct products {
  using sum = dot_sum<A>;
  using R = real_t<A>;
  Numbers x, y;
  bool exchanged = false;  // whether x and y are exchanged

  KOKKOS_FUNCTION sum term(std::size_t i) const {
    const R re = x.template get<R>(i, 0), yre = y.template get<R>(i, 0);
    if constexpr (!is_complex_v<A>) {
      return {multiply(re, yre)};
    } else {  // y is complex: it comes last in a pair
      const R yim = y.template get<R>(i, 1);
      if (!x.is_complex()) {
        const R im = multiply(re, yim);
        return {multiply(re, yre), R{}, exchanged ? R{} : im, exchanged ? im : R{}};
      }
      const R im = x.template get<R>(i, 1);
      const R ri = multiply(re, yim), ir = multiply(im, yre);
      return {multiply(re, yre), multiply(im, yim), exchanged ? ir : ri, exchanged ? ri : ir};
    }
  }
};

}  // namespace

void backend::dot(const executor& where, const dot_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    with_type<accumulator_types>(a.result.element, [&]<class A>() {
      const auto write = [&]<class Numbers>(const Numbers& x, const Numbers& y) {
        write_sum<real_t<A>>(on, products<A, Numbers>{x, y}, a.x.size, a.conjugated, a.result.data,
                             is_complex_v<A> ? 2 : 1, a.options.wait);
      };
      if (a.x.element == type_of<A> && a.y.element == type_of<A>) {
        with_own_numbers<A>(write, a.x, a.y);
      } else {
        write(numbers(a.x), numbers(a.y));
      }
    });
  });
}

void leave_products(const space& on, type accumulator, const interval_field& node, void* sum,
                    bool wait) {
  const bool exchanged = !in_order(node.x.element, node.y.element);
  const operand &x = exchanged ? node.y : node.x, &y = exchanged ? node.x : node.y;
  with_node(summand::product, accumulator, [&]<summand what, class A>() {
    if constexpr (what == summand::product) {
      const auto leave = [&]<class Numbers>(const Numbers& a, const Numbers& b) {
        leave_sum(on, products<A, Numbers>{a, b, exchanged}, x.size, sum, wait);
      };
      if (x.element == type_of<A> && y.element == type_of<A>) {
        with_own_numbers<A>(leave, x, y);
      } else {
        leave(numbers(x), numbers(y));
      }
    }
  });
}

}  // namespace tally::backends::kokkos
