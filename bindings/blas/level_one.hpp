// BLAS's level one over Tally, with netlib's rules where they differ from Tally's: counts that are
// not positive, increments of 0, unaligned pointers, overlapping operands, NaNs in iamax.
#pragma once

#include "backends/common/floating_point_environment.hpp"
#include "bindings/blas/settings.hpp"

#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/extremum.hpp>
#include <tally/operations/reduce.hpp>
#include <tally/operations/transform.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace tally::blas {

using length = std::ptrdiff_t;  // of vectors, and increments

// The caller's environment may take subnormal numbers for 0, and trap on NaNs: these compare bits.

template <std::floating_point T>
auto bits_of(T x) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x);
}

template <class T>
bool is_zero(T x) {
  if constexpr (std::floating_point<T>) {
    return bits_of(x) << 1 == 0;
  } else {
    return is_zero(x.real()) && is_zero(x.imag());
  }
}

template <class T>
bool is_one(T x) {
  if constexpr (std::floating_point<T>) {
    return bits_of(x) == bits_of(T(1));
  } else {
    return is_one(x.real()) && is_zero(x.imag());
  }
}

/// Whether x, or a part of it, is NaN.
template <class T>
bool is_nan(T x) {
  if constexpr (std::floating_point<T>) {
    return bits_of(x) << 1 > bits_of(std::numeric_limits<T>::infinity()) << 1;
  } else {
    return is_nan(x.real()) || is_nan(x.imag());
  }
}

/// Element 0 of a vector at its lowest address.
template <class T>
T* first(T* lowest, length n, length increment) {
  return increment < 0 ? lowest - (n - 1) * increment : lowest;
}

template <class T>
bool is_aligned(const T* x) {
  return reinterpret_cast<std::uintptr_t>(x) % alignof(T) == 0;
}

/// Whether Tally takes the vector as it is.
template <class T>
bool is_regular(const T* x, length increment) {
  return increment != 0 && is_aligned(x);
}

/// A vector's n elements side by side, of any increment and alignment.
template <class T>
void gather_elements(T* to, length n, const T* first, length increment) {
  for (length i = 0; i < n; ++i) {
    std::memcpy(static_cast<void*>(to + i), static_cast<const void*>(first + i * increment),
                sizeof(T));
  }
}

template <class T>
std::vector<T> gathered(length n, const T* x, length increment) {
  std::vector<T> all(static_cast<std::size_t>(n));
  gather_elements(all.data(), n, first(x, n, increment), increment);
  return all;
}

template <class T>
std::size_t bytes_of(length n) {
  return static_cast<std::size_t>(n) * sizeof(T);
}

// --- Sums ----------------------------------------------------------------------------------------

/// Whether kernels take the vector as it is.
template <class T>
[[gnu::always_inline]] inline bool is_plain(const T* x, length incx) {
  return incx == 1 && is_aligned(x) && x != nullptr;
}

/// Kernels for short vectors, if these are plain, with the usual settings; else null.
template <class T>
[[gnu::always_inline]] inline const detail::level_one<T>* kernels_for(length n, bool are_plain) {
  const detail::level_one_kernels* const all = usual_kernels.load(std::memory_order_acquire);
  const bool is_usual =
      all != nullptr && are_plain && static_cast<std::size_t>(n) - 1 < all->max_bytes / sizeof(T);
  return is_usual ? all : nullptr;
}

// Symbols ask these first, so that their arguments stay where they are: whether `result` is that of
// the function of this name now.

template <class R, class T>
[[gnu::always_inline]] inline bool usual_dot(R& result, length n, const T* x, length incx,
                                             const T* y, length incy) {
  if constexpr (std::same_as<R, T> && std::floating_point<T>) {
    const auto* const kernels = kernels_for<T>(n, is_plain(x, incx) && is_plain(y, incy));
    if (kernels == nullptr) return false;
    result = kernels->dot(x, y, static_cast<std::size_t>(n));
    return true;
  } else {
    return false;
  }
}

template <class T>
[[gnu::always_inline]] inline bool usual_iamax(length& result, length n, const T* x, length incx) {
  if constexpr (std::floating_point<T>) {
    const auto* const kernels = kernels_for<T>(n, is_plain(x, incx));
    if (kernels == nullptr) return false;
    result = static_cast<length>(kernels->iamax(x, static_cast<std::size_t>(n)));
    return !is_nan(x[result]);
  } else {
    return false;
  }
}

