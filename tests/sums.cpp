// sums, multi_dot of any layout, gemv: each result has the bits of the vector alone.
#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/transcription.hpp"
#include "tests/views.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace {

using data::kind;
using data::random_bytes;
using tally::type;
using tally::order::chunk;

/// Element (o, r, i) is at first + o*block_stride + r*leading_dimension + i*increment.
struct shape {
  std::size_t rows, columns;
  std::ptrdiff_t leading_dimension, increment = 1;
  std::size_t blocks = 1;
  std::ptrdiff_t block_stride = 0;

  std::size_t count() const { return rows * blocks; }
  std::array<std::pair<std::size_t, std::ptrdiff_t>, 3> axes() const {
    return {{{rows, leading_dimension}, {columns, increment}, {blocks, block_stride}}};
  }
  /// Elements before and after the first, all in all.
  std::size_t before() const {
    return reach([](std::ptrdiff_t s) { return s < 0 ? -s : 0; });
  }
  std::size_t elements() const {
    return before() + reach([](std::ptrdiff_t s) { return s > 0 ? s : 0; }) + 1;
  }
  template <class F>
  std::size_t reach(F step) const {
    std::size_t all = 0;
    for (const auto& [n, s] : axes())
      all += (n > 0 ? n - 1 : 0) * static_cast<std::size_t>(step(s));
    return all;
  }
  tally::operand_rows at(const std::byte* memory, type element) const {
    const std::byte* const first = memory + before() * tally::size_of(element);
    return {{first, columns, increment, element},
            rows * blocks,
            leading_dimension,
            blocks == 1 ? 0 : rows,
            block_stride};
  }
  /// Vector j's elements.
  std::vector<std::byte> vector(const std::vector<std::byte>& memory, type element,
                                std::size_t j) const {
    const std::size_t size = tally::size_of(element);
    std::vector<std::byte> bytes(columns * size);
    const auto step = [](std::size_t n, std::ptrdiff_t s) {
      return static_cast<std::ptrdiff_t>(n) * s;
    };
    for (std::size_t i = 0; i < columns; ++i) {
      const auto from = static_cast<std::ptrdiff_t>(before()) + step(j / rows, block_stride) +
                        step(j % rows, leading_dimension) + step(i, increment);
      std::memcpy(bytes.data() + i * size, memory.data() + static_cast<std::size_t>(from) * size,
                  size);
    }
    return bytes;
  }
  std::string text() const {
    return std::to_string(blocks) + " blocks of " + std::to_string(rows) + " by " +
           std::to_string(columns) + ", strides " + std::to_string(block_stride) + ", " +
           std::to_string(leading_dimension) + ", " + std::to_string(increment);
  }
};

const std::vector<shape> shapes = {
    {0, 5, 5},
    {5, 0, 1, 5},
    {1, 1, 1},
    {1, 200, 200},
    {70, 1, 1, 70},
    {70, 1, 1},
    {3, 200, 1, 3},  // columns without gaps
    {7, 3 * chunk + 70, 1, 7},
    {67, 10, 1, 67},
    {67, 65, 1, 71},  // with gaps
    {130, 100, 1, 131},
    {33, chunk + 1, 1, 33},
    {20, 2 * chunk + 5, 1, 25},
    {40, 70, 1, -40},  // upwards
    {40, 70, -1, 41},
    {35, 70, 2, 71},  // every other column
    {35, 70, -3, 106},
    {5, 300, 0, 2},  // one vector
    {9, 300, 1, 1},  // overlapping
    {200, 3, 3},     // short rows
    {50, 10, 11},
    {6, chunk + 9, chunk + 12},
    {6, 300, -600, 2},
    {5, 70, 1, 5, 9, 5 * 70},  // the middle axis
    {40, 20, 1, 41, 3, 20 * 41 + 2},
    {20, 3, 3, 1, 4, 100},
    {1, 100, 7, 1, 6, 103},
    {4, 50, 1, 4, 3, -4 * 50},
    {2, 30, 50, 1, 3, 0},
};

template <class F>
void for_each_accumulator(type x, F f) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    if (tally::type_of<X> != x) return;
    using rule = tally::dot_result_t<X, X>;
    using widest = tally::dot_widest_t<X, X>;
    f(tally::type_of<rule>);
    if (!std::is_same_v<rule, widest>) f(tally::type_of<widest>);
  });
}

