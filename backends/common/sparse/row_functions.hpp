// A function of one row of a sparse matrix, on host and device.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/types/typed_vector.hpp"

#include <tally/sparse/row_functions.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends {

/// Results of rows [0, rows), computed in A: float or double. `infinity_norm` is of magnitudes.
template <class A>
struct row_job {
  row_function what;
  row_bounds bounds;
  index_vector columns;
  typed_vector values, factors, results;
  std::int64_t rows;

  explicit row_job(const row_function_arguments& a)
      : what(a.what),
        bounds(a.a),
        columns(a.a.column_indices),
        values(a.a.values),
        factors(a.factors),
        results(operand(a.z)),
        rows(static_cast<std::int64_t>(a.what == row_function::diagonal ? a.z.size : a.a.rows)) {}

  /// Part of one of `lanes` threads: these share the values of `scale`; the first writes others.
  TALLY_HOST_DEVICE void write(std::size_t row, unsigned lane, unsigned lanes) const {
    if (what == row_function::scale) return scale(row, lane, lanes);
    if (lane != 0) return;
    what == row_function::diagonal ? write_diagonal(row) : write_largest(row);
  }

 private:
  using number = complex_number<A>;

  TALLY_HOST_DEVICE void put(std::size_t i, const number& value) const {
    const number one_nan = {canonical(value.re), canonical(value.im)};
    if (results.complex) {
      results.put(i, one_nan);
    } else {
      results.put(i, one_nan.re);
    }
  }
  TALLY_HOST_DEVICE void write_diagonal(std::size_t row) const {
    number sum{};
    bool is_first = true;
    const std::size_t begin = bounds.begin(row), end = bounds.end(row);
    const auto add = [&](const auto* all) {
      for (std::size_t k = begin; k < end; ++k) {
        if (all[k] != static_cast<std::int64_t>(row)) continue;
        const number value = values.template get<number>(k);
        sum = is_first ? value : number{sum.re + value.re, sum.im + value.im};
        is_first = false;
      }
    };
    if (columns.wide) {
      add(static_cast<const std::int64_t*>(columns.data));
    } else {
      add(static_cast<const std::int32_t*>(columns.data));
    }
    put(row, sum);
  }
  TALLY_HOST_DEVICE void write_largest(std::size_t row) const {
    A largest = 0;
    for (std::size_t k = bounds.begin(row); k < bounds.end(row); ++k) {
      const A value = values.template get<A>(k);
      if (value > largest || value != value) largest = value;  // a NaN stays
    }
    put(row, {largest, A{0}});
  }
  TALLY_HOST_DEVICE void scale(std::size_t row, unsigned lane, unsigned lanes) const {
    const number f = factors.template get<number>(row);
    const std::size_t begin = bounds.begin(row) + lane, end = bounds.end(row);
    if (values.number == type_of<A> && !values.complex && values.increment == 1 &&
        results.increment == 1) {  // no look at types for each value; results are of the same
      const A* const from = static_cast<const A*>(values.data);
      A* const to = static_cast<A*>(results.data);
      for (std::size_t k = begin; k < end; k += lanes) to[k] = canonical(from[k] * f.re);
      return;
    }
    for (std::size_t k = begin; k < end; k += lanes) {
      const number v = values.template get<number>(k);
      if (values.complex) {
        put(k, {v.re * f.re - v.im * f.im, v.re * f.im + v.im * f.re});
      } else {
        put(k, {v.re * f.re, A{0}});
      }
    }
  }
};

}  // namespace tally::backends
