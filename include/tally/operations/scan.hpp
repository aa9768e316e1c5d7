// Prefix sums: y_i = x_0 + ... + x_i (inclusive), or x_0 + ... + x_(i-1) (exclusive; y_0 = 0).
//
// Promise: element i of an inclusive scan has the bits of `sum` of x_0 ... x_i, in y's type, and of
// an exclusive one those of `sum` of x_0 ... x_(i-1), on every executor. Integers are exact modulo
// 2^64. There is no exact grade. Details: docs/numerics.md.
#pragma once

#include <tally/export.h>
#include <tally/detail/arguments.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <cstdint>
#include <type_traits>

namespace tally {

/// Arguments with types erased, checked at run time. `y.element` is a type of `sum` of x:
/// `sum_result_t` or the widest.
struct scan_arguments {
  operand x;               ///< read
  output_operand y;        ///< written
  bool exclusive = false;  ///< whether y_i lacks x_i
  /// Whole chunks before x, if it continues a longer vector (of integers any number stands for all
  /// elements before).
  std::int64_t chunks = 0;
  /// Their sums in host memory, of y's type: a node for each 1 bit of `chunks`, the largest first,
  /// as in a message of <tally/distributed/interval_sum.hpp> whose first chunk is 0.
  const void* nodes = nullptr;
};

/// The scans with types erased.
/// @throws error as `inclusive_scan`.
TALLY_EXPORT void scan(const executor& where, const scan_arguments& arguments);

namespace detail {

struct scan_call : call<> {
  template <class X, class Y>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_vector<X>, wrong_output<Y>>;
    if constexpr (why == wrong::nothing) {
      return unless(dot_accumulator<element_t<Y>, element_t<X>, element_t<X>>,
                    wrong::the_output_is_of_a_type_that_the_sum_has);
    } else {
      return why;
    }
  }
};

template <class X, class Y>
void run_scan(const executor& where, const X& x, Y& y, bool exclusive) {
  using T = element_t<X>;
  const auto short_way = [&](const auto& kernels, std::size_t n, const T* px, T* py) {
    if (!is_same_or_apart<T>(px, py, n) || (exclusive && px == py)) return false;
    (exclusive ? kernels.exclusive : kernels.inclusive)(px, py, n);
    return true;
  };
  if (with_level_one<T, level_one_scans>(where, short_way, x, y)) return;
  scan(where, {as_operand(x), as_output(y), exclusive});
}

}  // namespace detail

/// y_i = x_0 + ... + x_i, i = 0 ... n-1, with the bits of `sum` of these elements. CPU backends
/// return when y is written; CUDA doesn't block, as `dot` into a result.
///
/// @param x      n elements of any element type (`vector_operand`).
/// @param y      n elements of a type that `sum` of x may have: `sum_result_t`, or `double`
///               (`complex<double>`). May be x itself (same address and byte stride; if
///               complex, same type); otherwise shares no element with x.
/// @throws error size_mismatch, null_pointer (with n > 0), zero_increment, misaligned,
///               unsupported_type, overlap, wrong_memory, device_failure, out_of_memory, before
///               anything is written.
template <class X, class Y>
  requires detail::taken<detail::scan_call, X, Y>
void inclusive_scan(const executor& where, const X& x, Y&& y) {
  detail::run_scan(where, x, y, false);
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::scan_call, T...>
void inclusive_scan(T&&... arguments) {
  inclusive_scan(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::scan_call, T...>>
  requires detail::refused<why, T...>
void inclusive_scan(T&&...) = delete;  // [where,] x, y: no grade, from 0 on

/// y_i = x_0 + ... + x_(i-1), i = 0 ... n-1, y_0 = +0; otherwise as `inclusive_scan`.
template <class X, class Y>
  requires detail::taken<detail::scan_call, X, Y>
void exclusive_scan(const executor& where, const X& x, Y&& y) {
  detail::run_scan(where, x, y, true);
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::scan_call, T...>
void exclusive_scan(T&&... arguments) {
  exclusive_scan(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::scan_call, T...>>
  requires detail::refused<why, T...>
void exclusive_scan(T&&...) = delete;  // [where,] x, y: no grade, from 0 on

}  // namespace tally
