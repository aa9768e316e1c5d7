#pragma once

#include "backends/backend.hpp"
#include "backends/simd/counting/counting.hpp"

#include <functional>

namespace tally::backends::simd {

/// Calls f(bins, search): `search` finds the slots of samples, with `bins` as search data.
void with_slot_search(instruction_set set, const histogram_arguments& a,
                      const std::function<void(const void* bins, slot_search* search)>& f);

}  // namespace tally::backends::simd
