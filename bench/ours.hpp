// Tally's candidates for a workload.
#pragma once

#include "bench/contender.hpp"

#include <tally/tally.hpp>

#include <vector>

namespace bench {

/// Executors on host memory, within the permitted threads.
std::vector<tally::executor> host_executors(int threads, bool full);

/// A function of x alone, or an element-wise one, on each of them.
contenders ours_of_one(const workload& w, bool full);

/// Arguments of a histogram; float edges in [-1, 1), denser towards -1.
tally::histogram_arguments histogram_of(const workload& w);

/// Returns a checksum of a histogram's counts in host memory.
std::int64_t checksum(const tally::operand& counts);

/// Arguments of an spmv into `y`.
tally::spmv_arguments spmv_of(const workload& w, void* y, const tally::spmv_plan* plan = nullptr);

/// An update with a sum, in the two equivalent calls.
void compute_in_two_calls(const tally::executor& where, const workload& w, void* result, bool wait);

/// Computes `w` on `where`; of a histogram a checksum, on the host only. Of `max` the index follows
/// the value, in 16 bytes, unless this waits. Element-wise functions and spmv write `result`;
/// updates read it too.
void compute(const tally::executor& where, const workload& w, void* result, bool wait,
             bool exact = false);

}  // namespace bench
