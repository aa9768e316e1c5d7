#include "backends/common/order/dot_sum.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/multi_dot/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/results.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace tally::backends::cuda {
namespace {

const multi_dot_kernels* kernels_for(const multi_dot_arguments& a) {
  const auto [x, y] = a.pairs[0];
  if (x.element != y.element || !is_in<multi_dot_types>(x.element)) return nullptr;
  return with_type<multi_dot_types>(x.element, [&]<class X>() {
    return a.results.element == type_of<dot_result_t<X, X>> ? &multi_dot_kernels_of(type_of<X>)
                                                            : nullptr;
  });
}

multi_dot_kernel* any_kernel_for(const multi_dot_arguments& a) {
  return any_pairs_kernel(a.results.element, is_complex(a.pairs[0].x.element));
}

bool are_contiguous(const operand_rows& v, int lanes) {
  if (!is_contiguous(v.first, lanes)) return false;
  return v.rows == 1 || is_contiguous(v[1], lanes);
}

bool same(const operand& a, const operand& b) {
  return a.data == b.data && a.size == b.size && a.increment == b.increment;
}

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Partition of pairs of up to n terms; it changes no bit.
struct pairs_shape {
  std::size_t pairs = 1;  ///< per launch
  unsigned pairs_per_block = 1;
  unsigned blocks = 1;  ///< per pair
  unsigned warps = 1;   ///< per block
  unsigned tiles = 1;   ///< per block and pair
};

/// Blocks that fill a device: nearly two per SM of an H200.
constexpr std::size_t many_blocks = 256;

pairs_shape shape_of_pairs(std::size_t pairs, std::size_t n, int lanes, unsigned words_per_sum) {
  pairs_shape s;
  const std::size_t a_node = order::chunk * static_cast<unsigned>(chunks_per_warp(lanes));
  const std::size_t nodes = std::max<std::size_t>(1, ceil_div(n, a_node));
  if (nodes <= max_warps || pairs >= many_blocks) {  // one block a pair
    s.warps = static_cast<unsigned>(std::bit_ceil(std::min<std::size_t>(nodes, max_warps)));
    s.tiles = static_cast<unsigned>(std::bit_ceil(ceil_div(nodes, s.warps)));
    s.pairs = std::min<std::size_t>(pairs, 65535);  // limit of a grid's second dimension
    return s;
  }
  // Few pairs: their sums fit the scratch memory, which 16 pairs of doubles in 256 blocks fill.
  const std::size_t most = words_per_sum <= 2 ? max_listed : max_listed / 2;
  s.pairs = ceil_div(pairs, ceil_div(pairs, most));
  const std::size_t units = nodes * s.pairs;
  s.warps = units <= 512 ? 2 : units <= 1024 ? 4 : max_warps;
  const std::size_t tiles = ceil_div(nodes, s.warps);
  std::size_t a_block = std::clamp<std::size_t>(std::bit_floor(tiles / many_blocks), 1, max_tiles);
  const auto words = [&] {
    return s.pairs * words_of_blocks(ceil_div(tiles, a_block), words_per_sum);
  };
  while (words() > scratch_words) a_block *= 2;
  s.tiles = static_cast<unsigned>(a_block);
  s.blocks = static_cast<unsigned>(ceil_div(tiles, a_block));
  // As many pairs per block as keep the device full (tuning/multi_dot.md: many_blocks).
  const std::size_t groups = std::clamp<std::size_t>(many_blocks / s.blocks, 1, s.pairs);
  s.pairs_per_block = static_cast<unsigned>(ceil_div(s.pairs, groups));
  return s;
}

/// Common to all launches of a call.
struct call {
  const executor& where;
  const current_device& current;
  bool captured;
  const results& to;
  std::size_t result_bytes;
  unsigned words_per_sum;

  void* at(std::size_t j) const { return to.at(j * result_bytes); }

