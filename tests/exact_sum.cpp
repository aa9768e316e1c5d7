// exact_sum: every result and every unrounded bit, against MPFR. And window_sum against it.
#include "tests/oracle.hpp"

#include "backends/common/exact/window_sum.hpp"

#include <tally/error.hpp>
#include <tally/numerics/exact_sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using tally::exact_sum;

template <class R>
auto bits(R value) {
  return __builtin_bit_cast(std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>,
                            value);
}

/// m * 2^exponent, a double or not.
template <class T>
exact_sum<T> scaled(std::int64_t m, int exponent) {
  exact_sum<T> sum;
  sum.add_scaled(m, exponent);
  return sum;
}

template <class T>
oracle::number number(const exact_sum<T>& sum) {
  const auto words = sum.to_words();
  oracle::number value;
  for (int i = 0; i < exact_sum<T>::limbs; ++i) {
    value.add_scaled(words[static_cast<std::size_t>(i)], exact_sum<T>::lowest_exponent + 32 * i);
  }
  return value;
}

template <class T>
void expect_equal(const exact_sum<T>& sum, const oracle::number& want) {
  EXPECT_EQ(bits(sum.template round<double>()), bits(want.rounded<double>()));
  EXPECT_EQ(bits(sum.template round<float>()), bits(want.rounded<float>()));
  EXPECT_EQ(bits(sum.template round_root<double>()), bits(want.rounded_root<double>()));
  EXPECT_EQ(bits(sum.template round_root<float>()), bits(want.rounded_root<float>()));
  if (want.finite()) {
    EXPECT_EQ(compare(number(sum), want), 0);
  }
}

template <class T>
class ExactSum : public testing::Test {
 protected:
  using limits = std::numeric_limits<T>;
  static constexpr int smallest = limits::min_exponent - limits::digits;

  static exact_sum<T> sum_of(const std::vector<T>& x) {
    exact_sum<T> sum;
    sum.add(x);
    return sum;
  }
  static exact_sum<T> dot_of(const std::vector<T>& x, const std::vector<T>& y) {
    exact_sum<T> sum;
    sum.add_products(x, y);
    return sum;
  }

  static void compare_sum(const std::vector<T>& x) {
    oracle::number want;
    for (const T v : x) want.add(v);
    expect_equal(sum_of(x), want);
  }
  static void compare_dot(const std::vector<T>& x, const std::vector<T>& y) {
    oracle::number want;
    for (std::size_t i = 0; i < x.size(); ++i) want.add_product(x[i], y[i]);
    expect_equal(dot_of(x, y), want);
  }
};

using factory = testing::Test*();

template <class Test>
testing::Test* make() {
  return new Test;
}

bool add_tests(const char* name, int line, factory* of_double, factory* of_float) {
  testing::RegisterTest("ExactSum/0", name, "double", nullptr, __FILE__, line, of_double);
  testing::RegisterTest("ExactSum/1", name, "float", nullptr, __FILE__, line, of_float);
  return true;
}

/// Defines a test for double and float. TYPED_TEST would take a quarter of the compile time to
/// register tests.
#define EXACT_SUM_TEST(name)                                                                   \
  template <class TypeParam>                                                                   \
  class ExactSum_##name : public ExactSum<TypeParam> {                                         \
    using TestFixture = ExactSum<TypeParam>;                                                   \
    void TestBody() override;                                                                  \
  };                                                                                           \
  const bool name##_is_added =                                                                 \
      add_tests(#name, __LINE__, make<ExactSum_##name<double>>, make<ExactSum_##name<float>>); \
  template <class TypeParam>                                                                   \
  void ExactSum_##name<TypeParam>::TestBody()

EXACT_SUM_TEST(IsPlainMemory) {
  using sum = exact_sum<TypeParam>;
  static_assert(std::is_trivially_copyable_v<sum>);
  static_assert(sum::lowest_exponent <= 2 * TestFixture::smallest);
  static_assert(sum::lowest_exponent % 32 == 0);
  static_assert(sum::limbs == (std::is_same_v<TypeParam, double> ? 134 : 20));
  static_assert(sum::words == sum::limbs + 3);
  constexpr sum zero;
  EXPECT_EQ(bits(zero.template round<double>()), 0u);
}

EXACT_SUM_TEST(Uniform) {
  for (const std::size_t n : {0, 1, 2, 3, 10, 100, 1000, 10000}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto x = oracle::uniform<TypeParam>(n, seed);
      this->compare_sum(x);
      this->compare_dot(x, oracle::uniform<TypeParam>(n, seed + 100));
      this->compare_dot(x, x);
    }
  }
}

