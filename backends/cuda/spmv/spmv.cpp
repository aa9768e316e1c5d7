// Products with sparse matrices: choice of kernels.
#include "backends/cuda/cuda.hpp"

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/runtime/stream_memory.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"
#include "backends/cuda/spmv/band/band_rows.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/row_tiles/ring_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace tally::backends::cuda {
namespace {

std::size_t tiles_of(const csr_operand& a) {
  return ceil_div(a.rows + a.nonzeros(), merge_tile_path);
}

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

/// Memory of one call's launches. In a graph it belongs to the graph: allocation nodes would
/// separate the launches.
class call_memory {
 public:
  call_memory(std::size_t bytes, const current_device& current, cudaStream_t stream,
              bool captured) {
    if (captured) {
      of_graph_ = scratch_for(current, stream, true, ceil_div(bytes, sizeof *of_graph_.words),
                              words_left::any);
    } else {
      of_stream_.emplace(bytes, current, stream);
    }
  }
  void* data() const { return of_stream_ ? of_stream_->data() : of_graph_.words; }

 private:
  scratch of_graph_;
  std::optional<stream_memory> of_stream_;
};

void multiply_unplanned(const executor& where, const current_device& current,
                        const unplanned_choice& choice, const launch_shape& rows, std::size_t a_sum,
                        spmv_job job) {
  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream, false, "spmv");
  const auto nonzeros = static_cast<std::size_t>(job.nonzeros);
  segment_queue& queue = job.queue;
  queue.row_capacity = nonzeros / row_order::short_row;
  queue.segment_capacity = 2 * (nonzeros / order::chunk);
  const call_memory memory(
      queue.row_capacity * sizeof *queue.rows +
          queue.segment_capacity * (sizeof *queue.shares + a_sum + sizeof *queue.counts),
      current, stream, captured);
  const scratch shared =
      scratch_for(current, stream, captured, segment_queue::word_count, words_left::to_next);
  queue.words = shared.words;
  job.ended = shared.ended;
  queue.rows = static_cast<std::uint64_t*>(memory.data());
  queue.shares = queue.rows + queue.row_capacity;
  queue.sums = queue.shares + queue.segment_capacity;
  queue.counts = reinterpret_cast<unsigned*>(static_cast<std::byte*>(queue.sums) +
                                             queue.segment_capacity * a_sum);
  const auto* const kernel = reinterpret_cast<const void*>(choice.rows);
  allow_shared_bytes(kernel, current, rows.shared_bytes);
  launch(kernel, rows, &job, where.device(), stream);
  const launch_shape queued{.blocks = queued_blocks_per_sm * multiprocessors(where.device()),
                            .threads = row_threads};
  try {
    launch(reinterpret_cast<const void*>(choice.queued), queued, &job, where.device(), stream);
  } catch (const error&) {  // nobody takes the queue
    (void)cudaMemsetAsync(queue.words, 0, segment_queue::word_count * sizeof *queue.words, stream);
    throw;
  }
  shared.queued(queued.blocks);
}

void multiply_blocked(const executor& where, const current_device& current, const cuda_plan& plan,
                      const spmv_job& product) {
  const cudaStream_t stream = where.stream();
  blocking_job job{product, plan.cut};
  propagation_blocking& cut = job.cut;
  const stream_memory buffer(buffer_bytes(cut, plan.blocking_type), current, stream);
  cut.elements = buffer.data();
  const blocking_choice choice = blocking_kernels(plan.blocking_type, plan.blocking_type);
  const auto* const expand = reinterpret_cast<const void*>(choice.expand);
  const auto* const collect = reinterpret_cast<const void*>(choice.collect);
  launch_shape sections{.threads = expand_threads,
                        .shared_bytes = expand_bytes(static_cast<std::size_t>(cut.section))};
  const std::size_t room = max_shared_bytes(where.device());
  unsigned parts = max_parts;
  while (parts > 1 && parts * (sections.shared_bytes + static_shared_bytes) > room) --parts;
  sections.blocks = parts * static_cast<unsigned>(cut.sections);
  launch_shape tiles{.threads = collect_threads, .shared_bytes = collect_bytes(cut)};
  allow_shared_bytes(expand, current, sections.shared_bytes);
  allow_shared_bytes(collect, current, tiles.shared_bytes);
  for (; job.first_tile < cut.tiles; job.first_tile += cut.tiles_per_part) {
    launch(expand, sections, &job, where.device(), stream);
    tiles.blocks = static_cast<unsigned>(std::min(cut.tiles_per_part, cut.tiles - job.first_tile));
    launch(collect, tiles, &job, where.device(), stream);
  }
}

