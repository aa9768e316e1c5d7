#pragma once

#include "backends/host/counting.hpp"
#include "src/core/table.hpp"

#include <functional>

namespace tally::backends::simd {

/// Calls f(bins, search), where `search` finds the slots of the samples in one instruction set, and
/// `bins` is what it needs for that.
void with_slot_search(instruction_set set, const histogram_arguments& a,
                      const std::function<void(const void* bins, slot_search* search)>& f);

}  // namespace tally::backends::simd
