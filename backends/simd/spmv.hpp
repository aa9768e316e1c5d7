#pragma once

#include "src/core/sparse/row_kernels.hpp"
#include "src/core/table.hpp"

#include <memory>

namespace tally::backends::simd {

/// Returns the kernels for these types, in one instruction set; x is as `readable_x` leaves it.
template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const spmv_arguments& a);

/// Is x as the kernels read it: where A is real, x is contiguous and of type A.
template <class A>
class readable_x {
 public:
  explicit readable_x(const spmv_arguments& a);
  /// Returns the arguments with that x.
  const spmv_arguments& arguments() const { return arguments_; }

 private:
  spmv_arguments arguments_;
  std::unique_ptr<A[]> elements_;  // a copy, where x was not so
};

}  // namespace tally::backends::simd
