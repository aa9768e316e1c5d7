// Subjects of measurement: pairs of types, and one product as candidates receive it.
#pragma once

#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/operations/histogram.hpp>
#include <tally/operations/multi_dot.hpp>
#include <tally/sparse/spmv.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

template <class X, class Y, class A = tally::dot_result_t<X, Y>>
struct pair {};

/// Pairs of element types with their accumulators, of --quick and of --full.
using quick_pairs = tally::type_list<pair<double, double>, pair<float, float>, pair<float, bool>>;
using pairs =
    tally::type_list<pair<double, double>, pair<float, float>, pair<float, bool>,
                     pair<float, float, double>, pair<tally::float16, tally::float16>,
                     pair<tally::bfloat16, tally::bfloat16>, pair<std::int8_t, std::int8_t>,
                     pair<std::complex<float>, std::complex<float>>,
                     pair<std::complex<double>, std::complex<double>>>;

using histogram_pairs = tally::type_list<pair<std::int32_t, std::int32_t, std::int32_t>,
                                         pair<std::uint8_t, std::int32_t, std::int32_t>,
                                         pair<float, std::int32_t, std::int32_t>>;

/// Segments with offsets, samples with indices.
using indexed_pairs = tally::type_list<pair<double, std::int32_t, double>>;

struct types {
  tally::type x;
  tally::type y;
  tally::type accumulator;

  friend bool operator==(const types&, const types&) = default;
};

template <class X, class Y, class A>
constexpr types types_of(pair<X, Y, A>) {
  return {tally::type_of<X>, tally::type_of<Y>, tally::type_of<A>};
}

template <class... P>
std::vector<types> list_of(tally::type_list<P...>) {
  return {types_of(P{})...};
}

template <class... P>
constexpr bool contains(tally::type_list<P...>, const types& t) {
  return ((types_of(P{}) == t) || ...);
}

/// "float32xbool"; with an accumulator of a third type, "float32xfloat32=float64".
std::string name(const types& t);

/// A product of x and y, or a function of x alone. Results: `max` the value, `iamax` the index, an
/// int64; `histogram` counts in y, checked by a checksum; `spmv` a matrix's product with x, `spmm`
/// with `rows` vectors in rows of X; `assembly` the matrix's values, from its entries in any order,
/// of rows y; `diagonal`, `row_norms` (sums of magnitudes) and `scale_rows`, by factors x.
/// `wrms_norm` has the weights y. `waxpby_nrm2` writes z = alpha x + y and returns its norm;
/// `axpy_dot` writes z = alpha x + z and returns its product with y. Element-wise functions
/// (elementwise.hpp), and `scan`, an inclusive one, write elements of x's type; those of three
/// vectors read them first. Updated vectors start as y.
///
/// Several results, z: `sums` of `rows` vectors, their products with y (`gemv`), y and their
/// multiples (`multi_axpy`), the sums of segments with offsets y (`segmented_sum`), and of elements
/// by indices y into `rows` results (`scatter_add`).
enum class operation {
  dot,
  sum,
  asum,
  nrm2,
  sum_of_squares,
  max_norm,
  wrms_norm,
  max,
  iamax,
  histogram,
  spmv,
  spmm,
  assembly,
  diagonal,
  row_norms,
  scale_rows,
  sums,
  gemv,
  multi_axpy,
  segmented_sum,
  scatter_add,
  waxpby_nrm2,
  axpy_dot,
  copy,
  axpy,
  waxpby,
  axpbypcz,
  add,
  mul,
  relu,
  sigmoid,
  exp,
  inv,
  abs,
  sqrt,
  log,
  tanh,
  sign,
  scale,
  add_constant,
  clamp,
  pow,
  compare_constant,
  div,
  minimum,
  maximum,
  compare,
  where,
  jacobi_step,
  scan
};

