// Distribution of a vector over ranks by intervals.
#pragma once

#include <tally/distributed/gemv.hpp>
#include <tally/distributed/scan.hpp>
#include <tally/distributed/scatter_add.hpp>
#include <tally/distributed/sums.hpp>
#include <tally/mpi/communicator.hpp>
#include <tally/operations/extremum.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <vector>

namespace tally::mpi {

/// A layout over MPI ranks (`intervals`).
///
/// Construction, and every call given a layout, is collective: all ranks make the same calls in the
/// same order, one thread of a rank at a time. All layouts and matrices over one communicator of
/// the caller, which may be any number, share a duplicate of it, so this holds for all of them
/// together; threads that call concurrently need communicators of their own. The caller's may be
/// freed first.
///
/// Must outlive its requests.
class layout : public distributed::intervals {
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
  layout(MPI_Comm comm, std::int64_t size) : layout(comm, {0, size}, false) {}

  /// Takes the index of this rank's first element, so intervals in any order. They must partition
  /// [0, total); empty ones may lie anywhere.
  /// @throws error as above; on all ranks invalid_argument for a gap or an overlap.
  layout(MPI_Comm comm, std::int64_t size, std::int64_t first)
      : layout(comm, {first, size}, true) {}

  /// Tally's communicator, for its own calls; ranks in the order of intervals.
  MPI_Comm communicator() const noexcept { return over_->get(); }
  /// The communicator with cached MPI objects.
  const std::shared_ptr<detail::communicator>& over() const noexcept { return over_; }
  /// Tag of point-to-point messages.
  int tag() const noexcept { return tag_; }

 private:
  layout(MPI_Comm comm, const detail::interval& mine, bool is_placed) {
    const std::shared_ptr<detail::communicator> given = detail::communicator::of(comm);
    std::vector<detail::interval> all(static_cast<std::size_t>(detail::ranks_of(given->get())));
    detail::check(MPI_Allgather(&mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, given->get()),
                  "MPI_Allgather");
    std::vector<std::size_t> order;
    if (is_placed) {
      order.resize(all.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(all[a].first, all[a].size, a) < std::tuple(all[b].first, all[b].size, b);
      });
    }
    const auto borders = std::make_shared<const detail::borders>("tally::mpi::layout", all, order);
    over_ = detail::communicator::reordered(given, order);
    tag_ = over_->next_tag();
    set(borders, detail::rank_in(over_->get()));
  }

  std::shared_ptr<detail::communicator> over_;
  int tag_ = 0;
};

namespace detail {

inline MPI_Comm communicator_of(MPI_Comm comm) { return comm; }
inline MPI_Comm communicator_of(const layout& l) { return l.communicator(); }

template <class C>
class counting;

/// MPI's model of <tally/distributed/transport.hpp>. The errors of one rank are thrown on all.
struct transport {
  static constexpr const char* name = "tally::mpi";
  template <class C>
  using counting = detail::counting<C>;

  template <class C>
  static void sum(const C& over, const executor& where, field_sums all,
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

}  // namespace tally::mpi

template <>
struct tally::detail::transport_of<tally::mpi::layout>
    : std::type_identity<tally::mpi::detail::transport> {};
template <>
struct tally::detail::transport_of<MPI_Comm> : std::type_identity<tally::mpi::detail::transport> {};