class Sums : public data::OnEveryExecutor {
 protected:
  /// Compares both forms' results.
  template <class Call>
  void compare(const Call& call, const std::vector<std::byte>& want, const std::string& label) {
    const std::size_t room = want.size() + 16;
    std::vector<std::byte> got(room, std::byte{0xcc});
    data::buffer far(where(), room);
    far.write(got.data(), room);
    call(far.get(), false);
    far.read(got.data(), room);
    ASSERT_TRUE(std::equal(want.begin(), want.end(), got.begin())) << label;
    ASSERT_EQ(got[want.size()], std::byte{0xcc}) << "written past the results: " << label;
    std::ranges::fill(got, std::byte{0xcc});
    call(got.data(), true);
    ASSERT_TRUE(std::equal(want.begin(), want.end(), got.begin())) << "returned: " << label;
  }

  void check(type element, type accumulator, const shape& s, kind k, tally::grade g,
             std::uint64_t seed) {
    const auto memory = random_bytes(element, s.elements(), seed, k);
    const auto factors = random_bytes(element, s.columns, seed + 1, k);
    data::buffer far(where(), memory.size() + 16), far_y(where(), factors.size() + 16);
    far.write(memory.data(), memory.size());
    if (!factors.empty()) far_y.write(factors.data(), factors.size());
    const tally::operand_rows rows = s.at(far.get(), element);
    const tally::operand y = {far_y.get(), s.columns, 1, element};
    std::vector<std::byte> sums, dots;
    const auto append = [&](std::vector<std::byte>& to, const std::vector<std::byte>& one) {
      to.insert(to.end(), one.begin(), one.end());
    };
    for (std::size_t j = 0; j < s.count(); ++j) {
      const auto vector = s.vector(memory, element, j);
      if (g.is_exact()) {
        std::vector<std::byte> sum(tally::size_of(accumulator)), dot = sum;
        const tally::operand x = {vector.data(), s.columns, 1, element},
                             v = {factors.data(), s.columns, 1, element};
        tally::reduce(tally::serial(), {x, tally::reduction::sum, {sum.data(), accumulator}, {g}});
        tally::dot(tally::serial(), {x, v, tally::conjugate::x, {dot.data(), accumulator}, {g}});
        append(sums, sum);
        append(dots, dot);
      } else {
        append(sums,
               transcription::reduction(tally::reduction::sum, {vector, element}, accumulator));
        append(dots, transcription::dot({vector, element}, {factors, element}, accumulator, true));
      }
    }
    const std::string label = s.text() + " of " + std::string(tally::name(element)) + " in " +
                              std::string(tally::name(accumulator)) +
                              (g.is_exact() ? ", exact" : "");
    ASSERT_NO_FATAL_FAILURE(compare(
        [&](void* to, bool wait) { tally::sums(where(), {rows, {to, accumulator}, {g, wait}}); },
        sums, "sums of " + label));
    ASSERT_NO_FATAL_FAILURE(compare(
        [&](void* to, bool wait) {
          tally::multi_dot(
              where(), {{rows, {y, s.count()}}, tally::conjugate::x, {to, accumulator}, {g, wait}});
        },
        dots, "multi_dot of " + label));
  }
};

TEST_ON_EVERY_EXECUTOR(Sums, EveryLayout) {
  for (std::size_t t = 0; t < tally::type_count; ++t) {
    const auto element = static_cast<type>(t);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      for_each_accumulator(element, [&](type accumulator) {
        const kind k = i % 3 == 0 ? kind::special : i % 3 == 1 ? kind::plain : kind::wide;
        ASSERT_NO_FATAL_FAILURE(check(element, accumulator, shapes[i], k, {}, t + 100 * i));
      });
    }
  }
}

