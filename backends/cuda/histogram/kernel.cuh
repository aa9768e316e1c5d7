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

#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/histogram/kernels.hpp"
#include "src/core/histogram/weights.hpp"

#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda {

/// This is no place: nobody counts it.
inline constexpr slot nowhere = 0xffffffffu;

// --- Places of samples ---------------------------------------------------------------------------

/// Returns what an integer or a float is compared as.
template <class X>
__device__ sample_t<X> number_of(on_device_t<X> x) {
  return convert<sample_t<X>>(x);
}

/// Loads one element through L2, as `elements` does.
template <class T>
__device__ T load_one(const T* from) {
  using bits = std::conditional_t<
      sizeof(T) == 8, unsigned long long,
      std::conditional_t<sizeof(T) == 4, unsigned,
                         std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>>>;
  return __builtin_bit_cast(T, __ldcg(reinterpret_cast<const bits*>(from)));
}

/// Finds a sample's slot exactly, whatever the rule is.
template <class X>
struct any_rule {
  using S = sample_t<X>;
  const histogram_edges_job& job;

  __device__ slot operator()(S x) const {
    if (job.what == binning::edges) {
      const void* const all = job.thresholds != nullptr ? job.thresholds : job.few;
      return edge_bins<S>{static_cast<const S*>(all), job.reached, job.bins}(x);
    }
    if constexpr (std::is_integral_v<S>) {
      if (job.what == binning::keys) return job.keys(x);
      if (job.whole) return job.whole_even(x);
    }
    return job.even(x);
  }
};

// A rule says which place a sample has while samples are counted, and which slot a place has once
// that is done. `Job` is the kernel's parameter.

struct places_are_slots {
  template <class Job>
  static __device__ slot slot_of(const Job&, slot place) {
    return place;
  }
};

template <class X>
struct by_any : places_are_slots {
  using job_type = histogram_edges_job;
  any_rule<X> rule;

  __device__ by_any(const job_type& job, char*) : rule{job} {}
  __device__ slot operator()(on_device_t<X> x) const { return rule(number_of<X>(x)); }
};

/// Counts bytes as what they are.
template <class X>
struct by_byte {
  using job_type = histogram_edges_job;

  __device__ by_byte(const job_type&, char*) {}
  __device__ slot operator()(on_device_t<X> x) const { return __builtin_bit_cast(std::uint8_t, x); }
  static __device__ slot slot_of(const job_type& job, slot place) {
    const auto x = __builtin_bit_cast(on_device_t<X>, static_cast<std::uint8_t>(place));
    return any_rule<X>{job}(number_of<X>(x));
  }
};

template <class X>
struct by_key : places_are_slots {
  using job_type = histogram_job;
  key_bins bins;

  __device__ by_key(const job_type& job, char*) : bins(job.keys) {}
  __device__ slot operator()(X x) const { return bins(x); }
};

/// Finds the position of a sample as a float, and searches exactly where that is near an edge.
/// `Bins` is even_bins or even_integer_bins.
template <class X, class Bins>
struct by_width : places_are_slots {
  using job_type = histogram_job;
  float rate, offset, margin, end;
  Bins bins;

  static __device__ const Bins& bins_of(const job_type& job) {
    if constexpr (std::is_same_v<Bins, even_bins>) {
      return job.even;
    } else {
      return job.whole_even;
    }
  }
  __device__ by_width(const job_type& job, char*)
      : rate(job.rate),
        offset(job.offset),
        margin(job.margin),
        end(static_cast<float>(job.bins)),
        bins(bins_of(job)) {}
  __device__ slot operator()(on_device_t<X> x) const {
    const float position = fmaf(convert<float>(x), rate, offset);
    const float bin = floorf(position);
    const float within = position - bin;
    if (within > margin && within < 1 - margin && position > 0 && position < end) {
      return static_cast<slot>(bin);
    }
    return bins(number_of<X>(x));
  }
};

