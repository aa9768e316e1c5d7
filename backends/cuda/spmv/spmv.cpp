#include "backends/cuda/cuda.hpp"

#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/runtime/stream_memory.hpp"
#include "backends/cuda/spmv/band_rows.hpp"
#include "backends/cuda/spmv/expansion.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/near_rows.hpp"
#include "backends/cuda/spmv/plan.hpp"
#include "backends/cuda/spmv/shape.hpp"
#include "src/core/elementwise/elementwise.hpp"
#include "src/core/order/row_order.hpp"
#include "src/core/sparse/csr_defects.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
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
  std::size_t longest = 0;     ///< terms of the longest row
  unsigned threads_a_row = 0;  ///< 0: the matrix is cut into pieces
  std::size_t tile_terms = 0;  ///< terms of the largest tile of rows; 0: there are no tiles
  column_source columns = column_source::matrix;  ///< what tells tiles of rows their columns
  /// This holds patterns or differences; or codes, hot columns and the pieces of warps.
  std::optional<device_memory> kept;
  std::size_t kept_bytes = 0;
  row_patterns patterns;
  std::uint64_t pattern_count = 0;
  std::int16_t* differences = nullptr;
  reach near_rows;                ///< where rows are near the diagonal, how near
  std::int32_t band = -1;         ///< how far columns are, where rows lie in a band
  hot_columns hot;                ///< there are none where its count is 0
  type hot_type = type::float64;  ///< of the elements for which there is room
  std::uint64_t hot_share = 0;    ///< how many per cent of the terms are in hot columns
  const spmv_piece* warp_pieces = nullptr;
  expansion cut;                  ///< there is none where it has no tiles
  type cut_type = type::float64;  ///< of the elements that its tiles are for
  unsigned share_shift = 0;
  device_memory pieces;  ///< an spmv_piece for each block
  unsigned blocks = 0;
  std::uint64_t split_rows = 0;  ///< rows whose sums blocks hand over
  std::size_t handovers = 0;     ///< places where they do
};

/// Kernels of rows and columns have at most so much shared memory beside what they are given.
constexpr std::size_t own_shared_bytes = 2048;

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

/// Multiplies without a plan, in two launches of this shape of blocks.
void multiply_unplanned(const executor& where, const current_device& current,
                        const unplanned_choice& choice, launch_shape shape, std::size_t a_sum,
                        spmv_job job) {
  const cudaStream_t stream = where.stream();
  const auto nonzeros = static_cast<std::size_t>(job.nonzeros);
  const std::size_t room = nonzeros / row_order::short_row + nonzeros / order::chunk;
  // The two words live from one launch to the next, so they are this call's own: launches of other
  // threads may come between on the stream.
  constexpr std::size_t words = 2 * sizeof(std::uint64_t);
  const stream_memory queue(words + room * (sizeof(spmv_piece) + a_sum + sizeof(unsigned)), current,
                            stream);
  check(cudaMemsetAsync(queue.data(), 0, words, stream), "cudaMemsetAsync");
  job.queue.count = static_cast<std::uint64_t*>(queue.data());
  job.queue.shares = reinterpret_cast<spmv_piece*>(job.queue.count + 2);
  job.queue.sums = job.queue.shares + room;
  job.queue.counts =
      reinterpret_cast<unsigned*>(static_cast<std::byte*>(job.queue.sums) + room * a_sum);
  job.queue.room = room;
  launch(reinterpret_cast<const void*>(choice.rows), shape, &job, where.device(), stream);
  shape.blocks = 4 * multiprocessors(where.device());
  launch(reinterpret_cast<const void*>(choice.queued), shape, &job, where.device(), stream);
}

/// Returns how many bytes an expansion's buffer has, while a product runs.
std::size_t buffer_bytes(const expansion& cut, type element) {
  return static_cast<std::size_t>(cut.tiles_at_a_time) * static_cast<std::size_t>(cut.stride) *
         size_of(element);
}

