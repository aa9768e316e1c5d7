// What can be an operand, and what becomes of it.
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <span>
#include <vector>

namespace {

/// Shaped like a rank-1 Kokkos::View.
struct view_like {
  using value_type = const float;
  static constexpr int rank = 1;
  const float* pointer;
  const float* data() const { return pointer; }
  std::size_t extent(int) const { return 3; }
  std::size_t stride(int) const { return 2; }
};

TEST(Operand, IsAContiguousRangeAStrideOrAView) {
  static_assert(tally::vector_operand<std::vector<double>>);
  static_assert(tally::vector_operand<std::span<const std::int8_t>>);
  static_assert(tally::vector_operand<std::array<std::complex<float>, 4>>);
  static_assert(tally::vector_operand<int[3]>);
  static_assert(tally::vector_operand<tally::strided_view<bool>>);
  static_assert(tally::vector_operand<view_like>);
  static_assert(!tally::vector_operand<std::vector<bool>>);  // packed bits
  static_assert(!tally::vector_operand<std::list<double>>);
  static_assert(!tally::vector_operand<std::vector<long double>>);
  static_assert(!tally::vector_operand<double*>);
}

TEST(Operand, KeepsPointerSizeIncrementAndType) {
  const std::vector<float> v = {1, 2, 3};
  const tally::operand o = tally::as_operand(v);
  EXPECT_EQ(o.data, v.data());
  EXPECT_EQ(o.size, 3u);
  EXPECT_EQ(o.increment, 1);
  EXPECT_EQ(o.element, tally::type::float32);
  const tally::operand w = tally::as_operand(view_like{v.data()});
  EXPECT_EQ(w.size, 3u);
  EXPECT_EQ(w.increment, 2);
  EXPECT_EQ(w.element, tally::type::float32);
}

TEST(Operand, NegativeIncrementsWalkBackwardsAsInBlas) {
  const double v[] = {0, 1, 2, 3, 4, 5, 6};
  const tally::operand o = tally::as_operand(tally::strided(v, 3, -3));
  EXPECT_EQ(o.data, v + 6);
  EXPECT_EQ(o.increment, -3);
  EXPECT_EQ(o.slice(2, 1).data, v);
  EXPECT_EQ(tally::as_operand(tally::strided(v, 0, -3)).data, v);
}

}  // namespace
