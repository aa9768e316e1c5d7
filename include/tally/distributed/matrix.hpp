// Sparse matrix times one or several vectors over ranks, by blocks of rows: y = A x, y = alpha A x
// + beta y, w = alpha A x + beta y, Y = alpha A X + beta Y. See <tally/mpi/matrix.hpp> and
// <tally/nccl/matrix.hpp>. Promise: each y_i has the bits of `tally::spmv` for the whole matrix in
// one process, in either grade and for any partition (rank_rows.hpp).
#pragma once

#include <tally/distributed/rank_rows.hpp>
#include <tally/operations/gather.hpp>
#include <tally/sparse/spmm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::distributed {

/// Returns this rank's rows of a matrix that each rank has read:
/// `tally::mpi::matrix A(l, tally::mpi::rows_of(l, all.view()))`.
/// @throws error size_mismatch, on this rank alone, if the number of rows is not the layout's
///               total, or offsets are missing.
template <layout L, element Value, csr_index Offset, csr_index Column>
csr_view<Value, Offset, Column> rows_of(const L& l, const csr_view<Value, Offset, Column>& whole) {
  const auto refuse = [&](const std::string& what) {
    throw error(errc::size_mismatch, std::string(detail::transport<L>::name) +
                                         "::rows_of: the matrix has " + std::to_string(whole.rows) +
                                         " rows" + what);
  };
  if (whole.rows != static_cast<std::size_t>(l.total())) {
    refuse(", the layout has " + std::to_string(l.total()) + " elements");
  }
  const std::size_t offsets = whole.row_ends
                                  ? (std::min)(whole.row_offsets.size(), whole.row_ends->size())
                                  : whole.row_offsets.size() - !whole.row_offsets.empty();
  if (offsets < whole.rows) refuse(" and offsets for " + std::to_string(offsets));
  if (whole.rows == 0) return whole;
  const auto begin = static_cast<std::size_t>(l.first());
  const auto count = static_cast<std::size_t>(l.size());
  const auto ends = whole.row_ends ? *whole.row_ends : whole.row_offsets.subspan(1);
  return {count,
          whole.columns,
          whole.row_offsets.subspan(begin, count),
          ends.subspan(begin, count),
          whole.column_indices,
          whole.values};
}

/// A matrix with layouts of its rows and of its columns (the vectors it is multiplied by), possibly
/// the same. Construction and products are collective; a product exchanges messages only with
/// neighbours. Movable, not copyable.
/// @tparam Neighbours the transport's messages: `lists`, made here; `name`, `rank()`, `ranks()`;
///                    `check_count(n)` of elements; `agree(failed)`, which throws on all ranks what
///                    one has thrown; `exchange_counts(counts)`, a number to each rank and from it;
///                    `exchange_indices(needed, wanted)`, against the direction of the lists.
///                    `product` carries the elements of one product: `where()`; `send(failed)` and
///                    `receive(failed)`, between which they travel, also if this rank has failed
///                    where others would wait.
/// @tparam Value type of values, as for `tally::spmv`.
/// @tparam Index type of local indices and offsets.
template <class Neighbours, element Value, csr_index Index>
class matrix {
 public:
  /// Global number of rows; 0 if it was moved from.
  std::int64_t rows() const noexcept { return row_borders_ ? row_borders_->total() : 0; }
  /// Global number of columns; 0 if it was moved from.
  std::int64_t columns() const noexcept { return row_borders_ ? column_borders_->total() : 0; }
  /// Number of local rows that need other ranks' elements; 0 if it was moved from.
  std::size_t boundary_rows() const noexcept { return row_borders_ ? here_.boundary_rows.size : 0; }
  /// Number of other ranks' elements needed; 0 if it was moved from.
  std::size_t ghosts() const noexcept {
    return row_borders_ ? here_.used - here_.own_used.size : 0;
  }

  /// Type-erased `spmv`; beta multiplies `added`, if present, instead of y.
  void multiply(const executor& where, const scalar& alpha, const operand& x, const scalar& beta,
                const output_operand& y, grade g, const std::optional<operand>& added = {}) const {
    multiply(where, {alpha, x, beta, y, g, added});
  }
  /// Type-erased `spmm`.
  void multiply(const executor& where, const scalar& alpha, const operand_rows& x,
                const scalar& beta, const output_rows& y, grade g) const;

