// spmv in the exact grade: row sums are MPFR's, rounded once.
#include "tests/data.hpp"
#include "tests/matrices.hpp"
#include "tests/oracle.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <iterator>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace {

using data::kind;
using data::placed;
using matrices::pattern;

class ExactSpmv : public data::OnEveryExecutor {
 protected:
  template <class V, class X>
  void compare(const pattern& p, kind k) {
    using A = tally::dot_result_t<V, X>;
    const auto values = data::elements_of<V>(data::random_bytes<V>(p.nonzeros(), 1, k));
    const auto x = data::elements_of<X>(data::random_bytes<X>(p.columns, 2, k));
    const placed offsets(where(), p.row_offsets), columns(where(), p.column_indices);
    const placed placed_values(where(), values);
    const placed placed_x(where(), x);
    const placed y(where(), std::vector<A>(p.rows));
    const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(),
                            placed_values.span()};
    tally::spmv(where(), a, placed_x.span(), y.span(), tally::exact);
    expect_exact(y.read(), p, values, x);

    // The conjugate transpose twice, with row ends as given.
    const auto [t, t_values] = conjugate_transpose(p, values);
    const placed t_offsets(where(), t.row_offsets), t_columns(where(), t.column_indices);
    const placed placed_t(where(), t_values);
    const tally::csr_view four{t.rows,
                               t.columns,
                               t_offsets.span().first(t.rows),
                               t_offsets.span().subspan(1),
                               t_columns.span(),
                               placed_t.span()};
    const auto back = tally::conjugate_transpose(four);
    const tally::spmv_plan plan(where(), back), keeps(where(), back, {.fixed_values = true});
    for (const tally::spmv_plan* with : {&plan, &keeps}) {
      tally::spmv(where(), *with, 0, back, placed_x.span(), 0, y.span());
      tally::spmv(where(), *with, back, placed_x.span(), y.span(), tally::exact);
      expect_exact(y.read(), p, values, x);
    }
    tally::spmv(where(), 0, back, placed_x.span(), 0, y.span());
    tally::spmv(where(), back, placed_x.span(), y.span(), tally::exact);
    expect_exact(y.read(), p, values, x);

    const tally::csr_view apart{p.rows,
                                p.columns,
                                offsets.span().first(p.rows),
                                offsets.span().subspan(1),
                                columns.span(),
                                placed_values.span()};
    tally::spmv(where(), 0, apart, placed_x.span(), 0, y.span());
    tally::spmv(where(), apart, placed_x.span(), y.span(), tally::exact);
    expect_exact(y.read(), p, values, x);
  }

 private:
  template <class V>
  static std::pair<pattern, std::vector<V>> conjugate_transpose(const pattern& p,
                                                                const std::vector<V>& values) {
    pattern t;
    t.columns = p.rows;
    std::vector<V> conjugated;
    for (std::size_t c = 0; c < p.columns; ++c) {
      for (std::size_t i = 0; i < p.rows; ++i) {
        for (auto j = static_cast<std::size_t>(p.row_offsets[i]);
             j < static_cast<std::size_t>(p.row_offsets[i + 1]); ++j) {
          if (p.column_indices[j] != static_cast<std::int32_t>(c)) continue;
          t.column_indices.push_back(static_cast<std::int32_t>(i));
          if constexpr (tally::is_complex_v<V>) {
            conjugated.emplace_back(values[j].real(), -values[j].imag());
          } else {
            conjugated.push_back(values[j]);
          }
        }
      }
      t.end_row();
    }
    return {t, conjugated};
  }

  template <class A, class V, class X>
  static void expect_exact(const std::vector<A>& got, const pattern& p,
                           const std::vector<V>& values, const std::vector<X>& x) {
    for (std::size_t i = 0; i < p.rows; ++i) {
      std::vector<V> row;
      std::vector<X> factors;
      for (auto j = static_cast<std::size_t>(p.row_offsets[i]);
           j < static_cast<std::size_t>(p.row_offsets[i + 1]); ++j) {
        row.push_back(values[j]);
        factors.push_back(x[static_cast<std::size_t>(p.column_indices[j])]);
      }
      const auto row_bytes = data::bytes_of(row), factor_bytes = data::bytes_of(factors);
      ASSERT_EQ(data::bytes_of(std::vector{got[i]}),
                oracle::exact_dot({row_bytes, tally::type_of<V>}, {factor_bytes, tally::type_of<X>},
                                  tally::type_of<A>))
          << "row " << i << " of " << row.size() << " terms";
    }
  }
};

