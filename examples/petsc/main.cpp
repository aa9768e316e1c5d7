// PETSc (https://petsc.org) on Tally: solves A x = b, b all ones, by cg, gmres and bicg of KSP,
// with PETSc's own vectors and with those of tally_vec.hpp, on every executor that reaches host
// memory and, for openmp, on 1, 2 and 3 threads.
//
// Each line has the iterations, the last residual, and a hash of the bits of the whole residual
// history and of x. It fails where the hashes of a method differ between executors.
//
// It is built where pkg-config finds PETSc (Debian: petsc-dev), runs as one process, and takes
// PETSc's options:
//
//   cmake -S . -B build/petsc && cmake --build build/petsc --target tally_petsc
//   build/petsc/examples/petsc/petsc -grid 100 -ksp_rtol 1e-10
//   build/petsc/examples/petsc/petsc -matrix 1138_bus.mtx.gz -pc_type jacobi
#include "tally_vec.hpp"

#include <petscksp.h>
#include <common/bit_hash.hpp>
#include <common/executors.hpp>
#include <common/matrices.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr char usage[] = R"(Solves A x = b with Tally's vectors, b all ones.
  -grid <n>       A is a 5-point Laplacian of n x n points (default: 60)
  -matrix <file>  A is in a Matrix Market file, .mtx or .mtx.gz
  -ksp_..., -pc_...  as PETSc has them; pc_type is jacobi where nothing is said
)";

using matrix = tally::csr_matrix<PetscScalar, PetscInt, PetscInt>;

/// PETSc's matrix of rows that it refers to.
PetscErrorCode make_matrix(matrix& rows, Mat* a) {
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, static_cast<PetscInt>(rows.rows),
                                      static_cast<PetscInt>(rows.columns), rows.row_offsets.data(),
                                      rows.column_indices.data(), rows.values.data(), a));
  PetscFunctionReturn(PetscErrorCode{});
}

/// Solves and prints a line; the hash of the residual history and of x.
PetscErrorCode solve(Mat a, KSPType method, const std::string& name, std::uint64_t* hash) {
  PetscFunctionBegin;
  Vec b, x;
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(b, 1));

  KSP ksp;
  PC preconditioner;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, method));
  PetscCall(KSPGetPC(ksp, &preconditioner));
  PetscCall(PCSetType(preconditioner, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetResidualHistory(ksp, nullptr, PETSC_DEFAULT, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));

  const PetscReal* history = nullptr;
  const PetscScalar* solution = nullptr;
  PetscInt length = 0, n = 0, iterations = 0;
  PetscReal residual = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscCall(KSPGetResidualHistory(ksp, &history, &length));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &residual));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetArrayRead(x, &solution));
  example::bit_hash bits;
  bits.add(std::span(history, static_cast<std::size_t>(length)));
  for (const PetscScalar& each : std::span(solution, static_cast<std::size_t>(n))) {
    bits.add(PetscRealPart(each));
    bits.add(PetscImaginaryPart(each));
  }
  PetscCall(VecRestoreArrayRead(x, &solution));
  *hash = bits.value();
  std::printf("%-6s %-36s %6d  %.3e  %016llx%s\n", method, name.c_str(),
              static_cast<int>(iterations), static_cast<double>(residual),
              static_cast<unsigned long long>(*hash), reason > 0 ? "" : "  not converged");

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PetscErrorCode{});
}

/// The matrix that PETSc's options name.
PetscErrorCode read_matrix(matrix* rows) {
  PetscFunctionBegin;
  PetscInt grid = 60;
  char file[PETSC_MAX_PATH_LEN] = "";
  PetscBool is_file = PETSC_FALSE;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-grid", &grid, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", file, sizeof(file), &is_file));
  const auto a =
      is_file ? tally::read_matrix_market(file) : example::laplacian(static_cast<int>(grid));
  *rows = {a.rows,
           a.columns,
           {a.row_offsets.begin(), a.row_offsets.end()},
           {a.column_indices.begin(), a.column_indices.end()},
           {a.values.begin(), a.values.end()}};
  PetscFunctionReturn(PetscErrorCode{});
}

/// Whether all hashes of each method are equal.
PetscErrorCode compare(matrix& rows, bool* agree) {
  PetscFunctionBegin;
  PetscCall(example::register_vec_tally());
  Mat own, tallied;
  PetscCall(make_matrix(rows, &own));
  PetscCall(make_matrix(rows, &tallied));
  PetscCall(example::multiply_by_tally(tallied));

  for (const KSPType method : {KSPCG, KSPGMRES, KSPBICG}) {
    std::uint64_t here = 0;
    PetscCall(solve(own, method, "PETSc's own", &here));
    std::optional<std::uint64_t> hash;
    for (const tally::executor& where : example::host_executors()) {
      example::run_vec_tally_on(where);
      PetscCall(solve(tallied, method, std::string("Tally, ") + where.description(), &here));
      *agree = *agree && here == hash.value_or(here);
      hash = hash.value_or(here);
    }
  }
  PetscCall(MatDestroy(&tallied));
  PetscCall(MatDestroy(&own));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace

int main(int argc, char** argv) try {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, usage));
  matrix rows;
  PetscCall(read_matrix(&rows));
  std::printf("%zu rows, %zu entries\n%-6s %-36s %6s  %-9s  %s\n", rows.rows, rows.values.size(),
              "method", "vectors", "steps", "residual", "hash of the history and x");
  bool agree = true;
  PetscCall(compare(rows, &agree));
  std::puts(agree ? "All histories with Tally have equal bits." : "Histories with Tally DIFFER.");
  PetscCall(PetscFinalize());
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "petsc: %s\n", e.what());
  return EXIT_FAILURE;
}