EXACT_SUM_TEST(WideExponents) {
  for (const int spread : {5, 20, 60, 100, 200, 500, 1000}) {
    if (spread >= TestFixture::limits::max_exponent) break;
    for (const std::size_t n : {1, 2, 7, 100, 3000}) {
      const auto x = oracle::wide<TypeParam>(n, n, spread);
      this->compare_sum(x);
      this->compare_dot(x, oracle::wide<TypeParam>(n, n + 1, spread));
      this->compare_dot(x, x);
    }
  }
}

EXACT_SUM_TEST(EveryExponentThatThereIs) {
  for (const std::size_t n : {1, 2, 3, 4, 100, 5000}) {
    for (std::uint64_t seed = 0; seed < 200 / n + 5; ++seed) {
      const auto x = oracle::any_finite<TypeParam>(n, seed);
      this->compare_sum(x);
      this->compare_dot(x, oracle::any_finite<TypeParam>(n, seed + 1000));
      this->compare_dot(x, x);
    }
  }
}

EXACT_SUM_TEST(ProductsThatUnderflowAndOverflow) {
  using limits = typename TestFixture::limits;
  const TypeParam tiny = limits::denorm_min(), huge = limits::max(), small = limits::min();
  this->compare_dot({tiny}, {tiny});
  this->compare_dot({tiny, tiny, small}, {tiny, -small, small});
  this->compare_dot({huge, huge}, {huge, -huge});
  this->compare_dot({huge, huge, 3}, {huge, -huge, 5});
  this->compare_dot({huge, tiny, huge}, {huge, tiny, -huge});
  this->compare_dot({huge, tiny, huge, huge}, {huge, -tiny, -huge, 1});
  this->compare_dot({huge, huge}, {huge, -huge / 2});
  this->compare_dot({huge, huge}, {-huge, huge / 2});
  this->compare_dot({huge, huge, -huge}, {1, 1, 1});
}

EXACT_SUM_TEST(IllConditioned) {
  for (const double condition : {1e8, 1e16, 1e20, 1e30, 1e40}) {
    for (const std::size_t n : {20, 100, 1001}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto v = oracle::ill_conditioned<TypeParam>(n, condition, seed);
        EXPECT_GT(oracle::condition(v), condition / 1e4);
        this->compare_dot(v.x, v.y);
        this->compare_sum(oracle::ill_conditioned_sum<TypeParam>(n, condition, seed));
      }
    }
  }
}

EXACT_SUM_TEST(ExactZeroIsPositive) {
  for (const int spread : {0, 30, 120}) {
    const auto x = oracle::wide<TypeParam>(1000, 1, spread);
    const auto v = oracle::cancelling(x, oracle::wide<TypeParam>(1000, 2, spread), 3);
    for (const auto& sum : {this->sum_of(v.x), this->dot_of(v.x, v.y)}) {
      EXPECT_EQ(bits(sum.template round<double>()), 0u);
      EXPECT_EQ(bits(sum.template round<float>()), 0u);
      EXPECT_EQ(bits(sum.template round_root<double>()), 0u);
      EXPECT_EQ(sum.to_words(), exact_sum<TypeParam>().to_words());
      EXPECT_EQ(sum, exact_sum<TypeParam>());
    }
  }
  this->compare_sum({-TypeParam(0)});
  this->compare_sum({-TypeParam(0), -TypeParam(0)});
  this->compare_dot({-TypeParam(0), 1}, {1, -TypeParam(0)});
}

EXACT_SUM_TEST(AnyOrderGivesTheSameWords) {
  auto v = oracle::ill_conditioned<TypeParam>(500, 1e30, 1);
  const auto wide = oracle::any_finite<TypeParam>(500, 2);
  v.x.insert(v.x.end(), wide.begin(), wide.end());
  v.y.insert(v.y.end(), wide.rbegin(), wide.rend());
  const auto want = this->dot_of(v.x, v.y).to_words();
  std::vector<std::size_t> order(v.x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::shuffle(order.begin(), order.end(), random);
    exact_sum<TypeParam> sum;
    for (const std::size_t i : order) sum.add_product(v.x[i], v.y[i]);
    ASSERT_EQ(sum.to_words(), want);
  }
}

template <class T>
std::vector<exact_sum<T>> parts(const std::vector<T>& x, const std::vector<T>& y, std::size_t count,
                                std::mt19937_64& random) {
  std::vector<exact_sum<T>> sums(count);
  for (std::size_t i = 0; i < x.size(); ++i) sums[random() % count].add_product(x[i], y[i]);
  return sums;
}

