// Options common to calls.
#pragma once

#include <tally/numerics/exact.hpp>

namespace tally {

/// Options of operations with a grade or a waiting form.
struct call_options {
  /// Default or `tally::exact` (<tally/numerics/exact.hpp>). Irrelevant for extrema and integer
  /// sums.
  tally::grade grade = {};
  /// Whether the call blocks and the result is in host memory. Otherwise the result is where the
  /// executor can write, and on a device the call returns once the work is queued.
  bool wait = true;
};

}  // namespace tally
