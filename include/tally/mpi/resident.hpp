// Distributed matrices in executors' memory, and buffers for exchanged elements.
#pragma once

#include <tally/buffer.hpp>
#include <tally/detail/distributed/device_copy.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <optional>

namespace tally::mpi::matrices {

/// A growing buffer, for one executor at a time.
class room {
 public:
  /// At least `bytes`. Growing discards the contents.
  std::byte* of(const executor& where, std::size_t bytes, reach who) {
    if (bytes > buffer_.bytes() || !(buffer_.where() == where) || who_ != who) {
      buffer_ = buffer();  // freed before the next one is allocated
      buffer_ = buffer(where, bytes, who);
      who_ = who;
    }
    return static_cast<std::byte*>(buffer_.get());
  }

 private:
  buffer buffer_;
  reach who_ = reach::kernels;
};

/// Operands and message buffers of one product.
struct placement {
  distributed::arrays here;
  const spmv_plan* interior_plan = nullptr;
  const spmv_plan* boundary_plan = nullptr;
  std::byte* received = nullptr;    ///< from other ranks, host-accessible
  std::byte* used_x = nullptr;      ///< elements for boundary rows
  std::byte* sent = nullptr;        ///< to other ranks, host-accessible
  std::byte* gathered = nullptr;    ///< the same for kernels
  std::byte* boundary_y = nullptr;  ///< results of boundary rows
};

/// A matrix in the memory of its executors.
class resident {
 public:
  /// The first product on a device copies the matrix there and makes plans.
  placement on(const executor& where, const distributed::arrays& on_host, std::size_t used, type x,
               type y) {
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
  std::optional<distributed::device_copy> copy_;
};

}  // namespace tally::mpi::matrices
