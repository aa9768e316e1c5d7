// csr_from_coo: rows sorted by column, duplicates summed in the order given or exactly; on every
// executor the arrays of a literal map.
#include "tests/data.hpp"
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace {

using tally::errc;

template <class V>
struct entries {
  std::vector<std::int32_t> rows, columns;
  std::vector<V> values;
};

/// Entries in random order, about three per place.
template <class V>
entries<V> random_entries(std::size_t n, std::uint32_t height, std::uint32_t width) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  entries<V> all;
  for (std::size_t i = 0; i < n; ++i) {
    all.rows.push_back(static_cast<std::int32_t>(random() % height));
    all.columns.push_back(static_cast<std::int32_t>(random() % width));
    if constexpr (tally::is_complex_v<V>) {
      using R = tally::real_t<V>;
      all.values.emplace_back(static_cast<R>(uniform(random)), static_cast<R>(uniform(random)));
    } else {
      all.values.push_back(static_cast<V>(uniform(random)));
    }
  }
  return all;
}

template <class V>
void expect_sums(const entries<V>& all, std::size_t height, std::size_t width) {
  std::map<std::pair<std::int32_t, std::int32_t>, V> sums;
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    const auto [at, is_first] = sums.try_emplace({all.rows[i], all.columns[i]}, all.values[i]);
    if (!is_first) at->second = at->second + all.values[i];
  }
  const auto a = tally::csr_from_coo(height, width, all.rows, all.columns, all.values);
  tally::validate(tally::serial(), a.view());
  ASSERT_EQ(a.values.size(), sums.size());
  ASSERT_EQ(a.column_indices.size(), sums.size());
  std::size_t k = 0, row = 0;
  for (const auto& [at, sum] : sums) {
    while (k == static_cast<std::size_t>(a.row_offsets[row + 1])) ++row;
    ASSERT_EQ(at.first, static_cast<std::int32_t>(row));
    ASSERT_EQ(at.second, a.column_indices[k]);
    ASSERT_TRUE(data::same_bits(a.values[k], sum)) << "row " << row << ", column " << at.second;
    ++k;
  }
}

