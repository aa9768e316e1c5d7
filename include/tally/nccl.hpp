// Tally over several GPUs by NCCL: the same bits on any number of devices. CMake target:
// tally::nccl. See docs/ranks.md.
#pragma once

#include <tally/nccl/communicator.hpp>
#include <tally/nccl/extremum.hpp>
#include <tally/nccl/gemv.hpp>
#include <tally/nccl/histogram.hpp>
#include <tally/nccl/layout.hpp>
#include <tally/nccl/matrix.hpp>
#include <tally/nccl/scan.hpp>
#include <tally/nccl/scatter_add.hpp>
#include <tally/nccl/sums.hpp>