EXACT_SUM_TEST(AnyPartitionMergedInAnyOrder) {
  const auto x = oracle::any_finite<TypeParam>(2000, 1);
  const auto y = oracle::wide<TypeParam>(2000, 2, 100);
  const auto whole = this->dot_of(x, y);
  std::mt19937_64 random(4);
  for (int repeat = 0; repeat < 30; ++repeat) {
    auto sums = parts(x, y, 1 + random() % 40, random);
    while (sums.size() > 1) {  // any two, until one is left
      std::swap(sums[random() % sums.size()], sums.back());
      const auto last = sums.back();
      sums.pop_back();
      sums[random() % sums.size()].merge(last);
    }
    ASSERT_EQ(sums[0].to_words(), whole.to_words());
    ASSERT_EQ(sums[0], whole);
    ASSERT_EQ(bits(sums[0].template round<double>()), bits(whole.template round<double>()));
  }
}

EXACT_SUM_TEST(NormalFormsAddElementByElement) {
  const auto x = oracle::any_finite<TypeParam>(2000, 5);
  const auto y = oracle::wide<TypeParam>(2000, 6, 100);
  const auto whole = this->dot_of(x, y);
  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 30; ++repeat) {
    typename std::array<std::int64_t, exact_sum<TypeParam>::words> total = {};
    for (const auto& sum : parts(x, y, 1 + random() % 60, random)) {
      const auto words = sum.to_words();
      for (std::size_t i = 0; i < words.size(); ++i) total[i] += words[i];
    }
    const auto sum = exact_sum<TypeParam>::from_words(total);
    ASSERT_EQ(sum.to_words(), whole.to_words());
    ASSERT_EQ(bits(sum.template round<double>()), bits(whole.template round<double>()));
    ASSERT_EQ(bits(exact_sum<TypeParam>::template round_words<float>(total.data())),
              bits(whole.template round<float>()));
    ASSERT_EQ(bits(exact_sum<TypeParam>::template round_root_words<double>(total.data())),
              bits(whole.template round_root<double>()));
  }
}

EXACT_SUM_TEST(NormalFormIsNormal) {
  using sum_type = exact_sum<TypeParam>;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto x = oracle::any_finite<TypeParam>(1 + seed % 5, seed);
    const auto words = this->dot_of(x, oracle::any_finite<TypeParam>(x.size(), ~seed)).to_words();
    for (std::size_t i = 0; i + 1 < sum_type::limbs; ++i) {
      EXPECT_EQ(words[i] & 0xffffffff, words[i]);
    }
    const std::int64_t last = words[sum_type::limbs - 1];
    EXPECT_TRUE(last == 0 || last == -1);
    EXPECT_EQ(sum_type::from_words(words).to_words(), words);
  }
}

EXACT_SUM_TEST(TwoToThe30NormalForms) {
  using sum_type = exact_sum<TypeParam>;
  // Limbs at their limits, of both signs.
  std::array<std::int64_t, sum_type::words> words = {};
  for (std::size_t i = 0; i + 1 < sum_type::limbs; ++i) words[i] = 0xffffffff;
  for (const std::int64_t last : {std::int64_t{3}, std::int64_t{-4}, std::int64_t{-1}}) {
    words[sum_type::limbs - 1] = last;
    const auto one = sum_type::from_words(words);
    EXPECT_EQ(one.to_words(), words);
    auto many = words;
    for (auto& word : many) word *= std::int64_t{1} << 30;
    oracle::number want = number(one);
    want.scale(30);
    expect_equal(sum_type::from_words(many), want);
    EXPECT_EQ(bits(sum_type::template round_words<double>(many.data())),
              bits(want.rounded<double>()));
    auto merged = one;
    for (int i = 0; i < 30; ++i) merged.merge(merged);
    EXPECT_EQ(merged, sum_type::from_words(many));
    expect_equal(merged, want);
  }
}

