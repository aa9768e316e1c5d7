// Calls of a routine by any of its symbols.
#pragma once

#include "tests/blas/names.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace blas_test {

using length = std::ptrdiff_t;

/// How a symbol is called. T: elements, R: result or factor.
struct route {
  void* function;
  convention called;
  bool returns_complex_in_memory;

  bool is_c() const { return called == convention::c32 || called == convention::c64; }
  bool is_subroutine() const {
    return called == convention::subroutine32 || called == convention::subroutine64;
  }
};

template <class T>
inline constexpr bool is_complex = !std::floating_point<T>;

// Numbers and vectors as CBLAS takes them.
template <class T>
using c_number = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
c_number<T> c_number_of(const T& x) {
  if constexpr (is_complex<T>) {
    return &x;
  } else {
    return x;
  }
}

/// Floating-point environment of calls: on x86 the control register, else a rounding mode.
#if defined(__x86_64__)
inline constexpr unsigned environments[] = {
    0x1f80,
    0x5f80 | 0x8040,  // upwards, FTZ, DAZ
    0x2000,           // downwards, traps unmasked
    0x6040            // towards zero, DAZ, traps unmasked
};
#else
inline constexpr int environments[] = {FE_TONEAREST, FE_UPWARD};
#endif
inline auto environment_of_calls = environments[0];

class call_environment {
 public:
#if defined(__x86_64__)
  call_environment() : saved_(_mm_getcsr()) { _mm_setcsr(environment_of_calls); }
  ~call_environment() {
    EXPECT_EQ(_mm_getcsr() & ~0x3fU, environment_of_calls);
    _mm_setcsr(saved_);
  }
#else
  call_environment() : saved_(std::fegetround()) { std::fesetround(environment_of_calls); }
  ~call_environment() {
    EXPECT_EQ(std::fegetround(), environment_of_calls);
    std::fesetround(saved_);
  }
#endif
  call_environment(const call_environment&) = delete;
  call_environment& operator=(const call_environment&) = delete;

 private:
  decltype(environment_of_calls) saved_;
};

/// Calls f.operator()<I>(), with the symbol's integers.
template <class F>
auto with_integers(convention called, const F& f) {
  const call_environment environment;
  switch (called) {
    case convention::fortran64:
    case convention::c64:
    case convention::subroutine64:
      return f.template operator()<std::int64_t>();
    default:
      return f.template operator()<std::int32_t>();
  }
}

/// asum, nrm2, and Fortran's iamax.
template <class R, class T>
R call_of_one(const route& by, length n, const T* x, length incx) {
  return with_integers(by.called, [&]<class I>() {
    const I count = static_cast<I>(n), step = static_cast<I>(incx);
    R result;
    if (by.is_subroutine()) {
      reinterpret_cast<void (*)(const I*, const T*, const I*, R*)>(by.function)(&count, x, &step,
                                                                                &result);
    } else if (by.is_c()) {
      result = reinterpret_cast<R (*)(I, const void*, I)>(by.function)(count, x, step);
    } else {
      result = reinterpret_cast<R (*)(const I*, const T*, const I*)>(by.function)(&count, x, &step);
    }
    return result;
  });
}

template <class R, class T>
R call_dot(const route& by, length n, const T* x, length incx, const T* y, length incy) {
  return with_integers(by.called, [&]<class I>() -> R {
    const I count = static_cast<I>(n), step_x = static_cast<I>(incx), step_y = static_cast<I>(incy);
    R result;
    if (by.is_subroutine()) {
      reinterpret_cast<void (*)(const I*, const T*, const I*, const T*, const I*, R*)>(by.function)(
          &count, x, &step_x, y, &step_y, &result);
    } else if constexpr (is_complex<R>) {
      using number = typename R::value_type;
      struct parts {  // as a complex number of C is returned
        number re, im;
      };
      if (by.is_c()) {
        reinterpret_cast<void (*)(I, const void*, I, const void*, I, void*)>(by.function)(
            count, x, step_x, y, step_y, &result);
      } else if (by.returns_complex_in_memory) {
        reinterpret_cast<void (*)(R*, const I*, const T*, const I*, const T*, const I*)>(
            by.function)(&result, &count, x, &step_x, y, &step_y);
      } else {
        const parts z =
            reinterpret_cast<parts (*)(const I*, const T*, const I*, const T*, const I*)>(
                by.function)(&count, x, &step_x, y, &step_y);
        result = {z.re, z.im};
      }
    } else if (by.is_c()) {
      result = reinterpret_cast<R (*)(I, const T*, I, const T*, I)>(by.function)(count, x, step_x,
                                                                                 y, step_y);
    } else {
      result = reinterpret_cast<R (*)(const I*, const T*, const I*, const T*, const I*)>(
          by.function)(&count, x, &step_x, y, &step_y);
    }
    return result;
  });
}

