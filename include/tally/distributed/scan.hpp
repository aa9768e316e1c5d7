// Prefix sums over ranks: what <tally/mpi/scan.hpp> and <tally/nccl/scan.hpp> share.
#pragma once

#include <tally/distributed/interval_sum.hpp>
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

}  // namespace tally::detail
