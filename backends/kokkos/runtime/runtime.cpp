#include "backends/kokkos/runtime/runtime.hpp"

#include "backends/kokkos/kokkos.hpp"
#include "backends/kokkos/runtime/device.hpp"

#if TALLY_HAS_OPENMP
#include "backends/openmp/threads/threads.hpp"
#endif

#include <Kokkos_Core.hpp>
#include <tally/error.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <type_traits>

namespace tally::backends::kokkos {
namespace {

using space = Kokkos::DefaultExecutionSpace;
using buffer = Kokkos::View<unsigned char*, space::memory_space>;

// Never destroyed: calls may come while the program ends.
std::mutex& mutex() {
  static auto* const forever = new std::mutex;
  return *forever;
}
buffer& scratch_buffer() {
  static auto* const forever = new buffer;
  return *forever;
}

struct launch_views {
  Kokkos::View<unsigned, space::memory_space> counter;
  Kokkos::View<double[8], pinned_memory> result;
};
launch_views& views_of_launches() {
  static auto* const forever = new launch_views;
  return *forever;
}

// Kokkos reports this only from 3.7 on.
std::atomic<bool> seen_finalized = false;

bool finalized() noexcept {
#if KOKKOS_VERSION >= 30700
  return Kokkos::is_finalized();
#else
  return seen_finalized;
#endif
}

/// Throws if Kokkos is finalised, or its OpenMP threads were lost in a fork().
void require_usable() {
  if (finalized()) {
    throw error(errc::no_device, "tally::kokkos: Kokkos is finalised and can't be used any more");
  }
#if TALLY_HAS_OPENMP && defined(KOKKOS_ENABLE_OPENMP)
  if (std::is_same_v<space, Kokkos::OpenMP> && !openmp::usable()) {
    throw error(
        errc::no_device,
        "tally::kokkos: this process is a fork of one that had several threads, and "
        "Kokkos, which runs on OpenMP here, would wait for them; tally::simd() can be used");
  }
#endif
}

}  // namespace

void initialize() {
  const std::lock_guard lock(mutex());
  static bool known = false;
  if (known && Kokkos::is_initialized()) return;
  require_usable();
  if (!Kokkos::is_initialized()) {
    require_device();
    try {
      outside_regions([] { Kokkos::initialize(); });
    } catch (const std::exception& e) {  // built for an absent device
      throw error(errc::no_device,
                  std::string("tally::kokkos: Kokkos can't start here: ") + e.what());
    }
    std::atexit([] {
      if (Kokkos::is_initialized()) Kokkos::finalize();
    });
  }
  Kokkos::push_finalize_hook([] {
    seen_finalized = true;
    scratch_buffer() = buffer();
    views_of_launches() = launch_views();
  });
  known = true;
}

bool is_running() noexcept { return Kokkos::is_initialized() && !finalized(); }

std::unique_lock<std::mutex> acquire() {
  std::unique_lock lock(mutex());
  require_usable();
  if (!Kokkos::is_initialized()) {
    throw error(errc::no_device, "tally::kokkos: Kokkos is not initialised");
  }
  return lock;
}

void* scratch(std::size_t bytes) {
  buffer& held = scratch_buffer();
  if (held.extent(0) < bytes) {
    Kokkos::fence();  // earlier calls' kernels
    held = buffer();
    try {
      held = buffer(Kokkos::view_alloc(std::string("tally::scratch"), Kokkos::WithoutInitializing),
                    bytes);
    } catch (const std::exception&) {
      fail_allocation(bytes);
    }
  }
  return held.data();
}

launch_memory memory_of_launches() {
  if constexpr (std::is_same_v<space, Kokkos::DefaultHostExecutionSpace>) return {};
  launch_views& held = views_of_launches();
  if (held.result.data() == nullptr) {
    try {
      held.counter = decltype(held.counter)("tally counter");
      held.result = decltype(held.result)("tally result");
      Kokkos::fence();
    } catch (const std::exception&) {
      fail_allocation(sizeof(double[8]));
    }
  }
  return {held.counter.data(), held.result.data()};
}

void fail_allocation(std::size_t bytes) {
  if (std::is_same_v<space, Kokkos::DefaultHostExecutionSpace>) throw std::bad_alloc();
  throw error(errc::out_of_memory,
              "tally::kokkos: no " + std::to_string(bytes) + " bytes of memory could be had");
}

}  // namespace tally::backends::kokkos
