// What of a process's memory is the host's for good is told by the address alone, without asking a
// driver.
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

/// Is addresses that lie side by side; by default there are none.
struct range {
  std::uintptr_t begin = UINTPTR_MAX, end = 0;

  bool has(std::uintptr_t address) const noexcept { return begin <= address && address < end; }
};

/// Returns where the program's static variables are. Those of libraries count as any memory, since
/// a library may be unloaded. What is constant lies apart and is left out.
inline range of_program() noexcept {
  const auto find = [](dl_phdr_info* object, std::size_t, void* found) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& segment = object->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
      const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      *static_cast<range*>(found) = {begin, begin + segment.p_memsz};
    }
    return 1;  // the program is the first object, and the only one that is asked for
  };
  range program;
  dl_iterate_phdr(find, &program);
  return program;
}

/// Returns where the heap begins; the kernel says so in field 47 of /proc/self/stat. Where there is
/// no such file, it returns an address above all others.
inline std::uintptr_t begin_of_heap() noexcept {
  constexpr std::uintptr_t nowhere = UINTPTR_MAX;
  std::array<char, 4096> text;
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return nowhere;
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  const std::string_view fields(text.data(), length < 0 ? 0 : static_cast<std::size_t>(length));
  // Field 2, the program's name, is in parentheses and may have any characters.
  std::size_t space = fields.rfind(')');
  for (int field = 2; field < 47 && space != fields.npos; ++field) {
    space = fields.find(' ', space + 1);
  }
  if (space == fields.npos) return nowhere;
  std::uintptr_t begin = 0;
  std::from_chars(fields.data() + space + 1, fields.data() + fields.size(), begin);
  return begin == 0 ? nowhere : begin;
}

/// Returns where the calling thread's stack is; there is none where nobody says it.
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

/// Says whether `pointer` is in the program's static variables, in its heap (below its break) or on
/// the calling thread's stack. Such memory can't become anything else, and the host reaches it,
/// registered with a device or not: a device's memory, or managed memory, lies in ranges that its
/// driver has reserved for itself. Mapped memory, which malloc's large blocks are, may be given
/// back and its addresses handed out to a device, so nothing can be remembered of it.
///
/// It takes some ns. The break is read each time, since it moves, and what is above it may become
/// anything. A fiber's stack is none that the system knows, so this frame must be on the thread's.
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