class Assembly : public data::OnEveryExecutor {
 protected:
  template <class Offset, class Column, class V, class Index>
  void compare(const std::vector<Index>& rows, const std::vector<Index>& columns,
               const std::vector<V>& values, std::size_t height, std::size_t width,
               std::ptrdiff_t step = 1) {
    const std::size_t n = values.size() / static_cast<std::size_t>(std::abs(step));
    const data::placed i(where(), rows);
    const data::placed j(where(), columns);
    const data::placed v(where(), values);
    const data::placed offsets(where(), std::vector<Offset>(height + 1, 7));
    const data::placed sorted(where(), std::vector<Column>(n, 7));
    const data::placed sums(where(), std::vector<V>(n, V(7)));
    const auto every = [&](const auto& all) { return tally::strided(all.data(), n, step); };
    for (const tally::grade g : {tally::grade{}, tally::grade(tally::exact)}) {
      std::map<std::pair<Index, Index>, std::vector<V>> places;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = step > 0 ? k * static_cast<std::size_t>(step)
                                        : (n - 1 - k) * static_cast<std::size_t>(-step);
        places[{rows[at], columns[at]}].push_back(values[at]);
      }
      const std::size_t stored =
          tally::csr_from_coo(where(), height, width, every(i.span()), every(j.span()),
                              every(v.span()), offsets.span(), sorted.span(), sums.span(), g);
      ASSERT_EQ(stored, places.size());
      const auto got_offsets = offsets.read();
      const auto got_columns = sorted.read();
      const auto got = sums.read();
      std::size_t k = 0, row = 0;
      ASSERT_EQ(got_offsets[0], 0);
      for (const auto& [at, terms] : places) {
        while (k == static_cast<std::size_t>(got_offsets[row + 1])) ++row;
        ASSERT_EQ(static_cast<std::size_t>(at.first), row);
        ASSERT_EQ(static_cast<std::size_t>(at.second), static_cast<std::size_t>(got_columns[k]));
        ASSERT_TRUE(data::same_bits(got[k], expected(terms, g)))
            << tally::name(tally::type_of<V>) << ", row " << row << ", column " << at.second
            << ", terms " << terms.size() << ", exact " << g.is_exact();
        ++k;
      }
      for (; row < height; ++row) {
        ASSERT_EQ(static_cast<std::size_t>(got_offsets[row + 1]), stored);
      }
    }
  }

  /// About `each` entries per place.
  template <class V, class Offset = std::int32_t, class Column = std::int32_t,
            class Index = std::int32_t>
  void compare_random(std::size_t n, std::size_t height, std::size_t width,
                      data::kind kind = data::kind::plain, std::ptrdiff_t step = 1) {
    std::mt19937_64 random(n);
    std::vector<Index> rows(n), columns(n);
    for (Index& row : rows) row = static_cast<Index>(random() % height);
    for (Index& column : columns) column = static_cast<Index>(random() % width);
    compare<Offset, Column>(rows, columns,
                            data::elements_of<V>(data::random_bytes<V>(n, n + 1, kind)), height,
                            width, step);
  }

 private:
  template <class V>
  static V expected(const std::vector<V>& terms, tally::grade g) {
    if (terms.size() == 1) return terms[0];
    if (g.is_exact()) return rounded<V>(tally::sum(tally::serial(), terms, tally::exact));
    using S = tally::dot_result_t<V, V>;
    S sum = S(terms[0]);
    for (std::size_t k = 1; k < terms.size(); ++k) sum = sum + S(terms[k]);
    return rounded<V>(sum);
  }
  /// A sum as V, each NaN the one.
  template <class V, class S>
  static V rounded(const S& sum) {
    if constexpr (tally::is_complex_v<V>) {
      return sum == sum
                 ? V(sum)
                 : V(rounded<tally::real_t<V>>(sum.real()), rounded<tally::real_t<V>>(sum.imag()));
    } else {
      return tally::detail::canonical(static_cast<V>(sum));
    }
  }
};

TEST_ON_EVERY_EXECUTOR(Assembly, EveryTypeAndSize) {
  const auto compare_type = [&]<class V>(V) {
    for (const std::size_t n : {0, 1, 2, 33, 257, 3000}) {
      ASSERT_NO_FATAL_FAILURE(compare_random<V>(n, 40, 25));
    }
    for (const data::kind k : {data::kind::wide, data::kind::special}) {
      ASSERT_NO_FATAL_FAILURE(compare_random<V>(900, 17, 19, k));
    }
  };
  compare_type(double{});
  compare_type(float{});
  compare_type(tally::float16{});
  compare_type(tally::bfloat16{});
  compare_type(std::complex<float>{});
  compare_type(std::complex<double>{});
}

