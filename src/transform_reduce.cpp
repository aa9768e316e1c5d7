// The library's part of transform_reduce: checks, and the way to the backend's threads.
#include <tally/transform_reduce.hpp>

#include "backends/backend.hpp"
#include "src/check.hpp"

#if TALLY_HAS_CUDA
#include "backends/cuda/transform_reduce.hpp"
#endif

namespace tally {
namespace {

/// Checks the vectors and finds the executor.
executor checked(const executor& where, const char* function, const operand& x, const operand* y,
                 const void* result) {
  const check check{function};
  check.vector("x", x);
  if (y != nullptr) {
    check.same_size("x", x, "y", *y);
    check.vector("y", *y);
  }
  const executor chosen = where.backend() != nullptr ? where : y ? choose(x, *y) : choose(x);
  if (check::is_needed(chosen)) {
    check.reach(chosen, "x", x);
    if (y != nullptr) check.reach(chosen, "y", *y);
    if (result != nullptr) check.reach(chosen, "result", result);
  }
  return chosen;
}

}  // namespace

void for_each_part(const executor& where, const char* function, const operand& x, const operand* y,
                   const void* result, const part_calls& calls) {
  const executor chosen = checked(where, function, x, y, result);
  chosen.backend()->transform_reduce(chosen, function, x.size, calls);
}

void launch_sum([[maybe_unused]] const executor& where, [[maybe_unused]] const char* function,
                [[maybe_unused]] const operand& x, [[maybe_unused]] const operand* y,
                [[maybe_unused]] void* result, [[maybe_unused]] std::size_t bytes,
                [[maybe_unused]] bool wait, [[maybe_unused]] bool many_blocks,
                [[maybe_unused]] void* context,
                [[maybe_unused]] int (*launch)(void*, const device_sum&)) {
#if TALLY_HAS_CUDA
  const executor chosen = checked(where, function, x, y, wait ? nullptr : result);
  backends::cuda::launch_sum(chosen, result, bytes, wait, many_blocks, context, launch);
#else
  (void)cuda();  // throws
#endif
}

}  // namespace tally
