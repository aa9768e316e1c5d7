// On one rank, as MPI starts a program without mpiexec.
#include <tally/mpi.hpp>

#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool agrees = false;
  {
    const std::vector<double> x(3000, 0.1);
    const tally::mpi::layout l(MPI_COMM_WORLD, 3000);
    agrees = tally::mpi::dot(l, tally::serial(), x, x) == tally::dot(tally::serial(), x, x);
  }
  MPI_Finalize();
  return agrees ? 0 : 1;
}
