// Sparse matrix times vector over ranks, by blocks of rows: y = A x, y = alpha A x + beta y, w =
// alpha A x + beta y.
//
// Promise: each y_i has the bits of `tally::spmv` (<tally/spmv.hpp>) for the whole matrix in one
// process, in either grade and for any partition: a row's sum is never split into a local and a
// remote part (<tally/detail/distributed/rows_part.hpp>).
//
// The matrix is made in host memory. On CUDA the first product copies it to the device and makes
// plans; messages travel through pinned host memory, so MPI need not be CUDA-aware. One product at
// a time: on a device, products on another stream begin after those before.
#pragma once

#include <tally/csr_matrix.hpp>
#include <tally/detail/distributed/borders.hpp>
#include <tally/detail/distributed/device_copy.hpp>
#include <tally/detail/distributed/rows_part.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/gather.hpp>
#include <tally/mpi/agreement.hpp>
#include <tally/mpi/calls.hpp>
#include <tally/mpi/communicator.hpp>
#include <tally/mpi/entries.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/mpi/reduction.hpp>
#include <tally/mpi/resident.hpp>
#include <tally/operand.hpp>
#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::mpi {

namespace matrices {

inline MPI_Datatype type_of_size(std::size_t bytes) {
  return bytes == 4 ? MPI_UINT32_T : bytes == 8 ? MPI_UINT64_T : MPI_C_DOUBLE_COMPLEX;
}

/// Errors are named after `spmv`.
inline void gather(const executor& where, const gather_arguments& arguments) {
  try {
    gather_elements(where, arguments);
  } catch (const error& e) {
    constexpr std::string_view name = "tally::gather";
    const std::string_view text = e.what();
    if (!text.starts_with(name)) throw;
    throw error(e.code(), "tally::mpi::spmv" + std::string(text.substr(name.size())));
  }
}

}  // namespace matrices

/// Returns this rank's rows of a matrix that each rank has read:
/// `tally::mpi::matrix A(l, tally::mpi::rows_of(l, all.view()))`.
/// @throws error size_mismatch, on this rank alone, if the number of rows is not the layout's
///               total, or offsets are missing.
template <element Value, csr_index Offset, csr_index Column>
csr_view<Value, Offset, Column> rows_of(const layout& l,
                                        const csr_view<Value, Offset, Column>& whole) {
  return distributed::rows_of("tally::mpi::rows_of", l.total(), l.first(), l.size(), whole);
}

/// A matrix with layouts of its rows and of its columns (the vectors it is multiplied by), possibly
/// the same.
///
/// It copies all it needs and shares its row layout's communicator. Construction and products are
/// collective; a product exchanges messages only with neighbours.
/// @tparam Value type of values, as for `tally::spmv`.
/// @tparam Index type of local indices and offsets.
template <element Value, csr_index Index = std::int32_t>
class matrix {
 public:
  /// Makes a square matrix. Collective; blocks. One MPI_Alltoall of a number per rank.
  /// @param l      layout of rows and columns.
  /// @param local  this rank's `l.size()` rows with global column indices (`l.total()` columns).
  ///               Copied; the terms of a row keep their order.
  /// @throws error on all ranks, as `tally::validate`; size_mismatch; invalid_argument for more
  ///               terms or columns than `Index` counts.
  template <csr_index Offset, csr_index Column>
  matrix(const layout& l, const csr_view<Value, Offset, Column>& local) : matrix(l, l, local) {}

  /// Makes a rectangular matrix.
  /// @param rows, columns  layouts with the same order of ranks, else all ranks throw
  ///                       invalid_argument.
  template <csr_index Offset, csr_index Column>
  matrix(const layout& rows, const layout& columns, const csr_view<Value, Offset, Column>& local)
      : matrix(in_one_order(rows, columns), rows.borders(), columns.borders(), local) {}

  /// Global number of rows; 0 if it was moved from.
  std::int64_t rows() const noexcept { return over_ ? rows_->total() : 0; }
  /// Global number of columns; 0 if it was moved from.
  std::int64_t columns() const noexcept { return over_ ? columns_->total() : 0; }
  /// Number of local rows that need other ranks' elements.
  std::size_t boundary_rows() const noexcept { return part_.boundary_rows.size(); }
  /// Number of other ranks' elements needed.
  std::size_t ghosts() const noexcept { return part_.used.size() - part_.own_used.size(); }