/// Gives samples a position of 23 bits that rises with them, and thresholds too: thresholds at
/// lower positions are below a sample, and those at higher positions are above it. The upper bits
/// of a position are its cell. A table holds, for each cell,
///
///     threshold's number - 1 << cell_bits | ~(threshold's position in the cell)
///
/// so that adding a sample's position to that carries just if the sample's is the higher one, and
/// then the bin is above. Where the two positions are the same, the thresholds are searched. A cell
/// of several thresholds holds the number of the first, and a bit that says so: they are looked at
/// one by one.
template <class X, bool linear>
struct by_cell : places_are_slots {
  using job_type = histogram_edges_job;
  using S = sample_t<X>;
  static constexpr int position_bits = 23;
  static constexpr std::uint32_t last_position = (1u << position_bits) - 1;
  /// Stands above the bits of a position: a float in [2^23, 2^24), where floats are integers, has
  /// these bits.
  static constexpr std::uint32_t upper_bits = linear ? 0x4b000000 : 0;
  /// The two upper bits of a cell of several thresholds are this. (3 would be those of the number
  /// -1.)
  static constexpr std::uint32_t several = 2;
  static constexpr int most_in_turn = 4;

  float rate, offset;
  std::uint32_t base;
  unsigned shift, cell_bits;
  std::uint32_t cell_mask;
  slot bins, reached;
  slot certain;  ///< bins before this one need no second look; a NaN is in a later one, or in -1
  const S* thresholds;
  std::uint32_t cells;  ///< 4 times the upper bits of a position is added to this for an address

  __device__ by_cell(const job_type& job, char* shared)
      : rate(job.rate),
        offset(job.offset),
        base(job.base),
        shift(job.shift),
        cell_bits(job.cell_bits),
        cell_mask((1u << cell_bits) - 1),
        bins(job.bins),
        reached(job.reached),
        certain(reached - 1),
        thresholds(reinterpret_cast<const S*>(shared)) {
    auto* const copy = reinterpret_cast<S*>(shared);
    const std::uint32_t count = 1u << (position_bits - cell_bits);
    auto* const table = reinterpret_cast<std::uint32_t*>(shared + job.shared_bytes) - count;
    cells =
        static_cast<std::uint32_t>(__cvta_generic_to_shared(table)) - 4 * (upper_bits >> cell_bits);
    if (job.thresholds != nullptr) {
      const auto* const from = static_cast<const S*>(job.thresholds);
      for (slot i = threadIdx.x; i < reached; i += blockDim.x) copy[i] = from[i];
    } else if (threadIdx.x % warp == 0) {  // a warp's parameters come from one address at a time
      const auto* const from = reinterpret_cast<const S*>(job.few);
      for (slot i = threadIdx.x / warp; i < reached; i += blockDim.x / warp) copy[i] = from[i];
    }
    for (unsigned c = threadIdx.x; c < count; c += blockDim.x) table[c] = 0;
    __syncthreads();
    for (slot i = threadIdx.x; i < reached; i += blockDim.x) {
      atomicAdd(table + cell_of(copy[i]), 1u);
    }
    __syncthreads();
    number_cells(table, count);
  }

  /// Returns the position, with upper_bits. Where X is wider than a float it is rounded to nearest,
  /// which keeps the order. A NaN is at one end: below the first threshold, or at it, or above the
  /// last.
  __device__ std::uint32_t position_of(S x) const {
    const auto f = static_cast<float>(x);
    if constexpr (linear) {
      constexpr float first = 0x1p23f;
      return __float_as_uint(
          fminf(fmaxf(__fmaf_rz(f, rate, offset), first), first + last_position));
    } else {
      const auto bits = __float_as_int(f + 0.0f);  // -0 becomes 0
      const auto rank = static_cast<std::uint32_t>(bits ^ ((bits >> 31) | 0x80000000));
      return min((max(rank, base) - base) >> shift, last_position);
    }
  }

