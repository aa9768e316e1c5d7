// Sparse matrix times vector over ranks (<tally/distributed/matrix.hpp>).
//
// The matrix is made in host memory. On CUDA the first product copies it to the device and makes
// plans; messages travel through pinned host memory, so MPI need not be CUDA-aware. One product at
// a time: on a device, products on another stream begin after those before.
#pragma once

#include <tally/distributed/matrix.hpp>
#include <tally/mpi/entries.hpp>
#include <tally/mpi/layout.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tally::mpi {

using distributed::rows_of;
using distributed::spmm;
using distributed::spmv;

namespace detail {

using communicator_pointer = std::shared_ptr<communicator>;

/// Messages of a matrix, by point-to-point calls. They lie in host memory.
class neighbours {
 public:
  static constexpr const char* name = transport::name;
  static void check_count(std::size_t elements) { count_of(elements); }

  explicit neighbours(communicator_pointer over)
      : over_(std::move(over)),
        tag_(over_->next_tag()),
        rank_(rank_in(over_->get())),
        ranks_(ranks_of(over_->get())) {}

  const communicator_pointer& over() const noexcept { return over_; }
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }

  void agree(const std::optional<failure>& failed) const { detail::agree(over_->get(), failed); }

  std::vector<std::int64_t> exchange_counts(const std::vector<std::int64_t>& needed) const {
    std::vector<std::int64_t> wanted(needed.size());
    check(MPI_Alltoall(needed.data(), 1, MPI_INT64_T, wanted.data(), 1, MPI_INT64_T, over_->get()),
          "MPI_Alltoall");
    return wanted;
  }
  void exchange_indices(const std::vector<std::int64_t>& needed,
                        std::vector<std::int64_t>& wanted) const {
    exchange messages(lists.sent.size() + lists.received.size());
    for (const message& m : lists.sent) {
      messages.receive(wanted.data() + m.first, static_cast<int>(m.count), MPI_INT64_T, m.rank,
                       tag_, over_->get());
    }
    for (const message& m : lists.received) {
      messages.send(needed.data() + m.first, static_cast<int>(m.count), MPI_INT64_T, m.rank, tag_,
                    over_->get());
    }
    messages.wait();
  }

  class product;
  message_lists lists;

 private:
  /// Makes room, for products on a device, for rows of X of `row_bytes`.
  void reserve(const executor& where, const rank_rows& rows, std::size_t row_bytes) const {
    const auto fit = [&](buffer& memory, std::size_t bytes) {
      if (bytes <= memory.bytes()) return;
      memory = buffer();  // freed before the next one is allocated
      memory = buffer(where, bytes, reach::kernels_and_host);
    };
    fit(from_others_, rows.used * row_bytes);
    fit(to_others_, rows.own_sent.size * row_bytes);
  }

  communicator_pointer over_;
  int tag_, rank_, ranks_;
  mutable buffer from_others_, to_others_;  // of products on a device
};

/// A rank that fails still sends, empty messages, and receives.
class neighbours::product {
 public:
  product(const neighbours& all, const executor& where, const rank_product& p,
          const rank_rows& rows, std::optional<placed_rows>& placed, std::optional<failure>& failed)
      : all_(all),
        name_(p.name),
        where_(where.name() == "automatic" ? choose(p.x, operand(p.y)) : where),
        rows_(rows),
        placed_(placed),
        bytes_(p.row_bytes()),
        type_(element_type(p.x.element)),
        messages_(all.lists.received.size() + all.lists.sent.size()) {
    if (p.columns > 1) {
      check(MPI_Type_contiguous(count_of(p.columns), type_, row_type_.place()),
            "MPI_Type_contiguous");
      check(MPI_Type_commit(row_type_.place()), "MPI_Type_commit");
      type_ = row_type_.get();
    }
    attempt(failed, [&] {
      if (!placed || !placed->suit(where_)) {
        placed.reset();
        all.from_others_ = buffer();
        all.to_others_ = buffer();
        placed.emplace(where_, rows);
      }
      placed->reserve(p.columns);
      if (is_device(where_)) all.reserve(where_, rows, bytes_);
      received_ =
          is_device(where_) ? static_cast<std::byte*>(all.from_others_.get()) : placed->used_x();
      sent_ =
          is_device(where_) ? static_cast<std::byte*>(all.to_others_.get()) : placed->gathered();
    });
    if (failed) {  // messages arrive even if there is no memory
      dropped_.resize(rows.used * bytes_);
      received_ = dropped_.data();
    }
    for (const message& m : all.lists.received) {
      messages_.receive(received_ + m.first * bytes_, static_cast<int>(m.count), type_, m.rank,
                        all.tag_, all.over_->get());
    }
  }

  const executor& where() const noexcept { return where_; }

  void send(std::optional<failure>& failed) {
    attempt(failed, [&] {
      if (is_device(where_)) {
        copy_bytes(where_, placed_->gathered(), sent_, rows_.own_sent.size * bytes_);
      }
    });
    for (const message& m : all_.lists.sent) {
      messages_.send(failed ? nullptr : sent_ + m.first * bytes_,
                     failed ? 0 : static_cast<int>(m.count), type_, m.rank, all_.tag_,
                     all_.over_->get());
    }
  }

