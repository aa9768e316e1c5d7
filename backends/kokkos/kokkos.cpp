// Memory, and the caller's functions: of the host, by the host's backends. A device's memory is
// left to Kokkos.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"
#include "backends/serial/serial.hpp"
#if TALLY_HAS_OPENMP
#include "backends/openmp/openmp.hpp"
#endif

#include <tally/error.hpp>

#include <string>

namespace tally::backends::kokkos {
namespace {

/// Throws on a device.
void require_host(const char* function, const char* instead) {
  if (on_host) return;
  throw error(errc::invalid_argument,
              std::string(function) + ": Kokkos runs on a device here" + instead);
}

constexpr const char* runtime_pins = ", whose runtime pins memory";

}  // namespace

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

bool backend::reaches(const executor&, [[maybe_unused]] const place& p) const {
  if constexpr (on_host) {
    return p.host;
  } else {
#if defined(KOKKOS_ENABLE_CUDA) && TALLY_HAS_CUDA
    if constexpr (std::is_same_v<space, Kokkos::Cuda>) {
      const auto lock = acquire();
      return p.device == place::every || p.device == space().cuda_device();
    }
#endif
    return true;  // device addresses that the core can't tell from the host's
  }
}

void* backend::allocate(const executor& where, std::size_t bytes, reach who) const {
  require_host("tally::allocate", ", whose memory kokkos_malloc gives");
  return serial::instance.allocate(where, bytes, who);
}

void backend::deallocate(const executor& where, void* freed, reach who) const noexcept {
  serial::instance.deallocate(where, freed, who);
}

void backend::copy_bytes(const executor& where, const void* from, void* to,
                         std::size_t bytes) const {
  require_host("tally::copy_bytes", "; deep_copy copies its memory");
  serial::instance.copy_bytes(where, from, to, bytes);
}

void backend::pin(const executor&, void*, std::size_t) const {
  require_host("tally::pin", runtime_pins);
}

void backend::unpin(const executor&, void*) const { require_host("tally::unpin", runtime_pins); }

std::shared_ptr<const backends::backend> backend::make_staged(const executor&,
                                                              const workspace_options&) const {
  require_host("tally::workspace", "; a workspace is one of cuda's");
  return nullptr;
}

// Outside Kokkos's kernels: Kokkos locks an instance of its execution space while a kernel runs, so
// a function that calls Kokkos, or waits for a thread that does, would deadlock.
void backend::for_each_part(const executor& where, const char* function, std::size_t size,
                            const part_calls& calls) const {
  if (!on_host) {
    throw error(errc::invalid_argument, std::string(function) + ": Kokkos runs on " +
                                            space::name() +
                                            " here, which can't call functions of the host");
  }
  (void)acquire();  // throws if unusable
#if TALLY_HAS_OPENMP && defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<space, Kokkos::OpenMP>) {  // its threads are OpenMP's
    return openmp::instance.for_each_part(where, function, size, calls);
  }
#endif
  serial::instance.for_each_part(where, function, size, calls);
}

namespace {

/// Allocates for the longest, so that none fails after another has written.
void allocate_scratch(const multi_sum& a) {
  std::size_t longest = 0;
  for (std::size_t j = 0; j < a.pairs.size(); ++j) longest = std::max(longest, a.pairs[j].x.size);
  locked([&] { (void)scratch((1 + node_count(longest)) * sizeof(dot_sum<std::complex<double>>)); });
}

}  // namespace

void backend::multi_dot(const executor& where, const multi_sum& a) const {
  outside_regions([&] {
    allocate_scratch(a);
    multi_dot_in_turn(where, a);
  });
}

void backend::multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                             type computation, bool alpha_on_host, const multi_sum& sums) const {
  outside_regions([&] { allocate_scratch(sums); });
  backends::backend::multi_axpy_dot(where, update, computation, alpha_on_host, sums);
}

}  // namespace tally::backends::kokkos
