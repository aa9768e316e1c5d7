// Extrema; one launch a call.
//
// Every thread keeps the best number of its tiles, at one or two operations an element. Where a
// tile has a better one, the thread searches it among the elements that it still holds
// (tuning/extremum.md: index search). Warps and blocks combine candidates like sums
// (device/fold.cuh).
#pragma once

#include "backends/common/extremum/rank.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/cuda/device/hand_over.cuh"
#include "backends/cuda/device/sum_job.hpp"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/extremum/kernels.hpp"

#include <array>

namespace tally::backends::cuda {

// --- Better numbers ------------------------------------------------------------------------------

/// Returns the greater (or less) number; NaN once there was one.
template <bool greater, class S>
__device__ S better(S best, S number) {
  if constexpr (std::is_integral_v<S>) {
    return greater ? ::max(best, number) : ::min(best, number);
  } else {
#if __CUDA_ARCH__ >= 800
    constexpr bool in_one = std::is_same_v<S, float>;
#else
    constexpr bool in_one = false;
#endif
    if constexpr (!in_one) {
      return number != number || (greater ? number > best : number < best) ? number : best;
    } else {
      return ptx::better<greater>(best, number);
    }
  }
}

/// What elements are compared by: themselves, or the score of their magnitudes. (For integers not
/// -|x| = min(x, -x): of min(y, min(x, -x)) ptxas 13.0 makes a minimum of three for compute
/// capability 9, and loses the minus.)
template <extreme what, class X>
struct numbers {
  using S = score_t<X>;
  static constexpr bool greater = what != extreme::min;
  using limits = std::numeric_limits<S>;
  /// No number is worse. (For integers infinity() is 0; nvcc 13.5 refuses -min(), even untaken.)
  static constexpr S worst = !std::is_floating_point_v<S>
                                 ? (greater ? limits::min() : limits::max())
                             : greater ? -limits::infinity()
                                       : limits::infinity();

  static __device__ S of(on_device_t<X> x) {
    if constexpr (is_complex_v<X>) {
      return score_of_parts<S>(x.re, x.im);
    } else if constexpr (what == extreme::iamax) {
      return score<what>(convert<S>(x));
    } else {
      return convert<S>(x);
    }
  }
  static __device__ rank_t<S> rank_of(S number) {
    return rank(what == extreme::iamax ? number : score<what>(number));
  }
  static __device__ S of_rank(rank_t<S> rank) { return score<what>(score_of_rank<S>(rank)); }
};

template <class X>
inline constexpr bool comes_in_pairs = std::is_same_v<X, float16> || std::is_same_v<X, bfloat16>;

/// Returns the better ones of two pairs of 16-bit floats, packed. Compute capability 8.
template <bool greater, class X>
__device__ std::uint32_t better_pair(std::uint32_t best, std::uint32_t pair) {
  if constexpr (std::is_same_v<X, float16>) {
    return ptx::better_float16<greater>(best, pair);
  } else {
    return ptx::better_bfloat16<greater>(best, pair);
  }
}

// --- What a thread holds of a tile ---------------------------------------------------------------
//
// A thread holds `count` elements, numbered by constants i: `at(i)` is an element, `offset(i)` its
// index in the tile. Where the vector doesn't fill the tile, its first element in the tile stands
// for absent ones. That is no better than itself; before its own index the index would be negative.

template <class X>
struct loaded {
  using DX = on_device_t<X>;
  static constexpr bool is_loaded = true;
  static constexpr int size = sizeof(DX);
  static constexpr int length = tile_of(size, true);
  static constexpr int per_load = load_bytes / size;
  static constexpr int loads = loads_of(size);
  static constexpr int count = loads * per_load;

  elements<DX, per_load> of_load[loads];
  int thread;

  static __device__ std::int64_t start_of(const sum_job& job, std::int64_t tile) {
    return tile * length - head_of(job.x, size);
  }