  void receive(std::optional<failure>& failed) {
    const std::vector<MPI_Status> statuses = messages_.wait();
    attempt(failed, [&] {
      for (std::size_t i = 0; i < all_.lists.received.size(); ++i) {
        int count = 0;
        check(MPI_Get_count(&statuses[i], type_, &count), "MPI_Get_count");
        if (count > 0) continue;
        throw error(errc::invalid_argument, std::string(name) + "::" + name_ + ": rank " +
                                                std::to_string(all_.lists.received[i].rank) +
                                                " has failed, and its elements are missing here");
      }
      if (!is_device(where_)) return;
      const auto copy = [&](std::size_t first, std::size_t last) {
        copy_bytes(where_, received_ + first * bytes_, placed_->used_x() + first * bytes_,
                   (last - first) * bytes_);
      };
      copy(0, rows_.below);  // of lower and higher ranks
      copy(rows_.below + rows_.own_used.size, rows_.used);
    });
  }

 private:
  static MPI_Datatype element_type(type element) {
    const std::size_t bytes = size_of(element);
    return bytes == 4 ? MPI_UINT32_T : bytes == 8 ? MPI_UINT64_T : MPI_C_DOUBLE_COMPLEX;
  }

  const neighbours& all_;
  const char* name_;
  executor where_;
  const rank_rows& rows_;
  const std::optional<placed_rows>& placed_;
  std::size_t bytes_;  // of a row of X
  owned<MPI_Datatype, MPI_Type_free> row_type_{MPI_DATATYPE_NULL};
  MPI_Datatype type_;  // of a row of X
  std::byte *received_ = nullptr, *sent_ = nullptr;
  std::vector<std::byte> dropped_;
  exchange messages_;  // waits for messages before the memory goes
};

/// A communicator for both, in whose order of ranks they agree.
/// @throws error invalid_argument, on all ranks.
inline communicator_pointer in_one_order(const layout& rows, const layout& columns) {
  int result = MPI_IDENT;
  check(MPI_Comm_compare(rows.communicator(), columns.communicator(), &result), "MPI_Comm_compare");
  if (result != MPI_IDENT && result != MPI_CONGRUENT) {
    throw error(errc::invalid_argument,
                "tally::mpi::matrix: the layouts have their ranks in different orders");
  }
  return rows.over();
}

}  // namespace detail

/// A matrix over MPI ranks (`distributed::matrix`).
///
/// It copies all it needs and shares its row layout's communicator. A product blocks until its
/// messages have arrived; on a device it is queued on the executor's stream, and cannot be
/// captured. If elements were not sent because of an error, ranks that need them throw
/// invalid_argument; others learn of it only in `tally::mpi::dot` and other sums.
/// @tparam Value type of values, as for `tally::spmv`.
/// @tparam Index type of local indices and offsets.
template <element Value, csr_index Index = std::int32_t>
class matrix : public distributed::matrix<detail::neighbours, Value, Index> {
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
      : matrix(detail::in_one_order(rows, columns), rows.borders(), columns.borders(), local) {}

  /// Returns the (conjugate) transpose.
  matrix transposed(conjugate values) const;

 private:
  using borders_pointer = std::shared_ptr<const detail::borders>;

  template <csr_index Offset, csr_index Column>
  matrix(const detail::communicator_pointer& over, const borders_pointer& rows,
         const borders_pointer& columns, const csr_view<Value, Offset, Column>& local)
      : distributed::matrix<detail::neighbours, Value, Index>(detail::neighbours(over), rows,
                                                              columns, local) {}
};

template <element Value, csr_index Index>
matrix<Value, Index> matrix<Value, Index>::transposed(conjugate values) const {
  this->check_not_moved_from();
  const auto& part = this->part_;
  const std::int64_t first_row = this->row_borders_->first(this->rank());
  const std::int64_t first_column = this->column_borders_->first(this->rank());
  // In row order, which the terms of each column keep.
  const auto for_each = [&](const auto& f) {
    const auto each = [&](const auto& some, std::size_t r, std::size_t row, const auto& column) {
      const auto begin = static_cast<std::size_t>(some.row_offsets[r]);
      const auto end = static_cast<std::size_t>(some.row_offsets[r + 1]);
      for (std::size_t j = begin; j < end; ++j) {
        Value value = some.values[j];
        if constexpr (is_complex_v<Value>) {
          if (values == conjugate::x) value = std::conj(value);
        }
        f(matrix_entry<Value>{column(some.column_indices[j]),
                              first_row + static_cast<std::int64_t>(row), value});
      }
    };
    for (std::size_t i = 0, boundary = 0; i < part.interior.rows; ++i) {
      each(part.interior, i, i,
           [&](Index c) { return first_column + static_cast<std::int64_t>(c); });
      if (boundary < part.boundary_rows.size() &&
          static_cast<std::size_t>(part.boundary_rows[boundary]) == i) {
        each(part.boundary, boundary++, i,
             [&](Index c) { return part.used[static_cast<std::size_t>(c)]; });
      }
    }
  };
  const detail::communicator_pointer& over = this->neighbours_.over();
  const auto own =
      detail::entries_at_owners<matrix_entry<Value>>(*over, *this->column_borders_, for_each);
  std::optional<detail::failure> failed;
  csr_matrix<Value, std::int64_t, std::int64_t> local;
  detail::attempt(failed, [&] {
    local.rows = static_cast<std::size_t>(this->column_borders_->size(this->rank()));
    local.columns = static_cast<std::size_t>(this->rows());
    auto& offsets = local.row_offsets;
    offsets.assign(local.rows + 1, 0);
    local.column_indices.resize(own.size());
    local.values.resize(own.size());
    for (const auto& e : own) ++offsets[static_cast<std::size_t>(e.row) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (const auto& e : own) {
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(e.row)]++);
      local.column_indices[to] = e.column;
      local.values[to] = e.value;
    }
  });
  detail::agree(over->get(), failed);
  return matrix(over, this->column_borders_, this->row_borders_, local.view());
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

}  // namespace tally::mpi
