// Sums on Kokkos; the tree level by level.
#pragma once

#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/dot_sum.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "backends/kokkos/runtime/runtime.hpp"

#include <Kokkos_Core.hpp>
#include <tally/numerics/order.hpp>
#include <tally/operands/operand.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends::kokkos {

using space = Kokkos::DefaultExecutionSpace;
using memory = space::memory_space;

// Names of kernels have at most 15 letters: Kokkos makes a std::string of each, and a longer one
// allocates, which could fail after a kernel has written.

inline constexpr bool on_host = std::is_same_v<space, Kokkos::DefaultHostExecutionSpace>;

struct no_guard {
  KOKKOS_FUNCTION no_guard() {}  // non-trivial, so that it may be unused
};
using environment_guard = std::conditional_t<on_host, default_environment, no_guard>;

// --- Numbers -------------------------------------------------------------------------------------

template <class T>
KOKKOS_FUNCTION T multiply(T a, T b) {
  return product(a, b);
}

/// Real numbers of an operand, two per complex element; the type is found at run time for each
/// number.
struct numbers {
  typed_vector v;

  explicit numbers(const operand& x) : v(x) {}

  KOKKOS_FUNCTION bool is_complex() const { return v.complex; }
  template <class R>
  KOKKOS_FUNCTION R get(std::size_t i, int part) const {
    return typed::number_at<R>(v.data, static_cast<std::ptrdiff_t>(i) * v.increment + part,
                               v.number);
  }
};

/// The same for elements of type T, since finding types takes most of a sum's time
/// (tuning/kokkos.md: own_numbers).
template <class T>
struct own_numbers {
  using stored = detail::stored_t<real_t<T>>;
  const stored* data;
  std::ptrdiff_t increment;  // in numbers

  explicit own_numbers(const operand& x)
      : data(static_cast<const stored*>(x.data)),
        increment((is_complex_v<T> ? 2 : 1) * x.increment) {}

  static constexpr bool is_complex() { return is_complex_v<T>; }
  template <class R>
  KOKKOS_FUNCTION R get(std::size_t i, int part) const {
    return rounded<R>(data[static_cast<std::ptrdiff_t>(i) * increment + part]);
  }
};

template <class T>
struct write_zeros {
  T* to;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to[i] = T{0}; }
};

template <class T>
void clear(const space& where, T* to, std::size_t n) {
  Kokkos::parallel_for("tally clear", Kokkos::RangePolicy<space>(where, 0, n), write_zeros<T>{to});
}

// --- One chunk -----------------------------------------------------------------------------------

/// A chunk per team, lanes on its threads. `Terms::lane(first, end)` sums terms first, first +
/// order::lanes, ... before end.
template <class Terms>
struct sum_chunks {
  using Sum = typename Terms::sum;
  using policy = Kokkos::TeamPolicy<space>;
  using member = typename policy::member_type;
  using lanes = Kokkos::View<Sum*, space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  static constexpr int width = static_cast<int>(order::lanes);

  Terms terms;
  std::size_t size;
  std::size_t first_chunk;
  Sum* sums;

  KOKKOS_FUNCTION void operator()(const member& team) const {
    const environment_guard environment;
    const auto rank = static_cast<std::size_t>(team.league_rank());
    const std::size_t begin = (first_chunk + rank) * order::chunk;
    const std::size_t end = size - begin < order::chunk ? size : begin + order::chunk;
    const lanes lane(team.team_scratch(0), width);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int l) {
      lane(l) = terms.lane(begin + static_cast<std::size_t>(l), end);
    });
    for (int half = width / 2; half > 0; half /= 2) {
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, half),
                           [&](int l) { lane(l) = lane(l) + lane(l + half); });
    }
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] { sums[rank] = lane(0); });
  }

  /// Sums chunks [first_chunk, first_chunk + count).
  void run(const space& where, std::size_t count) const {
    const auto configured = [&](int threads) {
      return policy(where, static_cast<int>(count), threads)
          .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(lanes::shmem_size(width))));
    };
    // A host thread takes a chunk by itself.
    const int threads =
        on_host ? 1 : std::min(width, configured(1).team_size_max(*this, Kokkos::ParallelForTag()));
    Kokkos::parallel_for("tally chunks", configured(threads), *this);
  }
};

// --- The tree ------------------------------------------------------------------------------------

/// One level: node 2j, at index j * 2 * distance, takes node 2j + 1; a last one without a partner
/// passes unchanged.
template <class Sum>
struct add_pairs {
  Sum* nodes;
  std::size_t distance;

  KOKKOS_FUNCTION void operator()(std::size_t pair) const {
    const environment_guard environment;
    Sum* const left = nodes + pair * 2 * distance;
    *left = *left + left[distance];
  }
};

