// Counters in shared memory.
#pragma once

#include "backends/cuda/histogram/places.cuh"

namespace tally::backends::cuda {

/// Adds n to a place's count in memory; writes it if `alone`, as no other block counts that place.
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

/// Adds to a counter in shared memory. atomicAdd would recompute the address, and branch on
/// conditions.
template <int n = 1>
__device__ void count_at(std::uint32_t address) {
  ptx::add_shared<n>(address);
}

/// Counters of the block's range, and one for all other places.
template <class Rule>
struct range_table {
  static constexpr bool is_spread = false;
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

/// Counters of bytes, one per byte and thread of a warp: no two threads meet in a bank
/// (tuning/histogram.md: spread_table).
template <class Rule>
struct spread_table {
  static constexpr bool is_spread = true;
  static constexpr slot count = 256;
  std::uint32_t* counters;
  std::uint32_t address;

  template <class Job>
  __device__ spread_table(const Job& job, char* shared)
      : counters(reinterpret_cast<std::uint32_t*>(shared)),
        address(static_cast<std::uint32_t>(__cvta_generic_to_shared(shared)) +
                4 * (threadIdx.x % warp)) {
    ptx::opaque(address);  // not recomputed for each byte
    for (slot i = threadIdx.x; i < (count + 1) * warp; i += blockDim.x) counters[i] = 0;
  }
  template <class Job, int n>
  __device__ void add(const Job&, const slot (&places)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) count_at(address_of(min(places[i], count)));
  }
  /// Counts the bytes, at once if all are equal. __byte_perm finds addresses sooner than shifts.
  __device__ void add(const elements<std::uint8_t, 16>& bytes) {
    const uint4 load = bytes.raw[0];
    const std::uint32_t words[] = {load.x, load.y, load.z, load.w};
    const auto address_of_byte = [&](std::uint32_t word, int i) {
      return address_of(__byte_perm(word, 0, 0x4440 + i));
    };
    const std::uint32_t first_byte = __byte_perm(load.x, 0, 0);  // four times
    std::uint32_t unlike = 0;
#pragma unroll
    for (const std::uint32_t word : words) unlike |= word ^ first_byte;
    if (unlike == 0) {
      count_at<16>(address_of_byte(load.x, 0));
      return;
    }
#pragma unroll
    for (const std::uint32_t word : words) {
#pragma unroll
      for (int i = 0; i < 4; ++i) count_at(address_of_byte(word, i));
    }
  }
  template <class Job>
  __device__ void hand_in_all(const Job& job) const {
    for (slot i = threadIdx.x; i < count; i += blockDim.x) {
      std::uint32_t all = 0;
#pragma unroll
      for (unsigned thread = 0; thread < warp; ++thread)
        all += counters[i * warp + (i + thread) % warp];
      if (all > 0) hand_in<Rule>(job, i, all);
    }
  }

 private:
  __device__ std::uint32_t address_of(slot place) const { return address + 4 * warp * place; }
};

/// One counter for all places with the same low bits, owned by the first that comes, likely a hot
/// one.
template <class Rule>
struct cache_table {
  static constexpr bool is_spread = false;
  static constexpr std::uint16_t free = 0xffff;
  unsigned bits;
  slot size;
  std::uint32_t* counters;
  std::uint16_t* owners;  ///< upper bits of the counters' places
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
      const slot place = places[i], low = place & (size - 1), upper = place >> bits;
      if (owner[i] == free && upper < free) {
        // Only the first of adjacent equal places claims a counter (tuning/histogram.md:
        // cache_table).
        if (i > 0 && place == places[i - 1]) {
          owner[i] = owner[i - 1];
        } else {
          owner[i] = atomicCAS(owners + low, free, static_cast<std::uint16_t>(upper));
          if (owner[i] == free) owner[i] = static_cast<std::uint16_t>(upper);
        }
      }
      if (owner[i] == upper && upper < free) {
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

}  // namespace tally::backends::cuda
