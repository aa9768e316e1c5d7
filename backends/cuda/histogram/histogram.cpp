#include "backends/cuda/cuda.hpp"

#include "backends/common/histogram/weights.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/histogram/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/results.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/runtime/stream_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace tally::backends::cuda {
namespace {

bool is_byte(type element) { return size_of(element) == 1; }

// --- Tuning values (tuning/histogram.md) ---------------------------------------------------------

/// Ranges before a cache is better, at most. (Earlier for skewed keys.)
constexpr std::size_t max_ranges = 10;

/// Samples from which sorting pays for another launch, if also half as many as the places.
constexpr std::size_t min_sorted = std::size_t{1} << 21;

/// Samples per sorting launch, at most.
constexpr std::size_t max_sorted = std::size_t{1} << 25;

/// Tables of weights from which they are used. A guess.
constexpr std::size_t min_tables = 4;

/// Bytes of the digits of bins at a time, which the L2 cache should hold, and such bins if weights
/// are fewer than bins (tuning/histogram.md: max_bytes_of_digits).
constexpr std::size_t max_bytes_of_digits = std::size_t{1} << 25,
                      max_bins_at_once = std::size_t{1} << 24;

/// Bytes of rows for strays, and of all limbs at a time. Guesses.
constexpr std::size_t min_bytes_of_rows = std::size_t{1} << 22,
                      max_bytes_of_rows = std::size_t{1} << 24, min_room = std::size_t{1} << 26;

/// Samples up to which a range has one block, which needs no zeros first.
constexpr std::size_t max_of_one_block = 4 * histogram_threads;

/// Samples per launch, at most: a block counts in 32 bits.
constexpr std::size_t max_at_once = (std::size_t{1} << 32) - 4096;

/// Bits of a position below its cell, at most.
constexpr unsigned max_cell_bits = 14;
constexpr unsigned cell_bits_for(std::size_t thresholds) {
  const std::size_t cells = thresholds <= 1024 ? 6 * thresholds : 3 * thresholds;
  unsigned bits = max_cell_bits;
  while (bits > 8 && (std::size_t{1} << (23 - bits)) < cells) --bits;
  return bits;
}

// --- From samples to bins ------------------------------------------------------------------------

/// Returns a float's position among all floats, as by_cell does.
std::uint32_t rank_of(float value) {
  const auto bits = __builtin_bit_cast(std::int32_t, value + 0.0f);  // -0 becomes 0
  return static_cast<std::uint32_t>(bits) ^ (static_cast<std::uint32_t>(bits >> 31) | 0x80000000u);
}

/// Ascending positions that share a cell of 2^b positions with the one before, counted for each b.
using crowding = std::array<std::size_t, 33>;
template <class Positions>
crowding crowding_of(const Positions& position_of, std::size_t count) {
  crowding all = {};
  std::uint32_t before = position_of(0);
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint32_t position = position_of(i);
    ++all[std::bit_width(position ^ before)];
    before = position;
  }
  std::partial_sum(all.begin(), all.end(), all.begin());
  return all;
}

