#include "backends/cuda/spmv/row_tiles/column_forms.hpp"

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

std::size_t bytes_of_stencils(const csr_operand& a) {
  constexpr std::size_t words = max_row_tile_terms + 1;
  return row_patterns::most * (sizeof(std::uint64_t) + words * sizeof(std::int32_t)) + a.rows;
}

std::size_t bytes_of_deltas(const csr_operand& a) { return a.nonzeros() * sizeof(std::int16_t); }

analysis_launch deltas_launch(const csr_operand& a, const analysis_job& job) {
  const bool wide = a.column_indices.element == type::int64;
  const std::size_t bytes = deltas_bytes(wide, static_cast<std::size_t>(job.tile_terms));
  return {deltas_kernel(wide, job.offsets.wide),
          {.blocks = static_cast<unsigned>(ceil_div(a.rows, rows_per_row_tile)),
           .threads = rows_per_row_tile,
           .shared_bytes = bytes}};
}

bool fit_deltas(const current_device& current, const csr_operand& a, std::size_t tile_terms) {
  const bool wide = a.column_indices.element == type::int64;
  return deltas_bytes(wide, tile_terms) + tiles_static_shared_bytes <=
         max_shared_bytes(current.device());
}

reach reach_in(const analysis_results& found) {
  return {.least = ~delta_of(found.of[result_words::below]),
          .most = delta_of(found.of[result_words::above])};
}

}  // namespace

bool allocate_deltas(const current_device& current, cudaStream_t stream, const csr_operand& a,
                     analysis_job& job, cuda_plan& to) {
  if (job.differences != nullptr) return true;
  try {
    job.differences =
        static_cast<std::int16_t*>(to.memory.take(bytes_of_deltas(a), current, stream));
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
  }
  return job.differences != nullptr;
}

void allocate_stencils(const current_device& current, cudaStream_t stream, const csr_operand& a,
                       analysis_job& job, cuda_plan& to) {
  constexpr std::size_t most = row_patterns::most;
  static_assert(max_row_tile_terms % row_patterns::alignment == 0);
  job.lists = static_cast<std::uint64_t*>(to.memory.take(bytes_of_stencils(a), current, stream));
  job.patterns.lengths = reinterpret_cast<std::int32_t*>(job.lists + most);
  job.patterns.differences = job.patterns.lengths + most;
  job.patterns.of_row =
      reinterpret_cast<std::uint8_t*>(job.patterns.differences + most * max_row_tile_terms);
}

analysis_launch tiles_launch(const current_device& current, const csr_operand& a,
                             analysis_job& job) {
  const bool wide = a.column_indices.element == type::int64;
  const std::size_t room = max_shared_bytes(current.device());
  launch_shape shape{.threads = rows_per_row_tile,
                     .shared_bytes = tiles_bytes(wide, static_cast<std::size_t>(job.tile_terms))};
  const std::size_t at_a_time = std::clamp<std::size_t>(
      room / (shape.shared_bytes + tiles_static_shared_bytes), 1, max_tile_blocks);
  shape.blocks = static_cast<unsigned>(
      std::min(ceil_div(a.rows, rows_per_row_tile), at_a_time * multiprocessors(current.device())));
  return {tiles_kernel(wide, job.offsets.wide), shape};
}

bool exceeds_16_bits(const analysis_results& found) {
  const reach known = reach_in(found);
  return found.of[result_words::above] != 0 && !(is_near(known.least) && is_near(known.most));
}

void find_columns(const current_device& current, cudaStream_t stream, const csr_operand& a,
                  analysis_job& job, analysis_results& found, cuda_plan& to) {
  if (!fit_deltas(current, a, to.tile_terms)) return to.memory.give_back(job.lists);
  analysis_results of_tiles = found;
  if (to.tile_terms > static_cast<std::size_t>(job.tile_terms)) {  // beyond the capacity
    analysis_job again = job;
    again.tile_terms = job.tile_terms = static_cast<std::int32_t>(to.tile_terms);
    again.check = defect_check::none;
    again.pieces = nullptr;
    const analysis_launch looks = matrix_launch(current, a, again);
    const analysis_launch tiles = tiles_launch(current, a, again);
    of_tiles = run_analysis(current, stream, {looks, tiles}, again, "spmv_plan");
  }
  if (of_tiles.of[result_words::strays] == 0) {
    to.columns = column_form::patterns;
    to.kept_bytes = bytes_of_stencils(a);
    to.patterns = job.patterns;
    to.patterns.stride = static_cast<std::int32_t>(ceil_div(to.longest, row_patterns::alignment) *
                                                   row_patterns::alignment);
    to.stencil_count = of_tiles.of[result_words::patterns];
    return;
  }
  to.memory.give_back(job.lists);
  if (exceeds_16_bits(of_tiles)) return;
  if (!allocate_deltas(current, stream, a, job, to)) return;
  job.tile_terms = static_cast<std::int32_t>(to.tile_terms);
  std::vector<analysis_launch> launches{deltas_launch(a, job)};
  // Counting many blocks costs more than a launch (tuning/spmv.md: publish_launch).
  if (launches[0].shape.blocks > 1 << 12) launches.push_back(publish_launch());
  const analysis_results differences = run_analysis(current, stream, launches, job, "spmv_plan");
  to.kept_bytes = bytes_of_deltas(a);
  to.columns = column_form::differences;
  to.differences = std::exchange(job.differences, nullptr);
  const reach near = reach_in(of_tiles);
  found.of[result_words::reach] = static_cast<std::uint64_t>(std::max(-near.least, near.most));
  found.of[result_words::adjacent] = differences.of[result_words::adjacent];
  const type element = a.values.element;
  const ring_rows_choice ring =
      ring_rows_of(element, element, to.tile_terms, near, max_shared_bytes(current.device()));
  if (has_near_rows(x_window_elements(near)) || ring.kernel != nullptr) to.near_rows = near;
}

analysis_launch band_launch(const csr_operand& a) {
  const auto is_wide = [](const operand& v) { return v.element == type::int64; };
  return items_launch(band_kernel(is_wide(a.column_indices), is_wide(a.row_offsets)),
                      row_order::lanes * a.rows);
}

void plan_band(const current_device& current, const csr_operand& a, analysis_job& job,
               std::uint64_t furthest, std::uint64_t adjacent, cuda_plan& to) {
  const type element = a.values.element;
  if (furthest > INT16_MAX) return;
  const auto band = static_cast<std::int32_t>(furthest);
  const band_rows_choice choice = band_rows_of(element, element, band);
  if (choice.kernel == nullptr ||
      choice.bytes + static_shared_bytes > max_shared_bytes(current.device())) {
    return;
  }
  // Copying the windows of x must take less than reading the terms (tuning/spmv.md: plan_band).
  const std::size_t brought = ceil_div(a.rows, band_rows_per_block) * choice.bytes;
  const std::size_t read = a.nonzeros() * (size_of(element) + size_of(type::int32));
  if (5 * brought > 4 * read) return;
  // Where most columns are adjacent, loads of x from memory are shared (tuning/spmv.md: plan_band).
  if (2 * adjacent > a.nonzeros()) return;
  to.band = band;
  if (to.columns == column_form::differences) return;  // already there
  to.kept_bytes = bytes_of_deltas(a);
  to.differences = std::exchange(job.differences, nullptr);
}

}  // namespace tally::backends::cuda
