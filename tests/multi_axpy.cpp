// multi_axpy: the bits of one axpby and then one axpy after another, by the literal transcription.
// multi_axpy_dot: these, and the bits of multi_dot on serial.
#include "tests/elementwise_transcription.hpp"
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using data::kind;
using data::layout;
using data::random_bytes;
using tally::elementwise;
using tally::errc;
using tally::type;

struct axpy_case {
  type alpha, x, y;
};

bool fits(const axpy_case& c) {
  return tally::detail::gives(elementwise::axpby, c.x, c.y, c.y) &&
         tally::detail::multiplies(c.alpha,
                                   tally::detail::computation_type(elementwise::axpby, c.x, c.y));
}

tally::scalar scalar_of(const std::vector<std::byte>& bytes, type element, std::size_t j) {
  tally::scalar made;
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    if (tally::type_of<T> != element) return;
    const T value = data::elements_of<T>(bytes)[j];
    made = value;
  });
  return made;
}

/// Sums of multi_axpy_dot.
struct sums_case {
  type result;
  tally::conjugate conjugated = tally::conjugate::none;
  tally::grade grade = {};
};

std::vector<sums_case> sums_of(const axpy_case& c) {
  std::vector<sums_case> all;
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    data::for_each_type([&]<class Y>(std::type_identity<Y>) {
      if (tally::type_of<X> != c.x || tally::type_of<Y> != c.y) return;
      using tally::conjugate;
      constexpr type rule = tally::type_of<tally::dot_result_t<X, Y>>;
      constexpr type widest = tally::type_of<tally::dot_widest_t<X, Y>>;
      all = {{rule}, {rule, conjugate::none, tally::exact}, {rule, conjugate::x}};
      if (widest != rule) all.push_back({widest, conjugate::y});
    });
  });
  return all;
}

/// Alpha may be in the memory of kernels or of the host.
enum class factors_in { kernels, host };

struct shape {
  std::size_t k, n;
  layout x = {}, y = {};
  std::size_t gap = 0;  ///< elements between rows
  bool listed = false;
};

