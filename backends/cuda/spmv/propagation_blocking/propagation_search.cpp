#include "backends/cuda/spmv/propagation_blocking/propagation_search.hpp"

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/spmv/analysis/analysis_launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

void find_propagation_blocking(const current_device& current, cudaStream_t stream,
                               const csr_operand& a, analysis_job job, cuda_plan& to) {
  const std::size_t element = size_of(a.values.element);
  propagation_blocking& cut = job.cut;
  cut.sections = static_cast<std::int32_t>(multiprocessors(current.device()));
  job.per_unit = static_cast<int>(bin_alignment / element);
  const auto per_unit = static_cast<std::size_t>(job.per_unit);
  const std::size_t section =
      ceil_div(a.columns, static_cast<std::size_t>(cut.sections) * per_unit) * per_unit;
  cut.section = static_cast<std::int32_t>(section);
  const std::size_t room = max_shared_bytes(current.device());
  if (section > 1 << 16 || expand_bytes(section) + static_shared_bytes > room) return;
  cut.tile_rows = blocking_tile_rows(a);
  const std::size_t tiles = ceil_div(a.rows, static_cast<std::size_t>(cut.tile_rows));
  cut.tiles = static_cast<std::int32_t>(tiles);
  const auto in_blocks = [&](analysis_kernel* kernel, std::size_t blocks,
                             std::size_t stride) -> analysis_launch {
    return {kernel,
            {.blocks = static_cast<unsigned>(blocks),
             .threads = expand_threads,
             .shared_bytes = bins_shared_bytes(static_cast<std::size_t>(cut.sections), stride)}};
  };
  const std::size_t samples = ceil_div(tiles, std::size_t{tiles_per_sample});
  const analysis_results found =
      run_analysis(current, stream, {in_blocks(bin_sizes_kernel(), samples, 0)}, job, "spmv_plan");
  // Indices are loaded 16 bytes at a time.
  constexpr std::size_t per_load = 16 / sizeof *cut.section_index;
  const auto sections = static_cast<std::size_t>(cut.sections);
  const std::size_t segments = tiles * sections;
  const std::size_t terms_of_largest = found.of[result_words::max_terms];
  const std::size_t stride =
      ceil_div(terms_of_largest + sections * (per_unit - 1), per_load) * per_load;
  cut.stride = static_cast<std::int32_t>(stride);
  cut.tile_terms = static_cast<std::int32_t>(terms_of_largest);
  if (10 * found.of[result_words::met] < 9 * samples * sections ||
      4 * found.of[result_words::adjacent] > found.of[result_words::sampled] || stride >= 1 << 16 ||
      4 * tiles * stride > 5 * a.nonzeros() + 4 * segments * per_unit ||
      collect_bytes(cut) + static_shared_bytes > room ||
      bins_shared_bytes(static_cast<std::size_t>(cut.sections), stride) + static_shared_bytes >
          room) {
    return;
  }
  cut.tiles_per_part = static_cast<std::int32_t>(
      std::min(tiles, std::max<std::size_t>(1, max_buffer / (stride * element))));
  to.kept_bytes = segments * sizeof *cut.segments + 2 * tiles * stride * sizeof *cut.section_index;
  cut.section_index = static_cast<std::uint16_t*>(to.memory.take(to.kept_bytes, current, stream));
  cut.in_tile = cut.section_index + tiles * stride;
  cut.segments = reinterpret_cast<std::uint32_t*>(cut.in_tile + tiles * stride);
  (void)run_analysis(current, stream, {in_blocks(bins_kernel(), tiles, stride)}, job, "spmv_plan");
  to.cut = cut;
  to.blocking_type = a.values.element;
}

}  // namespace tally::backends::cuda
