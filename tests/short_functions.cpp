// The short element-wise functions by name: values that random data miss, golden bits, the accuracy
// of log and tanh. (tests/transform.cpp compares all with a transcription.)
#include "tests/data.hpp"
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using tally::comparison;

class ShortFunctions : public data::OnEveryExecutor {
 protected:
  /// Elements of z = call(x..., z).
  template <class Z, class Call, class... X>
  std::vector<Z> run(const Call& call, const std::vector<X>&... x) {
    const std::size_t n = std::get<0>(std::tie(x...)).size();
    data::placed<Z> z(where(), std::vector<Z>(n));
    call(data::placed<X>(where(), x).span()..., z.span());
    return z.read();
  }
};

template <class T>
void expect_bits(const std::vector<T>& got, const std::vector<T>& want, const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(data::bits(got[i]), data::bits(want[i])) << what << ", element " << i;
  }
}

template <class R>
constexpr R infinity = std::numeric_limits<R>::infinity();
template <class R>
constexpr R nan = std::numeric_limits<R>::quiet_NaN();

TEST_ON_EVERY_EXECUTOR(ShortFunctions, ZerosInfinitiesAndNaN) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    const R inf = infinity<R>, no = nan<R>;
    const std::vector<R> x = {0, -R(0), inf, -inf, no, -no, 2, -2};
    const auto of = [&](const auto& f) { return run<R>(f, x); };
    expect_bits<R>(of([&](auto v, auto z) { tally::inv(where(), v, z); }),
                   {inf, -inf, 0, -R(0), no, no, R(0.5), R(-0.5)}, "inv");
    expect_bits<R>(of([&](auto v, auto z) { tally::abs(where(), v, z); }),
                   {0, 0, inf, inf, no, no, 2, 2}, "abs");
    expect_bits<R>(of([&](auto v, auto z) { tally::sqrt(where(), v, z); }),
                   {0, -R(0), inf, no, no, no, std::sqrt(R(2)), no}, "sqrt");
    expect_bits<R>(of([&](auto v, auto z) { tally::sign(where(), v, z); }),
                   {0, 0, 1, -1, no, no, 1, -1}, "sign");
    expect_bits<R>(of([&](auto v, auto z) { tally::pow(where(), v, 0, z); }),
                   {1, 1, 1, 1, 1, 1, 1, 1}, "x^0");
    expect_bits<R>(of([&](auto v, auto z) { tally::pow(where(), v, -3, z); }),
                   {inf, -inf, 0, -R(0), no, no, R(0.125), R(-0.125)}, "x^-3");
    expect_bits<R>(of([&](auto v, auto z) { tally::clamp(where(), v, -1, 1.5, z); }),
                   {0, -R(0), R(1.5), -1, no, no, R(1.5), -1}, "clamp");
    expect_bits<R>(of([&](auto v, auto z) { tally::log(where(), v, z); }),
                   {-inf, -inf, inf, no, no, no, std::log(R(2)), no}, "log");
    expect_bits<R>(of([&](auto v, auto z) { tally::scale(where(), -1, v, z); }),
                   {-R(0), 0, -inf, inf, no, no, -2, 2}, "scale");
    const auto t = of([&](auto v, auto z) { tally::tanh(where(), v, z); });
    expect_bits<R>({t[0], t[1], t[2], t[3], t[4], t[5]}, {0, -R(0), 1, -1, no, no}, "tanh");

    const std::vector<R> a = {0, -R(0), 1, no, inf, -inf}, b = {-R(0), 0, no, 1, -inf, 1};
    expect_bits<R>(run<R>([&](auto x, auto y, auto z) { tally::minimum(where(), x, y, z); }, a, b),
                   {-R(0), -R(0), no, no, -inf, -inf}, "minimum");
    expect_bits<R>(run<R>([&](auto x, auto y, auto z) { tally::maximum(where(), x, y, z); }, a, b),
                   {0, 0, no, no, inf, 1}, "maximum");
    const auto truths = [&](comparison c) {
      return run<std::uint8_t>([&](auto x, auto y, auto z) { tally::compare(where(), x, c, y, z); },
                               a, b);
    };
    using bytes = std::vector<std::uint8_t>;
    EXPECT_EQ(truths(comparison::less), (bytes{0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(truths(comparison::less_equal), (bytes{1, 1, 0, 0, 0, 1}));
    EXPECT_EQ(truths(comparison::equal), (bytes{1, 1, 0, 0, 0, 0}));
    EXPECT_EQ(truths(comparison::not_equal), (bytes{0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(truths(comparison::greater_equal), (bytes{1, 1, 0, 0, 1, 0}));
    EXPECT_EQ(truths(comparison::greater), (bytes{0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(run<std::uint8_t>(
                  [&](auto x, auto z) { tally::compare(where(), x, comparison::less, 1, z); }, a),
              (bytes{1, 1, 0, 0, 0, 1}));
    const std::vector<R> mask = {0, -R(0), no, 1, std::numeric_limits<R>::denorm_min(), 0};
    expect_bits<R>(
        run<R>([&](auto m, auto x, auto y, auto z) { tally::where(where(), m, x, y, z); }, mask, a,
               b),
        {-R(0), 0, 1, no, inf, 1}, "where");
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST(ShortFunctionErrors, OfFactors) {
  const tally::executor on = tally::serial();
  std::vector<float> x = {0.1f}, z = {7};
  std::vector<std::int32_t> ints = {1};
  const auto transform = [&](tally::elementwise what, tally::scalar alpha, tally::scalar beta) {
    tally::transform(
        on, {what, alpha, beta, tally::as_operand(x), tally::as_operand(x), tally::as_output(z)});
  };
  using enum tally::elementwise;
  const char* const none = "tally::compare: comparison is none of the enumerators";
  data::expect_error(tally::errc::invalid_argument, none,
                     [&] { tally::compare(on, x, static_cast<comparison>(6), x, z); });
  data::expect_error(tally::errc::invalid_argument, none,
                     [&] { tally::compare(on, x, static_cast<comparison>(255), 0.5, z); });
  for (const tally::scalar& code : {tally::scalar(16), tally::scalar(-1), tally::scalar(0.5),
                                    tally::scalar(1e300), tally::scalar(nan<double>)}) {
    data::expect_error(tally::errc::invalid_argument, none, [&] { transform(compare, code, 0); });
  }
  const auto expect_type_error = [&](const std::string& text, const auto& f) {
    data::expect_error(tally::errc::unsupported_type, text + "; the computation is in int64", f);
  };
  const auto on_ints = [&](tally::elementwise what, tally::scalar alpha, tally::scalar beta) {
    tally::transform(on, {what, alpha, beta, tally::as_operand(ints), {}, tally::as_output(ints)});
  };
  expect_type_error("tally::add_constant: b is float64", [&] { on_ints(add_constant, 0.5, 0); });
  expect_type_error("tally::clamp: low is float64", [&] { on_ints(clamp, 0.5, 1); });
  expect_type_error("tally::clamp: high is float64", [&] { on_ints(clamp, 0, 1.5); });
  expect_type_error("tally::compare: y is float64", [&] { on_ints(compare_constant, 1, 1.5); });
  EXPECT_EQ(z[0], 7);
  // Both are compared as floats.
  tally::compare(on, x, comparison::equal, 0.1, z);
  EXPECT_EQ(z[0], 1);
}

TEST_ON_EVERY_EXECUTOR(ShortFunctions, IntegersWrap) {
  constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
  const std::vector<std::int32_t> x = {lowest, -3, 0, 7};
  using list = std::vector<std::int32_t>;
  EXPECT_EQ(run<std::int32_t>([&](auto v, auto z) { tally::abs(where(), v, z); }, x),
            (list{lowest, 3, 0, 7}));
  EXPECT_EQ(run<std::int32_t>([&](auto v, auto z) { tally::pow(where(), v, 3, z); }, x),
            (list{0, -27, 0, 343}));
  EXPECT_EQ(
      run<std::int32_t>([&](auto v, auto z) { tally::add_constant(where(), v, lowest, z); }, x),
      (list{0, std::numeric_limits<std::int32_t>::max() - 2, lowest, lowest + 7}));
  EXPECT_EQ(run<std::int32_t>([&](auto v, auto z) { tally::sign(where(), v, z); }, x),
            (list{-1, -1, 0, 1}));
}

TEST_ON_EVERY_EXECUTOR(ShortFunctions, ComplexQuotientsAndModuliDoNotOverflow) {
  using C = std::complex<double>;
  const std::vector<C> x = {
      {3e300, 4e300}, {3e-320, 4e-320}, {infinity<double>, nan<double>}, {3, -4}};
  const auto moduli = run<double>([&](auto v, auto z) { tally::abs(where(), v, z); }, x);
  EXPECT_DOUBLE_EQ(moduli[0], 5e300);
  EXPECT_NEAR(moduli[1], 5e-320, 1e-323);
  EXPECT_EQ(moduli[2], infinity<double>);
  EXPECT_EQ(moduli[3], 5);
  const std::vector<C> y = {{1e300, 1e300}, {1e-300, 0}, {1, 0}, {0, 2}};
  const auto ratios = run<C>([&](auto a, auto b, auto z) { tally::div(where(), a, b, z); }, y, y);
  for (const C& each : ratios) EXPECT_EQ(each, C(1, 0));
  EXPECT_EQ(run<C>([&](auto v, auto z) { tally::inv(where(), v, z); }, y)[3], C(0, -0.5));
}

TEST_ON_EVERY_EXECUTOR(ShortFunctions, LogAndTanhAreWithinAUnit) {
  const auto check = [&]<class R>(std::type_identity<R>, double bound) {
    std::mt19937_64 random(3);
    std::vector<R> x;
    for (int i = 0; i < 30000; ++i) {
      const double u = static_cast<double>(random() >> 11) * 0x1p-53;
      const double choices[] = {std::exp(80 * (2 * u - 1)), 0.5 + u, u, 20 * u};
      x.push_back(static_cast<R>(choices[i % 4]));
    }
    const auto logs = run<R>([&](auto v, auto z) { tally::log(where(), v, z); }, x);
    const auto tangents = run<R>([&](auto v, auto z) { tally::tanh(where(), v, z); }, x);
    const auto error = [](long double want, R got) {
      int exponent;
      std::frexp(want, &exponent);
      return static_cast<double>(std::abs(want - got) /
                                 std::ldexp(1.0L, exponent - std::numeric_limits<R>::digits));
    };
    double worst_log = 0, worst_tanh = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == 0) continue;
      if (x[i] != 1)
        worst_log = std::max(worst_log, error(std::log(static_cast<long double>(x[i])), logs[i]));
      worst_tanh =
          std::max(worst_tanh, error(std::tanh(static_cast<long double>(x[i])), tangents[i]));
    }
    EXPECT_LT(worst_log, bound);
    EXPECT_LT(worst_tanh, bound);
  };
  check(std::type_identity<float>{}, 0.95);
  // Where long double is no wider, the reference has an error, too.
  check(std::type_identity<double>{}, std::numeric_limits<long double>::digits > 60 ? 0.95 : 2);
}

TEST_ON_EVERY_EXECUTOR(ShortFunctions, GoldenBits) {
  const auto check = [&]<class R>(const auto& rows, std::type_identity<R>) {
    std::vector<R> x;
    for (const auto& row : rows) x.push_back(row.x);
    const auto logs = run<R>([&](auto v, auto z) { tally::log(where(), v, z); }, x);
    const auto tangents = run<R>([&](auto v, auto z) { tally::tanh(where(), v, z); }, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(data::bits(logs[i])[0], rows[i].log) << "log " << x[i];
      EXPECT_EQ(data::bits(tangents[i])[0], rows[i].tanh) << "tanh " << x[i];
    }
  };
  check(golden::logarithm_rows, std::type_identity<double>{});
  check(golden::logarithm_rows_of_float, std::type_identity<float>{});
}

/// Calls f with each short function of numbers by name, and with its enumerator and factors:
/// f(what, call(x, y, w, z), alpha, beta).
template <class R, class F>
void for_each_named(const tally::executor& on, const F& f) {
  using enum tally::elementwise;
  f(inv, [&](auto x, auto, auto, auto z) { tally::inv(on, x, z); }, 0, 0);
  f(tally::elementwise::abs, [&](auto x, auto, auto, auto z) { tally::abs(on, x, z); }, 0, 0);
  f(tally::elementwise::sqrt, [&](auto x, auto, auto, auto z) { tally::sqrt(on, x, z); }, 0, 0);
  f(tally::elementwise::log, [&](auto x, auto, auto, auto z) { tally::log(on, x, z); }, 0, 0);
  f(tally::elementwise::tanh, [&](auto x, auto, auto, auto z) { tally::tanh(on, x, z); }, 0, 0);
  f(sign, [&](auto x, auto, auto, auto z) { tally::sign(on, x, z); }, 0, 0);
  f(scale, [&](auto x, auto, auto, auto z) { tally::scale(on, R(-0.3), x, z); }, R(-0.3), 0);
  f(
      add_constant, [&](auto x, auto, auto, auto z) { tally::add_constant(on, x, R(0.1), z); },
      R(0.1), 0);
  const R limits[] = {0, -R(0), R(0.5), R(-0.5), infinity<R>, -infinity<R>, nan<R>};
  for (const R low : limits) {
    for (const R high : limits) {
      f(clamp, [=](auto x, auto, auto, auto z) { tally::clamp(on, x, low, high, z); }, low, high);
    }
  }
  for (const int n : {-16777216, -10, -3, -1, 0, 1, 2, 3, 10, 31}) {
    f(tally::elementwise::pow, [=](auto x, auto, auto, auto z) { tally::pow(on, x, n, z); }, n, 0);
  }
  using enum comparison;
  for (const comparison c : {less, less_equal, equal, not_equal, greater_equal, greater}) {
    const int code = tally::detail::code_of(c);
    f(compare, [=](auto x, auto y, auto, auto z) { tally::compare(on, x, c, y, z); }, code, 0);
    for (const R y : {R(0), R(0.5), nan<R>}) {
      f(
          compare_constant, [=](auto x, auto, auto, auto z) { tally::compare(on, x, c, y, z); },
          code, y);
    }
  }
  f(div, [&](auto x, auto y, auto, auto z) { tally::div(on, x, y, z); }, 0, 0);
  f(minimum, [&](auto x, auto y, auto, auto z) { tally::minimum(on, x, y, z); }, 0, 0);
  f(maximum, [&](auto x, auto y, auto, auto z) { tally::maximum(on, x, y, z); }, 0, 0);
  f(where, [&](auto x, auto y, auto w, auto z) { tally::where(on, x, y, w, z); }, 0, 0);
  f(
      jacobi_step,
      [&](auto x, auto y, auto w, auto z) { tally::jacobi_step(on, x, R(0.3), y, w, z); }, R(0.3),
      0);
}

// Calls by name of short vectors go another way than those with types erased; all have the bits of
// strided vectors on serial.
TEST_ON_EVERY_EXECUTOR(ShortFunctions, ByNameAndWithTypesErased) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    const R special[] = {0,
                         -R(0),
                         1,
                         R(0.5),
                         R(-0.5),
                         infinity<R>,
                         -infinity<R>,
                         nan<R>,
                         -nan<R>,
                         R(1.25),
                         -R(3.5),
                         std::numeric_limits<R>::denorm_min()};
    const auto values = [&](std::size_t n, std::size_t step) {
      std::vector<R> all;
      for (std::size_t i = 0; i < n; ++i) all.push_back(special[i * step % std::size(special)]);
      return all;
    };
    for (const std::size_t n : {1, 3, 8, 17, 100, 331}) {
      for (const std::size_t offset : {0, 1, 3}) {
        const std::size_t size = n + offset;
        const auto vx = values(size, 1), vy = values(size, 5), vw = values(size, 7);
        data::placed<R> x(where(), vx), y(where(), vy), w(where(), vw), z(where(), vx);
        const auto part = [&](auto& v) { return v.span().subspan(offset); };
        const auto input = [&](auto& v) { return std::span<const R>(part(v)); };
        for_each_named<R>(where(), [&](tally::elementwise what, const auto& call,
                                       tally::scalar alpha, tally::scalar beta) {
          std::vector<R> spread(2 * size);
          const auto operand = [&](const std::vector<R>& v) {
            return tally::operand{v.data() + offset, n, 1, tally::type_of<R>};
          };
          tally::transform(tally::serial(),
                           {what,
                            alpha,
                            beta,
                            operand(vx),
                            tally::detail::is_binary(what) ? operand(vy) : tally::operand(),
                            {spread.data(), n, 2, tally::type_of<R>},
                            {},
                            tally::detail::is_ternary(what) ? operand(vw) : tally::operand()});
          std::vector<R> want = vx;
          for (std::size_t i = 0; i < n; ++i) want[offset + i] = spread[2 * i];
          const auto expect = [&](const auto& of_x, const auto& of_z, const char* way) {
            z.memory.write(vx.data(), size * sizeof(R));
            call(of_x, input(y), input(w), of_z);
            const auto got = z.read();
            for (std::size_t i = 0; i < size; ++i) {
              ASSERT_EQ(data::bits(got[i]), data::bits(want[i]))
                  << tally::detail::description_of(what).function << way << ", element " << i
                  << " of " << n << " from " << offset;
            }
          };
          expect(input(x), part(z), "");
          expect(input(z), part(z), " in place");
          expect(input(x), tally::strided(part(z).data(), n, 1), " into a view");
        });
      }
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST_ON_EVERY_EXECUTOR(ShortFunctions, ByNameSayWhatIsWrong) {
  data::placed<double> x(where(), std::vector<double>(9, 2.0));
  const auto v = x.span();
  const auto first = v.first(8), last = v.last(8);
  using tally::errc;
  data::expect_error(
      errc::overlap,
      "tally::abs: z overlaps x: it begins 8 bytes after x, which takes 64; it may be x itself",
      [&] { tally::abs(where(), first, last); });
  data::expect_error(
      errc::overlap,
      "tally::div: z overlaps x: it begins 8 bytes after x, which takes 64; it may be x itself",
      [&] { tally::div(where(), first, first, last); });
  data::expect_error(errc::size_mismatch, "tally::sqrt: x has 9 elements, z has 8",
                     [&] { tally::sqrt(where(), v, last); });
  for (const int n : {16777217, -16777217}) {
    data::expect_error(errc::invalid_argument,
                       "tally::pow: the exponent is " + std::to_string(n) +
                           "; it can be -16777216 to 16777216 in float64",
                       [&] { tally::pow(where(), v, n, v); });
  }
  for (const double each : x.read()) EXPECT_EQ(each, 2);
}

TEST_ON_EVERY_EXECUTOR(ShortFunctions, SayWhatIsWrong) {
  using tally::elementwise;
  using tally::errc;
  data::buffer memory(where(), 1024);
  const auto of = [&](tally::type t, std::size_t byte) -> tally::output_operand {
    return {memory.get() + byte, 5, 1, t};
  };
  const auto x = of(tally::type::float64, 0), z = of(tally::type::float64, 512);
  const auto ints = of(tally::type::int32, 128);
  data::expect_error(errc::unsupported_type, "tally::pow: the exponent is float64",
                     [&] { tally::transform(where(), {elementwise::pow, 2.0, {}, x, {}, z}); });
  data::expect_error(
      errc::invalid_argument, "tally::pow: the exponent is -1; it can be 0 to 16777216 in int64",
      [&] { tally::transform(where(), {elementwise::pow, -1, {}, ints, {}, ints}); });
  data::expect_error(errc::unsupported_type,
                     "tally::div: x is int32, y is int32; the computation is in int64",
                     [&] { tally::transform(where(), {elementwise::div, {}, {}, ints, ints, z}); });
  data::expect_error(errc::unsupported_type,
                     "tally::where: mask is float64; the computation is in float32", [&] {
                       const auto y = of(tally::type::float32, 256);
                       tally::transform(where(), {elementwise::where, {}, {}, x, y, y, {}, y});
                     });
  data::expect_error(errc::size_mismatch, "tally::jacobi_step: x has 5 elements, d has 4", [&] {
    tally::operand d = x;
    d.size = 4;
    tally::transform(where(), {elementwise::jacobi_step, 1, {}, x, x, z, {}, d});
  });
}

}  // namespace
