// dot on Kokkos's default execution space: the order contract written a second time, in Kokkos's
// own terms, to check the other backends by. It shares none of their loops, and its tree is the
// contract's own picture: level by level over the nodes.
#include "backends/kokkos/dot.hpp"

#include "backends/dot_sum.hpp"
#include "backends/floating_point_environment.hpp"
#include "backends/kokkos/runtime.hpp"
#include "backends/pairs.hpp"

#include <Kokkos_Core.hpp>
#include <tally/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends::kokkos {
namespace {

using space = Kokkos::DefaultExecutionSpace;
using memory = space::memory_space;

constexpr bool on_host = std::is_same_v<space, Kokkos::DefaultHostExecutionSpace>;

struct no_guard {
  KOKKOS_FUNCTION no_guard() {}  // not trivial, so that it may stand unused
};
using environment_guard = std::conditional_t<on_host, default_environment, no_guard>;

// --- One chunk ------------------------------------------------------------------------------------

template <class T>
KOKKOS_FUNCTION T multiply(T a, T b) {
#if defined(__CUDA_ARCH__)  // nvcc contracts unless told otherwise; these it never does
  if constexpr (std::is_same_v<T, double>) return __dmul_rn(a, b);
  if constexpr (std::is_same_v<T, float>) return __fmul_rn(a, b);
#endif
  if constexpr (std::is_integral_v<T>) {  // modulo 2^64
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

/// An operand as its real numbers: a complex element is two of them.
template <class T>
struct numbers {
  const real_t<T>* first;
  std::ptrdiff_t increment;  // in numbers

  explicit numbers(const operand& v)
      : first(static_cast<const real_t<T>*>(v.data)),
        increment(v.increment * static_cast<std::ptrdiff_t>(sizeof(T) / sizeof(real_t<T>))) {}

  template <class R>
  KOKKOS_FUNCTION R get(std::size_t i, int part) const {
    const real_t<T> value = first[static_cast<std::ptrdiff_t>(i) * increment + part];
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      return static_cast<R>(static_cast<float>(value));
    } else {
      return static_cast<R>(value);
    }
  }
};

/// The sum of one chunk a team; a team's threads share its lanes.
template <class A, class X, class Y>
struct sum_chunks {
  using policy = Kokkos::TeamPolicy<space>;
  using member = typename policy::member_type;
  using lanes = Kokkos::View<dot_sum<A>*, space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  using R = real_t<A>;
  static constexpr int width = static_cast<int>(order::lanes);

  numbers<X> x;
  numbers<Y> y;
  std::size_t size;
  std::size_t first_chunk;
  dot_sum<A>* sums;

  KOKKOS_FUNCTION void operator()(const member& team) const {
    const environment_guard environment;
    const auto rank = static_cast<std::size_t>(team.league_rank());
    const std::size_t begin = (first_chunk + rank) * order::chunk;
    const std::size_t end = size - begin < order::chunk ? size : begin + order::chunk;
    const lanes lane(team.team_scratch(0), width);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int l) {
      dot_sum<A> sum{};
      for (std::size_t i = begin + static_cast<std::size_t>(l); i < end; i += order::lanes) {
        sum = sum + term(i);
      }
      lane(l) = sum;
    });
    for (int half = width / 2; half > 0; half /= 2) {
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, half),
                           [&](int l) { lane(l) = lane(l) + lane(l + half); });
    }
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] { sums[rank] = lane(0); });
  }

  KOKKOS_FUNCTION dot_sum<A> term(std::size_t i) const {
    const R re = x.template get<R>(i, 0);
    if constexpr (!is_complex_v<A>) {
      return {multiply(re, y.template get<R>(i, 0))};
    } else {  // at least y is complex: it comes last in a pair
      const R yre = y.template get<R>(i, 0);
      const R yim = y.template get<R>(i, 1);
      if constexpr (!is_complex_v<X>) {
        return {multiply(re, yre), R{}, multiply(re, yim), R{}};
      } else {
        const R im = x.template get<R>(i, 1);
        return {multiply(re, yre), multiply(im, yim), multiply(re, yim), multiply(im, yre)};
      }
    }
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
    Kokkos::parallel_for("tally::dot chunks", configured(threads), *this);
  }
};

// --- The tree -------------------------------------------------------------------------------------