  /// Returns false if the tile has no elements.
  __device__ bool load(const sum_job& job, std::int64_t tile, int of_thread) {
    thread = of_thread;
    const std::int64_t first = start_of(job, tile);
    const int begin = first < 0 ? static_cast<int>(-first) : 0;
    const std::int64_t left = job.n - first;
    const DX* const from = static_cast<const DX*>(job.x) + first;
    if (begin == 0 && left >= length) {
#pragma unroll
      for (int l = 0; l < loads; ++l) of_load[l].load(from + offset(l * per_load));
      return true;
    }
    if (left <= begin) return false;
    const int end = left < length ? static_cast<int>(left) : length;
    const DX filler = from[begin];
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      const int i = offset(l * per_load);
      if (i >= begin && i + per_load <= end) {
        of_load[l].load(from + i);
      } else {
        DX all[per_load];
#pragma unroll
        for (int v = 0; v < per_load; ++v) {
          all[v] = i + v >= begin && i + v < end ? from[i + v] : filler;
        }
        memcpy(of_load[l].raw, all, sizeof all);
      }
    }
    return true;
  }
  __device__ int offset(int i) const {
    return (i / per_load * static_cast<int>(warp) + thread) * per_load + i % per_load;
  }
  __device__ DX at(int i) const {
    if constexpr (per_load == 1) {
      return of_load[i][0];
    } else {
      return of_load[i / per_load].at(i % per_load);
    }
  }
};

/// Types compared as S that have kernels.
template <extreme what, class S>
struct scored_as {
  template <class X>
  using is = std::bool_constant<std::is_same_v<score_t<X>, S> &&
                                (what == extreme::iamax || !is_complex_v<X>)>;
};
template <extreme what, class S>
using types_scored_as = detail::those<element_types, scored_as<what, S>::template is>;

/// Elements of any vector, loaded one by one; adjacent threads read adjacent ones.
template <extreme what, class S>
struct gathered {
  static constexpr bool is_loaded = false;
  static constexpr int length = tile_of(sizeof(S), false);
  static constexpr int count = length / static_cast<int>(warp);

  S element[count];
  int thread;

  static __device__ std::int64_t start_of(const sum_job&, std::int64_t tile) {
    return tile * length;
  }
  __device__ bool load(const sum_job& job, std::int64_t tile, int of_thread) {
    thread = of_thread;
    const std::int64_t first = start_of(job, tile);
    const std::int64_t left = job.n - first;
    if (left <= 0) return false;
    with_type<types_scored_as<what, S>>(job.x_type, [&]<class X>() {
      using DX = on_device_t<X>;
      const DX* const from = static_cast<const DX*>(job.x) + first * job.x_increment;
      DX raw[count];
#pragma unroll
      for (int i = 0; i < count; ++i)
        raw[i] = from[offset(i) < left ? offset(i) * job.x_increment : 0];
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if constexpr (is_complex_v<X>) {
          element[i] = score_of_parts<S>(raw[i].re, raw[i].im);
        } else {
          element[i] = convert<S>(raw[i]);
        }
      }
    });
    return true;
  }
  __device__ int offset(int i) const { return i * static_cast<int>(warp) + thread; }
  __device__ S at(int i) const { return element[i]; }
};

// --- A thread's best -----------------------------------------------------------------------------

/// The best number so far and its first index among the warp's tiles, one after another; 0 if all
/// elements are the worst number.
template <extreme what, class X>
struct tracker {
  using N = numbers<what, X>;
  using S = typename N::S;
  S best = N::worst;
  unsigned index = 0;

  template <class Held>
  __device__ void look(const Held& held, unsigned tile) {
    const S next = better<N::greater>(best, best_of(held));
    if (next != best && best == best) {
      index = tile * static_cast<unsigned>(Held::length) + offset_of(held, next);
    }
    best = next;
  }

