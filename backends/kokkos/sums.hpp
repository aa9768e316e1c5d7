// Sums on Kokkos: one launch, nodes of the tree by teams, or by a host's threads.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "backends/kokkos/runtime/launch.hpp"
#include "backends/kokkos/runtime/runtime.hpp"

#include <Kokkos_Core.hpp>
#include <tally/numerics/order.hpp>
#include <tally/numerics/order_tree.hpp>
#include <tally/operands/operand.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends::kokkos {

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
/// (tuning/kokkos.md: own_numbers). Adjacent ones are known to have increment 1.
template <class T, bool adjacent = false>
struct own_numbers {
  static constexpr std::ptrdiff_t per_element = is_complex_v<T> ? 2 : 1;
  using stored = detail::stored_t<real_t<T>>;
  const stored* data;
  std::ptrdiff_t increment;  // in numbers

  explicit own_numbers(const operand& x)
      : data(static_cast<const stored*>(x.data)), increment(per_element * x.increment) {}

  static KOKKOS_FUNCTION constexpr bool is_complex() { return is_complex_v<T>; }
  template <class R>
  KOKKOS_FUNCTION R get(std::size_t i, int part) const {
    const std::ptrdiff_t step = adjacent ? per_element : increment;
    return rounded<R>(data[static_cast<std::ptrdiff_t>(i) * step + part]);
  }
};

/// Calls f with own numbers of the operands, adjacent ones if a host has them: its compiler makes
/// vector instructions of these.
template <class T, class F, class... Operand>
void with_own_numbers(const F& f, const Operand&... x) {
  if constexpr (on_host) {
    if ((... && (x.increment == 1))) return f(own_numbers<T, true>(x)...);
  }
  f(own_numbers<T>(x)...);
}

/// Adds to a word that other threads leave alone. No lambda: nvcc makes those the host's.
struct add_to_word {
  KOKKOS_FUNCTION void operator()(std::int64_t* word, std::int64_t value) const { *word += value; }
};

// --- Chunks --------------------------------------------------------------------------------------

/// Levels of a tree that is built as its leaves arrive.
inline constexpr std::size_t max_levels = 48;

/// Folds lanes in halves, for `count` chunks of `lanes` each.
template <class Member, class Lanes>
KOKKOS_FUNCTION void fold_lanes(const Member& team, const Lanes& lane, int count, int lanes) {
  for (int half = lanes / 2; half > 0; half /= 2) {
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count * half), [&](int t) {
      const int l = t / half * lanes + t % half;
      lane(l) = lane(l) + lane(l + half);
    });
  }
  team.team_barrier();
}

/// Adds a node to the sums held on the way to a tree's root: `step` is its number.
template <class Held, class Sum>
KOKKOS_FUNCTION void hold(const Held& held, int& count, std::size_t step, Sum sum) {
  for (std::size_t bits = step; (bits & 1) != 0; bits >>= 1) sum = held(--count) + sum;
  held(count++) = sum;
}

/// The root of the tree whose sums are held.
template <class Held>
KOKKOS_FUNCTION typename Held::value_type root_of(const Held& held, int count) {
  typename Held::value_type sum{};
  if (count > 0) sum = held(--count);
  while (count > 0) sum = held(--count) + sum;
  return sum;
}

/// Folds nodes that are `stride` apart to the first, level by level.
template <class Member, class Lanes>
KOKKOS_FUNCTION void fold_nodes(const Member& team, const Lanes& node, int count, int stride) {
  for (int distance = 1; distance < count; distance *= 2) {
    team.team_barrier();
    const int pairs = (count - 1 + distance) / (2 * distance);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, pairs), [&](int pair) {
      const int left = pair * 2 * distance * stride;
      node(left) = node(left) + node(left + distance * stride);
    });
  }
  team.team_barrier();
}

