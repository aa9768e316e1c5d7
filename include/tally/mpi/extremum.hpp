// Extrema over ranks: min, max, minmax, and iamax.
//
// Promise: <tally/distributed/extremum.hpp>. One MPI_Allreduce of 32 bytes for each end.
// Collective, errors on all ranks, as <tally/mpi/sums.hpp>.
#pragma once

#include <tally/buffer.hpp>
#include <tally/distributed/extremum.hpp>
#include <tally/mpi/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace tally::mpi {

using distributed::iamax;
using distributed::max;
using distributed::max_norm;
using distributed::min;
using distributed::minmax;

namespace detail {

/// An end of a rank's part. Two join by a search over both.
struct candidate {
  alignas(8) std::byte element[16] = {};
  std::int64_t index = -1;  ///< in the layout; negative if the rank has no element
  std::int32_t failed = 0;  ///< 1 + lowest failed rank, or 0
  type of = type::float64;
  extreme what = extreme::min;  ///< min, max or iamax
  std::uint8_t unused[2] = {};
};
static_assert(sizeof(candidate) == 32, "elements of any size lie a whole number apart");

/// MPI_Op. Commutes, as the lower index comes first.
inline void better(void* first, void* second, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * sizeof(candidate);
    std::byte* const place = static_cast<std::byte*>(second) + offset;
    std::array<candidate, 2> both;
    std::memcpy(&both[0], static_cast<std::byte*>(first) + offset, sizeof(candidate));
    std::memcpy(&both[1], place, sizeof(candidate));
    auto& [a, b] = both;
    if (a.index > b.index) std::swap(a, b);
    std::size_t found = 1;  // of a rank without elements and another one, the other
    if (a.index >= 0) {
      const std::size_t stride = sizeof(candidate) / size_of(a.of);
      std::int64_t result[2];
      find_extremum(serial(), {{&a, 2, static_cast<std::ptrdiff_t>(stride), a.of}, a.what, result});
      found = static_cast<std::size_t>(result[a.what == extreme::iamax ? 0 : 1]);
    }
    candidate best = both[found];
    best.failed = a.failed == 0 || (b.failed != 0 && b.failed < a.failed) ? b.failed : a.failed;
    std::memcpy(place, &best, sizeof best);
  }
}

inline void transport::find(const layout& l, const executor& where, const operand& x, extreme what,
                            void* results, std::size_t /*bytes*/) {
  const std::size_t ends = what == extreme::minmax ? 2 : 1;
  std::array<candidate, 2> best;
  for (std::size_t e = 0; e < ends; ++e) {
    best[e].of = x.element;
    best[e].what = what != extreme::minmax ? what : e == 0 ? extreme::min : extreme::max;
  }
  std::optional<failure> failed;
  attempt(failed, [&] {
    check_search(l, x, what);
    if (l.size() == 0) return;
    const executor on = where.name() == "automatic" ? choose(x) : where;
    std::int64_t found[4] = {};  // an extremum or two, or an index
    find_extremum(on, {x, what, found});
    if (what == extreme::iamax) {
      const operand element = x.slice(static_cast<std::size_t>(found[0]), 1);
      copy_bytes(on, element.data, best[0].element, size_of(x.element));
      best[0].index = l.first() + found[0];
      return;
    }
    for (std::size_t e = 0; e < ends; ++e) {
      std::memcpy(best[e].element, &found[2 * e], sizeof found[0]);
      best[e].index = l.first() + found[2 * e + 1];
    }
  });
  if (failed) best[0].failed = 1 + l.rank();
  const MPI_Datatype type = l.over()->type_of(sizeof(candidate) / 8);
  const MPI_Op op = l.over()->operation(&better, true);
  check(
      MPI_Allreduce(MPI_IN_PLACE, best.data(), static_cast<int>(ends), type, op, l.communicator()),
      "MPI_Allreduce");
  if (best[0].failed != 0) throw_from(l.communicator(), best[0].failed - 1, failed);
  auto* to = static_cast<std::byte*>(results);
  for (std::size_t e = 0; e < ends; ++e) {
    if (what != extreme::iamax) {
      std::memcpy(to, best[e].element, 8);
      to += 8;
    }
    std::memcpy(to, &best[e].index, sizeof best[e].index);
    to += sizeof best[e].index;
  }
}

}  // namespace detail

}  // namespace tally::mpi
