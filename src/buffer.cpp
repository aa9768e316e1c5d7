// Memory of executors. The default environment is set, since CUDA's driver raises floating-point
// exceptions, which may trap.
#include <tally/buffer.hpp>
#include <tally/error.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"

namespace tally {
namespace {

void check_executor(const check& check, const executor& where) {
  if (where.backend() != nullptr) return;
  check.fail(errc::invalid_argument, "the executor is automatic, which has no memory of its own");
}

void check_place(const check& check, const executor& where, const char* name, const void* pointer) {
  if (pointer == nullptr) check.fail(errc::null_pointer, name, " is null");
  if (!check::is_needed(where)) return;
  const backends::place memory = locate(pointer);
  if (!memory.host) check.reach(where, name, pointer);
}

}  // namespace

void* allocate(const executor& where, std::size_t bytes, reach who) {
  const backends::default_environment environment;
  const check check{"tally::allocate"};
  check_executor(check, where);
  check.enumerator("who", who, reach::kernels_and_host, "kinds of memory");
  if (bytes > max_elements) {
    check.fail(errc::out_of_memory, bytes, " bytes are more than there are");
  }
  return bytes == 0 ? nullptr : where.backend()->allocate(where, bytes, who);
}

void deallocate(const executor& where, void* memory, reach who) noexcept {
  const backends::default_environment environment;
  if (memory != nullptr && where.backend() != nullptr) {
    where.backend()->deallocate(where, memory, who);
  }
}

void copy_bytes(const executor& where, const void* from, void* to, std::size_t bytes) {
  const backends::default_environment environment;
  const check check{"tally::copy_bytes"};
  check_executor(check, where);
  if (bytes == 0) return;
  check_place(check, where, "from", from);
  check_place(check, where, "to", to);
  where.backend()->copy_bytes(where, from, to, bytes);
}

void pin(const executor& where, void* memory, std::size_t bytes) {
  const backends::default_environment environment;
  const check check{"tally::pin"};
  check_executor(check, where);
  if (memory == nullptr) check.fail(errc::null_pointer, "memory is null");
  if (bytes == 0) check.fail(errc::invalid_argument, "there are 0 bytes to pin");
  where.backend()->pin(where, memory, bytes);
}

void unpin(const executor& where, void* memory) {
  const backends::default_environment environment;
  const check check{"tally::unpin"};
  check_executor(check, where);
  if (memory == nullptr) check.fail(errc::null_pointer, "memory is null");
  where.backend()->unpin(where, memory);
}

}  // namespace tally
