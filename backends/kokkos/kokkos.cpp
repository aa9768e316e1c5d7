// Memory, and the caller's functions: of the host, by the host's backends; a device's memory by
// Kokkos, and where an address lies and pinning by its vendor's runtime.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/runtime/device.hpp"
#include "backends/kokkos/sums.hpp"
#include "backends/serial/serial.hpp"
#if TALLY_HAS_OPENMP
#include "backends/openmp/openmp.hpp"
#endif

#include <tally/error.hpp>

#include <cstring>
#include <exception>
#include <string>

namespace tally::backends::kokkos {
constinit const backend instance(on_host);

/// "3.4.1, OpenMP, 8 threads"
std::string backend::describe(const executor&) const {
  constexpr int version = KOKKOS_VERSION;
  std::string text = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
                     "." + std::to_string(version % 100) + ", " + space::name();
  if constexpr (on_host) {
    const auto lock = acquire();
    const auto threads = space().concurrency();
    if (threads > 1) text += ", " + std::to_string(threads) + " threads";
  }
  return text;
}

bool backend::reaches(const executor& where, const place& p) const {
  if constexpr (on_host) return p.host;
  const auto lock = acquire();
  return p.device == place::every || p.device == device_of(space_of(where));
}

namespace {

template <class Memory>
using bytes_in = Kokkos::View<unsigned char*, Memory, Kokkos::MemoryUnmanaged>;

template <class From, class To>
void copy(const space& on, const void* from, void* to, std::size_t bytes) {
  auto* const source = static_cast<unsigned char*>(const_cast<void*>(from));
  Kokkos::deep_copy(on, bytes_in<To>(static_cast<unsigned char*>(to), bytes),
                    bytes_in<From>(source, bytes));
  on.fence();
}

}  // namespace

void* backend::allocate(const executor& where, std::size_t bytes, reach who) const {
  if constexpr (on_host) return serial::instance.allocate(where, bytes, who);
  const auto lock = acquire();
  try {
    return who == reach::kernels ? Kokkos::kokkos_malloc<memory>("tally buffer", bytes)
                                 : Kokkos::kokkos_malloc<pinned_memory>("tally buffer", bytes);
  } catch (const std::exception&) {
    fail_allocation(bytes);
  }
}

// If Kokkos is finalised, or the device's context is gone, there is nothing to free.
void backend::deallocate(const executor& where, void* freed, reach who) const noexcept {
  if constexpr (on_host) return serial::instance.deallocate(where, freed, who);
  try {
    const auto lock = acquire();
    who == reach::kernels ? Kokkos::kokkos_free<memory>(freed)
                          : Kokkos::kokkos_free<pinned_memory>(freed);
  } catch (const std::exception&) {
  }
}

void backend::copy_bytes(const executor& where, const void* from, void* to,
                         std::size_t bytes) const {
  if constexpr (on_host) return serial::instance.copy_bytes(where, from, to, bytes);
  const auto lock = acquire();
  const space on = space_of(where);
  const bool from_host = kokkos::locate(from).host, to_host = kokkos::locate(to).host;
  if (from_host && to_host) {
    on.fence();
    std::memcpy(to, from, bytes);
  } else if (from_host) {
    copy<Kokkos::HostSpace, memory>(on, from, to, bytes);
  } else if (to_host) {
    copy<memory, Kokkos::HostSpace>(on, from, to, bytes);
  } else {
    copy<memory, memory>(on, from, to, bytes);
  }
}

void backend::pin(const executor&, void* at, std::size_t bytes) const {
  if constexpr (on_host) return;
  const auto lock = acquire();
  lock_pages(at, bytes);
}

void backend::unpin(const executor&, void* at) const {
  if constexpr (on_host) return;
  const auto lock = acquire();
  unlock_pages(at);
}

std::shared_ptr<const backends::backend> backend::make_staged(const executor&,
                                                              const workspace_options&) const {
  if constexpr (on_host) return nullptr;
  throw error(errc::invalid_argument,
              "tally::workspace: Kokkos runs on a device here; a workspace is one of cuda's");
}

// Outside Kokkos's kernels: Kokkos locks an instance of its execution space while a kernel runs, so
// a function that calls Kokkos, or waits for a thread that does, would deadlock.
void backend::for_each_part(const executor& where, const char* function, std::size_t size,
                            const part_calls& calls) const {
  if (!on_host) {
    throw error(errc::invalid_argument, std::string(function) + ": Kokkos runs on " +
                                            space::name() +
                                            " here, which can't call functions of the host: "
                                            "compile them for it, after <Kokkos_Core.hpp>");
  }
  (void)acquire();  // throws if unusable
#if TALLY_HAS_OPENMP && defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<space, Kokkos::OpenMP>) {  // its threads are OpenMP's
    return openmp::instance.for_each_part(where, function, size, calls);
  }
#endif
  serial::instance.for_each_part(where, function, size, calls);
}

void lend(const executor& where, void* result, std::size_t bytes, bool wait, std::size_t extra,
          void* context, void (*queue)(void*, const kokkos_queue&)) {
  locked([&] {
    const space on = space_of(where);
    const std::size_t before = (extra + 15) / 16 * 16;  // the result
    auto* const lent = static_cast<unsigned char*>(scratch(on, before + (wait ? bytes : 0)));
    queue(context, {&on, lent, wait ? lent + before : result});
    if (wait) {
      copy_to_host(on, lent + before, result, static_cast<int>(bytes));
      on.fence();
    }
  });
}

}  // namespace tally::backends::kokkos
