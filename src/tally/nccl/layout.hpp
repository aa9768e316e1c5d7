// How a vector is distributed over devices: each rank holds an interval of it.
#pragma once

#include <tally/buffer.hpp>
#include <tally/distributed/borders.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/joined_sum.hpp>
#include <tally/nccl/communicator.hpp>
#include <tally/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace tally::nccl {

/// The numbering of a vector's elements over the ranks of a communicator, in the order of the
/// ranks. Each has an interval of them, which may be empty.
///
/// It is made once for a distribution and used by every call on vectors that are distributed so.
/// Making it is collective. It can be moved but not copied; the communicator must outlive it.
class layout {
 public:
  /// Collective; blocks.
  /// @param over  the ranks.
  /// @param where an executor on this rank's device.
  /// @param size  how many elements this rank has.
  /// @throws error on all ranks invalid_argument if a size is negative, or all sizes add up to more
  ///               than 2^62; device_failure.
  layout(const communicator& over, const executor& where, std::int64_t size)
      : over_(&over), borders_(gathered(over, size)) {
    over.check_executor(where);
    for (int r = 0; r < over.ranks(); ++r) {
      const part p = part_of(r);
      most_nodes_ = (std::max)(most_nodes_, whole_nodes(r) + (p.tail < p.end));
    }
    if (most_nodes_ * over.ranks() > (std::numeric_limits<std::int32_t>::max)()) {
      throw error(errc::invalid_argument, "tally::nccl::layout: there are too many ranks");
    }
    std::vector<node_interval> intervals;
    for (int r = 0; r < over.ranks(); ++r) {
      const part p = part_of(r);
      const std::int64_t place = most_nodes_ * r;
      if (p.whole < p.tail) {
        intervals.push_back({p.whole / chunk, chunks(p.tail), static_cast<std::int32_t>(place)});
      }
      if (p.tail < p.end) {
        intervals.push_back({p.tail / chunk, p.tail / chunk + 1,
                             static_cast<std::int32_t>(place + whole_nodes(r))});
      }
    }
    const std::vector<join_step> steps = join_steps(intervals);
    steps_ = copied(where, steps);
    step_count_ = steps.size();
    std::vector<std::int32_t> places(order::chunk);
    std::iota(places.begin(), places.end(), 0);
    places_ = copied(where, places);
    std::vector<std::int32_t> with_elements;
    for (int r = 0; r < over.ranks(); ++r) {
      if (borders_->size(r) > 0) with_elements.push_back(r);
    }
    with_elements_ = copied(where, with_elements);
    ranks_with_elements_ = with_elements.size();
    firsts_ = copied(where, std::vector<std::int64_t>{first()});
  }

  /// This rank's first element.
  std::int64_t first() const noexcept { return borders_->first(rank()); }
  /// How many elements this rank has.
  std::int64_t size() const noexcept { return borders_->size(rank()); }
  /// How many all ranks have.
  std::int64_t total() const noexcept { return borders_->total(); }
  /// This rank.
  int rank() const noexcept { return over_->rank(); }
  /// How many ranks there are.
  int ranks() const noexcept { return over_->ranks(); }
  /// The first element of another rank; of `ranks()` the total.
  std::int64_t first(int rank) const noexcept { return borders_->first(rank); }
  /// The rank that has element i, one of [0, total).
  int owner(std::int64_t i) const noexcept { return borders_->owner(i); }

  /// The first element of a rank where `total` elements are cut into equal parts, as nearly as that
  /// goes with borders that are multiples of `order::chunk`: then no chunk is cut, and sums in the
  /// default grade take one message. `cut(total, ranks, ranks)` is the total.
  static constexpr std::int64_t cut(std::int64_t total, int rank, int ranks) noexcept {
    return distributed::cut(total, rank, ranks);
  }

  /// The communicator.
  const communicator& over() const noexcept { return *over_; }
  /// All intervals.
  const std::shared_ptr<const distributed::borders>& borders() const noexcept { return borders_; }

  /// What a rank has: the rest of a chunk that began on another rank, whole chunks, and a part of
  /// one that goes on on other ranks. Each may be empty.
  struct part {
    std::int64_t begin, whole, tail, end;  ///< where the first of each begins, and the end
  };
  /// The part of a rank.
  part part_of(int rank) const noexcept {
    const std::int64_t begin = first(rank), end = first(rank + 1);
    const std::int64_t whole = (std::min)(end, (begin + chunk - 1) / chunk * chunk);
    const std::int64_t tail = end == total() ? end : (std::max)(whole, end / chunk * chunk);
    return {begin, whole, tail, end};
  }

  /// How many nodes the whole chunks of a rank have.
  std::int64_t whole_nodes(int rank) const noexcept {
    const part p = part_of(rank);
    return p.whole < p.tail ? count_interval_nodes(p.whole / chunk, chunks(p.tail)) : 0;
  }
  /// The steps that join the nodes of all ranks, where the device reads them.
  std::span<const join_step> steps() const noexcept {
    return {static_cast<const join_step*>(steps_.get()), step_count_};
  }
  /// The most nodes that a rank has, and 1 at least: those of rank r have places from r times that
  /// on.
  std::int64_t most_nodes() const noexcept { return most_nodes_; }
  /// 0, 1, 2, ... up to `order::chunk`, where the device reads them.
  operand places(std::size_t count) const noexcept {
    return {places_.get(), count, 1, type::int32};
  }
  /// The ranks that have elements, where the device reads them.
  operand ranks_with_elements() const noexcept {
    return {with_elements_.get(), ranks_with_elements_, 1, type::int32};
  }
  /// `first()`, where the device reads it.
  const std::int64_t* first_on_device() const noexcept {
    return static_cast<const std::int64_t*>(firsts_.get());
  }

 private:
  static constexpr auto chunk = static_cast<std::int64_t>(order::chunk);

  static constexpr std::int64_t chunks(std::int64_t elements) noexcept {
    return elements / chunk + (elements % chunk != 0);
  }

  template <class T>
  static buffer copied(const executor& where, const std::vector<T>& all) {
    buffer made(where, all.size() * sizeof(T));
    if (!all.empty()) copy_bytes(where, all.data(), made.get(), made.bytes());
    return made;
  }

  static std::shared_ptr<const distributed::borders> gathered(const communicator& over,
                                                              std::int64_t size) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(over.ranks()));
    over.gather(&size, all.data(), sizeof size);
    std::int64_t before = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
      constexpr std::int64_t most = std::int64_t{1} << 62;
      if (all[r] < 0 || all[r] > most - before) {
        throw error(errc::invalid_argument,
                    "tally::nccl::layout: rank " + std::to_string(r) +
                        (all[r] < 0 ? " has " + std::to_string(all[r]) + " elements"
                                    : std::string(" makes the total larger than 2^62")));
      }
      before += all[r];
    }
    return std::make_shared<const distributed::borders>(all);
  }

  const communicator* over_;
  std::shared_ptr<const distributed::borders> borders_;
  std::int64_t most_nodes_ = 1;
  buffer steps_, places_, with_elements_, firsts_;
  std::size_t step_count_ = 0;
  std::size_t ranks_with_elements_ = 0;
};

}  // namespace tally::nccl
