// Blocks of vectors, converted to the computation's type and back: not every combination of
// conversion and function is compiled.
#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/elementwise/moves.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <cstddef>

namespace tally::backends {

namespace blocks {

template <class V, class X>
V enter(const X& x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return rounded<V>(x);
  } else {
    using R = decltype(V::re);
    if constexpr (is_complex_v<X>) {
      return {rounded<R>(x.real()), rounded<R>(x.imag())};
    } else {
      return {rounded<R>(x), R{0}};
    }
  }
}

template <class Z, class V>
Z leave(const V& v) {
  if constexpr (!std::is_arithmetic_v<V> && !is_complex_v<Z>) {
    return rounded<Z>(v.re);  // of abs
  } else if constexpr (!std::is_arithmetic_v<V>) {
    using R = real_t<Z>;
    return Z(rounded<R>(v.re), rounded<R>(v.im));
  } else if constexpr (is_complex_v<Z>) {
    return Z(rounded<real_t<Z>>(v), real_t<Z>{0});
  } else {
    return rounded<Z>(v);
  }
}

template <class C>
using fetcher = void(const operand& v, computed_t<C>* to);
template <class C>
using storer = void(const computed_t<C>* from, const output_operand& v);

template <class C>
constexpr auto fetchers = table_over([]<class X>() -> fetcher<C>* {
  if constexpr (can_enter<C, X>) {
    return [](const operand& v, computed_t<C>* to) {
      const auto* const from = static_cast<const detail::stored_t<X>*>(v.data);
      const auto n = static_cast<std::ptrdiff_t>(v.size);
      if (v.increment == 1) {  // in vectors
        for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = enter<computed_t<C>>(from[i]);
        return;
      }
      for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = enter<computed_t<C>>(from[i * v.increment]);
    };
  } else {
    return nullptr;
  }
});

/// Includes 0 or 1 to integers and bool, and real parts of complex numbers.
template <class C>
constexpr auto storers = table_over([]<class Z>() -> storer<C>* {
  return [](const computed_t<C>* from, const output_operand& v) {
    auto* const to = static_cast<Z*>(v.data);
    const auto n = static_cast<std::ptrdiff_t>(v.size);
    if (v.increment == 1) {
      for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = leave<Z>(from[i]);
      return;
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) to[i * v.increment] = leave<Z>(from[i]);
  };
});

}  // namespace blocks

/// Two inputs of complex<double> take 16 KiB.
inline constexpr std::size_t elements_of_block = 512;

template <class C>
using block = computed_t<C>[elements_of_block];

template <class C>
void fetch(const operand& v, block<C>& to) {
  blocks::fetchers<C>[v.element](v, to);
}

template <class C>
void store(const block<C>& from, const output_operand& v) {
  blocks::storers<C>[v.element](from, v);
}

/// Whether all vectors are contiguous, of one type, and computed in it.
inline bool is_uniform(const transform_arguments& a, type computation) {
  const bool binary = detail::is_binary(a.what);
  return a.x.element == a.z.element && a.x.increment == 1 && a.z.increment == 1 &&
         (!binary || (a.y.element == a.z.element && a.y.increment == 1)) &&
         (!detail::is_ternary(a.what) || (a.w.element == a.z.element && a.w.increment == 1)) &&
         computation == detail::computation_type(a.what, a.x.element, a.x.element);
}

}  // namespace tally::backends
