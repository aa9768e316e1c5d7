// The scans on OpenMP threads, which take blocks in turn: a thread sums a block, which stays in its
// cache, waits for the sums of the blocks before, and scans the block after these. Blocks are nodes
// of the order's tree, so the number of threads changes no bits.
#include "backends/openmp/openmp.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/scan/scan.hpp"
#include "backends/simd/sums/reduce.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tally::backends::openmp {
namespace {

/// Chunks per block, a power of two: 256 KiB of doubles, and as much of sums. Not measured.
constexpr std::int64_t block_chunks = 32;
constexpr std::size_t block = block_chunks * order::chunk;

template <class R>
struct scan_kernels {
  simd::scan_part<R>* scan;
  simd::reduce_node<R>* sum;
};

template <class R>
struct block_sum {
  R sum{};
  std::atomic<bool> is_there = false;

  void leave(R value) {
    sum = value;
    is_there.store(true, std::memory_order_release);
  }
  /// Waits; not by a barrier, which takes long if there are more threads than processors.
  R take() const {
    for (int i = 0; !is_there.load(std::memory_order_acquire); ++i) {
      if (i >= 1000) std::this_thread::yield();
    }
    return sum;
  }
};

/// Scans blocks that begin at a multiple of `block_chunks`. `sums` has one per block.
template <class R>
void scan_blocks(const scan_kernels<R>& kernels, const operand& x, const output_operand& y,
                 bool exclusive, const scan_nodes<R>& before, int threads, block_sum<R>* sums) {
  const std::size_t blocks = (x.size + block - 1) / block;
#pragma omp parallel num_threads(threads)
  {
    const default_environment environment;
    const auto team = static_cast<std::size_t>(omp_get_num_threads());
    scan_nodes<R> nodes = before;
    std::size_t taken = 0;
    for (auto b = static_cast<std::size_t>(omp_get_thread_num()); b < blocks; b += team) {
      const std::size_t n = std::min(block, x.size - b * block);
      const operand part = x.slice(b * block, n);
      if (b + 1 < blocks) sums[b].leave(kernels.sum(part, R{1}).value);
      for (; taken < b; ++taken) nodes.take(sums[taken].take(), block_chunks);
      scan_nodes<R> of_block = nodes;
      kernels.scan(part, y.slice(b * block, n), exclusive, of_block);
    }
  }
}

}  // namespace

void backend::scan(const executor& where, const scan_arguments& a) const {
  const int threads =
      std::min(threads_that_pay(a.x.size, threads_of(where)),
               static_cast<int>(std::min<std::size_t>(a.x.size / block + 1, 1 << 16)));
  if (threads == 1) return simd::backend::scan(where, a);
  with_type<real_accumulator_types>(part_of(a.y.element), [&]<class R>() {
    const instruction_set set = simd::for_arithmetic(where);
    const std::size_t blocks = a.x.size / block + 1;
    std::vector<block_sum<R>> of_components((is_complex(a.y.element) ? 2 : 1) * blocks);
    auto* sums = of_components.data();
    scan_components<R>(a, [&](const operand& x, const output_operand& y, auto& nodes) {
      const scan_kernels<R> kernels = {simd::scan_part_of<R>(set),
                                       simd::reduce_node_of<R>(set, reduction::sum, x.element)};
      const auto unaligned = static_cast<std::size_t>(-nodes.chunks & (block_chunks - 1));
      const std::size_t head = std::min(x.size, unaligned * order::chunk);
      kernels.scan(x.slice(0, head), y.slice(0, head), a.exclusive, nodes);
      if (head == x.size) return;
      scan_blocks(kernels, x.slice(head, x.size - head), y.slice(head, x.size - head), a.exclusive,
                  nodes, threads, sums);
      sums += blocks;
    });
  });
}

}  // namespace tally::backends::openmp
