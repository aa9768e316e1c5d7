// The exact grade: dot, dotc, sum, asum, nrm2 and others take `exact` as their last argument.
//
// Promise: the result is the exact real value, rounded once to the result's type, to nearest even.
// So it depends on the values alone: not on their order, the partition, threads, ranks, devices or
// the version. NaN (the positive quiet one) if any term is NaN or infinities of both signs occur;
// an infinity if one occurs; otherwise finite unless the true value rounds to overflow, and nothing
// overflows or underflows on the way. An exact zero is +0. Of complex vectors each part is rounded
// so. Integers that return int64 are exact modulo 2^64 in either grade.
#pragma once

namespace tally {

/// The type of `tally::exact`.
struct exact_grade {
  explicit exact_grade() = default;
};

/// Asks for the correctly rounded value: `tally::dot(x, y, tally::exact)`.
inline constexpr exact_grade exact{};

/// The grade of a call: the default one, or `tally::exact`.
class grade {
 public:
  constexpr grade() = default;
  /// `tally::exact` as it is passed.
  constexpr grade(exact_grade) : exact_(true) {}
  /// Whether the correctly rounded value is asked for.
  constexpr bool is_exact() const { return exact_; }

 private:
  bool exact_ = false;
};

}  // namespace tally
