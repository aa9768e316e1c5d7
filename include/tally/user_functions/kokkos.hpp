// The caller's functions on a device of Kokkos's, in sources that include <Kokkos_Core.hpp> before
// Tally's headers and are compiled for that device.
//
// A team sums nodes of the order's tree, a lane a thread; another one combines the nodes.
#pragma once

#include <tally/executor.hpp>
#include <tally/numerics/order.hpp>
#include <tally/numerics/order_tree.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/user_functions/functions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#if defined(KOKKOS_VERSION)

namespace tally::detail {

using kokkos_device = Kokkos::DefaultExecutionSpace;

/// Whether an executor runs kernels of the caller's.
inline bool is_device_of_kokkos(const executor& where) {
  return where.name() == "kokkos" && !where.reaches_host_memory();
}

/// Whether a function can be copied to the device, and is not compiled for nvcc's devices alone.
template <class F>
inline constexpr bool travels_by_kokkos =
#if defined(__CUDACC_EXTENDED_LAMBDA__)
    std::is_class_v<F> && !__nv_is_extended_device_lambda_closure_type(F) &&
    (std::is_trivially_copyable_v<F> || __nv_is_extended_host_device_lambda_closure_type(F));
#else
    std::is_class_v<F> && std::is_trivially_copyable_v<F>;
#endif

/// A function callable on the device: wraps the standard library's, which nvcc takes for the
/// host's.
template <class F>
struct kokkos_function {
  F f;
  template <class... T>
  KOKKOS_FUNCTION auto operator()(const T&... values) const {
    return f(values...);
  }
};
template <class T>
struct kokkos_function<std::plus<T>> {
  std::plus<T> f;
  template <class A, class B>
  KOKKOS_FUNCTION auto operator()(const A& a, const B& b) const {
    using C = std::conditional_t<std::is_void_v<T>, std::remove_cvref_t<decltype(a + b)>, T>;
    return static_cast<C>(a) + static_cast<C>(b);
  }
};
template <class T>
struct kokkos_function<std::multiplies<T>> {
  std::multiplies<T> f;
  template <class A, class B>
  KOKKOS_FUNCTION auto operator()(const A& a, const B& b) const {
    using C = std::conditional_t<std::is_void_v<T>, std::remove_cvref_t<decltype(a * b)>, T>;
    return static_cast<C>(a) * static_cast<C>(b);
  }
};

/// Vectors of types V, each of whose elements i a function takes. (std::tuple's functions are the
/// host's.)
template <class... V>
struct kokkos_inputs {
  explicit kokkos_inputs(const operand*) {}

  template <class F, class... E>
  KOKKOS_FUNCTION auto call(const F& f, std::size_t, const E&... elements) const {
    return f(elements...);
  }
};
template <class First, class... Rest>
struct kokkos_inputs<First, Rest...> {
  typed_vector<First> first;
  kokkos_inputs<Rest...> rest;

  explicit kokkos_inputs(const operand* all) : first(all[0]), rest(all + 1) {}

  template <class F, class... E>
  KOKKOS_FUNCTION auto call(const F& f, std::size_t i, const E&... elements) const {
    return rest.call(f, i, elements..., static_cast<First>(first[i]));
  }
};

// --- transform -----------------------------------------------------------------------------------

template <class F, class Z, class... V>
struct kokkos_map {
  kokkos_function<F> f;
  kokkos_inputs<V...> inputs;
  Z* z;
  std::ptrdiff_t increment;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    z[i * increment] = canonical(static_cast<Z>(inputs.call(f, static_cast<std::size_t>(i))));
  }
};

template <class F, class Z, class... V>
void map_on_kokkos(const executor& where, const char* function, const F& f,
                   std::span<const operand> inputs, const output_operand& z) {
  struct call {
    kokkos_map<F, Z, V...> map;
    std::size_t size;
  } all{{{f}, kokkos_inputs<V...>(inputs.data()), static_cast<Z*>(z.data), z.increment}, z.size};
  run_on_kokkos(where, function, inputs, z, &all, [](void* context, const kokkos_queue& lent) {
    const auto& one = *static_cast<const call*>(context);
    using range = Kokkos::RangePolicy<kokkos_device, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("tally map",
                         range(*static_cast<const kokkos_device*>(lent.instance), 0,
                               static_cast<std::int64_t>(one.size)),
                         one.map);
  });
}

