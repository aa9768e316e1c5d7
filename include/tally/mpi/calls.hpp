// Checked calls of MPI, and agreement on errors: what one rank throws, all ranks throw.
#pragma once

#include <tally/distributed/transport.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// Operations over MPI ranks. Tally neither initialises nor finalises MPI.
namespace tally::mpi {

namespace detail {

using namespace tally::detail;

/// @throws error device_failure with MPI's text.
inline void check(int status, const char* function) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw error(errc::device_failure, std::string(function) + ": " + text);
}

/// Whether handles can still be freed.
inline bool mpi_is_usable() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized == 0;
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

inline int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

/// @throws error invalid_argument for MPI_COMM_NULL or an intercommunicator.
inline void check_communicator(MPI_Comm comm) {
  int is_inter = 0;
  if (comm != MPI_COMM_NULL) check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (comm == MPI_COMM_NULL || is_inter) {
    throw error(errc::invalid_argument,
                "tally::mpi: a communicator is that of one group of ranks, and not MPI_COMM_NULL");
  }
}

/// @throws error invalid_argument for more than an `int` counts.
inline int count_of(std::size_t elements) {
  if (elements > static_cast<std::size_t>((std::numeric_limits<int>::max)())) {
    throw error(errc::invalid_argument, "tally::mpi: " + std::to_string(elements) +
                                            " elements are too many for one message");
  }
  return static_cast<int>(elements);
}

/// Throws the failure of `rank` on all ranks, with its number. Collective.
[[noreturn]] inline void throw_from(MPI_Comm comm, int rank, const std::optional<failure>& failed) {
  std::array<int, 2> head = {};
  std::string text;
  if (failed && rank_in(comm) == rank) {
    text = failed->text;
    head = {static_cast<int>(failed->code), static_cast<int>(text.size())};
  }
  check(MPI_Bcast(head.data(), 2, MPI_INT, rank, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(head[1]));
  check(MPI_Bcast(text.data(), head[1], MPI_CHAR, rank, comm), "MPI_Bcast");
  throw error(static_cast<errc>(head[0]), "rank " + std::to_string(rank) + ": " + text);
}

/// Throws the failure of the lowest failed rank on all. Collective.
inline void agree(MPI_Comm comm, const std::optional<failure>& failed) {
  const int mine = failed ? rank_in(comm) : ranks_of(comm);
  int lowest = mine;
  check(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (lowest < ranks_of(comm)) throw_from(comm, lowest, failed);
}

/// Point-to-point messages in flight. After an exception pending receives are cancelled. If MPI
/// refuses a message, the others are still sent, as receivers wait.
class exchange {
 public:
  explicit exchange(std::size_t max_messages) { requests_.reserve(max_messages); }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange() {
    for (std::size_t i = 0; i < received_ && i < requests_.size(); ++i) {
      if (requests_[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[i]);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  /// Posts a receive. All receives come before the sends.
  void receive(void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) noexcept {
    MPI_Request& made = requests_.emplace_back(MPI_REQUEST_NULL);
    keep(MPI_Irecv(to, count, type, rank, tag, comm, &made), "MPI_Irecv");
    ++received_;
  }
  void send(const void* from, int count, MPI_Datatype type, int rank, int tag,
            MPI_Comm comm) noexcept {
    MPI_Request& made = requests_.emplace_back(MPI_REQUEST_NULL);
    keep(MPI_Isend(from, count, type, rank, tag, comm, &made), "MPI_Isend");
  }
  /// @return statuses of the receives, in call order.
  /// @throws error device_failure for the first message refused or lost.
  std::vector<MPI_Status> wait() {
    std::vector<MPI_Status> statuses(requests_.size());
    const int status =
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses.data());
    if (status == MPI_ERR_IN_STATUS) {  // the text is in the message's status
      for (const MPI_Status& s : statuses) {
        if (s.MPI_ERROR != MPI_ERR_PENDING) keep(s.MPI_ERROR, "MPI_Waitall");
      }
    }
    keep(status, "MPI_Waitall");
    check(status_, function_);
    requests_.clear();
    statuses.resize(received_);
    return statuses;
  }

 private:
  void keep(int status, const char* function) noexcept {
    if (status_ != MPI_SUCCESS) return;
    status_ = status;
    function_ = function;
  }

  int status_ = MPI_SUCCESS;
  const char* function_ = "";
  std::vector<MPI_Request> requests_;
  std::size_t received_ = 0;
};

}  // namespace detail

}  // namespace tally::mpi
