// PETSc (https://petsc.org) on Tally: solves A x = b, b all ones, by KSP's cg, gmres and bicg, with
// PETSc's vectors and with those of tally_vec.hpp, over any number of ranks, on every executor that
// reaches host memory, for openmp on 1, 2 and 3 threads.
//
// Each line has the iterations, the last residual, and a hash of the bits of the residual history
// and x. Of several ranks each also solves the whole system alone. Fails where a method's hashes
// with Tally differ, between executors or between all ranks and one.
//
// Build where pkg-config finds PETSc (Debian: petsc-dev); takes PETSc's options:
//
//   cmake -S . -B build/petsc && cmake --build build/petsc --target tally_petsc
//   build/petsc/examples/petsc/petsc -grid 100 -ksp_rtol 1e-10
//   mpiexec -n 3 build/petsc/examples/petsc/petsc -matrix 1138_bus.mtx.gz -grade exact
#include "tally_vec.hpp"

#include <petscksp.h>
#include <common/bit_hash.hpp>
#include <common/executors.hpp>
#include <common/matrices.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr char usage[] = R"(Solves A x = b with Tally's vectors, b all ones.
  -grid <n>       A is a 5-point Laplacian of n x n points (default: 60)
  -matrix <file>  A is in a Matrix Market file, .mtx or .mtx.gz
  -grade <grade>  of sums over vectors: default, or exact (default: default)
  -ksp_..., -pc_...  as PETSc has them; pc_type is jacobi where nothing is said
)";

using matrix = tally::csr_matrix<PetscScalar, PetscInt, PetscInt>;

int ranks_of(MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

PetscErrorCode make_matrix(MPI_Comm comm, const matrix& whole, Mat* a) {
  PetscFunctionBegin;
  PetscInt first = 0, last = 0;
  PetscCall(MatCreate(comm, a));
  PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, static_cast<PetscInt>(whole.rows),
                        static_cast<PetscInt>(whole.columns)));
  PetscCall(MatSetType(*a, MATAIJ));
  PetscCall(MatSetUp(*a));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  const auto begin = whole.row_offsets.begin() + first;
  std::vector<PetscInt> offsets(begin, begin + (last - first) + 1);
  const PetscInt start = offsets.front();
  for (PetscInt& each : offsets) each -= start;
  const PetscInt* columns = whole.column_indices.data() + start;
  const PetscScalar* values = whole.values.data() + start;
  PetscCall(MatSeqAIJSetPreallocationCSR(*a, offsets.data(), columns, values));  // on one rank
  PetscCall(MatMPIAIJSetPreallocationCSR(*a, offsets.data(), columns, values));  // on several
  PetscFunctionReturn(PetscErrorCode{});
}

/// A whole distributed vector, on each rank.
PetscErrorCode add(Vec x, example::bit_hash& bits) {
  PetscFunctionBegin;
  VecScatter scatter;
  Vec all;
  PetscInt n = 0;
  const PetscScalar* elements = nullptr;
  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &elements));
  for (const PetscScalar& each : std::span(elements, static_cast<std::size_t>(n))) {
    bits.add(PetscRealPart(each));
    bits.add(PetscImaginaryPart(each));
  }
  PetscCall(VecRestoreArrayRead(all, &elements));
  PetscCall(VecDestroy(&all));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(PetscErrorCode{});
}

/// Solves and prints a line; sets the hash of the residual history and x.
PetscErrorCode solve(Mat a, KSPType method, const std::string& name, std::uint64_t* hash) {
  PetscFunctionBegin;
  Vec b, x;
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(b, 1));

  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  KSP ksp;
  PC preconditioner;
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, method));
  PetscCall(KSPGetPC(ksp, &preconditioner));
  PetscCall(PCSetType(preconditioner, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetResidualHistory(ksp, nullptr, PETSC_DEFAULT, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));

  const PetscReal* history = nullptr;
  PetscInt length = 0, iterations = 0;
  PetscReal residual = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscCall(KSPGetResidualHistory(ksp, &history, &length));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &residual));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  example::bit_hash bits;
  bits.add(std::span(history, static_cast<std::size_t>(length)));
  PetscCall(add(x, bits));
  *hash = bits.value();
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-6s %5d  %-36s %6d  %.3e  %016llx%s\n", method,
                        ranks_of(comm), name.c_str(), static_cast<int>(iterations),
                        static_cast<double>(residual), static_cast<unsigned long long>(*hash),
                        reason > 0 ? "" : "  not converged"));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PetscErrorCode{});
}

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

PetscErrorCode read_grade(tally::grade* grade) {
  PetscFunctionBegin;
  const char* const names[] = {"default", "exact"};
  PetscInt chosen = 0;
  PetscCall(PetscOptionsGetEList(nullptr, nullptr, "-grade", names, 2, &chosen, nullptr));
  if (chosen == 1) *grade = tally::exact;
  PetscFunctionReturn(PetscErrorCode{});
}

/// Solves with PETSc's vectors and Tally's; adds hashes of Tally's results.
PetscErrorCode solve_with_all_vectors(MPI_Comm comm, const matrix& rows, KSPType method,
                                      tally::grade grade, std::set<std::uint64_t>& hashes) {
  PetscFunctionBegin;
  Mat own, tallied;
  PetscCall(make_matrix(comm, rows, &own));
  PetscCall(make_matrix(comm, rows, &tallied));
  PetscCall(example::multiply_by_tally(tallied));
  std::uint64_t hash = 0;
  PetscCall(solve(own, method, "PETSc's own", &hash));
  for (const tally::executor& where : example::host_executors()) {
    example::run_vec_tally_on(where, grade);
    PetscCall(solve(tallied, method, std::string("Tally, ") + where.description(), &hash));
    hashes.insert(hash);
  }
  PetscCall(MatDestroy(&tallied));
  PetscCall(MatDestroy(&own));
  PetscFunctionReturn(PetscErrorCode{});
}

/// Whether all hashes of a method agree on all ranks.
PetscErrorCode compare_methods(const matrix& rows, tally::grade grade, bool* agree) {
  PetscFunctionBegin;
  PetscCall(example::register_vec_tally());
  for (const KSPType method : {KSPCG, KSPGMRES, KSPBICG}) {
    std::set<std::uint64_t> hashes;
    if (ranks_of(PETSC_COMM_WORLD) > 1) {
      PetscCall(solve_with_all_vectors(PETSC_COMM_SELF, rows, method, grade, hashes));
    }
    PetscCall(solve_with_all_vectors(PETSC_COMM_WORLD, rows, method, grade, hashes));
    *agree = *agree && hashes.size() == 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, agree, 1, MPI_C_BOOL, MPI_LAND, PETSC_COMM_WORLD);
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace

int main(int argc, char** argv) try {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, usage));
  matrix rows;
  tally::grade grade;
  PetscCall(read_matrix(&rows));
  PetscCall(read_grade(&grade));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%zu rows, %zu entries\n%-6s %5s  %-36s %6s  %-9s  %s\n",
                        rows.rows, rows.values.size(), "method", "ranks", "vectors", "steps",
                        "residual", "hash of the history and x"));
  bool agree = true;
  PetscCall(compare_methods(rows, grade, &agree));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD, "%s\n",
      agree ? "All histories with Tally have equal bits." : "Histories with Tally DIFFER."));
  PetscCall(PetscFinalize());
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "petsc: %s\n", e.what());
  return EXIT_FAILURE;
}