/// The sum of terms first, first + step, ... before end.
template <class Terms>
KOKKOS_FUNCTION typename Terms::sum sum_of_lane(const Terms& terms, std::size_t first,
                                                std::size_t end, std::size_t step) {
  typename Terms::sum sum{};
  for (std::size_t i = first; i < end; i += step) sum = sum + terms.term(i);
  return sum;
}

/// The sum of terms [begin, end) in `lanes` lanes, for a host: some side by side, for registers.
template <std::size_t lanes, class Terms>
typename Terms::sum sum_of_lanes(const Terms& terms, std::size_t begin, std::size_t end) {
  using Sum = typename Terms::sum;
  constexpr std::size_t some = lanes < 32 ? lanes : 32;  // tuning/kokkos.md
  const std::size_t rest = end - (end - begin) % lanes;
  Sum lane[lanes];
  for (std::size_t first = 0; first < lanes; first += some) {
    Sum own[some] = {};
    for (std::size_t i = begin + first; i < rest; i += lanes) {
      for (std::size_t l = 0; l < some; ++l) own[l] = own[l] + terms.term(i + l);
    }
    for (std::size_t l = 0; l < some; ++l) lane[first + l] = own[l];
  }
  for (std::size_t l = 0; rest + l < end; ++l) lane[l] = lane[l] + terms.term(rest + l);
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  }
  return lane[0];
}

/// Sums terms [begin, end) on a host, chunks from `begin` on.
template <class Terms>
typename Terms::sum sum_by_thread(const Terms& terms, std::size_t begin, std::size_t end) {
  order::tree<typename Terms::sum, order::add, max_levels> tree;
  for (std::size_t i = begin; i < end; i += order::chunk) {
    const std::size_t last = end - i < order::chunk ? end : i + order::chunk;
    if constexpr (requires { terms.chunk(i, last); }) {  // a sum of their own
      tree.add(terms.chunk(i, last));
    } else {
      tree.add(sum_of_lanes<order::lanes>(terms, i, last));
    }
  }
  return tree.total();
}

/// The same by a team, a lane a thread, `at_once` chunks at a time, a power of two. `lane` has room
/// for their lanes, `held` for `max_levels` sums. The sum is the first thread's.
template <class Terms, class Member, class Lanes>
KOKKOS_FUNCTION typename Terms::sum sum_by_team(const Member& team, const Terms& terms,
                                                std::size_t begin, std::size_t end,
                                                const Lanes& lane, const Lanes& held,
                                                std::size_t at_once) {
  constexpr int lanes = static_cast<int>(order::lanes);
  int count = 0;
  std::size_t step = 0;
  for (std::size_t at = begin; at < end; at += at_once * order::chunk, ++step) {
    const std::size_t left = (end - at + order::chunk - 1) / order::chunk;
    const int n = static_cast<int>(left < at_once ? left : at_once);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * lanes), [&](int t) {
      const std::size_t chunk = at + static_cast<std::size_t>(t / lanes) * order::chunk;
      const std::size_t last = end - chunk < order::chunk ? end : chunk + order::chunk;
      const std::size_t first = chunk + static_cast<std::size_t>(t % lanes);
      if constexpr (requires { terms.lane(first, last); }) {  // a sum of their own
        lane(t) = terms.lane(first, last);
      } else {
        lane(t) = sum_of_lane(terms, first, last, order::lanes);
      }
    });
    fold_lanes(team, lane, n, lanes);
    fold_nodes(team, lane, n, lanes);
    Kokkos::single(Kokkos::PerTeam(team), [&] { hold(held, count, step, lane(0)); });
    team.team_barrier();
  }
  typename Terms::sum sum{};
  Kokkos::single(Kokkos::PerTeam(team), [&] { sum = root_of(held, count); });
  return sum;
}

// --- Teams of a device ---------------------------------------------------------------------------

using team_policy = Kokkos::TeamPolicy<space>;
using team_member = team_policy::member_type;
/// What a launch calls its function with: a number on a host, a team on a device.
using launch_index = std::conditional_t<on_host, std::size_t, team_member>;

