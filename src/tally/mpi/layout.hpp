// How a vector is distributed over ranks: each rank holds an interval of it.
#pragma once

#include <tally/distributed/borders.hpp>
#include <tally/error.hpp>
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

namespace layouts {

/// What is made of MPI once and used by many calls: operations, and types of messages. A message is
/// one element of its type, for the algorithms of some MPI libraries take the elements of an array
/// out of order, also where the operation does not commute.
class kept_handles {
 public:
  kept_handles() = default;
  kept_handles(const kept_handles&) = delete;
  kept_handles& operator=(const kept_handles&) = delete;
  ~kept_handles() {
    if (!calls::are_possible()) return;
    for (auto& [function, op] : operations_) MPI_Op_free(&op);
    for (auto& [words, type] : types_) MPI_Type_free(&type);
  }

  /// The operation that calls a function.
  MPI_Op operation(MPI_User_function* function, bool commutes) {
    return kept(operations_, function, [&](MPI_Op& op) {
      calls::check(MPI_Op_create(function, commutes, &op), "MPI_Op_create");
    });
  }

  /// The type of a message of so many words of 8 bytes.
  MPI_Datatype type_of(int words) {
    return kept(types_, words, [&](MPI_Datatype& type) {
      calls::check(MPI_Type_contiguous(words, MPI_INT64_T, &type), "MPI_Type_contiguous");
      calls::check(MPI_Type_commit(&type), "MPI_Type_commit");
    });
  }

  /// Whether messages of so many words are joined in the order of the ranks by a reduction that
  /// blocks, or by one that does not: `check()` finds it out, once.
  template <class Check>
  bool joins_in_order(int words, bool blocks, const Check& check) {
    return kept(in_order_, std::pair(words, blocks), [&](bool& joins) { joins = check(); });
  }

 private:
  template <class Key, class Handle, class Make>
  static Handle kept(std::vector<std::pair<Key, Handle>>& all, Key key, const Make& make) {
    for (const auto& [other, handle] : all) {  // a program has few
      if (other == key) return handle;
    }
    all.reserve(all.size() + 1);
    Handle handle{};
    make(handle);
    all.emplace_back(key, handle);
    return handle;
  }

  std::vector<std::pair<MPI_User_function*, MPI_Op>> operations_;
  std::vector<std::pair<int, MPI_Datatype>> types_;
  std::vector<std::pair<std::pair<int, bool>, bool>> in_order_;
};

}  // namespace layouts

/// The numbering of a vector's elements over all ranks. Each rank has an interval of them, which
/// may be empty.
///
/// It is made once for a distribution and used by every call on vectors that are distributed so. It
/// has a communicator of its own, whose ranks are ordered as their intervals are, and frees it; it
/// must go before MPI is finalised, or it frees nothing. Making it and destroying it are
/// collective, and so is every call that is given it: all ranks make the same calls in the same
/// order, one thread of a rank at a time. It can be moved but not copied; it must
/// outlive the requests made with it, and stay where it is until they are waited for.
class layout {
 public:
  /// Elements are numbered in the order of the ranks. Collective; blocks.
  /// @param comm  the ranks; a duplicate of it is used.
  /// @param size  how many elements this rank has.
  /// @throws error on all ranks invalid_argument if a size is negative, or all sizes add up to more
  ///               than 2^62; device_failure.
  layout(MPI_Comm comm, std::int64_t size) : layout(comm, size, 0, false) {}

  /// The same where this rank's first element is number `first`, so that ranks may have their
  /// intervals in any order. The intervals must follow each other without a gap from 0 on. (The
  /// place of an empty one does not matter.)
  /// @throws error as above; on all ranks invalid_argument if intervals leave a gap or overlap.
  layout(MPI_Comm comm, std::int64_t size, std::int64_t first) : layout(comm, size, first, true) {}

  /// This rank's first element.
  std::int64_t first() const noexcept { return borders_->first(rank_); }
  /// How many elements this rank has.
  std::int64_t size() const noexcept { return borders_->size(rank_); }
  /// How many all ranks have.
  std::int64_t total() const noexcept { return borders_->total(); }
  /// This rank's place in the order of the intervals.
  int rank() const noexcept { return rank_; }
  /// How many ranks there are.
  int ranks() const noexcept { return ranks_; }
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

  /// The communicator of the layout. It is for the calls of Tally.
  MPI_Comm communicator() const noexcept { return communicator_.get(); }
  /// All intervals.
  const std::shared_ptr<const distributed::borders>& borders() const noexcept { return borders_; }
  /// What calls have made of MPI.
  layouts::kept_handles& handles() const noexcept { return *handles_; }

 private:
  layout(MPI_Comm comm, std::int64_t size, std::int64_t first, bool is_placed)
      : layout(comm, gathered(comm, size, first), is_placed) {}

  using interval = std::array<std::int64_t, 2>;  // first and size

  layout(MPI_Comm comm, const std::vector<interval>& all, bool is_placed)
      : layout(comm, all, is_placed ? ordered(all) : std::vector<std::size_t>(), is_placed) {}

  layout(MPI_Comm comm, const std::vector<interval>& all, const std::vector<std::size_t>& order,
         bool is_placed)
      : borders_(is_placed ? placed(all, order) : in_a_row(all)),
        communicator_(is_placed ? calls::owned_communicator::reorder(
                                      comm, place_of(calls::rank_in(comm), order))
                                : calls::owned_communicator::duplicate(comm)),
        handles_(std::make_unique<layouts::kept_handles>()),
        rank_(calls::rank_in(communicator_.get())),
        ranks_(static_cast<int>(all.size())) {}

  static std::vector<interval> gathered(MPI_Comm comm, std::int64_t size, std::int64_t first) {
    calls::check_communicator(comm);
    std::vector<interval> all(static_cast<std::size_t>(calls::ranks_of(comm)));
    const interval mine = {first, size};
    calls::check(MPI_Allgather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, comm),
                 "MPI_Allgather");
    return all;
  }

  /// The ranks in the order of their intervals.
  static std::vector<std::size_t> ordered(const std::vector<interval>& all) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(all[a], a) < std::tuple(all[b], b);
    });
    return order;
  }
  static int place_of(int rank, const std::vector<std::size_t>& order) {
    return static_cast<int>(std::find(order.begin(), order.end(), static_cast<std::size_t>(rank)) -
                            order.begin());
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
  calls::owned_communicator communicator_;
  std::unique_ptr<layouts::kept_handles> handles_;
  int rank_;
  int ranks_;
};

}  // namespace tally::mpi
