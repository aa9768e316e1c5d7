#pragma once

namespace tally::backends::openmp {

/// The threads that a parallel region started here would have by default: 1 inside one, where
/// nested parallelism is off.
int default_threads() noexcept;

}  // namespace tally::backends::openmp
