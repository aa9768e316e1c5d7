// A fixed-size text, truncated where too long.
#include "src/c/fixed_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace {

using text = tally::fixed_text<12>;
static_assert(std::is_trivially_destructible_v<text>);

std::string kept(const std::string& s) {
  text t;
  t.assign("before it, another");
  t.assign(s);
  return t.c_str();
}

TEST(FixedText, IsKeptOrCut) {
  EXPECT_STREQ(text().c_str(), "");
  EXPECT_EQ(kept(""), "");
  EXPECT_EQ(kept("short"), "short");
  EXPECT_EQ(kept("eleven char"), "eleven char");
  EXPECT_EQ(kept("twelve chars"), "twelve c...");
  EXPECT_EQ(kept(std::string(1000, 'x')), "xxxxxxxx...");
}

TEST(FixedText, IsNotCutWithinACharacter) {
  EXPECT_EQ(kept("1234567\u00e9 and more"), "1234567...");
  EXPECT_EQ(kept("123456\u00e9 and more"), "123456\u00e9...");
  EXPECT_EQ(kept("12345\u20ac and more"), "12345\u20ac...");
  EXPECT_EQ(kept("123456\u20ac and more"), "123456...");
}

}  // namespace