  /// Returns the lowest offset of this number. Pre: the thread holds it.
  template <class Held>
  static __device__ unsigned offset_of(const Held& held, S number) {
    int offset = 0;
#pragma unroll
    for (int i = Held::count - 1; i >= 0; --i) {
      const S s = N::of(held.at(i));
      if (s == number || (s != s && number != number)) offset = held.offset(i);
    }
    return static_cast<unsigned>(offset);
  }

  template <class Held>
  static __device__ S best_of(const Held& held) {
#if __CUDA_ARCH__ >= 800
    constexpr bool in_pairs = comes_in_pairs<X> && Held::is_loaded;
#else
    constexpr bool in_pairs = false;
#endif
    constexpr int chains = 4;  // independent chains of comparisons
    if constexpr (in_pairs) {
      constexpr std::uint32_t mask = what == extreme::iamax ? 0x7fff7fffu : 0xffffffffu;
      std::uint32_t of_chain[chains];
#pragma unroll
      for (int l = 0; l < Held::loads; ++l) {
        const uint4& raw = held.of_load[l].raw[0];
        const std::uint32_t pairs[] = {raw.x & mask, raw.y & mask, raw.z & mask, raw.w & mask};
#pragma unroll
        for (int c = 0; c < chains; ++c) {
          of_chain[c] = l == 0 ? pairs[c] : better_pair<N::greater, X>(of_chain[c], pairs[c]);
        }
      }
#pragma unroll
      for (int c = 1; c < chains; ++c) {
        of_chain[0] = better_pair<N::greater, X>(of_chain[0], of_chain[c]);
      }
      const auto low = static_cast<std::uint16_t>(of_chain[0]);
      const auto high = static_cast<std::uint16_t>(of_chain[0] >> 16);
      return better<N::greater>(convert<S>(__builtin_bit_cast(X, low)),
                                convert<S>(__builtin_bit_cast(X, high)));
    } else {
      S of_chain[chains];
#pragma unroll
      for (int i = 0; i < Held::count; ++i) {
        const S s = N::of(held.at(i));
        of_chain[i % chains] = i < chains ? s : better<N::greater>(of_chain[i % chains], s);
      }
#pragma unroll
      for (int c = 1; c < chains; ++c) of_chain[0] = better<N::greater>(of_chain[0], of_chain[c]);
      return of_chain[0];
    }
  }

  /// Returns the warp's best element; its tiles are every `step`-th from `first` on.
  template <class Held>
  __device__ candidate of_warp(const sum_job& job, std::int64_t first, unsigned step) const {
    constexpr auto length = static_cast<unsigned>(Held::length);
    const rank_t<S> own = N::rank_of(best);
    const rank_t<S> most = largest_of_warp(own);
    const unsigned lowest = ~largest_of_warp(own == most ? ~index : 0u);
    const std::int64_t place =
        Held::start_of(job, first + std::int64_t{lowest / length} * step) + lowest % length;
    return candidate::at(most, static_cast<std::uint64_t>(place < 0 ? 0 : place));
  }
};

template <extreme what, class X, class Held>
__device__ void deliver_best(const sum_job& job, const candidate& best, int part) {
  using N = numbers<what, X>;
  using S = typename N::S;
  const std::int64_t index = best.place();
  if constexpr (what == extreme::iamax) {
    deliver(index, job.tag, job.result);
  } else {
    const auto deliver_as = [&]<class E>() {
      S number = N::of_rank(static_cast<rank_t<S>>(best.rank));
      if constexpr (std::is_floating_point_v<S>) {
        if (number == 0) {  // the rank has lost its sign
          elements<on_device_t<E>, 1> element;
          element.load(static_cast<const on_device_t<E>*>(job.x) + index * job.x_increment);
          number = convert<S>(element[0]);
        }
      }
      const tally::extremum<E> result = {as_value<E>(static_cast<E>(number)), index};
      constexpr int words = words_per<tally::extremum<E>>;
      char* const to = static_cast<char*>(job.result) +
                       part * (job.tag == 0 ? sizeof result : words * sizeof(std::uint64_t));
      deliver(result, job.tag, to);
    };
    if constexpr (Held::is_loaded) {
      deliver_as.template operator()<X>();
    } else {
      with_type<types_scored_as<what, X>>(job.x_type, deliver_as);
    }
  }
}

