#include "backends/common/order/interval_numbers.hpp"

#include "backends/common/order/interval_term.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tally::backends {
namespace {

/// Returns the real vectors whose products component k sums, in canonical order; empty if it is +0.
operand_pair factors_of(const interval_field& field, unsigned k) {
  operand x = component_of(field.x, part_of_x(field.what, k));
  if (field.what == summand::square) return {x, x};
  operand y = component_of(field.y, part_of_y(k));
  x.size = y.size = std::min(x.size, y.size);
  if (!in_order(x.element, y.element)) std::swap(x, y);
  return {x, y};
}

}  // namespace

operand component_of(const operand& v, int which) {
  if (!is_complex(v.element)) return {v.data, which == 0 ? v.size : 0, v.increment, v.element};
  const type number = part_of(v.element);
  const auto offset = which * static_cast<std::ptrdiff_t>(size_of(number));
  return {static_cast<const char*>(v.data) + offset, v.size, 2 * v.increment, number};
}

std::vector<operand_pair> pairs_of(const interval_arguments& a) {
  std::vector<operand_pair> pairs;
  for (const interval_field& node : a.nodes) {
    for (unsigned k = 0; k < a.shape.numbers(); ++k) pairs.push_back(factors_of(node, k));
  }
  return pairs;
}

}  // namespace tally::backends
