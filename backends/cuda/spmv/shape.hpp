// This header decides how a matrix is cut over threads and blocks. None of it can change a bit of
// the result.
//
// Without a plan, rows of a large matrix have a few threads each, and the shares of long ones are
// queued. Of a small matrix a block has a tile. Row i is at i + row_offsets[i] of a line on which
// rows and nonzeros both count, so that neither many empty rows nor a long one make a tile heavy. A
// tile is `tile_size` of that line, and owns the rows that start in it. A last row of more than
// `split_row` terms, which would reach far beyond the tile, is split: its shares, nodes of the
// order's tree, belong to the tiles that they start in, one share a tile at most.
//
// With a plan, each row has a few threads where none is long (threads_a_row), or one thread in a
// tile of 128 adjacent rows where there are many (row_tile). Otherwise a block has a piece, or with
// hot columns a warp: first come shares of the long rows, a chunk or some adjacent ones each, then
// runs of short rows, which end where `run_size` of that line does, at a long row, and after
// `run_span` rows at most.
#pragma once

#include "src/core/order/row_order.hpp"

#include <tally/order.hpp>
#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tally::backends::cuda {

// The figures below are of f64 and int32: the device time in us of one of 40 (for large matrices 8)
// products in a graph. cuSPARSE is the faster of its two algorithms, with its preprocessing, in the
// same run. Device: H200. Dates: 2026-11-21 to 2026-11-23; a table has the kernels of its day.

/// A tile is so long. The first three columns are of prototypes that knew where their tiles start;
/// the fourth is of these kernels, which look for it. In blocks of 128 threads they take up to 10 %
/// longer.
///
///                        512    1024    2048    1024, looked for    cuSPARSE
///     memplus            2.8     3.0     3.9        4.8                 4.8
///     wiki-Vote          3.3     3.5     6.2        5.3                 4.9
///     soc-Slashdot0902   9.8    10.4    13.3       15.0                10.5
///     arrow              5.4     5.3     6.5        5.9                 5.2
///     R-MAT 2^18        42.6    40.0    53.8       51                  37.7
///     R-MAT 2^21       321     287     329        393                 271
inline constexpr int tile_size = 1024;
inline constexpr unsigned tile_threads = 256;

/// A split row has more than a chunk: rows that are split from 256 terms on cost memplus and
/// wiki-Vote 1.3 us.
inline constexpr int split_row = static_cast<int>(order::chunk);

/// A tile holds at most so many terms.
inline constexpr int most_terms = tile_size + split_row;

/// A multiprocessor has so many blocks at a time, and registers must do for that.
template <class A>
inline constexpr unsigned tile_blocks = sizeof(A) <= 8 ? 6 : 3;

/// Where a tile has a row of more terms than this, all its short rows are summed in 8 threads each.
///
///                  in 8 threads    else
///     bcsstk16         4.2          5.2
///     memplus          4.8          5.4
///     R-MAT 2^18      51.1         48.5
inline constexpr int uneven_row = 32;

/// A run is so long. With the 127 terms that its last row may have beyond it, it is loaded in one
/// round: 4 in flight in each thread.
///
///                             256     384    cuSPARSE
///     soc-Slashdot0902        8.5     8.4      10.9
///     R-MAT 2^18             35.6    34.7      38.1
///     2^20 random rows of
///     16 in the mean        137     135       134
///     memplus                 2.11    2.23      5.2
inline constexpr int run_size = 384;
static_assert(run_size + row_order::short_row <= order::chunk);

/// A block of the analysis looks at so many rows together at most, and numbers their runs.
inline constexpr int run_span = 4096;

/// A piece holds so many terms at a time: a run's, or a chunk.
inline constexpr int piece_terms = static_cast<int>(order::chunk);

/// A block that has a piece has so many threads.
///
///                             256     128    cuSPARSE
///     soc-Slashdot0902       10.7     8.4      10.9
///     R-MAT 2^18             42.8    34.7      38.1
///     2^20 random rows      160     135       134
///     arrow                   3.07    3.26      5.6
///     memplus                 2.15    2.23
inline constexpr unsigned piece_threads = 128;
/// A multiprocessor has so many of them at a time.
///
///                     10      12    cuSPARSE
///     R-MAT 2^18     33.1    32.2      35
///     R-MAT 2^21    267     262       266
template <class A>
inline constexpr unsigned piece_blocks = is_complex_v<A> ? 6 : 12;

