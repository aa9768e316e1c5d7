// A rank's part of a matrix with its types erased, and copies of it in a device's memory.
#pragma once

#include <tally/buffer.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/spmv.hpp>

#include <cstddef>
#include <vector>

namespace tally::distributed {

/// What a rank has of a matrix: its rows whose columns are all its own, with the others empty;
/// those others one behind the other; and three lists of indices. With types erased, wherever they
/// are.
struct arrays {
  csr_operand interior;   ///< columns are this rank's
  csr_operand boundary;   ///< columns are places among the elements that boundary rows need
  operand boundary_rows;  ///< which rows these are
  operand own_used;       ///< this rank's elements that they need
  operand own_sent;       ///< this rank's elements that others need
};

/// Copies of a matrix's arrays in a device's memory, with plans.
class device_copy {
 public:
  /// Copies them, and makes the plans.
  device_copy(const executor& where, const arrays& on_host)
      : device_(where.device()),
        here_{copied(where, on_host.interior), copied(where, on_host.boundary),
              copied(where, on_host.boundary_rows), copied(where, on_host.own_used),
              copied(where, on_host.own_sent)},
        interior_(where, here_.interior, fixed_columns),
        boundary_(where, here_.boundary, fixed_columns) {}

  /// The device.
  int device() const noexcept { return device_; }
  /// The arrays there.
  const arrays& here() const noexcept { return here_; }
  /// The plan of interior rows.
  const spmv_plan& interior_plan() const noexcept { return interior_; }
  /// The plan of boundary rows.
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
