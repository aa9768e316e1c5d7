// Public functions of a sparse matrix's rows.
#include <tally/buffer.hpp>
#include <tally/error.hpp>
#include <tally/numerics/exact_sum.hpp>
#include <tally/numerics/order.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/sparse/row_functions.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/sparse/row_functions.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/serial/order.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/sparse/matrix_checks.hpp"
#include "src/sparse/parts.hpp"
#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#endif
#if TALLY_HAS_KOKKOS
#include "backends/kokkos/kokkos.hpp"
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tally {
namespace {

const char* name_of(row_function what) {
  return what == row_function::diagonal ? "tally::diagonal"
         : what == row_function::scale  ? "tally::scale_rows"
                                        : "tally::row_norms";
}
const char* output_of(row_function what) {
  return what == row_function::diagonal ? "d" : what == row_function::scale ? "z" : "r";
}

bool is_norm(row_function what) {
  return what == row_function::one_norm || what == row_function::infinity_norm;
}

void check_types(const check& check, const row_function_arguments& a) {
  const type value = a.a.values.element, z = a.z.element;
  check.known_type(output_of(a.what), z);
  bool valid = true;
  if (a.what == row_function::diagonal) valid = detail::takes_diagonal(value, z);
  if (is_norm(a.what)) valid = detail::takes_norms(value, z);
  if (a.what == row_function::scale) {
    check.known_type("d", a.factors.element);
    valid = value == z;
    if (!detail::takes_factors(value, a.factors.element)) {
      check.fail(errc::unsupported_type, "d is ", name(a.factors.element), ", values is ",
                 name(value));
    }
  }
  if (!valid) {
    check.fail(errc::unsupported_type, output_of(a.what), " is ", name(z), ", values is ",
               name(value));
  }
}

void check_size(const check& check, const char* name, const operand& v, std::size_t n) {
  if (v.size != n) {
    check.fail(errc::size_mismatch, name, " has ", v.size, " elements; the matrix needs ", n);
  }
}

void check_arguments(const check& check, const row_function_arguments& a) {
  check.enumerator("what", a.what, row_function::scale, "functions");
  check_matrix(check, a.a);
  if (a.a.operation != matrix_operation::none) {
    check.fail(errc::invalid_argument,
               "the matrix is transposed; functions of rows take it as it is");
  }
  check_types(check, a);
  const char* const z = output_of(a.what);
  check.vector(z, a.z);
  const bool scales = a.what == row_function::scale;
  check_size(check, z, a.z,
             scales                             ? a.a.nonzeros()
             : a.what == row_function::diagonal ? std::min(a.a.rows, a.a.columns)
                                                : a.a.rows);
  if (scales) {
    check.vector("d", a.factors);
    check_size(check, "d", a.factors, a.a.rows);
    check_apart(check, "d", a.factors, z, a.z);
    check_apart_or_same(check, "values", a.a.values, z, a.z);
  } else {
    check_apart(check, "values", a.a.values, z, a.z);
  }
  check_apart(check, "row_offsets", a.a.row_offsets, z, a.z);
  check_apart(check, "column_indices", a.a.column_indices, z, a.z);
  if (a.a.row_ends) check_apart(check, "row_ends", *a.a.row_ends, z, a.z);
}

/// A host executor's threads, each with some rows.
template <class A>
void write_on_host(const executor& where, const row_function_arguments& a) {
  const backends::row_job<A> job(a);
  for_each_part(where, name_of(a.what), static_cast<std::size_t>(job.rows),
                [&](std::size_t, std::size_t first, std::size_t n) {
                  for (std::size_t i = first; i < first + n; ++i) job.write(i, 0, 1);
                });
}

void write(const executor& where, const row_function_arguments& a) {
  const bool in_double =
      part_of(a.a.values.element) == type::float64 || part_of(a.z.element) == type::float64 ||
      (a.what == row_function::scale && part_of(a.factors.element) == type::float64);
#if TALLY_HAS_CUDA
  if (where.backend() == &backends::cuda::instance) {
    return backends::cuda::apply_to_rows(where, a, in_double);
  }
#endif
#if TALLY_HAS_KOKKOS
  if (!where.backend()->is_on_host) return backends::kokkos::apply_to_rows(where, a, in_double);
#endif
  in_double ? write_on_host<double>(where, a) : write_on_host<float>(where, a);
}

/// Norms of type R of rows on a CPU, from magnitudes of type V in blocks on the stack.
template <class R, class V>
class host_norms {
 public:
  /// @param one a thread's executor, for blocks.
  host_norms(const executor& one, const row_function_arguments& a)
      : one_(one), a_(a), bounds_(a.a) {}

  void write(std::size_t first, std::size_t n) const {
    for (const std::size_t end = first + n; first < end;) {
      if (a_.what == row_function::one_norm && bounds_.length(first) <= order::chunk) {
        first += write_sums(first, end);
      } else {
        const R norm =
            a_.what == row_function::one_norm ? sum_of_long_row(first) : largest_of(first);
        *result(first) = backends::canonical(norm);
        ++first;
      }
    }
  }

 private:
  using magnitudes = std::array<V, order::chunk>;

  R* result(std::size_t row) const {
    return static_cast<R*>(a_.z.data) + static_cast<std::ptrdiff_t>(row) * a_.z.increment;
  }

  /// Pre: n > 0, at most a chunk.
  void find_magnitudes(std::size_t begin, std::size_t n, magnitudes& to) const {
    transform_arguments abs;
    abs.what = elementwise::abs;
    abs.x = a_.a.values.slice(begin, n);
    abs.z = {to.data(), n, 1, type_of<V>};
    backends::transform(one_, abs,
                        detail::computation_type(abs.what, abs.x.element, abs.x.element));
  }

  /// Writes sums of adjacent rows from `first` that fit into a block. Returns their number.
  std::size_t write_sums(std::size_t first, std::size_t end) const {
    alignas(64) magnitudes block;
    std::array<std::int64_t, 129> offsets{};
    const std::size_t begin = bounds_.begin(first);
    std::size_t rows = 0, terms = 0;
    while (first + rows < end && rows + 1 < offsets.size() &&
           bounds_.begin(first + rows) == begin + terms &&
           terms + bounds_.length(first + rows) <= order::chunk) {
      terms += bounds_.length(first + rows);
      offsets[++rows] = static_cast<std::int64_t>(terms);
    }
    if (terms > 0) find_magnitudes(begin, terms, block);
    backends::csr_product sums;
    sums.a.rows = rows;
    sums.a.columns = a_.a.columns;
    sums.a.row_offsets = {offsets.data(), rows + 1, 1, type::int64};
    sums.a.column_indices = a_.a.column_indices.slice(begin, terms);
    sums.a.values = {block.data(), terms, 1, type_of<V>};
    sums.x = {nullptr, 0, 1, type_of<R>};
    sums.y = {result(first), rows, a_.z.increment, type_of<R>};
    sums.options = {a_.grade, false};
    backends::spmv(one_, sums);
    return rows;
  }

  /// Calls f(magnitude, n) for the chunks of a row.
  template <class F>
  void for_each_chunk(std::size_t row, const F& f) const {
    alignas(64) magnitudes block;
    const std::size_t end = bounds_.end(row);
    for (std::size_t k = bounds_.begin(row); k < end; k += order::chunk) {
      const std::size_t n = std::min(order::chunk, end - k);
      find_magnitudes(k, n, block);
      f([&](std::size_t i) { return backends::rounded<R>(block[i]); }, n);
    }
  }

  R sum_of_long_row(std::size_t row) const {
    if (a_.grade.is_exact()) {
      exact_sum<double> sum;
      for_each_chunk(row, [&](const auto& magnitude, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) sum.add(magnitude(i));
      });
      return sum.template round<R>();
    }
    backends::tree<R> chunks;
    for_each_chunk(row, [&](const auto& magnitude, std::size_t n) {
      chunks.add(backends::serial::sum_chunk<R>(0, n, magnitude));
    });
    return chunks.total();
  }

  /// A NaN stays. Magnitudes are compared in lanes.
  R largest_of(std::size_t row) const {
    std::array<R, 8> lane{};
    bool is_number = true;
    const auto take = [&](R& to, R value) {
      to = value > to ? value : to;
      is_number &= value == value;
    };
    const auto take_all = [&](const auto& magnitude, std::size_t n) {
      std::size_t i = 0;
      for (; i + lane.size() <= n; i += lane.size()) {
        for (std::size_t l = 0; l < lane.size(); ++l) take(lane[l], magnitude(i + l));
      }
      for (std::size_t l = 0; i < n; ++i, ++l) take(lane[l], magnitude(i));
    };
    if (is_complex(a_.a.values.element)) {
      for_each_chunk(row, take_all);
    } else {
      const V* const first = static_cast<const V*>(a_.a.values.data) + bounds_.begin(row);
      take_all([=](std::size_t i) { return std::abs(backends::rounded<R>(first[i])); },
               bounds_.length(row));
    }
    return is_number ? *std::ranges::max_element(lane) : std::numeric_limits<R>::quiet_NaN();
  }

  const executor& one_;
  const row_function_arguments& a_;
  backends::row_bounds bounds_;
};

/// Norms, by the threads of a host executor.
void write_norms_on_host(const executor& where, const row_function_arguments& a) {
  const bool is_one = where.name() == "serial" || where.name() == "simd";
  const executor one = is_one ? where : simd();
  backends::with_type<type_list<float, double>>(a.z.element, [&]<class R>() {
    backends::with_type<floating_point_types>(part_of(a.a.values.element), [&]<class V>() {
      const host_norms<R, V> norms(one, a);
      for_each_part(where, name_of(a.what), a.a.rows,
                    [&](std::size_t, std::size_t first, std::size_t n) { norms.write(first, n); });
    });
  });
}

/// Norms, of magnitudes in memory of their own.
void write_norms_on_device(const executor& where, const row_function_arguments& a) {
#if TALLY_HAS_CUDA
  if (where.backend() == &backends::cuda::instance) {
    backends::cuda::refuse_capture(where, "row_norms");
  }
#endif
  const type magnitude = part_of(a.a.values.element);
  const std::size_t n = a.a.nonzeros();
  const buffer memory(where, std::max<std::size_t>(n, 1) * size_of(magnitude));
  const output_operand magnitudes{memory.get(), n, 1, magnitude};
  transform_arguments abs;
  abs.what = elementwise::abs;
  abs.x = a.a.values;
  abs.z = magnitudes;
  transform(where, abs);
  row_function_arguments of_magnitudes = a;
  of_magnitudes.a.values = magnitudes;
  if (a.what == row_function::infinity_norm) return write(where, of_magnitudes);
  backends::csr_product product;
  product.a = of_magnitudes.a;
  product.x = {nullptr, 0, 1, a.z.element};
  product.y = a.z;
  product.options = {a.grade, false};
  backends::spmv(where, product);
}

void write_norms(const executor& where, const row_function_arguments& a) {
  where.backend()->is_on_host ? write_norms_on_host(where, a) : write_norms_on_device(where, a);
}

}  // namespace

void apply_to_rows(const executor& where, const row_function_arguments& a) {
  const backends::default_environment environment;
  const check check{name_of(a.what)};
  check_arguments(check, a);
  const executor on = where.backend() != nullptr
                          ? where
                          : choose(a.a.values, a.a.column_indices, a.a.row_offsets, a.z);
  check_reach(check, on, a.a);
  if (check::is_needed(on)) {
    if (a.what == row_function::scale) check.reach(on, "d", a.factors);
    check.reach(on, output_of(a.what), a.z);
  }
  if (on.backend()->is_on_host && !a.a.row_ends) check_ends(check, a.a);
  if (a.z.size == 0) return;
  is_norm(a.what) ? write_norms(on, a) : write(on, a);
}

}  // namespace tally
