// OpenMP's threads, and where there are none.
#pragma once

#include <tally/executor.hpp>

namespace tally::backends::openmp {

/// Whether parallel regions can be started in this process: not in a child that fork() made of one
/// which had several threads, OpenMP's perhaps among them. They are not in the child, and OpenMP
/// would wait for them for ever.
bool usable() noexcept;

/// @throws error no_device where they can't.
void require_usable();

/// The threads that a parallel region started here would have by default: 1 inside one, where
/// nested parallelism is off, and where none can be started.
int default_threads() noexcept;

/// The threads that a call on `where` has at most.
int threads_asked_of(const executor& where) noexcept;

/// The same, in a call that is about to start them.
/// @throws error as require_usable.
int threads_of(const executor& where);

}  // namespace tally::backends::openmp
