#pragma once

#include "src/core/sparse/row_kernels.hpp"
#include "src/core/table.hpp"

#include <memory>
#include <optional>

namespace tally::backends::simd {

/// Sums rows as `row_kernels::side_by_side` says.
template <class A>
using slices_kernel = std::size_t(const csr_product& a, std::size_t first, std::size_t n,
                                  const row_kernels<A>& others, A* sums);

/// Returns the kernel that sums what a product's plan has side by side; null where it has nothing.
template <class A>
slices_kernel<A>* slices_kernel_of(instruction_set set, const csr_product& a);
template <>
slices_kernel<float>* slices_kernel_of(instruction_set set, const csr_product& a);
template <>
slices_kernel<double>* slices_kernel_of(instruction_set set, const csr_product& a);

/// Is x as the kernels read it: where A is real, x is contiguous and of type A. Where few elements
/// have terms, slices of rows read copies of these.
template <class A>
class readable_x {
 public:
  explicit readable_x(const csr_product& a);
  /// Returns the arguments with that x.
  const csr_product& arguments() const { return copied_ ? *copied_ : original_; }
  /// Returns the elements that the columns of slices name.
  const A* listed() const {
    return listed_ ? listed_.get() : static_cast<const A*>(arguments().x.data);
  }

 private:
  const csr_product& original_;
  std::optional<csr_product> copied_;  // with a copy of x, where it was not so
  std::unique_ptr<A[]> elements_, listed_;
};

/// Returns the kernels for a product's types, in one instruction set. They read x while it lives.
template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const readable_x<A>& x);

}  // namespace tally::backends::simd
