// The scans on OpenMP threads, in rounds: each thread sums a block, which stays in its cache; when
// all sums are there, each thread scans its block after the nodes before. Blocks are nodes of the
// order's tree, so the number of threads changes no bits.
#include "backends/openmp/openmp.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/openmp/shares.hpp"
#include "backends/simd/sums/reduce.hpp"
#include "backends/simd/sums/scan.hpp"

#include <omp.h>

#include <vector>

namespace tally::backends::openmp {
namespace {

/// Chunks per block, a power of two: 256 KiB of doubles, and as much of sums.
constexpr std::int64_t block_chunks = 32;
constexpr std::size_t block = block_chunks * order::chunk;

template <class R>
struct scan_kernels {
  simd::scan_part<R>* scan;
  simd::reduce_node<R>* sum;
};

output_operand slice(const output_operand& y, std::size_t first, std::size_t n) {
  const operand part = operand(y).slice(first, n);
  return {const_cast<void*>(part.data), part.size, part.increment, part.element};
}

/// Scans blocks that begin at a multiple of `block_chunks`. `sums` has two per thread.
template <class R>
void scan_blocks(const scan_kernels<R>& kernels, const operand& x, const output_operand& y,
                 bool exclusive, const scan_nodes<R>& before, int threads, std::vector<R>& sums) {
  const std::size_t whole = x.size / block;
#pragma omp parallel num_threads(threads)
  {
    const default_environment environment;
    const auto team = static_cast<std::size_t>(omp_get_num_threads());
    const auto mine = static_cast<std::size_t>(omp_get_thread_num());
    scan_nodes<R> nodes = before;
    R* round_sums = sums.data();
    for (std::size_t first = 0; first * block < x.size; first += team) {
      const std::size_t own = first + mine;
      if (own < whole) round_sums[mine] = kernels.sum(x.slice(own * block, block), R{1}).value;
#pragma omp barrier
      for (std::size_t b = first; b < first + team; ++b) {
        if (b == own && b * block < x.size) {
          const std::size_t n = std::min(block, x.size - b * block);
          scan_nodes<R> of_block = nodes;
          kernels.scan(x.slice(b * block, n), slice(y, b * block, n), exclusive, of_block);
        }
        if (b < whole) nodes.take(round_sums[b - first], block_chunks);
      }
      // The next round's sums don't wait until all threads have read these.
      round_sums = round_sums == sums.data() ? sums.data() + team : sums.data();
    }
  }
}

}  // namespace

void backend::scan(const executor& where, const scan_arguments& a) const {
  const int threads =
      std::min(threads_that_pay(a.x.size, threads_of(where)),
               static_cast<int>(std::min<std::size_t>(a.x.size / block + 1, 1 << 16)));
  if (threads == 1) return simd::backend::scan(where, a);
  with_type<type_list<std::int64_t, float, double>>(part_of(a.y.element), [&]<class R>() {
    const instruction_set set = simd::for_arithmetic(where);
    std::vector<R> sums(2 * static_cast<std::size_t>(threads));
    scan_components<R>(a, [&](const operand& x, const output_operand& y, auto& nodes) {
      const scan_kernels<R> kernels = {simd::scan_part_of<R>(set),
                                       simd::reduce_node_of<R>(set, reduction::sum, x.element)};
      const auto unaligned = static_cast<std::size_t>(-nodes.chunks & (block_chunks - 1));
      const std::size_t head = std::min(x.size, unaligned * order::chunk);
      kernels.scan(x.slice(0, head), slice(y, 0, head), a.exclusive, nodes);
      if (head == x.size) return;
      scan_blocks(kernels, x.slice(head, x.size - head), slice(y, head, x.size - head), a.exclusive,
                  nodes, threads, sums);
    });
  });
}

}  // namespace tally::backends::openmp
