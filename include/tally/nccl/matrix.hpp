// Sparse matrix times vector over devices (<tally/distributed/matrix.hpp>).
//
// The matrix is made in host memory and copied to the device. Products are queued on the executor's
// stream, do not block, and may be captured. One at a time: products on another stream begin after
// those before.
#pragma once

#include <tally/distributed/matrix.hpp>
#include <tally/nccl/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tally::nccl {

using distributed::rows_of;
using distributed::spmm;
using distributed::spmv;

namespace detail {

/// High-priority stream for messages, forked from and joined to the executor's.
class side_stream {
 public:
  side_stream() {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
          "cudaStreamCreateWithPriority");
    for (cudaEvent_t* event : {&forked_, &joined_}) {
      check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
  }
  ~side_stream() {
    (void)cudaEventDestroy(forked_);
    (void)cudaEventDestroy(joined_);
    (void)cudaStreamDestroy(stream_);
  }
  side_stream(const side_stream&) = delete;
  side_stream& operator=(const side_stream&) = delete;

  cudaStream_t get() const noexcept { return stream_; }
  /// Orders this stream after `stream`.
  void fork(cudaStream_t stream) const { follow(stream, forked_, stream_); }
  /// Orders `stream` after this one.
  void join(cudaStream_t stream) const { follow(stream_, joined_, stream); }

 private:
  static void follow(cudaStream_t first, cudaEvent_t event, cudaStream_t next) {
    check(cudaEventRecord(event, first), "cudaEventRecord");
    check(cudaStreamWaitEvent(next, event, 0), "cudaStreamWaitEvent");
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
};

/// Messages of a matrix, between the buffers of devices.
class neighbours {
 public:
  static constexpr const char* name = transport::name;
  static void check_count(std::size_t /*elements*/) {}

  neighbours(const communicator& over, const executor& where) : over_(&over), where_(where) {}
  /// Makes the stream of products.
  void open() {
    const current_device current(over_->device());
    stream_ = std::make_unique<side_stream>();
  }

  int rank() const noexcept { return over_->rank(); }
  int ranks() const noexcept { return over_->ranks(); }

  void agree(const std::optional<failure>& failed) const {
    const std::vector<std::int64_t> all = over_->gathered(std::int64_t{failed.has_value()});
    throw_kept(failed);
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r] == 0) continue;
      throw error(errc::invalid_argument, "tally::nccl::matrix: the rows of rank " +
                                              std::to_string(r) + " were refused there");
    }
  }

  std::vector<std::int64_t> exchange_counts(const std::vector<std::int64_t>& needed) const {
    const std::size_t ranks = needed.size();
    std::vector<std::int64_t> all(ranks * ranks), wanted(ranks);
    over_->gather(needed.data(), all.data(), ranks * sizeof(std::int64_t));
    for (std::size_t r = 0; r < ranks; ++r) {
      wanted[r] = all[r * ranks + static_cast<std::size_t>(rank())];
    }
    return wanted;
  }
  void exchange_indices(const std::vector<std::int64_t>& needed,
                        std::vector<std::int64_t>& wanted) const {
    constexpr std::size_t bytes = sizeof(std::int64_t);
    const current_device current(over_->device());
    const buffer asked(where_, needed.size() * bytes), given(where_, wanted.size() * bytes);
    if (!needed.empty()) copy_bytes(where_, needed.data(), asked.get(), asked.bytes());
    exchange(lists.received, asked.get(), lists.sent, given.get(), bytes, where_.stream());
    if (!wanted.empty()) copy_bytes(where_, given.get(), wanted.data(), given.bytes());
    check(cudaStreamSynchronize(where_.stream()), "cudaStreamSynchronize");
  }

  class product;
  message_lists lists;

 private:
  void exchange(const std::vector<message>& sent, const void* from,
                const std::vector<message>& received, void* to, std::size_t bytes,
                cudaStream_t stream) const {
    if (sent.empty() && received.empty()) return;
    together([&] {
      for (const message& m : received) {
        check(ncclRecv(static_cast<std::byte*>(to) + m.first * bytes, m.count * bytes, ncclUint8,
                       m.rank, over_->get(), stream),
              "ncclRecv");
      }
      for (const message& m : sent) {
        check(ncclSend(static_cast<const std::byte*>(from) + m.first * bytes, m.count * bytes,
                       ncclUint8, m.rank, over_->get(), stream),
              "ncclSend");
      }
    });
  }

  const communicator* over_;
  executor where_;
  std::unique_ptr<side_stream> stream_;
};