/// Chooses cells of equal width or, if less crowded, of equally many floats.
template <class S>
bin_rule cut_into_cells(std::span<const S> thresholds, histogram_edges_job& job) {
  constexpr std::uint32_t last = (1u << 23) - 1;
  const auto at = [&](std::size_t i) { return static_cast<float>(thresholds[i]); };
  const float first = at(0), end = at(thresholds.size() - 1);
  job.base = rank_of(first);
  while ((rank_of(end) - job.base) >> job.shift >= last) ++job.shift;
  // Thresholds get positions 2 to 2^23 - 4; the others are outside.
  const double rate = (last - 6) / (static_cast<double>(end) - static_cast<double>(first));
  job.rate = static_cast<float>(rate);
  job.offset = static_cast<float>(0x1p23 + 2 - rate * static_cast<double>(first));
  const auto by_bits = [&](std::size_t i) { return (rank_of(at(i)) - job.base) >> job.shift; };
  const auto by_width = [&](std::size_t i) {
    const float position = std::fmaf(at(i), job.rate, job.offset) - 0x1p23f;
    return static_cast<std::uint32_t>(std::fmin(std::fmax(position, 0.0f), 1.0f * last));
  };
  const bool can_be_linear =
      std::isfinite(job.rate) && std::isfinite(job.offset) && std::isnormal(job.rate);
  const std::size_t n = thresholds.size();
  const crowding by_floats = crowding_of(by_bits, n);
  const crowding by_widths = can_be_linear ? crowding_of(by_width, n) : crowding{};
  const unsigned min_bits = cell_bits_for(n);
  for (job.cell_bits = max_cell_bits;; --job.cell_bits) {
    const std::size_t floats = by_floats[job.cell_bits];
    const std::size_t widths = can_be_linear ? by_widths[job.cell_bits] : n;
    if (std::min(floats, widths) == 0 || job.cell_bits == min_bits) {
      return widths <= floats ? bin_rule::linear_edges : bin_rule::bitwise_edges;
    }
  }
}

/// Sets how a float's position among bins of equal width is computed, off by less than 2^-24 times
/// 3 (bins + |offset|), since the float, the rate, the product and the offset are rounded; so for
/// doubles, too.
void guess_positions(double rate, double origin, slot bins, histogram_job& job) {
  const double offset = -origin * rate;
  job.rate = static_cast<float>(rate);
  job.offset = static_cast<float>(offset);
  job.margin = static_cast<float>((bins + std::fabs(offset)) * 0x1p-22);
  if (!std::isnormal(job.rate) || !(job.margin < 0.5f))
    job.rate = 0, job.offset = 0, job.margin = 1;
}

struct bins_on_device {
  bin_rule rule = bin_rule::any;
  std::optional<stream_memory> thresholds;
};

void* bring(const void* from, std::size_t bytes, const executor& where,
            const current_device& current, std::optional<stream_memory>& memory) {
  memory.emplace(ceil_div(bytes, 8) * 8, current, where.stream());
  histogram_bytes_job job;
  for (std::size_t done = 0; done < bytes; done += job.count) {
    job.to = static_cast<std::byte*>(memory->data()) + done;
    job.count = static_cast<unsigned>(std::min(bytes - done, histogram_bytes_job::room));
    std::memcpy(job.bytes, static_cast<const std::byte*>(from) + done, job.count);
    launch(histogram_bytes_kernel(), {1, 512}, &job, where.device(), where.stream());
  }
  return memory->data();
}

void describe_bins(const histogram_arguments& a, const executor& where,
                   const current_device& current, histogram_edges_job& job, bins_on_device& bins) {
  with_bins(a, [&]<class X, class Bins>(const Bins& b) {
    if constexpr (std::is_same_v<Bins, key_bins>) {
      job.keys = b;
      bins.rule = bin_rule::keys;
    } else if constexpr (std::is_same_v<Bins, even_bins>) {
      job.even = b;
      bins.rule = bin_rule::even;
      if (b.is_near) guess_positions(b.inverse, b.first, b.bins, job);
    } else if constexpr (std::is_same_v<Bins, even_integer_bins>) {
      job.whole = true;
      job.whole_even = b;
      bins.rule = bin_rule::whole_even;
      guess_positions(b.rate, static_cast<double>(b.lower), b.bins, job);
    } else {
      using S = sample_t<X>;
      const std::size_t bytes = b.reached * sizeof(S);
      job.reached = b.reached;
      if (bytes <= histogram_edges_job::room) {
        std::memcpy(job.few, b.thresholds, bytes);
      } else {
        job.thresholds = bring(b.thresholds, bytes, where, current, bins.thresholds);
      }
      // Cells get at most half of the shared memory, counters the rest.
      const auto shared_of = [&](unsigned cell_bits) {
        return ceil_div(bytes, 16) * 16 + (std::size_t{4} << (23 - cell_bits));
      };
      const std::size_t room = max_shared_bytes(where.device()) / 2;
      if (b.reached > 0 && shared_of(max_cell_bits) <= room) {
        const bin_rule cells = cut_into_cells(std::span<const S>(b.thresholds, b.reached), job);
        if (const std::size_t shared = shared_of(job.cell_bits); shared <= room) {
          bins.rule = cells;
          job.shared_bytes = static_cast<unsigned>(shared);
        }
      }
    }
  });
  job.what = a.what;
  if (is_byte(a.x.element)) bins.rule = bin_rule::bytes, job.shared_bytes = 0;
}

