// These functions lead from element types as values to the functions that are instantiated for
// them, over the one list of types.
#pragma once

#include <tally/types.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace tally::backends {

template <class F>
using pair_table = std::array<std::array<F*, type_count>, type_count>;

namespace pairs {

template <class F, class A, class X, class Entry>
constexpr void fill(std::array<F*, type_count>& row, Entry entry) {
  [&]<class... Y>(type_list<Y...>) {
    const auto one = [&]<class T>(std::type_identity<T>) {
      if constexpr (dot_accumulator<A, X, T> && type_of<X> <= type_of<T>) {
        row[static_cast<std::size_t>(type_of<T>)] = entry.template operator()<X, T>();
      }
    };
    (one(std::type_identity<Y>{}), ...);
  }(element_types{});
}

}  // namespace pairs

/// Makes a table of the functions `entry.operator()<X, Y>()` for every pair of element types that
/// `A` can accumulate, with X not after Y; other entries are null. The product is symmetric, so 66
/// pairs serve all 121.
template <class F, class A, class Entry>
constexpr pair_table<F> make_pair_table(Entry entry) {
  pair_table<F> table{};
  [&]<class... X>(type_list<X...>) {
    (pairs::fill<F, A, X>(table[static_cast<std::size_t>(type_of<X>)], entry), ...);
  }(element_types{});
  return table;
}

template <class F>
constexpr F* at(const pair_table<F>& table, type x, type y) {
  return table[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)];
}

template <class F>
using type_table = std::array<F*, type_count>;

/// Makes a table of the functions `entry.operator()<X>()` for every element type whose sum `A` can
/// accumulate; other entries are null.
template <class F, class A, class Entry>
constexpr type_table<F> make_type_table(Entry entry) {
  type_table<F> table{};
  [&]<class... X>(type_list<X...>) {
    const auto one = [&]<class T>(std::type_identity<T>) {
      if constexpr (dot_accumulator<A, T, T>) {
        table[static_cast<std::size_t>(type_of<T>)] = entry.template operator()<T>();
      }
    };
    (one(std::type_identity<X>{}), ...);
  }(element_types{});
  return table;
}

template <class F>
constexpr F* at(const type_table<F>& table, type x) {
  return table[static_cast<std::size_t>(x)];
}

/// Calls `f.operator()<X>()` for the type that `element` names.
template <class F>
void with_element(type element, F&& f) {
  [&]<class... X>(type_list<X...>) {
    (void)((element == type_of<X> && (f.template operator()<X>(), true)) || ...);
  }(element_types{});
}

/// Calls `f.operator()<A>()` for the accumulator that `element` names.
template <class F>
decltype(auto) with_accumulator(type element, F&& f) {
  switch (element) {
    case type::int64:
      return f.template operator()<std::int64_t>();
    case type::float32:
      return f.template operator()<float>();
    case type::complex64:
      return f.template operator()<std::complex<float>>();
    case type::complex128:
      return f.template operator()<std::complex<double>>();
    default:
      return f.template operator()<double>();
  }
}

}  // namespace tally::backends
