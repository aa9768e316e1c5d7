// Distribution of a vector over devices by intervals.
#pragma once

#include <tally/distributed/gemv.hpp>
#include <tally/distributed/scan.hpp>
#include <tally/distributed/scatter_add.hpp>
#include <tally/distributed/sums.hpp>
#include <tally/nccl/communicator.hpp>
#include <tally/operations/extremum.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace tally::nccl {

/// A layout over devices (`intervals`), in rank order.
///
/// Construction is collective. The communicator must outlive it.
class layout : public distributed::intervals {
 public:
  /// Shares all that the other one has; moving copies.
  layout(const layout&) = default;
  /// Shares all that the other one has; moving copies.
  layout& operator=(const layout&) = default;
  /// Collective; blocks.
  /// @param where an executor on this rank's device.
  /// @param size  number of elements of this rank.
  /// @throws error on all ranks invalid_argument for a negative size or a total above 2^62;
  ///               device_failure.
  layout(const communicator& over, const executor& where, std::int64_t size) : over_(&over) {
    const auto all = over.gathered(detail::interval{0, size});
    set(std::make_shared<const detail::borders>("tally::nccl::layout", all), over.rank());
    over.check_executor(where);
    for (int r = 0; r < over.ranks(); ++r) {
      const interval_borders p = parts_of(r);
      max_nodes_ = (std::max)(max_nodes_, whole_nodes(r) + (p.tail < p.end));
    }
    if (max_nodes_ * over.ranks() > (std::numeric_limits<std::int32_t>::max)()) {
      throw error(errc::invalid_argument, "tally::nccl::layout: there are too many ranks");
    }
    std::vector<node_interval> nodes;
    std::vector<std::int32_t> with_elements;
    for (int r = 0; r < over.ranks(); ++r) {
      const interval_borders p = parts_of(r);
      const std::int64_t place = max_nodes_ * r;
      if (p.whole < p.tail) {
        nodes.push_back({p.whole / chunk, chunks(p.tail), static_cast<std::int32_t>(place)});
      }
      if (p.tail < p.end) {
        nodes.push_back({p.tail / chunk, p.tail / chunk + 1,
                         static_cast<std::int32_t>(place + whole_nodes(r))});
      }
      if (p.begin < p.end) with_elements.push_back(r);
    }
    steps_ = {where, join_steps(nodes)};
    with_elements_ = {where, with_elements};
    first_ = {where, std::vector{first()}};
  }

  /// The communicator.
  const communicator& over() const noexcept { return *over_; }

  /// Number of nodes of a rank's whole chunks.
  std::int64_t whole_nodes(int rank) const noexcept {
    const interval_borders p = parts_of(rank);
    return p.whole < p.tail ? count_interval_nodes(p.whole / chunk, chunks(p.tail)) : 0;
  }
  /// Maximum number of nodes of a rank, at least 1; stride of gathered nodes.
  std::int64_t max_nodes() const noexcept { return max_nodes_; }
  /// Steps that join the nodes of all ranks, in device memory.
  std::span<const join_step> steps() const noexcept { return steps_.all(); }
  /// Ranks that have elements, in device memory.
  operand ranks_with_elements() const noexcept { return as_operand(with_elements_.all()); }
  /// `first()` in device memory.
  const std::int64_t* first_on_device() const noexcept { return first_.all().data(); }

 private:
  /// An array in device memory.
  template <class T>
  class table {
   public:
    table() = default;
    table(const executor& where, const std::vector<T>& all)
        : size_(all.size()), memory_(std::make_shared<buffer>(where, all.size() * sizeof(T))) {
      if (size_ > 0) copy_bytes(where, all.data(), memory_->get(), memory_->bytes());
    }
    std::span<const T> all() const noexcept {
      return {static_cast<const T*>(memory_->get()), size_};
    }

   private:
    std::size_t size_ = 0;
    std::shared_ptr<const buffer> memory_;
  };

  static constexpr std::int64_t chunks(std::int64_t elements) noexcept {
    return elements / chunk + (elements % chunk != 0);
  }

  const communicator* over_;
  std::int64_t max_nodes_ = 1;
  table<join_step> steps_;
  table<std::int32_t> with_elements_;
  table<std::int64_t> first_;
};

namespace detail {

inline const communicator& communicator_of(const communicator& over) { return over; }
inline const communicator& communicator_of(const layout& l) { return l.over(); }

template <class C>
class counting;

/// NCCL's model of <tally/distributed/transport.hpp>. Other ranks learn of no error, except of
/// those in making a matrix.
struct transport {
  static constexpr const char* name = "tally::nccl";
  template <class C>
  using counting = detail::counting<C>;

  template <class C>
  static void sum(const C& over, const executor& where, const field_sums& all,
                  distributed::grade_over<C> g, void* results, std::size_t bytes);
  template <element Sum, class C>
  static void multiply(const C& over, const executor& where, const gemv_arguments& a,
                       distributed::grade_over<C> g);
  static void find(const layout& l, const executor& where, const operand& x, extreme what,
                   void* results, std::size_t bytes);
  static void scan(const layout& l, const executor& where, const scan_arguments& a);
  template <element T, class C>
  static void add_samples(const C& over, const executor& where, const gather_arguments& a);
};

}  // namespace detail

}  // namespace tally::nccl

template <>
struct tally::detail::transport_of<tally::nccl::layout>
    : std::type_identity<tally::nccl::detail::transport> {};
template <>
struct tally::detail::transport_of<tally::nccl::communicator>
    : std::type_identity<tally::nccl::detail::transport> {};
