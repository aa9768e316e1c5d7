// The scans in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/order/scan_nodes.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/serial/order.hpp"

#include <algorithm>

namespace tally::backends::serial {
namespace {

/// Replaces a chunk's n terms by the sums of the first, the first two, ... In a sum of i + 1 terms
/// lane i % 64 is `sums[i]`, and the lane before it by 32 has last been changed for term i - 32:
/// so with that the first step of the fold is a sum of two of these, and so on.
template <class R>
void sum_prefixes(R* sums, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    sums[i] = plus(i < order::lanes ? R{} : sums[i - order::lanes], sums[i]);
  }
  for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = n; i-- > half;) sums[i] = plus(sums[i], sums[i - half]);
  }
}

template <class R, class X>
void scan_numbers(const operand& x, const output_operand& y, bool exclusive,
                  scan_nodes<R>& before) {
  const auto* const from = static_cast<const detail::stored_t<X>*>(x.data);
  auto* const to = static_cast<R*>(y.data);
  const auto put = [&](std::size_t i, R sum) {
    to[static_cast<std::ptrdiff_t>(i) * y.increment] = canonical(sum);
  };
  R sums[order::chunk];
  for (std::size_t first = 0; first < x.size; first += order::chunk) {
    const std::size_t n = std::min(order::chunk, x.size - first);
    for (std::size_t i = 0; i < n; ++i) {
      sums[i] = convert<R>(from[static_cast<std::ptrdiff_t>(first + i) * x.increment]);
    }
    sum_prefixes(sums, n);
    if (exclusive) put(first, before.with(R{}));
    for (std::size_t i = exclusive; i < n; ++i) put(first + i, before.with(sums[i - exclusive]));
    before.take(sums[n - 1]);
  }
}

template <class R>
constexpr auto scans =
    make_type_table<void(const operand&, const output_operand&, bool, scan_nodes<R>&), R>(
        []<class X>() { return &scan_numbers<R, X>; });

}  // namespace

void backend::scan(const executor&, const scan_arguments& a) const {
  with_type<real_accumulator_types>(part_of(a.y.element), [&]<class R>() {
    scan_components<R>(a, [&](const operand& x, const output_operand& y, auto& nodes) {
      scans<R>[x.element](x, y, a.exclusive, nodes);
    });
  });
}

}  // namespace tally::backends::serial
