// The two ways from an element type as a value to templates: a table if the code is called,
// `with_type` if it is to be inlined.
#pragma once

#include <tally/operands/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

/// One R per element type.
template <class R>
struct type_table {
  std::array<R, type_count> entries{};

  constexpr const R& operator[](type t) const { return entries[static_cast<std::size_t>(t)]; }
};

/// Returns the table of `f.operator()<T>()` for each T of `List`; other entries are null.
template <class List = element_types, class F>
constexpr auto table_over(const F& f) {
  return [&]<class First, class... T>(type_list<First, T...>) {
    type_table<decltype(f.template operator()<First>())> table;
    const auto at = [&](type t) -> auto& { return table.entries[static_cast<std::size_t>(t)]; };
    at(type_of<First>) = f.template operator()<First>();
    ((at(type_of<T>) = f.template operator()<T>()), ...);
    return table;
  }(List{});
}

namespace choice {

/// Whether T has a case below. The last type, a placeholder, has none.
template <class T, class Last>
inline constexpr bool is_case = !std::is_same_v<T, Last>;

/// The number of T if it has a case, else an unused number.
template <class T, class Last, int k>
inline constexpr auto number = static_cast<std::uint8_t>(type_of<T>);
template <class Last, int k>
inline constexpr std::uint8_t number<Last, Last, k> = 255 - k;

/// At most 15 types. One `switch`, for a jump table; the last type is the default.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // `f` may be host-only
#endif
template <class Last, class A, class B = Last, class C = Last, class D = Last, class E = Last,
          class G = Last, class H = Last, class I = Last, class J = Last, class K = Last,
          class L = Last, class M = Last, class N = Last, class O = Last, class P = Last, class F>
TALLY_HOST_DEVICE constexpr decltype(auto) with_type_of(type t, F& f) {
  // clang-format off
  switch (static_cast<std::uint8_t>(t)) {
    case number<A, Last, 0>: if constexpr (is_case<A, Last>) return f.template operator()<A>(); break;
    case number<B, Last, 1>: if constexpr (is_case<B, Last>) return f.template operator()<B>(); break;
    case number<C, Last, 2>: if constexpr (is_case<C, Last>) return f.template operator()<C>(); break;
    case number<D, Last, 3>: if constexpr (is_case<D, Last>) return f.template operator()<D>(); break;
    case number<E, Last, 4>: if constexpr (is_case<E, Last>) return f.template operator()<E>(); break;
    case number<G, Last, 5>: if constexpr (is_case<G, Last>) return f.template operator()<G>(); break;
    case number<H, Last, 6>: if constexpr (is_case<H, Last>) return f.template operator()<H>(); break;
    case number<I, Last, 7>: if constexpr (is_case<I, Last>) return f.template operator()<I>(); break;
    case number<J, Last, 8>: if constexpr (is_case<J, Last>) return f.template operator()<J>(); break;
    case number<K, Last, 9>: if constexpr (is_case<K, Last>) return f.template operator()<K>(); break;
    case number<L, Last, 10>: if constexpr (is_case<L, Last>) return f.template operator()<L>(); break;
    case number<M, Last, 11>: if constexpr (is_case<M, Last>) return f.template operator()<M>(); break;
    case number<N, Last, 12>: if constexpr (is_case<N, Last>) return f.template operator()<N>(); break;
    case number<O, Last, 13>: if constexpr (is_case<O, Last>) return f.template operator()<O>(); break;
    case number<P, Last, 14>: if constexpr (is_case<P, Last>) return f.template operator()<P>(); break;
    default: break;
  }
    // clang-format on
#if !TALLY_DEVICE_CODE
  if (t != type_of<Last>) __builtin_trap();  // unreachable: public functions have checked
#endif
  return f.template operator()<Last>();
}

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class... T, class F>
TALLY_HOST_DEVICE constexpr decltype(auto) with_type(type_list<T...>, type t, F& f) {
  static_assert(sizeof...(T) <= 15);
  using last = typename decltype((std::type_identity<T>{}, ...))::type;
  return with_type_of<last, T...>(t, f);
}

}  // namespace choice

/// Returns `f.operator()<T>()` for the type T of `List` that `t` names; checked again on the host.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class List = element_types, class F>
TALLY_HOST_DEVICE constexpr decltype(auto) with_type(type t, F&& f) {
  return choice::with_type(List{}, t, f);
}

/// One function per pair of element types.
template <class F>
using pair_table = type_table<type_table<F*>>;

/// Table of `entry.operator()<X, Y>()` for the pairs in canonical order that `A` can accumulate,
/// else null.
template <class F, class A, class Entry>
constexpr pair_table<F> make_pair_table(const Entry& entry) {
  return table_over([&]<class X>() {
    return table_over([&]<class Y>() -> F* {
      if constexpr (dot_accumulator<A, X, Y> && detail::position<X> <= detail::position<Y>) {
        return entry.template operator()<X, Y>();
      } else {
        return nullptr;
      }
    });
  });
}

/// Table of `entry.operator()<X>()` for the types whose sum `A` can accumulate, else null.
template <class F, class A, class Entry>
constexpr type_table<F*> make_type_table(const Entry& entry) {
  return table_over([&]<class X>() -> F* {
    if constexpr (dot_accumulator<A, X, X>) {
      return entry.template operator()<X>();
    } else {
      return nullptr;
    }
  });
}

}  // namespace tally::backends
