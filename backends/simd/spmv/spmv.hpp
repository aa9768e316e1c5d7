#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/row_kernels.hpp"

#include <memory>
#include <optional>

namespace tally::backends::simd {

/// See `row_kernels::side_by_side`.
template <class A>
using slices_kernel = std::size_t(const csr_product& a, std::size_t first, std::size_t n,
                                  const row_kernels<A>& others, A* sums);

/// Returns the kernel for a plan's slices; null without any.
template <class A>
slices_kernel<A>* slices_kernel_of(instruction_set set, const csr_product& a);
template <>
slices_kernel<float>* slices_kernel_of(instruction_set set, const csr_product& a);
template <>
slices_kernel<double>* slices_kernel_of(instruction_set set, const csr_product& a);

/// x as the kernels read it: contiguous and of type A, if real. Slices may read a copy of the few
/// elements that have terms.
template <class A>
class readable_x {
 public:
  explicit readable_x(const csr_product& a);
  const csr_product& arguments() const { return copied_ ? *copied_ : original_; }
  /// Returns the elements that slices' columns index.
  const A* listed() const {
    return listed_ ? listed_.get() : static_cast<const A*>(arguments().x.data);
  }

 private:
  const csr_product& original_;
  std::optional<csr_product> copied_;  // with a copy of x, if needed
  std::unique_ptr<A[]> elements_, listed_;
};

/// @pre `x` outlives the kernels.
template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const readable_x<A>& x);

}  // namespace tally::backends::simd
