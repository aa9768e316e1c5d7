// The element types: names, sizes, and the conversions of the 16-bit floats.
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

TEST(Types, NamesAndSizes) {
  EXPECT_EQ(tally::name(tally::type::boolean), "bool");
  EXPECT_EQ(tally::name(tally::type_of<tally::bfloat16>), "bfloat16");
  EXPECT_EQ(tally::name(tally::type_of<std::complex<double>>), "complex128");
  EXPECT_EQ(tally::size_of(tally::type::float16), 2u);
  EXPECT_EQ(tally::size_of(tally::type::complex128), 16u);
  static_assert(tally::type_of<long long> == tally::type::int64);
  static_assert(tally::type_of<const float> == tally::type::float32);
  static_assert(!tally::element<long double>);
  static_assert(!tally::element<std::uint32_t>);
}

/// The value of a 16-bit float from its fields, in double, where it is exact.
double reference(std::uint16_t bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * INFINITY;
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T>
void every_value(int fraction_bits) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    T value;
    value.bits = static_cast<std::uint16_t>(bits);
    const double want = reference(value.bits, fraction_bits);
    const float got = value;
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got));
      EXPECT_TRUE(std::isnan(static_cast<float>(T(got))));
    } else {
      ASSERT_EQ(static_cast<double>(got), want) << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << bits;
      ASSERT_EQ(T(got).bits, value.bits);
    }
  }
}

TEST(Types, Float16WidensExactly) { every_value<tally::float16>(10); }
TEST(Types, Bfloat16WidensExactly) { every_value<tally::bfloat16>(7); }

TEST(Types, FloatsWidenByTheirBits) {
  for (std::uint64_t i = 0; i < std::uint64_t{1} << 32; i += 251) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    const double got = tally::types::widened(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(got),
                std::bit_cast<std::uint64_t>(static_cast<double>(value)))
          << i;
    }
  }
  for (const float value : {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f,
                            std::numeric_limits<float>::max(), INFINITY, -INFINITY}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(tally::types::widened(value)),
              std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  }
}

/// Between two neighbours: below the middle, the middle itself (to even), above it.
template <class T>
void round_between(std::uint16_t low, int fraction_bits) {
  const double a = reference(low, fraction_bits);
  const double b = reference(static_cast<std::uint16_t>(low + 1), fraction_bits);
  const float middle = static_cast<float>((a + b) / 2);
  const std::uint16_t even = low % 2 == 0 ? low : static_cast<std::uint16_t>(low + 1);
  ASSERT_EQ(T(middle).bits, even) << low;
  ASSERT_EQ(T(std::nextafter(middle, static_cast<float>(a))).bits, low);
  ASSERT_EQ(T(std::nextafter(middle, static_cast<float>(b))).bits, low + 1);
  ASSERT_EQ(T(-middle).bits, even | 0x8000u);
}

TEST(Types, Float16RoundsToNearestEven) {
  for (std::uint16_t low = 0; low < 0x7bff; ++low) round_between<tally::float16>(low, 10);
  EXPECT_EQ(tally::float16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(tally::float16(65520.0f).bits, 0x7c00);  // half way to 65536: to even, infinity
  EXPECT_EQ(tally::float16(std::numeric_limits<float>::max()).bits, 0x7c00);
}

TEST(Types, Bfloat16RoundsToNearestEven) {
  for (std::uint16_t low = 0; low < 0x7f7f; ++low) round_between<tally::bfloat16>(low, 7);
  EXPECT_EQ(tally::bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

}  // namespace
