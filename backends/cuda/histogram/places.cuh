// Places of samples, exact, or by a guess and, where that may be wrong, a search.
//
// Promise: every sample gets the place that <tally/operations/histogram.hpp> defines, despite
// rounding.
#pragma once

#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/histogram/kernels.hpp"

#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda {

/// Not counted.
inline constexpr slot nowhere = 0xffffffffu;

template <class L>
struct loaded_as {
  template <class X>
  using is = std::is_same<loaded_t<X>, L>;
};
template <class S>
struct compared_as {
  template <class X>
  using is = std::is_same<sample_t<X>, S>;
};

/// Type in which rules take samples loaded as L: bytes, or what they are compared as.
template <class L>
using number_t = std::conditional_t<std::is_same_v<L, std::uint16_t>, float, L>;

/// Converts samples, with one branch on their type.
template <class L, int n>
__device__ void find_numbers(type element, const L (&samples)[n], number_t<L> (&numbers)[n]) {
  if constexpr (std::is_same_v<L, number_t<L>>) {
#pragma unroll
    for (int i = 0; i < n; ++i) numbers[i] = samples[i];
  } else {
    with_type<detail::those<real_types, loaded_as<L>::template is>>(element, [&]<class X>() {
#pragma unroll
      for (int i = 0; i < n; ++i) {
        numbers[i] = convert<number_t<L>>(__builtin_bit_cast(X, samples[i]));
      }
    });
  }
}

/// A sample's exact slot, by any rule.
template <class S>
struct any_rule {
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

// A rule maps samples to places while they are counted, and places to slots afterwards. `is_long`:
// in a loop.

struct places_are_slots {
  static constexpr bool is_long = false;

  template <class Job>
  static __device__ slot slot_of(const Job&, slot place) {
    return place;
  }
};

template <class S>
struct by_any : places_are_slots {
  static constexpr bool is_long = true;
  using job_type = histogram_edges_job;
  any_rule<S> rule;

  __device__ by_any(const job_type& job, char*) : rule{job} {}
  __device__ slot operator()(S x) const { return rule(x); }
};

struct by_byte {
  static constexpr bool is_long = false;
  using job_type = histogram_edges_job;

  __device__ by_byte(const job_type&, char*) {}
  __device__ slot operator()(std::uint8_t byte) const { return byte; }
  static __device__ slot slot_of(const job_type& job, slot place) {
    using S = std::int32_t;
    const auto byte = static_cast<std::uint8_t>(place);
    return any_rule<S>{job}(with_type<detail::those<real_types, loaded_as<std::uint8_t>::is>>(
        job.element,
        [&]<class X>() { return convert<S>(__builtin_bit_cast(on_device_t<X>, byte)); }));
  }
};

template <class S>
struct by_key : places_are_slots {
  using job_type = histogram_job;
  key_bins bins;

  __device__ by_key(const job_type& job, char*) : bins(job.keys) {}
  __device__ slot operator()(S x) const { return bins(x); }
};

/// A position in float, and an exact search near edges. `Bins`: even_bins or even_integer_bins.
template <class S, class Bins>
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
  __device__ slot operator()(S x) const {
    const float position = fmaf(convert<float>(x), rate, offset);
    const float bin = floorf(position);
    const float within = position - bin;
    if (within > margin && within < 1 - margin && position > 0 && position < end) {
      return static_cast<slot>(bin);
    }
    return bins(x);
  }
};

/// Samples and thresholds get positions of 23 bits: thresholds at lower positions are below a
/// sample, at higher ones above it. A position's upper bits are its cell. A table has, for each
/// cell,
///
///     threshold's number - 1 << cell_bits | ~(threshold's position in the cell)
///
/// so that adding a sample's position carries just if it is higher, and then the bin is above. At
/// equal positions the thresholds are searched. A crowded cell, of several, has the first one's
/// number: they are compared one by one.
template <class S, bool linear>
struct by_cell : places_are_slots {
  using job_type = histogram_edges_job;
  static constexpr int position_bits = 23;
  static constexpr std::uint32_t last_position = (1u << position_bits) - 1;
  /// Bits above a position: a float in [2^23, 2^24), where floats are integers, has these.
  static constexpr std::uint32_t upper_bits = linear ? 0x4b000000 : 0;
  /// Upper bits of a cell of several thresholds. (3 would be those of -1.)
  static constexpr std::uint32_t crowded = 2;
  static constexpr int max_in_turn = 4;

  float rate, offset;
  std::uint32_t base;
  unsigned shift, cell_bits;
  std::uint32_t cell_mask;
  slot bins, reached;
  slot certain;  ///< bins below need no second look; NaN gets a later one, or -1
  const S* thresholds;
  std::uint32_t cells;  ///< plus 4 times a position's upper bits: an address

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
    } else if (threadIdx.x % warp == 0) {  // a warp reads parameters at one address at a time
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

  /// Returns the position, with upper_bits. Rounding x to nearest keeps the order. NaN is at an
  /// end: below or at the first threshold, or above the last.
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

  __device__ slot operator()(S of) const {
    slot place[1];
    (*this)({of}, place);
    return place[0];
  }
  /// Several samples, with one branch.
  template <int n>
  __device__ void operator()(const S (&of)[n], slot (&places)[n]) const {
    std::uint32_t sums[n];
    const auto is_certain = [&](int i) {
      return places[i] < certain && (~sums[i] & cell_mask) != 0;
    };
    bool all_certain = true;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const std::uint32_t position = position_of(of[i]);
      sums[i] = ptx::load_shared(cells + 4 * (position >> cell_bits)) + position;
      places[i] = sums[i] >> cell_bits;
      all_certain &= is_certain(i);
    }
    if (all_certain) return;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (!is_certain(i)) places[i] = search(of[i], sums[i]);
    }
  }

 private:
  __device__ std::uint32_t cell_of(S x) const {
    return (position_of(x) & last_position) >> cell_bits;
  }

  __device__ slot search(S x, std::uint32_t sum) const {
    const edge_bins<S> exact = {thresholds, reached, bins};
    if (x != x) return exact(x);
    if (sum >> 30 != crowded) {
      if ((~sum & cell_mask) == 0) return exact(x);
      return exact.bin_of(((sum >> cell_bits) + 1) & (~0u >> cell_bits));  // -1 becomes 0
    }
    slot count = (sum & ~(crowded << 30)) >> cell_bits;
#pragma unroll 1
    for (int k = 0; k < max_in_turn; ++k, ++count) {
      if (count == reached || x < thresholds[count]) return exact.bin_of(count);
    }
    return exact(x);
  }

  /// Turns each cell's number of thresholds into the code above.
  __device__ void number_cells(std::uint32_t* table, std::uint32_t count) const {
    __shared__ std::uint32_t of_warp[histogram_threads / warp];
    const std::uint32_t each = (count + blockDim.x - 1) / blockDim.x;
    const std::uint32_t begin = min(count, threadIdx.x * each), end = min(count, begin + each);
    std::uint32_t own = 0;
    for (std::uint32_t c = begin; c < end; ++c) own += table[c];
    std::uint32_t number = sum_of_lower_threads(own, of_warp);
    for (std::uint32_t c = begin; c < end; ++c) {
      const std::uint32_t in_cell = table[c];
      std::uint32_t code = (number - 1) << cell_bits;
      if (in_cell == 1) code |= ~position_of(thresholds[number]) & cell_mask;
      if (in_cell > 1) code = number << cell_bits | crowded << 30;
      table[c] = code - (c << cell_bits) - upper_bits;
      number += in_cell;
    }
    __syncthreads();
  }
};

}  // namespace tally::backends::cuda
