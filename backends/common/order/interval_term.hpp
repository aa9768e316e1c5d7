// Terms of interval sums by component.
#pragma once

#include "backends/common/types/typed_vector.hpp"

#include <tally/distributed/interval_sum.hpp>

#include <cmath>
#include <cstddef>

namespace tally::backends {

/// The part, re (0) or im (1), of x (of y) in a component: rr, ii, ri, ir for products.
TALLY_HOST_DEVICE constexpr int part_of_x(summand what, unsigned number) {
  return what == summand::product ? number == 1 || number == 3 : number == 1;
}
TALLY_HOST_DEVICE constexpr int part_of_y(unsigned number) { return number == 1 || number == 2; }

/// Returns term i of a component in the accumulator's real type, of squares the root; +0 for the
/// imaginary part of a real vector.
template <class R>
TALLY_HOST_DEVICE R interval_term(summand what, const typed_vector& x, const typed_vector& y,
                                  unsigned number, std::size_t i) {
  const auto at = [i](const typed_vector& v, int part) {
    return typed::number_at<R>(v.data, static_cast<std::ptrdiff_t>(i) * v.increment + part,
                               v.number);
  };
  const int of_x = part_of_x(what, number);
  if (of_x > x.complex) return R{};
  if (what == summand::product) {
    const int of_y = part_of_y(number);
    return of_y > y.complex ? R{} : at(x, of_x) * at(y, of_y);
  }
  const R value = at(x, of_x);
  return what == summand::magnitude ? std::fabs(value) : value;
}

}  // namespace tally::backends
