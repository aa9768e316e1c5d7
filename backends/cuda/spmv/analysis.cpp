// What comes before products with sparse matrices: looking for defects, and plans.
#include "backends/cuda/spmv/analysis.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/band_rows.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/plan.hpp"
#include "backends/cuda/spmv/ring_rows.hpp"
#include "backends/cuda/spmv/survey.hpp"
#include "src/core/order/row_order.hpp"
#include "src/core/sparse/csr_defects.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// Returns how many rows a block looks at together, so that blocks have as much to do. Of fewer
/// rows a block is done sooner: with 4096 rows a block plans of small matrices took 4 us longer.
int span_of(const current_device& current, const csr_operand& a) {
  constexpr std::size_t unit = survey_threads, most = run_span;
  std::size_t blocks = multiprocessors(current.device());
  if (a.rows > blocks * most) blocks *= survey_blocks;
  const std::size_t rounds = std::max<std::size_t>(1, ceil_div(a.rows, blocks * most));
  return static_cast<int>(std::max<std::size_t>(1, ceil_div(a.rows, rounds * blocks * unit)) *
                          unit);
}

/// Returns a launch of the kernel that looks at the whole matrix. All its blocks run at a time.
/// Where these do, those that look at rows are not those that look at columns.
survey_launch survey_of_matrix(const current_device& current, const csr_operand& a,
                               csr_survey& job) {
  constexpr std::size_t columns_a_block = 16 * survey_threads;
  const std::size_t spans = std::max<std::size_t>(
      1, ceil_div(a.rows, job.counts ? static_cast<std::size_t>(job.span) : 16 * survey_threads));
  const std::size_t most = survey_blocks * multiprocessors(current.device());
  std::size_t others = job.checks ? ceil_div(a.nonzeros(), columns_a_block) : 0;
  const bool apart = job.counts && spans + others <= most;
  if (apart) {
    job.columns_later = false;
  } else if (job.columns_later) {
    others = 0;
  }
  const auto blocks = static_cast<unsigned>(std::min(spans + others, most));
  job.row_blocks = apart ? static_cast<unsigned>(spans) : blocks;
  return {matrix_kernel(job.offsets.wide), {.blocks = blocks, .threads = survey_threads}};
}

/// Returns an element of device memory.
std::int64_t fetched(cudaStream_t stream, const operand& v, std::size_t i) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  void* const to = v.element == type::int64 ? static_cast<void*>(&wide) : &narrow;
  const beside_captures mode;
  check(cudaMemcpyAsync(to, v.slice(i, 1).data, size_of(v.element), cudaMemcpyDefault, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return v.element == type::int64 ? wide : narrow;
}

/// Returns the defect that a survey has found.
csr_defect defect_of(cudaStream_t stream, const csr_operand& a, const survey_words& words) {
  using kind = csr_defect::kind;
  const std::uint64_t found = words.of[survey::defect];
  if (found == 0) return {};
  if (a.row_ends) {
    const auto index_at = [&](const operand& v, std::size_t i) { return fetched(stream, v, i); };
    return defect_of_row(a, ~found & survey::index_mask, index_at);
  }
  csr_defect defect;
  defect.what = static_cast<kind>(~found >> survey::index_bits);
  defect.index = ~found & survey::index_mask;
  switch (defect.what) {
    case kind::decreasing_offset:
      defect.before = fetched(stream, a.row_offsets, defect.index);
      defect.value = fetched(stream, a.row_offsets, defect.index + 1);
      break;
    case kind::column:
      defect.value = fetched(stream, a.column_indices, defect.index);
      break;
    default:
      defect.value = fetched(stream, a.row_offsets, defect.index);
  }
  return defect;
}

}  // namespace

csr_defect find_defect(const executor& where, const csr_operand& a) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  csr_survey job(a);
  job.checks = true;
  job.counts = false;
  if (a.row_ends) {
    const survey_launch looks = survey_of(defective_row_kernel(), a.rows);
    return defect_of(stream, a, run_survey(current, stream, {looks, telling()}, job, "validate"));
  }
  const survey_launch looks = survey_of_matrix(current, a, job);
  return defect_of(stream, a, run_survey(current, stream, {looks}, job, "validate"));
}