// --- Counts --------------------------------------------------------------------------------------

void queue_zeros(void* counts, std::size_t bytes, const histogram_options& outside,
                 std::uint32_t* totals, const executor& where) {
  histogram_zeros_job job;
  job.totals = totals;
  job.totals_words = totals != nullptr ? buckets : 0;
  job.counts = static_cast<std::uint32_t*>(counts);
  job.words = bytes / 4;
  job.outside = reinterpret_cast<std::uint32_t*>(outside.outside);
  job.outside_words =
      outside.outside != nullptr ? outside.channels * sizeof(outside_counts) / 4 : 0;
  const std::size_t blocks = ceil_div(std::max(job.words, job.outside_words), 2048);
  launch(histogram_zeros_kernel(),
         {static_cast<unsigned>(
              std::clamp<std::size_t>(blocks, 1, 2 * multiprocessors(where.device()))),
          1024},
         &job, where.device(), where.stream());
}

/// Sets a launch's samples, and which are loaded 16 bytes at a time.
void take_samples(const histogram_arguments& a, std::size_t first, std::size_t end,
                  histogram_job& job) {
  const operand x = a.x.slice(first, end - first);
  job.x = x.data;
  job.n = static_cast<std::int64_t>(x.size);
  job.head = job.loads = 0;
  if (x.increment != 1 || job.channels > 1) return;
  const std::size_t size = size_of(x.element);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(x.data) % 16;
  const std::size_t head = (16 - past) % 16 / size;
  if (x.size < head) return;
  job.head = static_cast<std::int64_t>(head);
  job.loads = static_cast<std::int64_t>((x.size - head) * size / 16);
}