/// Sums of shares are handed over in at most so many places. A sum of the widest type takes 8 words
/// of scratch memory.
inline constexpr std::size_t most_handovers = 1024;

/// A block that has neither tile nor piece has so many threads.
inline constexpr unsigned row_threads = 256;

/// Returns how many threads each row has, or 0 for pieces, where the longest row has `longest`
/// terms. A few rows run all at once, so that the longest decides; many rows must flow.
///
///                   terms of the      threads a row
///     rows at once  longest row       2       4       8       pieces        cuSPARSE
///     cryg2500            5          1.51            1.57     1.5 to 1.6      5.0
///     ani4                9          1.57    1.55    1.61     1.5 to 1.6      4.9
///     1138_bus           18          1.98    1.34    1.36     1.5 to 1.6      4.7
///     bcsstk16           81                          2.57     2.24            4.8
///     many rows
///     5-point 2048^2                94.6   174               119            134
///     7-point 128^3                 60.8    91                81             84
///     2^21 random rows    5         49.8    86                50.0           58
///     wing                           3.22    3.60              3.56           6.5
///     27-point 128^3               287     186     203       280            249
///     2^20 random rows   31                145     140       134            133
constexpr unsigned threads_a_row(std::size_t rows, std::size_t nonzeros, std::size_t longest) {
  if (longest > row_order::short_row) return 0;
  constexpr std::size_t at_once = 1 << 15;
  if (rows <= at_once) return longest <= 8 ? 2 : longest <= 16 ? 4 : longest <= 32 ? 8 : 0;
  if (nonzeros <= 8 * rows) return longest <= 32 ? 2 : 0;
  // Lengths drawn evenly from 0 to twice the mean go to pieces: 2^20 random rows of 0 to 32 terms
  // take 139 us so and 151 in 4 threads each.
  if (10 * rows * longest > 19 * nonzeros) return 0;
  return nonzeros <= 32 * rows ? 4 : 8;
}

/// Says whether each row has some threads where there is no plan, and which rows are long is not
/// known: not in small matrices, since that takes a second launch. cuSPARSE has not preprocessed.
///
///                               f64                       f32
///                          tiles  threads  cuSPARSE   tiles  threads  cuSPARSE
///     5-point 2048^2        160     101      144       148      79       89
///     7-point 128^3         112      65       92       101      46       54
///     27-point 128^3        371     191      256       333     146      160
///     27-point 40^3          11.7     9.3     13.9      10.3     7.6     11.7
///     7-point 40^3            4.4     5.8      9.0       4.0     5.4      8.6
///     soc-Slashdot0902       14.7    15.4     14.7      13.2    14.4     12.5
///     R-MAT 2^21            393     343      291       359     302      260
constexpr bool has_rows_unplanned(std::size_t nonzeros) { return nonzeros >= 3 << 19; }

/// A multiprocessor has so many blocks that take queued rows then.
inline constexpr unsigned queued_blocks = 4;

/// Returns how many threads each row has then.
///
///                                           4       8      tiles
///     2^20 rows of 16                      68.2    99.0    123
///     2^20 rows of 1 to 16
///     near the diagonal                    70.1    98.4     77.7
///     2^20 random rows of 16 in the mean  154     144      154
constexpr unsigned threads_a_row_unplanned(std::size_t rows, std::size_t nonzeros) {
  return nonzeros <= 8 * rows ? 2 : nonzeros <= 32 * rows ? 4 : 8;
}

/// With hot columns a run, which one warp has, ends with the row that reaches so far, and before it
/// has more terms or rows than these: a warp has all of them in flight at once. With longer runs in
/// several rounds, and shares of long rows in any order, R-MAT 2^18 took 27.5 us instead of 24.8
/// and 2^21 235 instead of 200, in f32 20.3 instead of 17.9 and 177 instead of 154.
inline constexpr int hot_run_size = 224;
inline constexpr int hot_run_terms = 256;
inline constexpr int hot_run_rows = 128;
/// A block cuts so many rows together.
inline constexpr int hot_span = 2048;

/// Returns how many runs there may be: one that ends neither at a long row nor at a multiple of
/// `hot_span` has so many rows and terms.
inline std::size_t most_hot_runs(const csr_operand& a, std::size_t long_rows) {
  constexpr auto least = std::min<std::size_t>(hot_run_rows, hot_run_terms - row_order::short_row);
  return (a.rows + a.nonzeros()) / least + long_rows + a.rows / hot_span + 1;
}