namespace {

/// The kernel of tiles has at most so much shared memory beside what it is given.
constexpr std::size_t own_tile_bytes = 6144;

std::size_t bytes_of_patterns(const csr_operand& a) {
  constexpr std::size_t words = most_row_tile_terms + 1;
  return row_patterns::most * (sizeof(std::uint64_t) + words * sizeof(std::int32_t)) + a.rows;
}
std::size_t bytes_of_differences(const csr_operand& a) {
  return a.nonzeros() * sizeof(std::int16_t);
}

/// Makes room for differences, unless there is too little memory or there is room already.
bool make_room_for_differences(const current_device& current, cudaStream_t stream,
                               const csr_operand& a, csr_survey& job, cut_analysis& to) {
  if (job.differences != nullptr) return true;
  try {
    job.differences =
        static_cast<std::int16_t*>(to.memory.take(bytes_of_differences(a), current, stream));
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
  }
  return job.differences != nullptr;
}

/// Makes room for patterns of rows. They come behind what is met of them, the lengths and the lists
/// of the patterns.
void make_room_for_patterns(const current_device& current, cudaStream_t stream,
                            const csr_operand& a, csr_survey& job, cut_analysis& to) {
  constexpr std::size_t most = row_patterns::most;
  static_assert(most_row_tile_terms % row_patterns::alignment == 0);
  job.lists = static_cast<std::uint64_t*>(to.memory.take(bytes_of_patterns(a), current, stream));
  job.patterns.lengths = reinterpret_cast<std::int32_t*>(job.lists + most);
  job.patterns.differences = job.patterns.lengths + most;
  job.patterns.of_row =
      reinterpret_cast<std::uint8_t*>(job.patterns.differences + most * most_row_tile_terms);
}

/// Returns a launch that finds patterns, in tiles of at most `job.tile_terms` terms.
survey_launch survey_of_tiles(const current_device& current, const csr_operand& a,
                              csr_survey& job) {
  const bool wide = a.column_indices.element == type::int64;
  const std::size_t room = most_shared_bytes(current.device());
  launch_shape shape{.threads = row_tile,
                     .shared_bytes = tiles_bytes(wide, static_cast<std::size_t>(job.tile_terms))};
  const std::size_t at_a_time =
      std::clamp<std::size_t>(room / (shape.shared_bytes + own_tile_bytes), 1, most_tile_blocks);
  shape.blocks = static_cast<unsigned>(
      std::min(ceil_div(a.rows, row_tile), at_a_time * multiprocessors(current.device())));
  job.tiles_at_once = shape.blocks == ceil_div(a.rows, row_tile);
  return {tiles_kernel(wide, job.offsets.wide), shape};
}

survey_launch survey_of_differences(const csr_operand& a, const csr_survey& job) {
  const bool wide = a.column_indices.element == type::int64;
  const std::size_t bytes = differences_bytes(wide, static_cast<std::size_t>(job.tile_terms));
  return {differences_kernel(wide, job.offsets.wide),
          {.blocks = static_cast<unsigned>(ceil_div(a.rows, row_tile)),
           .threads = row_tile,
           .shared_bytes = bytes}};
}
bool has_room_for_differences(const current_device& current, const csr_operand& a,
                              std::size_t tile_terms) {
  const bool wide = a.column_indices.element == type::int64;
  return differences_bytes(wide, tile_terms) + own_tile_bytes <=
         most_shared_bytes(current.device());
}

reach reach_in(const survey_words& found) {
  return {.least = ~difference_of(found.of[survey::below]),
          .most = difference_of(found.of[survey::above])};
}

/// Says whether tiles have been looked at, and 16 bits don't tell all differences.
bool is_far(const survey_words& found) {
  const reach known = reach_in(found);
  return found.of[survey::above] != 0 && !(is_near(known.least) && is_near(known.most));
}

/// Says what tiles of rows read in the place of columns, which stay as they are: patterns or
/// differences, whichever were found; of these `found` then says how far and how many are adjacent.
void find_columns(const current_device& current, cudaStream_t stream, const csr_operand& a,
                  csr_survey& job, survey_words& found, cut_analysis& to) {
  if (!has_room_for_differences(current, a, to.tile_terms)) return to.memory.give_back(job.lists);
  survey_words of_tiles = found;
  if (to.tile_terms > static_cast<std::size_t>(job.tile_terms)) {  // there was too little room
    csr_survey again = job;
    again.tile_terms = job.tile_terms = static_cast<std::int32_t>(to.tile_terms);
    again.checks = false;
    again.pieces = nullptr;
    const survey_launch looks = survey_of_matrix(current, a, again);
    const survey_launch tiles = survey_of_tiles(current, a, again);
    of_tiles = run_survey(current, stream, {looks, tiles}, again, "spmv_plan");
  }
  if (of_tiles.of[survey::strays] == 0) {
    to.columns = column_source::patterns;
    to.kept_bytes = bytes_of_patterns(a);
    to.patterns = job.patterns;
    to.patterns.stride = static_cast<std::int32_t>(ceil_div(to.longest, row_patterns::alignment) *
                                                   row_patterns::alignment);
    to.pattern_count = of_tiles.of[survey::patterns];
    return;
  }
  to.memory.give_back(job.lists);
  if (is_far(of_tiles)) return;
  if (!make_room_for_differences(current, stream, a, job, to)) return;
  job.tile_terms = static_cast<std::int32_t>(to.tile_terms);
  std::vector<survey_launch> launches{survey_of_differences(a, job)};
  // One more launch takes 1 us, that 2^14 blocks count themselves 4.
  if (launches[0].shape.blocks > 1 << 12) launches.push_back(telling());
  const survey_words differences = run_survey(current, stream, launches, job, "spmv_plan");
  to.kept_bytes = bytes_of_differences(a);
  to.columns = column_source::differences;
  to.differences = std::exchange(job.differences, nullptr);
  const reach near = reach_in(of_tiles);
  found.of[survey::reach] = static_cast<std::uint64_t>(std::max(-near.least, near.most));
  found.of[survey::adjacent] = differences.of[survey::adjacent];
  const type element = a.values.element;
  const ring_rows_choice ring =
      ring_rows_of(element, element, to.tile_terms, near, most_shared_bytes(current.device()));
  if (has_near_rows(reached_by_tile(near)) || ring.kernel != nullptr) to.near_rows = near;
}

survey_launch survey_of_band(const csr_operand& a) {
  const auto is_wide = [](const operand& v) { return v.element == type::int64; };
  return survey_of(band_kernel(is_wide(a.column_indices), is_wide(a.row_offsets)),
                   row_order::lanes * a.rows);
}

/// Takes a band, if rows lie in one, since columns are so far from the diagonal and so many of them
/// next to each other, and products have a kernel for it.
void take_band(const current_device& current, const csr_operand& a, csr_survey& job,
               std::uint64_t furthest, std::uint64_t adjacent, cut_analysis& to) {
  const type element = a.values.element;
  if (furthest > INT16_MAX) return;
  const auto band = static_cast<std::int32_t>(furthest);
  const band_rows_choice choice = band_rows_of(element, element, band);
  if (choice.kernel == nullptr ||
      choice.bytes + own_shared_bytes > most_shared_bytes(current.device())) {
    return;
  }
  // x may take four fifths of what the terms do: where 2^20 rows of 32 floats reached 15000 far
  // it took 1.8 times as much, and a product 227 us instead of 90 (one H200).
  const std::size_t brought = ceil_div(a.rows, band_rows) * choice.bytes;
  const std::size_t read = a.nonzeros() * (size_of(element) + size_of(type::int32));
  if (5 * brought > 4 * read) return;
  // Where most columns are next to each other, loads of x from memory have much in common: 27
  // points of 50^3 with 3 unknowns each took 158 us in a band and 101 without (one H200).
  if (2 * adjacent > a.nonzeros()) return;
  to.band = band;
  if (to.columns == column_source::differences) return;  // they are there already
  to.kept_bytes = bytes_of_differences(a);
  to.differences = std::exchange(job.differences, nullptr);
}

/// Cuts the matrix for an expansion, if most of its terms need elements of x from far apart.
void find_expansion(const current_device& current, cudaStream_t stream, const csr_operand& a,
                    csr_survey job, cut_analysis& to) {
  const std::size_t element = size_of(a.values.element);
  expansion& cut = job.cut;
  cut.sections = static_cast<std::int32_t>(multiprocessors(current.device()));
  job.per_unit = static_cast<int>(segment_unit / element);
  const auto per_unit = static_cast<std::size_t>(job.per_unit);
  const std::size_t section =
      ceil_div(a.columns, static_cast<std::size_t>(cut.sections) * per_unit) * per_unit;
  cut.section = static_cast<std::int32_t>(section);
  const std::size_t room = most_shared_bytes(current.device());
  if (section > 1 << 16 || expand_bytes(section) + own_shared_bytes > room) return;
  cut.tile_rows = expansion_tile_rows(a);
  const std::size_t tiles = ceil_div(a.rows, static_cast<std::size_t>(cut.tile_rows));
  cut.tiles = static_cast<std::int32_t>(tiles);
  const auto in_blocks = [&](survey_kernel* kernel, std::size_t blocks,
                             std::size_t stride) -> survey_launch {
    return {kernel,
            {.blocks = static_cast<unsigned>(blocks),
             .threads = expand_threads,
             .shared_bytes = segment_bytes(static_cast<std::size_t>(cut.sections), stride)}};
  };
  const std::size_t samples = ceil_div(tiles, std::size_t{tiles_a_sample});
  const survey_words found = run_survey(
      current, stream, {in_blocks(segment_sizes_kernel(), samples, 0)}, job, "spmv_plan");
  // Places are loaded 16 bytes at a time.
  constexpr std::size_t per_load = 16 / sizeof *cut.in_section;
  const auto sections = static_cast<std::size_t>(cut.sections);
  const std::size_t segments = tiles * sections;
  const std::size_t most_terms = found.of[survey::most_terms];
  const std::size_t stride = ceil_div(most_terms + sections * (per_unit - 1), per_load) * per_load;
  cut.stride = static_cast<std::int32_t>(stride);
  cut.tile_terms = static_cast<std::int32_t>(most_terms);
  if (10 * found.of[survey::met] < 9 * samples * sections ||
      4 * found.of[survey::adjacent] > found.of[survey::sampled] || stride >= 1 << 16 ||
      4 * tiles * stride > 5 * a.nonzeros() + 4 * segments * per_unit ||
      collect_bytes(cut) + own_shared_bytes > room ||
      segment_bytes(static_cast<std::size_t>(cut.sections), stride) + own_shared_bytes > room) {
    return;
  }
  cut.tiles_at_a_time = static_cast<std::int32_t>(
      std::min(tiles, std::max<std::size_t>(1, most_buffer / (stride * element))));
  to.kept_bytes = segments * sizeof *cut.segments + 2 * tiles * stride * sizeof *cut.in_section;
  cut.in_section = static_cast<std::uint16_t*>(to.memory.take(to.kept_bytes, current, stream));
  cut.in_tile = cut.in_section + tiles * stride;
  cut.segments = reinterpret_cast<std::uint32_t*>(cut.in_tile + tiles * stride);
  (void)run_survey(current, stream, {in_blocks(segments_kernel(), tiles, stride)}, job,
                   "spmv_plan");
  to.cut = cut;
  to.cut_type = a.values.element;
}

/// Returns how many hot columns a product has room for, at most; 0 where it has no kernel for them.
std::size_t most_hot_columns(const current_device& current, type values) {
  const hot_columns_choice choice = hot_columns_kernels(values, values);
  const std::size_t room = std::min(most_shared_bytes(current.device()), hot_shared_bytes(values));
  const std::size_t taken = choice.bytes + own_shared_bytes;
  if (choice.multiply == nullptr || room < taken) return 0;
  constexpr std::size_t most_places = std::size_t{1} << 16;  // hot_table has 16 bits for them
  return std::min((room - taken) / size_of(values), most_places);
}

/// Makes room for what is counted to find hot columns.
void make_room_for_uses(const current_device& current, cudaStream_t stream, const csr_operand& a,
                        csr_survey& job, cut_analysis& to) {
  const std::size_t groups = 16 * ceil_div(a.columns, std::size_t{1024});
  const std::size_t uses = hot_counters(a.columns) * a.columns;
  const std::size_t zeros = uses + survey::most_uses + 1 + 2 * survey::classes;
  job.table.groups = static_cast<std::int64_t>(groups);
  job.table.bits = static_cast<std::uint32_t*>(
      to.memory.take(hot_table::bytes(groups) + zeros * sizeof *job.uses, current, stream));
  job.table.places = reinterpret_cast<std::uint16_t*>(job.table.bits + 2 * groups);
  job.uses = reinterpret_cast<std::uint32_t*>(job.table.places + groups);
  job.bins = job.uses + uses;
  job.classes = job.bins + survey::most_uses + 1;
  job.zeros = static_cast<std::int64_t>(zeros);
  job.counters = static_cast<std::int64_t>(hot_counters(a.columns));
  job.sample_shift = hot_sample_shift(a.nonzeros());
  job.most_hot = static_cast<int>(most_hot_columns(current, a.values.element));
}

/// Says how many pieces of warps there may be, where rows are as was found, and how much memory
/// they take with the codes of all terms.
struct room_for_codes {
  room_for_codes(const csr_operand& a, const csr_survey& job, const survey_words& rows)
      : pieces(rows.of[survey::shares] + most_hot_runs(a, rows.of[survey::long_rows])),
        handovers(rows.of[survey::handovers]),
        bytes(pieces * sizeof *job.warp_pieces + handovers * sizeof *job.handed +
              (a.nonzeros() + static_cast<std::size_t>(job.most_hot)) * sizeof *job.codes) {}
  std::size_t pieces, handovers, bytes;
};

/// Makes room for them, unless there is too little memory.
bool make_room_for_codes(const current_device& current, cudaStream_t stream, const csr_operand& a,
                         const survey_words& rows, csr_survey& job, cut_analysis& to) {
  const room_for_codes room(a, job, rows);
  try {
    job.warp_pieces = static_cast<warp_piece*>(to.memory.take(room.bytes, current, stream));
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    return false;  // Products go without.
  }
  job.shares = static_cast<std::int64_t>(rows.of[survey::shares]);
  job.handed = reinterpret_cast<handed_row*>(job.warp_pieces + room.pieces);
  job.codes = reinterpret_cast<std::int32_t*>(job.handed + room.handovers);
  job.hot = job.codes + a.nonzeros();
  return true;
}

/// Returns launches that find the columns that are hot, and cut the matrix for warps.
std::vector<survey_launch> surveys_of_hot_columns(const current_device& current,
                                                  const csr_operand& a, const csr_survey& job) {
  const unsigned processors = multiprocessors(current.device());
  const std::size_t table = hot_table::bytes(static_cast<std::size_t>(job.table.groups));
  const bool in_shared = table + own_shared_bytes <= most_shared_bytes(current.device());
  return {
      survey_of(uses_kernel(), a.nonzeros() >> job.sample_shift),
      {bins_kernel(), {.blocks = 2 * processors, .threads = 256}},
      {hot_kernel(),
       {.blocks = picking_blocks(job.column_count) +
                  static_cast<unsigned>(ceil_div(a.rows, std::size_t{hot_span})),
        .threads = hot_survey_threads}},
      {codes_kernel(in_shared),
       {.blocks = processors, .threads = codes_threads, .shared_bytes = in_shared ? table : 0}}};
}

/// Takes the hot columns if they have enough of the terms, by what was found of rows and by these
/// launches.
void take_hot_columns(const csr_operand& a, const csr_survey& job, const survey_words& found,
                      cut_analysis& to) {
  if (!are_hot(a.nonzeros(), found.of[survey::covered])) {
    return to.memory.give_back(job.warp_pieces);
  }
  to.kept_bytes = room_for_codes(a, job, found).bytes;
  to.hot_type = a.values.element;
  to.hot.codes = job.codes;
  to.hot.columns = job.hot;
  to.hot.pieces = job.warp_pieces;
  to.hot.handed = job.handed;
  to.hot.count = static_cast<int>(found.of[survey::taken]);
  to.hot.piece_count = static_cast<int>(found.of[survey::shares] + found.of[survey::warp_runs]);
  to.hot_share = 100 * found.of[survey::covered] / a.nonzeros();
}

/// Says how products are computed with a plan, and what that takes.
void describe(const csr_operand& a, const planned_products& products, const survey_words& found,
              cut_analysis& made) {
  const auto text = [](std::uint64_t value) { return std::to_string(value); };
  std::string& s = made.description;
  if (made.band >= 0) {
    s = "each row in " + text(row_order::lanes) +
        " threads, with x in shared memory, since columns are at most " +
        std::to_string(made.band) +
        " from the diagonal; in the place of columns differences of 16 bits, in " +
        text(made.kept_bytes) + " bytes";
  } else if (made.tile_terms > 0) {
    s = "each row in a thread, in tiles of " + text(row_tile) + ", since rows are short";
    if (made.columns == column_source::patterns) {
      s += "; in the place of columns the " + text(made.pattern_count) + " patterns of rows, in " +
           text(made.kept_bytes) + " bytes";
    } else if (made.columns == column_source::differences) {
      s += "; in the place of columns differences of 16 bits, in " + text(made.kept_bytes) +
           " bytes";
      if (const reach& near = made.near_rows; near.is_known()) {
        s += ", and x in shared memory, since they are from " + std::to_string(near.least) +
             " to " + std::to_string(near.most);
      }
    }
  } else if (made.threads_a_row > 0) {
    s = "each row in " + text(made.threads_a_row) + " threads, since rows are short";
  } else {
    s = text(made.blocks) +
        (products.has_places ? " blocks, which read values at places: "
                             : " blocks, since some rows are long: ") +
        text(found.of[survey::runs]) + " for runs of rows of at most " +
        text(row_order::short_row) + " terms, " + text(found.of[survey::shares]) + " for the " +
        text(found.of[survey::long_rows]) + " longer ones";
    if (made.split_rows > 0) {
      s += ", of which " + text(made.split_rows) + " in several";
    }
    s += ", in " + text(made.piece_bytes) + " bytes";
    if (made.hot.count > 0) {
      s += "; of " + std::string(name(made.hot_type)) + " in warps, with the elements of x of " +
           text(static_cast<std::uint64_t>(made.hot.count)) + " columns, which have " +
           text(made.hot_share) +
           " % of the terms, in shared memory, and codes of all columns, in " +
           text(made.kept_bytes) + " bytes";
    }
  }
  if (const expansion& cut = made.cut; cut.tiles > 0) {
    s += "; of " + std::string(name(made.cut_type)) +
         " in two steps, since columns are far apart: x comes in sections of " +
         text(static_cast<std::uint64_t>(cut.section)) +
         " elements to shared memory, and from there to a buffer, where tiles of " +
         text(static_cast<std::uint64_t>(cut.tile_rows)) +
         " rows find what they need; with places in sections and tiles, in " +
         text(made.kept_bytes) + " bytes, and a buffer of " +
         text(buffer_bytes(cut, made.cut_type)) + " bytes while a product runs";
    const std::int32_t parts = (cut.tiles - 1) / cut.tiles_at_a_time + 1;
    if (parts > 1) s += ", in " + std::to_string(parts) + " parts";
  }
  s += ": " + text(a.rows) + " rows of " + text(a.nonzeros() / a.rows) + " terms in the mean, " +
       text(made.longest) + " at most, " + text(found.of[survey::empty]) + " empty";
}

/// A plan is being made: the kernels that look at the matrix are queued.
class planning {
 public:
  /// Queues them. Where the caller does not wait, the plan does it on a stream of its own.
  planning(const executor& where, const current_device& current, const csr_operand& a,
           const planned_products& products)
      : device_(where.device()),
        stream_(where.stream()),
        a_(a),
        products_(products),
        made_(std::make_shared<cut_analysis>()),
        job_(a),
        hot_job_(a) {
    (void)is_captured(stream_, true, "spmv_plan");  // memory asks for the stream's number
    made_->context = current.context();
    job_.checks = !products.is_checked;
    const type element = a.values.element;
    has_tiles_ =
        !products.has_places &&
        row_tile_kernel(element, element, column_source::matrix, 0, false).kernel != nullptr;
    knows_columns_ = products.fixed_columns && !products.has_places;
    looks_at_tiles_ = knows_columns_ && has_tiles_ && may_have_row_tiles(a);
    if (looks_at_tiles_) {
      make_room_for_patterns(current, stream_, a, job_, *made_);
      // Most matrices have no tile of a quarter more than the mean.
      const std::size_t most = (most_shared_bytes(device_) - own_tile_bytes) / 8;
      job_.tile_terms =
          static_cast<std::int32_t>(std::min({row_tile * (5 * a.nonzeros() / (4 * a.rows) + 2),
                                              row_tile * most_row_tile_terms, most}));
    }
    may_be_hot_ =
        knows_columns_ && may_have_hot_columns(a) && most_hot_columns(current, element) > 0;
    job_.columns_later = looks_at_tiles_ || may_be_hot_;
    job_.goes_on = may_be_hot_;
    job_.span = span_of(current, a);
    // The first look writes pieces, too, if these have room; most have.
    job_.shares = static_cast<std::int64_t>(a.nonzeros() / (2 * row_order::short_row)) + 1;
    job_.runs = static_cast<std::int64_t>((a.rows + a.nonzeros()) / run_size) +
                static_cast<std::int64_t>(a.rows) / job_.span + 2 + job_.shares;
    make_room_for_pieces(current);
    if (products.queued) side_.emplace(current);
    std::vector<survey_launch> launches{survey_of_matrix(current, a_, job_)};
    if (looks_at_tiles_) launches.push_back(survey_of_tiles(current, a_, job_));
    survey_.emplace(current, stream_, launches, job_, "spmv_plan", side_ ? &*side_ : nullptr);
    if (side_) stream_ = side_->get();
  }