  __device__ slot operator()(on_device_t<X> of) const {
    slot place[1];
    (*this)({of}, place);
    return place[0];
  }
  /// Finds the places of several samples, with one branch.
  template <int n>
  __device__ void operator()(const on_device_t<X> (&of)[n], slot (&places)[n]) const {
    std::uint32_t sums[n];
    const auto is_certain = [&](int i) {
      return places[i] < certain && (~sums[i] & cell_mask) != 0;
    };
    bool all_certain = true;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const std::uint32_t position = position_of(number_of<X>(of[i]));
      asm volatile("ld.shared.u32 %0, [%1];"
                   : "=r"(sums[i])
                   : "r"(cells + 4 * (position >> cell_bits)));
      sums[i] += position;
      places[i] = sums[i] >> cell_bits;
      all_certain &= is_certain(i);
    }
    if (all_certain) return;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (!is_certain(i)) places[i] = search(number_of<X>(of[i]), sums[i]);
    }
  }

 private:
  __device__ std::uint32_t cell_of(S x) const {
    return (position_of(x) & last_position) >> cell_bits;
  }

  __device__ slot search(S x, std::uint32_t sum) const {
    const edge_bins<S> exact = {thresholds, reached, bins};
    if (x != x) return exact(x);
    if (sum >> 30 != several) {
      if ((~sum & cell_mask) == 0) return exact(x);
      return exact.bin_of(((sum >> cell_bits) + 1) & (~0u >> cell_bits));  // -1 becomes 0
    }
    slot count = (sum & ~(several << 30)) >> cell_bits;
#pragma unroll 1
    for (int k = 0; k < most_in_turn; ++k, ++count) {
      if (count == reached || x < thresholds[count]) return exact.bin_of(count);
    }
    return exact(x);
  }

  /// Turns the number of thresholds in each cell into what the head of this class says.
  __device__ void number_cells(std::uint32_t* table, std::uint32_t count) const {
    __shared__ std::uint32_t of_warp[histogram_threads / warp];
    const unsigned lane = threadIdx.x % warp, w = threadIdx.x / warp;
    const std::uint32_t each = (count + blockDim.x - 1) / blockDim.x;
    const std::uint32_t begin = min(count, threadIdx.x * each), end = min(count, begin + each);
    const auto scan = [&](std::uint32_t value) {
#pragma unroll
      for (unsigned d = 1; d < warp; d *= 2) {
        const std::uint32_t before = __shfl_up_sync(whole_warp, value, d);
        if (lane >= d) value += before;
      }
      return value;
    };
    std::uint32_t mine = 0;
    for (std::uint32_t c = begin; c < end; ++c) mine += table[c];
    const std::uint32_t upto = scan(mine);
    if (lane == warp - 1) of_warp[w] = upto;
    __syncthreads();
    if (w == 0) of_warp[lane] = scan(lane < blockDim.x / warp ? of_warp[lane] : 0);
    __syncthreads();
    std::uint32_t number = upto - mine + (w > 0 ? of_warp[w - 1] : 0);
    for (std::uint32_t c = begin; c < end; ++c) {
      const std::uint32_t in_cell = table[c];
      std::uint32_t code = (number - 1) << cell_bits;
      if (in_cell == 1) code |= ~position_of(thresholds[number]) & cell_mask;
      if (in_cell > 1) code = number << cell_bits | several << 30;
      table[c] = code - (c << cell_bits) - upper_bits;
      number += in_cell;
    }
    __syncthreads();
  }
};

// --- Counts in memory ----------------------------------------------------------------------------

/// Adds `n` to the count of a place in memory. With `alone` the block is the only one that counts
/// this place, so it writes.
template <class Rule, class Job>
__device__ void hand_in(const Job& job, slot number, std::uint32_t n, bool alone = false) {
  const slot channel = job.channels == 1 ? 0 : number / job.places;
  const slot s = Rule::slot_of(job, number - channel * job.places);
  const auto put = [&]<class C>(C* to) {
    if (!alone) {
      atomicAdd(to, static_cast<C>(n));
    } else {
      *to = n + (job.add ? *to : 0);
    }
  };
  using wide = unsigned long long;
  if (s < job.bins) {
    const std::size_t i = std::size_t{channel} * job.bins + s;
    if (job.wide) {
      put(static_cast<wide*>(job.counts) + i);
    } else {
      put(static_cast<unsigned*>(job.counts) + i);
    }
  } else if (job.outside != nullptr) {
    put(reinterpret_cast<wide*>(job.outside) + std::size_t{3} * channel + (s - job.bins));
  } else if (job.stray != nullptr && n > 0) {
    *job.stray = 1;
  }
}

