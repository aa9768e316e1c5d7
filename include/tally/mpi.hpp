// Tally over MPI ranks: the same bits on any number of ranks. CMake target: tally::mpi. See
// docs/ranks.md.
#pragma once

#include <tally/mpi/communicator.hpp>
#include <tally/mpi/extremum.hpp>
#include <tally/mpi/gemv.hpp>
#include <tally/mpi/histogram.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/mpi/matrix.hpp>
#include <tally/mpi/matrix_market.hpp>
#include <tally/mpi/request.hpp>
#include <tally/mpi/scan.hpp>
#include <tally/mpi/scatter_add.hpp>
#include <tally/mpi/sums.hpp>
