#include "src/check.hpp"


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
  const backends::place memory = locate(pointer);
  if (!where.backend()->reaches(where, memory)) {
    fail(errc::wrong_memory, name, " is in ", describe(memory), ", which ", where.description(),
         " can't reach");
  }
}

}  // namespace tally
