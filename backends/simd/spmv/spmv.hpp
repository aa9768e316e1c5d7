#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/exact_rows.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/simd/exact/exact.hpp"
#include "backends/simd/sums/reduce.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace tally::backends::simd {

/// Returns the kernel of a plan's slices, of W = float or double; null without any.
template <class W>
slices_kernel<W>* slices_kernel_of(instruction_set set, const csr_product& a);

/// x as the kernels read it: contiguous and of type A, if real.
template <class A>
class readable_x {
 public:
  explicit readable_x(const csr_product& a);
  const csr_product& arguments() const { return copied_ ? *copied_ : original_; }

 private:
  const csr_product& original_;
  std::optional<csr_product> copied_;  // with a copy of x, if needed
  std::unique_ptr<A[]> elements_;
};

/// @pre `x` outlives the kernels.
template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const readable_x<A>& x);

/// Rows in the default grade. A part's sums are those of its chunks.
template <class A>
struct ordered_rows {
  using number = A;
  using part = std::vector<dot_sum<A>>;
  using total = tree<dot_sum<A>>;
  const row_kernels<A>& kernels;
  const csr_product& a;

  static part part_of(std::size_t terms) { return part((terms + order::chunk - 1) / order::chunk); }
  // Not inlined, nor `sum`: one would take the other's stack, too.
  [[gnu::noinline]] void multiply(std::size_t first, std::size_t n) const {
    multiply_rows(kernels, a, first, n);
  }
  [[gnu::noinline]] void sum(std::size_t begin, std::size_t end, part& to) const {
    for (dot_sum<A>& chunk : to) {
      chunk = sum_part(kernels, a, begin, std::min(order::chunk, end - begin));
      begin += order::chunk;
    }
  }
  static void add(total& row, const part& chunks) {
    for (const dot_sum<A>& chunk : chunks) row.add(chunk);
  }
  A rounded(const total& row) const { return finish(row.total(), a.conjugated); }
  void write(std::size_t row, const A& sum) const { write_rows(a, row, 1, &sum); }
};

/// Rows in the exact grade.
template <class A>
struct exact_rows {
  using number = A;
  using part = exact_sums;
  using total = exact_sums;
  const exact_row_kernels& kernels;
  const csr_product& a;

  static part part_of(std::size_t) { return {}; }
  void multiply(std::size_t first, std::size_t n) const {
    multiply_rows_exactly<A>(a, first, n, kernels);
  }
  [[gnu::noinline]] void sum(std::size_t begin, std::size_t end, part& to) const {
    exact_factors room;
    add_part_of_row(a, begin, end, kernels.node, room, to);
  }
  static void add(total& row, const part& sum) { row.merge(sum); }
  A rounded(const total& row) const { return rounded_row<A>(row); }
  void write(std::size_t row, const A& sum) const { write_rows(a, row, 1, &sum); }
};

/// Calls f with the rows of a product, in its grade.
template <class F>
void with_rows(const executor& where, const csr_product& a, const F& f) {
  if (is_integer(a.a.values.element)) {
    const auto kernels = integer_rows_of(where.instructions(), a.a.values.element);
    return f(ordered_rows<std::int64_t>{kernels, a});
  }
  with_row_accumulator(a, [&]<class A>() {
    if (a.options.grade.is_exact()) {
      const exact_row_kernels kernels = exact_row_kernels_of(where.instructions());
      return f(exact_rows<A>{kernels, a});
    }
    const readable_x<A> x(a);
    const row_kernels<A> kernels = row_kernels_of(where.instructions(), x);
    f(ordered_rows<A>{kernels, x.arguments()});
  });
}

}  // namespace tally::backends::simd
