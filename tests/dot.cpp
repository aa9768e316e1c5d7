// dot and dotc: the bits of the transcription, for every pair of element types, size, alignment and
// stride.
#include "tests/data.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace {

using data::kind;
using data::layout;
using tally::order::chunk;
using tally::order::lanes;

struct pair_case {
  tally::type x;
  tally::type y;
  tally::type accumulator;

  std::vector<std::byte> x_bytes(std::size_t n, std::uint64_t seed, kind k) const {
    return data::random_bytes(x, n, seed, k);
  }
  std::vector<std::byte> y_bytes(std::size_t n, std::uint64_t seed, kind k) const {
    return data::random_bytes(y, n, seed, k);
  }
  std::vector<std::byte> expected(const std::vector<std::byte>& x_bytes,
                                  const std::vector<std::byte>& y_bytes, bool conjugate_x) const {
    return transcription::dot({x_bytes, x}, {y_bytes, y}, accumulator, conjugate_x);
  }
  std::string label() const {
    return std::string(tally::name(x)) + " x " + std::string(tally::name(y)) + " in " +
           std::string(tally::name(accumulator));
  }
};

const std::vector<pair_case>& all_cases() {
  static const auto cases = [] {
    std::vector<pair_case> all;
    data::for_each_type([&]<class X>(std::type_identity<X>) {
      data::for_each_type([&]<class Y>(std::type_identity<Y>) {
        const tally::type x = tally::type_of<X>, y = tally::type_of<Y>;
        const tally::type rule = tally::type_of<tally::dot_result_t<X, Y>>;
        const tally::type widest = tally::type_of<tally::dot_widest_t<X, Y>>;
        all.push_back({x, y, rule});
        if (widest != rule) all.push_back({x, y, widest});
      });
    });
    return all;
  }();
  return cases;
}

class Dot : public data::OnEveryExecutor {
 protected:
  /// Compares both forms on one data set in one layout.
  void compare(const pair_case& c, const std::vector<std::byte>& x, const std::vector<std::byte>& y,
               tally::conjugate conjugated, const std::vector<std::byte>& want, layout lx,
               layout ly) {
    const std::size_t needed = 4 * (std::max(x.size(), y.size()) + 4096);
    if (!memory_x_ || memory_x_->size() < needed) {
      memory_x_ = std::make_unique<data::buffer>(where(), needed);
      memory_y_ = std::make_unique<data::buffer>(where(), needed);
    }
    if (!memory_r_) memory_r_ = std::make_unique<data::buffer>(where(), 64);
    const tally::operand ox = data::place(*memory_x_, x, c.x, lx);
    const tally::operand oy = data::place(*memory_y_, y, c.y, ly);

    std::vector<std::byte> got(want.size(), std::byte{0xcc});
    alignas(16) std::array<std::byte, 16> result;
    result.fill(std::byte{0xcc});
    tally::dot(where(), {ox, oy, conjugated, {result.data(), c.accumulator}});
    std::memcpy(got.data(), result.data(), got.size());
    ASSERT_EQ(got, want) << c.label() << ", n = " << ox.size << ", offsets " << lx.offset << ", "
                         << ly.offset << ", increments " << lx.increment << ", " << ly.increment;

    std::vector<std::byte> poison(64, std::byte{0xcc});
    memory_r_->write(poison.data(), poison.size());
    tally::dot(where(), {ox, oy, conjugated, {memory_r_->get(), c.accumulator}, {.wait = false}});
    memory_r_->read(poison.data(), poison.size());  // on the default stream, so after the sum
    std::memcpy(got.data(), poison.data(), got.size());
    ASSERT_EQ(got, want) << "written form: " << c.label() << ", n = " << ox.size;
    ASSERT_EQ(poison[got.size()], std::byte{0xcc}) << "written past the result: " << c.label();
  }

 private:
  std::unique_ptr<data::buffer> memory_x_, memory_y_, memory_r_;
};