template <class Sum>
using team_memory = Kokkos::View<Sum*, space::scratch_memory_space, Kokkos::MemoryUnmanaged>;

/// Queues body(team) for `count` teams of at most `threads` threads, with memory for `lanes` and
/// `max_levels` sums.
template <class Sum, class Bounds = Kokkos::LaunchBounds<>, class Body>
void run_teams(const space& on, const char* name, int count, int threads, int lanes,
               const Body& body) {
  const auto configured = [&](int size) {
    return Kokkos::TeamPolicy<space, Bounds>(on, count, size)
        .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(
                                 team_memory<Sum>::shmem_size(static_cast<std::size_t>(lanes)) +
                                 team_memory<Sum>::shmem_size(max_levels))));
  };
  const int max_threads = configured(1).team_size_max(body, Kokkos::ParallelForTag());
  Kokkos::parallel_for(name, configured(std::min(threads, max_threads)), body);
}

// --- The whole sum -------------------------------------------------------------------------------

/// Lanes that a team has at a time.
inline constexpr int max_lanes = 1024;
inline constexpr std::size_t chunks_at_once = max_lanes / order::lanes;
/// Nodes of a launch, at most: teams enough to leave no multiprocessor idle at the end.
inline constexpr int max_nodes = 4096;
/// Bytes of nodes: four numbers of 8 bytes each.
inline constexpr std::size_t node_bytes = max_nodes * 4 * sizeof(double);

/// Sums of nodes of `chunks` chunks, a power of two. On a device a team's lanes are on its threads,
/// and the team that is last adds up the nodes. `Finish` takes the root.
template <class Terms, class Finish>
struct sum_nodes {
  using Sum = typename Terms::sum;
  using sums_of_team = team_memory<Sum>;
  static constexpr int lanes = static_cast<int>(order::lanes);
  static_assert(max_nodes * sizeof(Sum) <= node_bytes);

  Terms terms;
  Finish finish;
  std::size_t size;
  std::size_t chunks;
  Sum* nodes;
  unsigned* finished;  // nodes; 0 between launches

  KOKKOS_FUNCTION void operator()(const launch_index& at) const {
    if constexpr (on_host) {
      const environment_guard environment;
      nodes[at] = sum_by_thread(terms, begin_of(at), end_of(at));
    } else {
      sum_node(at);
    }
  }

  KOKKOS_FUNCTION std::size_t begin_of(std::size_t node) const {
    return node * chunks * order::chunk;
  }
  KOKKOS_FUNCTION std::size_t end_of(std::size_t node) const {
    return size - begin_of(node) < chunks * order::chunk ? size : begin_of(node + 1);
  }

