// Parallel reading of Matrix Market files. Format and errors: <tally/sparse/matrix_market.hpp>.
#pragma once

#include <tally/mpi/entries.hpp>
#include <tally/mpi/layout.hpp>
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

}  // namespace tally::mpi
