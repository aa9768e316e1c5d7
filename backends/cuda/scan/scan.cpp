#include "backends/cuda/cuda.hpp"

#include "backends/common/order/scan_nodes.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/scan/job.hpp"

#include <algorithm>

namespace tally::backends::cuda {
namespace {

template <class A>
void scan_numbers(const current_device& current, const executor& where, const operand& x,
                  const output_operand& y, bool exclusive, const scan_nodes<A>& before) {
  constexpr int per_unit = scan_chunks_per_warp<A>;
  scan_job<A> job;
  job.x = x.data;
  job.x_increment = x.increment;
  job.x_type = x.element;
  job.y = static_cast<A*>(y.data);
  job.y_increment = y.increment;
  job.n = static_cast<std::int64_t>(x.size);
  job.exclusive = exclusive;
  job.first_unit = before.chunks / per_unit;
  job.missing = static_cast<int>(before.chunks % per_unit);
  std::copy_n(before.held, before.count, job.nodes);
  if (job.missing > 0) job.of_missing = before.held[before.count - 1];
  constexpr auto unit = static_cast<std::int64_t>(order::chunk) * per_unit;
  const std::int64_t missing = job.missing * static_cast<std::int64_t>(order::chunk);
  job.units = (job.n + missing + unit - 1) / unit;

  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream, false, exclusive ? "exclusive_scan" : "inclusive_scan");
  // A graph's memory begins with the number of launches; words are aligned to 16 bytes.
  constexpr std::size_t head = 2;
  const scratch lent = scratch_for(
      current, stream, captured, head + scan_words<A>(job.first_unit, job.units), words_left::any);
  job.words = lent.words + head;
  job.ended = lent.ended;
  if (captured) {
    job.epoch = lent.words;
  } else {
    job.tag = lent.tag;
  }
  const auto blocks = static_cast<unsigned>((job.units + scan_warps - 1) / scan_warps);
  launch(scan_kernel(type_of<A>, x.increment == 1 && y.increment == 1), {blocks, scan_warps * 32},
         &job, where.device(), stream);
  lent.queued(static_cast<std::uint64_t>(job.units));
}

}  // namespace

void backend::scan(const executor& where, const scan_arguments& a) const {
  const current_device current(where.device());
  with_type<real_accumulator_types>(part_of(a.y.element), [&]<class A>() {
    scan_components<A>(a, [&](const operand& x, const output_operand& y, auto& nodes) {
      scan_numbers<A>(current, where, x, y, a.exclusive, nodes);
    });
  });
}

}  // namespace tally::backends::cuda