void multiply_hub(const executor& where, const current_device& current, const cuda_plan& plan,
                  const spmv_job& product) {
  const cudaStream_t stream = where.stream();
  const hub_columns_choice choice = hub_columns_kernels(plan.hub_type, plan.hub_type);
  const std::size_t element = size_of(plan.hub_type);
  const auto count = static_cast<std::size_t>(plan.hub.count);
  const std::size_t bytes = count * element + 16;
  const bool captured = is_captured(stream, false, "spmv");
  hub_columns_job job{product, plan.hub};
  const call_memory elements(bytes, current, stream, captured);
  job.hub.elements = elements.data();
  scratch shared;
  if (plan.split_rows > 0) {
    const std::size_t sums = plan.carry_outs * 2;
    shared = scratch_for(current, stream, captured, sums + plan.carry_outs);
    job.product.words = shared.words;
    job.product.tag = shared.tag;
    job.product.ended = shared.ended;
    job.hub.counts = reinterpret_cast<unsigned*>(shared.words + sums);
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

/// Launches a kernel if it exists and its shared memory fits; returns whether it did.
template <class Job>
bool launches(const executor& where, const current_device& current, void (*kernel)(Job),
              const launch_shape& shape, Job job) {
  if (kernel == nullptr ||
      shape.shared_bytes + static_shared_bytes > max_shared_bytes(where.device())) {
    return false;
  }
  const auto* const code = reinterpret_cast<const void*>(kernel);
  allow_shared_bytes(code, current, shape.shared_bytes);
  launch(code, shape, &job, where.device(), where.stream());
  return true;
}

/// Multiplies by band, near rows, ring or row tiles, if planned for these types; returns whether it
/// did.
bool multiply_tiles(const executor& where, const current_device& current, const cuda_plan& plan,
                    const csr_product& a, spmv_job job) {
  const type values = a.a.values.element, x = a.x.element;
  const auto shape = [&](std::size_t rows, unsigned threads, std::size_t bytes) {
    return launch_shape{.blocks = static_cast<unsigned>(ceil_div(a.a.rows, rows)),
                        .threads = threads,
                        .shared_bytes = bytes};
  };
  job.differences = plan.differences;
  job.tile_terms = static_cast<std::int32_t>(plan.tile_terms);
  if (plan.band >= 0) {
    const band_rows_choice band = band_rows_of(values, x, plan.band);
    if (launches(where, current, band.kernel,
                 shape(band_rows_per_block, band_threads_per_block, band.bytes),
                 band_rows_job{job, plan.band})) {
      return true;
    }
  }
  if (plan.near_rows.is_known()) {
    if (has_near_rows(x_window_elements(plan.near_rows))) {
      const near_rows_choice near = near_rows_of(values, x, plan.tile_terms, plan.near_rows);
      if (launches(where, current, near.kernel,
                   shape(rows_per_row_tile, rows_per_row_tile, near.bytes),
                   near_rows_job{job, plan.near_rows})) {
        return true;
      }
    }
    const ring_rows_choice ring =
        ring_rows_of(values, x, plan.tile_terms, plan.near_rows, max_shared_bytes(where.device()));
    if (ring.kernel != nullptr) {
      launch_shape of_ring = shape(ring.tile, ring.threads, ring.bytes);
      of_ring.blocks = std::min(of_ring.blocks, ring.blocks * multiprocessors(where.device()));
      ring_rows_job of_tiles{job, plan.near_rows, static_cast<std::int32_t>(ring.ring)};
      of_tiles.product.tile_terms = static_cast<std::int32_t>(ring.terms);
      if (launches(where, current, ring.kernel, of_ring, of_tiles)) return true;
    }
  }
  // Columns without promise may have another type by now.
  if (plan.tile_terms == 0 ||
      (plan.columns == column_form::matrix && a.a.column_indices.element != type::int32)) {
    return false;
  }
  const row_tile_choice tiles = row_tile_kernel(values, x, plan.columns, plan.tile_terms,
                                                has_16_in_flight(a.a.rows, plan.longest));
  job.patterns = plan.patterns;
  return launches(where, current, tiles.kernel,
                  shape(rows_per_row_tile, rows_per_row_tile, tiles.bytes), job);
}

}  // namespace

void backend::spmv(const executor& where, const csr_product& a) const {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const type accumulator = spmvs::accumulator(a.a.values.element, a.x.element);
  spmv_job job = job_of(a, accumulator);
  launch_shape shape;
  const auto* const plan =
      a.plan != nullptr ? static_cast<const cuda_plan*>(&a.plan->analysis()->ready()) : nullptr;
  if (plan != nullptr && plan->context != current.context()) {
    fail_of_context();
  }
  if (plan != nullptr) plan->memory.used_on(stream);
  if (a.options.grade.is_exact()) {
    shape.threads = exact_warps_per_block * 32;
    shape.blocks = static_cast<unsigned>(
        std::min<std::size_t>(ceil_div(a.a.rows, exact_warps_per_block), std::size_t{1} << 20));
    return launch(reinterpret_cast<const void*>(exact_spmv_kernel_of(accumulator)), shape, &job,
                  where.device(), stream);
  }

  if (plan != nullptr && plan->cut.tiles > 0 && a.a.values.element == plan->blocking_type &&
      a.x.element == plan->blocking_type && a.x.increment == 1) {
    return multiply_blocked(where, current, *plan, job);
  }
  const bool has_pieces = plan != nullptr && plan->pieces != nullptr;
  if (a.a.row_ends || (a.is_permuted() && !has_pieces)) {
    shape.threads = any_row_threads;
    shape.blocks = static_cast<unsigned>(ceil_div(a.a.rows, any_row_threads / threads_per_any_row));
    return launch(reinterpret_cast<const void*>(any_choice_of(a).rows), shape, &job, where.device(),
                  stream);
  }
  if (plan != nullptr && !a.is_permuted() && a.x.increment == 1 &&
      multiply_tiles(where, current, *plan, a, job)) {
    return;
  }
  spmv_choice choice = choice_of(a);
  if (a.is_permuted()) {
    const any_spmv_choice any = any_choice_of(a);
    choice.pieces = any.pieces;
    choice.piece_bytes = any.piece_bytes;
  }
  if (plan != nullptr && plan->threads_per_row > 0) {
    const unsigned threads = plan->threads_per_row;
    const auto* const kernel =
        reinterpret_cast<const void*>(choice.rows[std::countr_zero(threads)]);
    const std::size_t blocks = ceil_div(a.a.rows, row_threads / threads);
    if (kernel != nullptr && blocks <= max_blocks) {
      shape.threads = row_threads;
      shape.blocks = static_cast<unsigned>(blocks);
      return launch(kernel, shape, &job, where.device(), stream);
    }
  }
  if (plan != nullptr && plan->hub.count > 0 && a.a.values.element == plan->hub_type &&
      a.x.element == plan->hub_type && a.x.increment == 1) {
    return multiply_hub(where, current, *plan, job);
  }
  if (plan == nullptr && has_rows_unplanned(a.a.nonzeros())) {
    const unsigned threads = threads_per_row_unplanned(a.a.rows, a.a.nonzeros());
    unplanned_choice unplanned = unplanned_kernels(a.a.values.element, a.x.element, threads);
    std::size_t blocks = ceil_div(a.a.rows, row_threads / threads);
    shape.threads = row_threads;
    if (const std::size_t length = even_length_unplanned(a.a); length > 0 && a.x.increment == 1) {
      const even_rows_choice even = even_rows_kernel(a.a.values.element, a.x.element, length);
      if (even.kernel != nullptr &&
          even.bytes + static_shared_bytes <= max_shared_bytes(where.device())) {
        unplanned.rows = even.kernel;
        blocks = ceil_div(a.a.rows, rows_per_row_tile);
        shape.threads = rows_per_row_tile;
        shape.shared_bytes = even.bytes;
        job.tile_terms = static_cast<std::int32_t>(rows_per_row_tile * length);
      }
    }
    if (unplanned.rows != nullptr && blocks <= max_blocks) {
      shape.blocks = static_cast<unsigned>(blocks);
      return multiply_unplanned(where, current, unplanned, shape, size_of(accumulator), job);
    }
  }
  const std::size_t tiles = tiles_of(a.a);
  const std::size_t a_sum =
      std::max<std::size_t>(2, size_of(accumulator) / 4 * (is_complex(accumulator) ? 2 : 1));
  scratch shared;
  const auto share = [&](std::size_t carry_outs, words_left left) {
    shared =
        scratch_for(current, stream, is_captured(stream, false, "spmv"), carry_outs * a_sum, left);
    job.words = shared.words;
    job.tag = shared.tag;
    job.ended = shared.ended;
  };
  if (has_pieces) {
    if (plan->split_rows > 0) share(plan->carry_outs, words_left::empty);
    job.pieces = plan->pieces;
    shape.threads = piece_threads;
    shape.blocks = plan->blocks;
    shape.shared_bytes = choice.piece_bytes;
  } else {
    while ((tiles >> job.segment_shift) >= scratch_words / a_sum) ++job.segment_shift;
    // With wrong offsets some carry-outs are never taken.
    share((tiles >> job.segment_shift) + 1, words_left::any);
    shape.threads = merge_tile_threads;
    shape.blocks = static_cast<unsigned>(tiles);
    shape.shared_bytes = choice.tile_bytes;
  }
  const auto* const kernel =
      reinterpret_cast<const void*>(has_pieces ? choice.pieces : choice.tiles);
  allow_shared_bytes(kernel, current, shape.shared_bytes);
  launch(kernel, shape, &job, where.device(), stream);
  shared.queued(has_pieces ? plan->split_rows : tiles);
}

}  // namespace tally::backends::cuda
