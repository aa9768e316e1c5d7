#include "src/check.hpp"

#include <array>

namespace tally {
namespace {

std::string describe(const backends::place& memory) {
  using backends::place;
  if (memory.device == place::none) return "host memory";
  if (memory.device == place::every) return "memory shared by the host and CUDA devices";
  return "the memory of CUDA device " + std::to_string(memory.device);
}

}  // namespace

backends::place locate([[maybe_unused]] const void* pointer) noexcept {
#if TALLY_HAS_CUDA
  if (memory_differs()) return backends::cuda::locate(pointer);
#endif
  return {};
}

void check::fail_type(const char* name, type element) const {
  fail(errc::unsupported_type, name, " has element type ", static_cast<int>(element), "; there are ",
       type_count);
}

void check::reach(const executor& where, const char* name, const void* pointer) const {
  // Asking CUDA about a pointer takes 100 ns, more than a short call. So each thread remembers pages
  // that it found in host memory, for the backends on the host. Were such a page given back and the
  // address then handed out for device memory, the call would fault instead of throwing.
  constexpr std::size_t page = 4096;
  thread_local std::array<std::uintptr_t, 64> host_pages{};
  const auto number = reinterpret_cast<std::uintptr_t>(pointer) / page;
  std::uintptr_t& remembered = host_pages[number % host_pages.size()];
  const bool on_host = &where.backend()->reaches == &backends::host_reaches;
  if (on_host && remembered == number) return;

  const backends::place memory = locate(pointer);
  if (memory.host) remembered = number;
  if (!where.backend()->reaches(where, memory)) {
    fail(errc::wrong_memory, name, " is in ", describe(memory), ", which ", where.description(),
         " can't reach");
  }
}

}  // namespace tally
