// A type of PETSc's Vec, "tally", whose operations are calls of Tally; and MatMult of sequential
// AIJ matrices, in global column order. What PETSc's solvers make of them has the same bits on
// every executor and any number of threads.
#pragma once

#include <tally/tally.hpp>

#include <petscmat.h>
#include <petscvec.h>

/// The name of the type: VecSetType(x, VECTALLY), MatSetVecType(A, VECTALLY), -vec_type tally.
#define VECTALLY "tally"

namespace example {

/// Makes the type known to PETSc. Vectors of it are sequential ones, in host memory.
PetscErrorCode register_vec_tally();

/// Where operations on such vectors and matrices run from now on, at first automatic(). An executor
/// that reaches host memory.
void run_vec_tally_on(const tally::executor& where);

/// Makes MatMult, MatMultAdd and MatMultTranspose of an assembled matrix of type MATSEQAIJ calls of
/// Tally, and makes its MatCreateVecs return vectors of Tally.
PetscErrorCode multiply_by_tally(Mat a);

}  // namespace example