TEST_ON_EVERY_BACKEND(Sums, RandomLayouts) {
  std::mt19937 random(37);
  const auto upto = [&](std::size_t limit) { return random() % (limit + 1); };
  const auto stride = [&] { return static_cast<std::ptrdiff_t>(upto(20)) - 10; };
  for (int round = 0; round < 150; ++round) {
    shape s{upto(round % 2 ? 8 : 90), upto(round % 5 ? 90 : 2500), 1, 1, 1 + upto(2), stride()};
    const auto rows = static_cast<std::ptrdiff_t>(s.rows);
    switch (upto(3)) {
      case 0:
        s.increment = std::max<std::ptrdiff_t>(1, rows + stride() % 3);
        break;
      case 1:
        s.leading_dimension = static_cast<std::ptrdiff_t>(s.columns) + stride();
        break;
      default:
        s.leading_dimension = stride();
        s.increment = stride();
        if (s.increment == 0) s.increment = 2 * rows + 1;
    }
    const auto element = static_cast<type>(upto(tally::type_count - 1));
    for_each_accumulator(element, [&](type accumulator) {
      ASSERT_NO_FATAL_FAILURE(check(element, accumulator, s, kind::plain, {}, random()));
    });
  }
}

/// Columns of matrices of several MiB, which have a workspace.
TEST_ON_EVERY_BACKEND(Sums, WideRows) {
  const shape two_parts = {17'001, 260, 1, 17'003}, upwards = {601, 2 * chunk + 70, 1, -607};
  ASSERT_NO_FATAL_FAILURE(check(type::float64, type::float64, two_parts, kind::wide, {}, 5));
  for (const type t : {type::float64, type::float32, type::complex64, type::int64}) {
    ASSERT_NO_FATAL_FAILURE(check(t, t, upwards, kind::special, {}, 6));
  }
}

/// Rows whose vectors y change with the block, also where threads take parts of all pairs.
TEST_ON_EVERY_EXECUTOR(Sums, PairsOfBlocks) {
  for (const std::size_t n : {7, 2350, 1 << 17}) {
    const std::size_t k = 2, blocks = 3, pairs = k * blocks;
    const auto apart = static_cast<std::ptrdiff_t>(n);
    const auto x = golden::doubles(pairs * n, 1), y = golden::doubles(blocks * n, 2);
    const data::placed far_x(where(), x), far_y(where(), y);
    const data::placed results(where(), std::vector<double>(pairs));
    tally::batched_dot(where(), tally::rows(far_x.span().data(), k, n, apart, 1, blocks, 2 * apart),
                       tally::rows(far_y.span().data(), k, n, 0, 1, blocks, apart),
                       results.span().data());
    std::vector<double> want(pairs);
    for (std::size_t j = 0; j < pairs; ++j) {
      want[j] = tally::dot(tally::serial(), std::span(x).subspan(j * n, n),
                           std::span(y).subspan(j / k * n, n));
    }
    EXPECT_EQ(results.read(), want) << n;
  }
}

TEST_ON_EVERY_EXECUTOR(Sums, Exact) {
  for (std::size_t t = 0; t < tally::type_count; ++t) {
    for (const shape& s : {shape{5, 70, 1, 5}, {3, 2, 1, 4, 2, 9}, {4, 30, 30}, {0, 3, 1, 3}}) {
      for_each_accumulator(static_cast<type>(t), [&](type accumulator) {
        ASSERT_NO_FATAL_FAILURE(
            check(static_cast<type>(t), accumulator, s, kind::wide, tally::exact, t));
      });
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Sums, AddedToLimbs) {
  const std::size_t k = 5, n = 70;
  const data::placed<double> x(where(), golden::doubles(k * n, 1));
  const auto columns = tally::rows(x.span().data(), k, n, 1, k);
  std::vector<tally::exact_sum<double>> all(k);
  tally::sums(where(), columns, tally::add_to(all));
  tally::sums(where(), columns, tally::add_to(all));
  for (std::size_t j = 0; j < k; ++j) {
    const auto column = tally::strided(x.span().data() + j, n, k);
    tally::exact_sum<double> one;
    tally::sum(where(), column, tally::add_to(one));
    tally::sum(where(), column, tally::add_to(one));
    EXPECT_EQ(all[j].round<double>(), one.round<double>());
  }
}

TEST_ON_EVERY_EXECUTOR(Sums, GoldenBits) {
  for (const auto& row : golden::reduction_rows) {
    if (row.n > 5000) continue;
    constexpr std::size_t k = 3;
    const auto values = golden::doubles(row.n, 1);
    std::vector<double> columns(k * row.n), rows;
    for (std::size_t i = 0; i < row.n; ++i) {
      for (std::size_t j = 0; j < k; ++j) columns[k * i + j] = values[i];
    }
    for (std::size_t j = 0; j < k; ++j) rows.insert(rows.end(), values.begin(), values.end());
    const data::placed<double> c(where(), columns), r(where(), rows);
    for (const double sum : tally::sums(where(), tally::rows(c.span().data(), k, row.n, 1, k))) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), row.sum) << row.n;
    }
    for (const double sum : tally::sums(where(), tally::rows(r.span().data(), k, row.n))) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), row.sum) << row.n;
    }
  }
  for (const auto& row : golden::rows) {
    if (row.n > 5000) continue;
    const data::placed<double> a(where(), golden::doubles(row.n, 1)),
        x(where(), golden::doubles(row.n, 2)), y(where(), std::vector<double>{0.5});
    tally::gemv(where(), 1, tally::rows(a.span().data(), 1, row.n), x.span(), 0, y.span());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(y.read()[0]), row.f64) << row.n;
    tally::gemv(where(), tally::transpose(tally::rows(a.span().data(), row.n, 1)), x.span(),
                y.span());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(y.read()[0]), row.f64) << row.n;
  }
}

