#include "backends/cuda/spmv/hub_columns/hub_search.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/runtime/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {
namespace {

/// Returns the hub columns that fit in a product's shared memory, 0 without a kernel.
std::size_t max_hot_columns(const current_device& current, type values) {
  const hub_columns_choice choice = hub_columns_kernels(values, values);
  const std::size_t room = std::min(max_shared_bytes(current.device()), hub_shared_bytes(values));
  const std::size_t taken = choice.bytes + static_shared_bytes;
  if (choice.multiply == nullptr || room < taken) return 0;
  constexpr std::size_t max_places = std::size_t{1} << 16;  // indices of hub_bitmap have 16 bits
  return std::min((room - taken) / size_of(values), max_places);
}

/// Room for pieces of warps, carry-outs and codes.
struct room_for_codes {
  room_for_codes(const csr_operand& a, const analysis_job& job, const analysis_results& rows)
      : pieces(rows.of[result_words::shares] + max_hot_runs(a, rows.of[result_words::long_rows])),
        carry_outs(rows.of[result_words::carry_outs]),
        bytes(pieces * sizeof *job.warp_pieces + carry_outs * sizeof *job.handed +
              (a.nonzeros() + static_cast<std::size_t>(job.max_hub)) * sizeof *job.codes) {}
  std::size_t pieces, carry_outs, bytes;
};

/// Returns the launches of the search; the first two examine a sample only.
std::vector<analysis_launch> launches_of(const current_device& current, const csr_operand& a,
                                         const analysis_job& job) {
  const unsigned processors = multiprocessors(current.device());
  const std::size_t table = hub_bitmap::bytes(static_cast<std::size_t>(job.table.groups));
  const bool in_shared = table + static_shared_bytes <= max_shared_bytes(current.device());
  return {
      items_launch(sample_kernel(), a.nonzeros() >> job.sample_shift),
      {use_histogram_kernel(), {.blocks = 2 * processors, .threads = 256}},
      {hub_kernel(),
       {.blocks = picking_blocks(job.column_count) +
                  static_cast<unsigned>(ceil_div(a.rows, std::size_t{hub_span})),
        .threads = hub_analysis_threads}},
      {codes_kernel(in_shared),
       {.blocks = processors, .threads = codes_threads, .shared_bytes = in_shared ? table : 0}}};
}

}  // namespace

bool hub_search::may_find(const current_device& current, const csr_operand& a) {
  return may_have_hub_columns(a) && max_hot_columns(current, a.values.element) > 0;
}

void hub_search::allocate_counters(const current_device& current, cudaStream_t stream) {
  const std::size_t groups = 16 * ceil_div(a_.columns, std::size_t{1024});
  const std::size_t uses = hub_counters_per_column(a_.columns) * a_.columns;
  const std::size_t zeros = uses + result_words::max_uses + 1 + 2 * result_words::classes;
  job_.table.groups = static_cast<std::int64_t>(groups);
  job_.table.bits = static_cast<std::uint32_t*>(
      to_.memory.take(hub_bitmap::bytes(groups) + zeros * sizeof *job_.uses, current, stream));
  job_.table.places = reinterpret_cast<std::uint16_t*>(job_.table.bits + 2 * groups);
  job_.uses = reinterpret_cast<std::uint32_t*>(job_.table.places + groups);
  job_.bins = job_.uses + uses;
  job_.classes = job_.bins + result_words::max_uses + 1;
  job_.zeros = static_cast<std::int64_t>(zeros);
  job_.counters = static_cast<std::int64_t>(hub_counters_per_column(a_.columns));
  job_.sample_shift = hub_sample_shift(a_.nonzeros());
  job_.max_hub = static_cast<int>(max_hot_columns(current, a_.values.element));
}

/// Allocates pieces of warps and codes; returns whether memory sufficed.
bool hub_search::allocate_codes(const current_device& current, cudaStream_t stream,
                                const analysis_results& rows) {
  const room_for_codes room(a_, job_, rows);
  try {
    job_.warp_pieces = static_cast<warp_piece*>(to_.memory.take(room.bytes, current, stream));
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    return false;  // products do without
  }
  job_.shares = static_cast<std::int64_t>(rows.of[result_words::shares]);
  job_.handed = reinterpret_cast<carry_out_row*>(job_.warp_pieces + room.pieces);
  job_.codes = reinterpret_cast<std::int32_t*>(job_.handed + room.carry_outs);
  job_.hub = job_.codes + a_.nonzeros();
  return true;
}

analysis_results hub_search::run(const current_device& current, cudaStream_t stream,
                                 const std::vector<analysis_launch>& launches) const {
  check(cudaMemsetAsync(job_.uses, 0, static_cast<std::size_t>(job_.zeros) * sizeof *job_.uses,
                        stream),
        "cudaMemsetAsync");
  return run_analysis(current, stream, launches, job_, "spmv_plan");
}

bool hub_search::look(const current_device& current, cudaStream_t stream,
                      const analysis_job& matrix, const analysis_results& rows,
                      analysis_results& found) {
  job_ = matrix;
  allocate_counters(current, stream);
  if (!allocate_codes(current, stream, rows)) return false;
  found = run(current, stream, launches_of(current, a_, job_));
  return true;
}

bool hub_search::examine_sample(const current_device& current, cudaStream_t stream,
                                const analysis_job& matrix, const analysis_results& rows,
                                analysis_results& found) {
  job_ = matrix;
  allocate_counters(current, stream);
  const std::vector<analysis_launch> launches = launches_of(current, a_, job_);
  const analysis_results sample = run(current, stream, {launches[0], launches[1]});
  if (!are_hub_columns(sample.of[result_words::sampled], sample.of[result_words::hub_samples]) ||
      !allocate_codes(current, stream, rows)) {
    return false;
  }
  found = run(current, stream, launches);
  return true;
}

void hub_search::take(const analysis_results& found) {
  if (!are_hub_columns(a_.nonzeros(), found.of[result_words::covered])) {
    return to_.memory.give_back(job_.warp_pieces);
  }
  to_.kept_bytes = room_for_codes(a_, job_, found).bytes;
  to_.hub_type = a_.values.element;
  to_.hub.codes = job_.codes;
  to_.hub.columns = job_.hub;
  to_.hub.pieces = job_.warp_pieces;
  to_.hub.handed = job_.handed;
  to_.hub.count = static_cast<int>(found.of[result_words::taken]);
  to_.hub.piece_count =
      static_cast<int>(found.of[result_words::shares] + found.of[result_words::warp_row_blocks]);
  to_.hub_percent = 100 * found.of[result_words::covered] / a_.nonzeros();
}

void hub_search::end() {
  if (job_.uses != nullptr) to_.memory.give_back(job_.table.bits);
}

}  // namespace tally::backends::cuda
