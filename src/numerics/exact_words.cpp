// Public rounding of exact sums.
#include <tally/error.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/reduce.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

namespace tally {
namespace {

operand words_per(const round_arguments& a) {
  return {a.words, a.count * exact_words(a.sum), 1, type::int64};
}

operand results_of(const round_arguments& a) {
  return {a.result.data, a.count, 1, a.result.element};
}

void check_arguments(const check& check, const round_arguments& a) {
  check.known_type("the exact sum", a.sum);
  check.known_type("result", a.result.element);
  if (exact_words(a.sum) == 0) {
    check.fail(errc::unsupported_type, "the exact sum is of ", name(a.sum),
               "; it can be of float32, float64, complex64 or complex128");
  }
  if (a.count > max_elements / exact_words(a.sum)) {  // negative, from C or Fortran
    check.fail(errc::invalid_argument, "there are ", a.count, " sums; there can be ",
               max_elements / exact_words(a.sum));
  }
  const type part = part_of(a.result.element);
  if (a.result.words || is_complex(a.result.element) != is_complex(a.sum) ||
      (part != type::float32 && part != type::float64)) {
    check.fail(errc::unsupported_type, "the result is ", name(a.result.element),
               "; an exact sum of ", name(a.sum), " gives ",
               is_complex(a.sum) ? "complex64 or complex128" : "float32 or float64");
  }
  if (a.root && is_complex(a.sum)) {
    check.fail(errc::unsupported_type, "the exact sum is of ", name(a.sum),
               "; roots are those of real sums");
  }
  if (a.count == 0) return;
  check.vector("words", words_per(a));
  check.pointer("result", a.result.data, a.result.element, a.count);
  check_apart(check, "words", words_per(a), "result", results_of(a));
}

void run(const check& check, const executor& where, const round_arguments& a) {
  if (check::is_needed(where)) {
    check.reach(where, "words", a.words);
    check.result(where, a.result, a.wait);
  }
  backends::round_words(where, a);
}

}  // namespace

void round_words(const executor& where, const round_arguments& a) {
  const backends::default_environment environment;
  const check check{a.root ? "tally::round_root_words" : "tally::round_words"};
  check_arguments(check, a);
  if (a.count == 0) return;
  run(check, where.backend() != nullptr ? where : choose(words_per(a)), a);
}

void detail::refuse_sums(const char* function, std::size_t sums, std::size_t needed) {
  check{function}.fail(errc::size_mismatch, "there are ", sums, " exact sums and should be ",
                       needed);
}

}  // namespace tally