TEST_ON_EVERY_EXECUTOR(Sums, Views) {
  const std::size_t k = 3, m = 4, n = 70;
  const auto values = golden::doubles(k * m * n, 1);
  const data::placed<double> x(where(), values);
  double* const p = x.span().data();
  std::vector<double> along_last, along_middle;
  for (std::size_t o = 0; o < k; ++o) {
    for (std::size_t r = 0; r < m; ++r) {
      along_last.push_back(tally::sum(where(), std::span(p + (o * m + r) * n, n)));
    }
    for (std::size_t i = 0; i < n; ++i) {
      along_middle.push_back(tally::sum(where(), tally::strided(p + o * m * n + i, m, n)));
    }
  }
  EXPECT_EQ(tally::sums(where(), views::blocks<const double>{p, {k, m, n}, {m * n, n, 1}}),
            along_last);
  EXPECT_EQ(tally::sums(where(), views::right(p, k * m, n)), along_last);
  EXPECT_EQ(tally::sums(where(), tally::rows(p, n, m, 1, n, k, m * n)), along_middle);
  EXPECT_EQ(tally::sums(tally::rows(p, n, m, 1, n, k, m * n)), along_middle);
  EXPECT_EQ(tally::sums<double>(where(), views::blocks<const double>{p, {k, n, m}, {m * n, 1, n}}),
            along_middle);
}

TEST(SumsInterface, Types) {
  const std::vector<float> v = {0x1p24f, 1, 1, 1};
  const auto rows = tally::rows(v.data(), 1, 4);
  static_assert(std::is_same_v<decltype(tally::sums(rows)), std::vector<float>>);
  EXPECT_EQ(tally::sums<double>(rows), std::vector<double>{0x1p24 + 3});
  EXPECT_EQ(tally::sums(tally::simd(), rows, tally::exact), std::vector<float>{0x1p24f + 4});
  double wide = 0;
  tally::sums(tally::simd(), rows, &wide);
  EXPECT_EQ(wide, 0x1p24 + 3);
  EXPECT_TRUE(tally::sums(tally::rows(v.data(), 0, 4)).empty());
  const std::vector<std::int8_t> bytes = {100, 100, 100, 1, 2, 3};
  EXPECT_EQ(tally::sums(tally::rows(bytes.data(), 3, 2, 1, 3)),
            (std::vector<std::int64_t>{101, 102, 103}));
}

// --- gemv ----------------------------------------------------------------------------------------

class Gemv : public data::OnEveryExecutor {
 protected:
  /// y_i = alpha*r_i + beta*y_i in C, rounded to y's type, literally.
  template <class C, class R, class Y>
  static Y combined(C alpha, R r, C beta, Y y) {
    const auto in = [](auto v) {
      if constexpr (tally::is_complex_v<C>) {
        using F = tally::real_t<C>;
        const std::complex<double> wide(v);
        return C(static_cast<F>(wide.real()), static_cast<F>(wide.imag()));
      } else {
        return static_cast<C>(v);
      }
    };
    C all;
    if constexpr (tally::is_complex_v<C>) {  // a real factor multiplies both parts
      const auto times = [](C f, C x) {
        return f.imag() == 0 ? C(f.real() * x.real(), f.real() * x.imag())
                             : C(f.real() * x.real() - f.imag() * x.imag(),
                                 f.real() * x.imag() + f.imag() * x.real());
      };
      all = times(alpha, in(r));
      if (beta != C(0)) {
        const C b = times(beta, in(y));
        all = C(all.real() + b.real(), all.imag() + b.imag());
      }
      if constexpr (tally::is_complex_v<Y>) {
        using F = tally::real_t<Y>;
        return Y(static_cast<F>(all.real()), static_cast<F>(all.imag()));
      } else {
        return Y(0);
      }
    } else {
      all = alpha * in(r);
      if (beta != 0) all = all + beta * in(y);
      return static_cast<Y>(all);
    }
  }

