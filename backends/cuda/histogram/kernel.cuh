// Histograms on a GPU: a block counts all samples of its share in shared memory, and hands its
// counts in at the end.
//
// Where the places are too many for one table they are cut into ranges. Each block counts the
// places of one range, so the samples are read as often as there are ranges. Beyond that a block
// keeps counters for the places that come up first, which hot bins are among, and adds the others
// in memory one by one.
//
// An addition of 1 to one address of shared memory by a whole warp takes no longer than additions
// to 32 addresses, so votes for equal keys are not worth their while. Several tables are not
// either, where a sample has four bytes: with 256 bins one table ran at 4.17 TB/s for uniform and
// for constant keys, and the same loop reads at 4.30.
//
// These lost: counters of 16 bits, two of which share 32 bits, for 65536 bins (2.75 TB/s, and 0.92
// where two bins alternate, since only additions of 1 to the same 32 bits combine; two ranges run
// at 3.1 and 3.7); counters of a thread's own (bytes at 2.0); a cluster's tables for small inputs.
#pragma once

#include "backends/cuda/histogram/counters.cuh"

#include <type_traits>

namespace tally::backends::cuda {

/// Returns the number of a place among those of all channels.
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

/// Finds the places of the samples of one load.
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

/// Says whether samples of one channel, which are loaded 16 bytes at a time, may be counted in this
/// table: bytes have the table that is spread.
template <class L, class Table>
inline constexpr bool may_load = sizeof(L) > 1 || Table::is_spread;

/// A thread has so many loads of 16 bytes in flight while it counts as many.
inline constexpr int loads_in_flight = 4;

/// Goes through a thread's loads of 16 bytes: every `step`-th from `first` on, of those before
/// `end`.
template <class L>
struct thread_loads {
  static constexpr int per_load = 16 / static_cast<int>(sizeof(L)), in_flight = loads_in_flight;
  const L* x;
  std::int64_t first, end, step;
  elements<L, per_load> next[in_flight];

  /// Begins to load. The samples were there before this launch was placed, and before the launch
  /// that writes zeros began, so L1 has no older ones. Loads through L2 would go where all writes
  /// meet, even for what another block has just read: with them five ranges ran at 1.16 TB/s,
  /// without at 1.43.
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

  // These are the samples before and after the loads of 16 bytes, or all samples.
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