class MultiAxpy : public data::OnEveryExecutor {
 protected:
  void compare(const axpy_case& c, const shape& s, const tally::scalar& beta, kind k = kind::plain,
               factors_in memory = factors_in::kernels, const std::vector<sums_case>& sums = {}) {
    const auto alpha = random_bytes(c.alpha, s.k, s.n + 1, k);
    const auto old = random_bytes(c.y, s.n, s.n + 2, k);
    std::vector<std::vector<std::byte>> rows;
    for (std::size_t j = 0; j < s.k; ++j) rows.push_back(random_bytes(c.x, s.n, s.n + 3 + j, k));

    auto want = old;
    for (std::size_t j = 0; j < s.k; ++j) {
      const tally::scalar factor = scalar_of(alpha, c.alpha, j);
      const transcription::elements x = {rows[j], c.x};
      want = transcription::transform(elementwise::axpby, {factor, j == 0 ? beta : 1}, x,
                                      {want, c.y}, {want, c.y});
    }

    const std::size_t x_size = size_of(c.x), y_size = size_of(c.y);
    const auto step = static_cast<std::size_t>(std::abs(s.x.increment));
    const std::size_t row = step * s.n + s.x.offset + s.gap;
    data::buffer x_memory(where(), (s.k * row + 1) * x_size);
    const auto bytes = static_cast<std::ptrdiff_t>(x_size);
    std::vector<std::byte> image(x_memory.size(), std::byte{0x5a});
    std::vector<tally::operand> list;
    for (std::size_t j = 0; j < s.k; ++j) {
      const std::size_t lowest = j * row + s.x.offset;
      const std::size_t first = s.x.increment > 0 || s.n == 0 ? lowest : lowest + (s.n - 1) * step;
      for (std::size_t i = 0; i < s.n; ++i) {
        const auto at =
            static_cast<std::ptrdiff_t>(first) + static_cast<std::ptrdiff_t>(i) * s.x.increment;
        std::memcpy(image.data() + at * bytes, rows[j].data() + i * x_size, x_size);
      }
      list.push_back({x_memory.get() + first * x_size, s.n, s.x.increment, c.x});
    }
    x_memory.write(image.data(), image.size());
    const auto y_step = static_cast<std::size_t>(std::abs(s.y.increment));
    data::buffer y_memory(where(), y_step * old.size() + s.y.offset * y_size + 256);
    const tally::operand y = data::place(y_memory, old, c.y, s.y);
    const data::placed alpha_memory(where(), alpha);

    tally::multi_axpy_arguments a;
    a.alpha = {memory == factors_in::host ? static_cast<const void*>(alpha.data())
                                          : alpha_memory.span().data(),
               s.k, 1, c.alpha};
    a.x.rows = {list.empty() ? tally::operand{nullptr, s.n, 1, c.x} : list[0], s.k,
                static_cast<std::ptrdiff_t>(row)};
    if (s.listed) a.x.list = list;
    a.beta = beta;
    a.y = {const_cast<void*>(y.data), s.n, y.increment, c.y};
    const auto expect_updated = [&] {
      ASSERT_TRUE(elements_at(y_memory, y) == want)
          << name(c.alpha) << " times " << name(c.x) << " to " << name(c.y) << ", k = " << s.k
          << ", n = " << s.n << ", increments " << s.x.increment << ' ' << s.y.increment
          << ", offsets " << s.x.offset << ' ' << s.y.offset;
    };
    if (sums.empty()) {
      tally::multi_axpy(where(), a);
      expect_updated();
    }
    std::vector<tally::operand_pair> pairs;
    for (const auto& row : rows) {
      pairs.push_back({{row.data(), s.n, 1, c.x}, {want.data(), s.n, 1, c.y}});
    }
    for (const sums_case& sum : sums) {
      data::place(y_memory, old, c.y, s.y);
      std::vector<std::byte> want_sums(s.k * size_of(sum.result));
      tally::multi_dot(
          tally::serial(),
          {{{}, {}, pairs}, sum.conjugated, {want_sums.data(), sum.result}, {sum.grade, true}});
      data::placed got(where(), std::vector<std::byte>(want_sums.size(), std::byte{0x5a}));
      tally::multi_axpy_dot(
          where(), {a, sum.conjugated, {got.span().data(), sum.result}, {sum.grade, false}});
      ASSERT_NO_FATAL_FAILURE(expect_updated());
      ASSERT_TRUE(got.read() == want_sums)
          << "sums in " << name(sum.result) << (sum.grade.is_exact() ? ", exact, " : ", ")
          << name(c.x) << " and " << name(c.y) << ", k = " << s.k << ", n = " << s.n
          << ", increments " << s.x.increment << ' ' << s.y.increment;
    }
  }

  /// Returns the elements of y.
  static std::vector<std::byte> elements_at(const data::buffer& memory, const tally::operand& y) {
    std::vector<std::byte> after(memory.size());
    memory.read(after.data(), after.size());
    const std::size_t size = size_of(y.element);
    const auto* const first = after.data() + (static_cast<const std::byte*>(y.data) - memory.get());
    std::vector<std::byte> got(y.size * size);
    for (std::size_t i = 0; i < y.size; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i * size) * y.increment;
      std::memcpy(got.data() + i * size, first + at, size);
    }
    return got;
  }

  static std::vector<tally::scalar> betas_of(const axpy_case& c) {
    const type computation = tally::detail::computation_type(elementwise::axpby, c.x, c.y);
    if (computation == type::int64) return {0, 1, -7};
    if (!tally::is_complex(computation)) return {0, 1.0f, 0.7};
    return {0, 1.3, std::complex<double>(0.7, -0.2)};
  }
};

/// All types of x and y, with one type of factors.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, EveryPairOfTypes) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    data::for_each_type([&]<class Y>(std::type_identity<Y>) {
      for (const type alpha : {type::int32, type::float32, type::complex128}) {
        const axpy_case c = {alpha, tally::type_of<X>, tally::type_of<Y>};
        if (!fits(c)) continue;
        for (const tally::scalar& beta : betas_of(c)) {
          ASSERT_NO_FATAL_FAILURE(compare(c, {3, 70}, beta));
          ASSERT_NO_FATAL_FAILURE(compare(c, {2, 33, {1, -2}, {3, 3}, 5}, beta, kind::special));
        }
      }
    });
  });
}

constexpr axpy_case equal_cases[] = {{type::float64, type::float64, type::float64},
                                     {type::float32, type::float32, type::float32},
                                     {type::float64, type::float16, type::float16},
                                     {type::bfloat16, type::bfloat16, type::bfloat16},
                                     {type::complex64, type::complex64, type::complex64},
                                     {type::float64, type::complex64, type::complex64},
                                     {type::complex128, type::complex128, type::complex128},
                                     {type::int64, type::int32, type::int32}};