// --- transform_reduce ----------------------------------------------------------------------------

template <class R, class Reduce>
struct kokkos_combination {
  kokkos_function<Reduce> reduce;
  KOKKOS_FUNCTION R operator()(const R& a, const R& b) const {
    return static_cast<R>(reduce(a, b));
  }
};

template <class R>
using kokkos_team_sums =
    Kokkos::View<R*, kokkos_device::scratch_memory_space, Kokkos::MemoryUnmanaged>;

using kokkos_team = Kokkos::TeamPolicy<kokkos_device>::member_type;

/// A value that no compiler contracts with what comes after it: `zero` is 0, unknown to it.
template <class T>
KOKKOS_FUNCTION T uncontracted(const T& value, std::uint32_t zero) {
  if constexpr (std::is_same_v<T, float>) {
    return __builtin_bit_cast(T, __builtin_bit_cast(std::uint32_t, value) ^ zero);
  } else if constexpr (std::is_same_v<T, double>) {
    return __builtin_bit_cast(T, __builtin_bit_cast(std::uint64_t, value) ^ zero);
  } else if constexpr (is_complex_v<T>) {
    using number = complex_number<real_t<T>>;
    const auto parts = __builtin_bit_cast(number, value);
    return __builtin_bit_cast(T,
                              number{uncontracted(parts.re, zero), uncontracted(parts.im, zero)});
  } else {
    return value;
  }
}

/// Sums of nodes of `chunks` chunks each, a power of two; a team's threads have a lane each.
template <class R, class Reduce, class Map, class... V>
struct kokkos_nodes {
  static constexpr int lanes = static_cast<int>(order::lanes);
  static constexpr int at_once = 4;  ///< chunks of a team

  R identity;
  kokkos_combination<R, Reduce> combine;
  kokkos_function<Map> map;
  kokkos_inputs<V...> inputs;
  std::size_t size, chunks;
  R* nodes;
  std::uint32_t zero;

  KOKKOS_FUNCTION R sum_lane(std::size_t first, std::size_t end) const {
    R sum = identity;
    for (std::size_t i = first; i < end; i += order::lanes) {
      sum = combine(sum, uncontracted(static_cast<R>(inputs.call(map, i)), zero));
    }
    return sum;
  }

  KOKKOS_FUNCTION void operator()(const kokkos_team& team) const {
    const kokkos_team_sums<R> lane(team.team_scratch(0), at_once * lanes);
    order::tree<R, kokkos_combination<R, Reduce>> sums(combine);
    const std::size_t all = (size + order::chunk - 1) / order::chunk;
    const std::size_t first = static_cast<std::size_t>(team.league_rank()) * chunks;
    const std::size_t own = all - first < chunks ? all - first : chunks;
    for (std::size_t c = 0; c < own; c += at_once) {
      const int n = own - c < at_once ? static_cast<int>(own - c) : at_once;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * lanes), [&](int t) {
        const std::size_t begin = (first + c + static_cast<std::size_t>(t / lanes)) * order::chunk;
        const std::size_t end = size - begin < order::chunk ? size : begin + order::chunk;
        lane(t) = sum_lane(begin + static_cast<std::size_t>(t % lanes), end);
      });
      for (int half = lanes / 2; half > 0; half /= 2) {
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * half), [&](int t) {
          const int l = t / half * lanes + t % half;
          lane(l) = combine(lane(l), lane(l + half));
        });
      }
      team.team_barrier();
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        for (int k = 0; k < n; ++k) sums.add(lane(k * lanes));
      });
      team.team_barrier();
    }
    Kokkos::single(Kokkos::PerTeam(team),
                   [&] { nodes[team.league_rank()] = own == 0 ? identity : sums.total(); });
  }
};