EXACT_SUM_TEST(SpecialValues) {
  using limits = typename TestFixture::limits;
  std::vector<TypeParam> values = {0,
                                   1,
                                   3,
                                   limits::max(),
                                   limits::min(),
                                   limits::denorm_min(),
                                   limits::infinity(),
                                   limits::quiet_NaN(),
                                   limits::signaling_NaN()};
  for (std::size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
  for (const TypeParam a : values) {
    this->compare_sum({a});
    for (const TypeParam b : values) {
      this->compare_sum({a, b});
      this->compare_dot({a}, {b});
      for (const TypeParam c : values) {
        this->compare_sum({a, b, c});
        this->compare_dot({a, 1}, {b, c});
        this->compare_dot({a, c}, {b, b});
      }
    }
  }
}

EXACT_SUM_TEST(SpecialValuesMergeAndAddUp) {
  using limits = typename TestFixture::limits;
  using sum_type = exact_sum<TypeParam>;
  const TypeParam values[] = {1, limits::infinity(), -limits::infinity(), limits::quiet_NaN()};
  for (const TypeParam a : values) {
    for (const TypeParam b : values) {
      sum_type x, y;
      x.add(a);
      y.add(b);
      auto words = x.to_words();
      const auto more = y.to_words();
      for (std::size_t i = 0; i < words.size(); ++i) words[i] += more[i];
      oracle::number want;
      want.add(a);
      want.add(b);
      x.merge(y);
      expect_equal(x, want);
      expect_equal(sum_type::from_words(words), want);
      EXPECT_EQ(sum_type::from_words(words).to_words(), x.to_words());
      for (auto& word : words) word *= 1 << 28;
      EXPECT_EQ(sum_type::from_words(words).to_words()[sum_type::nan_word], want.nan());
    }
  }
  // Terms that cancelled leave no trace.
  sum_type sum, infinite;
  sum.add(3);
  sum.add(limits::infinity());
  infinite.add(limits::infinity());
  EXPECT_EQ(sum.to_words(), infinite.to_words());
  EXPECT_EQ(sum, infinite);
}

EXACT_SUM_TEST(RoundsSubnormals) {
  // Quarters and eighths of the smallest number.
  for (const int quantum : {-1074 - 3, -149 - 3}) {
    if (quantum < exact_sum<TypeParam>::lowest_exponent) continue;
    for (std::int64_t m = -100; m <= 100; ++m) {
      for (const std::int64_t behind : {-1, 0, 1}) {
        exact_sum<TypeParam> sum = scaled<TypeParam>(m, quantum);
        sum.add_scaled(behind, exact_sum<TypeParam>::lowest_exponent);
        oracle::number want;
        want.add_scaled(m, quantum);
        want.add_scaled(behind, exact_sum<TypeParam>::lowest_exponent);
        expect_equal(sum, want);
      }
    }
    for (const int normal : {-1022, -126}) {
      for (std::int64_t m = -9; m <= 9; ++m) {
        if (quantum > normal - 10) continue;
        exact_sum<TypeParam> sum = scaled<TypeParam>(1, normal);
        sum.add_scaled(m, quantum);
        oracle::number want;
        want.add_scaled(1, normal);
        want.add_scaled(m, quantum);
        expect_equal(sum, want);
      }
    }
  }
}

EXACT_SUM_TEST(RoundsTiesToEven) {
  using sum_type = exact_sum<TypeParam>;
  std::mt19937_64 random(1);
  for (const int digits : {24, 53}) {
    for (int repeat = 0; repeat < 2000; ++repeat) {
      // An odd or even significand, half a unit, and a bit behind, or none.
      const std::int64_t m =
          static_cast<std::int64_t>(random() >> (64 - digits)) | std::int64_t{1} << (digits - 1);
      const int highest = sum_type::highest_exponent;
      const int exponent =
          sum_type::lowest_exponent + 1 +
          static_cast<int>(random() % static_cast<unsigned>(highest - sum_type::lowest_exponent));
      const int behind =
          sum_type::lowest_exponent +
          static_cast<int>(random() % static_cast<unsigned>(exponent - sum_type::lowest_exponent));
      for (const int sign : {-1, 1}) {
        for (const int more : {-1, 0, 1}) {
          sum_type sum = scaled<TypeParam>(sign * m, exponent);
          sum.add_scaled(sign, exponent - 1);
          sum.add_scaled(more, behind);
          oracle::number want;
          want.add_scaled(sign * m, exponent);
          want.add_scaled(sign, exponent - 1);
          want.add_scaled(more, behind);
          expect_equal(sum, want);
        }
      }
    }
  }
}

EXACT_SUM_TEST(RoundsToOverflow) {
  using sum_type = exact_sum<TypeParam>;
  const auto check = [](auto largest) {
    using R = decltype(largest);
    using limits = std::numeric_limits<R>;
    const int half = limits::max_exponent - limits::digits - 1;  // exponent of half a unit
    for (const int sign : {-1, 1}) {
      for (const int units : {-1, 0, 1, 2}) {
        for (const int behind : {-1, 0, 1}) {
          sum_type sum;
          oracle::number want;
          const std::int64_t m = (std::int64_t{1} << limits::digits) - 1;
          for (const auto& [factor, exponent] : {std::pair<std::int64_t, int>{m, half + 1},
                                                 {units, half},
                                                 {behind, sum_type::lowest_exponent}}) {
            sum.add_scaled(sign * factor, exponent);
            want.add_scaled(sign * factor, exponent);
          }
          expect_equal(sum, want);
          const bool infinite = units > 1 || (units == 1 && behind >= 0);
          EXPECT_EQ(std::isinf(sum.template round<R>()), infinite);
        }
      }
    }
  };
  check(float{});
  if constexpr (std::is_same_v<TypeParam, double>) check(double{});
}

EXACT_SUM_TEST(ScaledIntegers) {
  using sum_type = exact_sum<TypeParam>;
  std::mt19937_64 random(2);
  const std::int64_t corners[] = {1,
                                  -1,
                                  0xffffffff,
                                  -0xffffffff,
                                  std::int64_t{1} << 32,
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::min() + 1};
  for (int exponent = sum_type::lowest_exponent; exponent <= sum_type::highest_exponent;
       ++exponent) {
    sum_type sum;
    oracle::number want;
    std::array<std::int64_t, sum_type::words> words = {};
    const auto add = [&](std::int64_t m) {
      sum.add_scaled(m, exponent);
      want.add_scaled(m, exponent);
      std::int64_t pieces[3];
      const int first = sum_type::split(m, exponent, pieces);
      for (int j = 0; j < 3; ++j) {
        EXPECT_LT(std::abs(pieces[j]), std::int64_t{1} << 32);
        words[static_cast<std::size_t>(first + j)] += pieces[j];
      }
    };
    for (const std::int64_t m : corners) {
      add(m);
      expect_equal(scaled<TypeParam>(m, exponent), [&] {
        oracle::number one;
        one.add_scaled(m, exponent);
        return one;
      }());
    }
    for (int i = 0; i < 10; ++i) add(static_cast<std::int64_t>(random()) >> (random() % 64));
    expect_equal(sum, want);
    // From a kernel's limbs, before and after carrying.
    EXPECT_EQ(bits(sum_type::template round_words<double>(words.data())),
              bits(want.rounded<double>()));
    EXPECT_EQ(bits(sum_type::template round_root_words<float>(words.data())),
              bits(want.rounded_root<float>()));
    EXPECT_EQ(sum_type::from_words(words), sum);
  }
}

EXACT_SUM_TEST(ScaledIntegersOutOfRange) {
  using sum_type = exact_sum<TypeParam>;
  for (const int exponent : {sum_type::lowest_exponent - 1, sum_type::highest_exponent + 1,
                             std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    sum_type sum;
    sum.add_scaled(0, exponent);
    EXPECT_EQ(sum, sum_type());
    try {
      sum.add_scaled(1, exponent);
      FAIL() << exponent;
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), tally::errc::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(std::to_string(exponent)), std::string::npos);
    }
    EXPECT_TRUE(std::isnan(sum.template round<double>()));
  }
}

