// sum_of_squares, max_norm and norms with weights: the bits of a transcription, for pairs of types,
// masks, sizes and strides, in both grades.
#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/transcription.hpp"

#include <tally/numerics/exact_sum.hpp>
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

using data::kind;
using data::layout;
using tally::operand;
using tally::reduction;
using tally::type;
using tally::weighted_norm;
using tally::order::chunk;

template <class T>
std::vector<T> random(std::size_t n, std::uint64_t seed, kind k = kind::plain) {
  return data::elements_of<T>(data::random_bytes<T>(n, seed, k));
}

template <class R, class T>
R number(T value) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<R>(static_cast<float>(value));
  } else {
    return static_cast<R>(value);
  }
}

/// A NaN is the positive quiet one.
template <class R>
R canonical(R value) {
  return value == value ? value : std::numeric_limits<R>::quiet_NaN();
}

/// x_i * w_i, 0 where there is a mask that is not positive.
template <class R, class X, class W, class M>
std::vector<R> products(const std::vector<X>& x, const std::vector<W>& w, const std::vector<M>* m) {
  std::vector<R> all(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (m == nullptr || number<double>(static_cast<M>((*m)[i])) > 0)
      all[i] = number<R>(static_cast<X>(x[i])) * number<R>(static_cast<W>(w[i]));
  }
  return all;
}

template <class R>
R finished(R s, weighted_norm what, std::size_t n) {
  if (what == weighted_norm::root) s = std::sqrt(s);
  if (what == weighted_norm::root_mean) s = std::sqrt(s / static_cast<R>(n == 0 ? 1 : n));
  return canonical(s);
}

template <class R>
R expected(const std::vector<R>& p, weighted_norm what, bool exact) {
  if (!exact) {
    const R s = transcription::reduce(
        p.size(), [&](std::size_t i) { return p[i] * p[i]; }, R{0}, [](R a, R b) { return a + b; });
    return finished(s, what, p.size());
  }
  tally::exact_sum<double> sum;
  for (const R each : p) sum.add_product(each, each);
  if (what == weighted_norm::root) return sum.template round_root<R>();
  return finished(sum.template round<R>(), what, p.size());
}

constexpr weighted_norm all_norms[] = {weighted_norm::squares, weighted_norm::root,
                                       weighted_norm::root_mean};

class Norms : public data::OnEveryExecutor {
 protected:
  operand placed(std::unique_ptr<data::buffer>& memory, const std::vector<std::byte>& elements,
                 type element, layout l) {
    const auto step = static_cast<std::size_t>(std::abs(l.increment));
    const std::size_t needed = step * elements.size() + 4096;
    if (!memory || memory->size() < needed)
      memory = std::make_unique<data::buffer>(where(), needed);
    return data::place(*memory, elements, element, l);
  }

  /// Compares all forms of one data set.
  template <class R, class X, class W, class M = double>
  void compare(const std::vector<X>& x, const std::vector<W>& w, const std::vector<M>* m = nullptr,
               layout l = {}, layout of_w = {}, layout of_m = {}) {
    const operand ox = placed(x_, data::bytes_of(x), tally::type_of<X>, l);
    const operand ow = placed(w_, data::bytes_of(w), tally::type_of<W>, of_w);
    std::optional<operand> om;
    if (m) om = placed(m_, data::bytes_of(*m), tally::type_of<M>, of_m);
    if (!r_) r_ = std::make_unique<data::buffer>(where(), 64);
    const auto p = products<R>(x, w, m);
    for (const weighted_norm what : all_norms) {
      for (const bool exact : {false, true}) {
        const R want = expected(p, what, exact);
        const tally::grade g = exact ? tally::grade(tally::exact) : tally::grade();
        const std::string label =
            std::string(tally::name(ox.element)) + " with " + std::string(tally::name(ow.element)) +
            (m ? ", masked" : "") + (exact ? ", exact" : "") + ", norm " +
            std::to_string(static_cast<int>(what)) + ", n = " + std::to_string(x.size());
        R got = 7;
        tally::reduce_weighted(where(), {ox, ow, om, what, {&got, tally::type_of<R>}, {g, true}});
        ASSERT_EQ(data::bits(got), data::bits(want)) << label;
        tally::reduce_weighted(where(),
                               {ox, ow, om, what, {r_->get(), tally::type_of<R>}, {g, false}});
        r_->read(&got, sizeof got);
        ASSERT_EQ(data::bits(got), data::bits(want)) << label << ", written";
      }
    }
  }

