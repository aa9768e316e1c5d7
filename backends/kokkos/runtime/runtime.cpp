#include "backends/kokkos/runtime/runtime.hpp"

#include "backends/kokkos/kokkos.hpp"
#include "backends/kokkos/runtime/device.hpp"

#if TALLY_HAS_OPENMP
#include "backends/openmp/threads/threads.hpp"
#endif

#include <Kokkos_Core.hpp>
#include <tally/error.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <type_traits>

namespace tally::backends::kokkos {
namespace {

// Never destroyed: calls may come while the program ends.
std::mutex& mutex() {
  static auto* const forever = new std::mutex;
  return *forever;
}

/// What calls on one queue share, in its order.
struct queue_memory {
  Kokkos::View<unsigned char*, memory> scratch;
  Kokkos::View<unsigned[2], memory> counters;
  Kokkos::View<double[8], pinned_memory> result;
};

using memory_by_queue = std::map<std::uintptr_t, queue_memory>;

memory_by_queue& memory_of_queues() {
  static auto* const forever = new memory_by_queue;
  return *forever;
}

/// Returns the memory of an instance's queue, not of the instance: Kokkos gives its id to another
/// once it is gone, and its work may not be done. On a host, where calls are complete on return,
/// all share it.
queue_memory& memory_of(const space& on) {
  constexpr std::size_t max_queues = 64;  // ever seen; none says when it is gone
  memory_by_queue& all = memory_of_queues();
  const std::uintptr_t queue = on_host ? 0 : queue_of(on);
  if (all.size() >= max_queues && all.find(queue) == all.end()) {
    Kokkos::fence();
    all.clear();
  }
  return all[queue];
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

#if defined(KOKKOS_ENABLE_THREADS)
#if KOKKOS_VERSION >= 40200
using threads_of_kokkos = Kokkos::Impl::ThreadsInternal;
#else
using threads_of_kokkos = Kokkos::Impl::ThreadsExec;
#endif
#endif

/// Throws if Kokkos is finalised, its OpenMP threads were lost in a fork(), or its own threads
/// serve another thread.
void require_usable() {
  if (finalized()) {
    throw error(errc::no_device, "tally::kokkos: Kokkos is finalised and can't be used any more");
  }
#if defined(KOKKOS_ENABLE_THREADS)
  if (std::is_same_v<space, Kokkos::Threads> && Kokkos::is_initialized() &&
      !threads_of_kokkos::is_process()) {
    throw error(errc::no_device,
                "tally::kokkos: Kokkos runs on its own threads here, which serve the thread that "
                "initialised it alone");
  }
#endif
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
    memory_of_queues().clear();
  });
  known = true;
}

const char* space_name() { return space::name(); }

bool is_running() noexcept { return Kokkos::is_initialized() && !finalized(); }

std::unique_lock<std::mutex> acquire() {
  std::unique_lock lock(mutex());
  require_usable();
  if (!Kokkos::is_initialized()) {
    throw error(errc::no_device, "tally::kokkos: Kokkos is not initialised");
  }
  return lock;
}

space space_of(const executor& where) {
  const auto* const own = static_cast<const space*>(where.kokkos_instance());
  if (own == nullptr) return space();
  if constexpr (!on_host) {
    const int device = device_of(*own), usual = device_of(space());
    if (device != usual) {
      throw error(errc::invalid_argument,
                  "tally::kokkos: the instance is on device " + std::to_string(device) +
                      ", Kokkos and its memory are on device " + std::to_string(usual));
    }
  }
  return *own;
}

void* scratch(const space& on, std::size_t bytes) {
  auto& held = memory_of(on).scratch;
  if (held.extent(0) < bytes) {
    using buffer = std::remove_reference_t<decltype(held)>;
    on.fence();  // earlier calls' kernels
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

launch_memory memory_of_launches(const space& on) {
  if constexpr (on_host) return {};
  queue_memory& held = memory_of(on);
  if (held.result.data() == nullptr) {
    try {
      held.counters = decltype(held.counters)("tally counters");
      held.result = decltype(held.result)("tally result");
      Kokkos::fence();
    } catch (const std::exception&) {
      fail_allocation(sizeof(double[8]));
    }
  }
  return {held.counters.data(), held.result.data()};
}

void fail_allocation(std::size_t bytes) {
  if (on_host) throw std::bad_alloc();
  throw error(errc::out_of_memory,
              "tally::kokkos: no " + std::to_string(bytes) + " bytes of memory could be had");
}

}  // namespace tally::backends::kokkos