/// No elements travel from a rank that fails: others block.
class neighbours::product {
 public:
  product(const neighbours& all, const executor& where, const rank_product& p,
          const rank_rows& /*rows*/, std::optional<placed_rows>& placed,
          const std::optional<failure>& /*failed*/)
      : all_(all),
        where_(where),
        placed_(*placed),
        bytes_(p.row_bytes()),
        current_(all.over_->device()) {
    all.over_->check_executor(where);
    placed->reserve(p.columns);
  }

  const executor& where() const noexcept { return where_; }

  void send(const std::optional<failure>& failed) const {
    throw_kept(failed);
    if (!travels()) return;
    all_.stream_->fork(where_.stream());
    all_.exchange(all_.lists.sent, placed_.gathered(), all_.lists.received, placed_.used_x(),
                  bytes_, all_.stream_->get());
  }
  void receive(const std::optional<failure>& /*failed*/) const {
    if (travels()) all_.stream_->join(where_.stream());
  }

 private:
  bool travels() const noexcept { return !all_.lists.sent.empty() || !all_.lists.received.empty(); }

  const neighbours& all_;
  const executor& where_;
  const placed_rows& placed_;
  std::size_t bytes_;
  current_device current_;
};

}  // namespace detail

/// A matrix with layouts of its rows and of its columns (the vectors it is multiplied by), possibly
/// the same.
///
/// It copies all it needs to the device. Construction and products are collective; a product
/// exchanges messages only with neighbours. It does not block: it is queued on the executor's
/// stream, and may be captured. The communicator must outlive it. Movable, not copyable.
/// @tparam Value type of values, as for `tally::spmv`.
/// @tparam Index type of local indices and offsets.
template <element Value, csr_index Index = std::int32_t>
class matrix : public distributed::matrix<detail::neighbours, Value, Index> {
 public:
  /// Makes a square matrix. Collective; blocks.
  /// @param l      layout of rows and columns.
  /// @param where  an executor on this rank's device.
  /// @param local  this rank's `l.size()` rows in host memory with global column indices
  ///               (`l.total()` columns). Copied; the terms of a row keep their order.
  /// @throws error on all ranks, as `tally::validate` on one; size_mismatch; invalid_argument for
  ///               more terms or columns than `Index` counts; out_of_memory, device_failure.
  template <csr_index Offset, csr_index Column>
  matrix(const layout& l, const executor& where, const csr_view<Value, Offset, Column>& local)
      : matrix(l, l, where, local) {}

  /// Makes a rectangular matrix.
  /// @param rows, columns  layouts over one communicator.
  template <csr_index Offset, csr_index Column>
  matrix(const layout& rows, const layout& columns, const executor& where,
         const csr_view<Value, Offset, Column>& local)
      : distributed::matrix<detail::neighbours, Value, Index>(
            neighbours_over(rows, columns, where), rows.borders(), columns.borders(), local) {
    this->leave_host(where);
    this->neighbours_.open();
  }

 private:
  static detail::neighbours neighbours_over(const layout& rows, const layout& columns,
                                            const executor& where) {
    rows.over().check_executor(where);
    if (&rows.over() != &columns.over()) {
      throw error(errc::invalid_argument,
                  "tally::nccl::matrix: the layouts have two communicators");
    }
    return detail::neighbours(rows.over(), where);
  }
};

}  // namespace tally::nccl
