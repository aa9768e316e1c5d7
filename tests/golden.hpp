// Fixed data and the bits of its dot products under order 1. These never change: another value is
// another order. The data come from integers alone, so that nothing but the library's arithmetic
// decides the result, whatever flags this file is compiled with.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace golden {

/// A linear congruential generator's upper bits.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 11;  // 53 bits
  }

 private:
  std::uint64_t state_;
};

/// A double with a random sign and fraction, and one of `span` exponents from 2^lowest up; its bits
/// are put together, so that a flushing processor makes the same ones.
inline double assembled(generator& random, int lowest, int span) {
  const std::uint64_t bits = random();
  const std::uint64_t exponent = static_cast<std::uint64_t>(1023 + lowest) + random() % span;
  return std::bit_cast<double>((bits & 0x000fffffffffffffu) | (exponent << 52) |
                               (random() & 1) << 63);
}

inline std::vector<double> doubles(std::size_t n, std::uint64_t seed, int lowest = -8,
                                   int span = 8) {
  generator random(seed);
  std::vector<double> v(n);
  for (double& e : v) e = assembled(random, lowest, span);
  return v;
}

inline std::vector<float> floats(std::size_t n, std::uint64_t seed) {
  generator random(seed);
  std::vector<float> v(n);
  for (float& e : v) {
    const auto bits = static_cast<std::uint32_t>(random());
    e = std::bit_cast<float>((bits & 0x807fffffu) | (119 + bits % 7) << 23);
  }
  return v;
}

struct row {
  std::size_t n;
  std::uint64_t f64;  ///< doubles(n, 1) . doubles(n, 2)
  std::uint64_t
      subnormal;      ///< doubles(n, 3, -520, 8) . doubles(n, 4, -550, 8): products below 2^-1022
  std::uint32_t f32;  ///< floats(n, 5) . floats(n, 6)
};

inline constexpr row rows[] = {
    {1, 0xbf46b1ea6ce91189, 0x800000000000966c, 0xbd93ba4a},
    {64, 0xbfe1cc7b01c8a53a, 0x0000000000077dd0, 0xbd577edc},
    {100, 0xbfe0a0be167988a8, 0x000000000003ec5b, 0xbd3185dc},
    {1000, 0xc012ea947b2baef4, 0x00000000005ad220, 0x3dd0ba64},
    {1024, 0xc011d06d19c0a3da, 0x0000000000651ee9, 0x3ddbf33c},
    {1025, 0xc011d142f9eaa875, 0x0000000000652133, 0x3dd4e78d},
    {5000, 0xbff521ab93875cde, 0x000000000063062f, 0x405d813e},
    {100003, 0xc034c005a891888b, 0x0000000001e8a4d9, 0xc01ba97f},
};

}  // namespace golden