  /// Type-erased `spmv`; beta multiplies `added`, if present, instead of y.
  void multiply(const executor& where, const scalar& alpha, const operand& x, const scalar& beta,
                const output_operand& y, grade g, const std::optional<operand>& added = {}) const;

  /// Returns the (conjugate) transpose.
  matrix transposed(conjugate values) const;

 private:
  template <csr_index Offset, csr_index Column>
  matrix(std::shared_ptr<calls::communicator> over,
         std::shared_ptr<const distributed::borders> rows,
         std::shared_ptr<const distributed::borders> columns,
         const csr_view<Value, Offset, Column>& local)
      : over_(std::move(over)),
        tag_(over_->next_tag()),
        rows_(std::move(rows)),
        columns_(std::move(columns)),
        rank_(calls::rank_in(over_->get())) {
    std::optional<calls::failure> failed;
    calls::attempt(failed, [&] {
      part_ = distributed::rows_part<Value, Index>("tally::mpi::matrix", *rows_, *columns_, rank_,
                                                   local);
      calls::count_of(part_.used.size());
    });
    calls::agree(over_->get(), failed);
    find_neighbours();
  }

  void check_not_moved_from() const {
    if (over_) return;
    throw error(errc::invalid_argument, "tally::mpi::matrix: it was moved from");
  }

  static std::shared_ptr<calls::communicator> in_one_order(const layout& rows,
                                                           const layout& columns) {
    int result = MPI_IDENT;
    calls::check(MPI_Comm_compare(rows.communicator(), columns.communicator(), &result),
                 "MPI_Comm_compare");
    if (result != MPI_IDENT && result != MPI_CONGRUENT) {
      throw error(errc::invalid_argument,
                  "tally::mpi::matrix: the layouts have their ranks in different orders");
    }
    return rows.over();
  }

  void find_neighbours() {
    MPI_Comm comm = over_->get();
    const auto ranks = static_cast<std::size_t>(calls::ranks_of(comm));
    std::optional<calls::failure> failed;
    std::vector<int> needed(ranks), wanted(ranks);
    std::vector<std::int64_t> columns;
    std::optional<calls::exchange> messages;
    received_ = part_.received(*columns_, rank_);
    for (const distributed::message& m : received_) {
      needed[static_cast<std::size_t>(m.rank)] = static_cast<int>(m.count);
    }
    calls::check(MPI_Alltoall(needed.data(), 1, MPI_INT, wanted.data(), 1, MPI_INT, comm),
                 "MPI_Alltoall");
    calls::attempt(failed, [&] {
      std::size_t all = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        if (wanted[r] == 0) continue;
        sent_.push_back({static_cast<int>(r), all, static_cast<std::size_t>(wanted[r])});
        all += sent_.back().count;
      }
      columns.resize(all);
      own_sent_.reserve(all);
      messages.emplace(sent_.size() + received_.size());
    });
    calls::agree(comm, failed);

    calls::attempt(failed, [&] {
      for (const distributed::message& m : sent_) {
        messages->receive(columns.data() + m.first, static_cast<int>(m.count), MPI_INT64_T, m.rank,
                          tag_, comm);
      }
      for (const distributed::message& m : received_) {
        messages->send(part_.used.data() + m.first, static_cast<int>(m.count), MPI_INT64_T, m.rank,
                       tag_, comm);
      }
      messages->wait();
      for (const std::int64_t c : columns) {
        own_sent_.push_back(static_cast<Index>(c - columns_->first(rank_)));
      }
    });
    calls::agree(comm, failed);
  }

  std::shared_ptr<calls::communicator> over_;
  int tag_;
  std::shared_ptr<const distributed::borders> rows_, columns_;
  int rank_;
  distributed::rows_part<Value, Index> part_;
  std::vector<Index> own_sent_;                 ///< for other ranks, message by message
  std::vector<distributed::message> received_;  ///< positions in `part_.used`
  std::vector<distributed::message> sent_;      ///< positions in `own_sent_`
  mutable matrices::resident resident_;
};

/// Takes the values' type from the rows.
template <element Value, csr_index Offset, csr_index Column>
matrix(const layout&, const csr_view<Value, Offset, Column>&) -> matrix<Value>;
/// The same for two layouts.
template <element Value, csr_index Offset, csr_index Column>
matrix(const layout&, const layout&, const csr_view<Value, Offset, Column>&) -> matrix<Value>;

