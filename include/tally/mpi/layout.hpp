// Distribution of a vector over ranks by intervals.
#pragma once

#include <tally/detail/distributed/borders.hpp>
#include <tally/error.hpp>
#include <tally/mpi/calls.hpp>
#include <tally/mpi/communicator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tally::mpi {

/// Numbering of a vector's elements over all ranks: an interval for each rank, possibly empty.
///
/// Construction, and every call given a layout, is collective: all ranks make the same calls in the
/// same order, one thread of a rank at a time. All layouts and matrices over one communicator of
/// the caller, which may be any number, share a duplicate of it, so this holds for all of them
/// together; threads that call concurrently need communicators of their own. The caller's may be
/// freed first.
///
/// Must outlive its requests.
class layout {
 public:
  /// Shares all that the other one has; moving copies.
  layout(const layout&) = default;
  /// Shares all that the other one has; moving copies.
  layout& operator=(const layout&) = default;
  /// Numbers elements in rank order. Collective; blocks.
  /// @param size  number of elements of this rank.
  /// @throws error on all ranks invalid_argument for a negative size or a total above 2^62;
  ///               device_failure if MPI can make no communicator, whatever the error handler of
  ///               `comm`.
  layout(MPI_Comm comm, std::int64_t size) : layout(comm, size, 0, false) {}

  /// Takes the index of this rank's first element, so intervals in any order. They must partition
  /// [0, total); empty ones may lie anywhere.
  /// @throws error as above; on all ranks invalid_argument for a gap or an overlap.
  layout(MPI_Comm comm, std::int64_t size, std::int64_t first) : layout(comm, size, first, true) {}

  /// Index of this rank's first element.
  std::int64_t first() const noexcept { return borders_->first(rank_); }
  /// Number of this rank's elements.
  std::int64_t size() const noexcept { return borders_->size(rank_); }
  /// Number of all ranks' elements.
  std::int64_t total() const noexcept { return borders_->total(); }
  /// Position of this rank in the order of intervals.
  int rank() const noexcept { return rank_; }
  /// Number of ranks.
  int ranks() const noexcept { return ranks_; }
  /// Index of another rank's first element; of `ranks()` the total.
  std::int64_t first(int rank) const noexcept { return borders_->first(rank); }
  /// The rank that owns element i, 0 <= i < total.
  int owner(std::int64_t i) const noexcept { return borders_->owner(i); }

  /// Returns the first element of a rank in a partition into nearly equal parts that cuts no chunk;
  /// of `ranks` the total.
  static constexpr std::int64_t cut(std::int64_t total, int rank, int ranks) noexcept {
    return distributed::cut(total, rank, ranks);
  }

  /// Tally's communicator, for its own calls; ranks in the order of intervals.
  MPI_Comm communicator() const noexcept { return over_->get(); }
  /// The communicator with cached MPI objects.
  const std::shared_ptr<calls::communicator>& over() const noexcept { return over_; }
  /// Tag of point-to-point messages.
  int tag() const noexcept { return tag_; }
  /// All intervals.
  const std::shared_ptr<const distributed::borders>& borders() const noexcept { return borders_; }

 private:
  using interval = std::array<std::int64_t, 2>;  // first and size
  using communicator_pointer = std::shared_ptr<calls::communicator>;

  layout(MPI_Comm comm, std::int64_t size, std::int64_t first, bool is_placed)
      : layout(calls::communicator::of(comm), {first, size}, is_placed) {}

  layout(const communicator_pointer& all, const interval& mine, bool is_placed)
      : layout(all, gathered(all->get(), mine), is_placed) {}

  layout(const communicator_pointer& all, const std::vector<interval>& intervals, bool is_placed)
      : layout(all, intervals, is_placed ? ordered(intervals) : std::vector<std::size_t>(),
               is_placed) {}

  layout(const communicator_pointer& all, const std::vector<interval>& intervals,
         const std::vector<std::size_t>& order, bool is_placed)
      : borders_(is_placed ? placed(intervals, order) : in_a_row(intervals)),
        over_(calls::communicator::reordered(all, order)),
        tag_(over_->next_tag()),
        rank_(calls::rank_in(over_->get())),
        ranks_(static_cast<int>(intervals.size())) {}

  static std::vector<interval> gathered(MPI_Comm comm, const interval& mine) {
    std::vector<interval> all(static_cast<std::size_t>(calls::ranks_of(comm)));
    calls::check(MPI_Allgather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, comm),
                 "MPI_Allgather");
    return all;
  }

  static std::vector<std::size_t> ordered(const std::vector<interval>& all) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(all[a], a) < std::tuple(all[b], b);
    });
    return order;
  }

  [[noreturn]] static void refuse(std::size_t rank, const std::string& what) {
    throw error(errc::invalid_argument,
                "tally::mpi::layout: rank " + std::to_string(rank) + " " + what);
  }
  static void check_size(std::size_t rank, std::int64_t size, std::int64_t before) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (size < 0) refuse(rank, "has " + std::to_string(size) + " elements");
    if (size > most - before) refuse(rank, "makes the total larger than 2^62");
  }

  static std::shared_ptr<const distributed::borders> in_a_row(const std::vector<interval>& all) {
    std::vector<std::int64_t> sizes;
    std::int64_t before = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
      check_size(r, all[r][1], before);
      sizes.push_back(all[r][1]);
      before += all[r][1];
    }
    return std::make_shared<const distributed::borders>(sizes);
  }
  static std::shared_ptr<const distributed::borders> placed(const std::vector<interval>& all,
                                                            const std::vector<std::size_t>& order) {
    std::vector<std::int64_t> sizes;
    std::int64_t before = 0;
    for (const std::size_t r : order) {
      const auto [first, size] = all[r];
      check_size(r, size, before);
      if (size > 0 && first != before) {
        refuse(r, "begins at element " + std::to_string(first) +
                      ", and the intervals before it end at " + std::to_string(before));
      }
      sizes.push_back(size);
      before += size;
    }
    return std::make_shared<const distributed::borders>(sizes);
  }

  std::shared_ptr<const distributed::borders> borders_;
  communicator_pointer over_;
  int tag_;
  int rank_;
  int ranks_;
};

}  // namespace tally::mpi
