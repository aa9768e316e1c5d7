// scatter_add over ranks. See <tally/distributed/scatter_add.hpp>.
//
// Communication: distributed, each sample travels once, 16 bytes (MPI_Alltoallv). Replicated,
// either likewise and then the elements (MPI_Allgatherv), or, where there are fewer elements than
// samples, one MPI_Allreduce of exact sums, 1096 bytes an element (`float`: 184). On devices
// samples are copied to the host and back.
//
// Collective, blocking; types agree on all ranks, samples and executors are each rank's own. An
// error of any rank is thrown on all, with the lowest failing rank. Elements are then undefined, if
// the error concerns their memory; otherwise nothing is written.
#pragma once

#include <tally/distributed/host_copies.hpp>
#include <tally/distributed/scatter_add.hpp>
#include <tally/mpi/entries.hpp>
#include <tally/mpi/histogram.hpp>
#include <tally/mpi/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tally::mpi {

using distributed::scatter_add;

namespace detail {

/// A sample on its way, of float or double.
struct added_element {
  std::int64_t row = 0;
  double value = 0;
};

/// Adds the samples of all ranks to this rank's part z, which may be of the whole.
/// @param failed what is known to be wrong on this rank.
template <float_or_double T>
void add_at_owners(const layout& l, const executor& where, const gather_arguments& a,
                   std::optional<failure>& failed) {
  std::vector<std::int64_t> indices;
  std::vector<T> x;
  std::vector<added_element> others;
  attempt(failed, [&] {
    indices = read_elements<std::int64_t>(where, a.indices);
    x = read_elements<T>(where, a.x);
    std::size_t own = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= l.total()) continue;
      const std::int64_t here = indices[i] - l.first();
      if (here >= 0 && here < l.size()) {
        indices[own] = here;
        x[own++] = x[i];
      } else {
        others.push_back({indices[i], x[i]});
      }
    }
    indices.resize(own);
    x.resize(own);
  });
  const auto for_each = [&](const auto& f) {
    throw_kept(failed);
    for (const added_element& e : others) f(e);
  };
  const auto received = entries_at_owners<added_element>(*l.over(), *l.borders(), for_each);
  attempt(failed, [&] {
    for (const added_element& e : received) {
      indices.push_back(e.row);
      x.push_back(static_cast<T>(e.value));
    }
    const readable_elements from(where, x), to(where, indices);
    gather_elements(where, {from.get(), to.get(), a.z, true, true});
  });
  agree(l.communicator(), failed);
}

template <float_or_double T>
void scatter_add(const layout& l, const executor& where, const gather_arguments& a) {
  std::optional<failure> failed;
  attempt(failed, [&] {
    check_samples(where, a);
    check_size(transport::name, a.z, static_cast<std::size_t>(l.size()));
  });
  add_at_owners<T>(l, where, a, failed);
}

/// Each rank has all of z.
template <float_or_double T>
void scatter_add(MPI_Comm comm, const executor& where, const gather_arguments& a) {
  check_communicator(comm);
  std::optional<failure> failed;
  attempt(failed, [&] { check_samples(where, a); });
  agree(comm, failed);
  if (a.z.size == 0) return;
  auto max_samples = static_cast<std::int64_t>(a.x.size);
  check(MPI_Allreduce(MPI_IN_PLACE, &max_samples, 1, MPI_INT64_T, MPI_MAX, comm), "MPI_Allreduce");
  const std::size_t limbs = a.z.size * exact_sum<T>::words * sizeof(std::int64_t);
  if (limbs <= static_cast<std::size_t>(max_samples) * sizeof(added_element)) {
    histogram_arguments sums;
    sums.x = a.indices;
    sums.weighted = true;
    sums.weights = a.x;
    sums.counts = a.z;
    sums.options.add = true;
    sums.scatters = true;
    return add_weights<T>(comm, where, sums);
  }
  const auto total = static_cast<std::int64_t>(a.z.size);
  const auto ranks = ranks_of(comm), rank = rank_in(comm);
  const std::int64_t first = layout::cut(total, rank, ranks);
  const layout l(comm, layout::cut(total, rank + 1, ranks) - first);
  gather_arguments mine = a;
  mine.z = a.z.slice(static_cast<std::size_t>(first), static_cast<std::size_t>(l.size()));
  add_at_owners<T>(l, where, mine, failed);
  counted_messages parts;
  for (int r = 0; r < ranks; ++r)
    parts.counts.push_back(count_of(static_cast<std::size_t>(l.first(r + 1) - l.first(r))));
  parts.place();
  std::vector<T> all(a.z.size);
  copy_bytes(where, mine.z.data, all.data() + first, mine.z.size * sizeof(T));
  check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), parts.counts.data(),
                       parts.begins.data(), sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE, comm),
        "MPI_Allgatherv");
  copy_bytes(where, all.data(), a.z.data, all.size() * sizeof(T));
}

template <element T, class C>
void transport::add_samples(const C& over, const executor& where, const gather_arguments& a) {
  scatter_add<T>(over, where.name() == "automatic" ? choose(a.x, operand(a.z)) : where, a);
}

}  // namespace detail

}  // namespace tally::mpi
