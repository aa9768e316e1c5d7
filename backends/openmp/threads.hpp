// This header says what OpenMP's threads are, and where there are none.
#pragma once

#include <tally/executor.hpp>

namespace tally::backends::openmp {

/// Says whether parallel regions can be started in this process. They can't in a child that fork()
/// made of a process which had several threads, OpenMP's perhaps among them: those are not in the
/// child, and OpenMP would wait for them for ever.
bool usable() noexcept;

/// @throws error no_device where parallel regions can't be started.
void require_usable();

/// Returns how many threads a parallel region started here would have by default. That is 1 inside
/// a region where nested parallelism is off, and where none can be started.
int default_threads() noexcept;

/// Returns how many threads a call on `where` has at most.
int threads_asked_of(const executor& where) noexcept;

/// Returns the same, for a call that is about to start them.
/// @throws error as require_usable does.
int threads_of(const executor& where);

}  // namespace tally::backends::openmp
