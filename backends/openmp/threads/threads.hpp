// OpenMP threads, and processes without them.
#pragma once

#include <tally/executor.hpp>

#include <cstddef>

namespace tally::backends::openmp {

/// Whether this process can start parallel regions. A child of fork() can't if the parent had
/// several threads: OpenMP would wait for them for ever.
bool usable() noexcept;

/// Calls f as soon as this process is such a child. Keeps one function: the last.
void when_lost(void (*f)()) noexcept;

/// @throws error no_device unless `usable`.
void require_usable();

/// Returns the default number of threads of a parallel region started here: 1 inside a region
/// without nested parallelism, or if unusable.
int default_threads() noexcept;

/// Bytes of each vector that one thread takes whatever the operation (tuning/short_calls.md:
/// threads_that_pay).
inline constexpr std::size_t bytes_on_one_thread = std::size_t{64} << 10;

int max_threads_of(const executor& where) noexcept;

/// The same for a call about to start them. @throws error as require_usable does.
int threads_of(const executor& where);

}  // namespace tally::backends::openmp