 protected:
  /// @cond
  using borders_pointer = std::shared_ptr<const detail::borders>;

  template <csr_index Offset, csr_index Column>
  matrix(Neighbours neighbours, borders_pointer rows, borders_pointer columns,
         const csr_view<Value, Offset, Column>& local)
      : neighbours_(std::move(neighbours)),
        row_borders_(std::move(rows)),
        column_borders_(std::move(columns)) {
    std::optional<detail::failure> failed;
    detail::attempt(failed, [&] {
      part_ = detail::rows_part<Value, Index>(Neighbours::name, *row_borders_, *column_borders_,
                                              rank(), local);
      Neighbours::check_count(part_.used.size());
    });
    neighbours_.agree(failed);
    find_neighbours();
    here_ = {as_operand(part_.interior.view()),
             as_operand(part_.boundary.view()),
             detail::as_indices(part_.boundary_rows),
             detail::as_indices(part_.own_used),
             detail::as_indices(own_sent_),
             part_.used.size(),
             part_.below};
  }

  int rank() const { return neighbours_.rank(); }
  void check_not_moved_from() const {
    if (row_borders_) return;
    throw error(errc::invalid_argument,
                std::string(Neighbours::name) + "::matrix: it was moved from");
  }
  /// Moves to the memory of a device.
  void leave_host(const executor& where) {
    placed_.emplace(where, here_);
    here_ = placed_->here();
    part_ = {};
    own_sent_ = {};
  }

  Neighbours neighbours_;
  borders_pointer row_borders_, column_borders_;
  detail::rows_part<Value, Index> part_;
  /// @endcond

 private:
  void find_neighbours() {
    const auto ranks = static_cast<std::size_t>(neighbours_.ranks());
    std::optional<detail::failure> failed;
    std::vector<std::int64_t> needed(ranks), indices;
    auto& [received, sent] = neighbours_.lists;
    received = part_.received(*column_borders_, rank());
    for (const detail::message& m : received) {
      needed[static_cast<std::size_t>(m.rank)] = static_cast<std::int64_t>(m.count);
    }
    const std::vector<std::int64_t> wanted = neighbours_.exchange_counts(needed);
    detail::attempt(failed, [&, &sent = sent] {
      std::size_t all = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        if (wanted[r] == 0) continue;
        sent.push_back({static_cast<int>(r), all, static_cast<std::size_t>(wanted[r])});
        all += sent.back().count;
      }
      indices.resize(all);
      own_sent_.reserve(all);
    });
    neighbours_.agree(failed);
    detail::attempt(failed, [&] {
      neighbours_.exchange_indices(part_.used, indices);
      for (const std::int64_t c : indices) {
        own_sent_.push_back(static_cast<Index>(c - column_borders_->first(rank())));
      }
    });
    neighbours_.agree(failed);
  }

  void multiply(const executor& where, const detail::rank_product& p) const;

  void check_operands(const detail::rank_product& p) const {
    const std::string called = std::string(Neighbours::name) + "::" + p.name + ": ";
    const auto width = static_cast<std::size_t>(column_borders_->size(rank()));
    const std::size_t height = here_.interior.rows;
    if (p.x.size != width || p.y.size != height || (p.added && p.added->size != p.y.size)) {
      const char* const units = p.x_step == 0 ? " elements" : " rows";
      throw error(errc::size_mismatch,
                  called + "x has " + std::to_string(p.x.size) + units + " and y has " +
                      std::to_string(p.y.size) + ", of this rank's part of the matrix " +
                      std::to_string(width) + " and " + std::to_string(height));
    }
    for (const auto& [name, v] : {std::pair("x", p.x), std::pair("y", operand(p.y))}) {
      if (v.data != nullptr || v.size == 0) continue;
      throw error(errc::null_pointer, called + name + " is null and should point at " +
                                          std::to_string(v.size * p.columns) + " elements");
    }
  }

  /// Gathers elements of columns, `step` apart, to rows of as many. Errors are named after the
  /// product.
  static void gather(const executor& where, const detail::rank_product& p, const operand& from,
                     std::ptrdiff_t step, const operand& indices, std::byte* to) {
    const auto row = static_cast<std::ptrdiff_t>(p.columns);
    const output_operand rows{to, indices.size, row, from.element};
    try {
      for (std::size_t j = 0; j < p.columns; ++j) {
        gather_elements(where,
                        {detail::column_of(from, step, j), indices, detail::column_of(rows, 1, j)});
      }
    } catch (const error& e) {
      constexpr std::string_view name = "tally::gather";
      const std::string_view text = e.what();
      if (!text.starts_with(name)) throw;
      throw error(e.code(), std::string(Neighbours::name) + "::" + p.name +
                                std::string(text.substr(name.size())));
    }
  }

  /// Multiplies by some of the rows: of a product or of several.
  static void multiply_rows(const executor& where, const detail::rank_product& p,
                            const csr_operand& a, const spmv_plan* plan) {
    const call_options options{p.g, false};
    if (p.x_step == 0) {
      const spmv_arguments one{a, p.x, p.y, p.alpha, p.beta, plan, options, p.added};
      return tally::spmv(where, one);
    }
    const operand_rows x{{p.x.data, p.columns, p.x_step, p.x.element}, p.x.size, p.x.increment};
    const output_rows y{{p.y.data, p.columns, p.y_step, p.y.element}, p.y.size, p.y.increment};
    const spmm_arguments several{a, x, y, p.alpha, p.beta, plan, options};
    tally::spmm(where, several);
  }

  std::vector<Index> own_sent_;  ///< for other ranks, message by message
  detail::rank_rows here_;       ///< on the host, or where `leave_host` put it
  mutable std::optional<detail::placed_rows> placed_;  ///< for the last product's executor
};

