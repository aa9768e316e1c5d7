// Products with a transpose whose values may change: the terms are written to where the transpose
// has them, then its rows summed.
#pragma once

#include "backends/common/sparse/csr.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tally::backends::simd {

/// A transpose with the index of each of the matrix's terms in it.
struct scattered_transpose : csr_transpose {
  std::shared_ptr<const csr_transpose> kept;  ///< owner of the arrays
  csr_operand of;                             ///< the matrix, of float or double
  std::unique_ptr<std::int32_t[]> to;         ///< null if none are scattered
  /// Terms of one product at a time, kept for the next: pages of fresh memory are slow.
  mutable std::atomic<std::byte*> room = nullptr;

  scattered_transpose(std::shared_ptr<const csr_transpose> transpose, const csr_operand& a);
  ~scattered_transpose() override;
};

/// Null if the product is not to be scattered.
const scattered_transpose* scattered_transpose_of(const csr_product& a);

/// Terms of a product in the order of the transpose.
class scattered_terms {
 public:
  /// Allocates.
  scattered_terms(const scattered_transpose& transpose, const csr_product& a);
  scattered_terms(const scattered_terms&) = delete;
  scattered_terms& operator=(const scattered_terms&) = delete;
  ~scattered_terms();

  /// Writes the terms of n rows of the matrix from `first`.
  void write(std::size_t first, std::size_t n) const;
  /// The product, as sums of the terms written.
  const csr_product& sums() const { return sums_; }

 private:
  const scattered_transpose& transpose_;
  const csr_product& product_;
  std::byte* terms_;
  csr_product sums_;
};

}  // namespace tally::backends::simd
