// Distribution of a vector over devices by intervals.
#pragma once

#include <tally/buffer.hpp>
#include <tally/detail/distributed/borders.hpp>
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

/// Numbering of a vector's elements in rank order: an interval for each rank, possibly empty.
///
/// Construction is collective. Movable, not copyable; the communicator must outlive it.
class layout {
 public:
  /// Collective; blocks.
  /// @param where an executor on this rank's device.
  /// @param size  number of elements of this rank.
  /// @throws error on all ranks invalid_argument for a negative size or a total above 2^62;
  ///               device_failure.
  layout(const communicator& over, const executor& where, std::int64_t size)
      : over_(&over), borders_(gathered(over, size)) {
    over.check_executor(where);
    for (int r = 0; r < over.ranks(); ++r) {
      const part p = part_of(r);
      max_nodes_ = (std::max)(max_nodes_, whole_nodes(r) + (p.tail < p.end));
    }
    if (max_nodes_ * over.ranks() > (std::numeric_limits<std::int32_t>::max)()) {
      throw error(errc::invalid_argument, "tally::nccl::layout: there are too many ranks");
    }
    std::vector<node_interval> intervals;
    for (int r = 0; r < over.ranks(); ++r) {
      const part p = part_of(r);
      const std::int64_t place = max_nodes_ * r;
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

  /// Index of this rank's first element.
  std::int64_t first() const noexcept { return borders_->first(rank()); }
  /// Number of this rank's elements.
  std::int64_t size() const noexcept { return borders_->size(rank()); }
  /// Number of all ranks' elements.
  std::int64_t total() const noexcept { return borders_->total(); }
  /// This rank.
  int rank() const noexcept { return over_->rank(); }
  /// Number of ranks.
  int ranks() const noexcept { return over_->ranks(); }
  /// Index of another rank's first element; of `ranks()` the total.
  std::int64_t first(int rank) const noexcept { return borders_->first(rank); }
  /// The rank that owns element i, 0 <= i < total.
  int owner(std::int64_t i) const noexcept { return borders_->owner(i); }

  /// Returns the first element of a rank in a partition into nearly equal parts that cuts no chunk;
  /// of `ranks` the total.
  static constexpr std::int64_t cut(std::int64_t total, int rank, int ranks) noexcept {
    return distributed::cut(total, rank, ranks);
  }

  /// The communicator.
  const communicator& over() const noexcept { return *over_; }
  /// All intervals.
  const std::shared_ptr<const distributed::borders>& borders() const noexcept { return borders_; }

  /// A rank's interval: the rest of a chunk begun on a lower rank, whole chunks, and a chunk
  /// continued on higher ranks. Each may be empty.
  struct part {
    std::int64_t begin,  ///< First element.
        whole,           ///< First element of the whole chunks.
        tail,            ///< First element of the chunk continued on higher ranks.
        end;             ///< One past the last element.
  };
  /// Returns a rank's part.
  part part_of(int rank) const noexcept {
    const std::int64_t begin = first(rank), end = first(rank + 1);
    const std::int64_t whole = (std::min)(end, (begin + chunk - 1) / chunk * chunk);
    const std::int64_t tail = end == total() ? end : (std::max)(whole, end / chunk * chunk);
    return {begin, whole, tail, end};
  }

  /// Number of nodes of a rank's whole chunks.
  std::int64_t whole_nodes(int rank) const noexcept {
    const part p = part_of(rank);
    return p.whole < p.tail ? count_interval_nodes(p.whole / chunk, chunks(p.tail)) : 0;
  }
  /// Steps that join the nodes of all ranks, in device memory.
  std::span<const join_step> steps() const noexcept {
    return {static_cast<const join_step*>(steps_.get()), step_count_};
  }
  /// Maximum number of nodes of a rank, at least 1; stride of gathered nodes.
  std::int64_t max_nodes() const noexcept { return max_nodes_; }
  /// 0, 1, 2, ... up to `order::chunk`, in device memory.
  operand places(std::size_t count) const noexcept {
    return {places_.get(), count, 1, type::int32};
  }
  /// Ranks that have elements, in device memory.
  operand ranks_with_elements() const noexcept {
    return {with_elements_.get(), ranks_with_elements_, 1, type::int32};
  }
  /// `first()` in device memory.
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
  std::int64_t max_nodes_ = 1;
  buffer steps_, places_, with_elements_, firsts_;
  std::size_t step_count_ = 0;
  std::size_t ranks_with_elements_ = 0;
};

}  // namespace tally::nccl
