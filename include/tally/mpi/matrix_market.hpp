// Rows of a matrix from entries that lie anywhere: in a Matrix Market file, read in parallel
// (format and errors: <tally/sparse/matrix_market.hpp>), or on the ranks
// (<tally/sparse/assembly.hpp>).
#pragma once

#include <tally/mpi/entries.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/sparse/assembly.hpp>
#include <tally/sparse/matrix_market.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tally::mpi {

/// Returns this rank's rows with global column indices, as `tally::mpi::matrix` takes them; bits as
/// `tally::read_matrix_market`.
///
///     const auto rows = static_cast<std::int64_t>(tally::read_matrix_market_sizes(path).rows);
///     const auto border = [&](int r) { return tally::mpi::layout::cut(rows, r, ranks); };
///     tally::mpi::layout l(comm, border(rank + 1) - border(rank));
///     tally::mpi::matrix A(l, tally::mpi::read_matrix_market(l, path).view());
///
/// Each rank parses an equal part of the file's bytes and sends entries to the owners of their
/// rows; it needs memory for that part and its rows. A gzip file cannot be entered in the middle:
/// rank 0 reads it alone. Pipes and devices cannot be read. Collective; blocks.
///
/// @param l       layout of the rows, which alone bounds their number.
/// @param path    the same file on all ranks.
/// @param options limits of each rank, so all together may read more than 2^31 entries; max_bytes
///                limits the file.
/// @tparam Value  as for `tally::read_matrix_market`.
/// @throws error  on all ranks, as `tally::read_matrix_market` on the lowest failing rank;
///                size_mismatch for a layout of another size; invalid_argument for more than 2^31 -
///                1 entries read or received by a rank.
template <matrix_market_value Value = double>
csr_matrix<Value, std::int64_t, std::int64_t> read_matrix_market(
    const layout& l, const std::string& path, const matrix_market_options& options = {}) {
  MPI_Comm comm = l.communicator();
  const auto rank = static_cast<std::size_t>(l.rank());
  std::optional<detail::failure> failed;
  matrix_market_part<Value> part;
  detail::attempt(failed, [&] {
    part = read_matrix_market_part<Value>(path, rank, static_cast<std::size_t>(l.ranks()), options);
    if (part.sizes.rows != static_cast<std::size_t>(l.total())) {
      throw error(errc::size_mismatch, "tally::mpi::read_matrix_market: " + path + " has " +
                                           std::to_string(part.sizes.rows) +
                                           " rows, the layout has " + std::to_string(l.total()) +
                                           " elements");
    }
  });
  detail::agree(comm, failed);

  std::uint64_t lines = part.lines;
  detail::check(MPI_Allreduce(MPI_IN_PLACE, &lines, 1, MPI_UINT64_T, MPI_SUM, comm),
                "MPI_Allreduce");
  detail::attempt(failed, [&] {
    if (lines == part.sizes.entries) return;
    // Reading the whole file gives the file's own error.
    if (rank == 0) matrix_market::check_number_of_entries(path, options);
    throw error(errc::unreadable_file, "tally::mpi::read_matrix_market: " + path + ": " +
                                           std::to_string(lines) + " entries of " +
                                           std::to_string(part.sizes.entries) +
                                           " were read: is it the same file on all ranks?");
  });
  detail::agree(comm, failed);

  const auto own =
      detail::entries_at_owners<matrix_entry<Value>>(*l.over(), *l.borders(), [&](const auto& f) {
        for (const matrix_entry<Value>& e : part.entries) f(e);
      });
  part.entries = {};
  csr_matrix<Value, std::int64_t, std::int64_t> rows;
  detail::attempt(failed, [&] {
    rows = rows_of_entries<Value>(static_cast<std::size_t>(l.size()), part.sizes.columns,
                                  std::span(own));
  });
  detail::agree(comm, failed);
  return rows;
}

