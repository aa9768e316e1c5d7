// diagonal, row_norms and scale_rows: the bits of literal loops, of spmv and of mul.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace {

using tally::errc;
using tally::row_norm;

class RowFunctions : public data::OnEveryExecutor {};

/// Rows of 0 to 40 terms, two longer ones, columns unsorted and repeated, many on the diagonal.
template <class V>
struct matrix {
  std::size_t height, width;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<V> values;

  matrix(std::size_t m, std::size_t n, data::kind kind) : height(m), width(n) {
    std::mt19937_64 random(m * 100 + n);
    for (std::size_t row = 0; row < m; ++row) {
      const std::size_t terms = row % 5 == 3 ? 0
                                : row == 7   ? 300
                                : row == 11  ? 2500
                                             : random() % 40;
      for (std::size_t k = 0; k < terms; ++k) {
        const std::size_t column = random() % 3 == 0 && row < n ? row : random() % n;
        columns.push_back(static_cast<std::int32_t>(column));
      }
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
    values = data::elements_of<V>(data::random_bytes<V>(columns.size(), 5, kind));
  }
};

template <class A, class T>
A converted(const T& value) {
  if constexpr (tally::is_complex_v<A> && tally::is_complex_v<T>) {
    using R = tally::real_t<A>;
    return {static_cast<R>(value.real()), static_cast<R>(value.imag())};
  } else {
    return static_cast<A>(value);
  }
}

template <class D, class V>
std::vector<D> diagonal_of(const matrix<V>& a) {
  using A = tally::dot_result_t<V, D>;
  std::vector<D> d(std::min(a.height, a.width));
  for (std::size_t row = 0; row < d.size(); ++row) {
    A sum{};
    bool is_first = true;
    for (auto k = static_cast<std::size_t>(a.offsets[row]);
         k < static_cast<std::size_t>(a.offsets[row + 1]); ++k) {
      if (a.columns[k] != static_cast<std::int32_t>(row)) continue;
      sum = is_first ? converted<A>(a.values[k]) : sum + converted<A>(a.values[k]);
      is_first = false;
    }
    tally::copy(tally::serial(), std::span(&sum, 1), std::span(&d[row], 1));
    d[row] = tally::detail::canonical(d[row]);
  }
  return d;
}

template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& want, const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(data::same_bits(got[i], want[i]))
        << what << ", " << tally::name(tally::type_of<T>) << ", element " << i;
  }
}

template <class V, class D>
void compare(const tally::executor& where, std::size_t m, std::size_t n, data::kind kind) {
  using R = std::conditional_t<std::is_same_v<tally::real_t<D>, double> ||
                                   std::is_same_v<tally::real_t<V>, double>,
                               double, float>;
  const matrix<V> a(m, n, kind);
  const data::placed offsets(where, a.offsets);
  const data::placed columns(where, a.columns);
  const data::placed values(where, a.values);
  const std::size_t terms = a.values.size();
  const tally::csr_view three{m, n, offsets.span(), columns.span(), values.span()};
  const tally::csr_view four{
      m, n, offsets.span().first(m), offsets.span().subspan(1), columns.span(), values.span()};

  std::vector<tally::real_t<V>> magnitudes(terms);
  tally::abs(tally::serial(), a.values, magnitudes);
  std::vector<R> sums(m), exact(m), largest(m);
  const std::vector<R> ones(n, 1);
  const tally::csr_view of_magnitudes{m, n, a.offsets, a.columns, magnitudes};
  tally::spmv(tally::serial(), of_magnitudes, ones, sums);
  tally::spmv(tally::serial(), of_magnitudes, ones, exact, tally::exact);
  for (std::size_t row = 0; row < m; ++row) {
    for (auto k = static_cast<std::size_t>(a.offsets[row]);
         k < static_cast<std::size_t>(a.offsets[row + 1]); ++k) {
      const R v = static_cast<R>(magnitudes[k]);
      if (std::isnan(v)) largest[row] = std::numeric_limits<R>::quiet_NaN();
      if (v > largest[row]) largest[row] = v;
    }
  }
  const auto factors = data::elements_of<D>(data::random_bytes<D>(m, 6, kind));
  std::vector<D> expanded;
  for (std::size_t row = 0; row < m; ++row) {
    expanded.resize(static_cast<std::size_t>(a.offsets[row + 1]), factors[row]);
  }
  std::vector<V> scaled(terms);
  constexpr bool scales = tally::is_complex_v<V> || !tally::is_complex_v<D>;
  if constexpr (scales) tally::mul(tally::serial(), a.values, expanded, scaled);

  const auto check = [&](const auto& view, bool in_place) {
    if constexpr (tally::is_complex_v<D> || !tally::is_complex_v<V>) {
      for (const std::ptrdiff_t step : {1, 2}) {
        const std::size_t size = std::min(m, n);
        const data::placed d(where, std::vector<D>(2 * size, D(7)));
        tally::diagonal(where, view, tally::strided(d.span().data(), size, step));
        std::vector<D> got;
        const std::vector<D> all = d.read();
        for (std::size_t i = 0; i < size; ++i)
          got.push_back(all[i * static_cast<std::size_t>(step)]);
        ASSERT_NO_FATAL_FAILURE(expect_equal(got, diagonal_of<D>(a), "diagonal"));
      }
    }
    const data::placed r(where, std::vector<R>(m, 7));
    tally::row_norms(where, view, row_norm::one, r.span());
    ASSERT_NO_FATAL_FAILURE(expect_equal(r.read(), sums, "sums of magnitudes"));
    tally::row_norms(where, view, row_norm::one, r.span(), tally::exact);
    ASSERT_NO_FATAL_FAILURE(expect_equal(r.read(), exact, "exact sums of magnitudes"));
    tally::row_norms(where, view, row_norm::infinity, r.span());
    ASSERT_NO_FATAL_FAILURE(expect_equal(r.read(), largest, "largest magnitudes"));
    const data::placed apart(where, std::vector<R>(3 * m, 7));
    for (const row_norm which : {row_norm::one, row_norm::infinity}) {
      tally::row_norms(where, view, which, tally::strided(apart.span().data(), m, 3));
      const std::vector<R> all = apart.read();
      for (std::size_t row = 0; row < m; ++row) {
        const R norm = which == row_norm::one ? sums[row] : largest[row];
        ASSERT_TRUE(data::same_bits(all[3 * row], norm)) << "row " << row;
        ASSERT_EQ(all[3 * row + 1], 7);
      }
    }
    if constexpr (scales) {
      const data::placed d(where, factors);
      const data::placed z(where, std::vector<V>(terms, V(7)));
      const auto to = in_place ? values.span() : z.span();
      tally::scale_rows(where, view, d.span(), to);
      ASSERT_NO_FATAL_FAILURE(
          expect_equal(in_place ? values.read() : z.read(), scaled, "scaled values"));
    }
  };
  ASSERT_NO_FATAL_FAILURE(check(three, false));
  ASSERT_NO_FATAL_FAILURE(check(four, false));
  ASSERT_NO_FATAL_FAILURE(check(three, true));
}

