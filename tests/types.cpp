// Element types: the list and its derivatives; conversions of the 16-bit floats.
#include "backends/common/types/tables.hpp"
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

/// Functions of <cmath> are meant where no vector is among the arguments.
template <class Half>
void expect_cmath_of() {
  using std::abs, std::clamp, std::exp, std::log, std::pow, std::sqrt, std::tanh;
  const Half x(0.75f), low(0.25f), high(0.5f);
  EXPECT_EQ(abs(x), 0.75f);
  EXPECT_EQ(exp(x), std::exp(0.75f));
  EXPECT_EQ(log(x), std::log(0.75f));
  EXPECT_EQ(pow(x, 2.0f), 0.5625f);
  EXPECT_EQ(sqrt(x), std::sqrt(0.75f));
  EXPECT_EQ(tanh(x), std::tanh(0.75f));
  EXPECT_EQ(float(clamp(x, low, high)), 0.5f);
}

TEST(Types, HalvesHaveTheFunctionsOfCmath) {
  expect_cmath_of<tally::float16>();
  expect_cmath_of<tally::bfloat16>();
}

/// The type's name, from C++'s properties of it.
template <class T>
std::string name_of() {
  const std::string bits = std::to_string(8 * sizeof(T));
  if (std::is_same_v<T, bool>) return "bool";
  if (std::is_same_v<T, tally::bfloat16>) return "bfloat16";
  if (tally::is_complex_v<T>) return "complex" + bits;
  if (!std::is_integral_v<T>) return "float" + bits;
  return (std::is_signed_v<T> ? "int" : "uint") + bits;
}

std::vector<tally::type> unlisted() {
  std::vector<tally::type> all;
  for (std::size_t number = tally::type_count; number < 256; ++number) {
    all.push_back(static_cast<tally::type>(number));
  }
  return all;
}

// Numbers of the C interface: a change breaks compiled programs.
TEST(Types, NumbersStay) {
  const std::vector<std::string> names = {"bool",    "int8",      "uint8",     "int32",
                                          "int64",   "float16",   "bfloat16",  "float32",
                                          "float64", "complex64", "complex128"};
  ASSERT_GE(tally::type_count, names.size());
  for (std::size_t number = 0; number < names.size(); ++number) {
    EXPECT_EQ(tally::name(static_cast<tally::type>(number)), names[number]);
  }
}

TEST(Types, TraitsAreThoseOfTheTypes) {
  data::for_each_type([]<class T>(std::type_identity<T>) {
    constexpr tally::type t = tally::type_of<T>;
    constexpr bool is_complex =
        std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
    SCOPED_TRACE(name_of<T>());
    EXPECT_EQ(tally::name(t), name_of<T>());
    EXPECT_EQ(tally::size_of(t), sizeof(T));
    EXPECT_EQ(tally::alignment_of(t), alignof(T));
    EXPECT_EQ(tally::is_complex(t), is_complex);
    EXPECT_EQ(tally::is_real(t), !is_complex);
    EXPECT_EQ(tally::is_integer(t), std::is_integral_v<T>);
    EXPECT_EQ(tally::is_floating_point(t), !is_complex && !std::is_integral_v<T>);
    EXPECT_TRUE(tally::is_listed(t));
    EXPECT_EQ(tally::part_of(t), tally::type_of<tally::real_t<T>>);
    EXPECT_EQ(tally::size_of(tally::part_of(t)), is_complex ? sizeof(T) / 2 : sizeof(T));
    if constexpr (is_complex) {
      EXPECT_EQ(tally::complex_of(tally::part_of(t)), t);
    }
  });
}

TEST(Types, UnlistedValuesAreOfNoKind) {
  for (const tally::type t : unlisted()) {
    EXPECT_FALSE(tally::is_listed(t));
    EXPECT_FALSE(tally::is_complex(t) || tally::is_real(t) || tally::is_integer(t) ||
                 tally::is_floating_point(t) || tally::is_in<tally::accumulator_types>(t));
  }
}

