// Operations with functions of the caller.
#include <tally/user_functions/functions.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#endif

namespace tally {
namespace {

executor checked_sum(const executor& where, const char* function, const operand& x,
                     const operand* y, const void* result) {
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

executor checked_map(const executor& where, const char* function, const operand& x,
                     const operand* y, const output_operand& z) {
  const check check{function};
  if (y != nullptr) check.same_size("x", x, "y", *y);
  check.same_size("x", x, "z", z);
  check.vector("x", x);
  if (y != nullptr) check.vector("y", *y);
  check.vector("z", z);
  check_apart_or_same(check, "x", x, "z", z);
  if (y != nullptr) check_apart_or_same(check, "y", *y, "z", z);
  const executor chosen = where.backend() != nullptr ? where : y ? choose(x, *y, z) : choose(x, z);
  if (check::is_needed(chosen)) {
    check.reach(chosen, "x", x);
    if (y != nullptr) check.reach(chosen, "y", *y);
    check.reach(chosen, "z", z);
  }
  return chosen;
}

}  // namespace

void for_each_part(const executor& where, const char* function, const operand& x, const operand* y,
                   const void* result, const part_calls& calls) {
  const backends::default_environment environment;
  const executor chosen = checked_sum(where, function, x, y, result);
  chosen.backend()->for_each_part(chosen, function, x.size, calls);
}

void for_each_part(const executor& where, const char* function, const operand& x, const operand* y,
                   const output_operand& z, const part_calls& calls) {
  const backends::default_environment environment;
  const executor chosen = checked_map(where, function, x, y, z);
  chosen.backend()->for_each_part(chosen, function, x.size, calls);
}

void launch_sum([[maybe_unused]] const executor& where, [[maybe_unused]] const char* function,
                [[maybe_unused]] const operand& x, [[maybe_unused]] const operand* y,
                [[maybe_unused]] void* result, [[maybe_unused]] std::size_t bytes,
                [[maybe_unused]] bool wait, [[maybe_unused]] std::size_t words,
                [[maybe_unused]] void* context,
                [[maybe_unused]] int (*launch)(void*, const device_sum&)) {
#if TALLY_HAS_CUDA
  const backends::default_environment environment;
  const executor chosen = checked_sum(where, function, x, y, wait ? nullptr : result);
  backends::cuda::launch_sum(chosen, result, bytes, wait, words, context, launch);
#else
  (void)cuda();  // throws
#endif
}

void launch_map([[maybe_unused]] const executor& where, [[maybe_unused]] const char* function,
                [[maybe_unused]] const operand& x, [[maybe_unused]] const operand* y,
                [[maybe_unused]] const output_operand& z, [[maybe_unused]] void* context,
                [[maybe_unused]] int (*launch)(void*, CUstream_st*)) {
#if TALLY_HAS_CUDA
  const backends::default_environment environment;
  const executor chosen = checked_map(where, function, x, y, z);
  if (x.size > 0) backends::cuda::launch_map(chosen, context, launch);
#else
  (void)cuda();  // throws
#endif
}

}  // namespace tally
