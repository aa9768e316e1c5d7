// Reading a sparse matrix from a Matrix Market file by all ranks: each reads a part of the file,
// and gets its rows of the matrix. The format, and what is an error, is said in
// <tally/matrix_market.hpp>.
#pragma once

#include <tally/csr_matrix.hpp>
#include <tally/error.hpp>
#include <tally/matrix_market.hpp>
#include <tally/mpi/agreement.hpp>
#include <tally/mpi/calls.hpp>
#include <tally/mpi/entries.hpp>
#include <tally/mpi/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tally::mpi {

/// This rank's rows of the matrix in a file, with the column indices of the whole matrix: what
/// `tally::mpi::matrix` is made of. They are those of `tally::read_matrix_market`, bit for bit.
///
///     const auto rows = static_cast<std::int64_t>(tally::read_matrix_market_sizes(path).rows);
///     const auto border = [&](int r) { return tally::mpi::layout::cut(rows, r, ranks); };
///     tally::mpi::layout l(comm, border(rank + 1) - border(rank));
///     tally::mpi::matrix A(l, tally::mpi::read_matrix_market(l, path).view());
///
/// Each rank parses an equal part of the file's bytes and sends its entries to the ranks that have
/// their rows, so a rank needs the memory of its part and of its rows. A file that gzip has
/// compressed can't be entered in the middle: the first rank reads it alone. A pipe or a device
/// can't be read. Collective; blocks.
///
/// @param l       of the rows, as many as the matrix has.
/// @param path    the same file on all ranks.
/// @param options bounds what each rank reads, so that ranks together may read 2^31 entries and
///                more; max_bytes bounds the file. Rows are as many as the layout has, however few
///                entries there are.
/// @tparam Value  what values are rounded to, as for `tally::read_matrix_market`.
/// @throws error  on all ranks, as `tally::read_matrix_market` on the lowest rank that meets one;
///                size_mismatch for a layout of another size; invalid_argument for more than
///                2^31 - 1 entries that a rank reads or gets.
template <matrix_market_value Value = double>
csr_matrix<Value, std::int64_t, std::int64_t> read_matrix_market(
    const layout& l, const std::string& path, const matrix_market_options& options = {}) {
  using entry = matrix_entry<Value>;
  MPI_Comm comm = l.communicator();
  const auto rank = static_cast<std::size_t>(l.rank());
  std::optional<calls::failure> failed;
  matrix_market_part<Value> part;
  calls::attempt(failed, [&] {
    part = read_matrix_market_part<Value>(path, rank, static_cast<std::size_t>(l.ranks()), options);
    if (part.sizes.rows != static_cast<std::size_t>(l.total())) {
      throw error(errc::size_mismatch, "tally::mpi::read_matrix_market: " + path + " has " +
                                           std::to_string(part.sizes.rows) +
                                           " rows, the layout has " + std::to_string(l.total()) +
                                           " elements");
    }
  });
  calls::agree(comm, failed);

  std::uint64_t lines = part.lines;
  calls::check(MPI_Allreduce(MPI_IN_PLACE, &lines, 1, MPI_UINT64_T, MPI_SUM, comm),
               "MPI_Allreduce");
  calls::attempt(failed, [&] {
    if (lines == part.sizes.entries) return;
    // A reader of the whole file says what is wrong with it, if it is one file.
    if (rank == 0) matrix_market::check_number_of_entries(path, options);
    throw error(errc::unreadable_file, "tally::mpi::read_matrix_market: " + path + ": " +
                                           std::to_string(lines) + " entries of " +
                                           std::to_string(part.sizes.entries) +
                                           " were read: is it the same file on all ranks?");
  });
  calls::agree(comm, failed);

  std::vector<entry> own = matrices::sent_to_owners<Value>(
      *l.over(),
      [&](const auto& f) {
        for (const entry& e : part.entries) f(e);
      },
      [&](const entry& e) { return l.owner(e.row); });
  part.entries = {};
  csr_matrix<Value, std::int64_t, std::int64_t> rows;
  calls::attempt(failed, [&] {
    for (entry& e : own) e.row -= l.first();
    rows = rows_of_entries<Value>(static_cast<std::size_t>(l.size()), part.sizes.columns,
                                  std::span<const entry>(own));
  });
  calls::agree(comm, failed);
  return rows;
}

}  // namespace tally::mpi
