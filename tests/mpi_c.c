/* The C interface over ranks: mpiexec -n RANKS tally_mpi_c_test. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tally/mpi.h>

static int failures = 0;

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                            \
    }                                                        \
  } while (0)

enum { F64 = TALLY_FLOAT64, F32 = TALLY_FLOAT32, I32 = TALLY_INT32, C64 = TALLY_COMPLEX64 };

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  {
    /* The first rank's 1e100 and the last one's -1e100 cancel: each rank's number and a half
     * remain. */
    const double x[4] = {rank == 0 ? 1e100 : 0, rank + 0.5, rank == ranks - 1 ? -1e100 : 0, 0};
    const double ones[4] = {1, 1, 1, 1};
    const float y[2] = {3, 4};
    const int32_t i[3] = {rank, -1, 2};
    const float c[4] = {1, 2, 3, (float)rank};
    const double all = ranks * (ranks - 1) / 2;
    double r = 0, want[2];
    const tally_call_options conjugated = {.size = sizeof conjugated,
                                           .conjugate = TALLY_CONJUGATE_X};
    float f = 0, fc[2] = {0, 0};
    int64_t s = 0;

    CHECK(tally_mpi_sum(comm, NULL, 4, F64, x, 1, F64, &r, NULL) == TALLY_SUCCESS);
    CHECK(r == all + ranks * 0.5);
    CHECK(tally_mpi_dot(comm, NULL, 4, F64, x, 1, F64, ones, -1, F64, &r, NULL) == TALLY_SUCCESS);
    CHECK(r == all + ranks * 0.5);
    CHECK(tally_mpi_asum(comm, NULL, rank == 0 ? 0 : 1, F64, x + 1, 1, F64, &r, NULL) ==
          TALLY_SUCCESS);
    CHECK(r == all + (ranks - 1) * 0.5);
    CHECK(tally_mpi_nrm2(comm, NULL, 2, F32, y, 1, F32, &f, NULL) == TALLY_SUCCESS);
    want[0] = 25.0 * ranks;
    CHECK(tally_nrm2(NULL, 1, F64, want, 1, F64, &r, NULL) == TALLY_SUCCESS && r == want[0]);
    CHECK((double)f * f - want[0] < 1e-4 && want[0] - (double)f * f < 1e-4);
    CHECK(tally_mpi_sum(comm, NULL, 3, I32, i, 1, TALLY_INT64, &s, NULL) == TALLY_SUCCESS);
    CHECK(s == all + ranks);
    CHECK(tally_mpi_nrm2(comm, NULL, rank == 0, I32, i + 2, 1, F64, &r, NULL) == TALLY_SUCCESS);
    CHECK(r == 2);
    /* conj(c) * c */
    CHECK(tally_mpi_dot(comm, NULL, 2, C64, c, 1, C64, c, 1, C64, fc, &conjugated) ==
          TALLY_SUCCESS);
    CHECK(fc[0] == 14 * ranks + (float)(ranks * (ranks - 1) * (2 * ranks - 1)) / 6 && fc[1] == 0);

    /* One rank's error is every rank's, and nothing is written. */
    r = 42;
    CHECK(tally_mpi_sum(comm, NULL, 4, F64, rank == ranks - 1 ? NULL : x, 1, F64, &r, NULL) ==
          TALLY_NULL_POINTER);
    CHECK(tally_mpi_dot(comm, NULL, 4, F64, x, rank == 0 ? 0 : 1, F64, ones, 1, F64, &r, NULL) ==
          TALLY_ZERO_INCREMENT);
    CHECK(tally_mpi_nrm2(comm, NULL, 3, I32, i, 1, TALLY_INT64, &s, NULL) ==
          TALLY_UNSUPPORTED_TYPE);
    CHECK(tally_mpi_nrm2(comm, NULL, 4, F64, x, 1, F32, &f, NULL) == TALLY_UNSUPPORTED_TYPE);
    CHECK(tally_mpi_sum(comm, NULL, 3, I32, i, 1, F32, &f, NULL) == TALLY_UNSUPPORTED_TYPE);
    CHECK(tally_mpi_sum(comm, NULL, 4, F64, x, 1, 99, &r, NULL) == TALLY_UNSUPPORTED_TYPE);
    CHECK(tally_mpi_sum(comm, NULL, 4, F64, x, 1, F64, &r, &conjugated) == TALLY_INVALID_ARGUMENT);
    CHECK(tally_mpi_sum(comm, NULL, 3, I32, i, 1, TALLY_INT64, rank == 0 ? NULL : &s, NULL) ==
          TALLY_NULL_POINTER);
    CHECK(tally_mpi_sum(comm, NULL, 4, F64, x, 1, F64, rank == 0 ? (char*)want + 4 : (char*)&r,
                        NULL) == TALLY_MISALIGNED);
    CHECK(r == 42 && s == all + ranks);
    CHECK(tally_mpi_sum(comm, NULL, 4, F64, x, rank == 0 ? 0 : 1, F64, &r, NULL) ==
          TALLY_ZERO_INCREMENT);
    if (rank == 0) CHECK(strstr(tally_last_error(), "increment") != NULL);

    /* Another executor, rounding, infinities and NaN. */
    {
      tally_executor serial;
      const double tenths[2] = {0.1, 0.2};
      double both[4] = {0, 0, 0, 0};
      int k;
      CHECK(tally_serial(&serial) == TALLY_SUCCESS);
      CHECK(tally_mpi_sum(comm, &serial, 2, F64, tenths, 1, F64, &r, NULL) == TALLY_SUCCESS);
      CHECK(tally_sum(NULL, 2, F64, tenths, 1, F64, both, NULL) == TALLY_SUCCESS);
      CHECK(ranks > 1 || r == both[0]);
      CHECK(tally_mpi_sum(comm, &serial, 1, TALLY_COMPLEX128, tenths, 1, TALLY_COMPLEX128, both,
                          NULL) == TALLY_SUCCESS);
      CHECK(both[1] > 0.2 * ranks - 1e-9 && both[1] < 0.2 * ranks + 1e-9);
      for (k = 0; k < 4; ++k) both[k] = k == 1 && rank == 0 ? HUGE_VAL : 1;
      CHECK(tally_mpi_sum(comm, NULL, 4, F64, both, 1, F64, &r, NULL) == TALLY_SUCCESS);
      CHECK(r == HUGE_VAL);
      if (rank == ranks - 1) both[2] = -HUGE_VAL;
      CHECK(tally_mpi_sum(comm, NULL, 4, F64, both, 1, F64, &r, NULL) == TALLY_SUCCESS);
      CHECK(r != r);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return failures != 0;
}
