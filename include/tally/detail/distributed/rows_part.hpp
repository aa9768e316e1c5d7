// A rank's rows. Interior rows, whose columns are all local, are multiplied while messages travel;
// boundary rows afterwards, on a vector of the elements of lower ranks, this one and higher ones.
// So a row's sum is never split, and its terms stay in order.
#pragma once

#include <tally/csr_matrix.hpp>
#include <tally/detail/distributed/borders.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tally::distributed {

/// A message to or from a neighbour.
struct message {
  int rank = 0;
  std::size_t first = 0;  ///< in the buffer
  std::size_t count = 0;
};

template <class Index>
operand as_indices(const std::vector<Index>& all) {
  return {all.data(), all.size(), 1, sizeof(Index) == 4 ? type::int32 : type::int64};
}

/// @throws error invalid_argument if `Index` cannot hold the number.
template <class Index>
Index narrowed(std::size_t number) {
  if (number > static_cast<std::size_t>((std::numeric_limits<Index>::max)())) {
    throw error(errc::invalid_argument, "tally::distributed: " + std::to_string(number) +
                                            " terms or columns of a rank are more than its "
                                            "indices count");
  }
  return static_cast<Index>(number);
}

/// Rows [first, first + size) of a whole matrix of `total` rows.
/// @throws error size_mismatch, text beginning with `function`, for another number of rows or
///               missing offsets.
template <element Value, csr_index Offset, csr_index Column>
csr_view<Value, Offset, Column> rows_of(const char* function, std::int64_t total,
                                        std::int64_t first, std::int64_t size,
                                        const csr_view<Value, Offset, Column>& whole) {
  const auto refuse = [&](const std::string& what) {
    throw error(errc::size_mismatch, std::string(function) + ": the matrix has " +
                                         std::to_string(whole.rows) + " rows" + what);
  };
  if (whole.rows != static_cast<std::size_t>(total)) {
    refuse(", the layout has " + std::to_string(total) + " elements");
  }
  const std::size_t offsets = whole.row_ends
                                  ? (std::min)(whole.row_offsets.size(), whole.row_ends->size())
                                  : whole.row_offsets.size() - !whole.row_offsets.empty();
  if (offsets < whole.rows) refuse(" and offsets for " + std::to_string(offsets));
  if (whole.rows == 0) return whole;
  const auto begin = static_cast<std::size_t>(first), count = static_cast<std::size_t>(size);
  const auto ends = whole.row_ends ? *whole.row_ends : whole.row_offsets.subspan(1);
  return {count,
          whole.columns,
          whole.row_offsets.subspan(begin, count),
          ends.subspan(begin, count),
          whole.column_indices,
          whole.values};
}

template <element Value, csr_index Index>
struct rows_part {
  /// All rows, boundary ones empty; local columns.
  csr_matrix<Value, Index, Index> interior;
  /// Columns index `used`.
  csr_matrix<Value, Index, Index> boundary;
  std::vector<Index> boundary_rows;  ///< their row indices
  std::vector<std::int64_t> used;    ///< columns of boundary rows, ascending
  std::size_t below = 0;             ///< number of them on lower ranks
  std::vector<Index> own_used;       ///< local indices of those on this rank

  rows_part() = default;
  /// Splits a rank's rows with global column indices.
  /// @throws error size_mismatch, text beginning with `function`; as `tally::validate`;
  ///               invalid_argument for more terms or columns than `Index` counts.
  template <csr_index Offset, csr_index Column>
  rows_part(const char* function, const borders& rows, const borders& columns, int rank,
            const csr_view<Value, Offset, Column>& local) {
    if (local.rows != static_cast<std::size_t>(rows.size(rank)) ||
        local.columns != static_cast<std::size_t>(columns.total())) {
      throw error(errc::size_mismatch,
                  std::string(function) + ": this rank's rows are " + std::to_string(local.rows) +
                      " x " + std::to_string(local.columns) + ", the layouts give " +
                      std::to_string(rows.size(rank)) + " x " + std::to_string(columns.total()));
    }
    validate(serial(), local);
    take(local, columns.first(rank), columns.last(rank));
  }

