/* Krylov solvers of PETSc on a grid of 400 x 400, a line each: name, iterations and bits of the
 * result. */
#include <petscksp.h>

static PetscErrorCode solve(Mat A, Vec b, KSPType type) {
  KSP ksp;
  PC pc;
  Vec x;
  PetscInt iterations;
  PetscReal residual;
  PetscScalar product;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-10, 1e-50, 1e5, 2000));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &residual));
  PetscCall(VecDot(x, b, &product));
  PetscCall(
      PetscPrintf(PETSC_COMM_SELF, "%s %d,%a,%a\n", type, (int)iterations, residual, product));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  const PetscInt n = 400;
  Mat A;
  Vec b;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n * n, n * n, 5, NULL, &A));
  for (PetscInt i = 0; i < n * n; ++i) {
    const PetscInt row = i / n, column = i % n;
    if (row > 0) PetscCall(MatSetValue(A, i, i - n, -1, INSERT_VALUES));
    if (column > 0) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 4.01, INSERT_VALUES));
    if (column < n - 1) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
    if (row < n - 1) PetscCall(MatSetValue(A, i, i + n, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, NULL, &b));
  for (PetscInt i = 0; i < n * n; ++i) {
    PetscCall(VecSetValue(b, i, 1.0 / (1 + i % 97) - 0.02, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(solve(A, b, KSPCG));
  PetscCall(solve(A, b, KSPGMRES));
  PetscCall(solve(A, b, KSPBCGS));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  return PetscFinalize();
}
