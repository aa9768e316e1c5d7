! On one rank, as MPI starts a program without mpiexec.
program client
  use mpi
  use tally_mpi
  implicit none
  double precision :: x(3) = [1d300, 1d0, -1d300], r
  integer :: ierror
  call MPI_Init(ierror)
  r = tally_mpi_sum(x, MPI_COMM_WORLD)
  call MPI_Finalize(ierror)
  if (r /= 1) error stop
end program
