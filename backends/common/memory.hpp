// Memory of large tables.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <memory>
#include <new>

namespace tally::backends {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

struct aligned_delete {
  std::align_val_t alignment{64};
  void operator()(void* memory) const { ::operator delete(memory, alignment); }
};
/// Memory of uninitialized numbers, on huge pages if it is large and Linux has them. Random
/// accesses then need fewer translations of addresses, and first ones fewer page faults
/// (tuning/histogram.md: table_memory). A small table is not aligned so: malloc would map and unmap
/// its pages each time.
template <class T>
using table_memory = std::unique_ptr<T[], aligned_delete>;

inline aligned_delete table_alignment(std::size_t bytes) {
  return {std::align_val_t{bytes >= huge_page ? huge_page : 64}};
}

template <class T>
table_memory<T> make_table(std::size_t n) {
  const std::size_t bytes = n * sizeof(T);
  const bool is_large = bytes >= huge_page;
  const std::align_val_t alignment = table_alignment(bytes).alignment;
  void* const memory = ::operator new(bytes, alignment);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (is_large) (void)::madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  return table_memory<T>(static_cast<T*>(memory), aligned_delete{alignment});
}

}  // namespace tally::backends
