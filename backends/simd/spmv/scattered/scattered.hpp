// Products with a transpose whose values may change. On one thread each term is added to a lane of
// its column, or values near each other are gathered in the transpose's order by fast instructions;
// else terms are written to where the transpose has them, and its rows summed.
#pragma once

#include "backends/common/memory.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/spmv/scattered/column_lanes.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace tally::backends::simd {

/// A transpose with the index or the lane of each of the matrix's terms, or with slices that gather
/// values.
struct scattered_transpose : csr_transpose {
  std::shared_ptr<const csr_transpose> kept;  ///< owner of the arrays
  csr_operand of;                             ///< the matrix, of float or double
  std::unique_ptr<std::int32_t[]> to;         ///< null if none are scattered, or with the following
  std::optional<column_lanes> lanes;
  std::optional<row_slices> slices;

  scattered_transpose(std::shared_ptr<const csr_transpose> transpose, const csr_operand& a,
                      bool for_one_thread, bool may_gather);
  ~scattered_transpose() override;

  /// Memory of one product: terms, or lanes, which are zeros. Kept for the next: pages of fresh
  /// memory are slow.
  table_memory<std::byte> take_room() const;
  void give_room(table_memory<std::byte> room) const;

 private:
  std::size_t room_bytes() const;

  mutable std::atomic<std::byte*> room_ = nullptr;
};

/// Null if the product is not to be scattered: not of a transpose whose values may change, or of
/// other types than the plan's, or gathered.
const scattered_transpose* scattered_transpose_of(const csr_product& a);

/// Pre: there are lanes.
void multiply_in_lanes(const scattered_transpose& transpose, const csr_product& a,
                       instruction_set set);

/// Terms of a product in the order of the transpose. Pre: there are no lanes.
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
  table_memory<std::byte> terms_;
  csr_product sums_;
};

}  // namespace tally::backends::simd
