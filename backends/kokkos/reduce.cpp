// Reductions on Kokkos.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/order/node_sum.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/kokkos/sums.hpp"

#include <algorithm>

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

template <class A, class Numbers>
struct values {
  using sum = reduce_sum<A>;
  using R = real_t<A>;
  Numbers x;
  bool magnitudes;

  KOKKOS_FUNCTION R number(std::size_t i, int part) const {
    const R value = x.template get<R>(i, part);
    return magnitudes ? magnitude(value) : value;
  }
  KOKKOS_FUNCTION sum term(std::size_t i) const {
    if constexpr (is_complex_v<A>) {
      return {number(i, 0), number(i, 1)};
    } else {
      return {number(i, 0)};
    }
  }
};

/// Squares of elements times a factor, for a host, which reads the elements again if it needs to.
template <class A, class Numbers>
struct scaled_squares {
  using sum = reduce_sum<A>;
  using R = real_t<A>;
  Numbers x;
  R scale;

  KOKKOS_FUNCTION R square(std::size_t i, int part) const {
    const R number = multiply(x.template get<R>(i, part), scale);
    return multiply(number, number);
  }
  KOKKOS_FUNCTION sum term(std::size_t i) const {
    if constexpr (is_complex_v<A>) {
      return {square(i, 0), square(i, 1)};
    } else {
      return {square(i, 0)};
    }
  }
};

/// Always with the scaled sum: only the whole sum tells whether it is needed.
template <class A, class Numbers>
struct squares {
  using sum = norm_sum<A>;
  using R = real_t<A>;
  Numbers x;

  /// Keeps a lane's numbers in registers, since it adds them twice.
  KOKKOS_FUNCTION norm_sum<R> lane_of(std::size_t first, std::size_t end, int part) const {
    constexpr std::size_t steps = order::chunk / order::lanes;
    R held[steps];
    for (std::size_t k = 0; k < steps; ++k) {
      const std::size_t i = first + k * order::lanes;
      held[k] = i < end ? x.template get<R>(i, part) : R{};  // adds +0, scaled or not
    }
    norm_sum<R> s{};
    for (std::size_t k = 0; k < steps; ++k) s.sum += multiply(held[k], held[k]);
    const R scale = s.scale();
    for (std::size_t k = 0; k < steps; ++k) {
      const R number = multiply(held[k], scale);
      s.scaled += multiply(number, number);
    }
    return s;
  }
  KOKKOS_FUNCTION sum lane(std::size_t first, std::size_t end) const {
    if constexpr (is_complex_v<A>) {
      return {lane_of(first, end, 0), lane_of(first, end, 1)};
    } else {
      return lane_of(first, end, 0);
    }
  }

  /// The same for a chunk on a host, lanes side by side.
  void add_chunk(std::size_t begin, std::size_t end, int part, const R* scales, R* sums) const {
    const auto add_to = [&](std::size_t l, std::size_t i) {
      const R number = multiply(x.template get<R>(i, part), scales[l]);
      sums[l] += multiply(number, number);
    };
    std::size_t i = begin;
    for (; end - i >= order::lanes; i += order::lanes) {
      for (std::size_t l = 0; l < order::lanes; ++l) add_to(l, i + l);
    }
    for (std::size_t l = 0; i + l < end; ++l) add_to(l, i + l);
  }
  norm_sum<R> chunk_of(std::size_t begin, std::size_t end, int part) const {
    constexpr std::size_t lanes = order::lanes;
    R scales[lanes], sums[lanes] = {}, scaled[lanes] = {};
    norm_sum<R> lane[lanes];
    std::fill_n(scales, lanes, R{1});
    add_chunk(begin, end, part, scales, sums);
    for (std::size_t l = 0; l < lanes; ++l) {
      lane[l].sum = sums[l];
      scales[l] = lane[l].scale();
    }
    add_chunk(begin, end, part, scales, scaled);
    for (std::size_t l = 0; l < lanes; ++l) lane[l].scaled = scaled[l];
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
    }
    return lane[0];
  }
  sum chunk(std::size_t begin, std::size_t end) const {
    if constexpr (is_complex_v<A>) {
      return {chunk_of(begin, end, 0), chunk_of(begin, end, 1)};
    } else {
      return chunk_of(begin, end, 0);
    }
  }
};