/// A block has so many threads then.
template <class T>
inline constexpr unsigned hot_threads = sizeof(T) == 8 ? 768 : 1024;

/// A block has at most so much shared memory then, less than there is: what is left of a
/// multiprocessor's memory caches the other elements of x. (With all of it, 227 KiB, one kernel
/// took 286 us of R-MAT 2^21 in f64 instead of 199 with 164.)
///
///                      f64           f32
///                   163   195     163   195 KiB
///     R-MAT 2^18   26.7  27.2    19.9  20.1
///     R-MAT 2^21    240   239     190   167
/// Since warps need less of it, R-MAT 2^18 takes 25.3, 25.1, 25.8 and 25.9 us with 131, 163, 179
/// and 195 KiB, in f32 17.9, 18.1 and 18.2 with 131, 179 and 195.
constexpr std::size_t hot_shared_bytes(type element) {
  return std::size_t{element == type::float64 ? 163u : 195u} << 10;
}

/// Says whether to look for hot columns. Finding them takes 4 bytes a column where there are many,
/// so there are not to be many more columns than terms.
inline bool may_have_hot_columns(const csr_operand& a) {
  constexpr std::size_t most = (std::size_t{1} << 31) - 1;
  return a.nonzeros() >= 1 << 21 && a.nonzeros() <= most &&
         a.columns <= std::min(most, 4 * a.nonzeros()) && a.rows <= most;
}

/// Returns log2 of the adjacent groups of terms one of which is looked at to find hot columns. A
/// quarter of the terms of R-MAT 2^18 took a plan 15 us longer than an eighth, a 16th 5 us less;
/// but then the hot columns had less of the terms, in f32 85 % instead of 88.
constexpr unsigned hot_sample_shift(std::size_t nonzeros) {
  return static_cast<unsigned>(std::bit_width(nonzeros >> 19));
}

/// Returns how many counters a column has: where columns are few, atomic additions would wait for
/// each other.
constexpr std::size_t hot_counters(std::size_t columns) {
  return columns < std::size_t{1} << 20 ? 4 : 1;
}

/// Says whether columns that have so many of the terms are hot.
///
///                                     f64                           f32
///                               pieces    hot   cuSPARSE   pieces    hot   cuSPARSE
///     R-MAT 2^18                  31.1   26.7     33.6       25.5   20.1     29.4
///     R-MAT 2^21                 293    240      299        260    167      257
///     2^20 rows, lengths skewed,
///     50 % in 2^13 columns       133    117      129        125     94      119
///     20 %                       138    128      135        130    114      125
///     in all columns alike       139    148      137        131    134      127
TALLY_HOST_DEVICE constexpr bool are_hot(std::size_t nonzeros, std::size_t covered) {
  return 10 * covered >= 2 * nonzeros;
}

/// Says whether nearly all rows have as many terms as the longest.
constexpr bool are_even(std::size_t rows, std::size_t nonzeros, std::size_t longest) {
  return 10 * nonzeros >= 9 * rows * longest;
}

/// Says whether a plan that knows columns, and no better way to have them, cuts rows into pieces
/// though they could have 2 threads each: those of doubles some of which take several rounds. Of
/// 2^21 random rows of 1 to 9 terms pieces took 92 us, 2 threads 100, cuSPARSE 96; of 2 to 5 terms
/// 67, 65, 74; in float of 1 to 9 terms 85, 82, 87.
inline bool has_pieces_of_short_rows(const csr_operand& a, std::size_t longest) {
  return a.values.element == type::float64 && a.rows >= 1 << 18 && a.nonzeros() <= 8 * a.rows &&
         longest > row_order::lanes && !are_even(a.rows, a.nonzeros(), longest);
}

/// A tile of rows has so many, one in each thread of its block, of at most so many terms.
inline constexpr unsigned row_tile = 128;
inline constexpr std::size_t most_row_tile_terms = 64;

/// Says whether rows may go to tiles, before it is known how long they are.
inline bool may_have_row_tiles(const csr_operand& a) {
  constexpr std::size_t at_once = 1 << 15, most_indices = (std::size_t{1} << 31) - 1;
  return a.rows > at_once && a.rows <= most_indices && a.columns <= most_indices &&
         a.nonzeros() <= most_row_tile_terms * a.rows;
}