/// Numbers of vectors around those of a launch, or of adjacent loads; sizes around tiles.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, ManyVectors) {
  for (const axpy_case& c : equal_cases) {
    for (const std::size_t k : {1, 2, 3, 7, 8, 15, 32, 33, 70}) {
      for (const bool listed : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, {k, 100, {}, {}, 0, listed}, betas_of(c)[k % 3]));
      }
    }
    for (const std::size_t n : {0, 1, 2, 15, 16, 17, 31, 1000, 4095, 4096, 4097, 10001}) {
      for (const tally::scalar& beta : betas_of(c)) {
        ASSERT_NO_FATAL_FAILURE(compare(c, {5, n}, beta, kind::wide, factors_in::host));
      }
    }
  }
}

/// Vectors at any distance from each other's alignment.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, Alignments) {
  for (const axpy_case& c : equal_cases) {
    for (const std::size_t offset : {0, 1, 2, 3}) {
      for (const std::size_t gap : {0, 1, 2, 16}) {
        for (const std::size_t n : {13, 128}) {
          ASSERT_NO_FATAL_FAILURE(compare(c, {9, n, {offset, 1}, {offset, 1}, gap}, 1));
          ASSERT_NO_FATAL_FAILURE(compare(c, {3, n, {0, 1}, {offset, 1}, gap}, betas_of(c)[2]));
        }
      }
    }
  }
}

TEST_ON_EVERY_BACKEND(MultiAxpy, LongVectors) {
  for (const axpy_case& c : {equal_cases[0], equal_cases[3], equal_cases[4]}) {
    ASSERT_NO_FATAL_FAILURE(compare(c, {4, 300'001}, betas_of(c)[2]));
  }
}

/// All types of x and y, both orders of them, in both grades.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, DotsOfEveryPairOfTypes) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    data::for_each_type([&]<class Y>(std::type_identity<Y>) {
      const axpy_case c = {type::float32, tally::type_of<X>, tally::type_of<Y>};
      if (!fits(c)) return;
      const tally::scalar beta = betas_of(c)[2];
      ASSERT_NO_FATAL_FAILURE(
          compare(c, {3, 70}, beta, kind::plain, factors_in::kernels, sums_of(c)));
      ASSERT_NO_FATAL_FAILURE(compare(c, {2, 33, {1, -2}, {3, 3}, 5, true}, beta, kind::special,
                                      factors_in::host, sums_of(c)));
    });
  });
}

/// Numbers of vectors around those summed side by side; sizes around tiles.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, DotsOfManyVectors) {
  for (const axpy_case& c : equal_cases) {
    for (const std::size_t k : {1, 2, 15, 16, 17, 33, 70}) {
      for (const bool listed : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, {k, 100, {}, {}, 0, listed}, betas_of(c)[k % 3],
                                        kind::wide, factors_in::kernels, sums_of(c)));
      }
    }
    for (const std::size_t n : {0, 1, 64, 1023, 1024, 1025, 4096, 4097, 20001}) {
      ASSERT_NO_FATAL_FAILURE(
          compare(c, {5, n}, betas_of(c)[n % 3], kind::wide, factors_in::kernels, sums_of(c)));
    }
    // Columns, whose elements are summed side by side, and a long row of them.
    ASSERT_NO_FATAL_FAILURE(compare(c, {40, 3000, {0, 1}, {0, -1}}, betas_of(c)[1], kind::plain,
                                    factors_in::kernels, sums_of(c)));
  }
}

TEST_ON_EVERY_BACKEND(MultiAxpy, DotsOfLongVectors) {
  for (const axpy_case& c : {equal_cases[0], equal_cases[3], equal_cases[4]}) {
    ASSERT_NO_FATAL_FAILURE(compare(c, {9, 300'001}, betas_of(c)[2], kind::plain,
                                    factors_in::kernels, {sums_of(c)[0]}));
  }
}

/// A row-major matrix's columns.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, DotsOfColumns) {
  constexpr std::size_t k = 37, n = 5000;
  const auto values = golden::doubles(k * n, 1), factors = golden::doubles(k, 2);
  auto want = golden::doubles(n, 3);
  const auto columns_at = [&](const double* p) { return tally::rows(p, k, n, 1, k); };
  tally::multi_axpy(tally::serial(), factors, columns_at(values.data()), 0.5, want);
  const std::vector<double> sums =
      tally::multi_dot(tally::serial(), columns_at(values.data()), want);
  const data::placed x(where(), values), alpha(where(), factors), y(where(), golden::doubles(n, 3));
  EXPECT_EQ(
      tally::multi_axpy_dot(where(), alpha.span(), columns_at(x.span().data()), 0.5, y.span()),
      sums);
  EXPECT_EQ(y.read(), want);
}

