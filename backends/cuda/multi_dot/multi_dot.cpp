#include "backends/common/elementwise/update_by_sums.hpp"
#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/multi_dot/call.hpp"
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/runtime/scratch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace tally::backends::cuda {

const one_type_kernels* sums_kernels_for(const multi_sum& a) {
  const type x = a.pairs.x.first.element;
  if (!is_in<sums_types>(x)) return nullptr;
  return with_type<sums_types>(x, [&]<class X>() {
    return a.results.element == type_of<dot_result_t<X, X>> ? &sums_kernels_of(x) : nullptr;
  });
}

const one_type_kernels* with_one_kernels_for(const multi_sum& a, const row_blocks& layout) {
  const type x = a.pairs.x.first.element;
  const bool is_one_type = x == a.pairs.y.first.element && x == a.results.element;
  return is_one_type && is_in<with_one_types>(x) && layout.has_common_y() ? &with_one_kernels_of(x)
                                                                          : nullptr;
}

namespace {

const multi_dot_kernels* kernels_for(const multi_dot_arguments& a) {
  const auto [x, y] = a.pairs[0];
  if (x.element != y.element || !is_in<multi_dot_types>(x.element)) return nullptr;
  return with_type<multi_dot_types>(x.element, [&]<class X>() {
    return a.results.element == type_of<dot_result_t<X, X>> ? &multi_dot_kernels_of(type_of<X>)
                                                            : nullptr;
  });
}

multi_dot_kernel* any_kernel_for(const multi_sum& a) {
  const type accumulator = a.results.element;
  return a.values ? any_sums_kernels(accumulator).rows
                  : any_pairs_kernels(accumulator, is_complex(a.pairs[0].x.element)).rows;
}

bool same(const operand& a, const operand& b) {
  return a.data == b.data && a.size == b.size && a.increment == b.increment;
}

/// Partition of pairs of up to n terms; it changes no bit.
struct pairs_shape {
  std::size_t pairs = 1;  ///< per launch
  unsigned pairs_per_block = 1;
  unsigned blocks = 1;  ///< per pair
  unsigned warps = 1;   ///< per block
  unsigned tiles = 1;   ///< per block and pair
};

pairs_shape shape_of_pairs(std::size_t pairs, std::size_t n, int lanes, unsigned words_per_sum) {
  pairs_shape s;
  const std::size_t terms_per_node = order::chunk * static_cast<unsigned>(chunks_per_warp(lanes));
  const std::size_t nodes = std::max<std::size_t>(1, ceil_div(n, terms_per_node));
  if (nodes <= max_warps || pairs >= many_blocks) {  // one block a pair
    s.warps = static_cast<unsigned>(std::bit_ceil(std::min<std::size_t>(nodes, max_warps)));
    s.tiles = static_cast<unsigned>(std::bit_ceil(ceil_div(nodes, s.warps)));
    s.pairs = std::min<std::size_t>(pairs, 65535);  // limit of a grid's second dimension
    return s;
  }
  // Few pairs: their sums fit the scratch memory, which 16 pairs of doubles in 256 blocks fill.
  const std::size_t max_pairs = words_per_sum <= 2 ? max_listed : max_listed / 2;
  s.pairs = ceil_div(pairs, ceil_div(pairs, max_pairs));
  const std::size_t units = nodes * s.pairs;
  s.warps = units <= 512 ? 2 : units <= 1024 ? 4 : max_warps;
  const std::size_t tiles = ceil_div(nodes, s.warps);
  std::size_t tiles_per_block =
      std::clamp<std::size_t>(std::bit_floor(tiles / many_blocks), 1, max_tiles);
  const auto words = [&] {
    return s.pairs * words_of_blocks(ceil_div(tiles, tiles_per_block), words_per_sum);
  };
  while (words() > scratch_words) tiles_per_block *= 2;
  s.tiles = static_cast<unsigned>(tiles_per_block);
  s.blocks = static_cast<unsigned>(ceil_div(tiles, tiles_per_block));
  // As many pairs per block as keep the device full (tuning/multi_dot.md: many_blocks).
  const std::size_t groups = std::clamp<std::size_t>(many_blocks / s.blocks, 1, s.pairs);
  s.pairs_per_block = static_cast<unsigned>(ceil_div(s.pairs, groups));
  return s;
}

/// The same for rows of more than max_warps nodes in one launch, with `wanted` blocks as far as the
/// scratch memory has words.
pairs_shape shape_of_rows(std::size_t rows, std::size_t nodes, std::size_t wanted,
                          unsigned words_per_sum) {
  pairs_shape s;
  s.warps = max_warps;
  const std::size_t tiles = ceil_div(nodes, max_warps);
  std::size_t tiles_per_block = std::bit_ceil(tiles);
  const auto fits = [&](std::size_t blocks) {
    return blocks == 1 || rows * words_of_blocks(blocks, words_per_sum) <= scratch_words;
  };
  while (tiles_per_block > 1 && rows * ceil_div(tiles, tiles_per_block) < wanted &&
         fits(ceil_div(tiles, tiles_per_block / 2))) {
    tiles_per_block /= 2;
  }
  s.pairs = std::min<std::size_t>(rows, 65535);  // limit of a grid's second dimension
  s.tiles = static_cast<unsigned>(tiles_per_block);
  s.blocks = static_cast<unsigned>(ceil_div(tiles, tiles_per_block));
  return s;
}

/// Queues a launch on `pairs` pairs from `first` on.
void launch_pairs(const call& c, multi_dot_kernel* kernel, multi_dot_job job, std::size_t first,
                  std::size_t pairs, const pairs_shape& s, bool overlaps = true) {
  job.pairs = static_cast<unsigned>(pairs);
  job.pairs_per_block = s.pairs_per_block;
  job.tiles = s.tiles;
  c.direct(job, first);
  launch_shape shape;
  shape.blocks = s.blocks;
  shape.height = static_cast<unsigned>(ceil_div(pairs, s.pairs_per_block));
  shape.threads = s.warps * 32;
  shape.overlaps = overlaps;
  scratch shared;
  if (s.blocks > 1) {
    shared = scratch_for(c.current, c.where.stream(), c.captured,
                         pairs * words_of_blocks(s.blocks, c.words_per_sum));
  }
  job.words = shared.words;
  job.ended = shared.ended;
  launch(reinterpret_cast<const void*>(kernel), shape, &job, c.where.device(), c.where.stream());
  shared.queued(pairs);
}

listed_pair listed(const operand_pair& pair) {
  return {pair.x.data, pair.y.data, static_cast<std::int64_t>(pair.x.size), pair.x.increment,
          pair.y.increment};
}

multi_dot_job job_of(const multi_sum& a) {
  multi_dot_job job;
  const operand_pair pair = a.pairs[0];
  job.x_type = pair.x.element;
  job.y_type = pair.y.element;
  job.conjugated = a.conjugated;
  return job;
}

// Products of rows with one vector (tuning/multi_dot.md: together, long rows).
constexpr std::size_t enough_nodes = 4096;  ///< for several rows at once
constexpr std::size_t few_rows = 128;       ///< long ones, in turn

/// Rows of a call on their way to kernels.
class rows_run {
 public:
  rows_run(const call& c, const multi_sum& a, const row_blocks& layout)
      : call_(c), a_(a), layout_(layout), job_(job_of(a)), n_(a.pairs.x.first.size) {
    const auto bytes = [](std::ptrdiff_t elements, const operand_rows& v) {
      return elements * static_cast<std::ptrdiff_t>(size_of(v.first.element));
    };
    job_.x_distance = bytes(layout.x_distance, a.pairs.x);
    job_.x_block = bytes(layout.x_block, a.pairs.x);
    if (!a.values) {
      job_.y_distance = bytes(layout.y_distance, a.pairs.y);
      job_.y_block = bytes(layout.y_block, a.pairs.y);
    }
    if (layout.blocks > 1) job_.rows_per_block = layout.rows;
  }

  void run() {
    if (a_.values) {
      const one_type_kernels* const made = sums_kernels_for(a_);
      if (made != nullptr && run_one_type(*made, true)) return;
    } else if (a_.update || a_.pairs.size() >= many_blocks) {
      const one_type_kernels* const made = with_one_kernels_for(a_, layout_);
      if (made != nullptr && run_one_type(*made, false)) return;
    }
    if (!a_.values && !a_.update && run_pairs()) return;
    launch_all(any_kernel_for(a_),
               shape_of_pairs(a_.pairs.size(), n_, lanes_of_any, call_.words_per_sum));
  }

 private:
  /// Directs the job to the pairs from number `first` on.
  void start_at(std::size_t first) {
    if (job_.rows_per_block == 0) {
      job_.first = listed(a_.pairs[first]);
    } else {
      job_.first = listed(a_.pairs[0]);
      job_.pairs_before = first;
    }
  }

  void launch_all(multi_dot_kernel* kernel, const pairs_shape& s, bool overlaps = true) {
    for (std::size_t first = 0; first < a_.pairs.size(); first += s.pairs) {
      start_at(first);
      launch_pairs(call_, kernel, job_, first, std::min(s.pairs, a_.pairs.size() - first), s,
                   overlaps);
    }
  }

  /// Launches on a grid of one dimension.
  void launch_in_line(multi_dot_kernel* kernel, std::size_t pairs_of_block, bool overlaps = true,
                      unsigned warps = max_warps) {
    constexpr std::size_t max_pairs = std::size_t{1} << 30;
    for (std::size_t first = 0; first < a_.pairs.size(); first += max_pairs) {
      const std::size_t pairs = std::min(max_pairs, a_.pairs.size() - first);
      start_at(first);
      job_.pairs = static_cast<unsigned>(pairs);
      call_.direct(job_, first);
      launch_shape shape;
      shape.blocks = static_cast<unsigned>(ceil_div(pairs, pairs_of_block));
      shape.threads = warps * 32;
      shape.overlaps = overlaps;
      launch(reinterpret_cast<const void*>(kernel), shape, &job_, call_.where.device(),
             call_.where.stream());
    }
  }

  /// Returns the threads of a pair of at most a chunk: those whose lanes exist.
  std::size_t threads_of_short(int lanes) const {
    const std::size_t used = ceil_div(std::min(n_, order::lanes), static_cast<std::size_t>(lanes));
    return std::bit_ceil(std::max<std::size_t>(1, used));
  }

  void launch_short(const short_rows_choice& kernel, int lanes, bool overlaps) {
    const std::size_t threads = threads_of_short(lanes);
    const bool several = kernel.together || n_ <= order::lanes;
    const auto sets = static_cast<std::size_t>(several ? kernel.sets : 1);
    job_.threads_per_pair = static_cast<unsigned>(threads);
    launch_in_line(kernel.kernel, 32 / threads * sets * max_warps, overlaps);
  }

  bool are_aligned(int lanes) const {
    const operand_rows &x = a_.pairs.x, &y = a_.pairs.y;
    return are_contiguous(x.first, layout_.x_distance, layout_.x_block, lanes) &&
           (a_.values || are_contiguous(y.first, layout_.y_distance, layout_.y_block, lanes));
  }

  bool are_unit() const {
    return a_.pairs.x.first.increment == 1 && (a_.values || a_.pairs.y.first.increment == 1);
  }

  /// Whether there are kernels for the layout.
  bool run_one_type(const one_type_kernels& kernels, bool overlaps) {
    const bool aligned = are_aligned(kernels.lanes);
    if (!aligned && !(are_unit() && n_ <= kernels.unaligned.max_terms)) return false;
    if (!aligned) {
      launch_short(kernels.unaligned, kernels.lanes, overlaps);
      return true;
    }
    for (const short_rows_choice& kernel : kernels.short_rows) {
      if (n_ > kernel.max_terms) continue;
      launch_short(kernel, kernels.lanes, overlaps);
      return true;
    }
    const std::size_t terms_per_node =
        order::chunk * static_cast<unsigned>(chunks_per_warp(kernels.lanes));
    const std::size_t nodes = ceil_div(n_, terms_per_node);
    const std::size_t rows = a_.pairs.size();
    if (kernels.grouped_together != nullptr && nodes > 1 && nodes <= max_warps &&
        rows * nodes >= enough_nodes) {
      const std::size_t groups = max_warps / nodes;
      job_.warps_per_pair = static_cast<unsigned>(nodes);
      launch_in_line(kernels.grouped_together, groups * rows_per_group, overlaps,
                     static_cast<unsigned>(groups * nodes));
      return true;
    }
    if (nodes <= max_warps) {
      job_.warps_per_pair = static_cast<unsigned>(std::bit_ceil(nodes));
      launch_in_line(kernels.grouped, max_warps / job_.warps_per_pair, overlaps);
      return true;
    }
    const std::size_t wanted = a_.values ? 2112 : 264;  // tuning/multi_dot.md: long rows
    if (kernels.against_one != nullptr && rows >= max_listed && rows <= few_rows) {
      pairs_shape s = shape_of_rows(rows, nodes, ~std::size_t{}, call_.words_per_sum);
      const std::size_t groups = std::clamp<std::size_t>(many_blocks / s.blocks, 1, rows);
      s.pairs_per_block = static_cast<unsigned>(ceil_div(rows, groups));
      if (s.pairs_per_block > 1 && s.pairs_per_block <= max_listed) {
        launch_all(kernels.against_one, s, overlaps);
        return true;
      }
    }
    launch_all(kernels.aligned, shape_of_rows(rows, nodes, wanted, call_.words_per_sum), overlaps);
    return true;
  }

  /// The same for multi_dot and batched_dot.
  bool run_pairs() {
    const multi_dot_kernels* const kernels = kernels_for(a_);
    if (kernels == nullptr) return false;
    const bool aligned = are_aligned(kernels->lanes);
    if (n_ <= order::chunk && are_unit()) {
      const auto sets = static_cast<std::size_t>(kernels->sets);
      if (n_ > order::lanes / 2 && n_ <= 2 * order::lanes && kernels->one_row != nullptr) {
        const bool is_one = n_ <= order::lanes;
        launch_in_line(
            is_one ? kernels->one_row : kernels->two_rows,
            32 / threads_of_short(kernels->lanes) * (is_one ? sets : sets / 2) * max_warps);
      } else {
        launch_short({aligned ? kernels->short_aligned : kernels->short_pairs, kernels->sets},
                     kernels->lanes, true);
      }
      return true;
    }
    if (!aligned) return false;
    const pairs_shape s = shape_of_pairs(a_.pairs.size(), n_, kernels->lanes, call_.words_per_sum);
    const bool in_turn = s.pairs_per_block > 1 && layout_.has_common_y();
    launch_all(in_turn ? kernels->against_one : kernels->aligned, s);
    return true;
  }

  const call& call_;
  const multi_sum& a_;
  const row_blocks& layout_;
  multi_dot_job job_;
  std::size_t n_;
};

/// Returns the rows of x and y in common blocks, or none if there are none.
std::optional<row_blocks> blocks_of(const multi_sum& a) {
  const auto is_one_block = [](const operand_rows& v) {
    return v.is_one_block() ||
           v.block_stride == static_cast<std::ptrdiff_t>(v.rows_per_block) * v.leading_dimension;
  };
  const operand_rows &x = a.pairs.x, &y = a.pairs.y;
  const bool x_is_one = is_one_block(x), y_is_one = a.values || is_one_block(y);
  row_blocks layout;
  layout.rows = !x_is_one ? x.rows_per_block : !y_is_one ? y.rows_per_block : x.rows;
  layout.blocks = ceil_div(x.rows, layout.rows);
  if (!x_is_one && !y_is_one && x.rows_per_block != y.rows_per_block) return std::nullopt;
  const auto block = [&](const operand_rows& v, bool is_one) {
    return layout.blocks == 1 ? 0
           : is_one           ? static_cast<std::ptrdiff_t>(layout.rows) * v.leading_dimension
                              : v.block_stride;
  };
  layout.x_distance = x.leading_dimension;
  layout.x_block = block(x, x_is_one);
  if (!a.values) {
    layout.y_distance = y.leading_dimension;
    layout.y_block = block(y, y_is_one);
  }
  if (layout.rows == 1) layout.x_distance = layout.y_distance = 0;
  return layout;
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

void run_list(const call& c, const multi_sum& a) {
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
      job.conjugated = swapped(a.conjugated);
    }
    multi_dot_kernel* const kernel = !aligned ? any_kernel_for(a)
                                     : s.pairs_per_block > 1 && (same_x || same_y)
                                         ? kernels->against_one
                                         : kernels->aligned;
    launch_pairs(c, kernel, job, first, now.size(), s);
    first += now.size();
  }
}

update_job update_of(const multi_sum& a) {
  const sums_update& u = *a.update;
  update_job job;
  job.y = typed_vector(operand(u.y));
  job.reads_addend = u.reads_addend();
  job.addend = typed_vector(u.addend());
  job.computation = detail::spmv_combination(a.results.element, u.y.element);
  with_type<detail::spmv_vector_types>(job.computation, [&]<class C>() {
    const auto f = factors<computed_t<C>>::template of<C>(u.alpha, u.beta);
    static_assert(sizeof f <= sizeof job.factors);
    std::memcpy(job.factors, &f, sizeof f);
  });
  return job;
}

}  // namespace