template <class V, class D>
void compare_shapes(const tally::executor& where) {
  for (const data::kind kind : {data::kind::plain, data::kind::wide, data::kind::special}) {
    ASSERT_NO_FATAL_FAILURE((compare<V, D>(where, 90, 60, kind)));
  }
  ASSERT_NO_FATAL_FAILURE((compare<V, D>(where, 20, 50, data::kind::plain)));
  ASSERT_NO_FATAL_FAILURE((compare<V, D>(where, 3000, 3000, data::kind::plain)));
  ASSERT_NO_FATAL_FAILURE((compare<V, D>(where, 1, 1, data::kind::plain)));
}

TEST_ON_EVERY_EXECUTOR(RowFunctions, EveryType) {
  compare_shapes<double, double>(where());
  compare_shapes<float, float>(where());
  compare_shapes<float, double>(where());
  compare_shapes<double, float>(where());
  compare_shapes<tally::float16, float>(where());
  compare_shapes<tally::bfloat16, tally::bfloat16>(where());
  compare_shapes<std::complex<double>, std::complex<double>>(where());
  compare_shapes<std::complex<float>, std::complex<float>>(where());
  compare_shapes<std::complex<double>, double>(where());
  compare_shapes<float, std::complex<double>>(where());
}

TEST_ON_EVERY_EXECUTOR(RowFunctions, NamesBadInput) {
  const data::placed offsets(where(), std::vector<int>{0, 1, 2});
  const data::placed columns(where(), std::vector<int>{0, 1});
  const data::placed values(where(), std::vector<double>{1, 2});
  const data::placed three(where(), std::vector<double>(3, 7));
  const tally::csr_view a{2, 2, offsets.span(), columns.span(), values.span()};
  using data::expect_error;
  expect_error(errc::size_mismatch, "tally::diagonal: d has 3 elements; the matrix needs 2",
               [&] { tally::diagonal(where(), a, three.span()); });
  expect_error(errc::size_mismatch, "tally::row_norms: r has 3 elements; the matrix needs 2",
               [&] { tally::row_norms(where(), a, row_norm::one, three.span()); });
  EXPECT_THROW(tally::row_norms(where(), a, row_norm{2}, three.span().first(2)), tally::error);
  expect_error(errc::size_mismatch, "tally::scale_rows: d has 3 elements; the matrix needs 2",
               [&] { tally::scale_rows(where(), a, three.span(), values.span()); });
  expect_error(errc::overlap, "tally::diagonal: d overlaps values",
               [&] { tally::diagonal(where(), a, values.span()); });
  expect_error(errc::overlap, "tally::scale_rows: z overlaps d", [&] {
    tally::scale_rows(where(), a, three.span().first(2), three.span().first(2));
  });
  tally::row_function_arguments transposed{tally::as_operand(a)};
  transposed.a.operation = tally::matrix_operation::transpose;
  const auto all = three.span();
  transposed.z = {all.data(), all.size(), 1, tally::type::float64};
  expect_error(errc::invalid_argument,
               "tally::diagonal: the matrix is transposed; functions of rows take it as it is",
               [&] { tally::apply_to_rows(where(), transposed); });
  EXPECT_EQ(three.read(), std::vector<double>(3, 7));
}

TEST(RowFunctionsAutomatic, RunOnTheHost) {
  const std::vector<int> offsets = {0, 2, 3}, columns = {0, 1, 1};
  std::vector<double> values = {-1, 2, 3}, d(2), r(2);
  const tally::csr_view a{2, 2, offsets, columns, values};
  tally::diagonal(a, d);
  EXPECT_EQ(d, (std::vector<double>{-1, 3}));
  tally::row_norms(a, row_norm::one, r);
  EXPECT_EQ(r, (std::vector<double>{3, 3}));
  tally::row_norms(a, row_norm::infinity, r, tally::exact);
  EXPECT_EQ(r, (std::vector<double>{2, 3}));
  tally::scale_rows(a, d, values);
  EXPECT_EQ(values, (std::vector<double>{1, -2, 9}));
}

}  // namespace
