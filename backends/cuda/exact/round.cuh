// The last step of the exact grade: the words of a result's parts are rounded.
#pragma once

#include "backends/cuda/device/kernel.cuh"

#include <tally/exact_sum.hpp>

namespace tally::backends::cuda {

/// Rounds the result and writes it to `to`, as the job says. Each part has `words`, which are 0
/// outside [low, high).
template <class T, class Job, unsigned count>
__device__ void round_and_deliver(const Job& job, const std::int64_t (*words)[count], int low,
                                  int high, void* to) {
  const auto as = [&]<class R>(R) {
    R part[2] = {};
    for (unsigned i = 0; i < job.parts; ++i) {
      part[i] = job.root ? exact_sum<T>::template round_root_words<R>(words[i], low, high)
                         : exact_sum<T>::template round_words<R>(words[i], low, high);
    }
    if (job.parts == 1) {
      deliver<1>(complex_number<R>{part[0], R()}, job.tag, to);
    } else {
      deliver<2>(complex_number<R>{part[0], part[1]}, job.tag, to);
    }
  };
  if (job.to_float) {
    as(float());
  } else {
    as(double());
  }
}

}  // namespace tally::backends::cuda
