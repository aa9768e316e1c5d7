// Our own ways of computing what a workload asks for.
#pragma once

#include "bench/contender.hpp"

#include <tally/tally.hpp>

#include <vector>

namespace bench {

/// The executors that run on host memory, with what the threads allow.
std::vector<tally::executor> host_executors(int threads, bool full);

/// Something of x alone, or an element-wise function, on each of them.
contenders ours_of_one(const workload& w, bool full);

/// What a histogram is asked for; its edges, of floats in [-1, 1), grow closer towards -1.
tally::histogram_arguments histogram_of(const workload& w);

/// Returns a checksum of the counts of a histogram, in host memory.
std::int64_t checksum(const tally::operand& counts);

/// What an spmv into `y` is asked for.
tally::spmv_arguments spmv_of(const workload& w, void* y, const tally::spmv_plan* plan = nullptr);

/// An update with a sum in the two calls that it stands for.
void compute_in_two_calls(const tally::executor& where, const workload& w, void* result, bool wait);

/// What `w` asks for, on `where`; of a histogram a checksum, on the host only. Of `max` the index
/// comes behind the value, in 16 bytes, unless this waits. An element-wise function and
/// spmv write `result`; what updates reads it, too.
void compute(const tally::executor& where, const workload& w, void* result, bool wait,
             bool exact = false);

}  // namespace bench