/// One level: node 2j, at index j * 2 * distance, takes node 2j+1. A last one without a partner
/// stays where it is, which is passing up unchanged.
template <class A>
struct add_pairs {
  dot_sum<A>* nodes;
  std::size_t distance;

  KOKKOS_FUNCTION void operator()(std::size_t pair) const {
    const environment_guard environment;
    dot_sum<A>* const left = nodes + pair * 2 * distance;
    *left = *left + left[distance];
  }
};

/// Leaves the root of the tree over nodes [0, count) in nodes[0].
template <class A>
void reduce(const space& where, dot_sum<A>* nodes, std::size_t count) {
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    const std::size_t pairs = (count - 1 + distance) / (2 * distance);
    Kokkos::parallel_for("tally::dot tree", Kokkos::RangePolicy<space>(where, 0, pairs),
                         add_pairs<A>{nodes, distance});
  }
}

template <class A>
struct write_result {
  const dot_sum<A>* sum;  // null where there are no terms
  conjugate conjugated;
  real_t<A>* result;

  KOKKOS_FUNCTION void operator()(std::size_t) const {
    const environment_guard environment;
    const auto parts = finish_parts(sum ? *sum : dot_sum<A>{}, conjugated);
    result[0] = parts.re;
    if constexpr (is_complex_v<A>) result[1] = parts.im;
  }
};

// --- The whole sum --------------------------------------------------------------------------------

/// Chunks whose sums are held at a time: a node of the tree, since it is a power of two. 65536 sums
/// are at most 2 MiB, and on a device many times what fills it.
constexpr std::size_t group = std::size_t{1} << 16;

/// Roots of whole groups gather at the front, and the chunk sums of group g begin at index g: the
/// root of a group comes to stand right behind those before it.
template <class A, class X, class Y>
const dot_sum<A>* sum(const space& where, const operand& x, const operand& y, dot_sum<A>* nodes) {
  const std::size_t chunks = (x.size + order::chunk - 1) / order::chunk;
  std::size_t roots = 0;
  for (std::size_t first = 0; first < chunks; first += group) {
    const std::size_t count = std::min(group, chunks - first);
    dot_sum<A>* const sums = nodes + roots++;
    sum_chunks<A, X, Y>{numbers<X>(x), numbers<Y>(y), x.size, first, sums}.run(where, count);
    reduce(where, sums, count);
  }
  reduce(where, nodes, roots);
  return roots > 0 ? nodes : nullptr;
}

std::size_t node_count(std::size_t size) {
  const std::size_t chunks = size / order::chunk + 1;
  return std::min(group, chunks) + chunks / group + 1;
}

template <class A>
struct sum_entry {  // nvcc warns of a lambda whose parameters don't tell X and Y
  template <class X, class Y>
  constexpr auto operator()() const {
    return &sum<A, X, Y>;
  }
};

template <class A>
constexpr auto sums =
    make_pair_table<const dot_sum<A>*(const space&, const operand&, const operand&, dot_sum<A>*),
                    A>(sum_entry<A>{});

}  // namespace

void dot(const executor&, const dot_arguments& a) {
  const default_environment environment;
  const auto lock = acquire();
  const space where;
  with_accumulator(a.result.element, [&]<class A>() {
    // The first node stands aside for a result that a device can't write where it is wanted.
    auto* const nodes =
        static_cast<dot_sum<A>*>(scratch((1 + node_count(a.x.size)) * sizeof(dot_sum<A>)));
    const bool staged = a.wait && !on_host;
    auto* const result =
        static_cast<real_t<A>*>(staged ? static_cast<void*>(nodes) : a.result.data);
    auto* const sum_of_pair = at(sums<A>, a.x.element, a.y.element);
    const auto* const total = sum_of_pair(where, a.x, a.y, nodes + 1);
    Kokkos::parallel_for("tally::dot result", Kokkos::RangePolicy<space>(where, 0, 1),
                         write_result<A>{total, a.conjugated, result});
    if (staged) {
      using Kokkos::MemoryUnmanaged;
      const std::size_t parts = sizeof(A) / sizeof(real_t<A>);
      Kokkos::deep_copy(where,
                        Kokkos::View<real_t<A>*, Kokkos::HostSpace, MemoryUnmanaged>(
                            static_cast<real_t<A>*>(a.result.data), parts),
                        Kokkos::View<const real_t<A>*, memory, MemoryUnmanaged>(result, parts));
    }
    if (a.wait || on_host) where.fence();
  });
}

}  // namespace tally::backends::kokkos