template <element Value, csr_index Index>
void matrix<Value, Index>::multiply(const executor& where, const scalar& alpha, const operand& x,
                                    const scalar& beta, const output_operand& y, grade g,
                                    const std::optional<operand>& added) const {
  check_not_moved_from();
  if (!is_in<spmvs::vector_types>(x.element) || !is_in<spmvs::vector_types>(y.element)) {
    throw error(errc::unsupported_type,
                "tally::mpi::spmv: vectors are of float32, float64, complex64 or complex128");
  }
  const std::size_t x_bytes = size_of(x.element);
  const executor on = where.name() == "automatic" ? choose(x, operand(y)) : where;
  const distributed::arrays on_host = {
      as_operand(part_.interior.view()), as_operand(part_.boundary.view()),
      distributed::as_indices(part_.boundary_rows), distributed::as_indices(part_.own_used),
      distributed::as_indices(own_sent_)};
  std::optional<calls::failure> failed;
  matrices::placement p;
  calls::attempt(failed,
                 [&] { p = resident_.on(on, on_host, part_.used.size(), x.element, y.element); });
  std::vector<std::byte> received;  // messages arrive even if there is no memory
  if (failed) {
    received.resize(part_.used.size() * x_bytes);
    p.received = received.data();
  }

  const MPI_Datatype type = matrices::type_of_size(x_bytes);
  calls::exchange messages(received_.size() + sent_.size());
  for (const distributed::message& m : received_) {
    messages.receive(p.received + m.first * x_bytes, static_cast<int>(m.count), type, m.rank, tag_,
                     over_->get());
  }

  calls::attempt(failed, [&] {
    const auto width = static_cast<std::size_t>(columns_->size(rank_));
    if (x.size != width || y.size != part_.interior.rows || (added && added->size != y.size)) {
      throw error(errc::size_mismatch,
                  "tally::mpi::spmv: x has " + std::to_string(x.size) + " elements and y has " +
                      std::to_string(y.size) + ", of this rank's part of the matrix " +
                      std::to_string(width) + " and " + std::to_string(part_.interior.rows));
    }
    for (const auto& [name, v] : {std::pair("x", x), std::pair("y", operand(y))}) {
      if (v.data != nullptr || v.size == 0) continue;
      throw error(errc::null_pointer, std::string("tally::mpi::spmv: ") + name +
                                          " is null and should point at " + std::to_string(v.size) +
                                          " elements");
    }
    const output_operand gathered{p.gathered, own_sent_.size(), 1, x.element};
    matrices::gather(on, {x, p.here.own_sent, gathered});
    if (p.gathered != p.sent) copy_bytes(on, p.gathered, p.sent, own_sent_.size() * x_bytes);
  });
  for (const distributed::message& m : sent_) {  // a failed rank sends empty messages
    messages.send(p.sent + m.first * x_bytes, failed ? 0 : static_cast<int>(m.count), type, m.rank,
                  tag_, over_->get());
  }
  const call_options options{g, false};
  const output_operand sums{p.boundary_y, part_.boundary_rows.size(), 1, y.element};
  calls::attempt(failed, [&] {
    const output_operand own{p.used_x + part_.below * x_bytes, part_.own_used.size(), 1, x.element};
    matrices::gather(on, {x, p.here.own_used, own});
    const spmv_arguments product{p.here.interior, x,       y,    alpha, beta,
                                 p.interior_plan, options, added};
    if (product.reads_addend()) {
      matrices::gather(on, {product.addend(), p.here.boundary_rows, sums});
    }
    spmv(on, product);
  });

  const std::vector<MPI_Status> statuses = messages.wait();
  calls::attempt(failed, [&] {
    for (std::size_t i = 0; i < received_.size(); ++i) {
      int count = 0;
      calls::check(MPI_Get_count(&statuses[i], type, &count), "MPI_Get_count");
      if (count == 0) {
        throw error(errc::invalid_argument, "tally::mpi::spmv: rank " +
                                                std::to_string(received_[i].rank) +
                                                " has failed, and its elements are missing here");
      }
    }
    if (part_.boundary_rows.empty()) return;
    if (p.used_x != p.received) {  // of lower and higher ranks
      const std::size_t above = part_.below + part_.own_used.size();
      copy_bytes(on, p.received, p.used_x, part_.below * x_bytes);
      copy_bytes(on, p.received + above * x_bytes, p.used_x + above * x_bytes,
                 (part_.used.size() - above) * x_bytes);
    }
    const operand used{p.used_x, part_.used.size(), 1, x.element};
    spmv_arguments product{p.here.boundary, used, sums, alpha, beta, p.boundary_plan, options};
    if (added) product.added = operand(sums);
    spmv(on, product);
    scatter_elements(on, {sums, p.here.boundary_rows, y});
  });
  if (failed) throw error(failed->code, failed->text);
}

