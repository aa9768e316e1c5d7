// sum, asum and nrm2 on Kokkos's default execution space.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"
#include "src/core/order/reduce_sum.hpp"
#include "src/core/types/tables.hpp"

namespace tally::backends::kokkos {
namespace {

template <class R>
KOKKOS_FUNCTION R magnitude(R number) {
  if constexpr (std::is_integral_v<R>) {  // modulo 2^64
    return number < 0 ? static_cast<R>(0 - static_cast<std::uint64_t>(number)) : number;
  } else {
    return number < 0 ? -number : number + R{0};  // -0 gives +0; a NaN's sign is lost anyway
  }
}

template <reduction what, class A, class X>
struct values {
  using sum = reduce_sum<A>;
  using R = real_t<A>;
  numbers<X> x;

  KOKKOS_FUNCTION R number(std::size_t i, int part) const {
    const R value = x.template get<R>(i, part);
    return what == reduction::asum ? magnitude(value) : value;
  }
  KOKKOS_FUNCTION sum lane(std::size_t first, std::size_t end) const {
    sum s{};
    for (std::size_t i = first; i < end; i += order::lanes) {
      if constexpr (is_complex_v<A>) {
        s = s + sum{number(i, 0), number(i, 1)};
      } else {
        s = s + sum{number(i, 0)};
      }
    }
    return s;
  }
};

/// The scaled sum is made always, since only the whole sum decides whether it is needed.
template <class A, class X>
struct squares {
  using sum = norm_sum<A>;
  using R = real_t<A>;
  numbers<X> x;

  KOKKOS_FUNCTION R add(std::size_t first, std::size_t end, int part, R scale) const {
    R s{};
    for (std::size_t i = first; i < end; i += order::lanes) {
      const R number = multiply(x.template get<R>(i, part), scale);
      s += multiply(number, number);
    }
    return s;
  }
  KOKKOS_FUNCTION norm_sum<R> lane_of(std::size_t first, std::size_t end, int part) const {
    norm_sum<R> s{add(first, end, part, R{1}), R{}};
    s.scaled = add(first, end, part, s.scale());
    return s;
  }
  KOKKOS_FUNCTION sum lane(std::size_t first, std::size_t end) const {
    if constexpr (is_complex_v<A>) {
      return {lane_of(first, end, 0), lane_of(first, end, 1)};
    } else {
      return lane_of(first, end, 0);
    }
  }
};

template <reduction what, class A, class X>
void run(const reduce_arguments& a) {
  using R = real_t<A>;
  if constexpr (what != reduction::nrm2) {
    constexpr int parts = what == reduction::sum && is_complex_v<A> ? 2 : 1;
    write_sum<parts, R>(values<what, A, X>{numbers<X>(a.x)}, a.x.size, what, a.result.data, a.wait);
  } else if constexpr (std::is_floating_point_v<R>) {
    write_sum<1, R>(squares<A, X>{numbers<X>(a.x)}, a.x.size, what, a.result.data, a.wait);
  }
}

template <reduction what, class A>
constexpr auto runs =
    make_type_table<void(const reduce_arguments&), A>([]<class X>() { return &run<what, A, X>; });

}  // namespace

void reduce(const executor&, const reduce_arguments& a) {
  const auto lock = acquire();
  with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
    switch (a.what) {
      case reduction::sum:
        return runs<reduction::sum, A>[a.x.element](a);
      case reduction::asum:
        return runs<reduction::asum, A>[a.x.element](a);
      case reduction::nrm2:
        return runs<reduction::nrm2, A>[a.x.element](a);
    }
  });
}

}  // namespace tally::backends::kokkos
