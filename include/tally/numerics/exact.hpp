// The exact grade: `exact` as the last argument of dot, sum, asum, nrm2 and others.
//
// Promise: the exact real value, rounded once to the result's type, to nearest even; dependent on
// the values only, not on order, partition, ranks or version. The positive quiet NaN if a term is
// NaN or both infinities occur; an infinity if one occurs; otherwise finite unless the true value
// rounds to overflow. Exact zero is +0. Complex results are rounded by part. Integers (int64) are
// exact modulo 2^64 in either grade.
#pragma once

namespace tally {

/// Type of `tally::exact`.
struct exact_grade {
  explicit exact_grade() = default;
};

/// The exact grade: `tally::dot(x, y, tally::exact)`.
inline constexpr exact_grade exact{};

/// The grade of a call: default, or `tally::exact`.
class grade {
 public:
  constexpr grade() = default;
  /// The exact grade.
  constexpr grade(exact_grade) : exact_(true) {}
  /// Whether the grade is exact.
  constexpr bool is_exact() const { return exact_; }

 private:
  bool exact_ = false;
};

}  // namespace tally
