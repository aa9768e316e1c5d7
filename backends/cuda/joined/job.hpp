// Parameter of the kernels that join sums: block i makes result i.
#pragma once

#include <tally/distributed/joined_sum.hpp>
#include <tally/operations/dot.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct join_job {
  const void* nodes = nullptr;       ///< all, or with windows this device's
  const join_step* steps = nullptr;  ///< device-accessible
  unsigned count = 0;
  unsigned nodes_per_rank = 1;    ///< with windows: rank r's nodes begin at r times this
  std::int64_t* words = nullptr;  ///< this device's limbs of exact sums
  unsigned parts = 1;             ///< of an exact result: 2 if complex
  bool root = false;              ///< whether an exact result is the root of the sum
  bool to_float = false;          ///< exact result: float, else double
  conjugate conjugated = conjugate::none;
  std::uint32_t tag = 0;                     ///< 0: plain results
  unsigned result_bytes = 0;                 ///< from one result to the next
  void* results = nullptr;                   ///< device-accessible
  windows through;                           ///< of no ranks if all nodes are here
  static constexpr std::size_t divisor = 0;  ///< no means
};

}  // namespace tally::backends::cuda
