#include "backends/common/types/tables.hpp"
#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/multi_dot/call.hpp"
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/runtime/scratch.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <optional>

namespace tally::backends::cuda {
namespace {

// Numbers of thread blocks (tuning/multi_dot.md: columns).
constexpr std::size_t wanted_blocks = 1056;       ///< where columns can be split
constexpr std::size_t wanted_for_products = 264;  ///< of few columns
constexpr std::size_t enough_blocks = 120;        ///< that fill a device without splitting
constexpr std::size_t few_blocks = 264;           ///< that leave much of it idle; not measured

/// Chunks of columns that need not be split, at most.
constexpr std::size_t max_whole_chunks = 8;

/// Whether threads can load `count` columns of x at once.
bool are_adjacent(const operand& x, const row_blocks& layout, int count) {
  return are_contiguous({x.data, layout.rows, layout.x_distance, x.element}, x.increment,
                        layout.x_block, count);
}

struct choice {
  columns_choice kernel;
  columns_choice few;  ///< or no kernel
  std::size_t blocks = wanted_blocks;
  bool overlaps = true;
};

choice choose(const multi_sum& a, const row_blocks& layout) {
  const auto [x, y] = a.pairs[0];
  const one_type_kernels* const made =
      a.values ? sums_kernels_for(a) : with_one_kernels_for(a, layout);
  if (made == nullptr || !are_adjacent(x, layout, made->columns.columns) ||
      (!a.values && reinterpret_cast<std::uintptr_t>(y.data) % size_of(y.element) != 0)) {
    const any_type_kernels any = a.values
                                     ? any_sums_kernels(a.results.element)
                                     : any_pairs_kernels(a.results.element, is_complex(x.element));
    return {any.columns, {}};
  }
  return {made->columns, made->few_columns, a.values ? wanted_blocks : wanted_for_products,
          a.values};
}

/// Partition of columns over threads and blocks; it changes no bit.
struct columns_shape {
  columns_choice kernel;
  unsigned across = 1;     ///< threads side by side
  std::size_t groups = 1;  ///< thread blocks side by side, for a block of vectors
  std::size_t parts = 1;   ///< thread blocks per column
  std::size_t chunks = 1;  ///< per part
};

columns_shape shape_of_columns(const choice& made, const row_blocks& layout, std::size_t n) {
  const std::size_t chunks = ceil_div(n, order::chunk);
  columns_shape s;
  const auto widen = [&](const columns_choice& kernel, std::size_t max_across) {
    const auto columns = static_cast<std::size_t>(kernel.columns);
    s.kernel = kernel;
    s.across =
        static_cast<unsigned>(std::min(max_across, std::bit_ceil(ceil_div(layout.rows, columns))));
    s.groups = ceil_div(layout.rows, s.across * columns);
  };
  const auto widest = [](const columns_choice& kernel) {
    return std::size_t{max_column_threads} / static_cast<unsigned>(kernel.rows);
  };
  s.chunks = std::bit_ceil(chunks);
  widen(made.kernel, widest(made.kernel));
  std::size_t tiles = s.groups * layout.blocks;
  if (tiles >= wanted_blocks || tiles > scratch_words) return s;
  // Without parts that hand over their sums, if narrower groups fill the device.
  if (made.few.kernel != nullptr && chunks <= max_whole_chunks && tiles < few_blocks) {
    for (std::size_t across = widest(made.few); across >= 4; across /= 2) {
      widen(made.few, across);
      if (s.groups * layout.blocks >= enough_blocks || (chunks == 1 && across == 4)) return s;
    }
    widen(made.kernel, widest(made.kernel));
  }
  for (std::size_t across = s.across; across > 4 && tiles * chunks < enough_blocks;) {
    across /= 2;
    widen(made.kernel, across);
    tiles = s.groups * layout.blocks;
  }
  const std::size_t wanted = tiles < few_blocks ? made.blocks : wanted_blocks;
  while (s.chunks > 1 && tiles * ceil_div(chunks, s.chunks) < wanted) s.chunks /= 2;
  s.parts = ceil_div(chunks, s.chunks);
  return s;
}

}  // namespace

bool sum_columns(const call& c, const multi_sum& a, const row_blocks& layout) {
  const auto [x, y] = a.pairs[0];
  // The matrix is y where x is common to all pairs.
  const bool is_x = a.values || !layout.has_common_x();
  const std::ptrdiff_t distance = is_x ? layout.x_distance : layout.y_distance;
  const std::ptrdiff_t increment = is_x ? x.increment : y.increment;
  if (layout.rows < 2 || x.size < 2 || distance == 0 || std::abs(distance) >= std::abs(increment)) {
    return false;
  }
  const choice made = choose(a, layout);
  const columns_shape s = shape_of_columns(made, layout, x.size);

  columns_job job;
  job.x = x.data;
  job.y = y.data;
  job.n = static_cast<std::int64_t>(x.size);
  job.columns = static_cast<std::int64_t>(layout.rows);
  job.x_increment = x.increment;
  job.y_increment = y.increment;
  job.x_distance = layout.x_distance;
  job.y_distance = layout.y_distance;
  job.x_block = layout.x_block * static_cast<std::ptrdiff_t>(size_of(x.element));
  job.y_block = a.values ? 0 : layout.y_block * static_cast<std::ptrdiff_t>(size_of(y.element));
  job.conjugated = a.conjugated;
  job.x_type = x.element;
  job.y_type = y.element;

  job.shift_across = static_cast<unsigned>(std::countr_zero(s.across));
  job.groups = static_cast<unsigned>(s.groups);
  job.parts = static_cast<unsigned>(s.parts);
  job.chunks = static_cast<unsigned>(std::min<std::size_t>(s.chunks, std::size_t{1} << 31));

  const auto rows = static_cast<std::size_t>(s.kernel.rows);
  const auto sum_bytes = static_cast<std::size_t>(s.kernel.sum_bytes);
  const std::size_t wide = s.across * static_cast<std::size_t>(s.kernel.columns);
  const std::size_t levels = std::bit_width(std::max(s.chunks, ceil_div(s.parts, 8 * rows)));
  launch_shape shape;
  shape.threads = static_cast<unsigned>(s.across * rows);
  shape.shared_bytes = (2 * rows + levels) * wide * sum_bytes;
  shape.overlaps = made.overlaps;
  const cudaStream_t stream = c.where.stream();
  // Blocks of vectors for which a grid has room.
  const std::size_t max_blocks = std::max<std::size_t>(1, (std::size_t{1} << 30) / s.groups);
  for (std::size_t first = 0; first < layout.blocks; first += max_blocks) {
    const std::size_t tiles = std::min(max_blocks, layout.blocks - first) * s.groups;
    const std::size_t result = first * layout.rows;
    const auto moved = static_cast<std::ptrdiff_t>(first);
    job.x = static_cast<const char*>(x.data) + moved * job.x_block;
    job.y = static_cast<const char*>(y.data) + moved * job.y_block;
    job.all = static_cast<std::int64_t>(a.pairs.size() - result);
    c.direct(job, result);

    scratch counters;
    std::optional<call_memory> sums;
    if (s.parts > 1) {
      sums.emplace(tiles * s.parts * wide * sum_bytes, c.current, stream, c.captured);
      job.sums = sums->data();
      counters = scratch_for(c.current, stream, c.captured, tiles);
    }
    job.counters = counters.words;
    job.ended = counters.ended;
    shape.blocks = static_cast<unsigned>(tiles * s.parts);
    launch(reinterpret_cast<const void*>(s.kernel.kernel), shape, &job, c.where.device(), stream);
    counters.queued(tiles);
  }
  return true;
}

}  // namespace tally::backends::cuda
