#include "backends/cuda/cuda.hpp"

#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/workspace.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/plan.hpp"
#include "backends/cuda/spmv/shape.hpp"
#include "src/core/elementwise/elementwise.hpp"
#include "src/core/order/row_order.hpp"
#include "src/core/sparse/csr_defects.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace tally::backends::cuda {
namespace {

/// A grid has at most so many blocks.
constexpr std::size_t most_blocks = (std::size_t{1} << 31) - 1;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

std::size_t tiles_of(const csr_operand& a) { return ceil_div(a.rows + a.nonzeros(), tile_size); }

// --- The product ---------------------------------------------------------------------------------

/// A plan keeps this.
struct cut_analysis : spmv_analysis {
  std::uint64_t context = 0;
  unsigned threads_a_row = 0;  ///< 0: the matrix is cut into pieces
  device_memory pieces;        ///< an spmv_piece for each block
  unsigned blocks = 0;
  std::uint64_t split_rows = 0;  ///< rows whose sums blocks hand over
  std::size_t handovers = 0;     ///< places where they do
};

const spmv_choice& choice_of(const csr_product& a) {
  const spmv_choice* found = nullptr;
  with_row_accumulator(
      a, [&]<class A>() { found = &spmv_kernels<A>()[a.a.values.element][a.x.element]; });
  return *found;
}

any_spmv_choice any_choice_of(const csr_product& a) {
  any_spmv_choice found;
  with_row_accumulator(a, [&]<class A>() { found = any_spmv_kernels<A>(); });
  return found;
}

spmv_job job_of(const csr_product& a, type accumulator) {
  spmv_job job(a);
  job.x = typed_vector(a.x);
  job.y = typed_vector(a.y);
  job.reads_addend = a.reads_addend();
  job.addend = typed_vector(a.addend());
  job.computation = spmvs::combination(accumulator, a.y.element);
  with_type<spmvs::vector_types>(job.computation, [&]<class C>() {
    const auto f = factors<computed_t<C>>::template of<C>(a.alpha, a.beta);
    static_assert(sizeof f <= sizeof job.factors);
    std::memcpy(job.factors, &f, sizeof f);
  });
  return job;
}

}  // namespace

void spmv(const executor& where, const csr_product& a) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const type accumulator = spmvs::accumulator(a.a.values.element, a.x.element);
  spmv_job job = job_of(a, accumulator);
  launch_shape shape;
  const auto* const plan =
      a.plan != nullptr ? static_cast<const cut_analysis*>(a.plan->analysis()) : nullptr;
  if (plan != nullptr && plan->context != current.context()) {
    throw error(errc::invalid_argument,
                "tally::spmv: the plan ended with its context, by cudaDeviceReset; make a new one");
  }
  if (a.options.grade.is_exact()) {
    shape.threads = exact_spmv_warps * 32;
    shape.blocks = static_cast<unsigned>(
        std::min<std::size_t>(ceil_div(a.a.rows, exact_spmv_warps), std::size_t{1} << 20));
    return launch(reinterpret_cast<const void*>(exact_spmv_kernel_of(accumulator)), shape, &job,
                  where.device(), stream);
  }

  const bool has_pieces = plan != nullptr && plan->pieces.get() != nullptr;
  if (a.a.row_ends || (a.has_places() && !has_pieces)) {
    shape.threads = any_row_threads;
    shape.blocks = static_cast<unsigned>(ceil_div(a.a.rows, any_row_threads / threads_of_any_row));
    return launch(reinterpret_cast<const void*>(any_choice_of(a).rows), shape, &job, where.device(),
                  stream);
  }
  spmv_choice choice = choice_of(a);
  if (a.has_places()) {
    const any_spmv_choice any = any_choice_of(a);
    choice.pieces = any.pieces;
    choice.piece_bytes = any.piece_bytes;
  }
  if (plan != nullptr && plan->threads_a_row > 0) {
    const unsigned threads = plan->threads_a_row;
    const auto* const kernel =
        reinterpret_cast<const void*>(choice.rows[std::countr_zero(threads)]);
    const std::size_t blocks = ceil_div(a.a.rows, row_threads / threads);
    if (kernel != nullptr && blocks <= most_blocks) {
      shape.threads = row_threads;
      shape.blocks = static_cast<unsigned>(blocks);
      return launch(kernel, shape, &job, where.device(), stream);
    }
  }
  const std::size_t tiles = tiles_of(a.a);
  const std::size_t a_sum =
      std::max<std::size_t>(2, size_of(accumulator) / 4 * (is_complex(accumulator) ? 2 : 1));
  workspace shared;
  const auto share = [&](std::size_t handovers, words_left left) {
    shared =
        workspace_for(current, stream, is_captured(stream, false, "spmv"), handovers * a_sum, left);
    job.words = shared.words;
    job.tag = shared.tag;
    job.ended = shared.ended;
  };
  if (has_pieces) {
    if (plan->split_rows > 0) share(plan->handovers, words_left::empty);
    job.pieces = static_cast<const spmv_piece*>(plan->pieces.get());
    shape.threads = piece_threads;
    shape.blocks = plan->blocks;
    shape.shared_bytes = choice.piece_bytes;
  } else {
    while ((tiles >> job.share_shift) >= workspace_words / a_sum) ++job.share_shift;
    // Where offsets are wrong some sums are handed over and never taken.
    share((tiles >> job.share_shift) + 1, words_left::any);
    shape.threads = tile_threads;
    shape.blocks = static_cast<unsigned>(tiles);
    shape.shared_bytes = choice.tile_bytes;
  }
  const auto* const kernel =
      reinterpret_cast<const void*>(has_pieces ? choice.pieces : choice.tiles);
  allow_shared_bytes(kernel, current, shape.shared_bytes);
  launch(kernel, shape, &job, where.device(), stream);
  shared.queued(has_pieces ? plan->split_rows : tiles);
}

