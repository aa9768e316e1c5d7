// Sparse matrix times vector over devices: y = A x, y = alpha A x + beta y, w = alpha A x + beta y,
// rows in blocks.
//
// Promise: each y_i has the bits that `tally::spmv` (<tally/spmv.hpp>) has for the whole matrix in
// one process, in either grade, for any number of devices and wherever rows and columns are cut.
//
// That is so because a row's sum is never split. Interior rows, whose columns are all this rank's,
// are multiplied while the elements that others need travel, on a stream of the matrix's own.
// Boundary rows are multiplied when all that they need has arrived, in a vector of its own with the
// elements of ranks below, of this one and of ranks above. The terms of a row stay in their order.
//
// A matrix is made in host memory and copied to the device. A product is queued on the executor's
// stream, doesn't block, and may be captured in a graph. A matrix is multiplied by one vector at a
// time: products on another stream begin when those before have ended.
#pragma once

#include <tally/buffer.hpp>
#include <tally/csr_matrix.hpp>
#include <tally/distributed/borders.hpp>
#include <tally/distributed/device_copy.hpp>
#include <tally/distributed/rows_part.hpp>
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
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::nccl {

namespace matrices {

/// A stream for messages, which follows another one and which that one follows again.
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
  /// Lets it begin where `stream` is.
  void fork(cudaStream_t stream) const { follow(stream, forked_, stream_); }
  /// Lets `stream` go on when this one is here.
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

/// This rank's rows of a whole matrix, which each rank has read: `tally::nccl::matrix A(l, where,
/// tally::nccl::rows_of(l, all.view()))`.
/// @throws error size_mismatch, on this rank alone, if the matrix has not as many rows as the
///               layout has elements, or offsets are missing.
template <element Value, csr_index Offset, csr_index Column>
csr_view<Value, Offset, Column> rows_of(const layout& l,
                                        const csr_view<Value, Offset, Column>& whole) {
  return distributed::rows_of("tally::nccl::rows_of", l.total(), l.first(), l.size(), whole);
}

/// A matrix whose rows are distributed by one layout and its columns, so the vectors that it is
/// multiplied by, by another or the same.
///
/// It has copies of all that it needs on the device. Making it and multiplying it are collective; a
/// product exchanges messages with those ranks alone that have columns which this one needs, or the
/// reverse. The communicator of the layouts must outlive it. It can be moved but not copied.
/// @tparam Value the type of its values, as for `tally::spmv`.
/// @tparam Index what counts the rows, columns and terms of one rank.
template <element Value, csr_index Index = std::int32_t>
class matrix {
 public:
  /// A square matrix of this rank's rows. Collective; blocks.
  /// @param l      of the rows and of the columns.
  /// @param where  an executor on this rank's device.
  /// @param local  this rank's rows, `l.size()` of them, with the column indices of the whole
  ///               matrix, `l.total()` columns, in host memory. It is copied. The terms of a row
  ///               may be in any order, and keep it.
  /// @throws error on all ranks, if one has what `tally::validate` throws, size_mismatch, or
  ///               invalid_argument for more terms or columns than `Index` counts; out_of_memory,
  ///               device_failure.
  template <csr_index Offset, csr_index Column>
  matrix(const layout& l, const executor& where, const csr_view<Value, Offset, Column>& local)
      : matrix(l, l, where, local) {}

  /// The same of any height and width.
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

  /// How many rows it has, those of all ranks.
  std::int64_t rows() const noexcept { return rows_->total(); }
  /// How many columns it has.
  std::int64_t columns() const noexcept { return columns_->total(); }
  /// How many rows of this rank wait for elements of others.
  std::size_t boundary_rows() const noexcept { return copy_->here().boundary_rows.size; }
  /// How many elements of others this rank needs.
  std::size_t ghosts() const noexcept { return used_ - copy_->here().own_used.size; }

  /// y = alpha A x + beta y with types erased: what `spmv` calls. The vector that beta multiplies
  /// is `added`, where there is one.
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

  /// Tells other ranks what this one needs of them.
  /// @return what they need of this one, message by message.
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

  /// Sends elements of so many bytes, and lets others come.
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
  std::vector<distributed::message> received_;  ///< to places among the elements that are used
  std::vector<distributed::message> sent_;      ///< from places in `gathered_`
  std::unique_ptr<distributed::device_copy> copy_;
  std::size_t used_ = 0;   ///< elements that boundary rows need
  std::size_t below_ = 0;  ///< those of them that lower ranks have
  buffer used_x_;          ///< these elements
  buffer gathered_;        ///< elements that others need
  buffer boundary_y_;      ///< what boundary rows give
  std::unique_ptr<matrices::side_stream> messages_;
};

/// A matrix takes its type of values from the rows that it is made of.
template <element Value, csr_index Offset, csr_index Column>
matrix(const layout&, const executor&, const csr_view<Value, Offset, Column>&) -> matrix<Value>;
/// The same with a layout of the columns.
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

/// y = A x. Doesn't block: it returns when all of the product is queued on the executor's stream,
/// and may be captured.
///
/// @param where  this rank's executor.
/// @param a      a matrix.
/// @param x      this rank's part of a vector that is distributed as the columns are, on its
///               device.
/// @param y      this rank's part of one that is distributed as the rows are, and is written; it
///               shares no memory with x.
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

/// w = alpha A x + beta y: residuals, among others. y is an input, and is read whatever beta is.
/// @param y  this rank's part of a vector that is distributed as the rows are.
/// @param w  another one of the same type, which is written: y itself, or a vector that shares no
///           memory with y.
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
