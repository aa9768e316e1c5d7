// Two ways lead from an element type as a value to templates: a table, where calls are short, and
// `with_type`, where the code is to be inlined. There is no third one, so no type is ever taken for
// another.
#pragma once

#include <tally/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

/// Has an R for each element type: `table[t]`.
template <class R>
struct type_table {
  std::array<R, type_count> entries{};

  constexpr const R& operator[](type t) const { return entries[static_cast<std::size_t>(t)]; }
};

/// Returns the table of what `f.operator()<T>()` returns for each type T of `List`; other entries
/// are null.
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

/// Says whether T has a case below: the last type stands for what a list lacks, and has none.
template <class T, class Last>
inline constexpr bool is_case = !std::is_same_v<T, Last>;

/// Is the number of T where it has a case, and otherwise a number that no type has.
template <class T, class Last, int k>
inline constexpr auto number = static_cast<std::uint8_t>(type_of<T>);
template <class Last, int k>
inline constexpr std::uint8_t number<Last, Last, k> = 255 - k;

/// Serves lists of up to 15 types. It is one `switch`, since compilers make a table of jumps of
/// that; the last type is what is left. (With a chain of comparisons the CUDA kernels that are told
/// types at run time come out otherwise.)
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // `f` may be the host's alone
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
#if !defined(__CUDA_ARCH__)
  if (t != type_of<Last>) __builtin_trap();  // the public functions' checks let nobody come here
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

/// Returns `f.operator()<T>()` for the type T of `List` that `t` names. It must name one: the
/// public functions have checked, and the host checks once more.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class List = element_types, class F>
TALLY_HOST_DEVICE constexpr decltype(auto) with_type(type t, F&& f) {
  return choice::with_type(List{}, t, f);
}

/// Has a function for each pair of element types: `table[x][y]`.
template <class F>
using pair_table = type_table<type_table<F*>>;

/// Makes a table of the functions `entry.operator()<X, Y>()` for every pair of element types that
/// `A` can accumulate, with X not after Y; other entries are null. The product is symmetric, so 66
/// pairs serve all 121.
template <class F, class A, class Entry>
constexpr pair_table<F> make_pair_table(const Entry& entry) {
  return table_over([&]<class X>() {
    return table_over([&]<class Y>() -> F* {
      if constexpr (dot_accumulator<A, X, Y> && types::position<X> <= types::position<Y>) {
        return entry.template operator()<X, Y>();
      } else {
        return nullptr;
      }
    });
  });
}

/// Makes a table of the functions `entry.operator()<X>()` for every element type whose sum `A` can
/// accumulate; other entries are null.
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
