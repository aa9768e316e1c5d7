// A type of PETSc's Vec, "tally", whose operations are calls of Tally over any number of ranks; and
// MatMult of AIJ matrices, in global column order. What PETSc's solvers make of them has the same
// bits on every executor, any number of threads and any number of ranks. Left out are solvers that
// add numbers of all ranks themselves, as ibcgs does, and preconditioners that are other ones on
// another number of ranks, as block Jacobi is.
#pragma once

#include <tally/tally.hpp>

#include <petscmat.h>
#include <petscvec.h>

/// The name of the type: VecSetType(x, VECTALLY), MatSetVecType(A, VECTALLY), -vec_type tally.
#define VECTALLY "tally"

namespace example {

/// Makes the type known to PETSc. Vectors of it are in host memory, in PETSc's standard way.
PetscErrorCode register_vec_tally();

/// Where operations on such vectors and matrices run from now on on this rank, at first
/// automatic(), an executor that reaches host memory; and the grade of sums over vectors, the same
/// on all ranks. (A row of a matrix has its order, in the default grade.)
void run_vec_tally_on(const tally::executor& where, tally::grade g = {});

/// Makes MatMult, MatMultAdd and MatMultTranspose of an assembled matrix of type MATSEQAIJ or
/// MATMPIAIJ calls of Tally, and makes its MatCreateVecs return vectors of Tally. The products are
/// those of a copy, made by the first one after each change of the matrix.
PetscErrorCode multiply_by_tally(Mat a);

}  // namespace example