  template <class A, class X, class Y>
  void check(std::size_t m, std::size_t n, std::ptrdiff_t row, std::ptrdiff_t column,
             tally::matrix_operation op, double beta, tally::grade g = {}) {
    using R = tally::dot_result_t<A, X>;
    using C = tally::dot_result_t<R, Y>;
    const bool transposed = op != tally::matrix_operation::none;
    const shape s = transposed ? shape{n, m, column, row} : shape{m, n, row, column};
    const auto a = random_bytes(tally::type_of<A>, s.elements(), m + 7, kind::plain);
    const auto x = data::random_bytes<X>(s.columns, 8, kind::plain);
    const auto y = data::random_bytes<Y>(s.rows, 9, kind::plain);
    const C alpha = C(1.25);
    std::vector<Y> want;
    for (std::size_t j = 0; j < s.rows; ++j) {
      const auto vector = data::elements_of<A>(s.vector(a, tally::type_of<A>, j));
      const auto of_x = data::elements_of<X>(x);
      const bool conjugated = op == tally::matrix_operation::conjugate_transpose;
      R r;
      if (g.is_exact()) {
        r = tally::dot(tally::serial(), vector, of_x,
                       {conjugated ? tally::conjugate::x : tally::conjugate::none, g});
      } else {
        r = transcription::dot<R>(vector, of_x, conjugated);
      }
      want.push_back(combined<C>(alpha, r, C(static_cast<tally::real_t<C>>(beta)),
                                 data::elements_of<Y>(y)[j]));
    }
    data::buffer far(where(), a.size() + 16);
    far.write(a.data(), a.size());
    const data::placed<X> far_x(where(), data::elements_of<X>(x));
    const data::placed<Y> far_y(where(), data::elements_of<Y>(y));
    tally::operand_rows rows = s.at(far.get(), tally::type_of<A>);
    if (transposed) {
      rows = {{rows.first.data, n, column, tally::type_of<A>}, m, row};
    }
    tally::gemv(where(), {rows,
                          op,
                          tally::as_operand(far_x.span()),
                          tally::as_output(*std::make_unique<std::span<Y>>(far_y.span())),
                          alpha,
                          beta,
                          {g, false}});
    const auto got = far_y.read();
    ASSERT_TRUE(std::ranges::equal(std::as_bytes(std::span(got)), std::as_bytes(std::span(want))))
        << m << " by " << n << ", strides " << row << ", " << column << ", op "
        << static_cast<int>(op) << ", beta " << beta << ", " << tally::name(tally::type_of<A>)
        << " by " << tally::name(tally::type_of<X>) << " to " << tally::name(tally::type_of<Y>)
        << (g.is_exact() ? ", exact" : "");
  }

  template <class A, class X, class Y>
  void every_layout(std::size_t m, std::size_t n, tally::grade g = {}) {
    using enum tally::matrix_operation;
    const auto across = static_cast<std::ptrdiff_t>(n + 1), down = static_cast<std::ptrdiff_t>(m);
    for (const auto op : {none, transpose, conjugate_transpose}) {
      for (const double beta : {0.0, 0.75}) {
        ASSERT_NO_FATAL_FAILURE((check<A, X, Y>(m, n, across, 1, op, beta, g)));
        ASSERT_NO_FATAL_FAILURE((check<A, X, Y>(m, n, 1, down, op, beta, g)));
      }
    }
    ASSERT_NO_FATAL_FAILURE((check<A, X, Y>(m, n, -across, 1, transpose, -1, g)));
    ASSERT_NO_FATAL_FAILURE((check<A, X, Y>(m, n, 2, -2 * down, none, -1, g)));
  }
};

