// Arithmetic that rounds alike for every compiler and device. Other device code needs no `#if` by
// compiler.
#pragma once

#include <tally/operands/half.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

// nvcc may contract a product and, by -use_fast_math, approximate the others; never these.
#if defined(__CUDA_ARCH__)
TALLY_HOST_DEVICE inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }
TALLY_HOST_DEVICE inline float rounded_product(float a, float b) { return __fmul_rn(a, b); }
TALLY_HOST_DEVICE inline double rounded_quotient(double a, double b) { return __ddiv_rn(a, b); }
TALLY_HOST_DEVICE inline float rounded_quotient(float a, float b) { return __fdiv_rn(a, b); }
TALLY_HOST_DEVICE inline double rounded_root(double a) { return __dsqrt_rn(a); }
TALLY_HOST_DEVICE inline float rounded_root(float a) { return __fsqrt_rn(a); }
TALLY_HOST_DEVICE inline int leading_zeros(std::uint64_t nonzero) {
  return __clzll(static_cast<long long>(nonzero));
}
TALLY_HOST_DEVICE inline int upper_word(double x) { return __double2hiint(x); }
#else
template <class R>
TALLY_HOST_DEVICE R rounded_product(R a, R b) {
#if !defined(__CUDACC__) && defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
  // Despite -ffp-contract=off, GCC 12 contracts a difference and a sum in pairs, as in complex
  // products.
  return __builtin_assoc_barrier(a * b);
#endif
#endif
  return a * b;
}
template <class R>
TALLY_HOST_DEVICE R rounded_quotient(R a, R b) {
  return a / b;
}
template <class R>
TALLY_HOST_DEVICE R rounded_root(R a) {
  return std::sqrt(a);
}
TALLY_HOST_DEVICE inline int leading_zeros(std::uint64_t nonzero) {
  return __builtin_clzll(nonzero);
}
/// The sign, exponent and first 20 digits: a device that is limited by its double operations
/// compares these as integers.
TALLY_HOST_DEVICE inline int upper_word(double x) {
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, x) >> 32);
}
#endif

/// Returns a * b, rounded in any context; integers modulo 2^64.
template <class R>
TALLY_HOST_DEVICE R product(R a, R b) {
  if constexpr (std::is_integral_v<R>) {
    return static_cast<R>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return rounded_product(a, b);
  }
}

}  // namespace tally::backends
