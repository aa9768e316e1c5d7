// A rank's rows. Interior rows, whose columns are all local, are multiplied while messages travel;
// boundary rows afterwards, on a vector of the elements of lower ranks, this one and higher ones.
// So a row's sum is never split, and its terms stay in order.
#pragma once

#include <tally/buffer.hpp>
#include <tally/distributed/transport.hpp>
#include <tally/sparse/csr_matrix.hpp>
#include <tally/sparse/spmv.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tally::detail {

/// A message to or from a neighbour.
struct message {
  int rank = 0;
  std::size_t first = 0;  ///< in the buffer
  std::size_t count = 0;
};

/// Messages of one exchange.
struct message_lists {
  std::vector<message> received;  ///< positions in the elements that boundary rows need
  std::vector<message> sent;      ///< positions in this rank's elements that other ranks need
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
  /// @throws error size_mismatch, text beginning with `name`; as `tally::validate`;
  ///               invalid_argument for more terms or columns than `Index` counts.
  template <csr_index Offset, csr_index Column>
  rows_part(const char* name, const borders& rows, const borders& columns, int rank,
            const csr_view<Value, Offset, Column>& local) {
    if (local.rows != static_cast<std::size_t>(rows.size(rank)) ||
        local.columns != static_cast<std::size_t>(columns.total())) {
      throw error(errc::size_mismatch, std::string(name) + "::matrix: this rank's rows are " +
                                           std::to_string(local.rows) + " x " +
                                           std::to_string(local.columns) + ", the layouts give " +
                                           std::to_string(rows.size(rank)) + " x " +
                                           std::to_string(columns.total()));
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
  template <class Offset, class Column>
  void take(const csr_view<Value, Offset, Column>& local, std::int64_t first, std::int64_t last) {
    interior.rows = local.rows;
    interior.columns = static_cast<std::size_t>(last - first);
    narrowed<Index>(interior.columns);
    interior.row_offsets.reserve(local.rows + 1);
    interior.column_indices.reserve(local.column_indices.size());
    interior.values.reserve(local.values.size());
    std::vector<std::int64_t> boundary_columns;
    for (std::size_t i = 0; i < local.rows; ++i) {
      const auto begin = static_cast<std::size_t>(local.row_offsets[i]);
      const auto end = static_cast<std::size_t>(local.row_ends ? (*local.row_ends)[i]
                                                               : local.row_offsets[i + 1]);
      const auto columns = local.column_indices.subspan(begin, end - begin);
      const auto values = local.values.subspan(begin, end - begin);
      const bool is_interior = std::all_of(columns.begin(), columns.end(), [&](Column c) {
        return first <= static_cast<std::int64_t>(c) && static_cast<std::int64_t>(c) < last;
      });
      if (is_interior) {
        for (const Column c : columns) {
          interior.column_indices.push_back(
              static_cast<Index>(static_cast<std::int64_t>(c) - first));
        }
        interior.values.insert(interior.values.end(), values.begin(), values.end());
      } else {
        boundary_rows.push_back(narrowed<Index>(i));
        boundary_columns.insert(boundary_columns.end(), columns.begin(), columns.end());
        boundary.values.insert(boundary.values.end(), values.begin(), values.end());
        boundary.row_offsets.push_back(narrowed<Index>(boundary.values.size()));
      }
      interior.row_offsets.push_back(narrowed<Index>(interior.values.size()));
    }

    used = boundary_columns;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    boundary.rows = boundary_rows.size();
    boundary.columns = used.size();
    boundary.column_indices.reserve(boundary_columns.size());
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

/// A rank's part of a matrix, in any memory.
struct rank_rows {
  csr_operand interior;   ///< all rows, boundary ones empty; local columns
  csr_operand boundary;   ///< columns index the elements that boundary rows need
  operand boundary_rows;  ///< their row indices
  operand own_used;       ///< own ones that boundary rows need
  operand own_sent;       ///< own ones that other ranks need
  std::size_t used = 0;   ///< number of elements that boundary rows need
  std::size_t below = 0;  ///< number of them on lower ranks
};

/// Whether operands are in a device's memory: copies of the matrix, and messages by copies.
inline bool is_device(const executor& where) { return !where.reaches_host_memory(); }

/// A rank's part of a product, or of several of one matrix, with types erased. Of several, x and y
/// are column 0.
struct rank_product {
  scalar alpha;
  operand x;
  scalar beta;
  output_operand y;
  grade g;
  std::optional<operand> added = {};  ///< operand of beta, if that is not y
  const char* name = "spmv";
  std::size_t columns = 1;
  std::ptrdiff_t x_step = 0, y_step = 0;  ///< elements between columns

  /// Bytes of a row of X.
  std::size_t row_bytes() const noexcept { return columns * size_of(x.element); }
};

/// Column j of a matrix, whose columns begin `step` elements apart.
template <class Operand>
Operand column_of(Operand column, std::ptrdiff_t step, std::size_t j) {
  using byte = std::conditional_t<std::is_same_v<Operand, operand>, const char, char>;
  const auto elements = static_cast<std::ptrdiff_t>(j) * step;
  column.data = static_cast<byte*>(column.data) +
                elements * static_cast<std::ptrdiff_t>(size_of(column.element));
  return column;
}

/// The rows of a host, or copies on a device, with plans.
class placed_rows {
 public:
  placed_rows(const executor& where, const rank_rows& rows) : where_(where), here_(rows) {
    reserve(1);
    if (!is_device(where)) return;
    here_.interior = copied(rows.interior);
    here_.boundary = copied(rows.boundary);
    here_.boundary_rows = copied(rows.boundary_rows);
    here_.own_used = copied(rows.own_used);
    here_.own_sent = copied(rows.own_sent);
    interior_plan_.emplace(where, here_.interior, spmv_options{.fixed_columns = true});
    boundary_plan_.emplace(where, here_.boundary, spmv_options{.fixed_columns = true});
  }

  /// Whether kernels of `where` reach this memory.
  bool suit(const executor& where) const noexcept {
    return where.name() == where_.name() && where.device() == where_.device();
  }

  /// Makes room for `columns` columns of X and Y.
  void reserve(std::size_t columns) {
    if (columns <= columns_) return;
    columns_ = 0;
    for (buffer* const old : {&used_x_, &gathered_, &boundary_y_}) *old = {};  // freed first
    const std::size_t row_bytes = columns * max_bytes;
    used_x_ = buffer(where_, here_.used * row_bytes, who());
    gathered_ = buffer(where_, here_.own_sent.size * row_bytes, who());
    boundary_y_ = buffer(where_, here_.boundary_rows.size * row_bytes);
    columns_ = columns;
  }

  const rank_rows& here() const noexcept { return here_; }
  /// Null on hosts.
  const spmv_plan* interior_plan() const noexcept {
    return interior_plan_ ? &*interior_plan_ : nullptr;
  }
  const spmv_plan* boundary_plan() const noexcept {
    return boundary_plan_ ? &*boundary_plan_ : nullptr;
  }

  /// Elements of X for boundary rows, by rows.
  std::byte* used_x() const noexcept { return static_cast<std::byte*>(used_x_.get()); }
  /// Elements of X for other ranks, by rows.
  std::byte* gathered() const noexcept { return static_cast<std::byte*>(gathered_.get()); }
  /// Results of boundary rows, by rows.
  std::byte* boundary_y() const noexcept { return static_cast<std::byte*>(boundary_y_.get()); }

 private:
  static constexpr std::size_t max_bytes = 16;  // of an element

  reach who() const noexcept {
    return is_device(where_) ? reach::kernels : reach::kernels_and_host;
  }
  operand copied(const operand& v) {
    const std::size_t bytes = v.size * size_of(v.element);
    const buffer& made = copies_.emplace_back(where_, bytes);
    copy_bytes(where_, v.data, made.get(), bytes);
    return {made.get(), v.size, 1, v.element};
  }
  csr_operand copied(const csr_operand& a) {
    csr_operand b = a;
    b.row_offsets = copied(a.row_offsets);
    b.column_indices = copied(a.column_indices);
    b.values = copied(a.values);
    return b;
  }

  executor where_;
  rank_rows here_;
  std::size_t columns_ = 0;  ///< that buffers have room for
  buffer used_x_, gathered_, boundary_y_;
  std::vector<buffer> copies_;
  std::optional<spmv_plan> interior_plan_, boundary_plan_;
};

}  // namespace tally::detail