void count(const histogram_arguments& a, const executor& where, const current_device& current,
           histogram_edges_job& job, bin_rule rule) {
  const int device = where.device();
  const std::size_t processors = multiprocessors(device), max_bytes = max_shared_bytes(device);
  if (rule == bin_rule::bytes) job.places = 256;

  const std::size_t places = std::size_t{job.places} * job.channels;
  // CUDA reserves 1 KiB per block; kernels need some hundred bytes.
  const std::size_t room = ((max_bytes - 512 - job.shared_bytes) / 4 - 1) / 32 * 32;
  const std::size_t ranges = ceil_div(places, room);
  counting how = rule == bin_rule::bytes && job.channels == 1 ? counting::spread
                 : ranges <= std::min(max_ranges, processors) ? counting::tables
                                                              : counting::cache;
  // A block of the second launch has a bucket's counters and a number per tile.
  const std::size_t a_bucket = ceil_div(places, adjacent * buckets) * adjacent;
  const std::size_t tiles = ceil_div(std::min(a.x.size, max_sorted), samples_per_tile);
  const std::size_t sorted_shared = (a_bucket + 1 + tiles + 1) * sizeof(std::uint32_t);
  if (how == counting::cache && job.channels == 1 && a.x.increment == 1 && !is_byte(a.x.element) &&
      a.x.size >= std::max(min_sorted, places / 2) && a_bucket < std::size_t{1} << 16 &&
      sorted_shared <= max_bytes - 512) {
    how = counting::sorted;
  }
  std::size_t shared = 0;
  if (how == counting::cache || how == counting::sorted) {
    // A counter, and 16 bits for its owner: 2^15 places fit an H200 (tuning/histogram.md:
    // cache_bits).
    while ((std::size_t{12} << job.cache_bits) <= max_bytes - 512) ++job.cache_bits;
    shared = std::size_t{6} << job.cache_bits;
    if (rule != bin_rule::keys && rule != bin_rule::bytes) rule = bin_rule::any;
    job.shared_bytes = 0;
  } else if (how == counting::spread) {
    shared = (places + 1) * 32 * sizeof(std::uint32_t);
  } else {
    job.ranges = static_cast<unsigned>(ranges);
    job.a_range = static_cast<slot>(ceil_div(ceil_div(places, ranges), 32) * 32);
    job.alone = rule != bin_rule::bytes && a.x.size <= max_of_one_block;
    shared = job.shared_bytes + (std::size_t{job.a_range} + 1) * sizeof(std::uint32_t);
  }

  std::optional<stream_memory> memory;
  if (how == counting::sorted) {
    const std::size_t octets = tiles * octets_per_tile * sizeof(uint4);
    const std::size_t begins = ceil_div(tiles * (buckets + 1), 8) * 8 * sizeof(std::uint16_t);
    memory.emplace(octets + begins + buckets * sizeof(std::uint32_t), current, where.stream());
    auto* const bytes = static_cast<std::byte*>(memory->data());
    job.octets = reinterpret_cast<uint4*>(bytes);
    job.begins = reinterpret_cast<std::uint16_t*>(bytes + octets);
    job.totals = reinterpret_cast<std::uint32_t*>(bytes + octets + begins);
    job.a_range = static_cast<slot>(a_bucket);
    job.pieces = static_cast<unsigned>(2 * processors);
    allow_shared_bytes(histogram_count_sorted_kernel(), current, max_bytes - 512);
  }

  // Counting may overlap the writing of zeros, unless it hands in counts or reads thresholds from
  // memory meanwhile.
  bool overlaps = false;
  const std::size_t count_bytes = a.counts.size * (job.wide ? 8 : 4);
  if (!a.options.add && !job.alone && how != counting::sorted) {
    queue_zeros(job.counts, count_bytes, a.options, nullptr, where);
    overlaps = how != counting::cache && job.thresholds == nullptr;
  }
  const void* const kernel = with_type<real_types>(
      a.x.element, [&]<class X>() { return histogram_kernel_of<loaded_t<X>>(rule, how); });
  allow_shared_bytes(kernel, current, max_bytes - 512);
  // A launch begins with the first channel.
  const std::size_t at_once =
      how == counting::sorted ? max_sorted : max_at_once / job.channels * job.channels;
  for (std::size_t first = 0; first < a.x.size || first == 0; first += at_once) {
    take_samples(a, first, std::min(a.x.size, first + at_once), job);
    const std::size_t loads = job.loads > 0 ? static_cast<std::size_t>(job.loads)
                                            : ceil_div(static_cast<std::size_t>(job.n), 4);
    if (how == counting::sorted) {
      const bool begins = first == 0 && !a.options.add;
      queue_zeros(job.counts, begins ? count_bytes : 0, begins ? a.options : histogram_options(),
                  job.totals, where);
      const std::size_t loads_per_tile = samples_per_tile * size_of(a.x.element) / 16;
      job.tiles = static_cast<std::int64_t>(ceil_div(loads, loads_per_tile));
      launch(kernel,
             {static_cast<unsigned>(processors), histogram_threads, shared, 1,
              job.thresholds == nullptr},
             &job, device, where.stream());
      launch(histogram_count_sorted_kernel(),
             {static_cast<unsigned>(job.pieces + buckets), histogram_threads, sorted_shared}, &job,
             device, where.stream());
      continue;
    }
    const std::size_t shares = job.alone
                                   ? 1
                                   : std::clamp<std::size_t>(ceil_div(loads, histogram_threads), 1,
                                                             processors / job.ranges);
    launch(kernel,
           {.blocks = static_cast<unsigned>(shares * job.ranges),
            .threads = histogram_threads,
            .shared_bytes = shared,
            .overlaps = overlaps},
           &job, device, where.stream());
  }
}

