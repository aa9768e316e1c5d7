#pragma once

#include <tally/detail/level_one.hpp>

namespace tally {

/// Returns the kernels of an instruction set; of `best`, for an executor that chooses.
const detail::level_one_kernels* level_one_of(instruction_set set);

}  // namespace tally
