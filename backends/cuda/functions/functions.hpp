#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

/// See tally::launch_sum.
void launch_sum(const executor& where, void* result, std::size_t bytes, bool wait,
                std::size_t words, void* context,
                int (*launch)(void* context, const device_sum& lent));

/// See tally::launch_map.
void launch_map(const executor& where, void* context,
                int (*launch)(void* context, CUstream_st* stream));

}  // namespace tally::backends::cuda