template <class R, class T>
[[gnu::always_inline]] inline bool usual_sum(reduction what, R& result, length n, const T* x,
                                             length incx) {
  if constexpr (std::floating_point<T>) {
    const auto* const kernels = kernels_for<T>(n, is_plain(x, incx));
    if (kernels == nullptr) return false;
    result = kernels->reduce[static_cast<std::size_t>(what)](x, static_cast<std::size_t>(n));
    return true;
  } else {
    return false;
  }
}

/// f(kernels, n), of two vectors that are the same or apart.
template <class T, class F>
[[gnu::always_inline]] inline bool usual_update(length n, const T* x, length incx, const T* y,
                                                length incy, const F& f) {
  if constexpr (std::floating_point<T>) {
    const auto* const kernels = kernels_for<T>(n, is_plain(x, incx) && is_plain(y, incy));
    const auto size = static_cast<std::size_t>(n);
    if (kernels == nullptr || !detail::is_same_or_apart(x, y, size)) return false;
    f(*kernels, size);
    return true;
  } else {
    return false;
  }
}

template <class T>
[[gnu::always_inline]] inline bool usual_axpy(length n, T alpha, const T* x, length incx, T* y,
                                              length incy) {
  return !is_zero(alpha) && usual_update(n, x, incx, y, incy, [=](const auto& kernels, auto size) {
    constexpr auto what = static_cast<std::size_t>(elementwise::axpy);
    kernels.transform[what](alpha, T(0), T(0), x, y, x, y, size);
  });
}

template <class S, class T>
[[gnu::always_inline]] inline bool usual_scal(length n, S alpha, T* x, length incx) {
  return !is_one(alpha) && usual_update(n, x, incx, x, incx, [=](const auto& kernels, auto size) {
    constexpr auto what = static_cast<std::size_t>(elementwise::scal);
    kernels.transform[what](alpha, T(0), T(0), x, x, x, x, size);
  });
}

template <class T>
[[gnu::always_inline]] inline bool usual_copy(length n, const T* x, length incx, T* y,
                                              length incy) {
  return usual_update(n, x, incx, y, incy,
                      [=](const auto&, auto size) { std::memmove(y, x, size * sizeof(T)); });
}

template <class T>
[[gnu::always_inline]] inline bool usual_swap(length n, T* x, length incx, T* y, length incy) {
  return x != y && usual_update(n, x, incx, y, incy,
                                [=](const auto& kernels, auto size) { kernels.swap(x, y, size); });
}

// Contiguous vectors, the usual ones, are summed where the routine is inlined: short calls spend
// most of their time outside the kernel.

/// f(where, x), of a strided vector, or of a copy where Tally does not take that.
template <class R, class F, class X>
[[gnu::noinline]] R sum_otherwise(routine called, const F& f, length n, const X* x, length incx) {
  R result{};
  run(called, bytes_of<X>(n), [&](const executor& where) {
    result = is_regular(x, incx) ? f(where, strided(x, static_cast<std::size_t>(n), incx))
                                 : f(where, gathered(n, x, incx));
  });
  return result;
}

/// f(where, x)
template <class R, class F, class X>
[[gnu::always_inline]] inline R sum(routine called, const F& f, length n, const X* x, length incx) {
  if (incx != 1 || !is_aligned(x)) return sum_otherwise<R>(called, f, n, x, incx);
  R result{};
  run(called, bytes_of<X>(n),
      [&](const executor& where) { result = f(where, std::span(x, static_cast<std::size_t>(n))); });
  return result;
}

/// The same of two vectors.
template <class R, class F, class X>
[[gnu::noinline]] R sum_otherwise(routine called, const F& f, length n, const X* x, length incx,
                                  const X* y, length incy) {
  R result{};
  run(called, bytes_of<X>(n), [&](const executor& where) {
    const auto size = static_cast<std::size_t>(n);
    result = is_regular(x, incx) && is_regular(y, incy)
                 ? f(where, strided(x, size, incx), strided(y, size, incy))
                 : f(where, gathered(n, x, incx), gathered(n, y, incy));
  });
  return result;
}
template <class R, class F, class X>
[[gnu::always_inline]] inline R sum(routine called, const F& f, length n, const X* x, length incx,
                                    const X* y, length incy) {
  if (incx != 1 || incy != 1 || !is_aligned(x) || !is_aligned(y)) {
    return sum_otherwise<R>(called, f, n, x, incx, y, incy);
  }
  R result{};
  run(called, bytes_of<X>(n), [&](const executor& where) {
    const auto size = static_cast<std::size_t>(n);
    result = f(where, std::span(x, size), std::span(y, size));
  });
  return result;
}

