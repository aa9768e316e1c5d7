// Launches of kernels, and copies, on an instance.
#pragma once

#include "backends/common/floating_point_environment.hpp"
#include "backends/kokkos/runtime/runtime.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends::kokkos {

// Names of kernels have at most 15 letters: Kokkos makes a std::string of each, and a longer one
// allocates, which could fail after a kernel has written.

struct no_guard {
  KOKKOS_FUNCTION no_guard() {}  // non-trivial, so that it may be unused
};
using environment_guard = std::conditional_t<on_host, default_environment, no_guard>;

/// Indices below n, of 64 bits: those of Kokkos's own for a device have 32, and larger bounds
/// abort.
inline auto up_to(const space& on, std::size_t n) {
  return Kokkos::RangePolicy<space, Kokkos::IndexType<std::int64_t>>(on, 0,
                                                                     static_cast<std::int64_t>(n));
}

/// A host's threads take blocks, with one guard for all of a block's elements.
template <class Body>
struct in_blocks {
  Body body;
  std::size_t size, length;

  KOKKOS_FUNCTION void operator()(std::size_t block) const {
    const environment_guard environment;
    const std::size_t begin = block * length;
    const std::size_t end = size - begin < length ? size : begin + length;
    for (std::size_t i = begin; i < end; ++i) body(i);
  }
};

/// Queues body(i) for all i < n, in the default environment.
template <class Body>
void for_each(const space& on, const char* name, std::size_t n, const Body& body) {
  if constexpr (on_host) {
    const auto threads = static_cast<std::size_t>(on.concurrency());
    const std::size_t length = std::clamp<std::size_t>(n / (4 * threads), 1, 4096);
    Kokkos::parallel_for(name, up_to(on, (n + length - 1) / length),
                         in_blocks<Body>{body, n, length});
  } else {
    Kokkos::parallel_for(name, up_to(on, n), body);
  }
}

template <class T>
struct write_zeros {
  T* to;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to[i] = T{0}; }
};

template <class T>
void clear(const space& on, T* to, std::size_t n) {
  Kokkos::parallel_for("tally clear", up_to(on, n), write_zeros<T>{to});
}

/// Queues the copy of `count` numbers.
template <class R>
void copy_to_host(const space& on, const R* from, void* to, int count) {
  using Kokkos::MemoryUnmanaged;
  const auto n = static_cast<std::size_t>(count);
  Kokkos::deep_copy(on,
                    Kokkos::View<R*, Kokkos::HostSpace, MemoryUnmanaged>(static_cast<R*>(to), n),
                    Kokkos::View<const R*, memory, MemoryUnmanaged>(from, n));
}

}  // namespace tally::backends::kokkos
