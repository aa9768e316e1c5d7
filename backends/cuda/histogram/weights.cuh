// This kernel adds weights to the sums of their bins.
//
// Promise: no addition rounds (src/core/histogram/weights.hpp), so the order of the samples makes
// no difference.
#pragma once

#include "backends/cuda/histogram/counters.cuh"
#include "src/core/histogram/weights.hpp"

namespace tally::backends::cuda {

/// Adds weights to the words of their bins by atomics. With the first bins it also counts the
/// samples outside. S is what the samples are compared as.
template <class S>
__global__ void __launch_bounds__(256)
    add_weights(const __grid_constant__ histogram_weights_job job) {
  const any_rule<S> rule{job};
  const auto sample_at = [&](std::int64_t i) {
    return with_type<types::those<real_types, compared_as<S>::template is>>(
        job.element, [&]<class X>() {
          return convert<S>(load_one(static_cast<const on_device_t<X>*>(job.x) + i));
        });
  };
  const auto add = [&](auto weight, std::size_t bin) {
    using sum = weight_sum<decltype(weight)>;
    using word = unsigned long long;
    auto* const words = reinterpret_cast<word*>(job.words) + bin * sum::words;
    const typename sum::contribution p = sum::split(weight);
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
    const slot s = rule(sample_at(i * job.increment));
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

}  // namespace tally::backends::cuda
