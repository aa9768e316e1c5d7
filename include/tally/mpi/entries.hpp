// Redistribution of matrix entries.
#pragma once

#include <tally/csr_matrix.hpp>
#include <tally/mpi/agreement.hpp>
#include <tally/mpi/calls.hpp>
#include <tally/mpi/communicator.hpp>
#include <tally/mpi/reduction.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace tally::mpi::matrices {

/// Writes the exclusive scan of `counts` to `begins`. Returns the total.
inline std::size_t place(const std::vector<int>& counts, std::vector<int>& begins) {
  std::size_t total = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    begins[r] = calls::count_of(total);
    total += static_cast<std::size_t>(counts[r]);
  }
  return static_cast<std::size_t>(calls::count_of(total));
}

/// Sends each entry to rank `owner(entry)`. Returns this rank's, ordered by sender, then by
/// `for_each`. Collective; blocks.
/// @throws error on all ranks invalid_argument for more than 2^31 - 1 entries of a rank.
template <element Value, class ForEach, class Owner>
std::vector<matrix_entry<Value>> sent_to_owners(calls::communicator& over, const ForEach& for_each,
                                                const Owner& owner) {
  using entry = matrix_entry<Value>;
  static_assert(sizeof(entry) % 8 == 0);
  MPI_Comm comm = over.get();
  const auto ranks = static_cast<std::size_t>(calls::ranks_of(comm));
  std::optional<calls::failure> failed;
  std::vector<entry> sent, received;
  std::vector<int> counts(ranks), begins(ranks), received_counts(ranks), received_begins(ranks);
  calls::attempt(failed, [&] {
    std::size_t all = 0;
    for_each([&](const entry& e) {
      ++counts[static_cast<std::size_t>(owner(e))];
      calls::count_of(++all);
    });
    sent.resize(place(counts, begins));
    std::vector<int> next = begins;
    for_each([&](const entry& e) {
      sent[static_cast<std::size_t>(next[static_cast<std::size_t>(owner(e))]++)] = e;
    });
  });
  calls::agree(comm, failed);
  calls::check(MPI_Alltoall(counts.data(), 1, MPI_INT, received_counts.data(), 1, MPI_INT, comm),
               "MPI_Alltoall");
  calls::attempt(failed, [&] { received.resize(place(received_counts, received_begins)); });
  calls::agree(comm, failed);
  const MPI_Datatype type = over.type_of(sizeof(entry) / 8);
  const int status = MPI_Alltoallv(sent.data(), counts.data(), begins.data(), type, received.data(),
                                   received_counts.data(), received_begins.data(), type, comm);
  calls::attempt(failed, [&] { calls::check(status, "MPI_Alltoallv"); });
  calls::agree(comm, failed);
  return received;
}

}  // namespace tally::mpi::matrices