  /// Messages from other ranks, into `used`.
  std::vector<message> received(const borders& columns, int rank) const {
    std::vector<message> all;
    for (std::size_t i = 0; i < used.size();) {
      const int owner = columns.owner(used[i]);
      const auto end = std::lower_bound(used.begin(), used.end(), columns.last(owner));
      const std::size_t count = static_cast<std::size_t>(end - used.begin()) - i;
      if (owner != rank) all.push_back({owner, i, count});
      i += count;
    }
    return all;
  }

 private:
  // [begin, end) of the terms of row i
  template <class Offset, class Column>
  static std::pair<std::size_t, std::size_t> terms_of(const csr_view<Value, Offset, Column>& local,
                                                      std::size_t i) {
    return {
        static_cast<std::size_t>(local.row_offsets[i]),
        static_cast<std::size_t>(local.row_ends ? (*local.row_ends)[i] : local.row_offsets[i + 1])};
  }

  template <class Offset, class Column>
  void take(const csr_view<Value, Offset, Column>& local, std::int64_t first, std::int64_t last) {
    const auto is_own = [&](std::size_t j) {
      const auto c = static_cast<std::int64_t>(local.column_indices[j]);
      return first <= c && c < last;
    };
    interior.rows = local.rows;
    interior.columns = static_cast<std::size_t>(last - first);
    narrowed<Index>(interior.columns);
    const auto is_interior = [&](std::size_t i) {
      const auto [begin, end] = terms_of(local, i);
      for (std::size_t j = begin; j < end; ++j) {
        if (!is_own(j)) return false;
      }
      return true;
    };
    std::size_t interior_terms = 0, boundary_terms = 0;
    for (std::size_t i = 0; i < local.rows; ++i) {
      const auto [begin, end] = terms_of(local, i);
      (is_interior(i) ? interior_terms : boundary_terms) += end - begin;
    }
    interior.row_offsets.reserve(local.rows + 1);
    interior.column_indices.reserve(interior_terms);
    interior.values.reserve(interior_terms);
    boundary.column_indices.reserve(boundary_terms);
    boundary.values.reserve(boundary_terms);
    std::vector<std::int64_t> boundary_columns;
    boundary_columns.reserve(boundary_terms);
    for (std::size_t i = 0; i < local.rows; ++i) {
      const auto [begin, end] = terms_of(local, i);
      const bool is_whole = is_interior(i);
      if (!is_whole) boundary_rows.push_back(narrowed<Index>(i));
      for (std::size_t j = begin; j < end; ++j) {
        const auto c = static_cast<std::int64_t>(local.column_indices[j]);
        if (is_whole) {
          interior.column_indices.push_back(static_cast<Index>(c - first));
          interior.values.push_back(local.values[j]);
        } else {
          boundary_columns.push_back(c);
          boundary.values.push_back(local.values[j]);
        }
      }
      interior.row_offsets.push_back(narrowed<Index>(interior.values.size()));
      if (!is_whole) {
        boundary.row_offsets.push_back(narrowed<Index>(boundary.values.size()));
      }
    }

    used = boundary_columns;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    boundary.rows = boundary_rows.size();
    boundary.columns = used.size();
    for (const std::int64_t c : boundary_columns) {
      const auto place = std::lower_bound(used.begin(), used.end(), c) - used.begin();
      boundary.column_indices.push_back(static_cast<Index>(place));
    }
    const auto first_own = std::lower_bound(used.begin(), used.end(), first);
    below = static_cast<std::size_t>(first_own - used.begin());
    for (auto c = first_own; c != used.end() && *c < last; ++c) {
      own_used.push_back(static_cast<Index>(*c - first));
    }
  }
};

}  // namespace tally::distributed
