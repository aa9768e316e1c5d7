// The caller's floating-point environment affects no result and is restored, and no call raises a
// signal: every operation on every executor.
#include "tests/golden.hpp"
#include "tests/operations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cfenv>
#include <complex>
#include <csignal>
#include <cstring>
#include <random>
#include <set>
#include <sstream>
#include <type_traits>

#if TALLY_HAS_OPENMP
#include <omp.h>
#endif
#if defined(__x86_64__)
#include <ucontext.h>
#include <xmmintrin.h>
#endif

namespace {

// --- The control register -------------------------------------------------------------------------

#if defined(__x86_64__)
using word = std::uint32_t;
constexpr word flush_results = 0x8000, flush_operands = 0x40, traps = 0x1f80, sticky = 0x3f;
constexpr bool a_set_bit_traps = false;

word control() { return _mm_getcsr(); }
void set_control(word value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
using word = std::uint64_t;
// For float, double and half precision; sticky flags have another register.
constexpr word flush_results = 1u << 24, flush_operands = 1u << 19, traps = 0x9f00, sticky = 0;
constexpr bool a_set_bit_traps = true;

word control() {
  word value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_control(word value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#elif defined(__GLIBC__)
using word = int;
// FE_ALL_EXCEPT shares no bit with the rounding modes where the processor traps: POWER, IBM Z.
constexpr word flush_results = 0, flush_operands = 0, traps = FE_ALL_EXCEPT, sticky = 0;
constexpr bool a_set_bit_traps = true;

word control() { return std::fegetround() | fegetexcept(); }
void set_control(word value) {
  fedisableexcept(FE_ALL_EXCEPT);
  feenableexcept(value & traps);
}
#else
using word = int;
constexpr word flush_results = 0, flush_operands = 0, traps = FE_ALL_EXCEPT, sticky = 0;
constexpr bool a_set_bit_traps = true;

word control() { return std::fegetround(); }
void set_control(word) {}
#endif

struct environment {
  int rounding = FE_TONEAREST;
  word flush = 0;
  bool has_traps = false;

  void set() const {
    std::fesetround(rounding);
#if defined(__GLIBC__) && !defined(__aarch64__)
    if (has_traps) {  // also x87; what earlier tests have raised would trap there and on POWER
      std::feclearexcept(FE_ALL_EXCEPT);
      feenableexcept(FE_ALL_EXCEPT);
    }
#endif
    const word flushing = control() | flush;
    set_control(has_traps == a_set_bit_traps ? flushing | traps : flushing & ~traps);
  }

  friend std::ostream& operator<<(std::ostream& out, const environment& e) {
    return out << "rounding mode " << e.rounding << (e.flush & flush_results ? ", FTZ" : "")
               << (e.flush & flush_operands ? ", DAZ" : "")
               << (e.has_traps ? ", traps unmasked" : "");
  }
};

/// Whether the processor can trap: most ARM ones, and QEMU, ignore the bits.
bool can_trap() {
  static const bool found = [] {
    std::fenv_t before;
    std::fegetenv(&before);
    environment{FE_TONEAREST, 0, true}.set();
    const word set_bits = control() & traps;
    std::fesetenv(&before);
    return set_bits == (a_set_bit_traps ? traps : 0);
  }();
  return found;
}

std::vector<environment> environments() {
  std::vector<environment> all;
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (const word flush :
         std::set<word>{0, flush_results, flush_operands, flush_results | flush_operands}) {
      all.push_back({rounding, flush, false});
      if (can_trap()) all.push_back({rounding, flush, true});
    }
  }
  return all;
}

// --- Threads --------------------------------------------------------------------------------------

#if TALLY_HAS_OPENMP
void set_in_threads(const environment& e, int threads) {
#pragma omp parallel num_threads(threads)
  {
    std::fesetenv(FE_DFL_ENV);
    e.set();
  }
}

/// Returns the control word of the first other thread in a parallel region. (LLVM's OpenMP hands on
/// the caller's each time.)
word control_of_thread() {
  word found = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) found = control();
  return found;
}
#endif

// --- Signals --------------------------------------------------------------------------------------

volatile std::sig_atomic_t signals = 0;

/// Notes the signal, and masks all exceptions, so that the instruction succeeds.
[[maybe_unused]] void note_signal(int, siginfo_t*, [[maybe_unused]] void* context) {
  signals = signals + 1;
#if defined(__x86_64__)
  static_cast<ucontext_t*>(context)->uc_mcontext.fpregs->mxcsr |= traps;
  static_cast<ucontext_t*>(context)->uc_mcontext.fpregs->cwd |= 0x3f;
#else
  std::_Exit(1);
#endif
}

// --- The tests ------------------------------------------------------------------------------------

template <class Fixture>
class InEnvironments : public Fixture {
 protected:
  void SetUp() override {
    Fixture::SetUp();
    struct sigaction action = {};
    action.sa_sigaction = note_signal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGFPE, &action, &before_);
  }
  void TearDown() override {
    restore();
    sigaction(SIGFPE, &before_, nullptr);
  }

  void restore() const {
    std::fesetenv(&standard_);
    set_control(standard_control_);
  }

  /// Calls f in `e`, which must be unchanged afterwards, without a signal.
  template <class F>
  void call_in(const environment& e, const std::string& name, const F& f) {
    signals = 0;
    e.set();
    std::feraiseexcept(e.has_traps ? 0 : FE_DIVBYZERO);
    const word before = control();
    f();
    const word after = control();
    const bool is_raised = e.has_traps || std::fetestexcept(FE_DIVBYZERO);
    restore();
    if (signals == 0) {  // then the handler has changed it
      EXPECT_EQ(after & ~sticky, before & ~sticky) << name << ", " << e;
    }
    EXPECT_EQ(signals, 0) << name << ", " << e;
    EXPECT_TRUE(is_raised) << name << ", " << e;
  }

 private:
  struct sigaction before_ = {};
  std::fenv_t standard_ = [] {
    std::fenv_t now;
    std::fegetenv(&now);
    return now;
  }();
  word standard_control_ = control();
};

class Environment : public InEnvironments<data::OnEveryExecutor> {
 protected:
  void test_operations(std::size_t n);
};
using EnvironmentOfTheHost = InEnvironments<testing::Test>;

/// Tested pairs: all environments with subnormal products; rounding modes with plain elements,
/// flushing with subnormal ones, traps, if there are any, with overflowing products.
bool are_together(operations::values m, const environment& e) {
  switch (m) {
    case operations::values::plain:
      return e.flush == 0;
    case operations::values::subnormal:
      return e.rounding == FE_TONEAREST;
    case operations::values::huge:
      return e.flush == 0 && e.has_traps == can_trap();
    default:
      return true;
  }
}

void Environment::test_operations(std::size_t n) {
  for (const auto m : {operations::values::plain, operations::values::tiny,
                       operations::values::subnormal, operations::values::huge}) {
    const operations::list all(n, m);
    std::vector<std::unique_ptr<operations::prepared>> calls;
    std::vector<std::vector<std::byte>> wanted;
    std::vector<std::string> names;
    for (const operations::operation& each : all) {
      if (!operations::runs(each, where())) continue;
      calls.push_back(std::make_unique<operations::prepared>(each, where()));
      calls.back()->run();
      wanted.push_back(calls.back()->results());
      names.push_back(each.name + " of " + operations::name(m) + " elements");
    }
    for (const environment& e : environments()) {
      if (!are_together(m, e)) continue;
#if TALLY_HAS_OPENMP
      const int threads = where().threads();
      word before = 0;
      if (threads > 1) {
        set_in_threads(e, threads);
        restore();
        before = control_of_thread();
      }
#endif
      for (std::size_t i = 0; i < calls.size(); ++i) {
        calls[i]->reset();
        call_in(e, names[i], [&] { calls[i]->run(); });
        EXPECT_TRUE(calls[i]->results() == wanted[i]) << names[i] << ", " << e;
      }
#if TALLY_HAS_OPENMP
      if (threads > 1) {
        EXPECT_EQ(control_of_thread() & ~sticky, before & ~sticky) << "a thread, " << e;
        set_in_threads({}, threads);
        restore();
      }
#endif
    }
  }
}

/// Two chunks, a row of lanes and a part of one.
TEST_ON_EVERY_EXECUTOR(Environment, ReachesNoOperation) { test_operations(2 * 1024 + 64 + 36); }

/// Short vectors may take another path.
TEST_ON_EVERY_EXECUTOR(Environment, ReachesNoShortOperation) { test_operations(100); }

/// Results of level one called with types, whose kernels find the environment themselves.
template <class T>
std::vector<T> level_one(const tally::executor& where, const std::vector<T>& x,
                         const std::vector<T>& y) {
  std::vector<T> all = {tally::dot(where, x, y),   tally::sum(where, x),
                        tally::asum(where, x),     tally::nrm2(where, x),
                        tally::max_norm(where, x), tally::sum_of_squares(where, x),
                        T(tally::iamax(where, x))};
  const auto keep = [&](const auto& update) {
    std::vector<T> z = y;
    update(z);
    all.insert(all.end(), z.begin(), z.end());
  };
  const T factor(0.3);
  keep([&](auto& z) { tally::axpy(where, factor, x, z); });
  keep([&](auto& z) { tally::axpy(where, factor, z, z); });
  keep([&](auto& z) { tally::scal(where, factor, z); });
  keep([&](auto& z) { tally::axpby(where, factor, x, factor, z); });
  keep([&](auto& z) { tally::add(where, x, y, z); });
  keep([&](auto& z) { tally::mul(where, x, z, z); });
  std::vector<T> held = x;
  keep([&](auto& z) { tally::swap(where, held, z); });
  all.insert(all.end(), held.begin(), held.end());
  return all;
}

/// Plain, subnormal and huge numbers, and NaNs among plain ones, quiet or not, of either sign.
template <class T>
std::vector<T> elements(std::size_t n, int kind, unsigned seed) {
  using limits = std::numeric_limits<T>;
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937 random(seed);
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    all[i] = std::uniform_real_distribution<T>(-1, 1)(random);
    if (kind == 1) all[i] = std::ldexp(all[i], limits::min_exponent - 2);
    if (kind == 2) all[i] = std::ldexp(all[i], limits::max_exponent);
    if (kind == 3 && (i + seed) % 11 == n % 11) {
      const bits quiet = static_cast<bits>(i % 2) << (limits::digits - 2),
                 sign = static_cast<bits>(i / 2 % 2) << (8 * sizeof(T) - 1);
      const bits nan = std::bit_cast<bits>(limits::infinity()) | sign | quiet | 5;
      std::memcpy(&all[i], &nan, sizeof nan);
    }
  }
  return all;
}