// --- The kernel ----------------------------------------------------------------------------------

template <class F>
__device__ candidate mapped(const candidate& c, F f) {
  return {f(c.rank), f(c.precedence)};
}
template <class F>
__device__ candidates mapped(const candidates& c, F f) {
  return {mapped(c.min, f), mapped(c.max, f)};
}

template <extreme what, class X, class Held>
struct search {
  using sum = candidate;
  tracker<what, X> best;

  __device__ void look(const Held& held, unsigned tile) { best.look(held, tile); }
  __device__ sum of_warp(const sum_job& job, std::int64_t first, unsigned step) const {
    return best.template of_warp<Held>(job, first, step);
  }
  static __device__ void deliver(const sum_job& job, const sum& c) {
    deliver_best<what, X, Held>(job, c, 0);
  }
};

template <class X, class Held>
struct search<extreme::minmax, X, Held> {
  using sum = candidates;
  tracker<extreme::min, X> least;
  tracker<extreme::max, X> greatest;

  __device__ void look(const Held& held, unsigned tile) {
    least.look(held, tile);
    greatest.look(held, tile);
  }
  __device__ sum of_warp(const sum_job& job, std::int64_t first, unsigned step) const {
    return {least.template of_warp<Held>(job, first, step),
            greatest.template of_warp<Held>(job, first, step)};
  }
  static __device__ void deliver(const sum_job& job, const sum& c) {
    deliver_best<extreme::min, X, Held>(job, c.min, 0);
    deliver_best<extreme::max, X, Held>(job, c.max, 1);
  }
};

/// `Held`: `loaded`, with X the elements' type, or `gathered`, with X what they are compared as.
template <extreme what, class X, class Held>
__global__ void __launch_bounds__(max_warps* warp, 2) search_kernel(const sum_job job) {
  using S = search<what, X, Held>;
  using Sum = typename S::sum;
  __shared__ uninitialised<Sum, max_warps> of_warp;
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  wait_for_launch_before();

  const std::int64_t first = std::int64_t{blockIdx.x} * (job.tiles * warps) + w;
  S found;
  unsigned looked = 0;
  const auto load = [&](Held& held, unsigned tile) {
    return tile < job.tiles && held.load(job, first + std::int64_t{tile} * warps, thread);
  };
  // While one tile is searched, the next is in flight.
  Held one, other;
  bool more = load(one, 0);
#pragma unroll 1
  while (more) {
    more = load(other, looked + 1);
    found.look(one, looked++);
    if (!more) break;
    more = load(one, looked + 1);
    found.look(other, looked++);
  }
  let_launch_after_start();

  Sum best{};
  if (looked > 0) best = found.of_warp(job, first, warps);
  if (thread == 0) of_warp[w] = best;
  __syncthreads();
  if (w == 0) best = add_across_threads<max_warps>(thread < warps ? of_warp[thread] : Sum{}, warps);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) put(job.words + blockIdx.x * words_per<Sum>, best);
    if (blockIdx.x + 1 < gridDim.x) return;
    best = add_blocks<Sum>(job.words, gridDim.x, thread, w);
  }
  if (threadIdx.x > 0) return;
  S::deliver(job, best);
  count_as_ended(job.ended);
}

template <extreme what>
const extremum_kernel& extremum_kernel_of(type x) {
  static constexpr auto kernels = table_over([]<class X>() -> extremum_kernel {
    if constexpr (what == extreme::iamax || !is_complex_v<X>) {
      using S = score_t<X>;
      return {&search_kernel<what, X, loaded<X>>, &search_kernel<what, S, gathered<what, S>>,
              words_per<typename search<what, X, loaded<X>>::sum>};
    } else {
      return {};
    }
  });
  return kernels[x];
}

}  // namespace tally::backends::cuda