TEST_ON_EVERY_EXECUTOR(Gemv, EveryLayout) {
  for (const std::size_t n : {0, 1, 5, 67, 600}) {
    for (const std::size_t m : {1, 3, 70}) {
      ASSERT_NO_FATAL_FAILURE((every_layout<double, double, double>(m, n)));
      ASSERT_NO_FATAL_FAILURE((every_layout<float, float, float>(m, n)));
    }
  }
  ASSERT_NO_FATAL_FAILURE((every_layout<double, double, double>(5, 3 * chunk + 5)));
  ASSERT_NO_FATAL_FAILURE((every_layout<double, double, double>(3 * chunk + 5, 5)));
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  ASSERT_NO_FATAL_FAILURE((every_layout<c128, c128, c128>(9, 70)));
  ASSERT_NO_FATAL_FAILURE((every_layout<c64, c64, c64>(9, 70)));
  ASSERT_NO_FATAL_FAILURE((every_layout<double, c64, c128>(5, 40)));
  ASSERT_NO_FATAL_FAILURE((every_layout<float, float, c128>(5, 40)));
  ASSERT_NO_FATAL_FAILURE((every_layout<double, float, float>(5, 40)));
  ASSERT_NO_FATAL_FAILURE((every_layout<tally::bfloat16, float, double>(40, 70)));
  ASSERT_NO_FATAL_FAILURE((every_layout<std::uint8_t, float, float>(40, 70)));
  ASSERT_NO_FATAL_FAILURE((every_layout<float, std::int8_t, float>(40, 70)));
}

TEST_ON_EVERY_BACKEND(Gemv, FromMemory) {
  constexpr std::size_t m = 701, n = chunk + 601;
  for (const auto op : {tally::matrix_operation::none, tally::matrix_operation::transpose}) {
    ASSERT_NO_FATAL_FAILURE((check<double, double, double>(m, n, n + 1, 1, op, 0.75)));
    ASSERT_NO_FATAL_FAILURE((check<double, double, float>(m, n, 1, m, op, 0)));
    ASSERT_NO_FATAL_FAILURE((check<float, float, float>(2 * m, n, n, 1, op, 0.75)));
  }
}

/// Columns that end anywhere in a cache line, of as many chunks as take all of a workspace.
TEST_ON_EVERY_BACKEND(Gemv, EveryWidthFromMemory) {
  const auto check_width = [this]<class T>(T, std::size_t terms, std::size_t columns) {
    const auto across = static_cast<std::ptrdiff_t>(columns);
    check<T, T, T>(terms, columns, across, 1, tally::matrix_operation::transpose, 0.75);
  };
  for (const std::size_t terms : {chunk, 2 * chunk, 4 * chunk}) {
    const std::size_t columns = (std::size_t{4} << 20) / sizeof(double) / terms + 256;
    for (const std::size_t more : {0, 1, 8, 9}) {
      ASSERT_NO_FATAL_FAILURE(check_width(double{}, terms, columns + more));
    }
    ASSERT_NO_FATAL_FAILURE(check_width(float{}, terms, 2 * columns + 9));
  }
}

TEST_ON_EVERY_EXECUTOR(Gemv, Exact) {
  ASSERT_NO_FATAL_FAILURE((every_layout<double, double, double>(9, 70, tally::exact)));
  ASSERT_NO_FATAL_FAILURE((every_layout<float, double, float>(600, 7, tally::exact)));
  using c128 = std::complex<double>;
  ASSERT_NO_FATAL_FAILURE((every_layout<c128, c128, c128>(3, 20, tally::exact)));
}

/// NaNs, infinities and zeros of both signs; factors with imaginary parts.
TEST_ON_EVERY_EXECUTOR(Gemv, IsADotAndAnUpdate) {
  const auto compare = [this]<class T>(T alpha, T beta, kind values) {
    constexpr std::size_t m = 20, n = 90;
    const auto bytes = [&](std::size_t count, std::uint64_t seed) {
      return data::elements_of<T>(random_bytes(tally::type_of<T>, count, seed, values));
    };
    const auto a = bytes(m * n, 1), x = bytes(n, 2), y = bytes(m, 3);
    const data::placed<T> far_a(where(), a), far_x(where(), x), far_y(where(), y);
    std::vector<T> want = y, dots(m);
    const auto columns = tally::rows(a.data(), m, n, 1, m);
    tally::multi_dot(tally::serial(), columns, x, dots.data());
    tally::axpby(tally::serial(), alpha, dots, beta, want);
    tally::gemv(where(), alpha, tally::rows(far_a.span().data(), m, n, 1, m), far_x.span(), beta,
                far_y.span());
    EXPECT_EQ(std::memcmp(far_y.read().data(), want.data(), m * sizeof(T)), 0)
        << tally::name(tally::type_of<T>) << ", kind " << static_cast<int>(values);
  };
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  for (const kind values : {kind::plain, kind::wide, kind::special}) {
    compare(-0.5, 3.0, values);
    compare(0.0f, -2.0f, values);
    compare(c128(0.5, -2), c128(-1, 0.25), values);
    compare(c64(0, 1), c64(2, 0), values);
  }
}