template <class Neighbours, element Value, csr_index Index>
void matrix<Neighbours, Value, Index>::multiply(const executor& where, const scalar& alpha,
                                                const operand_rows& x, const scalar& beta,
                                                const output_rows& y, grade g) const {
  const auto refuse = [](errc code, const std::string& what) {
    throw error(code, std::string(Neighbours::name) + "::spmm: " + what);
  };
  const std::size_t columns = x.first.size;
  if (!x.is_one_block()) refuse(errc::invalid_argument, "x has more than one block of rows");
  if (y.first.size != columns) {
    refuse(errc::size_mismatch,
           "x has " + std::to_string(columns) + " columns, y has " + std::to_string(y.first.size));
  }
  if (columns == 0) return check_not_moved_from();
  // A step of 0 stands for a vector.
  if (x.first.increment == 0) refuse(errc::zero_increment, "x has increment 0");
  const auto row_step = [](const operand_rows& m) {
    return m.rows > 1 ? m.leading_dimension : std::ptrdiff_t{1};
  };
  multiply(where, {.alpha = alpha,
                   .x = {x.first.data, x.rows, row_step(x), x.first.element},
                   .beta = beta,
                   .y = {y.first.data, y.rows, row_step(y), y.first.element},
                   .g = g,
                   .name = "spmm",
                   .columns = columns,
                   .x_step = x.first.increment,
                   .y_step = y.first.increment});
}

template <class Neighbours, element Value, csr_index Index>
void matrix<Neighbours, Value, Index>::multiply(const executor& where,
                                                const detail::rank_product& p) const {
  check_not_moved_from();
  if (!is_in<detail::spmv_vector_types>(p.x.element) ||
      !is_in<detail::spmv_vector_types>(p.y.element)) {
    throw error(errc::unsupported_type,
                std::string(Neighbours::name) + "::" + p.name +
                    ": vectors are of float32, float64, complex64 or complex128");
  }
  const auto step = static_cast<std::ptrdiff_t>(p.columns);  // between rows of buffers
  std::optional<detail::failure> failed;
  typename Neighbours::product messages(neighbours_, where, p, here_, placed_, failed);
  const executor& on = messages.where();
  detail::attempt(failed, [&] {
    check_operands(p);
    gather(on, p, p.x, p.x_step, placed_->here().own_sent, placed_->gathered());
  });
  messages.send(failed);
  detail::rank_product boundary = p;
  detail::attempt(failed, [&] {
    const detail::rank_rows& here = placed_->here();
    boundary.x = {placed_->used_x(), here.used, step, p.x.element};
    boundary.y = {placed_->boundary_y(), here.boundary_rows.size, step, p.y.element};
    if (p.x_step != 0) boundary.x_step = boundary.y_step = 1;
    if (p.added) boundary.added = operand(boundary.y);
    gather(on, p, p.x, p.x_step, here.own_used, placed_->used_x() + here.below * p.row_bytes());
    if (p.added || !p.beta.is_zero()) {
      gather(on, p, p.added ? *p.added : operand(p.y), p.y_step, here.boundary_rows,
             placed_->boundary_y());
    }
    multiply_rows(on, p, here.interior, placed_->interior_plan());
  });
  messages.receive(failed);
  detail::attempt(failed, [&] {
    const detail::rank_rows& here = placed_->here();
    if (here.boundary_rows.size == 0) return;
    multiply_rows(on, boundary, here.boundary, placed_->boundary_plan());
    for (std::size_t j = 0; j < p.columns; ++j) {
      gather_elements(on, {detail::column_of(operand(boundary.y), boundary.y_step, j),
                           here.boundary_rows, detail::column_of(p.y, p.y_step, j), true});
    }
  });
  detail::throw_kept(failed);
}