 private:
  std::unique_ptr<data::buffer> x_, w_, m_, r_;
};

TEST_ON_EVERY_EXECUTOR(Norms, EverySize) {
  for (const std::size_t n : data::short_sizes({33 * chunk + 33})) {
    const auto x = random<double>(n, n + 1), w = random<double>(n, n + 2), m = random<double>(n, 3);
    ASSERT_NO_FATAL_FAILURE(compare<double>(x, w));
    ASSERT_NO_FATAL_FAILURE(compare<double>(x, w, &m));
    const auto f = random<float>(n, n + 4), g = random<float>(n, n + 5), h = random<float>(n, 6);
    ASSERT_NO_FATAL_FAILURE(compare<float>(f, g));
    ASSERT_NO_FATAL_FAILURE(compare<float>(f, g, &h));
  }
}

TEST_ON_EVERY_EXECUTOR(Norms, OtherTypes) {
  for (const std::size_t n : {std::size_t{5}, 2 * chunk + 77}) {
    const auto all = [&]<class R, class X, class W, class M>() {
      const auto m = random<M>(n, 9);
      compare<R>(random<X>(n, 7), random<W>(n, 8));
      compare<R>(random<X>(n, 7), random<W>(n, 8), &m);
    };
    ASSERT_NO_FATAL_FAILURE((all.operator()<double, float, float, bool>()));
    ASSERT_NO_FATAL_FAILURE((all.operator()<double, float, double, std::int8_t>()));
    ASSERT_NO_FATAL_FAILURE((all.operator()<float, float, float, double>()));
    ASSERT_NO_FATAL_FAILURE((all.operator()<float, tally::float16, tally::bfloat16, float>()));
    ASSERT_NO_FATAL_FAILURE((all.operator()<double, std::int32_t, std::int64_t, std::int64_t>()));
    ASSERT_NO_FATAL_FAILURE((all.operator()<double, bool, double, tally::float16>()));
    ASSERT_NO_FATAL_FAILURE((all.operator()<float, std::uint8_t, float, std::uint8_t>()));
  }
}

