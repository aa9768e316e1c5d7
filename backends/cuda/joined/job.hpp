// A join_job tells one launch that joins the sums of several devices what to do: block i makes
// result i. It is the kernels' only parameter.
#pragma once

#include <tally/dot.hpp>
#include <tally/joined_sum.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct join_job {
  const void* nodes = nullptr;       ///< all nodes, or with windows this device's
  const join_step* steps = nullptr;  ///< the device can read here
  unsigned count = 0;                ///< steps
  unsigned nodes_a_rank = 1;         ///< with windows: rank r has places from r times that on
  std::int64_t* words = nullptr;     ///< of exact sums: this device's
  unsigned parts = 1;                ///< an exact result has 1, or 2 if it is complex
  bool root = false;                 ///< an exact result is the root of the sum
  bool to_float = false;             ///< an exact result is float, else double
  conjugate conjugated = conjugate::none;
  std::uint32_t tag = 0;      ///< results are written as they are
  unsigned result_bytes = 0;  ///< from one result to the next
  void* results = nullptr;    ///< the device can write here
  windows through;            ///< of no ranks where all nodes are there
};

}  // namespace tally::backends::cuda