// --- Counters in shared memory -------------------------------------------------------------------

/// Adds 1 to a counter at this address of shared memory. atomicAdd would compute the address anew
/// each time, and with a condition it would be a branch.
__device__ inline void count_at(std::uint32_t address) {
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
}

/// Has a counter for each place of the block's range, and one for all others.
template <class Rule>
struct range_table {
  slot first, count;
  std::uint32_t* counters;
  std::uint32_t address;

  template <class Job>
  __device__ range_table(const Job& job, char* shared)
      : first(blockIdx.x % job.ranges * job.a_range),
        count(min(job.a_range, job.places * job.channels - first)),
        counters(reinterpret_cast<std::uint32_t*>(shared)),
        address(static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))) {
    for (slot i = threadIdx.x; i < count + 1; i += blockDim.x) counters[i] = 0;
  }
  template <class Job, int n>
  __device__ void add(const Job&, const slot (&places)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) count_at(address + 4 * min(places[i] - first, count));
  }
  template <class Job>
  __device__ void hand_in_all(const Job& job) const {
    for (slot i = threadIdx.x; i < count; i += blockDim.x) {
      if (job.alone || counters[i] > 0) {
        hand_in<Rule>(job, first + i, counters[i], job.alone);
      }
    }
  }
};

/// Has a counter for each place and each thread of a warp, so that no two threads of a warp meet in
/// a bank: 2^27 uniform bytes ran at 2.2 TB/s in one table, and bytes that are the same for all
/// threads at 3.9.
template <class Rule>
struct lane_table {
  slot count;
  std::uint32_t* counters;
  std::uint32_t address;

  template <class Job>
  __device__ lane_table(const Job& job, char* shared)
      : count(job.places * job.channels),
        counters(reinterpret_cast<std::uint32_t*>(shared)),
        address(static_cast<std::uint32_t>(__cvta_generic_to_shared(shared)) +
                4 * (threadIdx.x % warp)) {
    for (slot i = threadIdx.x; i < (count + 1) * warp; i += blockDim.x) counters[i] = 0;
  }
  template <class Job, int n>
  __device__ void add(const Job&, const slot (&places)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) count_at(address + 4 * warp * min(places[i], count));
  }
  template <class Job>
  __device__ void hand_in_all(const Job& job) const {
    for (slot i = threadIdx.x; i < count; i += blockDim.x) {
      std::uint32_t all = 0;
#pragma unroll
      for (unsigned lane = 0; lane < warp; ++lane) all += counters[i * warp + (i + lane) % warp];
      if (all > 0) hand_in<Rule>(job, i, all);
    }
  }
};

/// Has one counter for all places with the same low bits. The first such place that comes up takes
/// it: a hot one, most likely.
template <class Rule>
struct cache_table {
  static constexpr std::uint16_t free = 0xffff;
  unsigned bits;
  slot size;
  std::uint32_t* counters;
  std::uint16_t* owners;  ///< the upper bits of the counters' places
  std::uint32_t address;

