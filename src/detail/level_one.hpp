#pragma once

#include <tally/detail/level_one.hpp>

namespace tally {

/// Returns the kernels of an instruction set; of `best`, for an executor that chooses.
const detail::level_one_kernels* level_one_of(instruction_set set);
#if TALLY_HAS_OPENMP
/// Returns those of `openmp`, for vectors that are not worth threads.
const detail::level_one_kernels* level_one_of_threads();
#endif

}  // namespace tally
