// The floating-point types of 16 bits.
#pragma once

#include <tally/cxx20.hpp>

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define TALLY_HOST_DEVICE __host__ __device__
#else
#define TALLY_HOST_DEVICE
#endif

// Whether this is a device's code, of CUDA, HIP or SYCL, which can't throw.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__SYCL_DEVICE_ONLY__)
#define TALLY_DEVICE_CODE 1
#else
#define TALLY_DEVICE_CODE 0
#endif

namespace tally {

/// IEEE 754 binary16. Storage only; converts exactly to `float`. Layout of `_Float16` and CUDA's
/// `__half`.
struct float16 {
  std::uint16_t bits = 0;  ///< representation

  float16() = default;
  /// Rounds to nearest even; overflows to infinity.
  TALLY_HOST_DEVICE explicit constexpr float16(float value) : bits(round(value)) {}
  /// Exact.
  TALLY_HOST_DEVICE constexpr operator float() const;

 private:
  TALLY_HOST_DEVICE static constexpr std::uint16_t round(float value);
};

/// The upper half of a `float`. Storage only. Layout of CUDA's `__nv_bfloat16`.
struct bfloat16 {
  std::uint16_t bits = 0;  ///< representation

  bfloat16() = default;
  /// Rounds to nearest even; overflows to infinity.
  TALLY_HOST_DEVICE explicit constexpr bfloat16(float value) : bits(round(value)) {}
  /// Exact.
  TALLY_HOST_DEVICE constexpr operator float() const {
    return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
  }

 private:
  TALLY_HOST_DEVICE static constexpr std::uint16_t round(float value) {
    const auto word = __builtin_bit_cast(std::uint32_t, value);
    if ((word & 0x7fffffffu) > 0x7f800000u) {
      return static_cast<std::uint16_t>((word >> 16) | 0x40u);  // quiet NaN
    }
    return static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

constexpr float16::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero, subnormals: fraction*2^-24, exact
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 0x1fu ? 0xffu : exponent + (127 - 15);
  return __builtin_bit_cast(float, sign | (wide << 23) | (fraction << 13));
}

constexpr std::uint16_t float16::round(float value) {
  const auto word = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = (word >> 16) & 0x8000u;
  const std::uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: quiet, upper payload bits
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: units of 2^-24
    if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);  // below 2^-25
    const std::uint32_t exponent = magnitude >> 23;
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t shift = 126 - exponent;  // 14 to 24
    const std::uint32_t kept = significand >> shift;
    const std::uint32_t rest = significand & ((1u << shift) - 1);
    const std::uint32_t half = 1u << (shift - 1);
    return static_cast<std::uint16_t>(sign |
                                      (kept + (rest > half || (rest == half && (kept & 1u)))));
  }
  const std::uint32_t rebased = magnitude - ((127u - 15u) << 23);
  return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

}  // namespace tally
