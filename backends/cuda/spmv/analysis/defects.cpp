#include "backends/cuda/spmv/analysis/defects.hpp"

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis_launch.hpp"

#include <cstdint>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// Returns element `i` of `v` from device memory.
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

}  // namespace

csr_defect defect_of(cudaStream_t stream, const csr_operand& a, const analysis_results& words) {
  using kind = csr_defect::kind;
  const std::uint64_t found = words[result_words::defect];
  if (found == 0) return {};
  if (a.row_ends) {
    const auto index_at = [&](const operand& v, std::size_t i) { return fetched(stream, v, i); };
    return defect_of_row(a, ~found & result_words::index_mask, index_at);
  }
  csr_defect defect;
  defect.what = static_cast<kind>(~found >> result_words::index_bits);
  defect.index = ~found & result_words::index_mask;
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

csr_defect backend::find_defect(const executor& where, const csr_operand& a) const {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  analysis_job job(a);
  job.check = defect_check::at_once;
  job.counts = false;
  std::vector<analysis_launch> launches;
  if (a.row_ends) {
    launches.emplace_back(defective_row_kernel(), items_shape(a.rows), job);
    launches.push_back(publish_launch(job));
  } else {
    launches.push_back(matrix_launch(current, a, job));
  }
  return defect_of(stream, a, run_analysis(current, stream, launches, "validate"));
}

}  // namespace tally::backends::cuda