TEST_ON_EVERY_EXECUTOR(MultiAxpy, DotsRefuseWrongArguments) {
  const data::placed memory(where(), std::vector<double>(64, 1));
  double* const p = memory.span().data();
  const auto vector = [&](std::size_t n, std::size_t first) {
    return tally::operand{p + first, n, 1, type::float64};
  };
  const auto expect = [&](errc code, const std::string& text, const tally::output& results,
                          tally::conjugate conjugated = tally::conjugate::none) {
    const tally::multi_axpy_dot_arguments a = {
        {vector(3, 40), {{vector(5, 0), 3, 5}, {}}, 1, {p + 20, 5, 1, type::float64}},
        conjugated,
        results,
        {}};
    data::expect_error(code, "tally::multi_axpy_dot: " + text,
                       [&] { tally::multi_axpy_dot(where(), a); });
    EXPECT_EQ(memory.read(), std::vector<double>(64, 1));
  };
  expect(errc::overlap, "result overlaps x", {p + 14, type::float64});
  expect(errc::overlap, "result overlaps y", {p + 24, type::float64});
  expect(errc::overlap, "result overlaps alpha", {p + 38, type::float64});
  expect(errc::null_pointer, "result is null and should point at 3 elements",
         {nullptr, type::float64});
  expect(errc::unsupported_type, "the result is float32; float64 gives float64",
         {p + 50, type::float32});
  expect(errc::invalid_argument, "the results are words; updates round their sums",
         {p + 50, type::float64, true});
  const std::array list = {vector(5, 0), vector(5, 10)};
  data::expect_error(errc::overlap, "tally::multi_axpy_dot: result overlaps vector 1 of x", [&] {
    tally::multi_axpy_dot(where(), {{vector(2, 40), {{}, list}, 1, {p + 20, 5, 1, type::float64}},
                                    tally::conjugate::none,
                                    {p + 14, type::float64},
                                    {}});
  });
  data::expect_error(
      errc::size_mismatch, "tally::multi_axpy_dot: alpha has 2 elements, x has 3 vectors", [&] {
        tally::multi_axpy_dot(
            where(), {{vector(2, 40), {{vector(5, 0), 3, 5}, {}}, 1, {p + 20, 5, 1, type::float64}},
                      tally::conjugate::none,
                      {p + 50, type::float64},
                      {}});
      });
}

TEST_ON_EVERY_EXECUTOR(MultiAxpy, WithoutVectorsScales) {
  const data::placed y(where(), std::vector<double>{1, 2, 3});
  const std::span<const double> none;
  tally::multi_axpy(where(), none, tally::rows(none.data(), 0, 3), 2, y.span());
  EXPECT_EQ(y.read(), (std::vector<double>{2, 4, 6}));
  tally::multi_axpy(where(), none, std::vector<std::span<const double>>(), 0, y.span());
  EXPECT_EQ(y.read(), (std::vector<double>{0, 0, 0}));
  tally::multi_axpy(where(), none, tally::rows(none.data(), 0, 3), -0.0, y.span());
  EXPECT_FALSE(std::signbit(y.read()[0]));
  const data::placed integers(where(), std::vector<std::int32_t>{1, 2, 3});
  tally::multi_axpy(where(), std::span<const std::int32_t>(),
                    tally::rows(static_cast<const std::int32_t*>(nullptr), 0, 3), 0,
                    integers.span());
  EXPECT_EQ(integers.read(), (std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_TRUE(
      tally::multi_axpy_dot(where(), none, tally::rows(none.data(), 0, 3), 0, y.span()).empty());
  data::expect_error(errc::null_pointer,
                     "tally::multi_axpy: y is null and should point at 3 elements", [&] {
                       tally::multi_axpy(where(), none, tally::rows(none.data(), 0, 3), 2,
                                         std::span<double>(static_cast<double*>(nullptr), 3));
                     });
  const auto written = integers.span();
  const tally::multi_axpy_arguments wrong = {
      {none.data(), 0, 1, type::float64},
      {{{none.data(), written.size(), 1, type::float64}}, {}},
      0.5,
      {written.data(), written.size(), 1, type::int32}};
  data::expect_error(errc::unsupported_type,
                     "tally::multi_axpy: beta is float64; the computation is in int64",
                     [&] { tally::multi_axpy(where(), wrong); });
  EXPECT_EQ(integers.read(), (std::vector<std::int32_t>{0, 0, 0}));
}

/// Rows in blocks, also of complex numbers with real factors, whose parts are updated alike.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, Blocks) {
  const auto compare = [this]<class T>(T) {
    constexpr std::size_t n = 10, k = 2, blocks = 2, between = 50;
    std::vector<T> x(blocks * between), want(n, T(1));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(static_cast<double>(i));
    const std::vector<double> alpha = {1, 10, 100, 1000};
    for (std::size_t j = 0; j < k * blocks; ++j) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(j / k * between + j % k * n);
      for (std::size_t i = 0; i < n; ++i) want[i] += alpha[j] * first[static_cast<long>(i)];
    }
    const data::placed<T> far_x(where(), x), y(where(), std::vector<T>(n, T(1)));
    const data::placed<double> factors(where(), alpha);
    tally::multi_axpy(where(), factors.span(),
                      tally::rows(far_x.span().data(), k, n, n, 1, blocks, between), 1, y.span());
    EXPECT_EQ(y.read(), want) << tally::name(tally::type_of<T>);
  };
  compare(1.0);
  compare(std::complex<double>(1));
}

