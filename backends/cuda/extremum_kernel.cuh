// min, max, minmax and iamax on a GPU, launched and combined as the sums are (sum_kernel.cuh).
//
// A warp takes a tile at a time, all of it in its registers. First it finds the greatest score, at
// two or three operations an element; then the few threads that have it look at their elements once
// more, for where it is.
#pragma once

#include "backends/cuda/extremum_kernels.hpp"
#include "backends/cuda/sum_kernel.cuh"
#include "backends/extremum_rank.hpp"

#include <array>

namespace tally::backends::cuda {

template <class F>
__device__ candidate mapped(const candidate& c, F f) {
  return {f(c.rank), f(c.precedence)};
}
template <class F>
__device__ candidates mapped(const candidates& c, F f) {
  return {mapped(c.min, f), mapped(c.max, f)};
}

__device__ inline std::uint32_t greatest_in_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(whole_warp, value);
#else
#pragma unroll
  for (unsigned d = warp / 2; d > 0; d /= 2) {
    value = ::max(value, __shfl_xor_sync(whole_warp, value, static_cast<int>(d)));
  }
  return value;
#endif
}

__device__ inline std::uint64_t greatest_in_warp(std::uint64_t value) {
  const auto high = static_cast<std::uint32_t>(value >> 32);
  const std::uint32_t most = greatest_in_warp(high);
  return std::uint64_t{most} << 32 |
         greatest_in_warp(high == most ? static_cast<std::uint32_t>(value) : 0u);
}

// --- What a thread holds -------------------------------------------------------------------------
//
// `count` elements, known by constants i: `at(i)` is an element, `offset(i)` its index in the tile.
// Where the vector doesn't fill the tile, its first element there stands for those that are absent:
// again, or too early, which `begin` tells, it is no better.

/// Of a contiguous vector, in 16-byte loads.
template <class X>
struct loaded {
  using DX = on_device_t<X>;
  static constexpr int per_load = load_bytes / static_cast<int>(sizeof(DX));
  static constexpr int loads = loads_of(sizeof(DX));
  static constexpr int count = loads * per_load;

  elements<DX, per_load> of_load[loads];
  int lane;

  /// `from` is the tile's first address, which may be before the vector's.
  __device__ void load(const DX* from) {
#pragma unroll
    for (int l = 0; l < loads; ++l) of_load[l].load(from + offset(l * per_load));
  }
  /// Elements [begin, end) of the tile alone; at least one.
  __device__ void load(const DX* from, int begin, int end) {
    const DX first = from[begin];
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      const int i = offset(l * per_load);
      if (i >= begin && i + per_load <= end) {
        of_load[l].load(from + i);
      } else {
        DX all[per_load];
#pragma unroll
        for (int v = 0; v < per_load; ++v) {
          all[v] = i + v >= begin && i + v < end ? from[i + v] : first;
        }
        memcpy(of_load[l].words, all, sizeof all);
      }
    }
  }
  __device__ int offset(int i) const {
    return (i / per_load * static_cast<int>(warp) + lane) * per_load + i % per_load;
  }
  __device__ DX at(int i) const {
    if constexpr (per_load == 1) {
      return of_load[i][0];
    } else {
      return of_load[i / per_load].at(i % per_load);
    }
  }
  /// Has scores computed again instead of kept in registers.
  __device__ void renew() {
#pragma unroll
    for (auto& e : of_load) e.renew();
  }
};

/// Of any vector, one element a load; adjacent threads read adjacent elements.
template <class X>
struct gathered {
  using DX = on_device_t<X>;
  static constexpr int count = 16;

  DX element[count];
  int lane;

  /// Elements [0, end) from there; at least one.
  __device__ void load(const DX* from, std::ptrdiff_t increment, int end) {
#pragma unroll
    for (int i = 0; i < count; ++i) element[i] = from[offset(i) < end ? offset(i) * increment : 0];
  }
  __device__ int offset(int i) const { return i * static_cast<int>(warp) + lane; }
  __device__ DX at(int i) const { return element[i]; }
  __device__ void renew() {}
};

// --- A tile --------------------------------------------------------------------------------------

template <class S>
inline constexpr S least = std::is_floating_point_v<S> ? -std::numeric_limits<S>::infinity()
                                                       : std::numeric_limits<S>::min();

template <extreme what, class X>
__device__ score_t<X> score_of(on_device_t<X> x) {
  using S = score_t<X>;
  if constexpr (is_complex_v<X>) {
    return score_of_parts<S>(x.re, x.im);
  } else {
    return score<what>(convert<S>(x));
  }
}

