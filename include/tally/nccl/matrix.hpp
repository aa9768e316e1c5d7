// Sparse matrix times vector over devices, by blocks of rows: y = A x, y = alpha A x + beta y, w =
// alpha A x + beta y.
//
// Promise: each y_i has the bits of `tally::spmv` (<tally/spmv.hpp>) for the whole matrix in one
// process, in either grade and for any partition: a row's sum is never split
// (<tally/detail/distributed/rows_part.hpp>).
//
// The matrix is made in host memory and copied to the device. Products are queued on the executor's
// stream, do not block, and may be captured. One at a time: products on another stream begin after
// those before.
#pragma once

#include <tally/buffer.hpp>
#include <tally/csr_matrix.hpp>
#include <tally/detail/distributed/borders.hpp>
#include <tally/detail/distributed/device_copy.hpp>
#include <tally/detail/distributed/rows_part.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/gather.hpp>
#include <tally/nccl/calls.hpp>
#include <tally/nccl/communicator.hpp>
#include <tally/nccl/layout.hpp>
#include <tally/operand.hpp>
#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::nccl {

namespace matrices {

/// High-priority stream for messages, forked from and joined to the executor's.
class side_stream {
 public:
  side_stream() {
    int least = 0, greatest = 0;
    calls::check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                 "cudaDeviceGetStreamPriorityRange");
    calls::check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
                 "cudaStreamCreateWithPriority");
    for (cudaEvent_t* event : {&forked_, &joined_}) {
      calls::check(cudaEventCreateWithFlags(event, cudaEventDisableTiming),
                   "cudaEventCreateWithFlags");
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
    calls::check(cudaEventRecord(event, first), "cudaEventRecord");
    calls::check(cudaStreamWaitEvent(next, event, 0), "cudaStreamWaitEvent");
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
};

}  // namespace matrices

/// Returns this rank's rows of a matrix that each rank has read:
/// `tally::nccl::matrix A(l, where, tally::nccl::rows_of(l, all.view()))`.
/// @throws error size_mismatch, on this rank alone, if the number of rows is not the layout's
///               total, or offsets are missing.
template <element Value, csr_index Offset, csr_index Column>
csr_view<Value, Offset, Column> rows_of(const layout& l,
                                        const csr_view<Value, Offset, Column>& whole) {
  return distributed::rows_of("tally::nccl::rows_of", l.total(), l.first(), l.size(), whole);
}

/// A matrix with layouts of its rows and of its columns (the vectors it is multiplied by), possibly
/// the same.
///
/// It copies all it needs to the device. Construction and products are collective; a product
/// exchanges messages only with neighbours. The communicator must outlive it. Movable, not
/// copyable.
/// @tparam Value type of values, as for `tally::spmv`.
/// @tparam Index type of local indices and offsets.
template <element Value, csr_index Index = std::int32_t>
class matrix {
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
      : over_(&rows.over()), rows_(rows.borders()), columns_(columns.borders()) {
    over_->check_executor(where);
    const calls::current_device current(over_->device());
    const distributed::rows_part<Value, Index> part =
        checked(&rows.over() == &columns.over(), local);
    received_ = part.received(*columns_, over_->rank());
    const std::vector<Index> own_sent = find_neighbours(where, part.used);
    copy_ = std::make_unique<distributed::device_copy>(
        where, distributed::arrays{
                   as_operand(part.interior.view()), as_operand(part.boundary.view()),
                   distributed::as_indices(part.boundary_rows),
                   distributed::as_indices(part.own_used), distributed::as_indices(own_sent)});
    used_ = part.used.size();
    below_ = part.below;
    constexpr std::size_t most = 16;  // bytes of an element
    used_x_ = buffer(where, used_ * most);
    gathered_ = buffer(where, own_sent.size() * most);
    boundary_y_ = buffer(where, part.boundary_rows.size() * most);
    messages_ = std::make_unique<matrices::side_stream>();
  }

  /// Global number of rows.
  std::int64_t rows() const noexcept { return rows_->total(); }
  /// Global number of columns.
  std::int64_t columns() const noexcept { return columns_->total(); }
  /// Number of local rows that need other ranks' elements.
  std::size_t boundary_rows() const noexcept { return copy_->here().boundary_rows.size; }
  /// Number of other ranks' elements needed.
  std::size_t ghosts() const noexcept { return used_ - copy_->here().own_used.size; }