TEST_ON_EVERY_EXECUTOR(ExactSpmv, RowsAreRoundedOnce) {
  const pattern p = matrices::rows_of({0, 1, 2, 5, 8, 9, 31, 128, 129, 0, 1024, 2500}, 700, 3);
  for (const kind k : {kind::plain, kind::wide, kind::special}) {
    compare<double, double>(p, k);
    compare<float, float>(p, k);
    compare<float, double>(p, k);
    compare<tally::float16, float>(p, k);
    compare<tally::bfloat16, double>(p, k);
    compare<std::complex<double>, std::complex<double>>(p, k);
    compare<std::complex<float>, float>(p, k);
    compare<float, std::complex<float>>(p, k);
  }
}

/// Large terms that cancel: the default grade has no correct digit.
TEST_ON_EVERY_EXECUTOR(ExactSpmv, CancellingRows) {
  const std::vector<std::int32_t> offsets = {0, 3, 6}, columns = {0, 1, 2, 0, 1, 2};
  const std::vector<double> values = {1e200, 1, -1e200, 1, 0x1p-60, -1}, x = {1e100, 3, 1e100};
  const placed placed_offsets(where(), offsets), placed_columns(where(), columns);
  const placed placed_values(where(), values), placed_x(where(), x);
  const placed y(where(), std::vector<double>{5, 7});
  const tally::csr_view a{2, 3, placed_offsets.span(), placed_columns.span(), placed_values.span()};
  tally::spmv(where(), 2, a, placed_x.span(), 1, y.span(), tally::exact);
  EXPECT_EQ(y.read(), (std::vector<double>{11, 7 + 0x1p-60 * 6}));
}

/// Numbers at which short sums change method: powers of two and neighbours around the limits of
/// vectors, ties, subnormal numbers, overflow; zeros; rarely infinities and NaN.
template <class T>
T hard_number(std::mt19937_64& random) {
  if constexpr (tally::is_complex_v<T>) {
    using R = tally::real_t<T>;
    const R re = hard_number<R>(random);
    return {re, hard_number<R>(random)};
  } else if constexpr (sizeof(T) == 2) {
    return T(hard_number<float>(random) / 0x1p100f);
  } else {
    using limits = std::numeric_limits<T>;
    static constexpr int exponents[] = {0,    0,    -1,   -23,  -24,  -25,  -51,   -52,
                                        -53,  -54,  -105, -106, -107, 399,  400,   401,
                                        -399, -400, -401, -537, 511,  1023, -1022, -1074};
    const auto pick = random();
    if (pick % 256 == 0) return limits::infinity();
    if (pick % 256 == 1) return -limits::quiet_NaN();
    if (pick % 16 == 2) return pick & 256 ? T(0) : -T(0);
    // In most rows exponents are close, so that no single term decides.
    const int exponent =
        exponents[(pick >> 10) % (pick & 512 ? std::size(exponents) : std::size_t{10})];
    constexpr T e = limits::epsilon();
    const T factors[] = {T(1), T(1) + e, T(1) - e / 2, T(1.5), std::ldexp(T(pick >> 40), -24)};
    const T magnitude = std::ldexp(factors[(pick >> 20) % 5], exponent);
    return pick & 1024 ? magnitude : -magnitude;
  }
}

