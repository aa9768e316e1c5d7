// Calls of MPI, and communicators that Tally owns.
#pragma once

#include <tally/error.hpp>

#include <mpi.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// The operations of Tally over the ranks of MPI. It neither initialises MPI nor finalises it, and
/// never communicates over MPI_COMM_WORLD.
namespace tally::mpi {

namespace calls {

/// Checks what a call of MPI has returned.
/// @throws error device_failure, with MPI's own text.
inline void check(int status, const char* function) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw error(errc::device_failure, std::string(function) + ": " + text);
}

/// Whether handles can still be freed.
inline bool are_possible() noexcept {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

/// A communicator of one's own, whose errors are returned. It is freed with the object, unless MPI
/// has been finalised before.
class owned_communicator {
 public:
  /// The same ranks as those of `comm`. Collective.
  static owned_communicator duplicate(MPI_Comm comm) {
    owned_communicator own;
    check(MPI_Comm_dup(comm, &own.handle_), "MPI_Comm_dup");
    own.return_errors();
    return own;
  }
  /// The same ranks in the order of their keys. Collective.
  static owned_communicator reorder(MPI_Comm comm, int key) {
    owned_communicator own;
    check(MPI_Comm_split(comm, 0, key, &own.handle_), "MPI_Comm_split");
    own.return_errors();
    return own;
  }
  owned_communicator(owned_communicator&& other) noexcept
      : handle_(std::exchange(other.handle_, MPI_COMM_NULL)) {}
  owned_communicator& operator=(owned_communicator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~owned_communicator() {
    if (handle_ != MPI_COMM_NULL && are_possible()) MPI_Comm_free(&handle_);
  }

  /// MPI's handle.
  MPI_Comm get() const noexcept { return handle_; }

 private:
  owned_communicator() = default;
  void return_errors() {
    check(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }

  MPI_Comm handle_ = MPI_COMM_NULL;
};

/// The number of this rank.
inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

/// How many ranks there are.
inline int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

/// @throws error invalid_argument for MPI_COMM_NULL and for an intercommunicator.
inline void check_communicator(MPI_Comm comm) {
  int is_inter = 0;
  if (comm != MPI_COMM_NULL) check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (comm == MPI_COMM_NULL || is_inter) {
    throw error(errc::invalid_argument,
                "tally::mpi: a communicator is that of one group of ranks, and not MPI_COMM_NULL");
  }
}

/// Messages between two ranks that are under way. Where something throws before they are waited
/// for, those that were to come are cancelled, so that none is written to memory that has gone.
class exchange {
 public:
  /// There will be at most so many messages.
  explicit exchange(std::size_t most) { requests_.reserve(most); }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange() {
    for (std::size_t i = 0; i < received_ && i < requests_.size(); ++i) MPI_Cancel(&requests_[i]);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  /// Lets a message come. All that come are named before those that go.
  void receive(void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {
    check(MPI_Irecv(to, count, type, rank, tag, comm, &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
    ++received_;
  }
  /// Sends a message.
  void send(const void* from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {
    check(MPI_Isend(from, count, type, rank, tag, comm, &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
  /// Waits for all of them.
  /// @return what has come, in the order of the calls of `receive`.
  std::vector<MPI_Status> wait() {
    std::vector<MPI_Status> statuses(requests_.size());
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses.data()),
          "MPI_Waitall");
    requests_.clear();
    statuses.resize(received_);
    return statuses;
  }

 private:
  std::vector<MPI_Request> requests_;
  std::size_t received_ = 0;
};

}  // namespace calls

}  // namespace tally::mpi
