// Public `dot`.
#include <tally/dot.hpp>
#include <tally/error.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/simd/sums/dot.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/pair_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace tally {
namespace {

check check_of(const dot_arguments& a) {
  return check{a.conjugated == conjugate::none ? "tally::dot" : "tally::dotc"};
}

[[gnu::noinline]] void check_arguments(const dot_arguments& a) {
  const check check = check_of(a);
  check.known_type("x", a.x.element);
  check.known_type("y", a.y.element);
  check.known_type("result", a.result.element);
  check.conjugated(a.conjugated);
  check.same_size("x", a.x, "y", a.y);
  check.vector("x", a.x);
  check.vector("y", a.y);
  const pair_rules& pair = rules_of(a.x.element, a.y.element);
  if (a.result.words) {
    return check.words(a.result, is_complex(pair.rule), pair.rule);
  }
  check.sum_type("the result", a.result.element, pair.rule, pair.widest, a.x.element, a.y.element);
  check.pointer("result", a.result.data, a.result.element);
}

[[gnu::noinline]] void check_reach(const executor& where, const dot_arguments& a) {
  const check check = check_of(a);
  check.reach(where, "x", a.x);
  check.reach(where, "y", a.y);
  check.result(where, a.result, a.options.wait);
}

/// `check_arguments` in one test: short calls spend most time outside the kernel
/// (tuning/short_calls.md: plain).
bool plain(const dot_arguments& a) {
  const auto address = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  };
  if (!is_listed(std::max(a.x.element, a.y.element))) return false;
  const pair_rules& pair = rules_of(a.x.element, a.y.element);
  return (a.result.element == pair.rule || a.result.element == pair.widest) && !a.result.words &&
         a.conjugated <= conjugate::y && a.x.size == a.y.size && check::has_reach(a.x) &&
         check::has_reach(a.y) && a.x.data != nullptr && a.y.data != nullptr &&
         a.result.data != nullptr &&
         ((address(a.x.data) & pair.x_misaligned) | (address(a.y.data) & pair.y_misaligned) |
          (address(a.result.data) & (alignment_of(a.result.element) - 1))) == 0;
}

/// Pre: valid arguments, memory unchecked. The environment is set only here, as the checks before
/// compare integers (tuning/short_calls.md: environment).
void run(const executor& where, const dot_arguments& a) {
  const backends::default_environment environment(where.trusts_environment());
  if (check::is_needed(where)) check_reach(where, a);

  if (backends::is_exact(a.options, a.result)) {
    return where.backend()->exact(where, backends::exact_of(a));
  }

  if (in_order(a.x.element, a.y.element)) return where.backend()->dot(where, a);
  where.backend()->dot(where, in_order(a));
}

/// Whether the arguments are valid and, if in host memory, run on one thread.
template <class X>
bool is_plain(const executor& where, std::span<const X> x, std::span<const X> y, grade g) {
  const auto address = [](std::span<const X> v) {
    return reinterpret_cast<std::uintptr_t>(v.data());
  };
  const std::size_t n = x.size();
  return (where.backend() == &backends::simd::instance || where.backend() == nullptr) &&
         n == y.size() && n - 1 < openmp_from_bytes / (2 * sizeof(X)) - 1 && !g.is_exact() &&
         x.data() != nullptr && y.data() != nullptr &&
         ((address(x) | address(y)) & (alignof(X) - 1)) == 0;
}

/// Computes the product of vectors in any memory. Not inlined: the caller needs no frame.
template <class X>
[[gnu::noinline]] dot_result_t<X, X> dot_anywhere(const executor& where, std::span<const X> x,
                                                  std::span<const X> y, grade g) {
  using R = dot_result_t<X, X>;
  const void* const both[] = {x.data(), y.data()};
  const auto are_here = [&] {
    if (where.backend() != nullptr) return known_on_host(both);
    return (is_surely_on_host(both[0]) && is_surely_on_host(both[1])) || are_on_host(both);
  };
  if (is_plain(where, x, y, g) && are_here()) {
    return backends::simd::dot_of_numbers(where, x.data(), y.data(), x.size());
  }
  R r;
  dot(where,
      dot_arguments{as_operand(x), as_operand(y), conjugate::none, {&r, type_of<R>}, {g, true}});
  return r;
}

/// Bypasses run-time types for vectors on `simd`, also by `automatic()` (tuning/short_calls.md:
/// dot_of_numbers).
template <class X>
dot_result_t<X, X> dot_of_numbers(const executor& where, std::span<const X> x, std::span<const X> y,
                                  grade g) {
  if (memory_differs() || !is_plain(where, x, y, g)) return dot_anywhere(where, x, y, g);
  return backends::simd::dot_of_numbers(where, x.data(), y.data(), x.size());
}

}  // namespace

namespace dots {

double of_numbers(const executor& where, std::span<const double> x, std::span<const double> y,
                  grade g) {
  return dot_of_numbers(where, x, y, g);
}

float of_numbers(const executor& where, std::span<const float> x, std::span<const float> y,
                 grade g) {
  return dot_of_numbers(where, x, y, g);
}

float of_numbers(const executor& where, std::span<const float16> x, std::span<const float16> y,
                 grade g) {
  return dot_of_numbers(where, x, y, g);
}

float of_numbers(const executor& where, std::span<const bfloat16> x, std::span<const bfloat16> y,
                 grade g) {
  return dot_of_numbers(where, x, y, g);
}

std::int64_t of_numbers(const executor& where, std::span<const std::int8_t> x,
                        std::span<const std::int8_t> y, grade g) {
  return dot_of_numbers(where, x, y, g);
}

std::int64_t of_numbers(const executor& where, std::span<const std::uint8_t> x,
                        std::span<const std::uint8_t> y, grade g) {
  return dot_of_numbers(where, x, y, g);
}

}  // namespace dots

void check_arguments(const executor& where, const dot_arguments& a) {
  check_arguments(a);
  if (check::is_needed(where)) check_reach(where, a);
}

void dot(const executor& where, const dot_arguments& a) {
  if (!plain(a)) check_arguments(a);
  if (where.backend() != nullptr) return run(where, a);
  if (const executor* on_host = choose_on_host(a.x, a.y)) return run(*on_host, a);
  run(choose(a.x, a.y), a);
}

}  // namespace tally
