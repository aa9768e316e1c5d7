// The smallest and the largest element over ranks: min, max, minmax, and iamax.
//
// Promise: value and index are those of the function of the same name in <tally/extremum.hpp> for
// the whole vector in one process, on every rank: of equal elements the one with the lowest index
// in the layout is meant, and of NaNs the first.
//
// One MPI_Allreduce of 32 bytes for each end. Collective, as the sums of <tally/mpi/sums.hpp>, and
// with their errors: what one rank throws, all of them throw.
#pragma once

#include <tally/distributed/sums.hpp>
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

/// What a rank found: the better one has the smaller key, or of equal ones the lower index.
struct candidate {
  std::uint64_t key = (std::numeric_limits<std::uint64_t>::max)();
  std::int64_t index = (std::numeric_limits<std::int64_t>::max)();
  std::uint64_t bits = 0;   ///< of the element
  std::int64_t failed = 0;  ///< 1 + the lowest rank that has failed, 0 if none has
};

/// A key that orders numbers as integers: NaN first, and zeros of both signs alike.
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

/// The same the other way round, but for NaN.
template <class T>
std::uint64_t descending(T value) {
  const std::uint64_t key = ascending(value);
  return !std::is_integral_v<T> && key == 0 ? 0 : ~key;
}

/// What an `MPI_Op` calls.
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

/// The best of what all ranks have found; `find` fills in this rank's.
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

/// An end of a vector, with its index in the layout.
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

/// A number as it is compared: 16-bit ones as float.
template <class T>
auto comparable(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

/// @throws error no_elements, size_mismatch: this rank's.
inline void check_elements(const layout& l, const char* function, const operand& x) {
  distributed::check_size("tally::mpi", x, static_cast<std::size_t>(l.size()));
  if (l.total() == 0) {
    throw error(errc::no_elements, std::string(function) + ": no rank has an element");
  }
}

}  // namespace calls

/// The smallest element of all ranks, and the lowest index in the layout that it has.
///
/// @param l      the layout of x.
/// @param where  this rank's executor.
/// @param x      this rank's part of a vector, as for `tally::min`; it may be empty if another one
///               is not.
/// @return       value and index, on all ranks. Blocks until they are there.
/// @throws error on all ranks, as `tally::min`, and size_mismatch where x has not as many elements
///               as the layout says.
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

/// The largest element, and the lowest index that it has. Parameters and errors as for `min`.
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

/// `min` and `max` at once, in one pass and one message.
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

/// The lowest index in the layout of the element of largest magnitude, counted from 0; -1 if no
/// rank has an element. Errors as for `min`, except that there may be none.
template <vector_operand X>
std::int64_t iamax(const layout& l, const executor& where, const X& x) {
  const auto best = calls::best_of<1>(l, [&](std::array<calls::candidate, 1>& found) {
    distributed::check_size("tally::mpi", as_operand(x), static_cast<std::size_t>(l.size()));
    if (l.size() == 0) return;
    const std::int64_t index = tally::iamax(where, x);
    // The magnitude is the sum of that of one element; of the least integer, as an unsigned one.
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
