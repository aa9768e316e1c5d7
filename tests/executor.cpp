// Executors: which there are, what they are called, and that a forced one is the one that runs.
#include "backends/backend.hpp"
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <set>

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
    EXPECT_EQ(where.description(), "simd (" + std::string(tally::name(set)) + ")");
  }
  EXPECT_EQ(tally::simd().instructions(), sets.back());
}

TEST(Executors, AnInstructionSetThatIsNotHereIsAnError) {
  using enum tally::instruction_set;
  const auto here = tally::instruction_sets();
  for (const auto set : {sse4, avx2, avx512, neon}) {
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

}  // namespace
