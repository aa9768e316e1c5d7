// Public functions of a sparse matrix's rows.
#include <tally/buffer.hpp>
#include <tally/error.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/sparse/row_functions.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/sparse/row_functions.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/sparse/matrix_checks.hpp"
#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#endif

#include <algorithm>

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
  backends::row_job<A> job(a);
  const part_calls calls{&job, [](void* context, std::size_t, std::size_t first, std::size_t n) {
                           const auto& rows = *static_cast<const backends::row_job<A>*>(context);
                           for (std::size_t i = first; i < first + n; ++i) rows.write(i, 0, 1);
                         }};
  where.backend()->for_each_part(where, name_of(a.what), static_cast<std::size_t>(job.rows), calls);
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
  in_double ? write_on_host<double>(where, a) : write_on_host<float>(where, a);
}

void write_norms(const executor& where, const row_function_arguments& a) {
#if TALLY_HAS_CUDA
  if (where.backend() == &backends::cuda::instance)
    backends::cuda::refuse_capture(where, "row_norms");
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
  where.backend()->spmv(where, product);
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
  if (on.backend()->reaches(on, backends::place{}) && !a.a.row_ends) check_ends(check, a.a);
  if (a.z.size == 0) return;
  is_norm(a.what) ? write_norms(on, a) : write(on, a);
}

}  // namespace tally