/// The library's functions of the operations from `copy` on, in their order.
inline constexpr tally::elementwise functions[] = {
    tally::elementwise::copy,         tally::elementwise::axpy,
    tally::elementwise::waxpby,       tally::elementwise::axpbypcz,
    tally::elementwise::add,          tally::elementwise::mul,
    tally::elementwise::relu,         tally::elementwise::sigmoid,
    tally::elementwise::exp,          tally::elementwise::inv,
    tally::elementwise::abs,          tally::elementwise::sqrt,
    tally::elementwise::log,          tally::elementwise::tanh,
    tally::elementwise::sign,         tally::elementwise::scale,
    tally::elementwise::add_constant, tally::elementwise::clamp,
    tally::elementwise::pow,          tally::elementwise::compare_constant,
    tally::elementwise::div,          tally::elementwise::minimum,
    tally::elementwise::maximum,      tally::elementwise::compare,
    tally::elementwise::where,        tally::elementwise::jacobi_step};
static_assert(static_cast<std::size_t>(operation::scan) ==
              static_cast<std::size_t>(operation::copy) + std::size(functions));

constexpr bool is_elementwise(operation what) { return what >= operation::copy; }
/// Whether a function applies to each element alone: all element-wise operations but `scan`.
constexpr bool has_function(operation what) {
  return is_elementwise(what) && what != operation::scan;
}
/// Pre: has_function.
constexpr tally::elementwise function_of(operation what) {
  return functions[static_cast<std::size_t>(what) - static_cast<std::size_t>(operation::copy)];
}
/// Vectors that a function reads, z with them; 1 for what is no function.
constexpr int vectors_read(operation what) {
  if (!has_function(what)) return 1;
  const tally::elementwise f = function_of(what);
  return tally::detail::reads_three(f) ? 3 : tally::detail::inputs(f);
}
/// Whether every library has an error, since exact results don't end.
constexpr bool is_transcendental(operation what) {
  return what == operation::sigmoid || what == operation::exp || what == operation::log ||
         what == operation::tanh;
}
constexpr bool is_fused(operation what) {
  return what == operation::waxpby_nrm2 || what == operation::axpy_dot;
}
constexpr bool has_several(operation what) {
  return what >= operation::sums && what <= operation::scatter_add;
}
constexpr bool has_matrix(operation what) {
  return what >= operation::spmv && what <= operation::scale_rows;
}
constexpr bool is_indexed(operation what) {
  return what == operation::segmented_sum || what == operation::scatter_add;
}
/// Whether z is written, from x_i, y_i and perhaps z_i.
constexpr bool writes(operation what) { return is_elementwise(what) || is_fused(what); }
/// Whether z is read before.
constexpr bool updates(operation what) {
  return (has_function(what) && vectors_read(what) == 3) || what == operation::axpy_dot ||
         what == operation::multi_axpy;
}

/// Leading elements that are checked.
inline constexpr std::size_t max_checked = std::size_t{1} << 20;

/// Location of x and y, and permitted threads.
struct workload {
  tally::operand x;
  tally::operand y;
  tally::type accumulator = tally::type::float64;
  int threads = 1;
  operation what = operation::dot;
  /// Products at once: x is the first of this many contiguous rows; so is y, or all share one y.
  /// The first is checked.
  std::size_t rows = 1;
  bool y_has_rows = false;
  tally::binning bins = tally::binning::keys;  ///< of histograms; y has as many elements
  void* z = nullptr;                           ///< output of element-wise functions and matrices
  tally::csr_operand matrix{};  ///< values of the accumulator's type, columns and offsets int32
  bool columns = false;         ///< of several: whether vectors are those of a row-major matrix
  bool transposes() const { return matrix.operation != tally::matrix_operation::none; }

