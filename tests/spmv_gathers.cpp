// Rows have the same bits whether gather instructions are fast or not, wherever x lies: both
// kernels run here.
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#ifndef TALLY_TESTS_SPMV_GATHERS_CPP  // compiled once for every target
#define TALLY_TESTS_SPMV_GATHERS_CPP
namespace tally::backends::simd {
namespace {

template <class V, class I>
struct matrix {
  std::vector<std::int64_t> offsets = {0};
  std::vector<I> columns;
  std::vector<V> values;

  std::size_t rows() const { return offsets.size() - 1; }
};

template <class W, class V, class I>
using rows_kernel = void(const matrix<V, I>& a, const std::vector<W>& x, bool far_x, bool fast,
                         std::vector<W>& sums);

/// Kernels of one instruction set.
struct implementation {
  instruction_set set;
  rows_kernel<double, double, std::int32_t>* doubles;
  rows_kernel<double, float, std::int64_t>* mixed;
  rows_kernel<float, float, std::int32_t>* floats;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/spmv_gathers.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/spmv/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class W, class V, class I>
void sum_all_rows(const matrix<V, I>& a, const std::vector<W>& x, bool far_x, bool fast,
                  std::vector<W>& sums) {
  sum_rows(row_terms<W, V, I>{a.values.data(), a.columns.data(), x.data()}, a.values.size(), far_x,
           fast, a.offsets.data(), a.rows(), sums.data());
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET), &sum_all_rows<double, double, std::int32_t>,
    &sum_all_rows<double, float, std::int64_t>, &sum_all_rows<float, float, std::int32_t>};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
namespace {

constexpr std::size_t columns = 5000;

/// Rows of these lengths, repeated, with random columns and values.
template <class V, class I>
matrix<V, I> matrix_of(const std::vector<std::size_t>& lengths, std::size_t rows) {
  std::mt19937_64 random(rows);
  std::uniform_real_distribution<V> number(-1, 1);
  matrix<V, I> a;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < lengths[i % lengths.size()]; ++j) {
      a.columns.push_back(static_cast<I>(random() % columns));
      a.values.push_back(number(random));
    }
    a.offsets.push_back(static_cast<std::int64_t>(a.values.size()));
  }
  return a;
}

template <class W, class V, class I>
void compare(rows_kernel<W, V, I>* implementation::* kernel) {
  std::vector<W> x(columns);
  std::mt19937_64 random(1);
  for (W& each : x) each = std::uniform_real_distribution<W>(-1, 1)(random);
  std::vector<std::vector<std::size_t>> all = {
      {3, 40, 0, 8, 129, 9, 1, 7, 128, 5, 16, 17, 300, 2, 27, 6}, {6, 7, 8}, {7, 6}, {0, 1025, 7}};
  for (std::size_t n = 0; n < 34; ++n) all.push_back({n});
  for (const auto& lengths : all) {
    for (const std::size_t rows : {std::size_t{3}, std::size_t{70}, std::size_t{601}}) {
      const matrix<V, I> a = matrix_of<V, I>(lengths, rows);
      std::vector<W> want(rows);
      tally::spmv(tally::serial(), csr_view{rows, columns, a.offsets, a.columns, a.values}, x,
                  want);
      for (const instruction_set set : tally::instruction_sets()) {
        for (const bool far_x : {false, true}) {
          for (const bool fast : {false, true}) {
            std::vector<W> sums(rows);
            (implementation_of(set).*kernel)(a, x, far_x, fast, sums);
            ASSERT_EQ(std::memcmp(sums.data(), want.data(), rows * sizeof(W)), 0)
                << name(set) << ", rows of " << lengths[0] << " terms, " << (far_x ? "far" : "near")
                << (fast ? ", fast" : ", slow");
          }
        }
      }
    }
  }
}

TEST(SpmvGathers, DoNotShowInTheBits) {
  compare(&implementation::doubles);
  compare(&implementation::mixed);
  compare(&implementation::floats);
}

}  // namespace
}  // namespace tally::backends::simd
#endif  // HWY_ONCE