TEST_ON_EVERY_EXECUTOR(Norms, WideRangesAndSpecialValues) {
  for (const kind k : {kind::wide, kind::special}) {
    for (const std::size_t n : {std::size_t{3}, chunk + 75}) {
      const auto x = random<double>(n, 11, k), w = random<double>(n, 12, k),
                 m = random<double>(n, 13, k);
      ASSERT_NO_FATAL_FAILURE(compare<double>(x, w));
      ASSERT_NO_FATAL_FAILURE(compare<double>(x, w, &m));
      const auto f = random<float>(n, 14, k);
      ASSERT_NO_FATAL_FAILURE(compare<float>(f, random<float>(n, 15, k)));
      ASSERT_NO_FATAL_FAILURE(compare<float>(f, random<float>(n, 15, k), &m));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Norms, EveryAlignmentAndStride) {
  const std::size_t n = 3 * chunk + 5;
  const auto x = random<double>(n, 21), w = random<double>(n, 22), m = random<double>(n, 23);
  for (const layout l : {layout{.offset = 1}, layout{.offset = 3}, layout{.increment = 2},
                         layout{.increment = -3}}) {
    ASSERT_NO_FATAL_FAILURE(compare<double>(x, w, &m, l));
    ASSERT_NO_FATAL_FAILURE(compare<double>(x, w, &m, {}, l));
    ASSERT_NO_FATAL_FAILURE(compare<double>(x, w, &m, {}, {}, l));
    ASSERT_NO_FATAL_FAILURE(
        compare<double>(x, w, static_cast<const std::vector<double>*>(nullptr), l, l));
  }
}

// Exact, as `dot` and `asum` are.
TEST(NormsOfIntegers, HaveTheTypeOfAsum) {
  const tally::executor on = tally::serial();
  const auto check = [&]<class X>(std::type_identity<X>) {
    using vector = std::vector<X>;
    static_assert(std::is_same_v<decltype(tally::sum_of_squares(on, vector())),
                                 decltype(tally::asum(on, vector()))>);
    static_assert(std::is_same_v<decltype(tally::max_norm(on, vector())),
                                 decltype(tally::asum(on, vector()))>);
  };
  std::apply([&](auto... x) { (check(std::type_identity<decltype(x)>()), ...); },
             std::tuple<std::int8_t, std::uint8_t, std::int32_t, std::int64_t, float, double,
                        tally::float16, tally::bfloat16>());
  const std::vector<std::int64_t> large = {-((std::int64_t{1} << 53) + 1)};
  const std::vector<std::int32_t> many(3, std::numeric_limits<std::int32_t>::max());
  for (const tally::executor& where : {on, tally::simd()}) {
    EXPECT_EQ(tally::max_norm(where, large), -large[0]);
    EXPECT_EQ(tally::sum_of_squares(where, many), tally::dot(where, many, many));
    std::int64_t result = 0;
    tally::max_norm(where, large, &result);
    EXPECT_EQ(result, -large[0]);
  }
}

// Short vectors go another way where the result is returned.
TEST_ON_EVERY_EXECUTOR(Norms, ReturnedAndWritten) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    for (const std::size_t n : {1, 2, 7, 8, 33, 100, 1000, 3001}) {
      std::vector<R> x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<R>(i * 7919 % 1009) - 500;
      for (const R last :
           {x.back(), std::numeric_limits<R>::infinity(), -std::numeric_limits<R>::quiet_NaN()}) {
        x.back() = last;
        const data::placed<R> v(where(), x), written(where(), std::vector<R>(2));
        R* const to = written.span().data();
        tally::max_norm(where(), v.span(), to);
        tally::sum_of_squares(where(), v.span(), to + 1);
        const R returned[] = {tally::max_norm(where(), v.span()),
                              tally::sum_of_squares(where(), v.span())};
        const auto values = written.read();
        EXPECT_EQ(data::bits(returned[0]), data::bits(values[0])) << "max_norm of " << n;
        EXPECT_EQ(data::bits(returned[1]), data::bits(values[1])) << "sum_of_squares of " << n;
      }
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST_ON_EVERY_EXECUTOR(Norms, ByName) {
  const std::vector<double> x = {3, -4, 5}, w = {2, 1, -1}, m = {1, 0, -0.0};
  data::buffer bx(where(), 24), bw(where(), 24), bm(where(), 24), br(where(), 8);
  bx.write(x.data(), 24), bw.write(w.data(), 24), bm.write(m.data(), 24);
  const auto of = [](data::buffer& b) {
    return std::span(reinterpret_cast<double*>(b.get()), std::size_t{3});
  };
  EXPECT_EQ(tally::sum_of_squares(where(), of(bx)), 50);
  EXPECT_EQ(tally::sum_of_squares(where(), of(bx), tally::exact), 50);
  EXPECT_EQ(tally::max_norm(where(), of(bx)), 5);
  EXPECT_EQ(tally::weighted_sum_of_squares(where(), of(bx), of(bw)), 77);
  EXPECT_EQ(tally::weighted_nrm2(where(), of(bx), of(bw)), std::sqrt(77.0));
  EXPECT_EQ(tally::wrms_norm(where(), of(bx), of(bw)), std::sqrt(77.0 / 3));
  EXPECT_EQ(tally::wrms_norm_mask(where(), of(bx), of(bw), of(bm)), std::sqrt(12.0));
  EXPECT_EQ(tally::wrms_norm_mask(where(), of(bx), of(bw), of(bm), tally::exact), std::sqrt(12.0));
  auto* const r = reinterpret_cast<double*>(br.get());
  const auto written = [&] {
    double value = 0;
    br.read(&value, sizeof value);
    return value;
  };
  tally::sum_of_squares(where(), of(bx), r);
  EXPECT_EQ(written(), 50);
  tally::max_norm(where(), of(bx), r);
  EXPECT_EQ(written(), 5);
  tally::wrms_norm_mask(where(), of(bx), of(bw), of(bm), r, tally::exact);
  EXPECT_EQ(written(), std::sqrt(12.0));
  tally::exact_sum<double> sum;
  tally::wrms_norm(where(), of(bx), of(bw), tally::add_to(sum));
  tally::weighted_sum_of_squares(where(), of(bx), of(bw), tally::add_to(sum));
  EXPECT_EQ(sum.round<double>(), 154);
}

TEST_ON_EVERY_EXECUTOR(Norms, MaxNormOfEveryType) {
  const auto check = [&]<class X>(std::type_identity<X>) {
    if constexpr (!tally::is_complex_v<X>) {
      using A = tally::asum_result_t<X>;
      for (const kind k : {kind::plain, kind::wide, kind::special}) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2000}}) {
          const auto x = random<X>(n, 31, k);
          bool has_nan = false;
          double largest = 0;
          std::uint64_t largest_integer = 0;
          for (const X each : x) {
            if constexpr (std::is_integral_v<A>) {
              const auto v = static_cast<std::int64_t>(each);
              const auto u = static_cast<std::uint64_t>(v);
              largest_integer = std::max(largest_integer, v < 0 ? 0 - u : u);
            } else {
              const double v = std::abs(number<double>(each));
              has_nan |= v != v;
              largest = std::max(largest, v == v ? v : 0);
            }
          }
          A want = static_cast<A>(largest);
          if constexpr (std::is_integral_v<A>) {
            want = static_cast<A>(largest_integer);
          } else if (has_nan) {
            want = std::numeric_limits<A>::quiet_NaN();
          }
          data::buffer memory(where(), x.size() * sizeof(X) + 64);
          const operand v = data::place(memory, data::bytes_of(x), tally::type_of<X>, {});
          A got = 7;
          tally::reduce(where(), {v, reduction::max_norm, {&got, tally::type_of<A>}});
          ASSERT_EQ(data::bits(got), data::bits(want)) << tally::name(v.element) << ", n = " << n;
        }
      }
    }
  };
  data::for_each_type(check);
}

