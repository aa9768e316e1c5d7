// The order contract, pinned: its constants, and its bits on fixed data.
#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <bit>

namespace {

TEST(Order, ConstantsArePartOfTheInterface) {
  static_assert(tally::order::version == 1);
  static_assert(tally::order::lanes == 64);
  static_assert(tally::order::chunk == 1024);
}

TEST(Order, TranscriptionGivesTheGoldenBits) {
  for (const auto& row : golden::rows) {
    const auto f64 =
        transcription::dot<double>(golden::doubles(row.n, 1), golden::doubles(row.n, 2), false);
    const auto tiny = transcription::dot<double>(golden::doubles(row.n, 3, -520, 8),
                                                 golden::doubles(row.n, 4, -550, 8), false);
    const auto f32 =
        transcription::dot<float>(golden::floats(row.n, 5), golden::floats(row.n, 6), false);
    char line[120];
    std::snprintf(line, sizeof line, "{%zu, 0x%016llx, 0x%016llx, 0x%08x},", row.n,
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(f64)),
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(tiny)),
                  std::bit_cast<std::uint32_t>(f32));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(f64), row.f64) << line;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(tiny), row.subnormal) << line;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(f32), row.f32) << line;
  }
}

class Golden : public data::OnEveryExecutor {
 protected:
  template <class T>
  T dot(const std::vector<T>& x, const std::vector<T>& y) {
    const std::size_t bytes = x.size() * sizeof(T);
    data::buffer memory_x(where(), bytes), memory_y(where(), bytes);
    memory_x.write(x.data(), bytes);
    memory_y.write(y.data(), bytes);
    const auto as = [&](const data::buffer& b) {
      return tally::strided(reinterpret_cast<const T*>(b.get()), x.size(), 1);
    };
    return tally::dot(where(), as(memory_x), as(memory_y));
  }
};

TEST_ON_EVERY_EXECUTOR(Golden, Bits) {
  for (const auto& row : golden::rows) {
    EXPECT_EQ(
        std::bit_cast<std::uint64_t>(dot(golden::doubles(row.n, 1), golden::doubles(row.n, 2))),
        row.f64);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(
                  dot(golden::doubles(row.n, 3, -520, 8), golden::doubles(row.n, 4, -550, 8))),
              row.subnormal);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(dot(golden::floats(row.n, 5), golden::floats(row.n, 6))),
              row.f32);
  }
}

}  // namespace