/// The sum of x_i*y_i, accumulated in R, or with conjugated x_i.
template <class R, class T>
R dot(length n, const T* x, length incx, const T* y, length incy,
      conjugate conjugated = conjugate::none) {
  if (n <= 0) return R{};
  const auto product = [conjugated](const executor& where, const auto& a, const auto& b) {
    return tally::dot<R>(where, a, b, {conjugated, set().grade});
  };
  return sum<R>(routine::dot, product, n, x, incx, y, incy);
}

template <class R, class T>
R asum(length n, const T* x, length incx) {
  if (n <= 0 || incx <= 0) return R{};
  const auto magnitudes = [](const executor& where, const auto& a) {
    return tally::asum(where, a, set().grade);
  };
  return sum<R>(routine::asum, magnitudes, n, x, incx);
}

template <class R, class T>
R nrm2(length n, const T* x, length incx) {
  if (n <= 0) return R{};
  const auto norm = [](const executor& where, const auto& a) {
    return tally::nrm2(where, a, set().grade);
  };
  return sum<R>(routine::nrm2, norm, n, x, incx);
}

/// |x|, for complex numbers |re| + |im|.
template <class T>
auto magnitude(const T& x) {
  if constexpr (std::floating_point<T>) {
    return std::abs(x);
  } else {
    return std::abs(x.real()) + std::abs(x.imag());
  }
}

/// The same index where no NaN is greater than anything, and nothing is greater than a NaN in
/// front.
template <class T>
[[gnu::noinline]] length iamax_without_nans(length n, const T* x, length incx) {
  const backends::default_environment environment;
  const auto at = [&](length i) {
    T element;
    gather_elements(&element, 1, x + i * incx, 1);
    return magnitude(element);
  };
  length result = 0;
  auto largest = at(0);
  for (length i = 1; i < n; ++i) {
    if (const auto candidate = at(i); candidate > largest) largest = candidate, result = i;
  }
  return result;
}

/// The lowest index, from 0, of the largest magnitude, or -1. Tally takes the first NaN.
template <class T>
length iamax(length n, const T* x, length incx) {
  if (n <= 0 || incx <= 0) return -1;
  const auto largest = [](const executor& where, const auto& a) {
    return static_cast<length>(tally::iamax(where, a));
  };
  const length result = sum<length>(routine::iamax, largest, n, x, incx);
  if (result > 0) {
    T element;
    gather_elements(&element, 1, x + result * incx, 1);
    if (is_nan(element)) [[unlikely]]
      return iamax_without_nans(n, x, incx);
  }
  return result;
}

// --- Updates -------------------------------------------------------------------------------------

/// Whether two vectors share no byte, or all elements alike.
template <class T>
bool is_same_or_apart(length n, const T* x, length incx, const T* y, length incy) {
  const auto range = [n](const T* lowest, length increment) {
    const auto from = reinterpret_cast<std::uintptr_t>(lowest);
    const auto steps = static_cast<std::uintptr_t>((n - 1) * std::abs(increment));
    return std::pair(from, from + (steps + 1) * sizeof(T));
  };
  const auto a = range(x, incx), b = range(y, incy);
  return (x == y && incx == incy) || a.second <= b.first || b.second <= a.first;
}