TEST_ON_EVERY_EXECUTOR(Norms, SumOfSquaresIsTheDotProduct) {
  const auto x = random<double>(3000, 41);
  data::buffer memory(where(), x.size() * sizeof(double) + 64);
  const operand v = data::place(memory, data::bytes_of(x), type::float64, {});
  for (const bool exact : {false, true}) {
    const tally::call_options options = {exact ? tally::grade(tally::exact) : tally::grade(), true};
    double squares = 0, products = 1;
    tally::reduce(where(), {v, reduction::sum_of_squares, {&squares, type::float64}, options});
    tally::dot(where(), tally::dot_arguments{
                            v, v, tally::conjugate::none, {&products, type::float64}, options});
    EXPECT_EQ(squares, products);
  }
}

TEST_ON_EVERY_EXECUTOR(Norms, GoldenBits) {
  for (const auto& row : golden::norm_rows) {
    const auto x = golden::doubles(row.n, 1), w = golden::doubles(row.n, 2);
    const auto m = golden::doubles(row.n, 3);
    const auto place = [&](data::buffer& b, const std::vector<double>& v) {
      b.write(v.data(), v.size() * sizeof(double));
      return std::span(reinterpret_cast<const double*>(b.get()), v.size());
    };
    data::buffer bx(where(), 8 * row.n), bw(where(), 8 * row.n), bm(where(), 8 * row.n);
    const auto px = place(bx, x), pw = place(bw, w), pm = place(bm, m);
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    EXPECT_EQ(bits(tally::wrms_norm(where(), px, pw)), row.wrms) << row.n;
    EXPECT_EQ(bits(tally::wrms_norm_mask(where(), px, pw, pm)), row.masked) << row.n;
    EXPECT_EQ(bits(tally::weighted_nrm2(where(), px, pw, tally::exact)), row.exact_root) << row.n;
  }
}

TEST(NormErrors, AreToldBeforeAnythingIsWritten) {
  std::vector<double> x(3, 1.0), w(2, 1.0);
  std::vector<std::complex<double>> z(3);
  double r = 7;
  data::expect_error(tally::errc::size_mismatch, "tally::wrms_norm: x has 3 elements, w has 2",
                     [&] { (void)tally::wrms_norm(tally::serial(), x, w); });
  data::expect_error(tally::errc::size_mismatch,
                     "tally::wrms_norm_mask: x has 3 elements, the mask has 2",
                     [&] { (void)tally::wrms_norm_mask(tally::serial(), x, x, w); });
  data::expect_error(tally::errc::unsupported_type,
                     "tally::weighted_nrm2: w is complex128; it can be real", [&] {
                       tally::reduce_weighted(tally::serial(), {tally::as_operand(x),
                                                                tally::as_operand(z),
                                                                {},
                                                                weighted_norm::root,
                                                                {&r, type::float64}});
                     });
  data::expect_error(
      tally::errc::unsupported_type, "tally::max_norm: x is complex128; it can be real", [&] {
        tally::reduce(tally::serial(),
                      {tally::as_operand(z), reduction::max_norm, {&r, type::float64}});
      });
  EXPECT_EQ(r, 7);
}

}  // namespace
