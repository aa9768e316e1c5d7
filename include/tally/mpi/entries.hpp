// Redistribution of entries by rows: those of a matrix, or elements to be added.
#pragma once

#include <tally/mpi/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tally::mpi::detail {

/// Messages of an MPI_Alltoallv.
struct counted_messages {
  std::vector<int> counts, begins;

  /// Sets `begins`. Returns the number of all elements.
  std::size_t place() {
    std::size_t total = 0;
    begins.clear();
    for (const int count : counts) {
      begins.push_back(count_of(total));
      total += static_cast<std::size_t>(count);
    }
    return static_cast<std::size_t>(count_of(total));
  }
};

/// Sends each entry to the owner of its row. Returns this rank's, with local rows, in the order of
/// senders, then of `for_each(f)`, which calls f(entry). Collective; blocks.
/// @throws error on all ranks invalid_argument for more than 2^31 - 1 entries of a rank.
template <class Entry, class ForEach>
std::vector<Entry> entries_at_owners(communicator& over, const borders& rows,
                                     const ForEach& for_each) {
  static_assert(sizeof(Entry) % 8 == 0);
  MPI_Comm comm = over.get();
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  std::optional<failure> failed;
  std::vector<Entry> sent, received;
  counted_messages to{std::vector<int>(ranks), {}}, from = to;
  attempt(failed, [&] {
    const auto owner = [&](const Entry& e) { return static_cast<std::size_t>(rows.owner(e.row)); };
    std::size_t all = 0;
    for_each([&](const Entry& e) {
      ++to.counts[owner(e)];
      count_of(++all);
    });
    sent.resize(to.place());
    std::vector<int> next = to.begins;
    for_each([&](const Entry& e) { sent[static_cast<std::size_t>(next[owner(e)]++)] = e; });
  });
  agree(comm, failed);
  check(MPI_Alltoall(to.counts.data(), 1, MPI_INT, from.counts.data(), 1, MPI_INT, comm),
        "MPI_Alltoall");
  attempt(failed, [&] { received.resize(from.place()); });
  agree(comm, failed);
  const MPI_Datatype type = over.type_of(sizeof(Entry) / 8);
  const int status =
      MPI_Alltoallv(sent.data(), to.counts.data(), to.begins.data(), type, received.data(),
                    from.counts.data(), from.begins.data(), type, comm);
  attempt(failed, [&] { check(status, "MPI_Alltoallv"); });
  agree(comm, failed);
  const std::int64_t first = rows.first(rank_in(comm));
  for (Entry& e : received) e.row -= first;
  return received;
}

}  // namespace tally::mpi::detail
