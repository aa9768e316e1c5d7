// Executors: the list, names, and that a requested one runs.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <set>

#if defined(__linux__) && defined(__x86_64__)
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <filesystem>
#endif

namespace {

TEST(Executors, SerialIsFirstAndNamesAreUnique) {
  const auto all = tally::executors();
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].name(), "serial");
  EXPECT_EQ(all[1].name(), "simd");
  std::set<std::string_view> names;
  for (const auto& where : all) {
    EXPECT_TRUE(names.insert(where.name()).second) << where.name();
    EXPECT_TRUE(where.description().starts_with(where.name()));
  }
}

TEST(Executors, AreMadeByTheirNames) {
  const auto names = tally::backend_names();
  auto name = names.begin();
  for (const auto& where : tally::executors()) {
    name = std::find(name, names.end(), where.name());
    ASSERT_NE(name, names.end()) << where.name() << " stands in both lists, in one order";
    EXPECT_EQ(tally::executor_named(where.name()), where);
  }
  EXPECT_EQ(tally::executor_named("automatic"), tally::automatic());
}

TEST(Executors, AreThoseThatTheBuildHas) {
  const auto names = tally::backend_names();
  const std::set<std::string_view> built(names.begin(), names.end());
  EXPECT_EQ(built.size(), names.size());
  EXPECT_TRUE(built.contains("serial") && built.contains("simd"));
  EXPECT_EQ(built.contains("openmp"), TALLY_HAS_OPENMP == 1);
  EXPECT_EQ(built.contains("cuda"), TALLY_HAS_CUDA == 1);
  EXPECT_EQ(built.contains("kokkos"), TALLY_HAS_KOKKOS == 1);
}

TEST(Executors, AnUnknownNameIsAnErrorThatSaysWhichThereAre) {
  for (const std::string_view name : {"", "Serial", "serial ", "gpu"}) {
    try {
      tally::executor_named(name);
      ADD_FAILURE() << name;
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), tally::errc::missing_backend);
      std::string text = "tally::executor_named: there is no backend " + std::string(name) +
                         "; there are automatic";
      for (const std::string_view built : tally::backend_names()) text += ", " + std::string(built);
      EXPECT_EQ(e.what(), text);
    }
  }
}

TEST(Executors, AreSmallValues) {
  static_assert(std::is_trivially_copyable_v<tally::executor>);
  static_assert(sizeof(tally::executor) <= 32);
  EXPECT_EQ(tally::serial(), tally::serial());
  EXPECT_FALSE(tally::serial() == tally::simd());
  EXPECT_EQ(tally::automatic().name(), "automatic");
}

TEST(Executors, AForcedInstructionSetIsTheOneNamed) {
  const auto sets = tally::instruction_sets();
  ASSERT_FALSE(sets.empty());
  for (const auto set : sets) {
    const auto where = tally::simd({.instructions = set});
    EXPECT_EQ(where.instructions(), set);
    EXPECT_FALSE(where.chooses_instructions());
    EXPECT_EQ(where.description(), "simd (" + std::string(tally::name(set)) + ")");
  }
  EXPECT_TRUE(tally::simd().chooses_instructions());
  EXPECT_TRUE(tally::automatic().chooses_instructions());
  // The widest, or AVX2 where AVX-512 runs in halves, or NEON where SVE's vectors are as long.
  using enum tally::instruction_set;
  const auto chosen = tally::simd().instructions();
  EXPECT_TRUE(chosen == sets.back() || (chosen == avx2 && sets.back() == avx512) ||
              (chosen == neon && sets.back() == sve));
}

TEST(Executors, AnInstructionSetThatIsNotHereIsAnError) {
  using enum tally::instruction_set;
  const auto here = tally::instruction_sets();
  for (const auto set : {sse4, avx2, avx512, neon, sve, rvv}) {
    if (std::find(here.begin(), here.end(), set) != here.end()) continue;
    try {
      tally::simd({.instructions = set});
      ADD_FAILURE() << tally::name(set);
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), tally::errc::no_device);
      EXPECT_NE(std::string(e.what()).find(tally::name(set)), std::string::npos) << e.what();
    }
  }
}

#if defined(__linux__) && defined(__x86_64__)

// All backends have the same bits: only a fault reveals which one ran. A child process runs the
// kernel into a protected page; the faulting instruction is the kernel's load.

/// The faulting load, as the child's exit status.
enum fault : int { no_fault = 1, legacy_sse, vex, evex };

void on_fault(int, siginfo_t*, void* context) {
  const auto address = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const unsigned char first = *reinterpret_cast<const unsigned char*>(address);
  _exit(first == 0x62 ? evex : first == 0xc4 || first == 0xc5 ? vex : legacy_sse);
}

int fault_of(const tally::executor& where) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t readable = 4 * page;
  auto* const memory = static_cast<char*>(
      mmap(nullptr, readable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + readable, page, PROT_NONE);
  const pid_t child = fork();
  if (child == 0) {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    const auto x =
        tally::strided(reinterpret_cast<const double*>(memory), (readable + page) / 8, 1);
    tally::dot(where, x, x);
    _exit(no_fault);
  }
  int status = 0;
  waitpid(child, &status, 0);
  munmap(memory, readable + page);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ExecutorsReallyRun, TheForcedInstructionSet) {
  using enum tally::instruction_set;
  for (const auto set : tally::instruction_sets()) {
    const int want = set == avx512 ? evex : set == avx2 ? vex : legacy_sse;
    EXPECT_EQ(fault_of(tally::simd({.instructions = set})), want) << tally::name(set);
  }
  EXPECT_EQ(fault_of(tally::serial()), legacy_sse);
}

#if TALLY_HAS_OPENMP
TEST(ExecutorsReallyRun, AsManyThreadsAsAskedFor) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const std::vector<double> x(1000003, 1.0);
  EXPECT_EQ(tally::dot(tally::openmp({.threads = 7}), x, x), 1000003.0);
  EXPECT_GE(threads(), 7);  // OpenMP keeps its last region's threads
}
#endif

#endif  // Linux on x86-64

}  // namespace