  KOKKOS_FUNCTION void sum_node(const team_member& team) const {
    const sums_of_team lane(team.team_scratch(0), max_lanes);
    const sums_of_team held(team.team_scratch(0), max_levels);
    const auto node = static_cast<std::size_t>(team.league_rank());
    const Sum sum =
        sum_by_team(team, terms, begin_of(node), end_of(node), lane, held, chunks_at_once);
    unsigned before = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](unsigned& ticket) {
          nodes[node] = sum;
          Kokkos::memory_fence();
          ticket = Kokkos::atomic_fetch_add(finished, 1u);
        },
        before);
    if (before + 1 == static_cast<unsigned>(team.league_size())) add_nodes(team, lane, held);
  }

  KOKKOS_FUNCTION void add_nodes(const team_member& team, const sums_of_team& lane,
                                 const sums_of_team& held) const {
    Kokkos::memory_fence();
    const int all = team.league_size();
    int count = 0;
    for (int first = 0; first < all; first += max_lanes) {
      const int n = all - first < max_lanes ? all - first : max_lanes;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n),
                           [&](int t) { lane(t) = nodes[first + t]; });
      fold_nodes(team, lane, n, 1);
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        hold(held, count, static_cast<std::size_t>(first / max_lanes), lane(0));
      });
      team.team_barrier();
    }
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      *finished = 0;
      finish(root_of(held, count));
    });
  }

  /// Queues it; on a host it is complete on return.
  void run(const space& on) {
    const std::size_t all = (size + order::chunk - 1) / order::chunk;
    const auto nodes_of = [&](std::size_t each) { return (all + each - 1) / each; };
    // A device's short sums have few nodes, since the last team adds these up alone.
    constexpr std::size_t few = 256;
    chunks = 1;
    while (nodes_of(chunks) > max_nodes || (!on_host && chunks < 4 && nodes_of(chunks) > few)) {
      chunks *= 2;
    }
    const int count = static_cast<int>(std::max<std::size_t>(nodes_of(chunks), 1));
    if constexpr (on_host) {
      Kokkos::parallel_for("tally sum", Kokkos::RangePolicy<space>(on, 0, count), *this);
      on.fence();
      order::tree<Sum, order::add, max_levels> tree;
      for (int i = 0; i < count; ++i) tree.add(nodes[i]);
      finish(tree.total());
    } else {
      const int threads = lanes * static_cast<int>(std::min<std::size_t>(chunks, 4));
      run_teams<Sum>(on, "tally sum", count, threads, max_lanes, *this);
    }
  }
};

/// Writes the first `parts` numbers of the result; `how`: argument of finish_parts.
template <class Sum, class How, class R>
struct write_result {
  How how;
  R* result;
  int parts;

  KOKKOS_FUNCTION void operator()(const Sum& sum) const {
    const auto all = finish_parts(sum, how);
    result[0] = all.re;
    if (parts == 2) result[1] = all.im;
  }
};

/// Writes the result of `size` terms, `parts` numbers, to `data`, with `wait` on the host.
/// @pre Default environment; `acquire`'s lock is held.
template <class R, class Terms, class How>
void write_sum(const space& on, const Terms& terms, std::size_t size, How how, void* data,
               int parts, bool wait) {
  using Sum = typename Terms::sum;
  using Finish = write_result<Sum, How, R>;
  auto* const nodes = static_cast<Sum*>(scratch(on, node_bytes));
  const launch_memory shared = memory_of_launches(on);
  const bool staged = wait && !on_host;  // through memory that both write
  auto* const result = static_cast<R*>(staged ? shared.result : data);
  sum_nodes<Terms, Finish>{terms, Finish{how, result, parts}, size, 1, nodes, shared.counters}.run(
      on);
  if (!staged) return;
  on.fence();
  std::copy_n(result, parts, static_cast<R*>(data));
}

template <class Sum>
struct write_node {
  Sum* node;

  KOKKOS_FUNCTION void operator()(const Sum& sum) const { *node = sum; }
};

/// Leaves the sum of `size` terms at `node`, like `write_sum`.
template <class Terms>
void leave_sum(const space& on, const Terms& terms, std::size_t size, void* node, bool wait) {
  using Sum = typename Terms::sum;
  using Finish = write_node<Sum>;
  auto* const nodes = static_cast<Sum*>(scratch(on, node_bytes));
  const launch_memory shared = memory_of_launches(on);
  const bool staged = wait && !on_host;
  auto* const to = static_cast<Sum*>(staged ? shared.result : node);
  sum_nodes<Terms, Finish>{terms, Finish{to}, size, 1, nodes, shared.counters}.run(on);
  if (!staged) return;
  on.fence();
  *static_cast<Sum*>(node) = *to;
}

/// `leave_sum` of a node's products, of elements, or of squared products.
void leave_products(const space& on, type accumulator, const interval_field& node, void* sum,
                    bool wait);
void leave_elements(const space& on, type accumulator, const interval_field& node, void* sum,
                    bool wait);
void leave_weighted(const space& on, type accumulator, const interval_field& node, void* sum,
                    bool wait);

}  // namespace tally::backends::kokkos