template <class R, class Numbers>
struct weighted_squares {
  using sum = dot_sum<R>;
  Numbers x, w;
  numbers mask;
  bool is_masked;

  /// Masked ones are +0, which changes no sum of squares.
  KOKKOS_FUNCTION sum term(std::size_t i) const {
    if (is_masked && !(mask.template get<double>(i, 0) > 0)) return {};
    const R number = multiply(x.template get<R>(i, 0), w.template get<R>(i, 0));
    return {multiply(number, number)};
  }
};

/// How a sum of n weighted squares is finished.
struct weighted_finish {
  weighted_norm what;
  std::size_t n;
};

template <class R>
KOKKOS_FUNCTION complex_number<R> finish_parts(const dot_sum<R>& sum, const weighted_finish& how) {
  return {finish_weighted(sum.value, how.what, how.n), R{}};
}

/// Calls f with the terms.
template <class R, class F>
void with_weighted(const operand& x, const operand& w, const std::optional<operand>& mask,
                   const F& f) {
  const numbers masks(mask.value_or(operand()));
  if (x.element == type_of<R> && w.element == type_of<R>) {
    with_own_numbers<R>(
        [&]<class Numbers>(const Numbers& a, const Numbers& b) {
          f(weighted_squares<R, Numbers>{a, b, masks, mask.has_value()});
        },
        x, w);
  } else {
    f(weighted_squares<R, numbers>{numbers(x), numbers(w), masks, mask.has_value()});
  }
}

}  // namespace

void backend::weighted(const executor& where, const weighted_norm_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
      with_weighted<R>(a.x, a.w, a.mask, [&](const auto& terms) {
        write_sum<R>(on, terms, a.x.size, weighted_finish{a.what, a.x.size}, a.result.data, 1,
                     a.options.wait);
      });
    });
  });
}

void backend::reduce(const executor& where, const reduce_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
      using R = real_t<A>;
      const auto write = [&](const auto& terms, int parts) {
        write_sum<R>(on, terms, a.x.size, a.what, a.result.data, parts, a.options.wait);
      };
      const auto reduce = [&]<class Numbers>(const Numbers& x) {
        if (a.what != reduction::nrm2) {
          write(values<A, Numbers>{x, a.what == reduction::asum},
                is_complex_v<A> && a.what == reduction::sum ? 2 : 1);
        } else if constexpr (std::is_floating_point_v<R>) {
          if constexpr (on_host) {
            reduce_on_host<A>(a, [&](R scale) {
              reduce_sum<A> root;
              leave_sum(on, scaled_squares<A, Numbers>{x, scale}, a.x.size, &root, false);
              return root;
            });
          } else {
            write(squares<A, Numbers>{x}, 1);
          }
        }
      };
      a.x.element == type_of<A> ? with_own_numbers<A>(reduce, a.x) : reduce(numbers(a.x));
    });
  });
}

void leave_elements(const space& on, type accumulator, const interval_field& node, void* sum,
                    bool wait) {
  with_node(node.what, accumulator, [&]<summand what, class A>() {
    const auto leave = [&]<class Numbers>(const Numbers& x) {
      if constexpr (what == summand::square) {
        leave_sum(on, squares<A, Numbers>{x}, node.x.size, sum, wait);
      } else if constexpr (what != summand::product) {
        leave_sum(on, values<A, Numbers>{x, what == summand::magnitude}, node.x.size, sum, wait);
      }
    };
    node.x.element == type_of<A> ? with_own_numbers<A>(leave, node.x) : leave(numbers(node.x));
  });
}

void leave_weighted(const space& on, type accumulator, const interval_field& node, void* sum,
                    bool wait) {
  with_type<type_list<float, double>>(accumulator, [&]<class R>() {
    with_weighted<R>(node.x, node.y, node.mask,
                     [&](const auto& terms) { leave_sum(on, terms, node.x.size, sum, wait); });
  });
}

}  // namespace tally::backends::kokkos