// --- Before it -----------------------------------------------------------------------------------

namespace {

/// Runs a kernel that looks at a matrix, waits, and returns what it found.
survey_words run_survey(const executor& where, const current_device& current, survey_kernel* kernel,
                        csr_survey job, std::size_t items, const char* operation) {
  const cudaStream_t stream = where.stream();
  (void)is_captured(stream, true, operation);
  waited_words words(current, stream);
  mailbox& box = mailbox::of_this_thread(current);
  job.found = words.get();
  job.tag = box.next_tag();
  job.result = box.address();
  // About so many blocks run at a time. With 2^14 blocks a plan of an R-MAT graph of 2^21 vertices
  // took 590 us instead of 345 (one H200), since they all add to the same counts.
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(ceil_div(items, 256), 1, 1u << 10));
  launch(reinterpret_cast<const void*>(kernel), {.blocks = blocks, .threads = 256}, &job,
         where.device(), stream);
  launch(reinterpret_cast<const void*>(tell_kernel()), {1, 1}, &job, where.device(), stream);
  std::uint32_t payload[mailbox::words];
  box.wait(stream, words_of<survey_words>, payload);
  words.emptied();
  survey_words found;
  std::memcpy(&found, payload, sizeof found);
  return found;
}

/// Returns an element of device memory.
std::int64_t fetched(const executor& where, const operand& v, std::size_t i) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  void* const to = v.element == type::int64 ? static_cast<void*>(&wide) : &narrow;
  cuda::copy_bytes(where, v.slice(i, 1).data, to, size_of(v.element));
  return v.element == type::int64 ? wide : narrow;
}

}  // namespace

csr_defect find_defect(const executor& where, const csr_operand& a) {
  using kind = csr_defect::kind;
  const current_device current(where.device());
  const std::uint64_t found = run_survey(where, current, defect_kernel(), csr_survey(a),
                                         std::max(a.rows, a.nonzeros()), "validate")
                                  .of[survey::defect];
  if (found == 0) return {};
  if (a.row_ends) {
    const auto index_at = [&](const operand& v, std::size_t i) { return fetched(where, v, i); };
    return defect_of_row(a, ~found & survey::index_mask, index_at);
  }
  csr_defect defect;
  defect.what = static_cast<kind>(~found >> survey::index_bits);
  defect.index = ~found & survey::index_mask;
  switch (defect.what) {
    case kind::decreasing_offset:
      defect.before = fetched(where, a.row_offsets, defect.index);
      defect.value = fetched(where, a.row_offsets, defect.index + 1);
      break;
    case kind::column:
      defect.value = fetched(where, a.column_indices, defect.index);
      break;
    default:
      defect.value = fetched(where, a.row_offsets, defect.index);
  }
  return defect;
}

std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& a,
                                             bool has_places) {
  const current_device current(where.device());
  auto analysis = std::make_shared<cut_analysis>();
  analysis->context = current.context();
  if (a.row_ends) {
    analysis->description = "each row in " + std::to_string(threads_of_any_row) +
                            " threads and long ones in a warp, since rows may lie anywhere";
    return analysis;
  }
  csr_survey job(a);
  survey_words found = run_survey(where, current, analysis_kernel(), job, a.rows, "spmv_plan");
  while (found.of[survey::handovers] > most_handovers) {
    ++job.share_shift;
    found = run_survey(where, current, analysis_kernel(), job, a.rows, "spmv_plan");
  }
  const std::uint64_t longest = found.of[survey::longest];
  if (!has_places) analysis->threads_a_row = threads_a_row(a.rows, a.nonzeros(), longest);
  const std::size_t pieces = found.of[survey::shares] + found.of[survey::runs];
  if (analysis->threads_a_row == 0 && pieces <= most_blocks) {
    analysis->pieces.allocate(pieces * sizeof(spmv_piece));
    job.pieces = static_cast<spmv_piece*>(analysis->pieces.get());
    job.shares = static_cast<std::int64_t>(found.of[survey::shares]);
    (void)run_survey(where, current, piece_kernel(), job, ceil_div(a.rows, run_span) * 256,
                     "spmv_plan");
    analysis->blocks = static_cast<unsigned>(pieces);
    analysis->split_rows = found.of[survey::split_rows];
    analysis->handovers = found.of[survey::handovers];
  }

  const auto text = [](std::uint64_t value) { return std::to_string(value); };
  std::string& s = analysis->description;
  if (analysis->threads_a_row > 0) {
    s = "each row in " + text(analysis->threads_a_row) + " threads, since rows are short";
  } else {
    s = text(pieces) +
        (has_places ? " blocks, which read values at places: "
                    : " blocks, since some rows are long: ") +
        text(found.of[survey::runs]) + " for runs of rows of at most " +
        text(row_order::short_row) + " terms, " + text(found.of[survey::shares]) + " for the " +
        text(found.of[survey::long_rows]) + " longer ones";
    if (analysis->split_rows > 0) {
      s += ", of which " + text(analysis->split_rows) + " in several";
    }
  }
  s += ": " + text(a.rows) + " rows of " + text(a.nonzeros() / a.rows) + " terms in the mean, " +
       text(longest) + " at most, " + text(found.of[survey::empty]) + " empty";
  return analysis;
}

}  // namespace tally::backends::cuda