  template <class Job>
  __device__ cache_table(const Job& job, char* shared)
      : bits(job.cache_bits),
        size(1u << bits),
        counters(reinterpret_cast<std::uint32_t*>(shared)),
        owners(reinterpret_cast<std::uint16_t*>(counters + size)),
        address(static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))) {
    for (slot i = threadIdx.x; i < size; i += blockDim.x) counters[i] = 0, owners[i] = free;
  }
  template <class Job, int n>
  __device__ void add(const Job& job, const slot (&places)[n]) {
    std::uint16_t owner[n];
#pragma unroll
    for (int i = 0; i < n; ++i) owner[i] = owners[places[i] & (size - 1)];
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const slot place = places[i], low = place & (size - 1), mine = place >> bits;
      if (owner[i] == free && mine < free) {
        owner[i] = atomicCAS(owners + low, free, static_cast<std::uint16_t>(mine));
        if (owner[i] == free) owner[i] = static_cast<std::uint16_t>(mine);
      }
      if (owner[i] == mine && mine < free) {
        count_at(address + 4 * low);
      } else if (place != nowhere) {
        hand_in<Rule>(job, place, 1);
      }
    }
  }
  template <class Job>
  __device__ void hand_in_all(const Job& job) const {
    for (slot i = threadIdx.x; i < size; i += blockDim.x) {
      if (counters[i] > 0) hand_in<Rule>(job, (slot{owners[i]} << bits) + i, counters[i]);
    }
  }
};

// --- The kernel ----------------------------------------------------------------------------------

/// Returns the number of a place among those of all channels.
template <class Job>
__device__ slot place_in_channel(const Job& job, slot place, std::int64_t sample) {
  if (place >= job.places) return nowhere;
  if (job.channels == 1) return place;
  return static_cast<slot>(sample % job.channels) * job.places + place;
}

template <class Rule, class DX, int n>
__device__ void find_places(const Rule& place_of, const DX (&samples)[n], slot (&places)[n]) {
  if constexpr (std::is_invocable_v<const Rule&, decltype(samples), slot(&)[n]>) {
    place_of(samples, places);
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) places[i] = place_of(samples[i]);
  }
}

/// A thread has so many loads of 16 bytes in flight while it counts as many.
inline constexpr int histogram_loads = 4;

template <class X, class Rule, template <class> class Table>
__global__ void __launch_bounds__(histogram_threads)
    count_kernel(const __grid_constant__ typename Rule::job_type job) {
  using DX = on_device_t<X>;
  constexpr int lanes = 16 / static_cast<int>(sizeof(DX)), loads = histogram_loads;
  extern __shared__ __align__(16) char shared[];

  const unsigned share = blockIdx.x / job.ranges, shares = gridDim.x / job.ranges;
  const std::int64_t mine = std::int64_t{share} * blockDim.x + threadIdx.x;
  const std::int64_t step = std::int64_t{shares} * blockDim.x;
  const auto* const x = static_cast<const DX*>(job.x);
  elements<DX, lanes> next[loads];
  const auto load = [&](std::int64_t first) {
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      if (first + l * step >= job.words) break;
      const DX* const from = x + job.head + (first + l * step) * lanes;
      next[l].words[0] = __ldcs(reinterpret_cast<const uint4*>(from));
    }
  };
  // The samples were there before this launch was placed, and before the launch that writes zeros
  // began, so L1 has no older ones. Loads through L2 would go where all writes meet, even for what
  // another block has just read: with them five ranges ran at 1.16 TB/s, without at 1.43.
  load(mine);
  const Rule place_of(job, shared);
  Table<Rule> table(job, shared + job.shared_bytes);
  __syncthreads();

  for (std::int64_t first = mine; first < job.words; first += loads * step) {
    elements<DX, lanes> now[loads];
#pragma unroll
    for (int l = 0; l < loads; ++l) now[l] = next[l];
    load(first + loads * step);
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      if (first + l * step >= job.words) break;
      DX samples[lanes];
      slot places[lanes];
#pragma unroll
      for (int i = 0; i < lanes; ++i) samples[i] = now[l].at(i);
      find_places(place_of, samples, places);
      table.add(job, places);
    }
  }

  // These are the samples before and after the loads of 16 bytes, or all samples.
  const std::int64_t singles = job.n - job.words * lanes;
  for (std::int64_t first = mine; first < singles; first += loads * step) {
    DX held[loads];
    const auto index = [&](int l) {
      const std::int64_t i = first + l * step;
      return i < job.head ? i : i + job.words * lanes;
    };
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      if (first + l * step < singles) held[l] = load_one(x + index(l) * job.increment);
    }
    slot places[loads];
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      places[l] =
          first + l * step < singles ? place_in_channel(job, place_of(held[l]), index(l)) : nowhere;
    }
    table.add(job, places);
  }
  let_launch_after_start();
  wait_for_launch_before();
  __syncthreads();
  table.hand_in_all(job);
}