/// `function` accepts its arguments, and rejects values that are no element types in each position.
template <class Arguments>
void expect_refused(void (*function)(const tally::executor&, const Arguments&), const Arguments& a,
                    std::initializer_list<tally::type*> places) {
  for (const tally::executor& where : tally::executors()) {
    if (data::on_device(where)) continue;  // can't reach these vectors; rejections are the same
    EXPECT_NO_THROW(function(where, a));
    for (tally::type* const place : places) {
      for (const tally::type t : unlisted()) {
        const tally::type good = std::exchange(*place, t);
        try {
          function(where, a);
          ADD_FAILURE() << where.name() << " accepts type " << static_cast<int>(t);
        } catch (const tally::error& e) {
          EXPECT_EQ(e.code(), tally::errc::unsupported_type) << e.what();
        }
        *place = good;
      }
    }
  }
}

TEST(Types, UnlistedValuesAreRefused) {
  double x[2] = {1, 2}, z[2] = {}, result = 0;
  std::int64_t places[4] = {};
  const tally::operand vector = {x, 2, 1, tally::type::float64};

  tally::dot_arguments dot;
  dot.x = dot.y = vector;
  dot.result = {&result, tally::type::float64};
  expect_refused(&tally::dot, dot, {&dot.x.element, &dot.y.element, &dot.result.element});

  tally::reduce_arguments sum;
  sum.x = vector;
  sum.result = dot.result;
  expect_refused(&tally::reduce, sum, {&sum.x.element, &sum.result.element});

  tally::extremum_arguments max;
  max.x = vector;
  max.result = places;
  expect_refused(&tally::find_extremum, max, {&max.x.element});

  tally::transform_arguments axpy;
  axpy.what = tally::elementwise::axpy;
  axpy.x = axpy.y = vector;
  axpy.z = {z, 2, 1, tally::type::float64};
  expect_refused(&tally::transform, axpy,
                 {&axpy.x.element, &axpy.y.element, &axpy.z.element, &axpy.alpha.element});

  tally::histogram_arguments count;
  count.what = tally::binning::edges;
  count.x = count.edges = vector;
  count.counts = {places, 1, 1, tally::type::int64};
  expect_refused(&tally::histogram, count,
                 {&count.x.element, &count.edges.element, &count.counts.element});

  const std::int32_t offsets[2] = {0, 1}, columns[1] = {0};
  tally::spmv_arguments product;
  product.a = {1,
               2,
               {offsets, 2, 1, tally::type::int32},
               {columns, 1, 1, tally::type::int32},
               {x, 1, 1, tally::type::float64}};
  product.x = vector;
  product.y = {z, 1, 1, tally::type::float64};
  product.alpha = 1.0;
  expect_refused(
      &tally::spmv, product,
      {&product.a.row_offsets.element, &product.a.column_indices.element, &product.a.values.element,
       &product.x.element, &product.y.element, &product.alpha.element});
}

TEST(Types, TablesHaveWhatTheirListHas) {
  constexpr auto sizes =
      tally::backends::table_over<tally::accumulator_types>([]<class T>() { return sizeof(T); });
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    const bool is_accumulator = std::is_same_v<T, std::int64_t> || std::is_same_v<T, float> ||
                                std::is_same_v<T, double> || tally::is_complex_v<T>;
    EXPECT_EQ(sizes[tally::type_of<T>], is_accumulator ? sizeof(T) : 0u) << name_of<T>();
  });
}

TEST(Types, WithTypeTakesTheNamedType) {
  data::for_each_type([]<class T>(std::type_identity<T>) {
    const bool same = tally::backends::with_type(tally::type_of<T>,
                                                 []<class U>() { return std::is_same_v<T, U>; });
    EXPECT_TRUE(same) << name_of<T>();
  });
}

/// Exact in double.
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
    const double got = tally::detail::widened(value);
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
    EXPECT_EQ(std::bit_cast<std::uint64_t>(tally::detail::widened(value)),
              std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  }
}

/// Between neighbours: below the midpoint, the midpoint (to even), above it.
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
  EXPECT_EQ(tally::float16(65520.0f).bits, 0x7c00);  // midpoint to 65536: to even, infinity
  EXPECT_EQ(tally::float16(std::numeric_limits<float>::max()).bits, 0x7c00);
}

TEST(Types, Bfloat16RoundsToNearestEven) {
  for (std::uint16_t low = 0; low < 0x7f7f; ++low) round_between<tally::bfloat16>(low, 7);
  EXPECT_EQ(tally::bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

}  // namespace
