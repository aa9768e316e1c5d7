// Kokkos called from OpenMP parallel regions, the program's or the openmp backend's.
#pragma once

#include <Kokkos_Core.hpp>

#include <future>
#include <type_traits>
#include <utility>

#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

namespace tally::backends::kokkos {

/// Returns f(), called on a new thread if Kokkos's threads are OpenMP's and this one is in a
/// parallel region: Kokkos aborts if they are nested.
template <class F>
auto outside_regions(const F& f) {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::OpenMP>) {
    if (omp_get_level() > 0) return std::async(std::launch::async, f).get();
  }
#endif
  return f();
}

template <auto operation>
struct outside_regions_of;

/// An operation, callable from anywhere.
template <class R, class... A, R (*operation)(A...)>
struct outside_regions_of<operation> {
  static R call(A... arguments) {
    return outside_regions([&]() -> R { return operation(std::forward<A>(arguments)...); });
  }
};

template <auto operation>
inline constexpr auto& from_anywhere = outside_regions_of<operation>::call;

}  // namespace tally::backends::kokkos