TEST_ON_EVERY_EXECUTOR(Gemv, DoesNotReadYWithoutBeta) {
  const data::placed<double> a(where(), {1, 2, 3, 4}), x(where(), {1, 10}),
      y(where(), {std::numeric_limits<double>::quiet_NaN(), 1});
  const auto matrix = tally::rows(a.span().data(), 2, 2);
  tally::gemv(where(), 2, matrix, x.span(), 0.0, y.span());
  EXPECT_EQ(y.read(), (std::vector<double>{42, 86}));
  tally::gemv(where(), 1, tally::transpose(matrix), x.span(), 1, y.span());
  EXPECT_EQ(y.read(), (std::vector<double>{42 + 31, 86 + 42}));
  tally::gemv(matrix, x.span(), y.span());  // in the data's memory
  EXPECT_EQ(y.read(), (std::vector<double>{21, 43}));
}

TEST(GemvInterface, Operands) {
  using complex = std::complex<double>;
  const std::vector<complex> a = {{1, 2}, {3, 4}}, x = {{0, 1}};
  std::vector<complex> y(2);
  tally::gemv(tally::serial(), tally::conjugate_transpose(tally::rows(a.data(), 1, 2)), x, y);
  EXPECT_EQ(y, (std::vector<complex>{std::conj(a[0]) * x[0], std::conj(a[1]) * x[0]}));
  const std::vector<double> r = {1, 2, 3, 4, 5, 6};
  std::vector<double> two = {1, 1}, three(3);
  tally::gemv(2.0f, views::right(r.data(), 2, 3), std::vector<int>{1, 1, 1}, 1, two);
  EXPECT_EQ(two, (std::vector<double>{13, 31}));
  tally::gemv(tally::transpose(views::right(r.data(), 2, 3)), std::array{1.0, 10.0}, three,
              tally::exact);
  EXPECT_EQ(three, (std::vector<double>{41, 52, 63}));
  const auto same_rows = tally::rows(r.data(), 2, 3, 0);
  tally::gemv(tally::serial(), same_rows, std::array{1, 1, 1}, two);
  EXPECT_EQ(two, (std::vector<double>{6, 6}));
  data::expect_error(
      tally::errc::zero_increment,
      "tally::gemv: A has leading dimension 0; its transpose has no increment",
      [&] { tally::gemv(tally::serial(), tally::transpose(same_rows), std::array{1, 1}, three); });
  std::vector<double> none;
  tally::gemv(tally::serial(), tally::transpose(tally::rows(r.data(), 2, 0)), std::array{1, 1},
              none);
  tally::gemv(tally::serial(), tally::transpose(tally::rows(r.data(), 1, 3, 0)), std::array{2},
              three);
  EXPECT_EQ(three, (std::vector<double>{2, 4, 6}));
}

// --- Invalid input: a clear error, nothing written -----------------------------------------------