TEST_ON_EVERY_EXECUTOR(Dot, EveryPairAndSize) {
  for (const pair_case& c : all_cases()) {
    for (const std::size_t n : data::short_sizes()) {
      const auto x = c.x_bytes(n, 2 * n + 1, kind::plain);
      const auto y = c.y_bytes(n, 3 * n + 2, kind::plain);
      ASSERT_NO_FATAL_FAILURE(
          compare(c, x, y, tally::conjugate::none, c.expected(x, y, false), {}, {}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Dot, WideRangesAndSpecialValues) {
  for (const pair_case& c : all_cases()) {
    for (const kind k : {kind::wide, kind::special}) {
      for (const std::size_t n : {std::size_t{5}, lanes + 9, 2 * chunk + 77}) {
        const auto x = c.x_bytes(n, 5 * n, k);
        const auto y = c.y_bytes(n, 7 * n, k);
        ASSERT_NO_FATAL_FAILURE(
            compare(c, x, y, tally::conjugate::none, c.expected(x, y, false), {}, {}));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Dot, EveryAlignment) {
  for (const pair_case& c : all_cases()) {
    const std::size_t n = chunk + 75;
    const auto x = c.x_bytes(n, 11, kind::plain);
    const auto y = c.y_bytes(n, 13, kind::plain);
    const auto want = c.expected(x, y, false);
    for (const auto& [ox, oy] :
         {std::pair{1, 0}, {0, 1}, {1, 1}, {2, 3}, {4, 8}, {5, 16}, {15, 31}}) {
      ASSERT_NO_FATAL_FAILURE(compare(c, x, y, tally::conjugate::none, want,
                                      {.offset = static_cast<std::size_t>(ox)},
                                      {.offset = static_cast<std::size_t>(oy)}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Dot, EveryStride) {
  for (const pair_case& c : all_cases()) {
    const std::size_t n = 2 * chunk + 75;
    const auto x = c.x_bytes(n, 17, kind::plain);
    const auto y = c.y_bytes(n, 19, kind::plain);
    const auto want = c.expected(x, y, false);
    for (const auto& [ix, iy] : {std::pair{2, 1}, {1, 3}, {-1, 1}, {1, -2}, {-3, -1}, {-1, -1}}) {
      ASSERT_NO_FATAL_FAILURE(compare(c, x, y, tally::conjugate::none, want,
                                      {.offset = 1, .increment = ix}, {.increment = iy}));
    }
    const std::size_t blocks = 40 * chunk + 33;  // more than one block of a GPU
    const auto long_x = c.x_bytes(blocks, 37, kind::plain);
    const auto long_y = c.y_bytes(blocks, 41, kind::plain);
    ASSERT_NO_FATAL_FAILURE(compare(c, long_x, long_y, tally::conjugate::x,
                                    c.expected(long_x, long_y, true), {.offset = 1},
                                    {.increment = -2}));
  }
}

TEST_ON_EVERY_EXECUTOR(Dot, Conjugated) {
  for (const pair_case& c : all_cases()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{100}, 3 * chunk + 5}) {
      const auto x = c.x_bytes(n, 23 * n, kind::plain);
      const auto y = c.y_bytes(n, 29 * n, kind::plain);
      ASSERT_NO_FATAL_FAILURE(
          compare(c, x, y, tally::conjugate::x, c.expected(x, y, true), {}, {}));
    }
  }
}

TEST_ON_EVERY_BACKEND(Dot, Long) {
  // Borders of every backend's partitions.
  const std::size_t sizes[] = {16 * chunk,   32 * chunk + 1, 64 * chunk - 1,
                               1024 * chunk, 1000003,        2100 * chunk + 5};
  using tally::type;
  for (const pair_case& c : all_cases()) {
    // From here up GPU blocks take several tiles.
    if (c.x == type::float64 && c.y == c.x && where().name() == "cuda") {
      const std::size_t n = 17000 * chunk + 5;
      const auto x = c.x_bytes(n, n, kind::plain);
      const auto y = c.y_bytes(n, n + 1, kind::plain);
      ASSERT_NO_FATAL_FAILURE(
          compare(c, x, y, tally::conjugate::none, c.expected(x, y, false), {}, {}));
    }
    const bool often_used = (c.x == c.y && (c.x == type::float64 || c.x == type::complex64)) ||
                            (c.x == type::float32 && (c.y == c.x || c.y == type::boolean));
    for (const std::size_t n : sizes) {
      if (n > 100 * chunk && !often_used) continue;
      const auto x = c.x_bytes(n, n, kind::plain);
      const auto y = c.y_bytes(n, n + 1, kind::plain);
      const auto want = c.expected(x, y, false);
      ASSERT_NO_FATAL_FAILURE(compare(c, x, y, tally::conjugate::none, want, {}, {}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Dot, FromMemory) {
  constexpr std::size_t bytes = std::size_t{8} << 20;  // read in several streams
  using tally::type;
  const std::tuple<type, type> pairs[] = {
      {type::float64, type::float64},       {type::complex64, type::complex64},
      {type::complex128, type::complex128}, {type::float64, type::boolean},
      {type::int32, type::int32},           {type::int8, type::int64}};
  for (const pair_case& c : all_cases()) {
    if (std::ranges::find(pairs, std::tuple(c.x, c.y)) == std::end(pairs)) continue;
    const std::size_t n = bytes / tally::size_of(c.accumulator) + 77 * chunk + 5;
    const auto x = c.x_bytes(n, 43, kind::plain);
    const auto y = c.y_bytes(n, 47, kind::plain);
    const auto want = c.expected(x, y, false);
    for (const auto& [ox, oy] : {std::pair{0, 0}, {1, 0}, {3, 6}}) {
      ASSERT_NO_FATAL_FAILURE(compare(c, x, y, tally::conjugate::none, want,
                                      {.offset = static_cast<std::size_t>(ox)},
                                      {.offset = static_cast<std::size_t>(oy)}));
    }
  }
}

template <class X, class Y>
void compare_constant(const tally::executor& where, X x, Y y) {
  const std::size_t n = (std::size_t{5} << 19) + 77;
  const data::placed of_x(where, std::vector<X>(n, x));
  const data::placed of_y(where, std::vector<Y>(n, y));
  EXPECT_EQ(tally::dot(where, of_x.span(), of_y.span()), static_cast<std::int64_t>(n) * x * y)
      << int{x} << " " << int{y};
}

// Products of bytes may be added in fewer than 64 bits: extreme ones must not overflow.
TEST_ON_EVERY_EXECUTOR(Dot, BytesFarthestFromZero) {
  constexpr std::int8_t lowest = -128, highest = 127;
  constexpr std::uint8_t greatest = 255;
  compare_constant(where(), lowest, lowest);
  compare_constant(where(), lowest, highest);
  compare_constant(where(), highest, highest);
  compare_constant(where(), greatest, greatest);
  compare_constant(where(), greatest, lowest);
  compare_constant(where(), highest, greatest);
}

TEST_ON_EVERY_EXECUTOR(Dot, SameVectorTwice) {
  const pair_case& c = *std::find_if(all_cases().begin(), all_cases().end(), [](const auto& p) {
    return p.x == tally::type::float64 && p.y == tally::type::float64;
  });
  const auto x = c.x_bytes(10007, 31, kind::plain);
  data::buffer memory(where(), x.size() + 4096);
  const tally::operand v = data::place(memory, x, c.x, {});
  double r = 0;
  tally::dot(where(), {v, v, tally::conjugate::none, {&r, c.accumulator}});
  double want;
  const auto bytes = c.expected(x, x, false);
  std::memcpy(&want, bytes.data(), sizeof want);
  EXPECT_EQ(data::bits(r), data::bits(want));
}

TEST(DotInterface, TakesVectorsSpansAndArrays) {
  const std::vector<double> v = {1, 2, 3};
  const std::array<float, 3> a = {4, 5, 6};
  const int raw[] = {1, 1, 2};
  EXPECT_EQ(tally::dot(tally::serial(), v, a), 32.0);
  EXPECT_EQ(tally::dot(v, std::span(v)), 14.0);
  EXPECT_EQ(tally::dot(tally::simd(), raw, v), 9.0);
  EXPECT_EQ(
      tally::dot(tally::simd(), tally::strided(v.data(), 2, 2), tally::strided(v.data(), 2, -2)),
      1.0 * 3 + 3 * 1);
}

TEST(DotInterface, ReturnsTheRulesType) {
  static_assert(std::is_same_v<tally::dot_result_t<double, bool>, double>);
  static_assert(std::is_same_v<tally::dot_result_t<float, bool>, float>);
  static_assert(std::is_same_v<tally::dot_result_t<float, float>, float>);
  static_assert(std::is_same_v<tally::dot_result_t<float, double>, double>);
  static_assert(std::is_same_v<tally::dot_result_t<tally::float16, tally::bfloat16>, float>);
  static_assert(std::is_same_v<tally::dot_result_t<std::int8_t, bool>, std::int64_t>);
  static_assert(
      std::is_same_v<tally::dot_result_t<std::complex<float>, std::int64_t>, std::complex<float>>);
  static_assert(
      std::is_same_v<tally::dot_result_t<std::complex<float>, double>, std::complex<double>>);
  static_assert(
      std::is_same_v<tally::dot_result_t<std::int8_t, std::complex<double>>, std::complex<double>>);
  const std::vector<float> x = {1, 2};
  static_assert(std::is_same_v<decltype(tally::dot(x, x)), float>);
  static_assert(std::is_same_v<decltype(tally::dot<double>(x, x)), double>);
  EXPECT_EQ(tally::dot<double>(x, x), 5.0);
}

TEST(DotInterface, WiderAccumulatorKeepsWhatFloatLoses) {
  const std::vector<float> x = {0x1p24f, 1, 1};
  const std::vector<float> one = {1, 1, 1};
  EXPECT_EQ(tally::dot(tally::serial(), x, one), 0x1p24f);  // each 1 is half a unit, a tie to even
  EXPECT_EQ(tally::dot<double>(tally::serial(), x, one), 0x1p24 + 2);
}

TEST(DotInterface, WritesToAPointer) {
  const std::vector<std::complex<float>> x = {{1, 2}, {3, 4}};
  std::complex<float> r;
  tally::dot(tally::serial(), x, x, &r);
  EXPECT_EQ(r, std::complex<float>(-10, 28));
  tally::dot(tally::simd(), x, x, &r, tally::conjugate::x);
  EXPECT_EQ(r, std::complex<float>(30, 0));
  std::complex<double> wide;
  tally::dot(tally::simd(), x, x, &wide, tally::conjugate::x);
  EXPECT_EQ(wide, std::complex<double>(30, 0));
}

TEST(DotInterface, IntegersWrapModulo2To64) {
  const std::vector<std::int64_t> x = {std::numeric_limits<std::int64_t>::max(), 1};
  const std::vector<std::int64_t> y = {3, 5};
  EXPECT_EQ(tally::dot(tally::simd(), x, y),
            static_cast<std::int64_t>(3 * static_cast<std::uint64_t>(x[0]) + 5));
}

TEST(DotInterface, ANaNIsPositiveQuietAndEmpty) {
  const std::vector<double> x = {-std::numeric_limits<double>::signaling_NaN(), 1};
  for (const auto& where : tally::executors()) {
    if (data::on_device(where)) continue;  // host memory; see Dot.WideRangesAndSpecialValues
    EXPECT_EQ(data::bits(tally::dot(where, x, x)),
              (std::array<std::uint64_t, 1>{0x7ff8000000000000u}));
  }
}

TEST(DotInterface, NothingGivesPositiveZero) {
  const std::vector<double> x;
  const std::vector<double> minus = {-1.0}, zero = {0.0};
  EXPECT_EQ(data::bits(tally::dot(x, x)), (std::array<std::uint64_t, 1>{0}));
  EXPECT_EQ(data::bits(tally::dot(minus, zero)), (std::array<std::uint64_t, 1>{0}));
}

/// The templates' shorter path for contiguous vectors of one type.
template <class X>
void expect_serials_bits() {
  std::mt19937_64 random(1);
  for (std::size_t n = 0; n < 2 * chunk + 3; n += n < 3 * lanes ? 1 : 61) {
    std::vector<X> x(n), y(n);
    for (std::vector<X>* v : {&x, &y}) {
      for (X& element : *v) {
        const auto word = random();
        if constexpr (std::is_floating_point_v<X>) {
          element = static_cast<X>(static_cast<double>(word >> 11) * 0x1p-53 - 0.5);
        } else {
          std::memcpy(static_cast<void*>(&element), &word, sizeof(X));
        }
      }
    }
    const auto expected = data::bits(tally::dot(tally::serial(), x, y));
    EXPECT_EQ(data::bits(tally::dot(x, y)), expected) << n;
    for (const auto set : tally::instruction_sets()) {
      EXPECT_EQ(data::bits(tally::dot(tally::simd({set}), x, y)), expected) << n;
    }
  }
}

TEST(DotInterface, ContiguousVectorsOfOneTypeOfEveryLength) {
  expect_serials_bits<double>();
  expect_serials_bits<float>();
  expect_serials_bits<tally::float16>();
  expect_serials_bits<tally::bfloat16>();
  expect_serials_bits<std::int8_t>();
  expect_serials_bits<std::uint8_t>();
}

}  // namespace
