// Where the kernels of an executor find a distributed matrix, and the elements that travel.
#pragma once

#include <tally/buffer.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tally::mpi::matrices {

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

/// A buffer that grows, for one executor at a time.
class room {
 public:
  /// Its memory, of so many bytes at least; what was in it is gone where it had to grow.
  std::byte* of(const executor& where, std::size_t bytes, reach who) {
    if (bytes > buffer_.bytes() || !(buffer_.where() == where) || who_ != who) {
      buffer_ = buffer();  // before the next one is made
      buffer_ = buffer(where, bytes, who);
      who_ = who;
    }
    return static_cast<std::byte*>(buffer_.get());
  }

 private:
  buffer buffer_;
  reach who_ = reach::kernels;
};

/// Copies of a matrix's arrays in a device's memory, with plans.
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

/// Where one product finds its operands, and has its messages.
struct placement {
  arrays here;
  const spmv_plan* interior_plan = nullptr;
  const spmv_plan* boundary_plan = nullptr;
  std::byte* received = nullptr;    ///< what others send, where the host reads and writes
  std::byte* used_x = nullptr;      ///< all elements that boundary rows need, for kernels
  std::byte* sent = nullptr;        ///< what others need, where the host reads and writes
  std::byte* gathered = nullptr;    ///< the same for kernels
  std::byte* boundary_y = nullptr;  ///< what boundary rows give, for kernels
};

/// A matrix in the memory of the executors that it has been multiplied on.
class resident {
 public:
  /// The placement for a product on `where`, with vectors of these types. The first one on a device
  /// copies the matrix there, and makes plans.
  placement on(const executor& where, const arrays& on_host, std::size_t used, type x, type y) {
    const bool is_device = where.name() == "cuda";
    const std::size_t x_bytes = size_of(x);
    const std::size_t sent = on_host.own_sent.size * x_bytes;
    placement p;
    p.received = received_.of(where, used * x_bytes, reach::kernels_and_host);
    p.sent = sent_.of(where, sent, reach::kernels_and_host);
    p.boundary_y = boundary_y_.of(where, on_host.boundary_rows.size * size_of(y), reach::kernels);
    if (!is_device) {
      p.here = on_host;
      p.used_x = p.received;
      p.gathered = p.sent;
      return p;
    }
    if (!copy_ || copy_->device() != where.device()) {
      copy_.reset();
      copy_.emplace(where, on_host);
    }
    p.here = copy_->here();
    p.interior_plan = &copy_->interior_plan();
    p.boundary_plan = &copy_->boundary_plan();
    p.used_x = used_x_.of(where, used * x_bytes, reach::kernels);
    p.gathered = gathered_.of(where, sent, reach::kernels);
    return p;
  }

 private:
  room received_, sent_, used_x_, gathered_, boundary_y_;
  std::optional<device_copy> copy_;
};

}  // namespace tally::mpi::matrices
