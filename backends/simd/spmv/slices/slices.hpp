// SELL-C-σ slices of a host's plan: rows summed side by side, optionally with values copied in
// reading order.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/row_results.hpp"
#include "backends/simd/spmv/slices/patterns.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <variant>
#include <vector>

namespace tally::backends::simd {

/// Rows of a slice (C): values of one column fill a cache line.
template <class W>
inline constexpr std::size_t rows_of_slice = 64 / sizeof(W);

/// Row order of a group.
enum class slice_rows : std::uint8_t {
  adjacent,  ///< slices of adjacent rows; the first row of each
  apart,     ///< ranges of rows outside slices, summed where they are
  listed,    ///< slices of listed rows
  alone,     ///< single rows of more than `short_row` terms
  alike      ///< ranges of rows with equal columns, listed once; values in place
};

/// Consecutive slices of one kind, so that kernels branch once. Copied values are column-major:
/// term k of all rows, then k + 1; a group's begin at a multiple of a full slice's rows.
struct slice_group {
  const row_pattern* pattern = nullptr;  ///< of adjacent rows; columns of others are listed
  std::uint16_t size = 0;                ///< number of slices or ranges
  std::uint8_t shortest = 0;             ///< terms that all rows have
  std::uint8_t longest = 0;              ///< terms of the first row; rows are sorted by length
  slice_rows rows = slice_rows::listed;
  std::uint8_t adjacent = 0;  ///< rows per slice, if adjacent
};

/// Sorting scope (σ): rows sliced together, distributed as a unit. Members index the arrays of
/// `row_slices`.
struct sorting_scope {
  std::size_t first = 0;
  std::size_t group = 0;
  std::size_t value = 0;
  std::size_t column = 0;
  std::size_t row = 0;  ///< in `rows`
  std::size_t count = 0;
  std::int64_t lowest = 0;  ///< base of column indices
  bool narrow = true;       ///< 16-bit indices, else 32-bit ones
};

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

/// Values of slices.
enum class slice_values : std::uint8_t {
  in_place,  ///< those of the matrix, row after row
  copied,    ///< packed in the plan
  gathered   ///< those of the matrix, at places packed in the plan
};

struct row_slices {
  /// Rows per sorting scope: more means fewer groups and partial slices (tuning/spmv.md:
  /// row_slices::max_rows).
  static constexpr std::size_t max_rows = rows_of_scope;

  /// Slices a matrix in host memory, optionally copying values. Sorting scopes divide into `shares`
  /// equal parts.
  /// @pre float or double values, at most 2^31 columns, three arrays.
  row_slices(const csr_operand& a, bool copies, std::size_t shares);
  /// Slices a transpose, whose values are gathered. `places`: int32, one for each term.
  row_slices(const csr_operand& a, const operand& places);

  pattern_lists patterns;
  std::vector<slice_group> groups;
  std::vector<sorting_scope> scopes;  ///< closed by one past the end
  slice_values reads;
  /// Copied values, of the matrix's type, and places of those gathered; padded by one slice's rows.
  std::variant<lines<float>, lines<double>> values;
  lines<std::int32_t> places;
  lines<std::byte> columns;  ///< of listed and single rows
  /// Rows of groups, relative to their scope: the first of adjacent ones; of ranges a row and a
  /// count each. Partial slices repeat the last row.
  std::vector<std::uint16_t> rows;
  /// Rows with a term k, `shortest` <= k < `longest`, of listed rows.
  std::vector<std::uint8_t> counts;

  std::size_t longest = 0;        ///< terms of the longest row
  std::size_t terms;              ///< of the matrix
  std::size_t pattern_terms = 0;  ///< in slices of adjacent rows

  bool packs() const { return reads != slice_values::in_place; }
  std::string describe() const;
};

}  // namespace tally::backends::simd