/// The root of `count` nodes, by one team: `each` adjacent ones a thread, a power of two.
template <class R, class Reduce>
struct kokkos_root {
  static constexpr int threads = 64;

  kokkos_combination<R, Reduce> combine;
  const R* nodes;
  int count, each;
  R* result;

  KOKKOS_FUNCTION void operator()(const kokkos_team& team) const {
    const kokkos_team_sums<R> sum(team.team_scratch(0), threads);
    const int n = (count + each - 1) / each;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int t) {
      order::tree<R, kokkos_combination<R, Reduce>> own(combine);
      for (int i = t * each; i < (t + 1) * each && i < count; ++i) own.add(nodes[i]);
      sum(t) = own.total();
    });
    for (int distance = 1; distance < n; distance *= 2) {
      team.team_barrier();
      const int pairs = (n - 1 + distance) / (2 * distance);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, pairs), [&](int pair) {
        const int left = pair * 2 * distance;
        sum(left) = combine(sum(left), sum(left + distance));
      });
    }
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] { *result = canonical(sum(0)); });
  }
};

template <class R, class Body>
void run_team_of_kokkos(const kokkos_device& on, int teams, int threads, const Body& body) {
  const auto policy = [&](int size) {
    return Kokkos::TeamPolicy<kokkos_device>(on, teams, size)
        .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(kokkos_team_sums<R>::shmem_size(
                                 static_cast<std::size_t>(threads)))));
  };
  const int max_threads = policy(1).team_size_max(body, Kokkos::ParallelForTag());
  Kokkos::parallel_for("tally reduce", policy((std::min)(threads, max_threads)), body);
}

template <class R, class Reduce, class Map>
inline constexpr bool reduces_by_kokkos =
    std::is_trivially_copyable_v<R> && sizeof(R) <= device_sum::max_bytes &&
    travels_by_kokkos<Reduce> && travels_by_kokkos<Map>;

/// `result` null: waits for the value.
template <class R, class Reduce, class Map, class... V>
R reduce_on_kokkos(const executor& where, const char* function, const R& identity,
                   const Reduce& reduce, const Map& map, std::span<const operand> inputs,
                   R* result) {
  using nodes_of = kokkos_nodes<R, Reduce, Map, V...>;
  constexpr std::size_t max_nodes = 1024;
  struct call {
    nodes_of nodes;
    std::size_t count = 1;
  } all{{identity,
         {{reduce}},
         {map},
         kokkos_inputs<V...>(inputs.data()),
         inputs[0].size,
         1,
         nullptr,
         0}};
  const std::size_t chunks = (inputs[0].size + order::chunk - 1) / order::chunk;
  std::size_t& each = all.nodes.chunks;
  while ((chunks + each - 1) / each > max_nodes || (each < 4 && chunks > 256 * each)) each *= 2;
  all.count = (std::max)((chunks + each - 1) / each, std::size_t{1});

  R returned = identity;
  run_on_kokkos(where, function, inputs, result != nullptr ? result : &returned, sizeof(R),
                result == nullptr, all.count * sizeof(R), &all,
                [](void* context, const kokkos_queue& lent) {
                  auto& one = *static_cast<call*>(context);
                  const auto& on = *static_cast<const kokkos_device*>(lent.instance);
                  const auto count = static_cast<int>(one.count);
                  one.nodes.nodes = static_cast<R*>(lent.memory);
                  run_team_of_kokkos<R>(on, count, nodes_of::at_once * nodes_of::lanes, one.nodes);
                  using root = kokkos_root<R, Reduce>;
                  int each_of_thread = 1;
                  while (each_of_thread * root::threads < count) each_of_thread *= 2;
                  run_team_of_kokkos<R>(on, 1, root::threads,
                                        root{one.nodes.combine, one.nodes.nodes, count,
                                             each_of_thread, static_cast<R*>(lent.result)});
                });
  return returned;
}

}  // namespace tally::detail

#endif