TEST_ON_EVERY_EXECUTOR(Assembly, IndicesOfAnyType) {
  compare_random<double, std::int64_t, std::int32_t, std::int32_t>(500, 9, 7);
  compare_random<double, std::int32_t, std::int64_t, std::int64_t>(500, 9, 7);
  compare_random<float, std::int64_t, std::int64_t, std::int64_t>(500, 9, 7);
  compare_random<double>(600, 9, 7, data::kind::plain, 2);
  compare_random<double>(600, 9, 7, data::kind::plain, -3);
  // Wider than 32 bits, and as high as has room.
  const std::vector<std::int64_t> rows = {3, 0, 3, 99'999, 3};
  const std::vector<std::int64_t> columns = {std::int64_t{1} << 40, 5, (std::int64_t{1} << 40) + 1,
                                             0, std::int64_t{1} << 40};
  compare<std::int64_t, std::int64_t>(rows, columns, std::vector<double>{1, 2, 3, 4, 5}, 100'000,
                                      (std::size_t{1} << 41) - 1);
  compare<std::int64_t, std::int64_t>(
      std::vector<std::int32_t>{1, 0, 1, 1}, std::vector<std::int32_t>{7, 3, 5, 7},
      std::vector<double>{1, 2, 3, 4}, 2, (std::size_t{1} << 32) + 1);
}

TEST_ON_EVERY_EXECUTOR(Assembly, Shapes) {
  compare_random<double>(50, 1000, 1000);  // most rows empty
  compare_random<double>(3000, 1, 1);      // one place
  compare_random<float>(3000, 1, 500);
  compare_random<std::complex<double>>(3000, 500, 1);
  std::vector<std::int32_t> none;
  compare<std::int32_t, std::int32_t>(none, none, std::vector<double>{}, 5, 3);
  compare<std::int32_t, std::int32_t>(none, none, std::vector<double>{}, 0, 0);
}

/// More than a block's entries on a device, and than a bucket's on a CPU.
TEST_ON_EVERY_BACKEND(Assembly, ManyEntries) {
  compare_random<double>(200'000, 3000, 70);
  compare_random<float>(135'000, 300, 1 << 30);  // several digits of a column
  compare_random<double, std::int64_t, std::int64_t, std::int64_t>(135'000, 20'000,
                                                                   std::size_t{1} << 40);
}

/// Entries in order and nearly so, some of one place.
TEST_ON_EVERY_BACKEND(Assembly, EntriesInOrder) {
  for (const std::size_t n : {5000, 140'000}) {
    std::mt19937_64 random(n);
    std::vector<std::int32_t> rows(n), columns(n);
    for (std::size_t k = 0; k < n; ++k) {
      rows[k] = static_cast<std::int32_t>(k / 9 * 2);
      columns[k] = static_cast<std::int32_t>(k / 9 * 2 + k % 9 / 2);
    }
    const auto values =
        data::elements_of<double>(data::random_bytes<double>(n, n, data::kind::plain));
    const std::size_t size = n / 9 * 2 + 10;
    compare<std::int32_t, std::int32_t>(rows, columns, values, size, size);
    std::ranges::reverse(rows);
    std::ranges::reverse(columns);
    compare<std::int32_t, std::int32_t>(rows, columns, values, size, size);
    for (std::size_t k = 0; k + 64 <= n; k += 64) {
      for (std::size_t i = 63; i > 0; --i) {
        const std::size_t j = random() % (i + 1);
        std::swap(rows[k + i], rows[k + j]);
        std::swap(columns[k + i], columns[k + j]);
      }
    }
    compare<std::int32_t, std::int32_t>(rows, columns, values, size, size);
  }
}

/// Entries of one place, with others of their row and column between them.
TEST_ON_EVERY_EXECUTOR(Assembly, GoldenBits) {
  for (const golden::assembly_row& row : golden::assembly_rows) {
    std::vector<std::int32_t> rows(2 * row.n), columns(2 * row.n);
    for (std::size_t k = 0; k < 2 * row.n; ++k) {
      rows[k] = k % 2 == 0 || k % 4 == 1;
      columns[k] = k % 2 == 0 || k % 4 == 3;
    }
    const data::placed i(where(), rows), j(where(), columns);
    const data::placed offsets(where(), std::vector<std::int32_t>(3));
    const data::placed sorted(where(), std::vector<std::int32_t>(2 * row.n));
    const auto last_sum = [&](const auto& terms, tally::grade g) {
      auto values = terms;
      for (std::size_t k = 0; k < terms.size(); ++k) {
        values.insert(values.begin() + static_cast<std::ptrdiff_t>(2 * k + 1), 3);
      }
      const data::placed v(where(), values), sums(where(), values);
      const std::size_t stored = tally::csr_from_coo(where(), 2, 2, i.span(), j.span(), v.span(),
                                                     offsets.span(), sorted.span(), sums.span(), g);
      return sums.read()[stored - 1];
    };
    const auto x = golden::doubles(row.n, 1);
    const auto y = golden::floats(row.n, 5);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(last_sum(x, {})), row.f64) << row.n;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(last_sum(x, tally::exact)), row.exact_f64) << row.n;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(last_sum(y, {})), row.f32) << row.n;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(last_sum(y, tally::exact)), row.exact_f32) << row.n;
  }
}

