// Memory of large tables.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <memory>
#include <new>

namespace tally::backends::simd {
namespace counting {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

struct huge_pages {
  void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{huge_page}); }
};
/// Memory of uninitialized numbers, on huge pages if Linux has them. Random accesses then need
/// fewer translations of addresses, and first ones fewer page faults (tuning/histogram.md:
/// table_memory).
template <class T>
using table_memory = std::unique_ptr<T[], huge_pages>;

template <class T>
table_memory<T> make_table(std::size_t n) {
  const std::size_t bytes = n * sizeof(T);
  void* const memory = ::operator new(bytes, std::align_val_t{huge_page});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= huge_page) (void)::madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  return table_memory<T>(static_cast<T*>(memory));
}

}  // namespace counting
}  // namespace tally::backends::simd