/// Adds weights to the words of their bins by atomics. With the first bins it also counts the
/// samples outside.
template <class X>
__global__ void __launch_bounds__(256)
    add_weights(const __grid_constant__ histogram_weights_job job) {
  using DX = on_device_t<X>;
  const any_rule<X> rule{job};
  const auto* const x = static_cast<const DX*>(job.x);
  const auto add = [&](auto weight, std::size_t bin) {
    using sum = weight_sum<decltype(weight)>;
    using word = unsigned long long;
    auto* const words = reinterpret_cast<word*>(job.words) + bin * sum::words;
    const typename sum::pieces p = sum::split(weight);
    if (p.special_bit != 0) {
      atomicOr(words + sum::special, static_cast<word>(p.special_bit));
      return;
    }
#pragma unroll
    for (int d = 0; d < sum::digits; ++d) {
      if (p.digit[d] != 0) atomicAdd(words + p.word + d, static_cast<word>(p.digit[d]));
    }
  };
  wait_for_launch_before();
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < job.n;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const slot s = rule(number_of<X>(load_one(x + i * job.increment)));
    const auto channel = static_cast<slot>(job.channels == 1 ? 0 : i % job.channels);
    if (s >= job.bins) {
      if (job.first == 0 && job.places > job.bins) {
        hand_in<places_are_slots>(job, channel * job.places + s, 1);
      }
      continue;
    }
    const std::size_t bin = std::size_t{channel} * job.bins + s - job.first;
    if (bin >= job.some) continue;  // those before the first too
    if (job.doubles) {
      add(static_cast<const double*>(job.weights)[i * job.weights_increment], bin);
    } else {
      add(static_cast<const float*>(job.weights)[i * job.weights_increment], bin);
    }
  }
}

// --- What kernels.hpp declares -------------------------------------------------------------------

template <class X, class Rule>
const void* find_histogram_kernel(counting where) {
  if constexpr (sizeof(X) == 1) {
    if (where == counting::lanes) {
      return reinterpret_cast<const void*>(&count_kernel<X, Rule, lane_table>);
    }
  }
  return where == counting::tables
             ? reinterpret_cast<const void*>(&count_kernel<X, Rule, range_table>)
             : reinterpret_cast<const void*>(&count_kernel<X, Rule, cache_table>);
}

/// Samples of one byte are counted as bytes. Others are counted by a rule of their own where that
/// is fast.
template <class X>
const void* find_histogram_kernel(bin_rule rule, counting where) {
  if constexpr (sizeof(X) == 1) {
    return find_histogram_kernel<X, by_byte<X>>(where);
  } else {
    const auto in_tables = []<class Rule>(std::type_identity<Rule>) {
      return reinterpret_cast<const void*>(&count_kernel<X, Rule, range_table>);
    };
    switch (rule) {
      case bin_rule::linear_edges:
        return in_tables(std::type_identity<by_cell<X, true>>());
      case bin_rule::bitwise_edges:
        return in_tables(std::type_identity<by_cell<X, false>>());
      case bin_rule::keys:
        if constexpr (std::is_integral_v<X>) return find_histogram_kernel<X, by_key<X>>(where);
        break;
      case bin_rule::even:
        return in_tables(std::type_identity<by_width<X, even_bins>>());
      case bin_rule::whole_even:
        if constexpr (std::is_integral_v<X>) {
          return in_tables(std::type_identity<by_width<X, even_integer_bins>>());
        }
        break;
      default:
        break;
    }
    return find_histogram_kernel<X, by_any<X>>(where);
  }
}

template <class X>
const void* find_histogram_weights_kernel() {
  return reinterpret_cast<const void*>(&add_weights<X>);
}

}  // namespace tally::backends::cuda
