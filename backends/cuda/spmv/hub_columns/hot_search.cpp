#include "backends/cuda/spmv/hub_columns/hot_search.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/runtime/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {
namespace {

/// Returns the hub columns that fit in a product's shared memory, 0 without a kernel.
std::size_t max_hot_columns(const current_device& current, type values) {
  const hot_columns_choice choice = hot_columns_kernels(values, values);
  const std::size_t room = std::min(max_shared_bytes(current.device()), hot_shared_bytes(values));
  const std::size_t taken = choice.bytes + own_shared_bytes;
  if (choice.multiply == nullptr || room < taken) return 0;
  constexpr std::size_t max_places = std::size_t{1} << 16;  // indices of hot_table have 16 bits
  return std::min((room - taken) / size_of(values), max_places);
}

/// Room for pieces of warps, carry-outs and codes.
struct room_for_codes {
  room_for_codes(const csr_operand& a, const csr_survey& job, const survey_words& rows)
      : pieces(rows.of[survey::shares] + max_hot_runs(a, rows.of[survey::long_rows])),
        handovers(rows.of[survey::handovers]),
        bytes(pieces * sizeof *job.warp_pieces + handovers * sizeof *job.handed +
              (a.nonzeros() + static_cast<std::size_t>(job.max_hot)) * sizeof *job.codes) {}
  std::size_t pieces, handovers, bytes;
};

/// Returns the launches of the search; the first two examine a sample only.
std::vector<survey_launch> launches_of(const current_device& current, const csr_operand& a,
                                       const csr_survey& job) {
  const unsigned processors = multiprocessors(current.device());
  const std::size_t table = hot_table::bytes(static_cast<std::size_t>(job.table.groups));
  const bool in_shared = table + own_shared_bytes <= max_shared_bytes(current.device());
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

}  // namespace

bool hot_search::may_find(const current_device& current, const csr_operand& a) {
  return may_have_hot_columns(a) && max_hot_columns(current, a.values.element) > 0;
}

void hot_search::make_room_for_uses(const current_device& current, cudaStream_t stream) {
  const std::size_t groups = 16 * ceil_div(a_.columns, std::size_t{1024});
  const std::size_t uses = hot_counters(a_.columns) * a_.columns;
  const std::size_t zeros = uses + survey::max_uses + 1 + 2 * survey::classes;
  job_.table.groups = static_cast<std::int64_t>(groups);
  job_.table.bits = static_cast<std::uint32_t*>(
      to_.memory.take(hot_table::bytes(groups) + zeros * sizeof *job_.uses, current, stream));
  job_.table.places = reinterpret_cast<std::uint16_t*>(job_.table.bits + 2 * groups);
  job_.uses = reinterpret_cast<std::uint32_t*>(job_.table.places + groups);
  job_.bins = job_.uses + uses;
  job_.classes = job_.bins + survey::max_uses + 1;
  job_.zeros = static_cast<std::int64_t>(zeros);
  job_.counters = static_cast<std::int64_t>(hot_counters(a_.columns));
  job_.sample_shift = hot_sample_shift(a_.nonzeros());
  job_.max_hot = static_cast<int>(max_hot_columns(current, a_.values.element));
}

/// Allocates pieces of warps and codes; returns whether memory sufficed.
bool hot_search::make_room_for_codes(const current_device& current, cudaStream_t stream,
                                     const survey_words& rows) {
  const room_for_codes room(a_, job_, rows);
  try {
    job_.warp_pieces = static_cast<warp_piece*>(to_.memory.take(room.bytes, current, stream));
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    return false;  // products do without
  }
  job_.shares = static_cast<std::int64_t>(rows.of[survey::shares]);
  job_.handed = reinterpret_cast<handed_row*>(job_.warp_pieces + room.pieces);
  job_.codes = reinterpret_cast<std::int32_t*>(job_.handed + room.handovers);
  job_.hot = job_.codes + a_.nonzeros();
  return true;
}

survey_words hot_search::run(const current_device& current, cudaStream_t stream,
                             const std::vector<survey_launch>& launches) const {
  check(cudaMemsetAsync(job_.uses, 0, static_cast<std::size_t>(job_.zeros) * sizeof *job_.uses,
                        stream),
        "cudaMemsetAsync");
  return run_survey(current, stream, launches, job_, "spmv_plan");
}

bool hot_search::look(const current_device& current, cudaStream_t stream, const csr_survey& matrix,
                      const survey_words& rows, survey_words& found) {
  job_ = matrix;
  make_room_for_uses(current, stream);
  if (!make_room_for_codes(current, stream, rows)) return false;
  found = run(current, stream, launches_of(current, a_, job_));
  return true;
}

bool hot_search::look_at_sample(const current_device& current, cudaStream_t stream,
                                const csr_survey& matrix, const survey_words& rows,
                                survey_words& found) {
  job_ = matrix;
  make_room_for_uses(current, stream);
  const std::vector<survey_launch> launches = launches_of(current, a_, job_);
  const survey_words sample = run(current, stream, {launches[0], launches[1]});
  if (!are_hot(sample.of[survey::sampled], sample.of[survey::covered_samples]) ||
      !make_room_for_codes(current, stream, rows)) {
    return false;
  }
  found = run(current, stream, launches);
  return true;
}

void hot_search::take(const survey_words& found) {
  if (!are_hot(a_.nonzeros(), found.of[survey::covered])) {
    return to_.memory.give_back(job_.warp_pieces);
  }
  to_.kept_bytes = room_for_codes(a_, job_, found).bytes;
  to_.hot_type = a_.values.element;
  to_.hot.codes = job_.codes;
  to_.hot.columns = job_.hot;
  to_.hot.pieces = job_.warp_pieces;
  to_.hot.handed = job_.handed;
  to_.hot.count = static_cast<int>(found.of[survey::taken]);
  to_.hot.piece_count = static_cast<int>(found.of[survey::shares] + found.of[survey::warp_runs]);
  to_.hot_share = 100 * found.of[survey::covered] / a_.nonzeros();
}

void hot_search::end() {
  if (job_.uses != nullptr) to_.memory.give_back(job_.table.bits);
}

}  // namespace tally::backends::cuda
