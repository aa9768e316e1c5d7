// Operands at a protected page: no operation reads or writes past them, for any types and length.
// An access ends the program.
#include "tests/matrices.hpp"
#include "tests/operations.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace {

using tally::elementwise;
using tally::operand;
using tally::type;

enum class end { first, last };

/// Memory between two inaccessible pages.
class guarded_memory {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 18;  // a multiple of any page

  guarded_memory() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = static_cast<std::byte*>(mmap(nullptr, capacity + 2 * page_, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_, page_, PROT_NONE) != 0 ||
        mprotect(memory_ + page_ + capacity, page_, PROT_NONE) != 0) {
      throw std::system_error(errno, std::generic_category(), "pages that can't be touched");
    }
  }
  ~guarded_memory() { munmap(memory_, capacity + 2 * page_); }
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  /// Places the bytes at one of the pages.
  std::span<std::byte> hold(const std::vector<std::byte>& bytes, end at) {
    EXPECT_LE(bytes.size(), capacity);
    std::byte* const to = memory_ + page_ + (at == end::first ? 0 : capacity - bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return {to, bytes.size()};
  }

 private:
  std::size_t page_;
  std::byte* memory_;
};

/// The current call, for a debugger or a core dump.
std::string current;

extern "C" void tell_what_is_called(int signal) {
  constexpr char text[] = "beyond an operand's end: ";
  [[maybe_unused]] auto written = write(STDERR_FILENO, text, sizeof text - 1);
  written = write(STDERR_FILENO, current.data(), current.size());
  written = write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
}

class PageEnds : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    OnEveryExecutor::SetUp();
    if (IsSkipped()) return;
    if (data::on_device(where())) GTEST_SKIP() << "its memory has no pages that can be protected";
    before_ = std::signal(SIGSEGV, tell_what_is_called);
    is_told_ = true;
  }
  void TearDown() override {
    if (is_told_) std::signal(SIGSEGV, before_);
  }

  std::span<std::byte> hold(std::size_t place, const std::vector<std::byte>& bytes, end at) {
    while (memory_.size() <= place) memory_.push_back(std::make_unique<guarded_memory>());
    return memory_[place]->hold(bytes, at);
  }

  /// Calls f for each end of the operands and lengths around every vector width.
  template <class F>
  static void for_each_length(const F& f) {
    for (const end at : {end::last, end::first}) {
      for (std::size_t n = 0; n <= 70; ++n) f(n, at);
      for (const std::size_t n : {127, 129, 255, 258, 301}) f(n, at);
    }
  }

 private:
  std::vector<std::unique_ptr<guarded_memory>> memory_;
  bool is_told_ = false;
  void (*before_)(int) = nullptr;
};

TEST_ON_EVERY_EXECUTOR(PageEnds, OfEveryOperationAreNotPassed) {
  for_each_length([&](std::size_t n, end at) {
    if (n == 0) return;  // the minimum of nothing is an error
    for (const operations::operation& each : operations::list(n)) {
      if (!operations::runs(each, where())) continue;
      operations::prepared reference(each, tally::serial());
      reference.run();
      operations::arguments mine;
      mine.constants = each.constants;
      std::size_t place = 0;
      for (const auto& input : each.inputs) mine.inputs.push_back(hold(place++, input.bytes, at));
      for (const auto& output : each.outputs) mine.outputs.push_back(hold(place++, output, at));
      current = each.name + " of " + std::to_string(n) + " elements";
      each.call(where(), mine);
      std::vector<std::byte> results(mine.returned.begin(), mine.returned.end());
      for (const auto& output : mine.outputs) {
        results.insert(results.end(), output.begin(), output.end());
      }
      ASSERT_EQ(results, reference.results()) << current;
    }
  });
}

TEST_ON_EVERY_EXECUTOR(PageEnds, OfDotProductsOfAllTypesAreNotPassed) {
  struct types {
    type x, y, result;
  };
  std::vector<types> all;
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    data::for_each_type([&]<class Y>(std::type_identity<Y>) {
      all.push_back(
          {tally::type_of<X>, tally::type_of<Y>, tally::type_of<tally::dot_result_t<X, Y>>});
    });
  });
  for_each_length([&](std::size_t n, end at) {
    for (const types& t : all) {
      const operand x{hold(0, data::random_bytes(t.x, n, 1, data::kind::plain), at).data(), n, 1,
                      t.x};
      const operand y{hold(1, data::random_bytes(t.y, n, 2, data::kind::plain), at).data(), n, 1,
                      t.y};
      current = "dot of " + std::to_string(n) + " " + std::string(tally::name(t.x)) + " and " +
                std::string(tally::name(t.y));
      std::array<std::byte, 16> results[2] = {};
      tally::dot(where(), {x, y, tally::conjugate::none, {results[0].data(), t.result}});
      tally::dot(tally::serial(), {x, y, tally::conjugate::none, {results[1].data(), t.result}});
      ASSERT_EQ(results[0], results[1]) << current;
    }
  });
}

