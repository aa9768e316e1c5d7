// The only list of this build's backends, in the order of `executors()`. The build defines
// TALLY_HAS_* as 0 or 1.
#pragma once

#include "backends/serial/serial.hpp"
#include "backends/simd/simd.hpp"
#if TALLY_HAS_OPENMP
#include "backends/openmp/openmp.hpp"
#include "backends/openmp/threads/threads.hpp"
#endif
#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/device.hpp"
#endif
#if TALLY_HAS_KOKKOS
#include "backends/kokkos/kokkos.hpp"
#endif

#include <array>

namespace tally::backends {

inline constexpr auto all = std::to_array<const backend*>({
    &serial::instance,
    &simd::instance,
#if TALLY_HAS_OPENMP
    &openmp::instance,
#endif
#if TALLY_HAS_CUDA
    &cuda::instance,
#endif
#if TALLY_HAS_KOKKOS
    &kokkos::instance,
#endif
});

}  // namespace tally::backends
