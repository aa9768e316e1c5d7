// Type-erased parts of matrices, and device copies.
#pragma once

#include <tally/buffer.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/spmv.hpp>

#include <cstddef>
#include <vector>

namespace tally::distributed {

/// A rank's part of a matrix, in any memory.
struct arrays {
  csr_operand interior;   ///< all rows, boundary ones empty; local columns
  csr_operand boundary;   ///< columns index the elements that boundary rows need
  operand boundary_rows;  ///< their row indices
  operand own_used;       ///< own ones that boundary rows need
  operand own_sent;       ///< own ones that other ranks need
};

/// Device copies, with plans.
class device_copy {
 public:
  device_copy(const executor& where, const arrays& on_host)
      : device_(where.device()),
        here_{copied(where, on_host.interior), copied(where, on_host.boundary),
              copied(where, on_host.boundary_rows), copied(where, on_host.own_used),
              copied(where, on_host.own_sent)},
        interior_(where, here_.interior, fixed_columns),
        boundary_(where, here_.boundary, fixed_columns) {}

  int device() const noexcept { return device_; }
  const arrays& here() const noexcept { return here_; }
  const spmv_plan& interior_plan() const noexcept { return interior_; }
  const spmv_plan& boundary_plan() const noexcept { return boundary_; }

 private:
  operand copied(const executor& where, const operand& v) {
    const std::size_t bytes = v.size * size_of(v.element);
    const buffer& made = memory_.emplace_back(where, bytes);
    copy_bytes(where, v.data, made.get(), bytes);
    return {made.get(), v.size, 1, v.element};
  }
  csr_operand copied(const executor& where, const csr_operand& a) {
    csr_operand b = a;
    b.row_offsets = copied(where, a.row_offsets);
    b.column_indices = copied(where, a.column_indices);
    b.values = copied(where, a.values);
    return b;
  }

  int device_;
  std::vector<buffer> memory_;
  arrays here_;
  spmv_plan interior_, boundary_;
};

}  // namespace tally::distributed
