// Kernels of level one (<tally/detail/level_one.hpp>), from the sources of their operations.
#pragma once

#include "backends/simd/vectors/instruction_set.hpp"

#include <tally/detail/level_one.hpp>

namespace tally::backends::simd {

/// Each adds its kernels of an instruction set; of `best`, the fastest for vectors in the caches.
/// Weak: null in a static program without calls of the operation, into which nothing else brings
/// its source.
[[gnu::weak]] void add_dot(instruction_set set, detail::level_one_kernels& to);
[[gnu::weak]] void add_reductions(instruction_set set, detail::level_one_kernels& to);
[[gnu::weak]] void add_iamax(instruction_set set, detail::level_one_kernels& to);
[[gnu::weak]] void add_updates(instruction_set set, detail::level_one_kernels& to);
[[gnu::weak]] void add_scans(instruction_set set, detail::level_one_kernels& to);
[[gnu::weak]] void add_short_functions(instruction_set set, detail::level_one_kernels& to);
/// Last: replaces some where the set is one of scalable vectors.
void add_scalable(instruction_set set, detail::level_one_kernels& to);

}  // namespace tally::backends::simd
