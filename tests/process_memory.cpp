// Facts that an address alone proves must hold whatever the address was before.
#include "src/process_memory.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace {

using tally::process_memory::is_programs_own;

double initialised[4] = {1, 2, 3, 4};
double zeros[4096];

std::byte* map(void* where, std::size_t bytes, int flags) {
  void* const memory =
      mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

TEST(ProcessMemory, StaticVariables) {
  static double local[4];
  EXPECT_TRUE(is_programs_own(initialised));
  EXPECT_TRUE(is_programs_own(zeros));
  EXPECT_TRUE(is_programs_own(zeros + 4095));
  EXPECT_TRUE(is_programs_own(local));
}

// (Sanitizers may move local variables, so a frame's address stands for them.)
TEST(ProcessMemory, TheCallingThreadsStack) {
  const void* const frame = __builtin_frame_address(0);
  EXPECT_TRUE(is_programs_own(frame));
  const void* of_thread = nullptr;
  std::thread([&] {
    of_thread = __builtin_frame_address(0);
    EXPECT_TRUE(is_programs_own(of_thread));
    EXPECT_FALSE(is_programs_own(frame));
    EXPECT_TRUE(is_programs_own(zeros));
  }).join();
  EXPECT_FALSE(is_programs_own(of_thread));
}

TEST(ProcessMemory, MappedMemoryIsNot) {
  std::byte* const memory = map(nullptr, 1 << 20, 0);
  ASSERT_NE(memory, nullptr);
  EXPECT_FALSE(is_programs_own(memory));
  EXPECT_FALSE(is_programs_own(memory + (1 << 19)));
  munmap(memory, 1 << 20);
  EXPECT_FALSE(is_programs_own(memory));
  ASSERT_EQ(map(memory, 1 << 20, MAP_FIXED_NOREPLACE), memory);
  EXPECT_FALSE(is_programs_own(memory));
  munmap(memory, 1 << 20);
}

// Former heap may become device memory once the break goes down.
TEST(ProcessMemory, TheHeapUpToItsBreak) {
  if (tally::process_memory::begin_of_heap() == UINTPTR_MAX) {
    GTEST_SKIP() << "nobody says where the heap begins";
  }
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const auto bytes = static_cast<std::intptr_t>(2 * page);
  if (sbrk(bytes) == reinterpret_cast<void*>(-1)) GTEST_SKIP() << "the heap can't grow";
  const auto* const raised = reinterpret_cast<std::byte*>((before + page - 1) / page * page);
  const bool is_own = is_programs_own(raised), is_own_behind = is_programs_own(raised + 2 * page);
  sbrk(-bytes);
  const bool is_own_after = is_programs_own(raised);
  std::byte* const mapped = map(const_cast<std::byte*>(raised), page, MAP_FIXED_NOREPLACE);
  const bool is_own_mapped = is_programs_own(raised);
  if (mapped != nullptr) munmap(mapped, page);
  EXPECT_TRUE(is_own);
  EXPECT_FALSE(is_own_behind);
  EXPECT_FALSE(is_own_after);
  EXPECT_EQ(mapped, raised);
  EXPECT_FALSE(is_own_mapped);
}

TEST(ProcessMemory, NothingIsAtNull) {
  EXPECT_FALSE(is_programs_own(nullptr));
  EXPECT_FALSE(is_programs_own(reinterpret_cast<const void*>(UINTPTR_MAX)));
}

}  // namespace