inline float call_sdsdot(const route& by, length n, float b, const float* x, length incx,
                         const float* y, length incy) {
  return with_integers(by.called, [&]<class I>() {
    const I count = static_cast<I>(n), step_x = static_cast<I>(incx), step_y = static_cast<I>(incy);
    float result;
    if (by.is_subroutine()) {
      reinterpret_cast<void (*)(const I*, const float*, const float*, const I*, const float*,
                                const I*, float*)>(by.function)(&count, &b, x, &step_x, y, &step_y,
                                                                &result);
    } else if (by.is_c()) {
      result = reinterpret_cast<float (*)(I, float, const float*, I, const float*, I)>(by.function)(
          count, b, x, step_x, y, step_y);
    } else {
      result =
          reinterpret_cast<float (*)(const I*, const float*, const float*, const I*, const float*,
                                     const I*)>(by.function)(&count, &b, x, &step_x, y, &step_y);
    }
    return result;
  });
}

/// The index from 0; -1 where Fortran has 0.
template <class T>
length call_iamax(const route& by, length n, const T* x, length incx) {
  return with_integers(by.called, [&]<class I>() -> length {
    if (by.is_c()) {
      const I count = static_cast<I>(n), step = static_cast<I>(incx);
      return static_cast<length>(
          reinterpret_cast<std::size_t (*)(I, const void*, I)>(by.function)(count, x, step));
    }
    return static_cast<length>(call_of_one<I>(by, n, x, incx)) - 1;
  });
}

template <class T>
void call_axpy(const route& by, length n, T alpha, const T* x, length incx, T* y, length incy) {
  with_integers(by.called, [&]<class I>() {
    const I count = static_cast<I>(n), step_x = static_cast<I>(incx), step_y = static_cast<I>(incy);
    if (by.is_c()) {
      reinterpret_cast<void (*)(I, c_number<T>, const void*, I, void*, I)>(by.function)(
          count, c_number_of(alpha), x, step_x, y, step_y);
    } else {
      reinterpret_cast<void (*)(const I*, const T*, const T*, const I*, T*, const I*)>(by.function)(
          &count, &alpha, x, &step_x, y, &step_y);
    }
  });
}

template <class T>
void call_axpby(const route& by, length n, T alpha, const T* x, length incx, T beta, T* y,
                length incy) {
  with_integers(by.called, [&]<class I>() {
    const I count = static_cast<I>(n), step_x = static_cast<I>(incx), step_y = static_cast<I>(incy);
    if (by.is_c()) {
      reinterpret_cast<void (*)(I, c_number<T>, const void*, I, c_number<T>, void*, I)>(
          by.function)(count, c_number_of(alpha), x, step_x, c_number_of(beta), y, step_y);
    } else {
      reinterpret_cast<void (*)(const I*, const T*, const T*, const I*, const T*, T*, const I*)>(
          by.function)(&count, &alpha, x, &step_x, &beta, y, &step_y);
    }
  });
}

template <class S, class T>
void call_scal(const route& by, length n, S alpha, T* x, length incx) {
  with_integers(by.called, [&]<class I>() {
    const I count = static_cast<I>(n), step = static_cast<I>(incx);
    if (by.is_c()) {
      reinterpret_cast<void (*)(I, c_number<S>, void*, I)>(by.function)(count, c_number_of(alpha),
                                                                        x, step);
    } else {
      reinterpret_cast<void (*)(const I*, const S*, T*, const I*)>(by.function)(&count, &alpha, x,
                                                                                &step);
    }
  });
}

/// copy, whose x is const, and swap.
template <class X, class T>
void call_move(const route& by, length n, X* x, length incx, T* y, length incy) {
  with_integers(by.called, [&]<class I>() {
    const I count = static_cast<I>(n), step_x = static_cast<I>(incx), step_y = static_cast<I>(incy);
    if (by.is_c()) {
      reinterpret_cast<void (*)(I, X*, I, T*, I)>(by.function)(count, x, step_x, y, step_y);
    } else {
      reinterpret_cast<void (*)(const I*, X*, const I*, T*, const I*)>(by.function)(
          &count, x, &step_x, y, &step_y);
    }
  });
}

/// Operation: 'N', 'T', 'C', or 'R', conjugated alone. By rows only in C.
template <class T>
void call_gemv(const route& by, bool by_rows, char operation, length m, length n, T alpha,
               const T* a, length lda, const T* x, length incx, T beta, T* y, length incy) {
  with_integers(by.called, [&]<class I>() {
    const I height = static_cast<I>(m), width = static_cast<I>(n), lead = static_cast<I>(lda),
            step_x = static_cast<I>(incx), step_y = static_cast<I>(incy);
    if (by.is_c()) {
      const int transposition = operation == 'N'   ? 111
                                : operation == 'T' ? 112
                                : operation == 'C' ? 113
                                                   : 114;
      reinterpret_cast<void (*)(int, int, I, I, c_number<T>, const void*, I, const void*, I,
                                c_number<T>, void*, I)>(by.function)(
          by_rows ? 101 : 102, transposition, height, width, c_number_of(alpha), a, lead, x, step_x,
          c_number_of(beta), y, step_y);
    } else {
      reinterpret_cast<void (*)(const char*, const I*, const I*, const T*, const T*, const I*,
                                const T*, const I*, const T*, T*, const I*)>(by.function)(
          &operation, &height, &width, &alpha, a, &lead, x, &step_x, &beta, y, &step_y);
    }
  });
}

}  // namespace blas_test
