#include "backends/cuda/transform/moves.hpp"
#include "backends/cuda/cuda.hpp"

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <algorithm>
#include <cstring>

namespace tally::backends::cuda {
namespace {

/// Returns the common part of both functions' jobs.
move_job job_of(const output_operand& z) {
  move_job job;
  const auto unit = static_cast<std::ptrdiff_t>(alignment_of(z.element));
  const auto size = static_cast<std::ptrdiff_t>(size_of(z.element));
  job.z = static_cast<std::byte*>(z.data);
  job.unit = static_cast<int>(unit);
  job.units = static_cast<int>(size / unit);
  job.z_step = z.increment * job.units;
  job.n = static_cast<std::int64_t>(z.size);
  job.bytes = job.n * size;
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(z.data) % 16);
  job.head = std::min<std::int64_t>((16 - past) % 16, job.bytes);
  return job;
}

/// Launches a thread per `a_thread` of `n` things; more only where a grid can't have as many
/// threads.
void run(const executor& where, move_kernel_function* kernel, move_job job, std::int64_t n,
         int a_thread = 1) {
  const std::int64_t a_block = std::int64_t{threads_of_move} * a_thread;
  const std::int64_t blocks =
      std::clamp<std::int64_t>((n + a_block - 1) / a_block, 1, std::int64_t{1} << 30);
  launch(reinterpret_cast<const void*>(kernel), {static_cast<unsigned>(blocks), threads_of_move},
         &job, where.device(), where.stream());
}

}  // namespace

void backend::fill(const executor& where, const element_bytes& value,
                   const output_operand& z) const {
  const current_device current(where.device());
  move_job job = job_of(z);
  const bool contiguous = z.increment == 1;
  const std::size_t size = size_of(z.element);
  const std::size_t first = contiguous ? static_cast<std::size_t>(job.head) : 0;
  std::byte bytes[sizeof job.value];
  for (std::size_t i = 0; i < sizeof bytes; ++i) bytes[i] = value.bytes[(first + i) % size];
  std::memcpy(job.value, bytes, sizeof bytes);
  if (contiguous) return run(where, fill_kernel(true), job, job.bytes / 16, stores_of_fill);
  run(where, fill_kernel(false), job, job.n);
}

void backend::swap(const executor& where, const output_operand& x, const output_operand& y) const {
  const current_device current(where.device());
  move_job job = job_of(y);
  job.x = static_cast<std::byte*>(x.data);
  job.x_step = x.increment * job.units;
  const auto past =
      reinterpret_cast<std::uintptr_t>(x.data) ^ reinterpret_cast<std::uintptr_t>(y.data);
  const bool alike = x.increment == 1 && y.increment == 1 && past % 16 == 0;
  run(where, swap_kernel(alike), job, alike ? job.bytes / 16 : job.n);
}

}  // namespace tally::backends::cuda