// --- Sums of weights -----------------------------------------------------------------------------

void add_weights(const histogram_arguments& a, const executor& where, const current_device& current,
                 const histogram_edges_job& bins) {
  histogram_weights_job job;
  static_cast<histogram_edges_job&>(job) = bins;
  job.weights = a.weights.data;
  job.weights_increment = a.weights.increment;
  job.to_doubles = a.counts.element == type::float64;
  job.to_words = a.words;
  job.keeps = a.scatters;
  const bool doubles = a.weights.element == type::float64;
  const std::size_t bytes_of_sum =
      a.words ? exact_words(a.counts.element) * sizeof(std::int64_t) : size_of(a.counts.element);

  const std::size_t n = a.x.size, processors = multiprocessors(where.device());
  const std::size_t of_digits = max_bytes_of_digits / (doubles ? 16 : 8);
  const std::size_t at_once =
      std::min(a.counts.size, n < a.counts.size ? max_bins_at_once : of_digits);
  const std::size_t row =
      8 * static_cast<std::size_t>(doubles ? weight_sum<double>::words : weight_sum<float>::words);
  // At most one row per weight and bin.
  const std::size_t max_rows = std::clamp(n, min_bytes_of_rows, max_bytes_of_rows) / row;
  while ((std::size_t{2} << job.row_bits) <= max_rows &&
         std::size_t{1} << job.row_bits < std::min(at_once, 2 * n)) {
    ++job.row_bits;
  }
  const std::size_t rows = std::size_t{1} << job.row_bits;
  // Rows, their owners, a bit and two digits per bin.
  std::size_t bytes = 0;
  const auto room_for = [&](std::size_t more) {
    return std::exchange(bytes, bytes + ceil_div(more, 128) * 128);
  };
  room_for(rows * row);
  const std::size_t owners = room_for(rows * sizeof(std::uint32_t));
  const std::size_t strayed = room_for(ceil_div(at_once, 32) * sizeof(std::uint32_t));
  const std::size_t digits = room_for(at_once * 2 * sizeof(std::int64_t));
  job.bytes = bytes;
  job.room = std::max(bytes, std::min(at_once * row, min_room));
  const stream_memory memory(job.room + sizeof(weight_state), current, where.stream());
  auto* const data = static_cast<std::byte*>(memory.data());
  job.words = reinterpret_cast<std::int64_t*>(data);
  job.owners = reinterpret_cast<std::uint32_t*>(data + owners);
  job.strayed = reinterpret_cast<std::uint32_t*>(data + strayed);
  job.digits = reinterpret_cast<std::int64_t*>(data + digits);
  job.state = reinterpret_cast<weight_state*>(data + job.room);

  // A block's samples are many more than its bins, which it hands in.
  const std::size_t max_bytes = max_shared_bytes(where.device()) - 32 * 1024;
  const std::size_t of_tables = std::min<std::size_t>(
      processors, n / std::max<std::size_t>(8 * histogram_threads, 8 * a.counts.size));
  const bool in_tables = 16 * a.counts.size <= max_bytes && of_tables >= min_tables;
  const auto kernel = [&](weights_step step) {
    return histogram_weights_kernel(a.x.element, doubles, step);
  };
  const auto blocks_for = [&](std::size_t items, std::size_t per_processor) {
    return static_cast<unsigned>(std::clamp<std::size_t>(items, 1, per_processor * processors));
  };
  const auto queue = [&](weights_step step, const launch_shape& shape) {
    launch(kernel(step), shape, &job, where.device(), where.stream());
  };
  for (job.first = 0; job.first < a.counts.size; job.first += at_once) {
    job.some = std::min(at_once, a.counts.size - job.first);
    job.counts_outside = job.first == 0;
    job.clears_outside = job.first == 0 && !a.options.add && a.options.outside != nullptr;
    job.sums = static_cast<char*>(a.counts.data) + job.first * bytes_of_sum;
    queue(weights_step::begin, {1 + blocks_for(job.bytes / (16 * 1024), 2), histogram_threads});
    if (in_tables) {
      allow_shared_bytes(kernel(weights_step::in_tables), current, max_bytes);
      queue(weights_step::in_tables,
            {static_cast<unsigned>(of_tables), histogram_threads, 16 * job.some});
    } else {
      queue(weights_step::in_memory, {blocks_for(ceil_div(n, weight_threads), 4), weight_threads});
    }
    if (job.some > rows) {
      queue(weights_step::all_limbs,
            {.blocks = blocks_for(blocks_of_all_limbs * processors, blocks_of_all_limbs),
             .threads = weight_threads,
             .overlaps = false,
             .cooperative = true});
    }
    queue(weights_step::finish, {blocks_for(ceil_div(std::max(job.some, rows), 128), 16), 128});
  }
}

