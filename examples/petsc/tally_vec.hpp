// A PETSc Vec type, "tally", whose operations call Tally over any number of ranks; and MatMult of
// AIJ matrices, in global column order. PETSc's solvers on them have the same bits on every
// executor, number of threads and number of ranks, except solvers that add over ranks themselves,
// as ibcgs, and preconditioners that depend on the number of ranks, as block Jacobi.
#pragma once

#include <tally/tally.hpp>

#include <petscmat.h>
#include <petscvec.h>

/// Type name for VecSetType(x, VECTALLY), MatSetVecType(A, VECTALLY), -vec_type tally.
#define VECTALLY "tally"

namespace example {

/// Registers the type. Vectors are in host memory, in PETSc's standard layout.
PetscErrorCode register_vec_tally();

/// Sets this rank's executor, which must reach host memory, at first automatic(); and the grade of
/// vector sums, the same on all ranks. (Matrix rows keep the default grade's order.)
void run_vec_tally_on(const tally::executor& where, tally::grade g = {});

/// Makes MatMult, MatMultAdd and MatMultTranspose of an assembled MATSEQAIJ or MATMPIAIJ call
/// Tally, and MatCreateVecs return Tally vectors. Products use a copy, renewed by the first one
/// after each change of the matrix.
PetscErrorCode multiply_by_tally(Mat a);

}  // namespace example