EXACT_SUM_TEST(HundredMillionEqualTerms) {
  constexpr std::int64_t n = 100'000'000;
  const TypeParam x = TypeParam(-0.1), y = TypeParam(1) / 3;
  exact_sum<TypeParam> sum;
  for (std::int64_t i = 0; i < n; ++i) sum.add(x);
  oracle::number want;
  want.add_product(x, n);
  expect_equal(sum, want);
  for (std::int64_t i = 0; i < n; ++i) sum.add_product(x, y);
  exact_sum<TypeParam> product;
  product.add_product(x, y);
  want.add_multiple(number(product), n);
  expect_equal(sum, want);
  // Past the 2^30 deposits that a limb has room for.
  for (int doublings = 1; doublings <= 40; ++doublings) {
    sum.merge(sum);
    want.scale(1);
    expect_equal(sum, want);
  }
}

EXACT_SUM_TEST(LargestPiecesManyTimes) {
  // -1 has limbs of 2^32 - 1, the largest deposit, at both ends. 29 doublings stay one below the
  // limit.
  using sum_type = exact_sum<TypeParam>;
  for (const int exponent : {sum_type::lowest_exponent, sum_type::highest_exponent}) {
    for (const std::int64_t m : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()}) {
      sum_type sum = scaled<TypeParam>(m, exponent);
      oracle::number want;
      want.add_scaled(m, exponent);
      for (int doublings = 0; doublings < 50; ++doublings) {
        expect_equal(sum, want);
        // As many deposits again, then twice as many.
        sum_type more = sum;
        oracle::number want_more;
        for (int i = 0; i < 100; ++i) more.add_scaled(m, exponent);
        want_more.add_scaled(m, exponent);
        want_more.add_multiple(want_more, 99);
        want_more.add(want);
        expect_equal(more, want_more);
        more.merge(more);
        want_more.scale(1);
        expect_equal(more, want_more);

        sum.merge(sum);
        sum.add_scaled(m, exponent);
        want.scale(1);
        want.add_scaled(m, exponent);
      }
    }
  }
}