/// Leaves the root over nodes [0, count) in nodes[0].
template <class Sum>
void add_tree(const space& where, Sum* nodes, std::size_t count) {
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    const std::size_t pairs = (count - 1 + distance) / (2 * distance);
    Kokkos::parallel_for("tally tree", Kokkos::RangePolicy<space>(where, 0, pairs),
                         add_pairs<Sum>{nodes, distance});
  }
}

// --- The whole sum -------------------------------------------------------------------------------

/// Chunk sums held at a time: a node, at most 2 MiB, more than fills a device.
inline constexpr std::size_t group = std::size_t{1} << 16;

/// Returns the root; null without terms. Roots of whole groups are at the front: group g's chunk
/// sums begin at index g, where their root stays.
template <class Terms>
const typename Terms::sum* sum(const space& where, const Terms& terms, std::size_t size,
                               typename Terms::sum* nodes) {
  const std::size_t chunks = (size + order::chunk - 1) / order::chunk;
  std::size_t roots = 0;
  for (std::size_t first = 0; first < chunks; first += group) {
    const std::size_t count = std::min(group, chunks - first);
    auto* const sums = nodes + roots++;
    sum_chunks<Terms>{terms, size, first, sums}.run(where, count);
    add_tree(where, sums, count);
  }
  add_tree(where, nodes, roots);
  return roots > 0 ? nodes : nullptr;
}

inline std::size_t node_count(std::size_t size) {
  const std::size_t chunks = size / order::chunk + 1;
  return std::min(group, chunks) + chunks / group + 1;
}

/// Writes the first `parts` numbers of the result; `how`: argument of finish_parts.
template <class Sum, class How, class R>
struct write_result {
  const Sum* sum;  // null without terms
  How how;
  R* result;
  int parts;

  KOKKOS_FUNCTION void operator()(std::size_t) const {
    const environment_guard environment;
    const auto all = finish_parts(sum ? *sum : Sum{}, how);
    result[0] = all.re;
    if (parts == 2) result[1] = all.im;
  }
};

/// Queues the copy of `count` numbers.
template <class R>
void copy_to_host(const space& where, const R* from, void* to, int count) {
  using Kokkos::MemoryUnmanaged;
  const auto n = static_cast<std::size_t>(count);
  Kokkos::deep_copy(where,
                    Kokkos::View<R*, Kokkos::HostSpace, MemoryUnmanaged>(static_cast<R*>(to), n),
                    Kokkos::View<const R*, memory, MemoryUnmanaged>(from, n));
}

/// Writes the result of `size` terms, `parts` numbers, to `data`, with `wait` on the host.
/// @pre Default environment; `acquire`'s lock is held.
template <class R, class Terms, class How>
void write_sum(const Terms& terms, std::size_t size, How how, void* data, int parts, bool wait) {
  using Sum = typename Terms::sum;
  const space where;
  // The first node is for a result that a device can't write in place; a complex one fits, too.
  auto* const nodes = static_cast<Sum*>(scratch((1 + node_count(size)) * sizeof(Sum)));
  const bool staged = wait && !on_host;
  auto* const result = static_cast<R*>(staged ? static_cast<void*>(nodes) : data);
  const Sum* const total = sum(where, terms, size, nodes + 1);
  Kokkos::parallel_for("tally result", Kokkos::RangePolicy<space>(where, 0, 1),
                       write_result<Sum, How, R>{total, how, result, parts});
  if (staged) copy_to_host(where, result, data, parts);
  if (wait || on_host) where.fence();
}

template <class Sum>
struct write_node {
  const Sum* sum;
  Sum* node;

  KOKKOS_FUNCTION void operator()(std::size_t) const { *node = *sum; }
};

/// Leaves the sum of `size` > 0 terms at `node`, like `write_sum`.
template <class Terms>
void leave_sum(const Terms& terms, std::size_t size, void* node, bool wait) {
  using Sum = typename Terms::sum;
  const space where;
  auto* const nodes = static_cast<Sum*>(scratch(node_count(size) * sizeof(Sum)));
  const Sum* const total = sum(where, terms, size, nodes);
  if (wait && !on_host) {
    copy_to_host(where, reinterpret_cast<const std::byte*>(total), node, sizeof(Sum));
  } else {
    Kokkos::parallel_for("tally node", Kokkos::RangePolicy<space>(where, 0, 1),
                         write_node<Sum>{total, static_cast<Sum*>(node)});
  }
  if (wait || on_host) where.fence();
}

/// `leave_sum` of a node's products, of elements, or of squared products.
void leave_products(type accumulator, const interval_field& node, void* sum, bool wait);
void leave_elements(type accumulator, const interval_field& node, void* sum, bool wait);
void leave_weighted(type accumulator, const interval_field& node, void* sum, bool wait);

}  // namespace tally::backends::kokkos
