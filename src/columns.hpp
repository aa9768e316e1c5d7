// The only list of this build's backends, in the order of `executors()`. The build defines
// TALLY_HAS_* as 0 or 1.
#pragma once

#include "backends/serial/serial.hpp"
#include "backends/simd/simd.hpp"
#if TALLY_HAS_OPENMP
#include "backends/openmp/openmp.hpp"
#include "backends/openmp/threads.hpp"
#endif
#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/device.hpp"
#endif
#if TALLY_HAS_KOKKOS
#include "backends/kokkos/kokkos.hpp"
#include "backends/kokkos/runtime.hpp"
#endif

#include <array>

namespace tally::backends {

inline constexpr std::array columns = {
    &serial::table, &simd::table,
#if TALLY_HAS_OPENMP
    &openmp::table,
#endif
#if TALLY_HAS_CUDA
    &cuda::table,
#endif
#if TALLY_HAS_KOKKOS
    &kokkos::table,
#endif
};

}  // namespace tally::backends