/// Rows up to one term longer than are summed side by side, many decided by a last bit: each equals
/// exact_sum.
TEST_ON_EVERY_EXECUTOR(ExactSpmv, HardShortRows) {
  const auto check = [&]<class V, class X>() {
    using A = tally::dot_result_t<V, X>;
    std::mt19937_64 random(1);
    std::vector<std::size_t> lengths;
    for (std::size_t i = 0; i < 2500; ++i) lengths.push_back(i < 200 ? i % 35 : random() % 9);
    const pattern p = matrices::rows_of(lengths, 200, 3);
    std::vector<V> values(p.nonzeros());
    std::vector<X> x(p.columns);
    for (V& v : values) v = hard_number<V>(random);
    for (X& each : x) each = random() % 4 == 0 ? hard_number<X>(random) : X(1);
    // Pairs that cancel, wholly, up to a bit, or not.
    for (std::size_t j = 1; j < values.size(); j += 3) {
      if (random() % 2 == 0) continue;
      values[j] = V(-values[j - 1]);
    }
    const placed offsets(where(), p.row_offsets), columns(where(), p.column_indices);
    const placed placed_values(where(), values);
    const placed placed_x(where(), x);
    const placed y(where(), std::vector<A>(p.rows));
    const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(),
                            placed_values.span()};
    tally::spmv(where(), a, placed_x.span(), y.span(), tally::exact);
    const std::vector<A> got = y.read();
    for (std::size_t i = 0; i < p.rows; ++i) {
      tally::exact_sum<double> re, im;
      const auto number = [](auto v) {
        if constexpr (sizeof(v) == 2)
          return static_cast<float>(v);
        else
          return v;
      };
      for (auto j = static_cast<std::size_t>(p.row_offsets[i]);
           j < static_cast<std::size_t>(p.row_offsets[i + 1]); ++j) {
        const V v = values[j];
        const X u = x[static_cast<std::size_t>(p.column_indices[j])];
        if constexpr (tally::is_complex_v<V> && tally::is_complex_v<X>) {
          re.add_product(v.real(), u.real()), re.add_product(-v.imag(), u.imag());
          im.add_product(v.real(), u.imag()), im.add_product(v.imag(), u.real());
        } else if constexpr (tally::is_complex_v<V>) {
          re.add_product(v.real(), u), im.add_product(v.imag(), u);
        } else if constexpr (tally::is_complex_v<X>) {
          re.add_product(number(v), u.real()), im.add_product(number(v), u.imag());
        } else {
          re.add_product(number(v), u);
        }
      }
      using R = tally::real_t<A>;
      A want = re.round<R>();
      if constexpr (tally::is_complex_v<A>) want = {re.round<R>(), im.round<R>()};
      ASSERT_EQ(data::bytes_of(std::vector{got[i]}), data::bytes_of(std::vector{want}))
          << "row " << i << " of " << lengths[i] << " terms";
    }
  };
  check.template operator()<double, double>();
  check.template operator()<float, float>();
  check.template operator()<float, double>();
  check.template operator()<tally::bfloat16, float>();
  check.template operator()<std::complex<double>, std::complex<double>>();
  check.template operator()<std::complex<float>, std::complex<float>>();
  check.template operator()<double, std::complex<double>>();
  check.template operator()<std::complex<float>, float>();
}

TEST_ON_EVERY_EXECUTOR(ExactSpmv, ManyRows) {
  std::vector<std::size_t> lengths(9000, 2);
  lengths[4500] = 9000;
  compare<double, double>(matrices::rows_of(lengths, 100, 5), kind::plain);
  lengths.assign(500, 1);
  lengths[100] = 20'000;
  for (const kind k : {kind::wide, kind::special}) {
    compare<std::complex<float>, std::complex<float>>(matrices::rows_of(lengths, 100, 5), k);
  }
}

}  // namespace
