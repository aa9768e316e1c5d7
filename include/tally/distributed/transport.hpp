// Functions over ranks, written once; <tally/mpi.hpp> and <tally/nccl.hpp> have the transports.
#pragma once

#include <tally/distributed/interval_sum.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::detail {

/// What a rank throws, kept until all ranks agree on it.
struct failure {
  errc code = errc::invalid_argument;
  std::string text;
};

/// Runs a rank's local part and keeps what it throws; does nothing after a failure.
template <class Part>
void attempt(std::optional<failure>& failed, const Part& part) {
  if (failed) return;
  try {
    part();
  } catch (const error& e) {
    failed = {e.code(), e.what()};
  } catch (const std::bad_alloc& e) {
    failed = {errc::out_of_memory, e.what()};
  } catch (const std::exception& e) {
    failed = {errc::invalid_argument, e.what()};
  }
}

inline void throw_kept(const std::optional<failure>& failed) {
  if (failed) throw error(failed->code, failed->text);
}

/// A rank's elements, and the index of its first one where that is given.
struct interval {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

/// First element of each rank, then the total.
class borders {
 public:
  /// @param layout class that messages begin with.
  /// @param order  ranks in the order of their intervals, whose first indices are given; or empty.
  /// @throws error invalid_argument for a negative size or a total above 2^62; for a gap or an
  ///               overlap.
  borders(const char* layout, const std::vector<interval>& all,
          const std::vector<std::size_t>& order = {}) {
    constexpr std::int64_t max_total = std::int64_t{1} << 62;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t r = order.empty() ? i : order[i];
      const auto [first, size] = all[r];
      const std::int64_t before = total();
      const auto refuse = [&](const std::string& what) {
        throw error(errc::invalid_argument,
                    std::string(layout) + ": rank " + std::to_string(r) + " " + what);
      };
      if (size < 0) refuse("has " + std::to_string(size) + " elements");
      if (size > max_total - before) refuse("makes the total larger than 2^62");
      if (!order.empty() && size > 0 && first != before) {
        refuse("begins at element " + std::to_string(first) +
               ", and the intervals before it end at " + std::to_string(before));
      }
      first_.push_back(before + size);
    }
  }

  std::int64_t first(int rank) const noexcept { return first_[static_cast<std::size_t>(rank)]; }
  /// One past the last element.
  std::int64_t last(int rank) const noexcept { return first(rank + 1); }
  std::int64_t size(int rank) const noexcept { return last(rank) - first(rank); }
  std::int64_t total() const noexcept { return first_.back(); }
  int ranks() const noexcept { return static_cast<int>(first_.size()) - 1; }
  /// The rank that owns element i, 0 <= i < total.
  int owner(std::int64_t i) const noexcept {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end() - 1, i) -
                            first_.begin()) -
           1;
  }

 private:
  std::vector<std::int64_t> first_ = {0};
};

/// A chunk that one rank begins and others continue: the elements of one of these.
struct chunk_piece {
  int rank;
  std::int64_t first;  ///< in the chunk
  std::int64_t count;
};

}  // namespace tally::detail

namespace tally::distributed {

/// Numbering of a vector's elements over all ranks: an interval for each rank, possibly empty.
class intervals {
 public:
  /// Index of this rank's first element.
  std::int64_t first() const noexcept { return borders_->first(rank_); }
  /// Number of this rank's elements.
  std::int64_t size() const noexcept { return borders_->size(rank_); }
  /// Number of all ranks' elements.
  std::int64_t total() const noexcept { return borders_->total(); }
  /// Position of this rank in the order of intervals.
  int rank() const noexcept { return rank_; }
  /// Number of ranks.
  int ranks() const noexcept { return borders_->ranks(); }
  /// Index of another rank's first element; of `ranks()` the total.
  std::int64_t first(int rank) const noexcept { return borders_->first(rank); }
  /// The rank that owns element i, 0 <= i < total.
  int owner(std::int64_t i) const noexcept { return borders_->owner(i); }

