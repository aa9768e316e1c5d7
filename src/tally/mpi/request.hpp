// Requests: sums that are under way.
#pragma once

#include <tally/error.hpp>
#include <tally/mpi/calls.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::mpi {

namespace calls {

/// Some sums over the ranks: the ranks' own parts are done and their messages are under way.
class unfinished_sums {
 public:
  virtual ~unfinished_sums() = default;
  unfinished_sums(const unfinished_sums&) = delete;
  unfinished_sums& operator=(const unfinished_sums&) = delete;

  /// How many results there are.
  virtual std::size_t size() const noexcept = 0;
  /// Waits and writes them, of the type that was asked for when it was made.
  /// @throws error on all ranks.
  virtual void finish(void* results) = 0;
  /// Whether the messages have arrived.
  bool test() {
    int arrived = 0;
    check(MPI_Test(&request_, &arrived, MPI_STATUS_IGNORE), "MPI_Test");
    return arrived != 0;
  }

 protected:
  unfinished_sums() = default;
  void wait() { check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

  /// Joins what all ranks have at `own`, which may be MPI_IN_PLACE.
  void all_reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, bool blocks) {
    if (blocks) {
      check(MPI_Allreduce(own, all, count, type, op, comm), "MPI_Allreduce");
    } else {
      check(MPI_Iallreduce(own, all, count, type, op, comm, &request_), "MPI_Iallreduce");
    }
  }
  /// Brings the words of all ranks to each.
  void all_gather(const std::int64_t* own, std::int64_t* all, int words, MPI_Comm comm,
                  bool blocks) {
    if (blocks) {
      check(MPI_Allgather(own, words, MPI_INT64_T, all, words, MPI_INT64_T, comm), "MPI_Allgather");
    } else {
      check(MPI_Iallgather(own, words, MPI_INT64_T, all, words, MPI_INT64_T, comm, &request_),
            "MPI_Iallgather");
    }
  }
  /// Waits where an exception has kept `finish` from it: what derives from this calls it before its
  /// messages go.
  void wait_for_the_rest() noexcept {
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

template <class R>
struct results {
  static R of(unfinished_sums& sums) {
    R result;
    sums.finish(&result);
    return result;
  }
};
template <class T>
struct results<std::vector<T>> {
  static std::vector<T> of(unfinished_sums& sums) {
    std::vector<T> all(sums.size());
    sums.finish(all.data());
    return all;
  }
};

}  // namespace calls

/// A result, or several, that `idot` and the other functions with an i return before it is there.
///
/// What one rank waits for, all of them do, in the same order: an error, or norms that have to be
/// scaled, take messages of their own then. A request that is destroyed, or assigned to, waits
/// first, and drops the result or the error. It can be moved but not copied; the layout or the
/// communicator that it was made with must outlive it.
template <class R>
class request {
 public:
  /// Nothing to wait for.
  request() = default;
  /// What was started.
  explicit request(std::unique_ptr<calls::unfinished_sums> sums) noexcept
      : sums_(std::move(sums)) {}
  request(request&&) noexcept = default;
  /// Waits for what it was before.
  request& operator=(request&& other) noexcept {
    if (this != &other) {
      drop();
      sums_ = std::move(other.sums_);
    }
    return *this;
  }
  ~request() { drop(); }

  /// The result. Blocks until it is there; once.
  /// @throws error on all ranks, as the function that blocks does; invalid_argument if there is
  ///               nothing to wait for.
  R wait() {
    if (!sums_) {
      throw error(errc::invalid_argument,
                  "tally::mpi::request::wait: there is nothing to wait for");
    }
    const std::unique_ptr<calls::unfinished_sums> sums = std::move(sums_);
    return calls::results<R>::of(*sums);
  }

  /// Whether the messages have arrived. Doesn't block; it also gives MPI the time to go on. Ranks
  /// may call it as often as they like.
  bool test() { return !sums_ || sums_->test(); }

 private:
  void drop() noexcept {
    if (!sums_) return;
    try {
      wait();
    } catch (...) {
      return;  // the other ranks have it, too
    }
  }

  std::unique_ptr<calls::unfinished_sums> sums_;
};

}  // namespace tally::mpi
