// Tally's candidates for a workload.
#pragma once

#include "bench/contender.hpp"

#include <tally/tally.hpp>

#include <vector>

namespace bench {

std::vector<tally::executor> host_executors(int threads, bool full);

contenders ours_of_one(const workload& w, bool full);

/// Float edges in [-1, 1), denser towards -1.
tally::histogram_arguments histogram_of(const workload& w);

std::int64_t checksum(const tally::operand& counts);

tally::spmv_arguments spmv_of(const workload& w, void* y, const tally::spmv_plan* plan = nullptr);

tally::spmm_arguments spmm_of(const workload& w, void* y, const tally::spmv_plan* plan = nullptr);

/// The matrix of a workload's entries, with its offsets and columns where these are.
tally::coo_arguments assembly_of(const workload& w, void* values, void* offsets, void* columns);

void compute_in_two_calls(const tally::executor& where, const workload& w, void* result, bool wait);

/// Computes `w` on `where`; of a histogram a checksum, and of entries a matrix's values, on the
/// host only. Of `max` the index follows the value, in 16 bytes, unless this waits. Element-wise
/// functions and those of matrices write `result`; updates read it too.
void compute(const tally::executor& where, const workload& w, void* result, bool wait,
             bool exact = false);

}  // namespace bench