void backend::multi_dot(const executor& where, const multi_sum& a) const {
  std::optional<row_blocks> layout;
  if (a.pairs.list.empty()) {
    layout = blocks_of(a);
    if (!layout && !a.update && !is_exact(a)) return multi_dot_in_turn(where, a);
  }
  const current_device current(where.device());
  const char* const operation = a.values ? "sums" : a.update ? "gemv" : "multi_dot";
  const bool captured = is_captured(where.stream(), a.options.wait, operation);
  if (a.update && (!layout || is_exact(a))) {
    const call_memory sums(bytes_of_sums(a), current, where.stream(), captured);
    return update_by_sums(where, a, sums.data());
  }
  if (is_exact(a)) {
    std::vector<exact_arguments> all;
    for (std::size_t j = 0; j < a.pairs.size(); ++j) all.push_back(exact_of(a, j));
    return multi_exact(where, all);
  }
  const std::size_t size = size_of(a.results.element);
  const results to(current, a.results.data, a.update ? 0 : a.pairs.size() * size, a.options.wait,
                   results::few_as_words);
  const unsigned words = with_type<accumulator_types>(a.results.element, [&]<class A>() {
    return a.values ? unsigned{words_per<reduce_sum<A>>} : unsigned{words_per<dot_sum<A>>};
  });
  const call c{where, current, captured, to, size, words, a.update ? update_of(a) : update_job()};
  if (!layout) {
    run_list(c, a);
  } else if (!sum_columns(c, a, *layout)) {
    rows_run(c, a, *layout).run();
  }
  to.arrive(where.stream());
}

}  // namespace tally::backends::cuda