TEST_ON_EVERY_EXECUTOR(PageEnds, OfFunctionsOfAllTypesAreNotPassed) {
  for_each_length([&](std::size_t n, end at) {
    for (std::size_t t = 0; t < tally::type_count; ++t) {
      const auto element = static_cast<type>(t);
      const auto bytes = [&](std::uint64_t seed) {
        return data::random_bytes(element, n, seed, data::kind::plain);
      };
      const operand x{hold(0, bytes(1), at).data(), n, 1, element};
      const operand y{hold(1, bytes(2), at).data(), n, 1, element};
      for (int f = 0; f <= static_cast<int>(tally::last_elementwise); ++f) {
        const auto what = static_cast<elementwise>(f);
        const bool exists = tally::detail::takes(what, element) &&
                            tally::detail::gives(what, element, element, element, element);
        if (what == elementwise::where && tally::is_complex(element)) continue;  // no mask
        if (!exists || (what == elementwise::fill && element == type::boolean)) continue;
        current = "function " + std::to_string(f) + " of " + std::to_string(n) + " " +
                  std::string(tally::name(element));
        std::vector<std::byte> results[2];
        for (const bool mine : {true, false}) {
          const auto z = hold(2, bytes(3), at);
          tally::transform(mine ? where() : tally::serial(),
                           {what, 3, 2, x, y, {z.data(), n, 1, element}, 1, y});
          results[mine].assign(z.begin(), z.end());
        }
        ASSERT_EQ(results[0], results[1]) << current;
      }
    }
  });
}

// Plans of these have slices of adjacent rows, whose vectors reach past short groups.
TEST_ON_EVERY_EXECUTOR(PageEnds, OfMatricesWithPlansAreNotPassed) {
  const auto compare = [&]<class W>(const matrices::pattern& p, W) {
    const auto random = [](std::size_t n, std::uint64_t seed) {
      return data::random_bytes<W>(n, seed, data::kind::plain);
    };
    for (const end at : {end::last, end::first}) {
      const auto in = [&]<class T>(std::size_t place, const std::vector<std::byte>& bytes, T) {
        return std::span(reinterpret_cast<const T*>(hold(place, bytes, at).data()),
                         bytes.size() / sizeof(T));
      };
      const tally::csr_view a{p.rows, p.columns,
                              in(0, data::bytes_of(p.row_offsets), std::int32_t{}),
                              in(1, data::bytes_of(p.column_indices), std::int32_t{}),
                              in(2, random(p.nonzeros(), 1), W{})};
      const auto x = in(3, random(p.columns, 2), W{});
      const auto y_bytes = hold(4, random(p.rows, 3), at);
      const std::span y(reinterpret_cast<W*>(y_bytes.data()), p.rows);
      current =
          "spmv of " + std::to_string(p.rows) + " rows, " + std::to_string(p.nonzeros()) + " terms";
      std::vector<W> want(p.rows);
      tally::spmv(tally::serial(), a, x, want);
      for (const tally::spmv_plan& plan : {tally::spmv_plan(where(), a, {.fixed_columns = true}),
                                           tally::spmv_plan(where(), a, {.fixed_values = true})}) {
        tally::spmv(where(), plan, a, x, y);
        ASSERT_TRUE(std::ranges::equal(y, want)) << current;
        std::ranges::fill(y, W(-1));
      }
    }
  };
  for (std::size_t n = 120; n < 150; ++n) {  // and long rows, read in whole vectors
    const matrices::pattern p = matrices::rows_of({n + 70, 3, 300, 5, n}, 400, 1);
    compare(p, double{});
    compare(p, float{});
  }
  for (const int n : {4, 5, 6, 7, 8, 9, 11, 16, 19}) {
    for (const matrices::pattern& p :
         {matrices::stencil(n, 9, 7, 3), matrices::stencil(n, 9, 9, 1),
          matrices::stencil(n, 31, 1, 1), matrices::stencil(13, n, 5, 2)}) {
      compare(p, double{});
      compare(p, float{});
    }
  }
}

}  // namespace