  /// Queues a launch on `pairs` pairs from `first` on.
  void launch_pairs(multi_dot_kernel* kernel, multi_dot_job job, std::size_t first,
                    std::size_t pairs, const pairs_shape& s) const {
    job.pairs = static_cast<unsigned>(pairs);
    job.pairs_per_block = s.pairs_per_block;
    job.tiles = s.tiles;
    job.tag = to.tag();
    job.results = at(first);
    launch_shape shape;
    shape.blocks = s.blocks;
    shape.height = static_cast<unsigned>(ceil_div(pairs, s.pairs_per_block));
    shape.threads = s.warps * 32;
    scratch shared;
    if (s.blocks > 1) {
      shared = scratch_for(current, where.stream(), captured,
                           pairs * words_of_blocks(s.blocks, words_per_sum));
    }
    job.words = shared.words;
    job.ended = shared.ended;
    launch(reinterpret_cast<const void*>(kernel), shape, &job, where.device(), where.stream());
    shared.queued(pairs);
  }
};

listed_pair listed(const operand_pair& pair) {
  return {pair.x.data, pair.y.data, static_cast<std::int64_t>(pair.x.size), pair.x.increment,
          pair.y.increment};
}

multi_dot_job job_of(const multi_dot_arguments& a) {
  multi_dot_job job;
  const operand_pair pair = a.pairs[0];
  job.x_type = pair.x.element;
  job.y_type = pair.y.element;
  job.conjugated = a.conjugated;
  return job;
}

/// Runs contiguous pairs of at most a chunk.
void run_short(const call& c, const multi_dot_kernels& kernels, const multi_dot_arguments& a,
               multi_dot_job job, bool aligned) {
  const auto n = static_cast<std::size_t>(job.first.n);
  const auto lanes = static_cast<std::size_t>(kernels.lanes);
  const std::size_t threads =
      std::bit_ceil(std::max<std::size_t>(1, ceil_div(std::min(n, order::lanes), lanes)));
  const auto sets = static_cast<std::size_t>(kernels.sets);
  std::size_t a_warp = 32 / threads * (n <= order::lanes ? sets : 1);
  multi_dot_kernel* kernel = aligned ? kernels.short_aligned : kernels.short_pairs;
  if (n > order::lanes / 2 && n <= 2 * order::lanes && kernels.one_row != nullptr) {
    kernel = n <= order::lanes ? kernels.one_row : kernels.two_rows;
    a_warp = 32 / threads * (n <= order::lanes ? sets : sets / 2);
  }
  job.threads_per_pair = static_cast<unsigned>(threads);
  pairs_shape s;
  s.warps = max_warps;
  constexpr std::size_t most = std::size_t{1} << 30;
  for (std::size_t first = 0; first < a.pairs.size(); first += most) {
    const std::size_t pairs = std::min(most, a.pairs.size() - first);
    job.first = listed(a.pairs[first]);
    s.pairs_per_block = static_cast<unsigned>(pairs);  // a grid of one dimension
    s.blocks = static_cast<unsigned>(ceil_div(pairs, a_warp * max_warps));
    job.pairs = static_cast<unsigned>(pairs);
    job.tag = c.to.tag();
    job.results = c.at(first);
    launch(reinterpret_cast<const void*>(kernel), {s.blocks, s.warps * 32}, &job, c.where.device(),
           c.where.stream());
  }
}

void run_rows(const call& c, const multi_dot_arguments& a) {
  multi_dot_job job = job_of(a);
  const operand_rows &x = a.pairs.x, &y = a.pairs.y;
  const auto distance = [](const operand_rows& v) {
    return v.leading_dimension * static_cast<std::ptrdiff_t>(size_of(v.first.element));
  };
  job.x_distance = distance(x);
  job.y_distance = distance(y);
  job.first = listed(a.pairs[0]);
  const std::size_t n = x.first.size;
  const multi_dot_kernels* const kernels = kernels_for(a);
  const bool aligned =
      kernels != nullptr && are_contiguous(x, kernels->lanes) && are_contiguous(y, kernels->lanes);
  if (kernels != nullptr && n <= order::chunk && x.first.increment == 1 && y.first.increment == 1) {
    return run_short(c, *kernels, a, job, aligned);
  }
  const int lanes = aligned ? kernels->lanes : lanes_of_any;
  const pairs_shape s = shape_of_pairs(x.rows, n, lanes, c.words_per_sum);
  multi_dot_kernel* const kernel = !aligned ? any_kernel_for(a)
                                   : s.pairs_per_block > 1 && y.leading_dimension == 0
                                       ? kernels->against_one
                                       : kernels->aligned;
  for (std::size_t first = 0; first < x.rows; first += s.pairs) {
    job.first = listed(a.pairs[first]);
    c.launch_pairs(kernel, job, first, std::min(s.pairs, x.rows - first), s);
  }
}

/// Returns how many pairs one launch takes. Among short ones a long one has its own: it would get
/// few blocks (tuning/multi_dot.md: long_pair).
std::size_t count_together(std::span<const operand_pair> next) {
  constexpr std::size_t long_pair = std::size_t{1} << 21;
  std::size_t longest = 0, all = 0;
  for (const auto& pair : next) {
    longest = std::max(longest, pair.x.size);
    all += pair.x.size;
  }
  if (longest < long_pair || all >= longest * next.size() / 2) return next.size();
  const auto is_long = [](const operand_pair& pair) { return pair.x.size >= long_pair; };
  const auto first_long = std::ranges::find_if(next, is_long) - next.begin();
  return std::max<std::size_t>(1, static_cast<std::size_t>(first_long));
}

void run_list(const call& c, const multi_dot_arguments& a) {
  const multi_dot_kernels* const kernels = kernels_for(a);
  const auto list = a.pairs.list;
  for (std::size_t first = 0; first < list.size();) {
    multi_dot_job job = job_of(a);
    job.listed = true;
    const auto rest = list.subspan(first);
    std::size_t n = 0;
    bool aligned = kernels != nullptr;
    const auto listed_next = rest.first(std::min<std::size_t>(rest.size(), max_listed));
    const auto next = listed_next.first(count_together(listed_next));
    for (const auto& [x, y] : next) {
      n = std::max(n, x.size);
      aligned = aligned && is_contiguous(x, kernels->lanes) && is_contiguous(y, kernels->lanes);
    }
    const int lanes = aligned ? kernels->lanes : lanes_of_any;
    const pairs_shape s = shape_of_pairs(next.size(), n, lanes, c.words_per_sum);
    const auto now = next.first(std::min(next.size(), s.pairs));
    bool same_x = true, same_y = true;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto& [x, y] = now[i];
      job.list[i] = listed(now[i]);
      same_x = same_x && same(x, now[0].x);
      same_y = same_y && same(y, now[0].y);
    }
    if (aligned && same_x && !same_y) {  // exchange x and y
      for (std::size_t i = 0; i < now.size(); ++i) std::swap(job.list[i].x, job.list[i].y);
      job.conjugated = a.conjugated == conjugate::x   ? conjugate::y
                       : a.conjugated == conjugate::y ? conjugate::x
                                                      : conjugate::none;
    }
    multi_dot_kernel* const kernel = !aligned ? any_kernel_for(a)
                                     : s.pairs_per_block > 1 && (same_x || same_y)
                                         ? kernels->against_one
                                         : kernels->aligned;
    c.launch_pairs(kernel, job, first, now.size(), s);
    first += now.size();
  }
}

}  // namespace

void backend::multi_dot(const executor& where, const multi_sum& a) const {
  if (!a.is_plain()) return backends::backend::multi_dot(where, a);
  const current_device current(where.device());
  const bool captured = is_captured(where.stream(), a.options.wait, "multi_dot");
  if (is_exact(a)) {
    std::vector<exact_arguments> all;
    for (std::size_t j = 0; j < a.pairs.size(); ++j) all.push_back(exact_of(dot_of_pair(a, j)));
    return multi_exact(where, all);
  }
  const std::size_t size = size_of(a.results.element);
  const results to(current, a.results.data, a.pairs.size() * size, a.options.wait,
                   results::few_as_words);
  const unsigned words = with_type<accumulator_types>(
      a.results.element, []<class A>() { return unsigned{words_per<dot_sum<A>>}; });
  const call c{where, current, captured, to, size, words};
  a.pairs.list.empty() ? run_rows(c, a) : run_list(c, a);
  to.arrive(where.stream());
}

}  // namespace tally::backends::cuda
