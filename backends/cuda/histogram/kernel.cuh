// Histograms: blocks count in shared memory, and hand in their counts at the end.
//
// Places too many for one table are cut into ranges, one per block, so samples are read once per
// range. Beyond that a block has counters for the places that come first (`cache_table`), or
// samples are sorted.
//
// Equal keys in a warp need no vote: additions of 1 to one address are as fast as to 32. Nor do
// four-byte samples need several tables (tuning/histogram.md: count_kernel).
#pragma once

#include "backends/cuda/histogram/counters.cuh"

#include <type_traits>

namespace tally::backends::cuda {

template <class Job>
__device__ slot place_in_channel(const Job& job, slot place, std::int64_t sample) {
  if (place >= job.places) return nowhere;
  if (job.channels == 1) return place;
  return static_cast<slot>(sample % job.channels) * job.places + place;
}

template <class Rule, class Number, int n>
__device__ void find_places(const Rule& place_of, const Number (&numbers)[n], slot (&places)[n]) {
  if constexpr (std::is_invocable_v<const Rule&, decltype(numbers), slot(&)[n]>) {
    place_of(numbers, places);
  } else {
#pragma unroll(Rule::is_long ? 1 : n)
    for (int i = 0; i < n; ++i) places[i] = place_of(numbers[i]);
  }
}

template <class L, class Job, class Rule, int n>
__device__ void find_places_of_load(const Job& job, const Rule& place_of,
                                    const elements<L, n>& loaded, slot (&places)[n]) {
  L samples[n];
  number_t<L> numbers[n];
#pragma unroll
  for (int i = 0; i < n; ++i) samples[i] = loaded.at(i);
  find_numbers(job.element, samples, numbers);
  find_places(place_of, numbers, places);
}

/// Whether samples of one channel are counted here by 16-byte loads: bytes have spread_table.
template <class L, class Table>
inline constexpr bool may_load = sizeof(L) > 1 || Table::is_spread;

/// 16-byte loads of a thread in flight.
inline constexpr int loads_in_flight = 4;

/// A thread's 16-byte loads: every `step`-th of [first, end).
template <class L>
struct thread_loads {
  static constexpr int per_load = 16 / static_cast<int>(sizeof(L)), in_flight = loads_in_flight;
  const L* x;
  std::int64_t first, end, step;
  elements<L, per_load> next[in_flight];

  /// The samples were there before this launch became resident and before the one that writes zeros
  /// began, so L1 is not stale. L2 is slower (tuning/histogram.md: loads through L1).
  __device__ thread_loads(const histogram_job& job, std::int64_t of_thread, std::int64_t before,
                          std::int64_t every)
      : x(static_cast<const L*>(job.x) + job.head), first(of_thread), end(before), step(every) {
    load();
  }
  __device__ void load() {
#pragma unroll
    for (int l = 0; l < in_flight; ++l) {
      if (first + l * step >= end) break;
      next[l].raw[0] = __ldcs(reinterpret_cast<const uint4*>(x + (first + l * step) * per_load));
    }
  }
  template <class Job, class Rule, class Table>
  __device__ void count(const Job& job, const Rule& place_of, Table& table) {
    while (first < end) {
      elements<L, per_load> now[in_flight];
      const std::int64_t left = end - first;
#pragma unroll
      for (int l = 0; l < in_flight; ++l) now[l] = next[l];
      first += in_flight * step;
      load();
#pragma unroll
      for (int l = 0; l < in_flight; ++l) {
        if (l * step >= left) break;
        if constexpr (Table::is_spread) {
          table.add(now[l]);
        } else {
          slot places[per_load];
          find_places_of_load(job, place_of, now[l], places);
          table.add(job, places);
        }
      }
    }
  }
};

template <class L, class Rule, template <class> class Table>
__global__ void __launch_bounds__(histogram_threads)
    count_kernel(const __grid_constant__ typename Rule::job_type job) {
  constexpr int per_load = 16 / static_cast<int>(sizeof(L)), in_flight = loads_in_flight;
  extern __shared__ __align__(16) char shared[];

  const unsigned share = blockIdx.x / job.ranges, shares = gridDim.x / job.ranges;
  const std::int64_t own = std::int64_t{share} * blockDim.x + threadIdx.x;
  const std::int64_t step = std::int64_t{shares} * blockDim.x;
  const auto* const x = static_cast<const L*>(job.x);
  thread_loads<L> loads(job, own, may_load<L, Table<Rule>> ? job.loads : 0, step);
  const Rule place_of(job, shared);
  Table<Rule> table(job, shared + job.shared_bytes);
  __syncthreads();
  if constexpr (may_load<L, Table<Rule>>) loads.count(job, place_of, table);

  // Samples before and after the 16-byte loads, or all.
  const std::int64_t singles = job.n - job.loads * per_load;
  for (std::int64_t first = own; first < singles; first += in_flight * step) {
    L held[in_flight];
    number_t<L> numbers[in_flight];
    const auto index = [&](int l) {
      const std::int64_t i = first + l * step;
      return i < job.head ? i : i + job.loads * per_load;
    };
#pragma unroll
    for (int l = 0; l < in_flight; ++l) {
      if (first + l * step < singles) held[l] = load_one(x + index(l) * job.increment);
    }
    find_numbers(job.element, held, numbers);
    slot places[in_flight];
#pragma unroll(Rule::is_long ? 1 : in_flight)
    for (int l = 0; l < in_flight; ++l) {
      places[l] = first + l * step < singles ? place_in_channel(job, place_of(numbers[l]), index(l))
                                             : nowhere;
    }
    table.add(job, places);
  }
  let_launch_after_start();
  wait_for_launch_before();
  __syncthreads();
  table.hand_in_all(job);
}

}  // namespace tally::backends::cuda