/// Multiplies by an expansion.
void multiply_expanded(const executor& where, const current_device& current,
                       const cut_analysis& plan, const spmv_job& product) {
  const cudaStream_t stream = where.stream();
  expansion_job job{product, plan.cut};
  expansion& cut = job.cut;
  const stream_memory buffer(buffer_bytes(cut, plan.cut_type), current, stream);
  cut.elements = buffer.data();
  const expansion_choice choice = expansion_kernels(plan.cut_type, plan.cut_type);
  const auto* const expand = reinterpret_cast<const void*>(choice.expand);
  const auto* const collect = reinterpret_cast<const void*>(choice.collect);
  launch_shape slices{.threads = expand_threads,
                      .shared_bytes = expand_bytes(static_cast<std::size_t>(cut.slice))};
  const std::size_t room = most_shared_bytes(where.device());
  unsigned parts = most_parts;
  while (parts > 1 && parts * (slices.shared_bytes + own_shared_bytes) > room) --parts;
  slices.blocks = parts * static_cast<unsigned>(cut.slices);
  launch_shape tiles{.threads = collect_threads, .shared_bytes = collect_bytes(cut)};
  allow_shared_bytes(expand, current, slices.shared_bytes);
  allow_shared_bytes(collect, current, tiles.shared_bytes);
  for (; job.first_tile < cut.tiles; job.first_tile += cut.tiles_at_a_time) {
    launch(expand, slices, &job, where.device(), stream);
    tiles.blocks = static_cast<unsigned>(std::min(cut.tiles_at_a_time, cut.tiles - job.first_tile));
    launch(collect, tiles, &job, where.device(), stream);
  }
}

