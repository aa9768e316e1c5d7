// Types that are operands, and how they convert.
#include "tests/views.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <span>
#include <vector>

namespace {

/// A typical device memory class: no range, since the host can't iterate.
template <class T>
struct memory {
  T* pointer;
  long n;
  T* data() { return pointer; }
  const T* data() const { return pointer; }
  long size() const { return n; }
};

/// Like a row of an Eigen matrix: elements lie apart.
struct row_like {
  double* data() const { return nullptr; }
  long size() const { return 3; }
  long innerStride() const { return 4; }
};

TEST(Operand, IsAContiguousRangeAStrideOrAView) {
  static_assert(tally::vector_operand<std::vector<double>>);
  static_assert(tally::vector_operand<std::span<const std::int8_t>>);
  static_assert(tally::vector_operand<std::array<std::complex<float>, 4>>);
  static_assert(tally::vector_operand<int[3]>);
  static_assert(tally::vector_operand<tally::strided_view<bool>>);
  static_assert(tally::vector_operand<views::view<const float, 1>>);
  static_assert(tally::vector_operand<views::mdspan<const float, 1>>);
  static_assert(tally::vector_output<views::mdspan<float, 1>>);
  static_assert(!tally::vector_output<views::mdspan<const float, 1>>);
  static_assert(!tally::vector_operand<views::mdspan<float, 1, float>>);  // scaled, conjugated
  static_assert(!tally::vector_operand<views::mdspan<float, 0>>);
  static_assert(!tally::vector_operand<views::mdspan<float, 2>>);
  static_assert(tally::vector_operand<memory<float>>);
  static_assert(tally::vector_output<memory<float>&>);
  static_assert(!tally::vector_output<const memory<float>&>);
  static_assert(!tally::vector_operand<memory<long double>>);
  static_assert(!tally::vector_operand<views::view<float, 0>>);
  static_assert(!tally::vector_operand<views::view<float, 2>>);
  static_assert(!tally::vector_operand<std::vector<unsigned>>);
  static_assert(!tally::vector_operand<tally::strided_view<unsigned>>);
  static_assert(!tally::vector_operand<row_like>);
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
  memory<double> m{nullptr, 5};
  EXPECT_EQ(tally::as_operand(m).size, 5u);
  EXPECT_EQ(tally::as_output(m).element, tally::type::float64);
  const tally::operand s = tally::as_operand(tally::strided(v.data(), 2));
  EXPECT_EQ(s.size, 2u);
  EXPECT_EQ(s.increment, 1);
  const tally::operand w = tally::as_operand(views::vector(v.data(), 3, 2));
  EXPECT_EQ(w.size, 3u);
  EXPECT_EQ(w.increment, 2);
  EXPECT_EQ(w.element, tally::type::float32);
}

TEST(Operand, ViewsGiveTheirStrides) {
  const std::vector<double> v = {1, 2, 3, 4, 5, 6}, ones = {1, 1, 1};
  const views::mdspan<const double, 1> every_other = {v.data(), {3}, {2}};
  EXPECT_EQ(tally::sum(every_other), 1 + 3 + 5);
  const views::mdspan<const double, 2> columns = {v.data(), {2, 3}, {1, 2}};
  EXPECT_EQ(tally::multi_dot(columns, ones), (std::vector<double>{1 + 3 + 5, 2 + 4 + 6}));
  EXPECT_EQ(tally::multi_dot(views::right(v.data(), 2, 3), ones),
            (std::vector<double>{1 + 2 + 3, 4 + 5 + 6}));
  double result = 0;
  tally::sum(tally::serial(), v, views::mdspan<double, 0>{&result});
  EXPECT_EQ(result, 21);
}

TEST(Operand, RowsAreABlockOrAView) {
  static_assert(tally::rows_operand<tally::row_block<float>>);
  static_assert(tally::rows_operand<views::view<const float, 2>>);
  static_assert(tally::rows_operand<views::mdspan<const float, 2>>);
  static_assert(tally::result_place_of<views::mdspan<float, 0>, float>);
  static_assert(!tally::rows_operand<views::view<unsigned, 2>>);
  static_assert(!tally::rows_operand<views::view<float, 1>>);
  static_assert(!tally::rows_operand<std::vector<float>>);
  static_assert(!tally::rows_operand<float*>);
  static_assert(tally::counts_output<std::vector<std::size_t>&>);
  static_assert(tally::counts_output<std::vector<unsigned>&>);
  static_assert(tally::counts_output<views::view<unsigned, 1>>);
  static_assert(tally::counts_output<memory<std::size_t>&>);
  static_assert(!tally::counts_output<const std::vector<std::size_t>&>);
  static_assert(!tally::counts_output<std::vector<short>&>);
  static_assert(!tally::counts_output<std::vector<double>&>);
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
