/* On one rank, as MPI starts a program without mpiexec. */
#include <tally/mpi.h>

int main(int argc, char** argv) {
  const double x[3] = {1e300, 1, -1e300};
  double sum = 0;
  tally_status status;
  MPI_Init(&argc, &argv);
  status = tally_mpi_sum(MPI_COMM_WORLD, NULL, 3, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, &sum, NULL);
  MPI_Finalize();
  return status == TALLY_SUCCESS && sum == 1 ? 0 : 1;
}
