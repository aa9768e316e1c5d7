// Operations with functions of the caller.
#include <tally/user_functions/functions.hpp>

#include <tally/operations/elementwise.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#endif
#if TALLY_HAS_KOKKOS
#include "backends/kokkos/kokkos.hpp"
#endif

#include <algorithm>
#include <array>

namespace tally {
namespace {

constexpr std::array names = {"x", "y", "w"};

executor chosen_for(const executor& where, std::span<const operand> inputs, const operand& z) {
  if (where.backend() != nullptr) return where;
  std::array<operand, names.size()> all;  // those that are missing are empty
  std::ranges::copy(inputs, all.begin());
  return choose(all[0], all[1], all[2], z);
}

/// Checks one to three vectors, of z's size, and z unless it is absent.
void check_vectors(const check& check, std::span<const operand> inputs, const output_operand* z) {
  if (inputs.empty() || inputs.size() > names.size()) {
    check.fail(errc::invalid_argument, "there are ", inputs.size(), " vectors; there can be 1 to ",
               names.size());
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    check.same_size("x", inputs[0], names[i], inputs[i]);
  }
  if (z != nullptr) check.same_size("x", inputs[0], "z", *z);
  for (std::size_t i = 0; i < inputs.size(); ++i) check.vector(names[i], inputs[i]);
  if (z == nullptr) return;
  check.vector("z", *z);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_apart_or_same(check, names[i], inputs[i], "z", *z);
  }
}

void check_reach(const check& check, const executor& chosen, std::span<const operand> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) check.reach(chosen, names[i], inputs[i]);
}

executor checked_sum(const executor& where, const char* function, std::span<const operand> inputs,
                     const void* result) {
  const check check{function};
  check_vectors(check, inputs, nullptr);
  const executor chosen = chosen_for(where, inputs, operand());
  if (check::is_needed(chosen)) {
    check_reach(check, chosen, inputs);
    if (result != nullptr) check.reach(chosen, "result", result);
  }
  return chosen;
}

executor checked_map(const executor& where, const char* function, std::span<const operand> inputs,
                     const output_operand& z) {
  const check check{function};
  check_vectors(check, inputs, &z);
  const executor chosen = chosen_for(where, inputs, z);
  if (check::is_needed(chosen)) {
    check_reach(check, chosen, inputs);
    check.reach(chosen, "z", z);
  }
  return chosen;
}

}  // namespace

void for_each_part(const executor& where, const char* function, std::span<const operand> inputs,
                   const void* result, const part_calls& calls) {
  const backends::default_environment environment;
  const executor chosen = checked_sum(where, function, inputs, result);
  backends::for_each_part(chosen, function, inputs[0].size, calls);
}

void for_each_part(const executor& where, const char* function, std::span<const operand> inputs,
                   const output_operand& z, const part_calls& calls) {
  const backends::default_environment environment;
  const executor chosen = checked_map(where, function, inputs, z);
  backends::for_each_part(chosen, function, z.size, calls);
}

void launch_sum([[maybe_unused]] const executor& where, [[maybe_unused]] const char* function,
                [[maybe_unused]] std::span<const operand> inputs, [[maybe_unused]] void* result,
                [[maybe_unused]] std::size_t bytes, [[maybe_unused]] bool wait,
                [[maybe_unused]] std::size_t words, [[maybe_unused]] void* context,
                [[maybe_unused]] int (*launch)(void*, const device_sum&)) {
#if TALLY_HAS_CUDA
  const backends::default_environment environment;
  const executor chosen = checked_sum(where, function, inputs, wait ? nullptr : result);
  backends::cuda::launch_sum(chosen, result, bytes, wait, words, context, launch);
#else
  (void)cuda();  // throws
#endif
}

void launch_map([[maybe_unused]] const executor& where, [[maybe_unused]] const char* function,
                [[maybe_unused]] std::span<const operand> inputs,
                [[maybe_unused]] const output_operand& z, [[maybe_unused]] void* context,
                [[maybe_unused]] int (*launch)(void*, CUstream_st*)) {
#if TALLY_HAS_CUDA
  const backends::default_environment environment;
  const executor chosen = checked_map(where, function, inputs, z);
  if (z.size > 0) backends::cuda::launch_map(chosen, context, launch);
#else
  (void)cuda();  // throws
#endif
}

void run_on_kokkos([[maybe_unused]] const executor& where, [[maybe_unused]] const char* function,
                   [[maybe_unused]] std::span<const operand> inputs, [[maybe_unused]] void* result,
                   [[maybe_unused]] std::size_t bytes, [[maybe_unused]] bool wait,
                   [[maybe_unused]] std::size_t memory, [[maybe_unused]] void* context,
                   [[maybe_unused]] void (*queue)(void*, const kokkos_queue&)) {
#if TALLY_HAS_KOKKOS
  const backends::default_environment environment;
  const executor chosen = checked_sum(where, function, inputs, wait ? nullptr : result);
  backends::kokkos::lend(chosen, result, bytes, wait, memory, context, queue);
#else
  (void)kokkos();  // throws
#endif
}

void run_on_kokkos([[maybe_unused]] const executor& where, [[maybe_unused]] const char* function,
                   [[maybe_unused]] std::span<const operand> inputs,
                   [[maybe_unused]] const output_operand& z, [[maybe_unused]] void* context,
                   [[maybe_unused]] void (*queue)(void*, const kokkos_queue&)) {
#if TALLY_HAS_KOKKOS
  const backends::default_environment environment;
  const executor chosen = checked_map(where, function, inputs, z);
  if (z.size > 0) backends::kokkos::lend(chosen, nullptr, 0, false, 0, context, queue);
#else
  (void)kokkos();  // throws
#endif
}

}  // namespace tally