TEST_ON_EVERY_EXECUTOR(Assembly, RefusesEntriesOutside) {
  const std::size_t n = 1000;
  const std::vector<std::int32_t> zeros(n);
  std::vector<std::int32_t> wrong(n);
  wrong[700] = -1;
  wrong[400] = 5;
  const data::placed good(where(), zeros), bad(where(), wrong);
  const data::placed values(where(), std::vector<double>(n, 1));
  const data::placed offsets(where(), std::vector<std::int32_t>(6, 7));
  const data::placed sorted(where(), std::vector<std::int64_t>(n, 7));
  const data::placed sums(where(), std::vector<double>(n, 7));
  const auto call = [&](const auto& rows, const auto& columns) {
    (void)tally::csr_from_coo(where(), 5, 4, rows.span(), columns.span(), values.span(),
                              offsets.span(), sorted.span(), sums.span());
  };
  data::expect_error(errc::invalid_argument,
                     "tally::csr_from_coo: row_indices[400] is 5; there are 5 rows",
                     [&] { call(bad, bad); });
  data::expect_error(errc::invalid_argument,
                     "tally::csr_from_coo: column_indices[400] is 5; there are 4 columns",
                     [&] { call(good, bad); });
  EXPECT_EQ(offsets.read(), std::vector<std::int32_t>(6, 7));
  EXPECT_EQ(sorted.read(), std::vector<std::int64_t>(n, 7));
  EXPECT_EQ(sums.read(), std::vector<double>(n, 7));
}

TEST(AssembledMatrix, SumsInTheOrderGiven) {
  expect_sums(random_entries<double>(3000, 40, 25), 40, 25);
  expect_sums(random_entries<float>(3000, 25, 40), 25, 40);
  expect_sums(random_entries<std::complex<double>>(900, 17, 17), 17, 17);
  expect_sums(random_entries<std::complex<float>>(900, 17, 17), 17, 17);
  expect_sums(random_entries<double>(50, 1000, 1000), 1000, 1000);  // most rows empty
}

TEST(AssembledMatrix, ExactSumsDoNotDependOnTheOrder) {
  const std::vector<int> zeros(4);
  const std::vector<double> values = {1e100, 1, 0x1p-60, -1e100};
  auto backwards = values;
  std::ranges::reverse(backwards);
  EXPECT_EQ(tally::csr_from_coo(1, 1, zeros, zeros, values).values[0], 0);
  EXPECT_EQ(tally::csr_from_coo(1, 1, zeros, zeros, values, tally::exact).values[0], 1);
  EXPECT_EQ(tally::csr_from_coo(1, 1, zeros, zeros, backwards, tally::exact).values[0], 1);
}

TEST(AssembledMatrix, TypesAndIndices) {
  const std::vector<std::int64_t> rows = {1, 0, 1, 1}, columns = {2, 1, 0, 2};
  const std::vector<tally::bfloat16> values = {tally::bfloat16(1.5f), tally::bfloat16(2.0f),
                                               tally::bfloat16(3.0f), tally::bfloat16(0.25f)};
  const auto a = tally::csr_from_coo<std::int64_t, std::int32_t>(2, 3, rows, columns, values);
  EXPECT_EQ(a.row_offsets, (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(a.column_indices, (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(static_cast<float>(a.values[2]), 1.75f);
  const auto strided =
      tally::csr_from_coo(2, 3, tally::strided(rows.data(), 2, 2),
                          tally::strided(columns.data(), 2, 2), std::array{-0.0, 7.0});
  EXPECT_EQ(strided.row_offsets, (std::vector<int>{0, 0, 2}));
  EXPECT_EQ(strided.column_indices, (std::vector<int>{0, 2}));
  EXPECT_EQ(strided.values[0], 7);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(strided.values[1]), std::bit_cast<std::uint64_t>(-0.0));
  const auto none =
      tally::csr_from_coo(3, 2, std::vector<int>(), std::vector<int>(), std::vector<double>());
  EXPECT_EQ(none.row_offsets, (std::vector<int>(4)));
}

/// A NaN of a sum is the one NaN; a value alone stays as it is.
TEST(AssembledMatrix, NaNs) {
  const double odd = std::bit_cast<double>(0xfff8000000001234u);
  const std::vector<int> rows = {0, 0, 1}, columns = {0, 0, 0};
  const auto a = tally::csr_from_coo(2, 1, rows, columns, std::vector<double>{odd, 1, odd});
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.values[0]), 0x7ff8000000000000u);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.values[1]), 0xfff8000000001234u);
}