TEST_ON_EVERY_EXECUTOR(Sums, BadInput) {
  using tally::errc;
  const data::buffer memory(where(), 4096);
  std::array<double, 8> results;
  results.fill(42);
  const tally::operand five = {memory.get(), 5, 1, type::float64};
  const auto expect = [&](errc code, const std::string& text, const tally::operand_rows& rows,
                          type accumulator = type::float64) {
    data::expect_error(code, text,
                       [&] { tally::sums(where(), {rows, {results.data(), accumulator}}); });
  };
  expect(errc::zero_increment, "tally::sums: x has increment 0",
         {{memory.get(), 5, 0, type::float64}, 3, 5});
  expect(errc::null_pointer, "tally::sums: x is null and should point at 5 elements",
         {{nullptr, 5, 1, type::float64}, 3, 5});
  expect(errc::unsupported_type, "tally::sums: the result is float32; float64 gives float64",
         {five, 3, 5}, type::float32);
  expect(errc::invalid_argument,
         "tally::sums: x has 18446744073709551615 rows; there can be 281474976710656",
         tally::detail::in_blocks({five, std::size_t{1} << 40, 5}, std::size_t{1} << 40, 5));
  expect(errc::invalid_argument,
         "tally::sums: x has 4 blocks, 1125899906842624 elements apart; the blocks times that can "
         "be 281474976710656",
         tally::detail::in_blocks({five, 3, 5}, 4, std::ptrdiff_t{1} << 50));
  if (!data::on_device(where())) {
    double v[40] = {};
    const auto too_many = tally::rows(v, (std::size_t{1} << 48) + 1, 5, 0);
    const std::string text = ": x has 281474976710657 rows; there can be 281474976710656";
    data::expect_error(errc::invalid_argument, "tally::sums" + text,
                       [&] { tally::sums(where(), too_many); });
    data::expect_error(errc::invalid_argument, "tally::multi_dot" + text,
                       [&] { tally::multi_dot(where(), too_many, std::span(v, 5)); });
    data::expect_error(errc::overlap, "tally::sums: result overlaps x",
                       [&] { tally::sums(where(), tally::rows(v, 4, 5), v + 19); });
    tally::sums(where(), tally::rows(v, 4, 5, 8), v + 5 + 24);  // behind the rows
    data::expect_error(errc::overlap, "tally::sums: result overlaps x", [&] {
      tally::sums(where(), tally::rows(v + 20, 2, 3, -3, 1, 2, 10), v + 16);
    });
    data::expect_error(errc::overlap, "tally::gemv: y overlaps A", [&] {
      tally::gemv(where(), tally::rows(v, 4, 4), std::span(v + 20, 4), std::span(v + 15, 4));
    });
    data::expect_error(errc::overlap, "tally::gemv: y overlaps x", [&] {
      tally::gemv(where(), tally::rows(v, 4, 4), std::span(v + 20, 4), std::span(v + 23, 4));
    });
    data::expect_error(errc::size_mismatch,
                       "tally::gemv: x has 3 elements, the transpose 4 columns", [&] {
                         tally::gemv(where(), tally::transpose(tally::rows(v, 4, 3)),
                                     std::span(v + 20, 3), std::span(v + 30, 3));
                       });
    data::expect_error(errc::size_mismatch, "tally::gemv: y has 3 elements, A 4 rows", [&] {
      tally::gemv(where(), tally::rows(v, 4, 3), std::span(v + 20, 3), std::span(v + 30, 3));
    });
    data::expect_error(errc::invalid_argument, "tally::gemv: A has more than one block of rows",
                       [&] {
                         tally::gemv(where(), tally::rows(v, 2, 3, 3, 1, 2, 6),
                                     std::span(v + 20, 3), std::span(v + 30, 4));
                       });
    for (const auto operation :
         {tally::matrix_operation::none, tally::matrix_operation::transpose}) {
      data::expect_error(errc::invalid_argument,
                         "tally::gemv: A has 2 elements and increment 4611686018427387904; the "
                         "elements times the increment can be 281474976710656",
                         [&] {
                           const tally::operand row = {v, 2, std::ptrdiff_t{1} << 62,
                                                       type::float64};
                           tally::gemv(where(), {{row, 2, 2},
                                                 operation,
                                                 {v + 10, 2, 1, type::float64},
                                                 {v + 20, 2, 1, type::float64}});
                         });
    }
    data::expect_error(
        errc::unsupported_type,
        "tally::gemv: A is int32, x int32, y float64; A or x is floating-point or complex, and y "
        "is float32, float64, or complex, and complex where one of the others is",
        [&] {
          tally::gemv(where(), {{{v, 2, 1, type::int32}, 2, 2},
                                tally::matrix_operation::none,
                                {v + 10, 2, 1, type::int32},
                                {v + 20, 2, 1, type::float64}});
        });
  }
  EXPECT_EQ(results, (std::array<double, 8>{42, 42, 42, 42, 42, 42, 42, 42}));
}

}  // namespace