/// The best of what a warp's threads hold of a tile, whose element 0 has index `first`.
template <extreme what, class X, class Held>
__device__ candidate best_of(Held& held, std::int64_t first, int begin) {
  using S = score_t<X>;
  S greatest = least<S>;
  bool is_nan = false;
#pragma unroll
  for (int i = 0; i < Held::count; ++i) {
    const S s = score_of<what, X>(held.at(i));
    if constexpr (std::is_same_v<S, float>) {
      greatest = fmaxf(greatest, s);  // one operation; a NaN loses
    } else {
      greatest = s > greatest ? s : greatest;
    }
    if constexpr (std::is_floating_point_v<S>) is_nan = is_nan || s != s;
  }
  const rank_t<S> mine = is_nan ? ~rank_t<S>{} : rank(greatest);
  const rank_t<S> best = greatest_in_warp(mine);

  // Where the first one is, counted down from `end`; the last bit as in `candidate`.
  constexpr std::uint32_t end = 1u << 30;
  std::uint32_t precedence = 0;
  held.renew();
  if (mine == best) {
    int offset = 0;
    S found = 0;
#pragma unroll
    for (int i = Held::count - 1; i >= 0; --i) {
      const S s = score_of<what, X>(held.at(i));
      if (is_nan ? s != s : s == greatest) offset = held.offset(i), found = s;
    }
    offset = offset < begin ? begin : offset;
    bool negative_zero = false;
    if constexpr (what != extreme::iamax) negative_zero = is_negative_zero(score<what>(found));
    precedence = (end - static_cast<std::uint32_t>(offset)) << 1 | !negative_zero;
  }
  precedence = greatest_in_warp(precedence);
  return candidate::at(best, static_cast<std::uint64_t>(first + (end - (precedence >> 1))),
                       (precedence & 1) == 0);
}

template <extreme what>
using candidate_of = std::conditional_t<what == extreme::minmax, candidates, candidate>;

template <extreme what, class X, class Held>
__device__ candidate_of<what> all_of(Held& held, std::int64_t first, int begin) {
  if constexpr (what == extreme::minmax) {
    return {best_of<extreme::min, X>(held, first, begin),
            best_of<extreme::max, X>(held, first, begin)};
  } else {
    return best_of<what, X>(held, first, begin);
  }
}

// --- The kernel ----------------------------------------------------------------------------------

/// What `minmax` delivers.
template <class T>
struct both {
  found<T> min, max;
};

/// `contiguous`: the vector is, and starts at a multiple of an element's size.
template <extreme what, class X, bool contiguous>
struct tiles {
  using sum = candidate_of<what>;
  using DX = on_device_t<X>;
  static constexpr int size = sizeof(DX);
  static constexpr int length = tile_of(size);

  static __device__ sum add(const dot_job& job, std::int64_t tile, int lane) {
    if constexpr (contiguous) {
      const int head = head_of(job.x, size);
      const std::int64_t first = tile * length - head;
      if (first >= job.n) return {};
      const DX* const from = static_cast<const DX*>(job.x) + first;
      const int begin = tile == 0 ? head : 0;
      const int end = within(job.n - first, length);
      loaded<X> held;
      held.lane = lane;
      if (end - begin == length) {
        held.load(from);
      } else if (end > begin) {
        held.load(from, begin, end);
      } else {
        return {};
      }
      return all_of<what, X>(held, first, begin);
    } else {
      constexpr int step = gathered<X>::count * static_cast<int>(warp);
      sum best;
#pragma unroll 1
      for (int i = 0; i < length; i += step) {
        const std::int64_t first = tile * length + i;
        if (first >= job.n) break;
        gathered<X> held;
        held.lane = lane;
        held.load(static_cast<const DX*>(job.x) + first * job.x_increment, job.x_increment,
                  within(job.n - first, step));
        best = best + all_of<what, X>(held, first, 0);
      }
      return best;
    }
  }

  static __device__ void deliver(const sum& best, const dot_job& job) {
    if constexpr (what == extreme::iamax) {
      cuda::deliver(best.index(), job.tag, job.result);
    } else if constexpr (what == extreme::minmax) {
      cuda::deliver(
          both<DX>{finish<extreme::min, X, DX>(best.min), finish<extreme::max, X, DX>(best.max)},
          job.tag, job.result);
    } else {
      cuda::deliver(finish<what, X, DX>(best), job.tag, job.result);
    }
  }

  static constexpr std::size_t result_bytes = what == extreme::iamax    ? sizeof(std::int64_t)
                                              : what == extreme::minmax ? sizeof(both<DX>)
                                                                        : sizeof(found<DX>);

 private:
  static __device__ int within(std::int64_t n, int most) {
    return n < most ? static_cast<int>(n) : most;
  }
};

template <class Tiles>
__global__ void __launch_bounds__(max_warps* warp, 2) extremum_kernel_over(const dot_job job) {
  combine<Tiles>(job);
}

/// For extremum_kernels.hpp. Every type of elements is instantiated here; bool is a byte like
/// uint8.
template <extreme what>
const extremum_kernel& find_extremum_kernel(type x) {
  static constexpr auto kernels = []<class... X>(type_list<X...>) {
    const auto one = []<class T>(std::type_identity<T>) -> extremum_kernel {
      if constexpr (what == extreme::iamax || !is_complex_v<T>) {
        using K = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
        using of_contiguous = tiles<what, K, true>;
        return {&extremum_kernel_over<of_contiguous>, &extremum_kernel_over<tiles<what, K, false>>,
                words_of<candidate_of<what>>, of_contiguous::result_bytes};
      } else {
        return {};
      }
    };
    return std::array{one(std::type_identity<X>())...};
  }(element_types{});
  return kernels[static_cast<std::size_t>(x)];
}

}  // namespace tally::backends::cuda