template <element Value, csr_index Index>
matrix<Value, Index> matrix<Value, Index>::transposed(conjugate values) const {
  check_not_moved_from();
  using entry = matrix_entry<Value>;
  // To the owner of the column, in row order.
  const auto for_each_entry = [&](const auto& f) {
    const std::int64_t first = columns_->first(rank_);
    std::size_t boundary = 0;
    for (std::size_t i = 0; i < part_.interior.rows; ++i) {
      const std::int64_t row = rows_->first(rank_) + static_cast<std::int64_t>(i);
      const auto each = [&](const auto& part, std::size_t r, const auto& column) {
        const auto begin = static_cast<std::size_t>(part.row_offsets[r]);
        const auto end = static_cast<std::size_t>(part.row_offsets[r + 1]);
        for (std::size_t j = begin; j < end; ++j) {
          f(entry{row, column(part.column_indices[j]), part.values[j]});
        }
      };
      each(part_.interior, i, [&](Index c) { return first + static_cast<std::int64_t>(c); });
      if (boundary < part_.boundary_rows.size() &&
          static_cast<std::size_t>(part_.boundary_rows[boundary]) == i) {
        each(part_.boundary, boundary++,
             [&](Index c) { return part_.used[static_cast<std::size_t>(c)]; });
      }
    }
  };
  const std::vector<entry> received = matrices::sent_to_owners<Value>(
      *over_, for_each_entry, [&](const entry& e) { return columns_->owner(e.column); });

  // Arrival is in rank order, so in row order; sorting by column is stable.
  std::optional<calls::failure> failed;
  csr_matrix<Value, std::int64_t, std::int64_t> local;
  calls::attempt(failed, [&] {
    const std::int64_t first = columns_->first(rank_);
    local.rows = static_cast<std::size_t>(columns_->size(rank_));
    local.columns = static_cast<std::size_t>(rows_->total());
    local.row_offsets.assign(local.rows + 1, 0);
    local.column_indices.resize(received.size());
    local.values.resize(received.size());
    for (const entry& e : received)
      ++local.row_offsets[static_cast<std::size_t>(e.column - first) + 1];
    std::partial_sum(local.row_offsets.begin(), local.row_offsets.end(), local.row_offsets.begin());
    std::vector<std::int64_t> next(local.row_offsets.begin(), local.row_offsets.end() - 1);
    for (const entry& e : received) {
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(e.column - first)]++);
      local.column_indices[to] = e.row;
      local.values[to] = e.value;
      if constexpr (is_complex_v<Value>) {
        if (values == conjugate::x) local.values[to] = std::conj(e.value);
      }
    }
  });
  calls::agree(over_->get(), failed);
  return matrix(over_, columns_, rows_, local.view());
}

/// Returns the transpose of A, layouts swapped, with its rows' terms in the order of A's rows, so
/// the promise holds. Collective; blocks. Each term travels once, at most 2^31 - 1 per rank.
/// @throws error on all ranks invalid_argument for more terms, device_failure, out_of_memory.
template <element Value, csr_index Index>
matrix<Value, Index> transpose(const matrix<Value, Index>& a) {
  return a.transposed(conjugate::none);
}

/// Returns the transpose of A with conjugated values.
template <element Value, csr_index Index>
matrix<Value, Index> conjugate_transpose(const matrix<Value, Index>& a) {
  return a.transposed(conjugate::x);
}

/// y = A x. Blocks until messages have arrived; on a device the product is queued on the executor's
/// stream, and cannot be captured.
///
/// @param where  this rank's executor.
/// @param x      this rank's part, in the layout of columns.
/// @param y      this rank's part of the result, in the layout of rows; shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
/// @throws error on this rank, as `tally::spmv`; size_mismatch, wrong_memory. If elements were not
///               yet sent, ranks that need them throw invalid_argument; others learn of it only in
///               `tally::mpi::dot` and other sums.
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

}  // namespace tally::mpi
