#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/row_kernels.hpp"

#include <memory>
#include <optional>

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

}  // namespace tally::backends::simd