  /// Type-erased `spmv`; beta multiplies `added`, if present, instead of y.
  void multiply(const executor& where, const scalar& alpha, const operand& x, const scalar& beta,
                const output_operand& y, grade g, const std::optional<operand>& added = {}) const;

 private:
  template <class Offset, class Column>
  distributed::rows_part<Value, Index> checked(bool has_one_communicator,
                                               const csr_view<Value, Offset, Column>& local) const {
    distributed::rows_part<Value, Index> part;
    std::optional<error> failed;
    try {
      if (!has_one_communicator) {
        throw error(errc::invalid_argument,
                    "tally::nccl::matrix: the layouts have two communicators");
      }
      part = distributed::rows_part<Value, Index>("tally::nccl::matrix", *rows_, *columns_,
                                                  over_->rank(), local);
    } catch (const error& e) {
      failed = e;
    } catch (const std::bad_alloc& e) {
      failed = error(errc::out_of_memory, e.what());
    }
    const std::int64_t mine = failed ? 1 : 0;
    std::vector<std::int64_t> all(static_cast<std::size_t>(over_->ranks()));
    over_->gather(&mine, all.data(), sizeof mine);
    if (failed) throw *failed;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r] == 0) continue;
      throw error(errc::invalid_argument, "tally::nccl::matrix: the rows of rank " +
                                              std::to_string(r) + " were refused there");
    }
    return part;
  }

  /// Exchanges the lists of needed columns.
  /// @return local indices that other ranks need, message by message.
  std::vector<Index> find_neighbours(const executor& where, const std::vector<std::int64_t>& used) {
    const auto ranks = static_cast<std::size_t>(over_->ranks());
    const auto mine = static_cast<std::size_t>(over_->rank());
    std::vector<std::int64_t> needed(ranks), all(ranks * ranks);
    for (const distributed::message& m : received_) {
      needed[static_cast<std::size_t>(m.rank)] = static_cast<std::int64_t>(m.count);
    }
    over_->gather(needed.data(), all.data(), ranks * sizeof(std::int64_t));
    std::size_t count = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto wanted = static_cast<std::size_t>(all[r * ranks + mine]);
      if (wanted == 0) continue;
      sent_.push_back({static_cast<int>(r), count, wanted});
      count += wanted;
    }
    constexpr std::size_t bytes = sizeof(std::int64_t);
    const buffer asked(where, used.size() * bytes), given(where, count * bytes);
    if (!used.empty()) copy_bytes(where, used.data(), asked.get(), asked.bytes());
    exchange(received_, asked.get(), sent_, given.get(), bytes, where.stream());
    std::vector<std::int64_t> columns(count);
    if (count > 0) copy_bytes(where, given.get(), columns.data(), given.bytes());
    calls::check(cudaStreamSynchronize(where.stream()), "cudaStreamSynchronize");
    std::vector<Index> own;
    for (const std::int64_t c : columns) {
      own.push_back(static_cast<Index>(c - columns_->first(over_->rank())));
    }
    return own;
  }

  void exchange(const std::vector<distributed::message>& sent, const void* from,
                const std::vector<distributed::message>& received, void* to, std::size_t bytes,
                cudaStream_t stream) const {
    if (sent.empty() && received.empty()) return;
    calls::together([&] {
      for (const distributed::message& m : received) {
        calls::check(ncclRecv(static_cast<std::byte*>(to) + m.first * bytes, m.count * bytes,
                              ncclUint8, m.rank, over_->get(), stream),
                     "ncclRecv");
      }
      for (const distributed::message& m : sent) {
        calls::check(ncclSend(static_cast<const std::byte*>(from) + m.first * bytes,
                              m.count * bytes, ncclUint8, m.rank, over_->get(), stream),
                     "ncclSend");
      }
    });
  }

  const communicator* over_;
  std::shared_ptr<const distributed::borders> rows_, columns_;
  std::vector<distributed::message> received_;  ///< positions in `used_x_`
  std::vector<distributed::message> sent_;      ///< positions in `gathered_`
  std::unique_ptr<distributed::device_copy> copy_;
  std::size_t used_ = 0;   ///< elements that boundary rows need
  std::size_t below_ = 0;  ///< number of them on lower ranks
  buffer used_x_;
  buffer gathered_;    ///< elements that other ranks need
  buffer boundary_y_;  ///< results of boundary rows
  std::unique_ptr<matrices::side_stream> messages_;
};