namespace detail {

/// Throws unless a rank's entries are as many as values, and inside the matrix.
template <class Row, class Column>
void check_entries(const operand& rows, const operand& columns, const operand& values,
                   const Row& row, const Column& column, std::int64_t height, std::int64_t width) {
  const auto fail = [](errc code, const std::string& text) {
    throw error(code, "tally::mpi::csr_from_coo: " + text);
  };
  const auto is_there = [&](const char* name, const operand& v) {
    if (v.data != nullptr || v.size == 0) return;
    fail(errc::null_pointer, std::string(name) + " is null and should point at " +
                                 std::to_string(v.size) + " elements");
  };
  const auto check = [&](const char* name, const operand& v, const auto& index, std::int64_t size,
                         const char* of) {
    is_there(name, v);
    if (v.size != values.size) {
      fail(errc::size_mismatch, std::string(name) + " has " + std::to_string(v.size) +
                                    " elements, values has " + std::to_string(values.size));
    }
    for (std::size_t i = 0; i < v.size; ++i) {
      const std::int64_t found = index(i);
      if (found >= 0 && found < size) continue;
      fail(errc::invalid_argument, std::string(name) + "[" + std::to_string(i) + "] is " +
                                       std::to_string(found) + "; there are " +
                                       std::to_string(size) + of);
    }
  };
  is_there("values", values);
  check("row_indices", rows, row, height, " rows");
  check("column_indices", columns, column, width, " columns");
}

}  // namespace detail

/// Returns this rank's rows of the matrix with all ranks' entries, with global column indices, as
/// `tally::mpi::matrix` takes them. Each entry goes to the owner of its row. Bits as
/// `tally::csr_from_coo` of the entries of all ranks, one rank after another in the order of the
/// layout's intervals. Collective; blocks; in host memory.
///
/// @param l               layout of the rows.
/// @param columns         width of the matrix, the same on all ranks.
/// @param row_indices     global, std::int32_t or std::int64_t, one per entry of this rank, as
///                        `column_indices`.
/// @param column_indices  global.
/// @param values          floating-point or complex numbers, one per entry; any number on a rank.
/// @param g               `tally::exact`, on all ranks, for exact sums of entries in one place.
/// @throws error          on all ranks, as `tally::csr_from_coo` on the lowest failing rank;
///                        invalid_argument for more than 2^31 - 1 entries sent or received by a
///                        rank.
template <class Rows, class Columns, class Values>
  requires tally::detail::taken<tally::detail::csr_from_coo_call, std::size_t, std::size_t, Rows,
                                Columns, Values>
auto csr_from_coo(const layout& l, std::size_t columns, const Rows& row_indices,
                  const Columns& column_indices, const Values& values, grade g = {}) {
  using Value = element_t<Values>;
  const operand rows = as_operand(row_indices), width = as_operand(column_indices),
                all = as_operand(values);
  const auto at = []<class T>(const operand& v, std::size_t i, T) -> const T& {
    return static_cast<const T*>(v.data)[static_cast<std::ptrdiff_t>(i) * v.increment];
  };
  const auto row = [&](std::size_t i) { return std::int64_t{at(rows, i, element_t<Rows>{})}; };
  const auto column = [&](std::size_t i) {
    return std::int64_t{at(width, i, element_t<Columns>{})};
  };
  std::optional<detail::failure> failed;
  detail::attempt(failed, [&] {
    detail::check_entries(rows, width, all, row, column, l.total(),
                          static_cast<std::int64_t>(columns));
  });
  detail::agree(l.communicator(), failed);

  auto own =
      detail::entries_at_owners<matrix_entry<Value>>(*l.over(), *l.borders(), [&](const auto& f) {
        for (std::size_t i = 0; i < all.size; ++i) {
          f(matrix_entry<Value>{row(i), column(i), at(all, i, Value{})});
        }
      });
  csr_matrix<Value, std::int64_t, std::int64_t> made;
  detail::attempt(failed, [&] {
    // The entries' members are vectors with a stride.
    const auto member = [&]<class T>(T matrix_entry<Value>::* m) {
      constexpr auto step = static_cast<std::ptrdiff_t>(sizeof(matrix_entry<Value>) / sizeof(T));
      return strided(own.empty() ? nullptr : &(own[0].*m), own.size(), step);
    };
    static_assert(sizeof(matrix_entry<Value>) % sizeof(Value) == 0);
    made = tally::csr_from_coo<std::int64_t, std::int64_t>(
        static_cast<std::size_t>(l.size()), columns, member(&matrix_entry<Value>::row),
        member(&matrix_entry<Value>::column), member(&matrix_entry<Value>::value), g);
  });
  detail::agree(l.communicator(), failed);
  return made;
}

}  // namespace tally::mpi