EXACT_SUM_TEST(Capacity) {
  using sum_type = exact_sum<TypeParam>;
  const TypeParam largest = std::numeric_limits<TypeParam>::max();
  for (const TypeParam sign : {TypeParam(1), TypeParam(-1)}) {
    sum_type sum;
    sum.add_product(sign * largest, largest);
    oracle::number want;
    want.add_product(sign * largest, largest);
    for (int doublings = 1; doublings <= 63; ++doublings) {  // 2^63 of the largest terms
      sum.merge(sum);
      want.scale(1);
      expect_equal(sum, want);
    }
    // Back to zero.
    sum_type back = sum, minus;
    minus.add_product(-sign * largest, largest);
    for (int doublings = 1; doublings <= 63; ++doublings) minus.merge(minus);
    back.merge(minus);
    EXPECT_EQ(back, sum_type());

    // Throws at the next carry at the latest.
    try {
      for (int doublings = 0; doublings < 40; ++doublings) sum.merge(sum);
      FAIL();
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), tally::errc::invalid_argument);
    }
    EXPECT_TRUE(std::isnan(sum.template round<double>()));
    EXPECT_EQ(sum.to_words()[sum_type::nan_word], 1);
    sum.add(1);
    sum.merge(sum);
    EXPECT_TRUE(std::isnan(sum.template round<double>()));
  }
}

EXACT_SUM_TEST(CapacityOfTheNormalForm) {
  using sum_type = exact_sum<TypeParam>;
  constexpr std::int64_t radix = std::int64_t{1} << 32;
  std::array<std::int64_t, sum_type::words> words = {};
  for (std::size_t i = 0; i + 1 < sum_type::limbs; ++i) words[i] = radix - 1;
  for (const std::int64_t last : {radix - 1, -radix}) {
    words[sum_type::limbs - 1] = last;
    EXPECT_EQ(sum_type::from_words(words).to_words(), words);
    EXPECT_TRUE(std::isinf(sum_type::from_words(words).template round<TypeParam>()));
  }
  for (const std::int64_t last : {radix, -radix - 1, radix << 30, -(radix << 30)}) {
    words[sum_type::limbs - 1] = last;
    EXPECT_THROW((void)sum_type::from_words(words), tally::error);
  }
  // A unit at the bottom carries to the top.
  words[sum_type::limbs - 1] = radix - 1;
  sum_type sum = sum_type::from_words(words);
  sum.add_scaled(1, sum_type::lowest_exponent);
  EXPECT_THROW((void)sum.to_words(), tally::error);
  EXPECT_TRUE(std::isinf(sum.template round<TypeParam>()));
}

EXACT_SUM_TEST(Roots) {
  using sum_type = exact_sum<TypeParam>;
  std::mt19937_64 random(5);
  // Squares, squares of midpoints between results, and both with a bit behind.
  for (const int digits : {23, 24, 25, 27, 52, 53, 54, 55, 56, 57}) {
    for (int repeat = 0; repeat < 500; ++repeat) {
      std::uint64_t leading = random() | std::uint64_t{1} << 63;
      if (repeat % 8 == 0) leading |= ~std::uint64_t{0} << (random() % 60);  // just below 2^64
      if (repeat % 8 == 1) leading = std::uint64_t{1} << 63 | leading >> (10 + random() % 54);
      const auto k = static_cast<std::int64_t>(leading >> (64 - digits)) | 1;
      const int room = (sum_type::highest_exponent - sum_type::lowest_exponent) / 2 - 48;
      const int exponent =
          sum_type::lowest_exponent / 2 + static_cast<int>(random() % static_cast<unsigned>(room));
      for (const int behind : {-2, -1, 0, 1, 2}) {  // far below, or in the last digit
        sum_type sum;
        oracle::number want;
        // k^2 * 4^exponent in two halves of k
        const std::int64_t a = k >> 27, b = k & ((1 << 27) - 1);
        for (const auto& [m, shift] :
             {std::pair<std::int64_t, int>{a * a, 54}, {2 * a * b, 27}, {b * b, 0}}) {
          if (m == 0) continue;
          sum.add_scaled(m, 2 * exponent + shift);
          want.add_scaled(m, 2 * exponent + shift);
        }
        const int place = std::abs(behind) == 1 ? sum_type::lowest_exponent : 2 * exponent;
        sum.add_scaled(behind, place);
        want.add_scaled(behind, place);
        expect_equal(sum, want);
        if (behind == 0 && digits <= 24 && exponent > -149 && exponent < 100) {
          EXPECT_EQ(sum.template round_root<float>(), std::ldexp(static_cast<float>(k), exponent));
        }
      }
    }
  }
  EXPECT_EQ(scaled<TypeParam>(2, 0).template round_root<double>(), std::sqrt(2.0));
  EXPECT_EQ(bits(exact_sum<TypeParam>().template round_root<double>()), 0u);
  EXPECT_EQ(bits(scaled<TypeParam>(-1, 0).template round_root<double>()), 0x7ff8000000000000u);
}