/// y = A x.
///
/// @param where  this rank's executor.
/// @param x      this rank's part, in the layout of columns.
/// @param y      this rank's part of the result, in the layout of rows; shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
/// @throws error on this rank, as `tally::spmv`; size_mismatch, wrong_memory.
template <class Neighbours, element Value, csr_index Index, vector_operand X, vector_output Y>
  requires detail::has_spmv<Value, X, Y>
void spmv(const executor& where, const matrix<Neighbours, Value, Index>& a, const X& x, Y&& y,
          grade g = {}) {
  a.multiply(where, 1, as_operand(x), 0, as_output(y), g);
}

/// y = alpha A x + beta y; with beta 0, y is not read.
template <element S, class Neighbours, element Value, csr_index Index, vector_operand X, element R,
          vector_output Y>
  requires detail::has_spmv<Value, X, Y> && detail::has_spmv_factor<S, Value, X, Y> &&
           detail::has_spmv_factor<R, Value, X, Y>
void spmv(const executor& where, S alpha, const matrix<Neighbours, Value, Index>& a, const X& x,
          R beta, Y&& y, grade g = {}) {
  a.multiply(where, alpha, as_operand(x), beta, as_output(y), g);
}

/// w = alpha A x + beta y, such as a residual. y is read whatever beta is.
/// @param y  this rank's part, in the layout of rows.
/// @param w  of y's type; y itself, or memory disjoint from y.
template <element S, class Neighbours, element Value, csr_index Index, vector_operand X, element R,
          vector_operand Y, vector_output W>
  requires detail::has_spmv<Value, X, W> && detail::has_spmv_factor<S, Value, X, W> &&
           detail::has_spmv_factor<R, Value, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(const executor& where, S alpha, const matrix<Neighbours, Value, Index>& a, const X& x,
          R beta, const Y& y, W&& w, grade g = {}) {
  a.multiply(where, alpha, as_operand(x), beta, as_output(w), g, as_operand(y));
}

/// Y = A X, in one exchange for all columns. The first product of more columns than any before
/// makes room for them.
///
/// @param x      this rank's rows, in the layout of columns, of k elements: as for `tally::spmm`.
/// @param y      this rank's rows of the result, in the layout of rows; shares no memory with x.
///               All ranks pass as many columns.
/// @throws error on this rank, as `tally::spmm`; size_mismatch, wrong_memory.
template <class Neighbours, element Value, csr_index Index, class X, class Y>
  requires detail::has_spmm<Value, X, Y>
void spmm(const executor& where, const matrix<Neighbours, Value, Index>& a, const X& x, Y&& y,
          grade g = {}) {
  a.multiply(where, 1, detail::as_rows(x), 0, detail::as_output_rows(y), g);
}

/// Y = alpha A X + beta Y; with beta 0, Y is not read.
template <element S, class Neighbours, element Value, csr_index Index, class X, element R, class Y>
  requires detail::has_spmm<Value, X, Y, S, R>
void spmm(const executor& where, S alpha, const matrix<Neighbours, Value, Index>& a, const X& x,
          R beta, Y&& y, grade g = {}) {
  a.multiply(where, alpha, detail::as_rows(x), beta, detail::as_output_rows(y), g);
}

}  // namespace tally::distributed