  bool has_matrix() const { return bench::has_matrix(what); }
  /// Elements; nonzeros of a matrix.
  std::size_t size() const { return has_matrix() ? matrix.nonzeros() : x.size; }
  bool is_elementwise() const { return bench::is_elementwise(what); }
  /// Whether the result is z instead of a number.
  bool result_is_z() const { return is_elementwise() || has_matrix() || has_several(what); }
  /// Number of several results, or of a matrix's.
  std::size_t results() const {
    switch (what) {
      case operation::multi_axpy:
        return x.size;
      case operation::segmented_sum:
        return y.size - 1;
      case operation::spmv:
      case operation::row_norms:
        return matrix.height();
      case operation::spmm:
        return matrix.height() * rows;
      case operation::diagonal:
        return std::min(matrix.rows, matrix.columns);
      case operation::assembly:
      case operation::scale_rows:
        return matrix.nonzeros();
      default:
        return rows;
    }
  }
  /// The vectors of several.
  tally::operand_rows vectors() const {
    const auto n = static_cast<std::ptrdiff_t>(x.size), k = static_cast<std::ptrdiff_t>(rows);
    tally::operand_rows all{x, rows, columns ? 1 : n};
    if (columns) all.first.increment = k;
    return all;
  }
  bool x_alone() const {
    return vectors_read(what) == 1 && what != operation::dot && what != operation::wrms_norm &&
           !is_fused(what);
  }
  /// y where it is read, else empty.
  tally::operand y_read() const { return x_alone() ? tally::operand{} : y; }
  std::size_t result_bytes() const {
    if (is_elementwise()) return std::min(size(), max_checked) * size_of(x.element);
    if (has_matrix() || has_several(what)) return results() * size_of(accumulator);
    return what == operation::iamax ? sizeof(std::int64_t) : size_of(accumulator);
  }
  std::size_t rows_of_y() const { return x_alone() ? 0 : y_has_rows ? rows : 1; }
  /// Minimal traffic. Of a matrix: the arrays that are read, and the results, once each.
  std::size_t bytes() const {
    if (has_matrix()) {
      const auto of = [](const tally::operand& v) { return v.size * size_of(v.element); };
      const bool reads_values = what != operation::diagonal;
      const bool reads_columns = what != operation::row_norms && what != operation::scale_rows;
      return (reads_values ? of(matrix.values) : 0) +
             of(matrix.column_indices) * (what == operation::assembly ? 2
                                          : reads_columns             ? 1
                                                                      : 0) +
             of(matrix.row_offsets) + of(x) + of(y) + result_bytes();
    }
    if (has_several(what)) {
      const std::size_t of_x = x.size * size_of(x.element), of_y = y.size * size_of(y.element);
      if (is_indexed(what)) {
        return of_x + of_y + result_bytes() * (what == operation::scatter_add ? 2 : 1);
      }
      return rows * of_x + (what == operation::sums ? 0 : of_y) + result_bytes();
    }
    const std::size_t of_z = (writes(what) ? 1u : 0u) + (updates(what) ? 1u : 0u);
    return size() * ((rows + of_z) * size_of(x.element) + rows_of_y() * size_of(y.element));
  }
};

/// Calls f(x, y, std::type_identity<A>) with the operands as typed spans, for a pair of `List`.
template <class List = pairs, class F>
void visit(const workload& w, F&& f) {
  const types wanted = {w.x.element, w.y.element, w.accumulator};
  const auto one = [&]<class X, class Y, class A>(pair<X, Y, A> candidate) {
    if (types_of(candidate) != wanted) return;
    f(std::span(static_cast<const X*>(w.x.data), w.x.size),
      std::span(static_cast<const Y*>(w.y.data), w.y.size), std::type_identity<A>{});
  };
  [&]<class... P>(tally::type_list<P...>) { (one(P{}), ...); }(List{});
}

/// Calls f(matrix, x, z) with a matrix and vectors in float or double.
template <class F>
void visit_matrix(const workload& w, F&& f) {
  workload of_values = w;
  of_values.y.element = w.x.element;  // else an assembly's row indices
  visit<tally::type_list<pair<double, double>, pair<float, float>>>(
      of_values, [&]<class T>(std::span<const T> x, auto, auto) {
        using indices = std::span<const std::int32_t>;
        const auto of = [](const tally::operand& v) {
          return indices(static_cast<const std::int32_t*>(v.data), v.size);
        };
        const tally::csr_operand& a = w.matrix;
        const std::span values(static_cast<const T*>(a.values.data), a.values.size);
        f(tally::csr_view<T>{a.rows, a.columns, of(a.row_offsets), of(a.column_indices), values},
          x.data(), static_cast<T*>(w.z));
      });
}

/// x * y in A, as in a plain loop. Complex by parts: std::complex's operator checks for infinities,
/// which no BLAS does.
template <class A, class X, class Y>
TALLY_HOST_DEVICE constexpr A term(const X& x, const Y& y) {
  if constexpr (tally::is_complex_v<A>) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else {
    return static_cast<A>(x) * static_cast<A>(y);
  }
}

/// Threads of rows on "all threads": OMP_NUM_THREADS, or the number of processors.
int all_threads();

}  // namespace bench
