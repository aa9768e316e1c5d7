// The scans on Kokkos: chunks by themselves, the tree over their sums level by level, and then the
// nodes before each element's chunk. Element types are found at run time.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/order/scan_nodes.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {
namespace {

/// The last `count` values, of which value i replaces value i - count.
template <class R, std::size_t count>
struct last_values {
  R values[count] = {};

  KOKKOS_FUNCTION R replace(std::size_t i, R value) {
    const R before = values[i % count];
    values[i % count] = value;
    return before;
  }
};

/// The sum of terms 0 ... i of a chunk, for one i after the other. `lanes` are those of the order;
/// at each step of the fold one sum changes per term.
template <class R>
struct growing_sum {
  R lanes[order::lanes] = {};
  last_values<R, 16> of_32;
  last_values<R, 8> of_16;
  last_values<R, 4> of_8;
  last_values<R, 2> of_4;
  last_values<R, 1> of_2;

  KOKKOS_FUNCTION R add(std::size_t i, R term) {
    const std::size_t l = i % order::lanes;
    lanes[l] = plus(lanes[l], term);
    R sum = plus(lanes[l], lanes[(l + 32) % order::lanes]);
    sum = plus(sum, of_32.replace(i, sum));
    sum = plus(sum, of_16.replace(i, sum));
    sum = plus(sum, of_8.replace(i, sum));
    sum = plus(sum, of_4.replace(i, sum));
    return plus(sum, of_2.replace(i, sum));
  }
};

/// Vectors of one component, and nodes: `sums[e]` is that of the largest node that ends with chunk
/// `start.chunks + e` and is no left half.
template <class R>
struct scan_job {
  numbers x;
  R* y;
  std::ptrdiff_t increment;
  int part;
  std::size_t size;
  bool exclusive;
  scan_nodes<R> start;
  R* sums;

  KOKKOS_FUNCTION R& element(std::size_t i) const {
    return y[static_cast<std::ptrdiff_t>(i) * increment];
  }
  /// The node of 2^k chunks that ends before chunk `end`.
  KOKKOS_FUNCTION R node(std::int64_t end, int k) const {
    if (end > start.chunks) return sums[end - 1 - start.chunks];
    int above = 0;
    for (std::int64_t bits = end >> (k + 1); bits != 0; bits &= bits - 1) ++above;
    return start.held[above];
  }
};

template <class R>
struct scan_chunks : scan_job<R> {
  KOKKOS_FUNCTION void operator()(std::size_t chunk) const {
    const std::size_t first = chunk * order::chunk;
    const std::size_t n = this->size - first < order::chunk ? this->size - first : order::chunk;
    growing_sum<R> sum;
    R before{}, all{};
    for (std::size_t i = 0; i < n; ++i) {
      all = sum.add(i, this->x.template get<R>(first + i, this->part));
      this->element(first + i) = this->exclusive ? before : all;
      before = all;
    }
    this->sums[chunk] = all;
  }
};

/// Adds halves of 2^k chunks.
template <class R>
struct add_halves : scan_job<R> {
  int k;

  KOKKOS_FUNCTION void operator()(std::size_t chunk) const {
    const std::int64_t end = this->start.chunks + static_cast<std::int64_t>(chunk) + 1;
    const std::int64_t half = std::int64_t{1} << k;
    if (end % (2 * half) != 0) return;
    R& sum = this->sums[chunk];
    sum = plus(this->node(end - half, k), sum);
  }
};

template <class R>
struct add_nodes : scan_job<R> {
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::int64_t chunk = this->start.chunks + static_cast<std::int64_t>(i / order::chunk);
    R sum = this->element(i);
    for (int k = 0; chunk >> k != 0; ++k) {
      if ((chunk >> k & 1) != 0) sum = plus(this->node(chunk >> k << k, k), sum);
    }
    this->element(i) = canonical(sum);
  }
};

template <class R>
void scan(const space& on, const scan_arguments& a) {
  const std::size_t chunks = (a.x.size + order::chunk - 1) / order::chunk;
  auto* const sums = static_cast<R*>(scratch(on, chunks * sizeof(R)));
  const auto run = [&](const char* name, std::size_t n, const auto& kernel) {
    for_each(on, name, n, kernel);
  };
  const int parts = is_complex(a.y.element) ? 2 : 1;
  for (int part = 0; part < parts; ++part) {
    const scan_job<R> job{numbers(a.x),
                          static_cast<R*>(a.y.data) + part,
                          a.y.increment * parts,
                          part,
                          a.x.size,
                          a.exclusive,
                          scan_nodes<R>(a, part, parts),
                          sums};
    run("tally scan", chunks, scan_chunks<R>{job});
    // Nodes that end here may begin before: up to that of all chunks.
    const auto all = static_cast<std::uint64_t>(a.chunks) + chunks;
    for (int k = 0; all >> k > 1; ++k) run("tally scan tree", chunks, add_halves<R>{job, k});
    run("tally scan add", a.x.size, add_nodes<R>{job});
  }
  if (on_host) on.fence();
}

}  // namespace

void backend::scan(const executor& where, const scan_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    with_type<real_accumulator_types>(part_of(a.y.element),
                                      [&]<class R>() { kokkos::scan<R>(on, a); });
  });
}

}  // namespace tally::backends::kokkos
