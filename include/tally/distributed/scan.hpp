// Prefix sums over ranks: inclusive_scan and exclusive_scan of a vector of which each rank has an
// interval. Communication and errors: <tally/mpi/scan.hpp> and <tally/nccl/scan.hpp>. Promise: the
// bits of the function of that name in <tally/operations/scan.hpp> for the whole vector in one
// process, whatever the layout and the executors.
#pragma once

#include <tally/distributed/transport.hpp>
#include <tally/operations/scan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally::detail {

/// A part of a scan, behind the chunks of a message, which are the vector's first.
inline scan_arguments behind(const void* message, scan_arguments part) {
  const auto* const head = static_cast<const interval_head*>(message);
  part.chunks = head->last;
  part.nodes = head + 1;
  return part;
}

/// A part of a scan of integers, behind the ranks before `rank`, whose sums are given.
/// @param before becomes their sum; lives as long as the part.
inline scan_arguments behind(const std::vector<std::int64_t>& sums, int rank, std::uint64_t& before,
                             scan_arguments part) {
  before = 0;
  for (int r = 0; r < rank; ++r) {
    before += static_cast<std::uint64_t>(sums[static_cast<std::size_t>(r)]);
  }
  part.chunks = 1;
  part.nodes = &before;
  return part;
}

template <class L, class X, class Y>
void scan_over(const L& l, const executor& where, const X& x, Y& y, bool exclusive) {
  transport<L>::scan(l, where, {as_operand(x), as_output(y), exclusive});
}

}  // namespace tally::detail

namespace tally::distributed {

/// y_i = x_0 + ... + x_i over the whole vector; x and y are this rank's parts of it.
///
/// @param x  l.size() elements of any type.
/// @param y  as many, of a type as for `tally::inclusive_scan`; may be x itself.
template <layout L, class X, class Y>
  requires detail::taken<detail::scan_call, X, Y>
void inclusive_scan(const L& l, const executor& where, const X& x, Y&& y) {
  detail::scan_over(l, where, x, y, false);
}

/// y_i = x_0 + ... + x_(i-1), y_0 = +0, likewise.
template <layout L, class X, class Y>
  requires detail::taken<detail::scan_call, X, Y>
void exclusive_scan(const L& l, const executor& where, const X& x, Y&& y) {
  detail::scan_over(l, where, x, y, true);
}

}  // namespace tally::distributed
