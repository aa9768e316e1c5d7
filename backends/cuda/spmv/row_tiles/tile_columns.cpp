#include "backends/cuda/spmv/row_tiles/tile_columns.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/band/band_rows.hpp"
#include "backends/cuda/spmv/row_tiles/ring_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// Blocks per SM of tiles_kernel, at most.
constexpr unsigned max_tile_blocks = 12;

std::size_t bytes_of_patterns(const csr_operand& a) {
  constexpr std::size_t words = max_row_tile_terms + 1;
  return row_patterns::most * (sizeof(std::uint64_t) + words * sizeof(std::int32_t)) + a.rows;
}

std::size_t bytes_of_differences(const csr_operand& a) {
  return a.nonzeros() * sizeof(std::int16_t);
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
  return differences_bytes(wide, tile_terms) + own_tile_bytes <= max_shared_bytes(current.device());
}

reach reach_in(const survey_words& found) {
  return {.least = ~difference_of(found.of[survey::below]),
          .most = difference_of(found.of[survey::above])};
}

}  // namespace

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

void make_room_for_patterns(const current_device& current, cudaStream_t stream,
                            const csr_operand& a, csr_survey& job, cut_analysis& to) {
  constexpr std::size_t most = row_patterns::most;
  static_assert(max_row_tile_terms % row_patterns::alignment == 0);
  job.lists = static_cast<std::uint64_t*>(to.memory.take(bytes_of_patterns(a), current, stream));
  job.patterns.lengths = reinterpret_cast<std::int32_t*>(job.lists + most);
  job.patterns.differences = job.patterns.lengths + most;
  job.patterns.of_row =
      reinterpret_cast<std::uint8_t*>(job.patterns.differences + most * max_row_tile_terms);
}

survey_launch survey_of_tiles(const current_device& current, const csr_operand& a,
                              csr_survey& job) {
  const bool wide = a.column_indices.element == type::int64;
  const std::size_t room = max_shared_bytes(current.device());
  launch_shape shape{.threads = row_tile,
                     .shared_bytes = tiles_bytes(wide, static_cast<std::size_t>(job.tile_terms))};
  const std::size_t at_a_time =
      std::clamp<std::size_t>(room / (shape.shared_bytes + own_tile_bytes), 1, max_tile_blocks);
  shape.blocks = static_cast<unsigned>(
      std::min(ceil_div(a.rows, row_tile), at_a_time * multiprocessors(current.device())));
  return {tiles_kernel(wide, job.offsets.wide), shape};
}

bool is_far(const survey_words& found) {
  const reach known = reach_in(found);
  return found.of[survey::above] != 0 && !(is_near(known.least) && is_near(known.most));
}

void find_columns(const current_device& current, cudaStream_t stream, const csr_operand& a,
                  csr_survey& job, survey_words& found, cut_analysis& to) {
  if (!has_room_for_differences(current, a, to.tile_terms)) return to.memory.give_back(job.lists);
  survey_words of_tiles = found;
  if (to.tile_terms > static_cast<std::size_t>(job.tile_terms)) {  // beyond the capacity
    csr_survey again = job;
    again.tile_terms = job.tile_terms = static_cast<std::int32_t>(to.tile_terms);
    again.check = defect_check::none;
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
  // Counting many blocks costs more than a launch (tuning/spmv.md: telling).
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
      ring_rows_of(element, element, to.tile_terms, near, max_shared_bytes(current.device()));
  if (has_near_rows(reached_by_tile(near)) || ring.kernel != nullptr) to.near_rows = near;
}

survey_launch survey_of_band(const csr_operand& a) {
  const auto is_wide = [](const operand& v) { return v.element == type::int64; };
  return survey_of(band_kernel(is_wide(a.column_indices), is_wide(a.row_offsets)),
                   row_order::lanes * a.rows);
}

void take_band(const current_device& current, const csr_operand& a, csr_survey& job,
               std::uint64_t furthest, std::uint64_t adjacent, cut_analysis& to) {
  const type element = a.values.element;
  if (furthest > INT16_MAX) return;
  const auto band = static_cast<std::int32_t>(furthest);
  const band_rows_choice choice = band_rows_of(element, element, band);
  if (choice.kernel == nullptr ||
      choice.bytes + own_shared_bytes > max_shared_bytes(current.device())) {
    return;
  }
  // Copying the windows of x must take less than reading the terms (tuning/spmv.md: take_band).
  const std::size_t brought = ceil_div(a.rows, band_rows) * choice.bytes;
  const std::size_t read = a.nonzeros() * (size_of(element) + size_of(type::int32));
  if (5 * brought > 4 * read) return;
  // Where most columns are adjacent, loads of x from memory are shared (tuning/spmv.md: take_band).
  if (2 * adjacent > a.nonzeros()) return;
  to.band = band;
  if (to.columns == column_source::differences) return;  // already there
  to.kept_bytes = bytes_of_differences(a);
  to.differences = std::exchange(job.differences, nullptr);
}

}  // namespace tally::backends::cuda