template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b, const std::string& text) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0) << text;
}

TEST_ON_EVERY_EXECUTOR(Environment, ReachesNoShortCallWithTypes) {
  if (data::on_device(where())) GTEST_SKIP() << "the host's environment is not the device's";
  const auto check = [&]<class T>(std::type_identity<T>, std::size_t n) {
    for (const int kind : {0, 1, 2, 3}) {
      const auto x = elements<T>(n, kind, 1), y = elements<T>(n, kind, 2);
      const auto wanted = level_one(tally::serial(), x, y);
      const std::string text = std::to_string(8 * sizeof(T)) + "-bit numbers, " +
                               std::to_string(n) + " of kind " + std::to_string(kind);
      for (const environment& e : environments()) {
        std::vector<T> got;
        call_in(e, text, [&] { got = level_one(where(), x, y); });
        expect_same_bits(got, wanted, text);
      }
    }
  };
  const auto check_size = [&](std::size_t n) {
    check(std::type_identity<float>{}, n);
    check(std::type_identity<double>{}, n);
  };
  for (std::size_t n = 1; n <= 70; ++n) check_size(n);
  for (const std::size_t n : {100, 127, 130, 256, 257, 300, 1025}) check_size(n);
}

TEST_ON_EVERY_EXECUTOR(Environment, ReachesNoMemory) {
  const std::vector<double> x(30'000, 1.0);
  std::vector<double> y(1000);
  for (const environment& e : environments()) {
    if (e.has_traps != can_trap() || e.flush != 0) continue;
    if (data::has_workspaces(where())) {
      double sum = 0;
      call_in(e, "a workspace", [&] {
        const tally::workspace through(where(), {tally::workspace_options::min_stage_bytes, 2});
        sum = tally::sum(through.executor(), x, tally::exact);
        tally::workspace other(where(), {tally::workspace_options::min_stage_bytes, 1});
        other = tally::workspace(where(), {tally::workspace_options::min_stage_bytes, 1});
      });
      EXPECT_EQ(sum, 30'000);
    }
    call_in(e, "memory", [&] {
      for (const tally::reach who : {tally::reach::kernels, tally::reach::kernels_and_host}) {
        const tally::buffer made(where(), 8000, who);
        tally::copy_bytes(where(), x.data(), made.get(), 8000);
      }
    });
    call_in(e, "pinned memory", [&] {
      tally::pin(where(), y.data(), 8000);
      tally::unpin(where(), y.data());
    });
  }
}

TEST_ON_EVERY_EXECUTOR(Environment, ReachesNoError) {
  const std::vector<float> edges = {0, 0x1p-140f, 0x1.8p-141f, 0x1p-139f};  // unsorted
  std::array<std::int64_t, 3> counts = {};
  const data::buffer samples(where(), sizeof(float)), output(where(), sizeof counts);
  tally::histogram_arguments a;
  a.what = tally::binning::edges;
  a.x = {samples.get(), 1, 1, tally::type::float32};
  a.edges = tally::as_operand(edges);
  a.counts = {output.get(), counts.size(), 1, tally::type::int64};
  const auto message = [&]() -> std::string {
    try {
      tally::histogram(where(), a);
    } catch (const tally::error& error) {
      return error.what();
    }
    return "none";
  };
  const std::string wanted = message();
  EXPECT_NE(wanted, "none");
  for (const environment& e : environments()) {
    std::string text;
    call_in(e, "an error", [&] { text = message(); });
    EXPECT_EQ(text, wanted) << e;
  }
}

// --- What no executor runs ------------------------------------------------------------------------

TEST_F(EnvironmentOfTheHost, ReachesNoReader) {
  const std::string file =
      "%%MatrixMarket matrix coordinate real general\n"
      "2 2 4\n1 1 0.1\n1 2 1e-310\n2 1 2.4703282292062328e-324\n2 2 -1e-40\n";
  const auto read = [&] {
    std::istringstream doubles(file), floats(file);
    const auto a = tally::read_matrix_market(doubles);
    const auto b = tally::read_matrix_market<float>(floats);
    std::vector<std::uint64_t> bits;
    for (const double v : a.values) bits.push_back(std::bit_cast<std::uint64_t>(v));
    for (const float v : b.values) bits.push_back(std::bit_cast<std::uint32_t>(v));
    return bits;
  };
  const auto wanted = read();
  for (const environment& e : environments()) {
    std::vector<std::uint64_t> bits;
    call_in(e, "read_matrix_market", [&] { bits = read(); });
    EXPECT_EQ(bits, wanted) << e;
  }
}

TEST_F(EnvironmentOfTheHost, ReachesNoExactSum) {
  const std::vector<double> x = {0.1, 0x1p-1074, -0x1p-1050, 1e300, 0x1.8p-540},
                            y = {3, 0.7, 0x1p-1074, -1e10, 0x1.8p-530};
  const std::vector<float> floats = {0.1f, 0x1p-149f, -0x1p-130f};
  const auto sum = [&] {
    tally::exact_sum<double> wide;
    wide.add(x);
    wide.add_products(x, y);
    wide.add_scaled(3, -2000);
    for (const float v : floats) wide.add(v), wide.add_product(v, v);
    tally::exact_sum<float> narrow;
    narrow.add(floats);
    narrow.add_products(floats, floats);
    auto merged = tally::exact_sum<double>::from_words(wide.to_words());
    merged.merge(wide);
    std::vector<std::uint64_t> bits;
    for (const double v : {wide.round<double>(), merged.round<double>(), narrow.round<double>(),
                           wide.round_root<double>(), narrow.round_root<double>()}) {
      bits.push_back(std::bit_cast<std::uint64_t>(v));
    }
    for (const float v : {wide.round<float>(), narrow.round<float>(), narrow.round_root<float>()}) {
      bits.push_back(std::bit_cast<std::uint32_t>(v));
    }
    for (const std::int64_t limb : wide.to_words()) {
      bits.push_back(static_cast<std::uint64_t>(limb));
    }
    bits.push_back(wide < merged);
    return bits;
  };
  const auto wanted = sum();
  for (const environment& e : environments()) {
    std::vector<std::uint64_t> bits;
    call_in(e, "exact_sum", [&] { bits = sum(); });
    EXPECT_EQ(bits, wanted) << e;
  }
}

TEST_F(EnvironmentOfTheHost, ReachesNoExecutor) {
  std::vector<std::string> wanted;
  for (const tally::executor& each : tally::executors()) wanted.push_back(each.description());
  for (const environment& e : environments()) {
    std::vector<std::string> descriptions;
    call_in(e, "executors", [&] {
      for (const tally::executor& each : tally::executors()) {
        descriptions.push_back(each.description());
      }
    });
    EXPECT_EQ(descriptions, wanted) << e;
  }
}

}  // namespace