  /// Waits for them, and makes the plan. It is called once.
  std::shared_ptr<const cut_analysis> made(const current_device& current) {
    survey_words found = all_found(current);
    if (made_->defect.what == csr_defect::kind::none) {
      choose(current, found);
      describe(a_, products_, found, *made_);
    }
    if (job_.uses != nullptr) made_->memory.give_back(job_.table.bits);
    return std::move(made_);
  }

 private:
  void make_room_for_pieces(const current_device& current) {
    made_->piece_bytes = static_cast<std::size_t>(job_.shares + job_.runs) * sizeof(spmv_piece);
    job_.pieces =
        static_cast<spmv_piece*>(made_->memory.take(made_->piece_bytes, current, stream_));
  }

  /// Looks at rows again until pieces have room and few are handed over.
  void fit_pieces(const current_device& current, survey_words& found) {
    for (;;) {
      const auto shares = static_cast<std::int64_t>(found.of[survey::shares]);
      const auto runs = static_cast<std::int64_t>(found.of[survey::runs]);
      const std::uint64_t handovers = found.of[survey::handovers];
      const bool have_room = shares <= job_.shares && runs <= job_.runs;
      if (have_room && handovers <= most_handovers) return;
      if (!have_room) {
        made_->memory.give_back(job_.pieces);
        job_.shares = shares;
        job_.runs = runs;
        make_room_for_pieces(current);
      }
      // Twice as long shares are at least half as many.
      if (handovers > most_handovers) {
        job_.share_shift += static_cast<unsigned>(std::bit_width((handovers - 1) / most_handovers));
      }
      csr_survey again = job_;
      again.checks = again.goes_on = false;
      again.lists = nullptr;
      const survey_launch looks = survey_of_matrix(current, a_, again);
      const survey_words rows = run_survey(current, stream_, {looks}, again, "spmv_plan");
      take_pieces(rows, found);
    }
  }
  static void take_pieces(const survey_words& from, survey_words& to) {
    using namespace survey;
    for (const unsigned word : {shares, split_rows, handovers, runs}) to.of[word] = from.of[word];
  }

