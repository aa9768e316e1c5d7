#pragma once

#include "backends/backend.hpp"
#include "backends/common/histogram/bins.hpp"

#include <cstddef>
#include <functional>

namespace tally::backends::simd {

/// Finds the slots of n contiguous samples: writes them to `to`, or returns samples that are slots.
using slot_search = const slot*(const void* bins, const void* samples, std::size_t n, slot* to);

/// Calls f(bins, search): `search` finds the slots of samples, with `bins` as search data.
void with_slot_search(instruction_set set, const histogram_arguments& a,
                      const std::function<void(const void* bins, slot_search* search)>& f);

/// Calls f(0) ... f(count - 1) concurrently.
using run_on_threads = void(std::size_t count, const std::function<void(std::size_t)>& f);

/// Computes a histogram on at most `threads` threads; `run` is not called for one.
out_of_range_key count_on_threads(const executor& where, const histogram_arguments& a,
                                  const void* bins, slot_search* search, std::size_t threads,
                                  run_on_threads* run);

}  // namespace tally::backends::simd
