// Errors: what one rank throws, all ranks throw.
#pragma once

#include <tally/error.hpp>
#include <tally/mpi/calls.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <string>

namespace tally::mpi::calls {

struct failure {
  errc code = errc::invalid_argument;
  std::string text;
};

/// Runs a rank's local part and keeps what it throws; does nothing after a failure.
template <class Part>
void attempt(std::optional<failure>& failed, const Part& part) {
  if (failed) return;
  try {
    part();
  } catch (const error& e) {
    failed = {e.code(), e.what()};
  } catch (const std::bad_alloc& e) {
    failed = {errc::out_of_memory, e.what()};
  } catch (const std::exception& e) {
    failed = {errc::invalid_argument, e.what()};
  }
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

}  // namespace tally::mpi::calls
