// What any call may be asked for beside its operands.
#pragma once

#include <tally/exact.hpp>

namespace tally {

/// The options that argument structs share, where the operation has a grade or a form that waits.
struct call_options {
  /// The default grade, or `tally::exact` for correctly rounded sums (<tally/exact.hpp>). It
  /// changes nothing where the result is exact in either grade: extrema, sums of integers.
  tally::grade grade = {};
  /// With `wait` the result is in host memory, and there when the call returns. Without, it is in
  /// memory that the executor can write, and on a device the call returns as soon as the work is
  /// queued.
  bool wait = true;
};

}  // namespace tally