/// f(where, x, y) on aligned copies, one element after another as in a loop; on more at a time
/// where no element is read after it was written.
template <class T, class F>
[[gnu::noinline]] void update_in_order(routine called, length n, std::add_const_t<T>* x,
                                       length incx, T* y, length incy, T* written_x, const F& f) {
  constexpr length max_block = 256;  // at most 8 KiB of the stack
  const length block =
      incx != 0 && incy != 0 && is_same_or_apart<T>(n, x, incx, y, incy) ? max_block : 1;
  const T* const from = first(x, n, incx);
  T* const to = first(y, n, incy);
  T a[max_block], b[max_block];
  for (length i = 0; i < n; i += block) {
    const length some = std::min(block, n - i);
    const auto size = static_cast<std::size_t>(some);
    gather_elements(a, some, from + i * incx, incx);
    gather_elements(b, some, to + i * incy, incy);
    run(called, 0,
        [&](const executor& where) { f(where, std::span<T>(a, size), std::span<T>(b, size)); });
    const auto scatter = [&](T* destination, length increment, const T* all) {
      for (length j = 0; j < some; ++j) {
        std::memcpy(static_cast<void*>(destination + (i + j) * increment), all + j, sizeof(T));
      }
    };
    scatter(to, incy, b);
    if (written_x != nullptr) scatter(first(written_x, n, incx), incx, a);
  }
}

/// f(where, x, y) on strided vectors, or in order where Tally does not take these.
template <class X, class T, class F>
[[gnu::noinline]] void update_otherwise(routine called, length n, X* x, length incx, T* y,
                                        length incy, const F& f) {
  if (is_regular(x, incx) && is_regular(y, incy) &&
      run(called, bytes_of<T>(n), [&](const executor& where) {
        const auto size = static_cast<std::size_t>(n);
        f(where, strided(x, size, incx), strided(y, size, incy));
      })) {
    return;
  }
  if constexpr (std::is_const_v<X>) {
    update_in_order<T>(called, n, x, incx, y, incy, nullptr, f);
  } else {
    update_in_order<T>(called, n, x, incx, y, incy, x, f);
  }
}

/// f(where, x, y), which writes y, and x too where that is not const.
template <class X, class T, class F>
[[gnu::always_inline]] inline void update(routine called, length n, X* x, length incx, T* y,
                                          length incy, const F& f) {
  if (incx != 1 || incy != 1 || !is_aligned(x) || !is_aligned(y) ||
      !run(called, bytes_of<T>(n), [&](const executor& where) {
        const auto size = static_cast<std::size_t>(n);
        f(where, std::span(x, size), std::span(y, size));
      })) [[unlikely]] {
    update_otherwise(called, n, x, incx, y, incy, f);
  }
}

template <class T>
void axpy(length n, T alpha, const T* x, length incx, T* y, length incy) {
  if (n <= 0 || is_zero(alpha)) return;
  update(routine::axpy, n, x, incx, y, incy,
         [=](const executor& where, const auto& a, auto b) { tally::axpy(where, alpha, a, b); });
}

/// y = beta y, which is not read where beta is 0.
template <class T>
void scale_or_zero(routine called, length n, T beta, T* y, length incy) {
  if (is_one(beta)) return;
  update(called, n, static_cast<const T*>(y), incy, y, incy,
         [=](const executor& where, const auto&, auto b) {
           if (is_zero(beta)) {
             tally::fill(where, T(0), b);
           } else {
             tally::scal(where, beta, b);
           }
         });
}

template <class T>
void axpby(length n, T alpha, const T* x, length incx, T beta, T* y, length incy) {
  if (n <= 0) return;
  if (is_zero(alpha)) return scale_or_zero(routine::axpby, n, beta, y, incy);  // x is not read
  update(routine::axpby, n, x, incx, y, incy, [=](const executor& where, const auto& a, auto b) {
    tally::axpby(where, alpha, a, beta, b);
  });
}

template <class S, class T>
void scal(length n, S alpha, T* x, length incx) {
  if (n <= 0 || incx <= 0 || is_one(alpha)) return;
  update(routine::scal, n, static_cast<const T*>(x), incx, x, incx,
         [=](const executor& where, const auto&, auto a) { tally::scal(where, alpha, a); });
}

template <class T>
void copy(length n, const T* x, length incx, T* y, length incy) {
  if (n <= 0) return;
  update(routine::copy, n, x, incx, y, incy,
         [=](const executor& where, const auto& a, auto b) { tally::copy(where, a, b); });
}

template <class T>
void swap(length n, T* x, length incx, T* y, length incy) {
  if (n <= 0) return;
  update(routine::swap, n, x, incx, y, incy,
         [](const executor& where, auto a, auto b) { tally::swap(where, a, b); });
}

}  // namespace tally::blas
