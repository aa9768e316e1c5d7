// SUNDIALS's N_Vector on Tally: doubles where an executor's kernels reach, in one process or over
// ranks. All standard operations are calls of the library, so an integrator takes the same steps,
// to the last bit, with any executor and on any ranks. SUNDIALS 6 and 7.
#pragma once

#include <tally/tally.hpp>
#if TALLY_EXAMPLE_HAS_MPI
#include <tally/mpi.hpp>
#endif

#include <sundials/sundials_nvector.h>

#include <cstdint>
#include <span>

namespace example {

/// A vector of `length` doubles on an executor but automatic(), uninitialised. Operations that
/// fail throw tally::error, which ends the program in SUNDIALS's functions.
N_Vector new_vector(std::int64_t length, SUNContext context, const tally::executor& where);
#if TALLY_EXAMPLE_HAS_MPI
/// The same over ranks: this rank's part of a layout, whose sums are in the default grade.
N_Vector new_vector(const tally::mpi::layout& over, SUNContext context,
                    const tally::executor& where);
#endif

/// This process's elements, where the executor's kernels reach.
std::span<double> elements(N_Vector v);
const tally::executor& executor_of(N_Vector v);

}  // namespace example
