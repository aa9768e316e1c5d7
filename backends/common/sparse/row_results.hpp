// y from rows' sums, on a host, of sparse and of dense matrices.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/csr.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>

namespace tally::backends {

/// Whether y is the sums themselves, contiguous.
template <class A>
bool are_sums(const csr_product& a) {
  return a.y.element == type_of<A> && a.y.increment == 1 && !a.reads_addend() &&
         a.alpha.as<std::complex<double>>() == 1.0;
}

/// Rows per block of sums; of slices at least a plan's scope, of others few for small stacks.
inline constexpr std::size_t rows_of_block = 512, rows_of_scope = 2048;

/// Updates y's elements [first, first + n).
template <class A>
void write_rows(const sums_update& a, std::size_t first, std::size_t n, const A* sums);
/// Writes sums of integers, whose y is int64 and not read.
void write_rows(const sums_update& a, std::size_t first, std::size_t n, const std::int64_t* sums);

template <class A>
void write_rows(const csr_product& a, std::size_t first, std::size_t n, const A* sums) {
  write_rows(sums_update{a.y, a.alpha, a.beta, a.added}, first, n, sums);
}

}  // namespace tally::backends
