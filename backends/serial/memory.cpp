// Host memory, for all backends of the host.
#include "backends/serial/serial.hpp"

#include <cstring>
#include <new>

namespace tally::backends::serial {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

void* allocate(const executor&, std::size_t bytes, reach) {
  return ::operator new(bytes, alignment);
}

void deallocate(const executor&, void* memory, reach) noexcept {
  ::operator delete(memory, alignment);
}

void copy_bytes(const executor&, const void* from, void* to, std::size_t bytes) {
  std::memmove(to, from, bytes);
}

void pin(const executor&, void*, std::size_t) {}

void unpin(const executor&, void*) {}

std::shared_ptr<const backend> make_staged(const executor&, const workspace_options&) {
  return nullptr;
}

}  // namespace tally::backends::serial