  /// Returns the first element of a rank in a partition into nearly equal parts at multiples of
  /// `order::chunk`: no chunk is cut, so sums in the default grade take one message. Of `ranks` the
  /// total.
  static constexpr std::int64_t cut(std::int64_t total, int rank, int ranks) noexcept {
    const std::int64_t chunks = total / chunk + (total % chunk != 0);
    const std::int64_t before =
        chunks / ranks * rank + std::min<std::int64_t>(rank, chunks % ranks);
    return (std::min)(total, before * chunk);
  }

  /// All intervals.
  const std::shared_ptr<const detail::borders>& borders() const noexcept { return borders_; }

  /// Cuts of a rank's interval at chunks.
  interval_borders parts_of(int rank) const noexcept {
    return borders_of_part(total(), first(rank), first(rank + 1));
  }
  /// One past the last element of this rank's parts, with all of the chunk that others continue.
  std::int64_t chunk_end() const noexcept {
    const interval_borders own = parts_of(rank_);
    return own.tail < own.end ? (std::min)(own.tail + chunk, total()) : own.end;
  }
  /// Other ranks' pieces of that chunk, in order.
  std::vector<detail::chunk_piece> continued() const {
    const interval_borders own = parts_of(rank_);
    std::vector<detail::chunk_piece> pieces;
    for (std::int64_t next = own.end, end = chunk_end(); next < end;) {
      const int rank = owner(next);
      const std::int64_t last = (std::min)(end, first(rank + 1));
      pieces.push_back({rank, next - own.tail, last - next});
      next = last;
    }
    return pieces;
  }
  /// The rank where the chunk of this rank's first elements begins. Pre: it has an element.
  int begun_by() const noexcept { return owner(first() / chunk * chunk); }

 protected:
  /// Elements per chunk.
  static constexpr auto chunk = static_cast<std::int64_t>(order::chunk);

  intervals() = default;
  /// Called once, by constructors.
  void set(std::shared_ptr<const detail::borders> all, int rank) noexcept {
    borders_ = std::move(all);
    rank_ = rank;
  }

 private:
  std::shared_ptr<const detail::borders> borders_;
  int rank_ = 0;
};

}  // namespace tally::distributed

namespace tally::detail {

/// The transport of a layout or a communicator, as the member `type`. It has
///
/// - `name`, the namespace, with which messages begin;
/// - `sum(over, where, sums, grade, results, bytes)` and `find(layout, where, x, what, results,
///   bytes)`: results on all ranks, in host memory; they block;
/// - `multiply<Sum>(over, where, arguments, grade)`, `gemv` with sums of type Sum;
/// - `scan(layout, where, arguments)`;
/// - `add_samples<T>(over, where, arguments)`, `scatter_add` of elements of type T;
/// - `counting<C>`, a histogram's counters (<tally/distributed/histogram.hpp>).
///
/// A matrix has its messages as a template argument (<tally/distributed/matrix.hpp>).
template <class C>
struct transport_of {};

template <class C>
using transport = typename transport_of<C>::type;

}  // namespace tally::detail

/// Functions over the ranks of any transport.
namespace tally::distributed {

/// A layout, or for the exact grade a communicator: `MPI_Comm` or `tally::nccl::communicator`.
template <class C>
concept ranks = requires { typename detail::transport<C>; };

/// A layout.
template <class L>
concept layout = ranks<L> && std::derived_from<L, intervals>;

/// The exact grade, which calls over a communicator ask for.
struct explicit_exact {
  /// Converts `tally::exact`.
  constexpr explicit_exact(exact_grade) noexcept {}
  /// Fails to compile.
  template <class... T>
  constexpr explicit_exact() noexcept {
    static_assert(sizeof...(T) > 0,
                  "sums over a communicator are in the exact grade: tally::exact is the last "
                  "argument. The default grade needs the order that a layout has");
  }
};

/// Either grade over a layout; an explicit `tally::exact` over a communicator.
template <ranks C>
using grade_over = std::conditional_t<layout<C>, grade, explicit_exact>;

}  // namespace tally::distributed
