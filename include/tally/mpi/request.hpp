// Requests: reductions in flight.
#pragma once

#include <tally/distributed/sums.hpp>
#include <tally/mpi/calls.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace tally::mpi {

namespace detail {

/// Sums whose local parts are done and messages in flight.
class unfinished_sums {
 public:
  virtual ~unfinished_sums() = default;
  unfinished_sums(const unfinished_sums&) = delete;
  unfinished_sums& operator=(const unfinished_sums&) = delete;

  virtual std::size_t size() const noexcept = 0;
  /// @throws error on all ranks.
  virtual void finish(void* results) = 0;
  bool test() {
    int arrived = 0;
    check(MPI_Test(&request_, &arrived, MPI_STATUS_IGNORE), "MPI_Test");
    return arrived != 0;
  }

 protected:
  unfinished_sums() = default;
  void wait() { check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

  /// `own` may be MPI_IN_PLACE.
  void all_reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, bool blocks) {
    if (blocks) {
      check(MPI_Allreduce(own, all, count, type, op, comm), "MPI_Allreduce");
    } else {
      check(MPI_Iallreduce(own, all, count, type, op, comm, &request_), "MPI_Iallreduce");
    }
  }
  void all_gather(const std::int64_t* own, std::int64_t* all, int words, MPI_Comm comm,
                  bool blocks) {
    if (blocks) {
      check(MPI_Allgather(own, words, MPI_INT64_T, all, words, MPI_INT64_T, comm), "MPI_Allgather");
    } else {
      check(MPI_Iallgather(own, words, MPI_INT64_T, all, words, MPI_INT64_T, comm, &request_),
            "MPI_Iallgather");
    }
  }
  /// Waits if an exception prevented `finish`. Derived destructors call it before freeing messages.
  void wait_if_pending() noexcept {
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace detail

/// Pending results of the functions with the prefix i (`idot`, ...).
///
/// All ranks wait for the same requests in the same order: errors take further messages.
/// Destruction and assignment wait, and drop result or error. Movable, not copyable; the layout or
/// communicator must outlive it.
template <class R>
class request {
 public:
  /// An empty request.
  request() = default;
  /// A request made by the non-blocking functions.
  explicit request(std::unique_ptr<detail::unfinished_sums> sums) noexcept
      : sums_(std::move(sums)) {}
  /// Leaves the other one empty.
  request(request&&) noexcept = default;
  /// Waits for the previous request.
  request& operator=(request&& other) noexcept {
    if (this != &other) {
      drop();
      sums_ = std::move(other.sums_);
    }
    return *this;
  }
  ~request() { drop(); }

  /// Returns the result, once. Blocks.
  /// @throws error on all ranks, as the blocking function; invalid_argument if the request is
  ///               empty.
  R wait() {
    if (!sums_) {
      throw error(errc::invalid_argument,
                  "tally::mpi::request::wait: there is nothing to wait for");
    }
    const std::unique_ptr<detail::unfinished_sums> sums = std::move(sums_);
    return detail::filled<R>(sums->size(), [&](void* to, std::size_t) { sums->finish(to); });
  }

  /// Whether the messages have arrived. Not blocking, not collective; lets MPI progress.
  bool test() { return !sums_ || sums_->test(); }

 private:
  void drop() noexcept {
    if (!sums_) return;
    try {
      wait();
    } catch (...) {
      return;  // thrown on the other ranks, too
    }
  }

  std::unique_ptr<detail::unfinished_sums> sums_;
};

}  // namespace tally::mpi
