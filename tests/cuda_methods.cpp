// Conditions of the methods of spmv on CUDA, which need no device: what a plan looks for, by the
// shape of a matrix and the length of its longest row.
#include "backends/cuda/spmv/shape.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace {

using tally::type;

tally::csr_operand matrix(std::size_t rows, std::size_t nonzeros, type values = type::float64,
                          type columns = type::int32) {
  tally::csr_operand a;
  a.rows = a.columns = rows;
  a.row_offsets.element = type::int32;
  a.column_indices.element = columns;
  a.values = {nullptr, nonzeros, 1, values};
  return a;
}

/// Returns the threads per row of a plan without smaller columns, 0 for pieces, and the methods
/// that it looks for before.
std::string looks_for(const tally::csr_operand& a, std::size_t longest) {
  using namespace tally::backends::cuda;
  const unsigned threads = threads_per_row(a.rows, a.nonzeros(), longest);
  const bool tiles = threads > 0 && has_row_tiles(a, longest);
  std::string all;
  const auto add = [&](bool is_possible, const char* name) {
    if (is_possible) all += std::string(name) + " ";
  };
  add(tiles, "tiles");
  add(may_have_band(a, longest), "band");
  add(may_have_hub_columns(a), "hub");
  const bool are_even_tiles = tiles && has_row_tiles_of_columns(a, longest);
  add(are_even_tiles, "even");
  const bool are_pieces = !are_even_tiles && has_pieces_of_short_rows(a, longest);
  return all + (threads == 0 || are_pieces ? "pieces" : std::to_string(threads));
}

TEST(CudaMethods, ByShape) {
  EXPECT_EQ(looks_for(matrix(2000, 9000), 8), "2");
  EXPECT_EQ(looks_for(matrix(2000, 20000), 16), "4");
  EXPECT_EQ(looks_for(matrix(2000, 50000), 32), "8");
  EXPECT_EQ(looks_for(matrix(2000, 50000), 33), "pieces");
  EXPECT_EQ(looks_for(matrix(17'758, 126'150), 574), "pieces");
}

TEST(CudaMethods, OfGrids) {
  constexpr std::size_t rows = 1 << 22;
  EXPECT_EQ(looks_for(matrix(rows, 5 * rows), 5), "tiles hub even 2");
  EXPECT_EQ(looks_for(matrix(rows, 5 * rows, type::float64, type::int64), 5), "tiles hub 2");
  EXPECT_EQ(looks_for(matrix(rows, 27 * rows), 27), "tiles band hub even 4");
  // The same banks.
  EXPECT_EQ(looks_for(matrix(rows, 16 * rows), 16), "band hub 4");
  EXPECT_EQ(looks_for(matrix(rows, 8 * rows), 8), "tiles hub 2");
}

TEST(CudaMethods, OfShortRows) {
  constexpr std::size_t rows = 1 << 20;
  EXPECT_EQ(looks_for(matrix(rows, 5 * rows), 9), "tiles hub pieces");
  EXPECT_EQ(looks_for(matrix(rows, 5 * rows, type::float32), 9), "tiles hub 2");
  EXPECT_EQ(looks_for(matrix(rows, 16 * rows, type::float32), 24), "tiles band hub 4");
  EXPECT_EQ(looks_for(matrix(rows, 16 * rows, type::float32), 33), "band hub pieces");  // uneven
  EXPECT_EQ(looks_for(matrix(rows, 16 * rows, type::float32), 129), "hub pieces");
  EXPECT_EQ(looks_for(matrix(1 << 17, 60 << 17), 100), "band hub 8");
  EXPECT_EQ(looks_for(matrix(1 << 15, 60 << 15), 100), "pieces");
}

TEST(CudaMethods, OfVeryLongRows) {
  using tally::backends::cuda::may_have_hub_columns;
  EXPECT_TRUE(may_have_hub_columns(matrix(1 << 12, 2048 << 12)));
  EXPECT_FALSE(may_have_hub_columns(matrix(1 << 12, 2049 << 12)));
}

TEST(CudaMethods, RowBlocks) {
  using tally::backends::cuda::may_have_row_blocks;
  constexpr std::size_t rows = 1 << 20;
  EXPECT_TRUE(may_have_row_blocks(matrix(rows, 8 * rows), 128));
  EXPECT_TRUE(may_have_row_blocks(matrix(rows, 8 * rows, type::float32), 128));
  EXPECT_FALSE(may_have_row_blocks(matrix(rows, 8 * rows), 129));
  EXPECT_FALSE(may_have_row_blocks(matrix(rows, 8 * rows - 1), 16));
  EXPECT_FALSE(may_have_row_blocks(matrix(rows / 2, 8 * rows - 1), 32));
  EXPECT_FALSE(may_have_row_blocks(matrix(rows, 8 * rows, type::complex64), 16));
  EXPECT_FALSE(may_have_row_blocks(matrix(rows, 8 * rows, type::float64, type::int64), 16));
}

TEST(CudaMethods, FewColumns) {
  using tally::backends::cuda::has_few_columns;
  constexpr std::size_t rows = 1 << 14;  // and columns
  EXPECT_TRUE(has_few_columns(matrix(rows, 512 * rows)));
  EXPECT_FALSE(has_few_columns(matrix(rows, 512 * rows - 1)));
  EXPECT_TRUE(has_few_columns(matrix(50 << 10, std::size_t{512 * 50} << 10, type::float32)));
  EXPECT_FALSE(has_few_columns(matrix(50 << 10, std::size_t{512 * 50} << 10)));
  EXPECT_FALSE(has_few_columns(matrix(rows, 512 * rows, type::float64, type::int64)));
}

