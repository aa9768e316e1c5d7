// Type-erased sums over ranks, for `tally::mpi` and `tally::nccl`.
#pragma once

#include <tally/dot.hpp>
#include <tally/error.hpp>
#include <tally/exact_words.hpp>
#include <tally/interval_sum.hpp>
#include <tally/multi_dot.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tally::distributed {

/// @throws error size_mismatch, beginning with `caller`.
inline void check_size(const char* caller, const operand& v, std::size_t size) {
  if (v.size == size) return;
  throw error(errc::size_mismatch,
              std::string(caller) + ": a vector has " + std::to_string(v.size) +
                  " elements, this rank's part of the layout has " + std::to_string(size));
}

/// Equal terms, types and conjugation.
struct sums {
  summand what = summand::product;
  conjugate conjugated = conjugate::none;
  type result = type::float64;
  std::vector<interval_field> fields;  ///< this rank's parts of the vectors

  /// Accumulator of the default grade: complex if an operand is.
  type accumulator() const noexcept {
    const bool has_parts = !fields.empty() && is_complex(fields[0].x.element);
    return has_parts ? complex_of(part_of(result)) : result;
  }
  /// Pre: at least one field.
  type exact_sum() const noexcept {
    const interval_field& f = fields[0];
    const operand& y = what == summand::product ? f.y : f.x;
    return exact_sum_type(f.x.element, y.element, result);
  }
  /// @throws error size_mismatch.
  void check_size(const char* caller, std::size_t size) const {
    for (const interval_field& field : fields) {
      distributed::check_size(caller, field.x, size);
      if (what == summand::product) distributed::check_size(caller, field.y, size);
    }
  }
};

/// `dot` or `dotc` in R.
template <class R, class X, class Y>
sums products(const X& x, const Y& y, conjugate conjugated) {
  return {
      summand::product, conjugated, type_of<R>, {{summand::product, as_operand(x), as_operand(y)}}};
}

/// `sum`, `asum` or `nrm2`.
template <reduction what, class R, class X>
sums elements(const X& x) {
  constexpr summand terms = what == reduction::sum    ? summand::value
                            : what == reduction::asum ? summand::magnitude
                                                      : summand::square;
  return {terms, conjugate::none, type_of<R>, {{terms, as_operand(x)}}};
}

/// `multi_dot` or `multi_dotc`.
template <class R>
sums pairs(const dot_pairs& pairs, conjugate conjugated) {
  sums all{summand::product, conjugated, type_of<R>, {}};
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    all.fields.push_back({summand::product, pairs[j].x, pairs[j].y});
  }
  return all;
}

/// Accumulator of `multi_dot` for a row and a vector.
template <class X, class Y, class R>
using rows_result = dots::accumulator<R, multi_dots::row_of<X>, Y>;
/// Accumulator of `multi_dot` for a pair.
template <class L, class R>
using pairs_result = dots::accumulator<R, multi_dots::x_of<L>, multi_dots::y_of<L>>;

}  // namespace tally::distributed
