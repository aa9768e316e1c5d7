// OpenMP threads, and processes without them.
#pragma once

#include <tally/executor.hpp>

namespace tally::backends::openmp {

/// Whether this process can start parallel regions. A child of fork() can't if the parent had
/// several threads: OpenMP would wait for them for ever.
bool usable() noexcept;

/// @throws error no_device unless `usable`.
void require_usable();

/// Returns the default number of threads of a parallel region started here: 1 inside a region
/// without nested parallelism, or if unusable.
int default_threads() noexcept;

int max_threads_of(const executor& where) noexcept;

/// The same for a call about to start them. @throws error as require_usable does.
int threads_of(const executor& where);

}  // namespace tally::backends::openmp