// --- Out-of-range keys ---------------------------------------------------------------------------

/// Waits for what the counting launches left in scratch memory; returns the first out-of-range key.
out_of_range_key out_of_range_key_of(const histogram_arguments& a, const executor& where,
                                     const current_device& current, const key_bins& keys,
                                     waited_words& words) {
  histogram_out_of_range_job job;
  job.x = a.x.data;
  job.increment = a.x.increment;
  job.n = static_cast<std::int64_t>(a.x.size);
  job.element = a.x.element;
  job.keys = keys;
  job.stray = words.get();
  const auto answer = [&] {
    out_of_range_answer told;
    const results arriving(current, &told, sizeof told, true, results::few_as_words);
    job.tag = arriving.tag();
    job.result = arriving.at(0);
    launch(histogram_report_out_of_range_kernel(), {1, 1}, &job, where.device(), where.stream());
    arriving.arrive(where.stream());
    return told;
  };
  if (answer().stray == 0) {
    words.emptied();
    return {};
  }
  launch(histogram_find_out_of_range_kernel(), {2 * multiprocessors(where.device()), 1024}, &job,
         where.device(), where.stream());
  const out_of_range_answer first = answer();
  words.emptied();
  return {static_cast<std::int64_t>(~first.stray), first.key};
}

}  // namespace

out_of_range_key backend::histogram(const executor& where, const histogram_arguments& a) const {
  const current_device current(where.device());
  const bool only_in_bins = a.checks_keys();
  const bool captured = is_captured(where.stream(), false, a.scatters ? "scatter_add" : "bincount");
  if (captured && only_in_bins) {
    throw error(errc::invalid_argument,
                "tally::bincount: the stream is being captured, and to tell whether all keys have "
                "a bin would wait for it; give `outside`");
  }

  histogram_edges_job job;
  job.x = a.x.data;
  job.increment = a.x.increment;
  job.n = static_cast<std::int64_t>(a.x.size);
  job.element = a.x.element;
  job.channels = static_cast<unsigned>(a.options.channels);
  job.bins = bins_of(a);
  job.places = job.bins + (only_in_bins || a.options.outside != nullptr ? slots::outside : 0);
  job.wide = a.counts.element == type::int64;
  job.add = a.options.add;
  job.counts = a.counts.data;
  job.outside = reinterpret_cast<std::int64_t*>(a.options.outside);

  std::optional<waited_words> words;
  if (only_in_bins) {
    words.emplace(current, where.stream());
    job.stray = words->get();
  }
  bins_on_device bins;
  describe_bins(a, where, current, job, bins);
  if (a.weighted) {
    add_weights(a, where, current, job);
  } else {
    count(a, where, current, job, bins.rule);
  }
  return only_in_bins ? out_of_range_key_of(a, where, current, job.keys, *words)
                      : out_of_range_key();
}

}  // namespace tally::backends::cuda
