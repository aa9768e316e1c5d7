// Products of a matrix with several columns, for the simd and openmp backends: real numbers in the
// default grade, with values and x of 32 or 64 bits.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace tally::backends::simd {

/// Columns of one pass over the matrix: memory for copies of x, and stacks, have a limit.
inline constexpr std::size_t columns_at_once = 32;

/// Rows of adjacent elements, `stride` elements apart.
template <class W>
struct dense_rows {
  const W* data;
  std::ptrdiff_t stride;
  std::size_t columns;  ///< at most `columns_at_once`
};

template <class W>
struct column_kernels {
  /// Sums n rows from `first`, those of row i at `sums + i * stride`; canonical NaNs.
  void (*rows)(const csr_product& a, const dense_rows<W>& x, std::size_t first, std::size_t n,
               W* sums, std::ptrdiff_t stride) = nullptr;
  /// Sums a chunk of a long row, n terms from `first`.
  void (*chunk)(const csr_product& a, const dense_rows<W>& x, std::size_t first, std::size_t n,
                W* sums) = nullptr;
};

/// Null if the product has none.
template <class W>
const column_kernels<W>* column_kernels_of(instruction_set set, const csr_product& a);

/// x of up to `columns_at_once` columns as the kernels read it: a copy, unless it is.
template <class W>
class readable_columns {
 public:
  explicit readable_columns(const csr_products& a);
  /// Copies the columns of `a` in rows [first, first + n).
  void fill(const csr_products& a, std::size_t first, std::size_t n) const;
  dense_rows<W> of(const csr_products& a) const;
  bool is_copy() const { return elements_ != nullptr; }

 private:
  std::unique_ptr<W[]> elements_;
};

/// Sums of a node, by column.
template <class W>
struct column_sums {
  std::array<W, columns_at_once> of{};

  friend column_sums operator+(const column_sums& a, const column_sums& b) {
    column_sums sum;
    for (std::size_t j = 0; j < columns_at_once; ++j) sum.of[j] = a.of[j] + b.of[j];
    return sum;
  }
};

/// Rows of products in the default grade, as `ordered_rows`.
template <class W>
struct ordered_columns {
  using number = column_sums<W>;
  using part = std::vector<column_sums<W>>;
  using total = tree<column_sums<W>>;
  const column_kernels<W>& kernels;
  const csr_product& a;  ///< of column 0
  const csr_products& all;
  dense_rows<W> x;

  static part part_of(std::size_t terms) { return part((terms + order::chunk - 1) / order::chunk); }
  void multiply(std::size_t first, std::size_t n) const;
  [[gnu::noinline]] void sum(std::size_t begin, std::size_t end, part& to) const {
    for (column_sums<W>& chunk : to) {
      kernels.chunk(a, x, begin, std::min(order::chunk, end - begin), chunk.of.data());
      begin += order::chunk;
    }
  }
  static void add(total& row, const part& chunks) {
    for (const column_sums<W>& chunk : chunks) row.add(chunk);
  }
  number rounded(const total& row) const;
  void write(std::size_t row, const number& sums) const;
};

/// Calls multiply(rows, x) for equal shares of the columns, at least two each, where x may have to
/// be filled. Returns whether there are kernels.
template <class F>
bool with_columns(const executor& where, const csr_products& a, const F& multiply) {
  bool has = false;
  if (a.columns < 2 || a.first.options.grade.is_exact()) return has;
  with_row_accumulator(a.first, [&]<class W>() {
    if constexpr (!is_complex_v<W>) {
      const column_kernels<W>* const kernels = column_kernels_of<W>(where.instructions(), a.first);
      has = kernels != nullptr;
      if (!has) return;
      const readable_columns<W> x(a);
      const std::size_t passes = (a.columns + columns_at_once - 1) / columns_at_once;
      const std::size_t share = (a.columns + passes - 1) / passes;
      for (std::size_t j = 0, count = 0; j < a.columns; j += count) {
        count = std::min(share, a.columns - j);
        count -= a.columns - j - count == 1;
        const csr_products some = a.slice(j, count);
        multiply(ordered_columns<W>{*kernels, some.first, some, x.of(some)}, x);
      }
    }
  });
  return has;
}

}  // namespace tally::backends::simd