  bool may_have_band_kernel(std::uint64_t longest) const {
    const type element = a_.values.element;
    return knows_columns_ && may_have_band(a_, longest) &&
           band_rows_of(element, element, 0).kernel != nullptr;
  }

  /// Looks at columns where there are no tiles of rows.
  void go_on(const current_device& current, survey_words& found) {
    const std::uint64_t longest = found.of[survey::longest];
    // Shorter rows may have something better than hot columns.
    if (longest > row_order::short_row) make_room_for_uses(current, stream_, a_, job_, *made_);
    csr_survey job = job_;
    std::vector<survey_launch> launches;
    if (longest > row_order::short_row) {
      looked_for_hot_ = make_room_for_codes(current, stream_, a_, found, job, *made_);
      if (looked_for_hot_) launches = surveys_of_hot_columns(current, a_, job);
      hot_job_ = job;
    } else if (may_have_band_kernel(longest) &&
               make_room_for_differences(current, stream_, a_, job_, *made_)) {
      looked_for_band_ = true;
      job.differences = job_.differences;
      launches.push_back(survey_of_band(a_));
    }
    if (!looked_for_hot_ && job.checks && job.columns_later) {
      job.counts = job.columns_later = false;
      launches.insert(launches.begin(), survey_of_matrix(current, a_, job));
    }
    if (launches.empty()) return;
    if (looked_for_hot_) empty_uses();
    const survey_words columns = run_survey(current, stream_, launches, job, "spmv_plan");
    if (job.checks) made_->defect = defect_of(stream_, a_, columns);
    using namespace survey;
    for (const unsigned word : {taken, covered, warp_runs, survey::reach, adjacent}) {
      found.of[word] = columns.of[word];
    }
  }