/// Multiplies with hot columns.
void multiply_hot(const executor& where, const current_device& current, const cut_analysis& plan,
                  spmv_job job) {
  const cudaStream_t stream = where.stream();
  const hot_columns_choice choice = hot_columns_kernels(plan.hot_type, plan.hot_type);
  const std::size_t element = size_of(plan.hot_type);
  const auto count = static_cast<std::size_t>(plan.hot.count);
  const std::size_t bytes = count * element + 16;
  const bool captured = is_captured(stream, false, "spmv");
  job.pieces = plan.warp_pieces;
  job.share_shift = plan.share_shift;
  job.hot = plan.hot;
  // In a graph, nodes that take memory and give it back would part the launches.
  scratch of_graph, shared;
  std::optional<stream_memory> of_stream;
  if (captured) {
    of_graph = scratch_for(current, stream, true, ceil_div(bytes, sizeof *of_graph.words),
                           words_left::any);
    job.hot.elements = of_graph.words;
  } else {
    job.hot.elements = of_stream.emplace(bytes, current, stream).data();
  }
  if (plan.split_rows > 0) {
    const std::size_t sums = plan.handovers * 2;
    shared = scratch_for(current, stream, captured, sums + plan.handovers);
    job.words = shared.words;
    job.tag = shared.tag;
    job.ended = shared.ended;
    job.hot.counts = reinterpret_cast<unsigned*>(shared.words + sums);
  }
  const launch_shape gather{.blocks = static_cast<unsigned>(ceil_div(count, 256)), .threads = 256};
  launch(reinterpret_cast<const void*>(choice.gather), gather, &job, where.device(), stream);
  const auto* const kernel = reinterpret_cast<const void*>(choice.multiply);
  const launch_shape shape{.blocks = multiprocessors(where.device()),
                           .threads = choice.threads,
                           .shared_bytes = choice.bytes + count * element};
  allow_shared_bytes(kernel, current, shape.shared_bytes);
  launch(kernel, shape, &job, where.device(), stream);
  shared.queued(plan.split_rows);
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

  if (plan != nullptr && plan->cut.tiles > 0 && a.a.values.element == plan->cut_type &&
      a.x.element == plan->cut_type && a.x.increment == 1) {
    return multiply_expanded(where, current, *plan, job);
  }
  const bool has_pieces = plan != nullptr && plan->pieces.get() != nullptr;
  if (a.a.row_ends || (a.has_places() && !has_pieces)) {
    shape.threads = any_row_threads;
    shape.blocks = static_cast<unsigned>(ceil_div(a.a.rows, any_row_threads / threads_of_any_row));
    return launch(reinterpret_cast<const void*>(any_choice_of(a).rows), shape, &job, where.device(),
                  stream);
  }
  if (plan != nullptr && plan->band >= 0 && !a.has_places() && a.x.increment == 1) {
    const band_rows_choice band = band_rows_of(a.a.values.element, a.x.element, plan->band);
    if (band.kernel != nullptr) {
      job.differences = plan->differences;
      band_rows_job of_band{job, plan->band};
      shape.threads = band_threads;
      shape.blocks = static_cast<unsigned>(ceil_div(a.a.rows, band_rows));
      shape.shared_bytes = band.bytes;
      const auto* const kernel = reinterpret_cast<const void*>(band.kernel);
      allow_shared_bytes(kernel, current, shape.shared_bytes);
      return launch(kernel, shape, &of_band, where.device(), stream);
    }
  }
  // Without a promise the columns may have another type by now.
  const bool has_tiles =
      plan != nullptr && plan->tile_terms > 0 &&
      (plan->columns != column_source::matrix || a.a.column_indices.element == type::int32);
  if (plan != nullptr && plan->near_rows.most >= plan->near_rows.least && !a.has_places() &&
      a.x.increment == 1) {
    const near_rows_choice near =
        near_rows_of(a.a.values.element, a.x.element, plan->tile_terms, plan->near_rows);
    if (near.kernel != nullptr &&
        near.bytes + own_shared_bytes <= most_shared_bytes(where.device())) {
      job.tile_terms = static_cast<std::int32_t>(plan->tile_terms);
      job.differences = plan->differences;
      near_rows_job of_near{job, plan->near_rows};
      shape.threads = row_tile;
      shape.blocks = static_cast<unsigned>(ceil_div(a.a.rows, row_tile));
      shape.shared_bytes = near.bytes;
      const auto* const kernel = reinterpret_cast<const void*>(near.kernel);
      allow_shared_bytes(kernel, current, shape.shared_bytes);
      return launch(kernel, shape, &of_near, where.device(), stream);
    }
  }
  if (has_tiles && !a.has_places() && a.x.increment == 1) {
    const row_tile_choice tiles =
        row_tile_kernel(a.a.values.element, a.x.element, plan->columns, plan->tile_terms,
                        has_16_in_flight(a.a.rows, plan->longest));
    if (tiles.kernel != nullptr &&
        tiles.bytes + own_shared_bytes <= most_shared_bytes(where.device())) {
      job.tile_terms = static_cast<std::int32_t>(plan->tile_terms);
      job.patterns = plan->patterns;
      job.differences = plan->differences;
      shape.threads = row_tile;
      shape.blocks = static_cast<unsigned>(ceil_div(a.a.rows, row_tile));
      shape.shared_bytes = tiles.bytes;
      const auto* const kernel = reinterpret_cast<const void*>(tiles.kernel);
      allow_shared_bytes(kernel, current, shape.shared_bytes);
      return launch(kernel, shape, &job, where.device(), stream);
    }
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
  if (plan != nullptr && plan->hot.count > 0 && a.a.values.element == plan->hot_type &&
      a.x.element == plan->hot_type && a.x.increment == 1) {
    return multiply_hot(where, current, *plan, job);
  }
  if (plan == nullptr && has_rows_unplanned(a.a.nonzeros())) {
    const unsigned threads = threads_a_row_unplanned(a.a.rows, a.a.nonzeros());
    const unplanned_choice unplanned = unplanned_kernels(a.a.values.element, a.x.element, threads);
    const std::size_t blocks = ceil_div(a.a.rows, row_threads / threads);
    if (unplanned.rows != nullptr && blocks <= most_blocks) {
      shape.threads = row_threads;
      shape.blocks = static_cast<unsigned>(blocks);
      return multiply_unplanned(where, current, unplanned, shape, size_of(accumulator), job);
    }
  }
  const std::size_t tiles = tiles_of(a.a);
  const std::size_t a_sum =
      std::max<std::size_t>(2, size_of(accumulator) / 4 * (is_complex(accumulator) ? 2 : 1));
  scratch shared;
  const auto share = [&](std::size_t handovers, words_left left) {
    shared =
        scratch_for(current, stream, is_captured(stream, false, "spmv"), handovers * a_sum, left);
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
    while ((tiles >> job.share_shift) >= scratch_words / a_sum) ++job.share_shift;
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

struct survey_launch {
  survey_kernel* kernel;
  launch_shape shape;
};

/// Returns a launch for so many rows or terms.
survey_launch survey_of(survey_kernel* kernel, std::size_t items) {
  // About so many blocks run at a time. With 2^14 blocks a plan of an R-MAT graph of 2^21 vertices
  // took 590 us instead of 345 (one H200), since they all add to the same counts.
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(ceil_div(items, 256), 1, 1u << 10));
  return {kernel, {.blocks = blocks, .threads = 256}};
}

/// Returns a launch of the kernel that looks at the whole matrix. All its blocks run at a time.
/// Where these do, those that look at rows are not those that look at columns.
survey_launch survey_of_matrix(const executor& where, const csr_operand& a, bool of_warps,
                               csr_survey& job) {
  constexpr std::size_t columns_a_block = 16 * survey_threads;
  const std::size_t spans =
      std::max<std::size_t>(1, ceil_div(a.rows, job.counts ? run_span : 16 * survey_threads));
  const std::size_t others = job.checks ? ceil_div(a.nonzeros(), columns_a_block) : 0;
  const std::size_t most = survey_blocks * multiprocessors(where.device());
  const bool apart = job.counts && spans + others <= most;
  const auto blocks = static_cast<unsigned>(std::min(spans + others, most));
  job.row_blocks = apart ? static_cast<unsigned>(spans) : blocks;
  return {matrix_kernel(of_warps, job.offsets.wide), {.blocks = blocks, .threads = survey_threads}};
}

/// Delivers what the kernels before have found.
survey_launch telling() { return {tell_kernel(), {.blocks = 1, .threads = 32}}; }

/// Runs kernels that look at a matrix, the last of which delivers what was found, waits, and
/// returns it.
survey_words run_survey(const executor& where, const current_device& current,
                        std::initializer_list<survey_launch> launches, csr_survey job,
                        const char* operation) {
  const cudaStream_t stream = where.stream();
  (void)is_captured(stream, true, operation);
  waited_words words(current, stream);
  mailbox& box = mailbox::of_this_thread(current);
  job.found = words.get();
  job.tag = box.next_tag();
  job.result = box.address();
  for (const survey_launch& of : launches) {
    const auto* const kernel = reinterpret_cast<const void*>(of.kernel);
    allow_shared_bytes(kernel, current, of.shape.shared_bytes);
    launch(kernel, of.shape, &job, where.device(), stream);
  }
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

namespace {

/// Returns the defect that a survey has found.
csr_defect defect_of(const executor& where, const csr_operand& a, const survey_words& words) {
  using kind = csr_defect::kind;
  const std::uint64_t found = words.of[survey::defect];
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

}  // namespace

csr_defect find_defect(const executor& where, const csr_operand& a) {
  const current_device current(where.device());
  csr_survey job(a);
  job.checks = true;
  job.counts = false;
  if (a.row_ends) {
    const survey_launch looks = survey_of(defective_row_kernel(), a.rows);
    return defect_of(where, a, run_survey(where, current, {looks, telling()}, job, "validate"));
  }
  const survey_launch looks = survey_of_matrix(where, a, false, job);
  return defect_of(where, a, run_survey(where, current, {looks}, job, "validate"));
}

namespace {

/// Finds what tiles of rows read in the place of columns, which stay as they are.
void find_columns(const executor& where, const current_device& current, const csr_operand& a,
                  csr_survey job, cut_analysis& to) {
  const bool wide = a.column_indices.element == type::int64;
  const launch_shape a_tile{.blocks = static_cast<unsigned>(ceil_div(a.rows, row_tile)),
                            .threads = row_tile,
                            .shared_bytes = survey_tile_bytes(wide, to.tile_terms)};
  if (a_tile.shared_bytes + own_shared_bytes > most_shared_bytes(where.device())) return;
  job.tile_terms = static_cast<std::int32_t>(to.tile_terms);
  constexpr std::size_t most = row_patterns::most;
  const std::size_t stride =
      ceil_div(to.longest, row_patterns::alignment) * row_patterns::alignment;
  const stream_memory lists(most * sizeof *job.lists, current, where.stream());
  job.lists = static_cast<std::uint64_t*>(lists.data());
  check(cudaMemsetAsync(job.lists, 0, most * sizeof *job.lists, where.stream()), "cudaMemsetAsync");
  to.kept_bytes = most * (stride + 1) * sizeof(std::int32_t) + a.rows;
  to.kept.emplace().allocate(to.kept_bytes);
  job.patterns.stride = static_cast<std::int32_t>(stride);
  job.patterns.differences = static_cast<std::int32_t*>(to.kept->get());
  job.patterns.lengths = job.patterns.differences + most * stride;
  job.patterns.of_row = reinterpret_cast<std::uint8_t*>(job.patterns.lengths + most);
  launch_shape some_tiles = a_tile;
  some_tiles.blocks = std::min(a_tile.blocks, 12 * multiprocessors(where.device()));
  const survey_words found = run_survey(where, current,
                                        {{patterns_kernel(wide), some_tiles},
                                         {lists_kernel(), {.blocks = most, .threads = 256}},
                                         telling()},
                                        job, "spmv_plan");
  if (found.of[survey::strays] == 0) {
    to.columns = column_source::patterns;
    to.patterns = job.patterns;
    to.pattern_count = found.of[survey::patterns];
    return;
  }
  to.kept.reset();
  to.kept_bytes = 0;
  if (found.of[survey::far] != 0) return;
  to.kept_bytes = a.nonzeros() * sizeof *job.differences;
  to.kept.emplace().allocate(to.kept_bytes);
  to.columns = column_source::differences;
  to.differences = job.differences = static_cast<std::int16_t*>(to.kept->get());
  const survey_words differences =
      run_survey(where, current, {{differences_kernel(wide), a_tile}, telling()}, job, "spmv_plan");
  const reach near{.least = -INT16_MIN - static_cast<std::int32_t>(differences.of[survey::below]),
                   .most = static_cast<std::int32_t>(differences.of[survey::above]) + INT16_MIN};
  if (has_near_rows(reached_by_tile(near))) to.near_rows = near;
}

/// Finds whether rows lie in a band that products have a kernel for.
void find_band(const executor& where, const current_device& current, const csr_operand& a,
               csr_survey job, cut_analysis& to) {
  const type element = a.values.element;
  if (band_rows_of(element, element, 0).kernel == nullptr) return;
  const survey_launch looks =
      survey_of(band_kernel(a.column_indices.element == type::int64), row_order::lanes * a.rows);
  const survey_words found = run_survey(where, current, {looks, telling()}, job, "spmv_plan");
  const std::uint64_t reach = found.of[survey::reach];
  if (reach > INT16_MAX) return;
  const auto band = static_cast<std::int32_t>(reach);
  const band_rows_choice choice = band_rows_of(element, element, band);
  if (choice.kernel == nullptr ||
      choice.bytes + own_shared_bytes > most_shared_bytes(where.device())) {
    return;
  }
  to.band = band;
  if (to.columns == column_source::differences) return;  // they are there already
  to.kept_bytes = a.nonzeros() * sizeof *job.differences;
  to.kept.emplace().allocate(to.kept_bytes);
  to.differences = job.differences = static_cast<std::int16_t*>(to.kept->get());
  (void)run_survey(where, current, {looks, telling()}, job, "spmv_plan");
}

/// Cuts the matrix for an expansion, if most of its terms need elements of x from far apart.
void find_expansion(const executor& where, const current_device& current, const csr_operand& a,
                    csr_survey job, cut_analysis& to) {
  const std::size_t element = size_of(a.values.element);
  expansion& cut = job.cut;
  cut.slices = static_cast<std::int32_t>(multiprocessors(where.device()));
  job.per_unit = static_cast<int>(segment_unit / element);
  const auto per_unit = static_cast<std::size_t>(job.per_unit);
  const std::size_t slice =
      ceil_div(a.columns, static_cast<std::size_t>(cut.slices) * per_unit) * per_unit;
  cut.slice = static_cast<std::int32_t>(slice);
  const std::size_t room = most_shared_bytes(where.device());
  if (slice > 1 << 16 || expand_bytes(slice) + own_shared_bytes > room) return;
  cut.tile_rows = expansion_tile_rows(a);
  const std::size_t tiles = ceil_div(a.rows, static_cast<std::size_t>(cut.tile_rows));
  cut.tiles = static_cast<std::int32_t>(tiles);
  const auto in_tiles = [&](survey_kernel* kernel, std::size_t stride) -> survey_launch {
    return {kernel,
            {.blocks = static_cast<unsigned>(tiles),
             .threads = expand_threads,
             .shared_bytes = segment_bytes(static_cast<std::size_t>(cut.slices), stride)}};
  };
  const survey_words found = run_survey(
      where, current, {in_tiles(segment_sizes_kernel(), 0), telling()}, job, "spmv_plan");
  // Places are loaded 16 bytes at a time.
  constexpr std::size_t per_load = 16 / sizeof *cut.in_slice;
  const std::size_t stride = ceil_div(found.of[survey::units] * per_unit, per_load) * per_load;
  const std::size_t segments = tiles * static_cast<std::size_t>(cut.slices);
  const std::size_t most_terms = found.of[survey::most_terms];
  cut.stride = static_cast<std::int32_t>(stride);
  cut.tile_terms = static_cast<std::int32_t>(most_terms);
  if (10 * found.of[survey::met] < 9 * segments || 4 * found.of[survey::adjacent] > a.nonzeros() ||
      stride >= 1 << 16 || 4 * tiles * stride > 5 * a.nonzeros() + 4 * segments * per_unit ||
      collect_bytes(cut) + own_shared_bytes > room ||
      segment_bytes(static_cast<std::size_t>(cut.slices), stride) + own_shared_bytes > room) {
    return;
  }
  cut.tiles_at_a_time = static_cast<std::int32_t>(
      std::min(tiles, std::max<std::size_t>(1, most_buffer / (stride * element))));
  to.kept_bytes = segments * sizeof *cut.segments + 2 * tiles * stride * sizeof *cut.in_slice;
  to.kept.emplace().allocate(to.kept_bytes);
  cut.in_slice = static_cast<std::uint16_t*>(to.kept->get());
  cut.in_tile = cut.in_slice + tiles * stride;
  cut.segments = reinterpret_cast<std::uint32_t*>(cut.in_tile + tiles * stride);
  (void)run_survey(where, current, {in_tiles(segments_kernel(), stride), telling()}, job,
                   "spmv_plan");
  to.cut = cut;
  to.cut_type = a.values.element;
}

/// Finds the columns that are hot, if they have most of the terms, and cuts the matrix for warps.
void find_hot_columns(const executor& where, const current_device& current, const csr_operand& a,
                      csr_survey job, cut_analysis& to) {
  const type type_of_values = a.values.element;
  const hot_columns_choice choice = hot_columns_kernels(type_of_values, type_of_values);
  const std::size_t room =
      std::min(most_shared_bytes(where.device()), hot_shared_bytes(type_of_values));
  if (choice.multiply == nullptr || room < choice.bytes + own_shared_bytes) return;
  const std::size_t most = (room - choice.bytes - own_shared_bytes) / size_of(a.values.element);
  const std::size_t counters = a.columns + survey::most_uses + 1;
  const stream_memory uses(counters * sizeof *job.uses, current, where.stream());
  const stream_memory hot(most * sizeof *job.hot, current, where.stream());
  job.most_hot = static_cast<int>(most);
  job.pieces = nullptr;
  job.uses = static_cast<std::uint32_t*>(uses.data());
  job.bins = job.uses + a.columns;
  job.hot = static_cast<std::int32_t*>(hot.data());
  check(cudaMemsetAsync(job.uses, 0, counters * sizeof *job.uses, where.stream()),
        "cudaMemsetAsync");
  const survey_launch of_columns = survey_of(bins_kernel(), a.columns);
  job.checks = false;
  const survey_launch of_pieces = survey_of_matrix(where, a, true, job);
  const survey_words found = run_survey(where, current,
                                        {survey_of(uses_kernel(), a.nonzeros()),
                                         of_columns,
                                         {least_use_kernel(), {.blocks = 1, .threads = 256}},
                                         survey_of(hot_kernel(), a.columns),
                                         of_pieces},
                                        job, "spmv_plan");
  if (!are_hot(a.nonzeros(), found.of[survey::covered])) return;
  const std::size_t count =
      std::min<std::size_t>(most, found.of[survey::taken] + found.of[survey::ties]);
  const std::size_t pieces = found.of[survey::shares] + found.of[survey::runs];
  to.kept_bytes = pieces * sizeof(spmv_piece) + (a.nonzeros() + count) * sizeof *job.codes;
  to.kept.emplace().allocate(to.kept_bytes);
  job.pieces = static_cast<spmv_piece*>(to.kept->get());
  job.shares = static_cast<std::int64_t>(found.of[survey::shares]);
  job.runs = static_cast<std::int64_t>(found.of[survey::runs]);
  job.codes = reinterpret_cast<std::int32_t*>(job.pieces + pieces);
  std::int32_t* const columns = job.codes + a.nonzeros();
  check(cudaMemcpyAsync(columns, job.hot, count * sizeof *columns, cudaMemcpyDeviceToDevice,
                        where.stream()),
        "cudaMemcpyAsync");
  (void)run_survey(where, current, {survey_of(codes_kernel(), a.nonzeros()), of_pieces}, job,
                   "spmv_plan");
  to.warp_pieces = job.pieces;
  to.hot_type = a.values.element;
  to.hot.codes = job.codes;
  to.hot.columns = columns;
  to.hot.count = static_cast<int>(count);
  to.hot.pieces = static_cast<int>(pieces);
  to.hot_share = 100 * found.of[survey::covered] / a.nonzeros();
}

}  // namespace

std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& a,
                                             const planned_products& products) {
  const current_device current(where.device());
  auto analysis = std::make_shared<cut_analysis>();
  analysis->context = current.context();
  if (a.row_ends) {
    analysis->description = "each row in " + std::to_string(threads_of_any_row) +
                            " threads and long ones in a warp, since rows may lie anywhere";
    if (!products.is_checked) analysis->defect = find_defect(where, a);
    return analysis;
  }
  csr_survey job(a);
  // The first look writes pieces, too, if these have room; most have.
  job.checks = !products.is_checked;
  job.shares = static_cast<std::int64_t>(a.nonzeros() / (2 * row_order::short_row)) + 1;
  job.runs = static_cast<std::int64_t>((a.rows + a.nonzeros()) / run_size + a.rows / run_span + 2) +
             job.shares;
  std::optional<stream_memory> room;
  const auto found = [&] {
    for (;; job.checks = false) {
      room.emplace(static_cast<std::size_t>(job.shares + job.runs) * sizeof(spmv_piece), current,
                   where.stream());
      job.pieces = static_cast<spmv_piece*>(room->data());
      const survey_launch looks = survey_of_matrix(where, a, false, job);
      const survey_words words = run_survey(where, current, {looks}, job, "spmv_plan");
      if (job.checks) analysis->defect = defect_of(where, a, words);
      if (analysis->defect.what != csr_defect::kind::none) return words;
      const auto shares = static_cast<std::int64_t>(words.of[survey::shares]);
      const auto runs = static_cast<std::int64_t>(words.of[survey::runs]);
      const std::uint64_t handovers = words.of[survey::handovers];
      if (shares <= job.shares && runs <= job.runs && handovers <= most_handovers) return words;
      job.shares = shares;
      job.runs = runs;
      // Twice as long shares are at least half as many.
      if (handovers > most_handovers) {
        job.share_shift += static_cast<unsigned>(std::bit_width((handovers - 1) / most_handovers));
      }
    }
  }();
  if (analysis->defect.what != csr_defect::kind::none) return analysis;
  const std::uint64_t longest = analysis->longest = found.of[survey::longest];
  if (!products.has_places) {
    analysis->threads_a_row = threads_a_row(a.rows, a.nonzeros(), longest);
    const type element = a.values.element;
    const bool has_kernel =
        row_tile_kernel(element, element, column_source::matrix, 0, false).kernel != nullptr;
    if (analysis->threads_a_row > 0 && has_kernel && has_row_tiles(a, longest)) {
      analysis->tile_terms = found.of[survey::tile_terms];
      if (products.fixed_columns) find_columns(where, current, a, job, *analysis);
      if (analysis->columns == column_source::matrix && !has_row_tiles_of_columns(a, longest)) {
        analysis->tile_terms = 0;
      }
    }
  }
  if (products.fixed_columns && !products.has_places) {
    if (analysis->columns != column_source::patterns && may_have_band(a, longest)) {
      find_band(where, current, a, job, *analysis);
    }
    if (analysis->tile_terms == 0 && has_pieces_of_short_rows(a, longest)) {
      analysis->threads_a_row = 0;
    }
  }
  const std::size_t pieces = found.of[survey::shares] + found.of[survey::runs];
  if (analysis->threads_a_row == 0 && pieces <= most_blocks) {
    analysis->pieces.allocate(pieces * sizeof(spmv_piece));
    auto* const to = static_cast<spmv_piece*>(analysis->pieces.get());
    const beside_captures mode;
    const auto copy = [&](spmv_piece* at, const spmv_piece* from, std::size_t count) {
      if (count == 0) return;
      check(cudaMemcpyAsync(at, from, count * sizeof *at, cudaMemcpyDeviceToDevice, where.stream()),
            "cudaMemcpyAsync");
    };
    const std::size_t shares = found.of[survey::shares];
    copy(to, job.pieces, shares);
    copy(to + shares, job.pieces + job.shares, pieces - shares);
    check(cudaStreamSynchronize(where.stream()), "cudaStreamSynchronize");
    analysis->blocks = static_cast<unsigned>(pieces);
    analysis->split_rows = found.of[survey::split_rows];
    analysis->handovers = found.of[survey::handovers];
    analysis->share_shift = job.share_shift;
    if (products.fixed_columns && !products.has_places && analysis->band < 0 &&
        may_have_hot_columns(a)) {
      find_hot_columns(where, current, a, job, *analysis);
    }
  }

  if (products.fixed_columns && !products.has_places && analysis->hot.count == 0 &&
      analysis->columns == column_source::matrix && analysis->band < 0 && may_expand(a, longest)) {
    find_expansion(where, current, a, job, *analysis);
  }

  const auto text = [](std::uint64_t value) { return std::to_string(value); };
  std::string& s = analysis->description;
  if (analysis->band >= 0) {
    s = "each row in " + text(row_order::lanes) +
        " threads, with x in shared memory, since columns are at most " +
        std::to_string(analysis->band) +
        " from the diagonal; in the place of columns differences of 16 bits, in " +
        text(analysis->kept_bytes) + " bytes";
  } else if (analysis->tile_terms > 0) {
    s = "each row in a thread, in tiles of " + text(row_tile) + ", since rows are short";
    if (analysis->columns == column_source::patterns) {
      s += "; in the place of columns the " + text(analysis->pattern_count) +
           " patterns of rows, in " + text(analysis->kept_bytes) + " bytes";
    } else if (analysis->columns == column_source::differences) {
      s += "; in the place of columns differences of 16 bits, in " + text(analysis->kept_bytes) +
           " bytes";
      if (const reach& near = analysis->near_rows; near.most >= near.least) {
        s += ", and x in shared memory, since they are from " + std::to_string(near.least) +
             " to " + std::to_string(near.most);
      }
    }
  } else if (analysis->threads_a_row > 0) {
    s = "each row in " + text(analysis->threads_a_row) + " threads, since rows are short";
  } else {
    s = text(pieces) +
        (products.has_places ? " blocks, which read values at places: "
                             : " blocks, since some rows are long: ") +
        text(found.of[survey::runs]) + " for runs of rows of at most " +
        text(row_order::short_row) + " terms, " + text(found.of[survey::shares]) + " for the " +
        text(found.of[survey::long_rows]) + " longer ones";
    if (analysis->split_rows > 0) {
      s += ", of which " + text(analysis->split_rows) + " in several";
    }
    s += ", in " + text(std::size_t{analysis->blocks} * sizeof(spmv_piece)) + " bytes";
    if (analysis->hot.count > 0) {
      s += "; of " + std::string(name(analysis->hot_type)) +
           " in warps, with the elements of x of " +
           text(static_cast<std::uint64_t>(analysis->hot.count)) + " columns, which have " +
           text(analysis->hot_share) +
           " % of the terms, in shared memory, and codes of all columns, in " +
           text(analysis->kept_bytes) + " bytes";
    }
  }
  if (const expansion& cut = analysis->cut; cut.tiles > 0) {
    s += "; of " + std::string(name(analysis->cut_type)) +
         " in two steps, since columns are far apart: x comes in slices of " +
         text(static_cast<std::uint64_t>(cut.slice)) +
         " elements to shared memory, and from there to a buffer, where tiles of " +
         text(static_cast<std::uint64_t>(cut.tile_rows)) +
         " rows find what they need; with places in slices and tiles, in " +
         text(analysis->kept_bytes) + " bytes, and a buffer of " +
         text(buffer_bytes(cut, analysis->cut_type)) + " bytes while a product runs";
    const std::int32_t parts = (cut.tiles - 1) / cut.tiles_at_a_time + 1;
    if (parts > 1) s += ", in " + std::to_string(parts) + " parts";
  }
  s += ": " + text(a.rows) + " rows of " + text(a.nonzeros() / a.rows) + " terms in the mean, " +
       text(longest) + " at most, " + text(found.of[survey::empty]) + " empty";
  return analysis;
}

}  // namespace tally::backends::cuda
