// A host's plan finds rows here that products sum side by side, and may keep their values in the
// order in which they are read.
#pragma once

#include "src/core/sparse/pattern_runs.hpp"
#include "src/core/table.hpp"

#include <tally/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <tuple>
#include <vector>

namespace tally::backends {

/// A slice has so many rows at most, which are summed side by side: kept values of one column are a
/// line of the caches.
template <class W>
inline constexpr std::size_t rows_of_slice = 64 / sizeof(W);

/// How the rows of a series lie.
enum class slice_rows : std::uint8_t {
  adjacent,  ///< slices of adjacent rows: for each its first row
  listed,    ///< slices of rows that are listed
  alone,     ///< rows of more than `short_row` terms, each by itself
  apart      ///< runs of rows that are in no slice, and are summed where they are
};

/// Slices of one kind, one after another, so that products decide once what to do. Kept values lie
/// column by column: term k of all rows of a slice, then term k + 1. Those of a series, and of a
/// row that is alone, begin at a multiple of a full slice's rows; a row's columns, too.
struct slice_series {
  const row_pattern* pattern = nullptr;  ///< of all rows; null if they have columns of their own
  std::uint16_t size = 0;                ///< how many runs or slices there are
  std::uint8_t shortest = 0;             ///< how many terms all rows of slices have
  std::uint8_t longest = 0;  ///< how many the first row has; rows are in the order of length
  slice_rows rows = slice_rows::listed;
  std::uint8_t adjacent = 0;  ///< how many rows each of its slices has, if these are adjacent
};

/// The rows of a window are sliced for themselves, so that products can be shared out. What they
/// have begins at these places.
struct slice_window {
  std::size_t first = 0;  ///< the window's first row
  std::size_t series = 0;
  std::size_t value = 0;
  std::size_t column = 0;  ///< among the narrow or the wide ones
  std::size_t row = 0;     ///< in the list of rows
  std::size_t count = 0;
  std::int64_t lowest = 0;  ///< what its columns are counted from
  bool narrow = true;       ///< whether 16 bits hold them
};

/// Memory that begins where a line of the caches does.
template <class T>
struct line_allocator {
  using value_type = T;
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
  bool operator==(const line_allocator&) const = default;
};
template <class W>
using lines = std::vector<W, line_allocator<W>>;

/// Slices of a matrix's rows.
struct row_slices {
  /// A window has so many rows at most. Fewer windows have fewer series, and fewer slices that are
  /// not full: with 2048 instead of 512 rows grids in the caches took 3 to 6 % less.
  static constexpr std::size_t most_rows = 2048;

  /// Products copy so many bytes of x at most: three quarters of Zen 4's first cache, half of a
  /// Sapphire Rapids'.
  static constexpr std::size_t most_copied_bytes = 24 << 10;

  /// Slices a matrix in host memory, and copies its values if it is to. Rows with one of the
  /// patterns that have been found need no columns; the patterns must outlive the slices, but not
  /// the runs. Windows are such that so many shares can be equal ones.
  /// @pre values are float or double, there are at most 2^31 columns, and three arrays.
  row_slices(const csr_operand& a, const pattern_runs& patterns, bool copies, std::size_t shares);

  /// The series of all windows, one after another; there is one window more, which ends them, and
  /// begins behind the last row.
  std::vector<slice_series> series;
  std::vector<slice_window> windows;
  bool keeps;  ///< whether values are kept, else they are read where they are
  /// The values, of the matrix's type. So many more can be read as a slice has rows.
  std::tuple<lines<float>, lines<double>> values;
  /// The columns that have terms, where they are few among many. Products copy these elements of x,
  /// and a listed column is one's place among them.
  std::vector<std::uint32_t> copied;
  std::vector<std::uint16_t> narrow;  ///< columns of slices without a pattern
  std::vector<std::uint32_t> wide;
  /// What series have of rows, counted from the window's first one. Where a slice has fewer rows
  /// than others, its last one is there more than once.
  std::vector<std::uint16_t> rows;
  /// They say how many rows of a slice without a pattern have a term k, for `shortest` <= k <
  /// `longest`.
  std::vector<std::uint8_t> counts;

  std::size_t longest = 0;        ///< how many terms the longest row has
  std::size_t slice = 0;          ///< rows of a slice
  std::size_t terms = 0;          ///< in all slices
  std::size_t pattern_terms = 0;  ///< in those with a pattern

  /// Returns a text like "values kept in slices of 8 rows, 96 % with patterns, ... bytes".
  std::string describe() const;
};

}  // namespace tally::backends
