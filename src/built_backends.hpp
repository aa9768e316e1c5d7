// Which optional backends this build has; the build defines TALLY_HAS_* as 0 or 1.
#pragma once

#if TALLY_HAS_CUDA
#include "backends/cuda/device.hpp"
#endif
#if TALLY_HAS_KOKKOS
#include "backends/kokkos/runtime.hpp"
#endif
#if TALLY_HAS_OPENMP
#include "backends/openmp/threads.hpp"
#endif

namespace tally::built {

inline constexpr bool openmp = TALLY_HAS_OPENMP;
inline constexpr bool cuda = TALLY_HAS_CUDA;
inline constexpr bool kokkos = TALLY_HAS_KOKKOS;

}  // namespace tally::built
