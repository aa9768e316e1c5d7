// csr_from_coo: rows sorted by column, duplicates summed in the order given or exactly.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

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

TEST(Assembly, SumsInTheOrderGiven) {
  expect_sums(random_entries<double>(3000, 40, 25), 40, 25);
  expect_sums(random_entries<float>(3000, 25, 40), 25, 40);
  expect_sums(random_entries<std::complex<double>>(900, 17, 17), 17, 17);
  expect_sums(random_entries<std::complex<float>>(900, 17, 17), 17, 17);
  expect_sums(random_entries<double>(50, 1000, 1000), 1000, 1000);  // most rows empty
}

TEST(Assembly, ExactSumsDoNotDependOnTheOrder) {
  const std::vector<int> zeros(4);
  const std::vector<double> values = {1e100, 1, 0x1p-60, -1e100};
  auto backwards = values;
  std::ranges::reverse(backwards);
  EXPECT_EQ(tally::csr_from_coo(1, 1, zeros, zeros, values).values[0], 0);
  EXPECT_EQ(tally::csr_from_coo(1, 1, zeros, zeros, values, tally::exact).values[0], 1);
  EXPECT_EQ(tally::csr_from_coo(1, 1, zeros, zeros, backwards, tally::exact).values[0], 1);
}

TEST(Assembly, TypesAndIndices) {
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
TEST(Assembly, NaNs) {
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
                     [&] { tally::csr_from_coo(a); });
  a.sorted_values = tally::as_output(sums);
  a.sorted_columns = {offsets.data() + 2, 2, 1, tally::type::int32};
  data::expect_error(errc::overlap, "tally::csr_from_coo: sorted_columns overlaps row_offsets",
                     [&] { tally::csr_from_coo(a); });
  a.sorted_columns = {sums.data(), 2, 1, tally::type::int32};
  data::expect_error(errc::overlap, "tally::csr_from_coo: sorted_values overlaps sorted_columns",
                     [&] { tally::csr_from_coo(a); });
  a.row_offsets = {sums.data(), 4, 1, tally::type::int32};
  a.sorted_columns = tally::as_output(sorted);
  data::expect_error(errc::overlap, "tally::csr_from_coo: sorted_values overlaps row_offsets",
                     [&] { tally::csr_from_coo(a); });
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
                     [&] { tally::csr_from_coo(a); });
}

}  // namespace
