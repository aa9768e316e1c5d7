// Host memory that its address identifies, without a driver query.
#pragma once

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace tally::process_memory {

/// A half-open address range, empty by default.
struct range {
  std::uintptr_t begin = UINTPTR_MAX, end = 0;

  bool has(std::uintptr_t address) const noexcept { return begin <= address && address < end; }
};

/// Returns the program's static variables; not constants, nor those of libraries, which may be
/// unloaded.
inline range of_program() noexcept {
  const auto find = [](dl_phdr_info* object, std::size_t, void* found) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& segment = object->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
      const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      *static_cast<range*>(found) = {begin, begin + segment.p_memsz};
    }
    return 1;  // the program is the first object
  };
  range program;
  dl_iterate_phdr(find, &program);
  return program;
}

/// Returns the heap's begin, field 47 of /proc/self/stat; the highest address if unknown.
inline std::uintptr_t begin_of_heap() noexcept {
  constexpr std::uintptr_t nowhere = UINTPTR_MAX;
  std::array<char, 4096> text;
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return nowhere;
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  const std::string_view fields(text.data(), length < 0 ? 0 : static_cast<std::size_t>(length));
  // Field 2, the program's name, is in parentheses and arbitrary.
  std::size_t space = fields.rfind(')');
  for (int field = 2; field < 47 && space != fields.npos; ++field) {
    space = fields.find(' ', space + 1);
  }
  if (space == fields.npos) return nowhere;
  std::uintptr_t begin = 0;
  std::from_chars(fields.data() + space + 1, fields.data() + fields.size(), begin);
  return begin == 0 ? nowhere : begin;
}

/// Empty if unknown.
inline range of_this_stack() noexcept {
  range stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
    stack = {begin, begin + bytes};
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

/// Whether `pointer` is in the program's static variables, its heap (below the break) or the
/// calling thread's stack. Such memory stays the host's, registered with a device or not: drivers
/// reserve ranges of their own. Mapped memory, such as malloc's large blocks, may be unmapped and
/// its addresses reused.
///
/// The break moves, so it is read each time. A fiber's stack is unknown to the system, so this
/// frame must be on the thread's.
inline bool is_programs_own(const void* pointer) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  static const std::uintptr_t heap = begin_of_heap();
  if (address >= heap && address < reinterpret_cast<std::uintptr_t>(sbrk(0))) return true;
  static const range program = of_program();
  if (program.has(address)) return true;
  thread_local constinit bool is_known = false;
  thread_local constinit range stack;
  if (!is_known) {
    stack = of_this_stack();
    is_known = true;
  }
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return stack.begin <= frame && frame <= address && address < stack.end;
}

}  // namespace tally::process_memory