/// Sums that begin with the first product, -0 too; a NaN in y is not read.
TEST_ON_EVERY_EXECUTOR(MultiAxpy, DoesNotReadWithBetaZero) {
  const data::placed x(where(), std::vector<double>{-0.0, 1, -0.0, 2});
  const data::placed alpha(where(), std::vector<double>{1, 1});
  const data::placed y(where(), std::vector<double>(2, std::nan("")));
  tally::multi_axpy(where(), alpha.span(), tally::rows(x.span().data(), 2, 2), 0, y.span());
  EXPECT_TRUE(data::same_bits(y.read()[0], -0.0));
  EXPECT_EQ(y.read()[1], 3);
}

TEST_ON_EVERY_EXECUTOR(MultiAxpy, GoldenBits) {
  for (const golden::multi_axpy_row& row : golden::multi_axpy_rows) {
    std::vector<double> rows;
    std::vector<float> short_rows;
    for (std::size_t j = 0; j < row.k; ++j) {
      for (const double each : golden::doubles(64, j)) rows.push_back(each);
      for (const float each : golden::floats(64, j)) short_rows.push_back(each);
    }
    const data::placed x(where(), rows), alpha(where(), golden::doubles(row.k, 90)),
        y(where(), golden::doubles(64, 91));
    tally::multi_axpy(where(), alpha.span(), tally::rows(x.span().data(), row.k, 64), 0.1,
                      y.span());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(y.read()[63]), row.f64) << row.k;
    std::vector<tally::bfloat16> narrow(short_rows.begin(), short_rows.end());
    const data::placed u(where(), narrow), z(where(), std::vector<tally::bfloat16>(64));
    tally::multi_axpy(where(), alpha.span(), tally::rows(u.span().data(), row.k, 64), 0, z.span());
    EXPECT_EQ(z.read()[63].bits, row.bf16) << row.k;
  }
}