  void empty_uses() {
    check(cudaMemsetAsync(job_.uses, 0, static_cast<std::size_t>(job_.zeros) * sizeof *job_.uses,
                          stream_),
          "cudaMemsetAsync");
  }

  /// Takes a band, if rows lie in one.
  void find_band(const current_device& current, const survey_words& found) {
    cut_analysis& to = *made_;
    const auto take = [&](const survey_words& by) {
      take_band(current, a_, job_, by.of[survey::reach], by.of[survey::adjacent], to);
    };
    if (looked_for_band_ || to.columns == column_source::differences) return take(found);
    if (!make_room_for_differences(current, stream_, a_, job_, to)) return;
    take(run_survey(current, stream_, {survey_of_band(a_)}, job_, "spmv_plan"));
  }

  /// Takes hot columns, if there are some.
  void find_hot_columns(const current_device& current, survey_words found) {
    if (!looked_for_hot_) {
      if (found.of[survey::longest] > row_order::short_row) return;  // there was no memory
      // Few such matrices have hot columns, so a sample is looked at first.
      make_room_for_uses(current, stream_, a_, job_, *made_);
      hot_job_ = job_;
      const auto look = [&](const std::vector<survey_launch>& launches) {
        empty_uses();
        return run_survey(current, stream_, launches, hot_job_, "spmv_plan");
      };
      const std::vector<survey_launch> launches = surveys_of_hot_columns(current, a_, hot_job_);
      const survey_words sample = look({launches[0], launches[1]});
      if (!are_hot(sample.of[survey::sampled], sample.of[survey::covered_samples]) ||
          !make_room_for_codes(current, stream_, a_, found, hot_job_, *made_)) {
        return;
      }
      const survey_words hot = look(launches);
      using namespace survey;
      for (const unsigned word : {taken, covered, warp_runs}) found.of[word] = hot.of[word];
    }
    take_hot_columns(a_, hot_job_, found, *made_);
  }

