// BLAS's level one, the element-wise functions and the scans on contiguous vectors of one type, in
// the default grade, on one host thread: no types are erased, since short calls spend most of their
// time outside the kernel (tuning/short_calls.md: level_one).
#pragma once

#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tally::detail {

/// Kernels for vectors of at least one element, in any floating-point environment.
template <class T>
struct level_one {
  dot_result_t<T, T> (*dot)(const T* x, const T* y, std::size_t n);
};
template <std::floating_point T>
struct level_one<T> {
  T (*dot)(const T* x, const T* y, std::size_t n);
  T (*reduce[5])(const T* x, std::size_t n);  ///< by `reduction`
  std::int64_t (*iamax)(const T* x, std::size_t n);
  void (*swap)(T* x, T* y, std::size_t n);  ///< vectors that share no element
  /// z = what(x, y, w) by `elementwise`, but `copy`; y and w are x where there are fewer inputs.
  void (*transform[elementwise_count])(T alpha, T beta, T gamma, const T* x, const T* y, const T* w,
                                       T* z, std::size_t n);
};

/// Scans into y, which may be x if inclusive.
template <class T>
struct level_one_scans {
  void (*inclusive)(const T* x, T* y, std::size_t n);
  void (*exclusive)(const T* x, T* y, std::size_t n);
};

/// Kernels of an executor.
struct level_one_kernels : level_one<float>,
                           level_one<double>,
                           level_one<float16>,
                           level_one<bfloat16>,
                           level_one<std::int8_t>,
                           level_one<std::uint8_t>,
                           level_one_scans<float>,
                           level_one_scans<double>,
                           level_one_scans<std::int64_t> {
  std::size_t max_bytes;  ///< of each vector; more may be worth threads
  /// Whether the host can reach both vectors and runs the call; null where all memory is its own.
  bool (*are_here)(const executor& where, const void* x, const void* y);
};

template <class V, class T, class Kernels>
concept contiguous_of =
    std::derived_from<level_one_kernels, Kernels> && contiguous<V> && std::same_as<value_t<V>, T>;

/// Returns f(kernels, n, addresses ...) for vectors of T; false for others, for a wrong call, and
/// for one that goes the general way.
template <class T, template <class> class Kernels = level_one, class F, class X, class... Y>
bool with_level_one(const executor& where, const F& f, X& x, Y&... y) {
  if constexpr (contiguous_of<std::remove_const_t<X>, T, Kernels<T>> &&
                (... && contiguous_of<std::remove_const_t<Y>, T, Kernels<T>>)) {
    const level_one_kernels* const kernels = where.level_one();
    const auto n = static_cast<std::size_t>(std::ranges::size(x));
    const T* const first = std::ranges::data(x);
    const auto address = [](const auto& v) {
      return reinterpret_cast<std::uintptr_t>(std::ranges::data(v));
    };
    if (kernels == nullptr || n - 1 >= kernels->max_bytes / sizeof(T) ||
        (... || (static_cast<std::size_t>(std::ranges::size(y)) != n)) || first == nullptr ||
        (... || (std::ranges::data(y) == nullptr)) ||
        ((address(x) | ... | address(y)) & (alignof(T) - 1)) != 0) {
      return false;
    }
    if (kernels->are_here != nullptr) {
      const auto is_here = [&](const T* v) { return kernels->are_here(where, first, v); };
      if (sizeof...(Y) == 0 ? !is_here(first) : !(... && is_here(std::ranges::data(y)))) {
        return false;
      }
    }
    return f(static_cast<const Kernels<T>&>(*kernels), n, std::ranges::data(x),
             std::ranges::data(y)...);
  } else {
    return false;
  }
}

/// Whether y, which is written, is x or shares no element with it.
template <class T>
bool is_same_or_apart(const T* x, const T* y, std::size_t n) {
  const auto at = reinterpret_cast<std::uintptr_t>(x), to = reinterpret_cast<std::uintptr_t>(y);
  return x == y || at + n * sizeof(T) <= to || to + n * sizeof(T) <= at;
}

}  // namespace tally::detail
