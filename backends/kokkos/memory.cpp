// Kokkos's memory on a host. A device's is left to Kokkos.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"
#include "backends/serial/serial.hpp"

#include <tally/error.hpp>

namespace tally::backends::kokkos {

void* allocate(const executor& where, std::size_t bytes, reach who) {
  if (!on_host) {
    throw error(errc::invalid_argument,
                "tally::allocate: Kokkos runs on a device here, whose memory kokkos_malloc gives");
  }
  return serial::allocate(where, bytes, who);
}

void deallocate(const executor& where, void* freed, reach who) noexcept {
  serial::deallocate(where, freed, who);
}

void copy_bytes(const executor& where, const void* from, void* to, std::size_t bytes) {
  if (!on_host) {
    throw error(errc::invalid_argument,
                "tally::copy_bytes: Kokkos runs on a device here; deep_copy copies its memory");
  }
  serial::copy_bytes(where, from, to, bytes);
}

void pin(const executor& where, void* pinned, std::size_t bytes) {
  if (!on_host) {
    throw error(errc::invalid_argument,
                "tally::pin: Kokkos runs on a device here, whose runtime pins memory");
  }
  serial::pin(where, pinned, bytes);
}

void unpin(const executor& where, void* pinned) {
  if (!on_host) {
    throw error(errc::invalid_argument,
                "tally::unpin: Kokkos runs on a device here, whose runtime pins memory");
  }
  serial::unpin(where, pinned);
}

std::shared_ptr<const backend> make_staged(const executor& where,
                                           const workspace_options& options) {
  if (!on_host) {
    throw error(errc::invalid_argument,
                "tally::workspace: Kokkos runs on a device here; a workspace is one of cuda's");
  }
  return serial::make_staged(where, options);
}

}  // namespace tally::backends::kokkos