  /// Returns what was found once pieces have room and few are handed over, or a defect is found.
  survey_words all_found(const current_device& current) {
    survey_words found = survey_->arrive();
    survey_.reset();
    if (job_.checks) made_->defect = defect_of(stream_, a_, found);
    if (made_->defect.what != csr_defect::kind::none) return found;
    fit_pieces(current, found);
    const bool has_tiles = looks_at_tiles_ && found.of[survey::longest] <= most_row_tile_terms &&
                           found.of[survey::tile_terms] <= static_cast<unsigned>(job_.tile_terms);
    if (job_.goes_on && !has_tiles) go_on(current, found);
    job_.checks = job_.goes_on = false;
    return found;
  }

  /// Chooses what products will do.
  void choose(const current_device& current, survey_words& found) {
    cut_analysis& to = *made_;
    const std::uint64_t longest = to.longest = found.of[survey::longest];
    if (!products_.has_places) to.threads_a_row = threads_a_row(a_.rows, a_.nonzeros(), longest);
    if (to.threads_a_row > 0 && has_tiles_ && has_row_tiles(a_, longest)) {
      to.tile_terms = found.of[survey::tile_terms];
      if (looks_at_tiles_) find_columns(current, stream_, a_, job_, found, to);
      if (to.columns == column_source::matrix && !has_row_tiles_of_columns(a_, longest)) {
        to.tile_terms = 0;
      }
    } else if (looks_at_tiles_) {
      to.memory.give_back(job_.lists);
    }
    if (knows_columns_) {
      const bool has_ring =
          to.near_rows.is_known() && !has_near_rows(reached_by_tile(to.near_rows));
      if (to.columns != column_source::patterns && !has_ring && !is_far(found) &&
          may_have_band_kernel(longest)) {
        find_band(current, found);
      }
      if (to.tile_terms == 0 && has_pieces_of_short_rows(a_, longest)) to.threads_a_row = 0;
    }
    const std::size_t pieces = found.of[survey::shares] + found.of[survey::runs];
    const bool has_pieces = to.threads_a_row == 0 && pieces <= most_blocks;
    if (has_pieces) {
      to.pieces = job_.pieces + (job_.shares - static_cast<std::int64_t>(found.of[survey::shares]));
      to.blocks = static_cast<unsigned>(pieces);
      to.split_rows = found.of[survey::split_rows];
      to.handovers = found.of[survey::handovers];
      to.share_shift = job_.share_shift;
    } else {
      to.memory.give_back(job_.pieces);
      to.piece_bytes = 0;
    }
    if (has_pieces && may_be_hot_ && to.band < 0) find_hot_columns(current, found);
    if (job_.differences != nullptr) to.memory.give_back(job_.differences);
    if (knows_columns_ && to.hot.count == 0 && to.columns == column_source::matrix && to.band < 0 &&
        may_expand(a_, longest)) {
      find_expansion(current, stream_, a_, job_, to);
    }
  }