EXACT_SUM_TEST(RootsThatAreSubnormal) {
  using sum_type = exact_sum<TypeParam>;
  // (m / 4)^2 of the smallest number, and neighbours; of doubles the largest quarters that fit.
  for (const int quantum : {-1074, -149}) {
    const int exponent = 2 * quantum - 4;
    if (exponent < sum_type::lowest_exponent) continue;
    for (std::int64_t m = 0; m <= 200; ++m) {
      for (const std::int64_t more : {-1, 0, 1}) {
        for (const int behind : {exponent, sum_type::lowest_exponent}) {
          if (m == 0 && more < 0) continue;
          sum_type sum;
          oracle::number want;
          sum.add_scaled(m * m, exponent);
          sum.add_scaled(more, behind);
          want.add_scaled(m * m, exponent);
          want.add_scaled(more, behind);
          expect_equal(sum, want);
        }
      }
    }
  }
}

EXACT_SUM_TEST(RootsThatOverflow) {
  using sum_type = exact_sum<TypeParam>;
  const auto check = [](auto result) {
    using R = decltype(result);
    const R largest = std::numeric_limits<R>::max();
    sum_type sum;
    sum.add_product(static_cast<TypeParam>(largest), static_cast<TypeParam>(largest));
    EXPECT_EQ(sum.template round_root<R>(), largest);
    EXPECT_TRUE(std::isinf(sum.template round<R>()));
    // (max + half a unit)^2 = max^2 + max * unit + unit^2 / 4 is the first to overflow.
    using limits = std::numeric_limits<R>;
    const auto unit = std::ldexp(TypeParam(1), limits::max_exponent - limits::digits);
    sum.add_product(static_cast<TypeParam>(largest), unit);
    EXPECT_EQ(sum.template round_root<R>(), largest);
    sum.add_product(unit / 2, unit / 2);
    EXPECT_TRUE(std::isinf(sum.template round_root<R>()));
    sum.add_scaled(-1, sum_type::lowest_exponent);
    EXPECT_EQ(sum.template round_root<R>(), largest);
    sum.merge(sum);
    EXPECT_TRUE(std::isinf(sum.template round_root<R>()));
  };
  check(float{});
  if constexpr (std::is_same_v<TypeParam, double>) check(double{});
}

EXACT_SUM_TEST(Comparison) {
  using sum_type = exact_sum<TypeParam>;
  using limits = typename TestFixture::limits;
  std::vector<sum_type> sums;
  std::vector<oracle::number> numbers;
  const auto add = [&](std::vector<TypeParam> x) {
    sums.push_back(TestFixture::sum_of(x));
    numbers.emplace_back();
    for (const TypeParam v : x) numbers.back().add(v);
  };
  for (const TypeParam v :
       {TypeParam(0), TypeParam(1), limits::max(), limits::denorm_min(), limits::infinity()}) {
    add({v});
    add({-v});
  }
  add({1, limits::denorm_min()});
  add({1, -limits::denorm_min()});
  add({-1, limits::denorm_min()});
  add({-1, -limits::denorm_min()});
  add({3, -2, limits::max(), -limits::max()});  // 1 again
  add({-1, -1, 1});                             // -1 again
  add({1, -1, 2, -2});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    add(oracle::uniform<TypeParam>(20, seed));
    add(oracle::any_finite<TypeParam>(20, seed));
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const int want = compare(numbers[i], numbers[j]);
      EXPECT_EQ(sums[i] == sums[j], want == 0);
      EXPECT_EQ(sums[i] <=> sums[j], want <=> 0) << i << ' ' << j;
      const auto normal = sum_type::from_words(sums[i].to_words());
      EXPECT_EQ(normal <=> sums[j], want <=> 0) << i << ' ' << j;
    }
    sum_type nan;
    nan.add(limits::quiet_NaN());
    EXPECT_EQ(sums[i] <=> nan, std::partial_ordering::unordered);
    EXPECT_EQ(nan <=> sums[i], std::partial_ordering::unordered);
    EXPECT_FALSE(nan == sums[i]);
    EXPECT_FALSE(nan == nan);
  }
}