/// Takes the values' type from the rows.
template <element Value, csr_index Offset, csr_index Column>
matrix(const layout&, const executor&, const csr_view<Value, Offset, Column>&) -> matrix<Value>;
/// The same for two layouts.
template <element Value, csr_index Offset, csr_index Column>
matrix(const layout&, const layout&, const executor&, const csr_view<Value, Offset, Column>&)
    -> matrix<Value>;

template <element Value, csr_index Index>
void matrix<Value, Index>::multiply(const executor& where, const scalar& alpha, const operand& x,
                                    const scalar& beta, const output_operand& y, grade g,
                                    const std::optional<operand>& added) const {
  over_->check_executor(where);
  const auto width = static_cast<std::size_t>(columns_->size(over_->rank()));
  const distributed::arrays& here = copy_->here();
  if (x.size != width || y.size != here.interior.rows || (added && added->size != y.size)) {
    throw error(errc::size_mismatch,
                "tally::nccl::spmv: x has " + std::to_string(x.size) + " elements and y has " +
                    std::to_string(y.size) + ", of this rank's part of the matrix " +
                    std::to_string(width) + " and " + std::to_string(here.interior.rows));
  }
  const std::size_t bytes = size_of(x.element);
  auto* const used_x = static_cast<std::byte*>(used_x_.get());
  const calls::current_device current(over_->device());
  gather_elements(where, {x, here.own_sent, {gathered_.get(), here.own_sent.size, 1, x.element}});
  const bool travels = !sent_.empty() || !received_.empty();
  if (travels) {
    messages_->fork(where.stream());
    exchange(sent_, gathered_.get(), received_, used_x, bytes, messages_->get());
  }

  const call_options options{g, false};
  const output_operand sums{boundary_y_.get(), here.boundary_rows.size, 1, y.element};
  gather_elements(where,
                  {x, here.own_used, {used_x + below_ * bytes, here.own_used.size, 1, x.element}});
  const spmv_arguments interior{here.interior,           x,       y,    alpha, beta,
                                &copy_->interior_plan(), options, added};
  if (interior.reads_addend()) {
    gather_elements(where, {interior.addend(), here.boundary_rows, sums});
  }
  spmv(where, interior);
  if (travels) messages_->join(where.stream());
  if (here.boundary_rows.size == 0) return;
  spmv_arguments boundary{here.boundary, {used_x, used_, 1, x.element}, sums,   alpha,
                          beta,          &copy_->boundary_plan(),       options};
  if (added) boundary.added = operand(sums);
  spmv(where, boundary);
  scatter_elements(where, {sums, here.boundary_rows, y});
}

/// y = A x. Does not block: the product is queued on the executor's stream, and may be captured.
///
/// @param where  this rank's executor.
/// @param x      this rank's part, in the layout of columns, on its device.
/// @param y      this rank's part of the result, in the layout of rows; shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
/// @throws error on this rank, as `tally::spmv`, and size_mismatch.
template <element Value, csr_index Index, vector_operand X, vector_output Y>
  requires spmvs::computable<Value, X, Y>
void spmv(const executor& where, const matrix<Value, Index>& a, const X& x, Y&& y, grade g = {}) {
  a.multiply(where, 1, as_operand(x), 0, as_output(y), g);
}

/// y = alpha A x + beta y; with beta 0, y is not read.
template <element S, element Value, csr_index Index, vector_operand X, element R, vector_output Y>
  requires spmvs::computable<Value, X, Y> && spmvs::factor<S, Value, X, Y> &&
           spmvs::factor<R, Value, X, Y>
void spmv(const executor& where, S alpha, const matrix<Value, Index>& a, const X& x, R beta, Y&& y,
          grade g = {}) {
  a.multiply(where, alpha, as_operand(x), beta, as_output(y), g);
}

/// w = alpha A x + beta y, such as a residual. y is read whatever beta is.
/// @param y  this rank's part, in the layout of rows.
/// @param w  of y's type; y itself, or memory disjoint from y.
template <element S, element Value, csr_index Index, vector_operand X, element R, vector_operand Y,
          vector_output W>
  requires spmvs::computable<Value, X, W> && spmvs::factor<S, Value, X, W> &&
           spmvs::factor<R, Value, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(const executor& where, S alpha, const matrix<Value, Index>& a, const X& x, R beta,
          const Y& y, W&& w, grade g = {}) {
  a.multiply(where, alpha, as_operand(x), beta, as_output(w), g, as_operand(y));
}

}  // namespace tally::nccl