/// Says whether rows that could have few threads each go to tiles of rows, if what tells where
/// their columns are takes less than the columns do. Where nearly all have one length that is a
/// multiple of 16, threads would read values from the same banks of shared memory.
///
///                                f64                            f32
///                       few threads  tiles  cuSPARSE   few threads  tiles  cuSPARSE
///     patterns
///     5-point 2048^2        95.6      67.1    134.4        73.4      42.2     80.5
///     7-point 128^3         60.7      40.7     83.6        42.3      24.7     47.7
///     27-point 128^3       185.5     121.4    248.7       135.5      65.0    152.0
///     2^20 rows of 16       63.1      81.2     76.8        43.6      43.7     49.5
///     2^19 rows of 53      102.9      81.0    117.1        76.5      40.4     75.7
///     differences
///     2^21 rows of 1 to 9   91.2      78.2     74.5        59.1      56.7     42.1
///     2^20 rows of 1 to 16  65.2      59.7     52.0        50.8      40.8     33.4
inline bool has_row_tiles(const csr_operand& a, std::size_t longest) {
  return may_have_row_tiles(a) && longest <= most_row_tile_terms &&
         !(are_even(a.rows, a.nonzeros(), longest) && longest % 16 == 0);
}

/// Says whether they do with the columns themselves.
///
///                                f64                            f32
///                       few threads  tiles  cuSPARSE   few threads  tiles  cuSPARSE
///     5-point 2048^2        95.6      91.3    134.4        73.4      60.7     80.5
///     5-point 400^2          4.01      3.53     7.44        2.97      3.10     6.09
///     27-point 128^3       185.5     177.0    248.7       135.5     118.5    152.0
///     27-point 40^3          6.14      7.07    11.9         4.19      4.41     8.08
///     2^21 rows of 8        63.5      76.2     87.6        44.6      53.5     52.0
///     2^20 rows of 12       53.6      48.7     59.5        38.9      36.4     39.4
///     2^19 rows of 53      102.9     120.2    117.1        76.5      71.5     75.7
///     2^21 random rows,
///     5 at most             49.7      53.8     58.7        44.1      46.3     48.7
inline bool has_row_tiles_of_columns(const csr_operand& a, std::size_t longest) {
  return a.rows >= 1 << 18 && are_even(a.rows, a.nonzeros(), longest) && longest % 8 != 0 &&
         longest <= 35 && a.column_indices.element == type::int32;
}

/// Returns how many terms all rows of a matrix seem to have, but for a few that have less, as those
/// of grids do; 0 where nothing is to be gained from it. If it is wrong, rows have a few threads,
/// but fewer at a time: 2^21 rows of 1 to 9 doubles took 67.4 us so, elsewhere 60.2. Where the
/// length of rows of doubles is a multiple of 4, threads would read values from the same
/// banks of shared memory: rows of 20 took 90.6 us so, with a few threads 81.8.
///
///                                f64                               f32
///                     in tiles  few threads  cuSPARSE   in tiles  few threads  cuSPARSE
///     5-point 2048^2      99.1     100.3       134.4        68.1      82.3       80.5
///     7-point 128^3       60.6      65.7        84.3        42.6      49.1       47.0
///     9-point 1500^2      78.4     111.0       102.5        56.3      87.6       60.6
///     27-point 128^3     179.9     189.2       248.6       121.3     147.6      151.4
inline std::size_t even_length_unplanned(const csr_operand& a) {
  const std::size_t length = (a.nonzeros() + a.rows - 1) / a.rows;
  const bool is_even = 50 * (length * a.rows - a.nonzeros()) <= a.nonzeros();
  const bool gains = a.values.element != type::float64 || (length > 6 && length % 4 != 0);
  return is_even && gains && has_row_tiles_of_columns(a, length) ? length : 0;
}

/// A thread of such a tile has 8 elements of x in flight where rows have at most so many terms, and
/// 16 elsewhere: 9 points of 1500^2 take 56.3 and 65.6 us in f32.
inline constexpr std::size_t most_8_in_flight = 11;

/// A thread of a tile has 16 elements of x in flight, or 8 where rows are short or few: the
/// 27-point stencil of 128^3 took 121 us with 16 and 133 with 8, that of 40^3 5.8 and 4.3.
constexpr bool has_16_in_flight(std::size_t rows, std::size_t longest) {
  return longest > 8 && rows >= 1 << 18;
}

}  // namespace tally::backends::cuda