TEST(CudaMethods, LongRows) {
  using tally::backends::cuda::has_long_rows;
  EXPECT_TRUE(has_long_rows(matrix(128, 1 << 20)));
  EXPECT_FALSE(has_long_rows(matrix(129, 1 << 20)));
  EXPECT_FALSE(has_long_rows(matrix(1, (1 << 20) - 1)));
  EXPECT_FALSE(has_long_rows(matrix(128, 1 << 20, type::float64, type::int64)));
}

TEST(CudaMethods, WholeRows) {
  using tally::backends::cuda::may_have_whole_rows;
  EXPECT_TRUE(may_have_whole_rows(matrix(1 << 12, 1 << 20), 4096));
  EXPECT_FALSE(may_have_whole_rows(matrix(1 << 12, 1 << 20), 4097));
  EXPECT_FALSE(may_have_whole_rows(matrix(1 << 12, (1 << 20) - 1), 4096));
  EXPECT_FALSE(may_have_whole_rows(matrix(1 << 12, 1 << 20, type::float64, type::int64), 4096));
}

TEST(CudaMethods, WholeRowsUnplanned) {
  using tally::backends::cuda::has_whole_rows_unplanned;
  EXPECT_TRUE(has_whole_rows_unplanned(matrix(1 << 12, 1 << 20)));
  EXPECT_FALSE(has_whole_rows_unplanned(matrix((1 << 12) + 1, 1 << 20)));
  EXPECT_TRUE(has_whole_rows_unplanned(matrix(1 << 9, 1 << 20)));
  EXPECT_FALSE(has_whole_rows_unplanned(matrix((1 << 9) - 1, 1 << 20)));
  EXPECT_FALSE(has_whole_rows_unplanned(matrix(1 << 12, 1 << 20, type::float64, type::int64)));
}

TEST(CudaMethods, UnevenRowsUnplanned) {
  using tally::backends::cuda::has_uneven_rows_unplanned;
  constexpr std::size_t rows = 1 << 18;
  EXPECT_TRUE(has_uneven_rows_unplanned(matrix(rows, 15 * rows + rows / 2)));
  EXPECT_FALSE(has_uneven_rows_unplanned(matrix(rows, 16 * rows - 1)));  // seem even
  EXPECT_FALSE(has_uneven_rows_unplanned(matrix(rows, 7 * rows + rows / 2)));
  EXPECT_FALSE(has_uneven_rows_unplanned(matrix(rows, 24 * rows + rows / 2)));
  EXPECT_FALSE(has_uneven_rows_unplanned(matrix(8 * rows, 124 * rows)));
  EXPECT_FALSE(has_uneven_rows_unplanned(matrix(2 * rows, 31 * rows, type::float32)));
  EXPECT_TRUE(has_uneven_rows_unplanned(matrix(1 << 15, (17 << 15) + 1)));
  EXPECT_FALSE(has_uneven_rows_unplanned(matrix(1 << 14, (17 << 14) + 1)));  // small
  EXPECT_FALSE(has_uneven_rows_unplanned(matrix(rows, 16 * rows + 1, type::float64, type::int64)));
}

TEST(CudaMethods, EvenRowsUnplanned) {
  using tally::backends::cuda::even_length_unplanned;
  constexpr std::size_t rows = 1 << 20;
  EXPECT_EQ(even_length_unplanned(matrix(rows, 27 * rows - rows / 4)), 27);
  EXPECT_EQ(even_length_unplanned(matrix(rows, 27 * rows - 3 * rows / 4)), 0);  // not even
  EXPECT_EQ(even_length_unplanned(matrix(rows, 29 * rows - rows / 4)), 0);
  EXPECT_EQ(even_length_unplanned(matrix(rows, 5 * rows, type::float32)), 5);
  EXPECT_EQ(even_length_unplanned(matrix(rows, 5 * rows)), 0);
}

TEST(CudaMethods, BandsPay) {
  using tally::backends::cuda::has_band;
  const tally::csr_operand a = matrix(1 << 17, 1 << 20);  // 12 bytes per term
  EXPECT_TRUE(has_band(a, std::size_t{9} << 20, 1 << 19));
  EXPECT_FALSE(has_band(a, std::size_t{10} << 20, 1 << 19));
  EXPECT_FALSE(has_band(a, std::size_t{9} << 20, (1 << 19) + 1));
}

TEST(CudaMethods, WithoutPlan) {
  using namespace tally::backends::cuda;
  EXPECT_FALSE(has_rows_unplanned((3 << 19) - 1));
  EXPECT_TRUE(has_rows_unplanned(3 << 19));
  EXPECT_EQ(threads_per_row_unplanned(100, 800), 2u);
  EXPECT_EQ(threads_per_row_unplanned(100, 801), 4u);
  EXPECT_EQ(threads_per_row_unplanned(100, 3201), 8u);
  constexpr std::size_t rows = 1 << 20;
  EXPECT_EQ(even_length_unplanned(matrix(rows, 27 * rows - rows / 4)), 27u);
  EXPECT_EQ(even_length_unplanned(matrix(rows, 9 * rows)), 9u);
  EXPECT_EQ(even_length_unplanned(matrix(rows, 9 * rows - rows / 2)), 0u);  // over 2 % fewer
  EXPECT_EQ(even_length_unplanned(matrix(rows, 12 * rows)), 0u);
  EXPECT_EQ(even_length_unplanned(matrix(rows, 12 * rows, type::float32)), 12u);
  EXPECT_EQ(even_length_unplanned(matrix(rows, 27 * rows, type::float64, type::int64)), 0u);
}

}  // namespace