TEST(AssemblyErrors, OfArguments) {
  const std::vector<int> rows = {0, 2}, columns = {1, 0};
  const std::vector<double> values = {1, 2};
  data::expect_error(errc::invalid_argument,
                     "tally::csr_from_coo: row_indices[1] is 2; there are 2 rows",
                     [&] { tally::csr_from_coo(2, 2, rows, columns, values); });
  data::expect_error(errc::invalid_argument,
                     "tally::csr_from_coo: row_indices[0] is -2147483648; there are 2 rows", [&] {
                       tally::csr_from_coo(2, 2,
                                           std::vector<int>{std::numeric_limits<int>::min(), 0},
                                           columns, values);
                     });
  data::expect_error(errc::invalid_argument,
                     "tally::csr_from_coo: column_indices[0] is 1; there are 1 columns",
                     [&] { tally::csr_from_coo(3, 1, rows, columns, values); });
  data::expect_error(errc::size_mismatch,
                     "tally::csr_from_coo: row_indices has 2 elements, values has 1",
                     [&] { tally::csr_from_coo(3, 2, rows, columns, std::vector<double>{1}); });
  std::vector<int> offsets(4), sorted(2);
  std::vector<double> sums(2);
  tally::coo_arguments a;
  a.rows = 3;
  a.columns = 2;
  a.row_indices = tally::as_operand(rows);
  a.column_indices = tally::as_operand(columns);
  a.values = tally::as_operand(values);
  a.row_offsets = tally::as_output(offsets);
  a.sorted_columns = tally::as_output(sorted);
  a.sorted_values = {sums.data(), 1, 1, tally::type::float64};
  data::expect_error(errc::size_mismatch,
                     "tally::csr_from_coo: sorted_values has 1 elements; 2 are needed",
                     [&] { tally::csr_from_coo(tally::serial(), a); });
  a.sorted_values = tally::as_output(sums);
  a.sorted_columns = {offsets.data() + 2, 2, 1, tally::type::int32};
  data::expect_error(errc::overlap, "tally::csr_from_coo: sorted_columns overlaps row_offsets",
                     [&] { tally::csr_from_coo(tally::serial(), a); });
  a.sorted_columns = {sums.data(), 2, 1, tally::type::int32};
  data::expect_error(errc::overlap, "tally::csr_from_coo: sorted_values overlaps sorted_columns",
                     [&] { tally::csr_from_coo(tally::serial(), a); });
  a.row_offsets = {sums.data(), 4, 1, tally::type::int32};
  a.sorted_columns = tally::as_output(sorted);
  data::expect_error(errc::overlap, "tally::csr_from_coo: sorted_values overlaps row_offsets",
                     [&] { tally::csr_from_coo(tally::serial(), a); });
  a.row_offsets = tally::as_output(offsets);
  for (const int digits : {62, 63}) {
    const std::size_t many = std::size_t{1} << digits;
    data::expect_error(errc::invalid_argument,
                       "tally::csr_from_coo: the matrix has " + std::to_string(many) +
                           " rows and 2 columns; there can be 281474976710656",
                       [&] { tally::csr_from_coo(many, 2, rows, columns, values); });
  }
  a.sorted_values = {const_cast<double*>(values.data()), 2, 1, tally::type::float64};
  data::expect_error(errc::overlap, "tally::csr_from_coo: sorted_values overlaps values",
                     [&] { tally::csr_from_coo(tally::serial(), a); });
}

}  // namespace
