// Extrema over ranks: min, max, minmax, and iamax.
//
// Promise: value and index, in the layout, of the function of that name in <tally/extremum.hpp> for
// the whole vector in one process, on every rank.
//
// One MPI_Allreduce of 32 bytes for each end. Collective, errors on all ranks, as
// <tally/mpi/sums.hpp>.
#pragma once

#include <tally/detail/distributed/sums.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/extremum.hpp>
#include <tally/mpi/agreement.hpp>
#include <tally/mpi/calls.hpp>
#include <tally/mpi/communicator.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/mpi/reduction.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/types.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

namespace tally::mpi {

namespace calls {

/// The smallest (key, index) wins.
struct candidate {
  std::uint64_t key = (std::numeric_limits<std::uint64_t>::max)();
  std::int64_t index = (std::numeric_limits<std::int64_t>::max)();
  std::uint64_t bits = 0;
  std::int64_t failed = 0;  ///< 1 + lowest failed rank, or 0
};

/// Orders values as unsigned integers: NaN first, zeros equal.
template <class T>
std::uint64_t ascending(T value) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if constexpr (std::is_integral_v<T>) {
    const auto wide = static_cast<std::uint64_t>(value);
    return std::is_unsigned_v<T> ? wide : wide ^ sign;
  } else {
    const auto bits = std::bit_cast<std::uint64_t>(types::widened(value));
    if ((bits & ~sign) > std::uint64_t{0x7ff} << 52) return 0;
    if ((bits & ~sign) == 0) return sign;
    return (bits & sign) != 0 ? ~bits : bits | sign;
  }
}

/// The reverse order, NaN still first.
template <class T>
std::uint64_t descending(T value) {
  const std::uint64_t key = ascending(value);
  return !std::is_integral_v<T> && key == 0 ? 0 : ~key;
}

/// MPI_Op.
inline void better(void* first, void* second, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) {
    candidate a, b;
    std::memcpy(&a, static_cast<std::byte*>(first) + static_cast<std::size_t>(i) * sizeof a,
                sizeof a);
    std::byte* const place =
        static_cast<std::byte*>(second) + static_cast<std::size_t>(i) * sizeof b;
    std::memcpy(&b, place, sizeof b);
    candidate best = std::tie(a.key, a.index) < std::tie(b.key, b.index) ? a : b;
    best.failed = a.failed == 0 || (b.failed != 0 && b.failed < a.failed) ? b.failed : a.failed;
    std::memcpy(place, &best, sizeof best);
  }
}

/// Best of all ranks; `find` fills in this rank's.
template <std::size_t n, class Find>
std::array<candidate, n> best_of(const layout& l, const Find& find) {
  std::array<candidate, n> found;
  std::optional<failure> failed;
  attempt(failed, [&] { find(found); });
  if (failed) {
    found = {};
    for (candidate& c : found) c.failed = 1 + l.rank();
  }
  const MPI_Datatype type = l.over()->type_of(sizeof(candidate) / 8);
  const MPI_Op op = l.over()->operation(&better, true);
  check(MPI_Allreduce(MPI_IN_PLACE, found.data(), static_cast<int>(n), type, op, l.communicator()),
        "MPI_Allreduce");
  if (found[0].failed != 0) {
    throw_from(l.communicator(), static_cast<int>(found[0].failed) - 1, failed);
  }
  return found;
}

template <class T>
candidate candidate_of(const layout& l, const extremum<T>& end, std::uint64_t key) {
  candidate c{key, l.first() + end.index, 0, 0};
  std::memcpy(&c.bits, &end.value, sizeof end.value);
  return c;
}
template <class T>
extremum<T> extremum_of(const candidate& c) {
  T value;
  std::memcpy(static_cast<void*>(&value), &c.bits, sizeof value);
  return {value, c.index};
}

template <class T>
auto comparable(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

/// @throws error no_elements, size_mismatch.
inline void check_elements(const layout& l, const char* function, const operand& x) {
  distributed::check_size("tally::mpi", x, static_cast<std::size_t>(l.size()));
  if (l.total() == 0) {
    throw error(errc::no_elements, std::string(function) + ": no rank has an element");
  }
}

}  // namespace calls

/// Smallest element of all ranks, at its lowest index in the layout.
///
/// @param l      layout of x.
/// @param where, x  this rank's executor and part, as for `tally::min`; may be empty unless all
///                  are.
/// @return       value and index, on all ranks. Blocks.
/// @throws error on all ranks, as `tally::min`; size_mismatch if x has not the layout's size.
template <ordered_operand X>
extremum<element_t<X>>(min)(const layout& l, const executor& where, const X& x) {
  using T = element_t<X>;
  const auto best = calls::best_of<1>(l, [&](std::array<calls::candidate, 1>& found) {
    calls::check_elements(l, "tally::mpi::min", as_operand(x));
    if (l.size() == 0) return;
    const extremum<T> end = (tally::min)(where, x);
    found[0] = calls::candidate_of(l, end, calls::ascending(calls::comparable(end.value)));
  });
  return calls::extremum_of<T>(best[0]);
}

/// Largest element, at its lowest index; otherwise as `min`.
template <ordered_operand X>
extremum<element_t<X>>(max)(const layout& l, const executor& where, const X& x) {
  using T = element_t<X>;
  const auto best = calls::best_of<1>(l, [&](std::array<calls::candidate, 1>& found) {
    calls::check_elements(l, "tally::mpi::max", as_operand(x));
    if (l.size() == 0) return;
    const extremum<T> end = (tally::max)(where, x);
    found[0] = calls::candidate_of(l, end, calls::descending(calls::comparable(end.value)));
  });
  return calls::extremum_of<T>(best[0]);
}

/// `min` and `max` in one pass and one message.
template <ordered_operand X>
extrema<element_t<X>> minmax(const layout& l, const executor& where, const X& x) {
  using T = element_t<X>;
  const auto best = calls::best_of<2>(l, [&](std::array<calls::candidate, 2>& found) {
    calls::check_elements(l, "tally::mpi::minmax", as_operand(x));
    if (l.size() == 0) return;
    const extrema<T> ends = tally::minmax(where, x);
    found[0] =
        calls::candidate_of(l, ends.min, calls::ascending(calls::comparable(ends.min.value)));
    found[1] =
        calls::candidate_of(l, ends.max, calls::descending(calls::comparable(ends.max.value)));
  });
  return {calls::extremum_of<T>(best[0]), calls::extremum_of<T>(best[1])};
}

/// Lowest index in the layout, from 0, of the element of largest magnitude; -1 if no rank has one.
/// Otherwise as `min`.
template <vector_operand X>
std::int64_t iamax(const layout& l, const executor& where, const X& x) {
  const auto best = calls::best_of<1>(l, [&](std::array<calls::candidate, 1>& found) {
    distributed::check_size("tally::mpi", as_operand(x), static_cast<std::size_t>(l.size()));
    if (l.size() == 0) return;
    const std::int64_t index = tally::iamax(where, x);
    // |x_i| as the sum of one element: unsigned for the smallest integer.
    asum_result_t<element_t<X>> magnitude{};
    reduce(where, {as_operand(x).slice(static_cast<std::size_t>(index), 1),
                   reduction::asum,
                   {&magnitude, type_of<decltype(magnitude)>}});
    if constexpr (std::is_integral_v<decltype(magnitude)>) {
      found[0].key = calls::descending(static_cast<std::uint64_t>(magnitude));
    } else {
      found[0].key = calls::descending(magnitude);
    }
    found[0].index = l.first() + index;
  });
  return l.total() == 0 ? -1 : best[0].index;
}

}  // namespace tally::mpi