EXACT_SUM_TEST(RangesAreTheirElements) {
  using sum_type = exact_sum<TypeParam>;
  const auto x = oracle::uniform<TypeParam>(100, 1), y = oracle::uniform<TypeParam>(100, 2);
  sum_type a, b, c;
  a.add(x);
  a.add_products(x, y);
  b.add(x.data(), x.size());
  b.add_products(x.data(), y.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    c.add(x[i]);
    c.add_product(x[i], y[i]);
  }
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, c);
  try {
    a.add_products(x, std::span(y).first(99));
    FAIL();
  } catch (const tally::error& e) {
    EXPECT_EQ(e.code(), tally::errc::size_mismatch);
  }
  EXPECT_EQ(a, b);
}

EXACT_SUM_TEST(RoundingModeDoesNotEnter) {
  const auto v = oracle::ill_conditioned<TypeParam>(100, 1e20, 1);
  oracle::number want;
  for (std::size_t i = 0; i < v.x.size(); ++i) want.add_product(v.x[i], v.y[i]);
  const auto expected = want.rounded<double>(), root = want.rounded_root<double>();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto sum = this->dot_of(v.x, v.y);
    const double rounded = sum.template round<double>();
    const double rounded_root = sum.template round_root<double>();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(bits(rounded), bits(expected));
    EXPECT_EQ(bits(rounded_root), bits(root));
  }
}

TEST(ExactSumOfDoubles, HoldsFloatsAndIntegers) {
  exact_sum<double> sum;
  oracle::number want;
  for (const float v : oracle::any_finite<float>(1000, 1)) {
    sum.add_product(v, v);
    want.add_product(v, v);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto m = static_cast<std::int64_t>(random());
    sum.add_scaled(m, 0);
    want.add(m);
  }
  expect_equal(sum, want);
}

// The oracle, on known cases.
TEST(Oracle, RoundsAsTheProcessorDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto x = oracle::any_finite<double>(2, random());
    oracle::number sum, product;
    sum.add(x[0]);
    sum.add(x[1]);
    product.add_product(x[0], x[1]);
    EXPECT_EQ(bits(sum.rounded<double>()), bits(x[0] + x[1]));
    EXPECT_EQ(bits(product.rounded<double>()), bits(x[0] * x[1]));
    oracle::number one;
    one.add(std::abs(x[0]));
    EXPECT_EQ(bits(one.rounded<float>()), bits(static_cast<float>(std::abs(x[0]))));
    EXPECT_EQ(bits(one.rounded_root<double>()), bits(std::sqrt(std::abs(x[0]))));
  }
}

/// Few terms with exponents over at most `range` binades, some of them zeros or opposite.
template <class R>
void expect_window_sums(int highest, int range) {
  using tally::backends::window_sum;
  std::mt19937_64 random(static_cast<std::uint64_t>(highest + 5000));
  int fitting = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<R> terms(random() % (window_sum::max_terms + 1));
    for (R& t : terms) {
      const auto bits = static_cast<std::int64_t>(random());
      const int down = static_cast<int>(random() % static_cast<std::uint64_t>(range + 1));
      t = std::ldexp(static_cast<R>(bits) / R(0x1p63), highest - down);
      if (random() % 8 == 0) t = 0;
      if (random() % 4 == 0) t = -terms[0];
    }
    exact_sum<double> right;
    constexpr int none = std::numeric_limits<int>::min();
    int top = none;
    for (const double t : terms) {
      right.add(t);
      if (t != 0) top = std::max(top, window_sum::term(t).exponent);
    }
    window_sum sum(top == none ? 0 : top);
    bool fits = true;
    for (const double t : terms) fits = sum.add(window_sum::term(t)) && fits;
    if (!fits) continue;
    ++fitting;
    EXPECT_EQ(bits(sum.round<R>()), bits(right.round<R>())) << i;
  }
  EXPECT_GT(fitting, range < 60 ? 3999 : 100);
}

TEST(WindowSum, IsRightOrSaysThatTermsDoNotFit) {
  for (const int range : {0, 3, 50, 90}) {
    for (const int highest : {0, 1023, 1000, -950, -1022, -1060}) {
      expect_window_sums<double>(highest, range);
    }
    for (const int highest : {0, 127, 110, -60, -126, -140}) {
      expect_window_sums<float>(highest, range);
    }
  }
}

}  // namespace