TEST_ON_EVERY_EXECUTOR(MultiAxpy, RefusesWrongArguments) {
  const data::placed memory(where(), std::vector<double>(64, 1));
  double* const p = memory.span().data();
  const auto vector = [&](std::size_t n, std::size_t first = 0, std::ptrdiff_t increment = 1) {
    return tally::operand{p + first, n, increment, type::float64};
  };
  const auto written = [&](std::size_t n, std::size_t first) {
    return tally::output_operand{p + first, n, 1, type::float64};
  };
  const auto expect = [&](errc code, const std::string& text,
                          const tally::multi_axpy_arguments& a) {
    data::expect_error(code, "tally::multi_axpy: " + text, [&] { tally::multi_axpy(where(), a); });
  };
  const tally::operand_list three = {{vector(5), 3, 5}, {}};
  expect(errc::size_mismatch, "alpha has 2 elements, x has 3 vectors",
         {vector(2), three, 1, written(5, 20)});
  expect(errc::size_mismatch, "x has 5 elements, y has 6", {vector(3), three, 1, written(6, 20)});
  expect(errc::overlap, "y overlaps x", {vector(3), three, 1, written(5, 5)});
  expect(errc::overlap, "y overlaps alpha", {vector(3, 22), three, 1, written(5, 20)});
  expect(errc::unsupported_type, "alpha is complex64; the computation is in float64",
         {{p, 3, 1, type::complex64}, three, 1, written(5, 20)});
  expect(errc::unsupported_type,
         "y is int64, to which the result can't be converted; it is "
         "computed in float64",
         {vector(3), three, 1, {p + 20, 5, 1, type::int64}});
  expect(errc::zero_increment, "x has increment 0",
         {vector(3), {{vector(5, 0, 0), 3, 5}, {}}, 1, written(5, 20)});
  expect(errc::invalid_argument,
         "x has 2 rows and leading dimension 281474976710656; the rows times the leading dimension "
         "can be 281474976710656",
         {vector(2), {{vector(5), 2, std::ptrdiff_t{1} << 48}, {}}, 1, written(5, 20)});
  const std::array other = {vector(5), tally::operand{p, 5, 1, type::float32}};
  expect(errc::unsupported_type, "vector 1 of x is float32, the first one is float64",
         {vector(2), {{}, other}, 1, written(5, 20)});
  const std::array shorter = {vector(5), vector(4)};
  expect(errc::size_mismatch, "vector 1 of x has 4 elements, y has 5",
         {vector(2), {{}, shorter}, 1, written(5, 20)});
  const std::array over = {vector(5), vector(5, 18)};
  expect(errc::overlap, "y overlaps vector 1 of x", {vector(2), {{}, over}, 1, written(5, 20)});
  // In gaps between rows, as columns of one matrix.
  tally::multi_axpy(where(), {vector(2, 40), {{vector(5), 2, 10}, {}}, 1, written(5, 5)});
}

TEST(MultiAxpyForms, TakesRowsAndRanges) {
  const std::vector<double> a = {1, 2, 3}, b = {10, 20, 30};
  const std::array alpha = {2.0f, 1.0f};
  std::vector<double> y(3, 1);
  tally::multi_axpy(alpha, std::vector{std::span(a), std::span(b)}, 1, y);
  EXPECT_EQ(y, (std::vector<double>{13, 25, 37}));
  tally::multi_axpy(tally::simd(), alpha,
                    std::array{tally::strided(a.data(), 2, 2), tally::strided(b.data(), 2, -1)}, 0,
                    std::span(y).first(2));
  EXPECT_EQ(y, (std::vector<double>{22, 16, 37}));
  tally::multi_axpy(tally::serial(), alpha, tally::rows(a.data(), 2, 1, 2, 1), -1,
                    std::span(y).first(1));
  EXPECT_EQ(y[0], -17);
  y = {1, 1, 1};
  EXPECT_EQ(tally::multi_axpy_dot(alpha, std::vector{std::span(a), std::span(b)}, 1, y),
            (std::vector<double>{13 + 2 * 25 + 3 * 37, 10 * 13 + 20 * 25 + 30 * 37}));
  std::array<double, 1> exactly{};
  tally::multi_axpy_dot(tally::simd(), std::array{-1.0}, tally::rows(a.data(), 1, 3), 1, y, exactly,
                        tally::exact);
  EXPECT_EQ(exactly[0], 12 + 2 * 23 + 3 * 34);
}

#if TALLY_HAS_CUDA
/// Factors that a kernel has just written.
TEST(MultiAxpyForms, ReadsFactorsOnTheDevice) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const auto where = tally::cuda();
  constexpr std::size_t k = 3, n = 1000;
  const auto rows = golden::doubles(k * n, 1);
  const data::placed x(where, rows), y(where, golden::doubles(n, 2));
  const data::placed dots(where, std::vector<double>(k));
  const auto block = tally::rows(x.span().data(), k, n);
  tally::multi_dot(where, block, y.span(), dots.span().data());
  tally::multi_axpy(where, dots.span(), block, -1, y.span());

  auto want = golden::doubles(n, 2);
  const auto near = tally::rows(rows.data(), k, n);
  const std::vector<double> factors = tally::multi_dot(tally::serial(), near, want);
  tally::multi_axpy(tally::serial(), factors, near, -1, want);
  EXPECT_EQ(y.read(), want);
}
#endif

}  // namespace