  int device_;
  cudaStream_t stream_;
  csr_operand a_;
  planned_products products_;
  std::shared_ptr<cut_analysis> made_;
  csr_survey job_;
  bool has_tiles_ = false;  ///< whether there are kernels of tiles for its values
  bool knows_columns_ = false, looks_at_tiles_ = false;
  bool may_be_hot_ = false, looked_for_hot_ = false, looked_for_band_ = false;
  csr_survey hot_job_;  ///< the one with which hot columns were looked for
  std::optional<side_stream> side_;
  std::optional<queued_survey> survey_;
};

/// A plan that nobody has waited for yet.
class queued_analysis : public spmv_analysis {
 public:
  queued_analysis(int device, std::uint64_t context, std::unique_ptr<planning> making)
      : device_(device), context_(context), making_(std::move(making)) {}

  const spmv_analysis& ready() const override {
    const std::lock_guard lock(mutex_);
    if (making_ != nullptr) {
      const current_device current(device_);
      if (current.context() != context_) fail_of_context();
      try {
        made_ = making_->made(current);
      } catch (...) {
        failure_ = std::current_exception();
      }
      making_.reset();
    }
    if (failure_) std::rethrow_exception(failure_);
    return *made_;
  }

 private:
  int device_;
  std::uint64_t context_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<planning> making_;
  mutable std::shared_ptr<const cut_analysis> made_;
  mutable std::exception_ptr failure_;
};

}  // namespace

std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& a,
                                             const planned_products& products) {
  const current_device current(where.device());
  if (a.row_ends) {
    auto analysis = std::make_shared<cut_analysis>();
    analysis->context = current.context();
    analysis->description = "each row in " + std::to_string(threads_of_any_row) +
                            " threads and long ones in a warp, since rows may lie anywhere";
    if (!products.is_checked) analysis->defect = find_defect(where, a);
    return analysis;
  }
  auto making = std::make_unique<planning>(where, current, a, products);
  if (!products.queued) return making->made(current);
  return std::make_shared<queued_analysis>(where.device(), current.context(), std::move(making));
}

}  // namespace tally::backends::cuda
