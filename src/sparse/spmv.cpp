// Public `spmv` and `spmm`, their plan, and `validate`.
#include <tally/error.hpp>
#include <tally/sparse/spmm.hpp>
#include <tally/sparse/spmv.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/sparse/csr.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/sparse/matrix_checks.hpp"

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>

namespace tally {
namespace {

template <class Value, class... X>
constexpr bool as_of_dot(type_list<X...>) {
  return (... && (detail::spmv_accumulator(type_of<Value>, type_of<X>) ==
                  type_of<dot_result_t<Value, X>>));
}
static_assert([]<class... Value>(type_list<Value...>) {
  return (... && as_of_dot<Value>(detail::spmv_vector_types{}));
}(detail::matrix_value_types{}));

void check_indices(const check& check, const char* name, const operand& v) {
  check.known_type(name, v.element);
  if (!is_in<type_list<std::int32_t, std::int64_t>>(v.element)) {
    check.fail(errc::unsupported_type, name, " is ", tally::name(v.element),
               "; it may be int32 or int64");
  }
  check.vector(name, v);
}

void check_row_ends(const check& check, const csr_operand& a, const operand& ends) {
  check.known_type("row_ends", ends.element);
  if (ends.element != a.row_offsets.element) {
    check.fail(errc::unsupported_type, "row_ends is ", name(ends.element), ", row_offsets ",
               name(a.row_offsets.element), "; they have one type");
  }
  check.vector("row_ends", ends);
  if (ends.size != a.rows) {
    check.fail(errc::size_mismatch, "row_ends has ", ends.size, " elements; ", a.rows,
               " rows need ", a.rows);
  }
  if (ends.increment != 1) {
    check.fail(errc::invalid_argument, "the matrix's arrays must be contiguous");
  }
}

}  // namespace

void check_matrix(const check& check, const csr_operand& a) {
  check_indices(check, "row_offsets", a.row_offsets);
  check_indices(check, "column_indices", a.column_indices);
  check.known_type("values", a.values.element);
  if (!is_in<detail::matrix_value_types>(a.values.element)) {
    check.fail(errc::unsupported_type, "values is ", name(a.values.element),
               "; it may be a floating-point or complex type");
  }
  check.vector("values", a.values);
  check.enumerator("the matrix's operation", a.operation, matrix_operation::conjugate_transpose,
                   "operations");
  if (a.row_ends) check_row_ends(check, a, *a.row_ends);
  if (a.rows >= max_elements || a.columns > max_elements) {
    check.fail(errc::invalid_argument, "the matrix has ", a.rows, " rows and ", a.columns,
               " columns; there can be ", max_elements);
  }
  const std::size_t offsets = a.row_ends ? a.rows : a.rows + 1;
  if (a.row_offsets.size != offsets) {
    check.fail(errc::size_mismatch, "row_offsets has ", a.row_offsets.size, " elements; ", a.rows,
               " rows need ", offsets, a.row_ends ? " beside row_ends" : "");
  }
  if (a.column_indices.size != a.values.size) {
    check.fail(errc::size_mismatch, "column_indices has ", a.column_indices.size,
               " elements, values has ", a.values.size);
  }
  check.offsets("row_offsets", a.row_offsets.element, "values", a.nonzeros());
  if (a.row_offsets.increment != 1 || a.column_indices.increment != 1 || a.values.increment != 1) {
    check.fail(errc::invalid_argument, "the matrix's arrays must be contiguous");
  }
}

void check_reach(const check& check, const executor& where, const csr_operand& a) {
  if (!check::is_needed(where)) return;
  check.reach(where, "row_offsets", a.row_offsets);
  check.reach(where, "column_indices", a.column_indices);
  check.reach(where, "values", a.values);
  if (a.row_ends) check.reach(where, "row_ends", *a.row_ends);
}

void check_ends(const check& check, const csr_operand& a) {
  const backends::index_vector offsets(a.row_offsets);
  if (offsets[0] != 0) {
    check.fail(errc::invalid_argument, "row_offsets[0] is ", offsets[0], "; it must be 0");
  }
  if (offsets[a.rows] != static_cast<std::int64_t>(a.nonzeros())) {
    check.fail(errc::invalid_argument, "row_offsets[", a.rows, "] is ", offsets[a.rows],
               "; values has ", a.nonzeros(), " elements");
  }
}

namespace {

[[noreturn]] void fail_defect(const check& check, const csr_operand& a,
                              const backends::csr_defect& defect) {
  using kind = backends::csr_defect::kind;
  switch (defect.what) {
    case kind::first_offset:
      check.fail(errc::invalid_argument, "row_offsets[0] is ", defect.value, "; it must be 0");
    case kind::decreasing_offset:
      check.fail(errc::invalid_argument, "row ", defect.index, " ends at ", defect.value,
                 ", before it starts at ", defect.before);
    case kind::last_offset:
      check.fail(errc::invalid_argument, "row_offsets[", defect.index, "] is ", defect.value,
                 "; values has ", a.nonzeros(), " elements");
    case kind::early_row:
      check.fail(errc::invalid_argument, "row ", defect.index, " starts at ", defect.value);
    case kind::late_row:
      check.fail(errc::invalid_argument, "row ", defect.index, " ends at ", defect.value,
                 "; values has ", a.nonzeros(), " elements");
    default:
      check.fail(errc::invalid_argument, "column_indices[", defect.index, "] is ", defect.value,
                 "; there are ", a.columns, " columns");
  }
}

void check_factor(const check& check, const char* name, const scalar& s, type computation) {
  check.known_type(name, s.element);
  if (!detail::multiplies(s.element, computation)) {
    check.fail(errc::unsupported_type, name, " is ", tally::name(s.element),
               "; the computation is in ", tally::name(computation));
  }
}

/// Whether the product has its plan's very arrays, checked then.
bool is_planned(const spmv_arguments& a) {
  if (a.plan == nullptr) return false;
  const csr_operand& of = a.plan->matrix();
  const auto is_same = [](const operand& x, const operand& y) {
    return x.data == y.data && x.size == y.size && x.element == y.element && x.increment == 1;
  };
  return of.rows == a.a.rows && of.columns == a.a.columns && of.operation == a.a.operation &&
         is_same(a.a.row_offsets, of.row_offsets) &&
         is_same(a.a.column_indices, of.column_indices) && is_same(a.a.values, of.values) &&
         !a.a.row_ends && !of.row_ends;
}

void check_plan_of_matrix(const check& check, const spmv_arguments& a) {
  const csr_operand& of = a.plan->matrix();
  const auto is_elsewhere = [](const operand& x, const operand& y) {
    return x.data != y.data || x.element != y.element;
  };
  if (of.rows != a.a.rows || of.columns != a.a.columns || of.nonzeros() != a.a.nonzeros() ||
      of.row_ends.has_value() != a.a.row_ends.has_value() ||
      is_elsewhere(of.row_offsets, a.a.row_offsets)) {
    check.fail(
        errc::invalid_argument, "the plan is of another matrix, of ", of.rows, " rows, ",
        of.columns, " columns and ", of.nonzeros(), " values; this one has ", a.a.rows, ", ",
        a.a.columns, " and ", a.a.nonzeros(),
        of.row_offsets.data != a.a.row_offsets.data ? ", and its row_offsets elsewhere" : "");
  }
  // A plan of the conjugate transpose also serves the transpose: it stores no conjugates.
  const bool transposes = a.a.operation != matrix_operation::none;
  if (transposes != (a.plan->transpose() != nullptr)) {
    check.fail(errc::invalid_argument, "the plan is of ",
               transposes ? "the matrix" : "its transpose", "; the product is with ",
               transposes ? "its transpose" : "the matrix");
  }
  if (a.a.row_ends && is_elsewhere(*of.row_ends, *a.a.row_ends)) {
    check.fail(errc::invalid_argument, "the plan is of a matrix with its row_ends elsewhere");
  }
  if ((transposes || a.plan->has_fixed_columns()) &&
      is_elsewhere(of.column_indices, a.a.column_indices)) {
    check.fail(errc::invalid_argument, "the plan is of a matrix with its column_indices elsewhere");
  }
  if (a.plan->has_fixed_values() && is_elsewhere(of.values, a.a.values)) {
    check.fail(errc::invalid_argument,
               "the plan was made with fixed_values, of a matrix with its values elsewhere");
  }
}

void check_plan(const check& check, const executor& where, const spmv_arguments& a) {
  const executor& made = a.plan->where();
  if (made.backend() != where.backend() || made.device() != where.device()) {
    check.fail(errc::invalid_argument, "the plan was made on ", made.description(),
               "; the product is on ", where.description());
  }
  if (!is_planned(a)) check_plan_of_matrix(check, a);
  if (a.plan->is_queued() || a.plan->analysis() == nullptr) a.plan->wait();
}

const char* output_of(const spmv_arguments& a) { return a.added ? "w" : "y"; }

/// Pre: valid matrix.
void check_types(const check& check, const spmv_arguments& a) {
  const char* const y = output_of(a);
  check.known_type("x", a.x.element);
  check.known_type(y, a.y.element);
  if (!detail::gives_product(a.a.values.element, a.x.element, a.y.element)) {
    check.fail(errc::unsupported_type, "values is ", name(a.a.values.element), ", x ",
               name(a.x.element), ", ", y, " ", name(a.y.element), "; x and ", y,
               " are float32, float64, or complex, and ", y,
               " is complex where one of the others is");
  }
  const type accumulator = detail::spmv_accumulator(a.a.values.element, a.x.element);
  const type combination = detail::spmv_combination(accumulator, a.y.element);
  check_factor(check, "alpha", a.alpha, combination);
  check_factor(check, "beta", a.beta, combination);
}

void check_arguments(const check& check, const spmv_arguments& a) {
  if (a.options.wait) {
    check.fail(errc::invalid_argument, "options.wait is set; there is no form that waits");
  }
  check_matrix(check, a.a);
  check_types(check, a);
  const char* const y = output_of(a);
  const char* const of_matrix = a.a.operation == matrix_operation::none
                                    ? " elements, the matrix "
                                    : " elements, the transpose ";
  if (a.x.size != a.a.width()) {
    check.fail(errc::size_mismatch, "x has ", a.x.size, of_matrix, a.a.width(), " columns");
  }
  if (a.y.size != a.a.height()) {
    check.fail(errc::size_mismatch, y, " has ", a.y.size, of_matrix, a.a.height(), " rows");
  }
  check.vector("x", a.x);
  check.vector(y, a.y);
  check_apart(check, "x", a.x, y, a.y);
  check_apart(check, "values", a.a.values, y, a.y);
  check_apart(check, "column_indices", a.a.column_indices, y, a.y);
  check_apart(check, "row_offsets", a.a.row_offsets, y, a.y);
  if (a.a.row_ends) check_apart(check, "row_ends", *a.a.row_ends, y, a.y);
  if (!a.added) return;
  check.known_type("y", a.added->element);
  if (a.added->element != a.y.element) {
    check.fail(errc::unsupported_type, "y is ", name(a.added->element), ", w ", name(a.y.element));
  }
  check.same_size("y", *a.added, "w", a.y);
  check.vector("y", *a.added);
  check_apart_or_same(check, "y", *a.added, "w", a.y);
}

/// Whether `check_arguments` passes, for one real type, three arrays and contiguous nonempty
/// vectors. Comparisons only, for tiny matrices.
bool is_plain(const spmv_arguments& a) {
  const csr_operand& m = a.a;
  const type t = a.y.element;
  const auto is_index = [](type i) { return i == type::int32 || i == type::int64; };
  const type i = m.row_offsets.element, j = m.column_indices.element;
  if ((t != type::float64 && t != type::float32) || m.values.element != t || a.x.element != t ||
      !is_index(i) || !is_index(j) || !is_real(a.alpha.element) || !is_real(a.beta.element) ||
      a.added || a.options.wait || m.row_ends || m.operation != matrix_operation::none) {
    return false;
  }
  const std::size_t max_nonzeros = i == type::int32 ? max_int32 : max_elements;
  if (m.rows >= max_elements || m.columns >= max_elements || m.values.size > max_nonzeros ||
      m.row_offsets.size != m.rows + 1 || m.column_indices.size != m.values.size ||
      a.x.size != m.columns || a.y.size != m.rows) {
    return false;
  }
  const bool contiguous = m.row_offsets.increment == 1 && m.column_indices.increment == 1 &&
                          m.values.increment == 1 && a.x.increment == 1 && a.y.increment == 1;
  if (!contiguous) return false;
  const std::size_t bytes = t == type::float64 ? 8 : 4;
  const std::size_t offset_bytes = i == type::int64 ? 8 : 4;
  const std::size_t column_bytes = j == type::int64 ? 8 : 4;
  const auto y = reinterpret_cast<std::uintptr_t>(a.y.data);
  const std::size_t y_bytes = m.rows * bytes;
  const auto is_right = [&](const operand& v, std::size_t element_bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(v.data);
    return v.data != nullptr && begin % element_bytes == 0 && begin - y >= y_bytes &&
           y - begin >= v.size * element_bytes;
  };
  return a.y.data != nullptr && y % bytes == 0 && is_right(a.x, bytes) &&
         is_right(m.values, bytes) && is_right(m.column_indices, column_bytes) &&
         is_right(m.row_offsets, offset_bytes);
}

/// Chooses by the matrix's memory and size.
executor choose(const csr_operand& a) { return choose(a.values, a.column_indices, a.row_offsets); }

void check_reachable(const check& check, const executor& where, const csr_operand& a) {
  check_matrix(check, a);
  check_reach(check, where, a);
}

void check_defect(const check& check, const csr_operand& a, const backends::csr_defect& defect) {
  if (defect.what != backends::csr_defect::kind::none) fail_defect(check, a, defect);
}

void check_whole(const check& check, const executor& where, const csr_operand& a) {
  check_reachable(check, where, a);
  check_defect(check, a, backends::find_defect(where, a));
}

/// Multiplies by the plan's transpose, else a temporary one.
template <class F>
void multiply_transpose(const check& check, const executor& where, const spmv_arguments& a,
                        const F& multiply) {
  std::shared_ptr<const backends::csr_transpose> made;
  if (a.plan == nullptr) {
    check_whole(check, where, a.a);
    made = backends::transpose(where, a.a, true);
  }
  const backends::csr_transpose& transpose = made ? *made : *a.plan->transpose();
  backends::csr_product product{a};
  product.a = transpose.matrix;
  if (transpose.places.size > 0) {  // the caller's values, possibly of another type by now
    product.a.values.data = a.a.values.data;
    product.a.values.element = a.a.values.element;
  }
  product.places = transpose.places;
  if (a.a.operation == matrix_operation::conjugate_transpose) product.conjugated = conjugate::x;
  multiply(where, product);
}

/// Calls multiply(where, product). Pre: valid arguments, memory unchecked.
template <class F>
void run_on(const check& check, const executor& where, const spmv_arguments& a, const F& multiply) {
  const bool may_differ = check::is_needed(where);
  if (may_differ) {
    check_reach(check, where, a.a);
    check.reach(where, "x", a.x);
    check.reach(where, output_of(a), a.y);
    if (a.added) check.reach(where, "y", *a.added);
  }
  if ((!may_differ || where.backend()->is_on_host) && !a.a.row_ends) check_ends(check, a.a);
  if (a.plan != nullptr) check_plan(check, where, a);
  if (a.a.height() == 0) return;
  if (a.a.operation != matrix_operation::none) {
    return multiply_transpose(check, where, a, multiply);
  }
  multiply(where, backends::csr_product{a});
}

/// Runs on `where`, or on the plan's or the matrix's choice.
template <class F>
void run(const check& check, const executor& where, const spmv_arguments& a, const F& multiply) {
  if (where.backend() != nullptr) return run_on(check, where, a, multiply);
  run_on(check, a.plan != nullptr ? a.plan->where() : choose(a.a), a, multiply);
}

// --- spmm ----------------------------------------------------------------------------------------

/// Checks the shape of X or Y; returns their column 0.
operand checked_column(const check& check, const char* name, const operand_rows& all,
                       std::size_t rows, const char* of_matrix, const csr_operand& a) {
  check.known_type(name, all.first.element);
  if (!all.is_one_block()) {
    check.fail(errc::invalid_argument, name, " has more than one block of rows");
  }
  if (all.rows != rows) {
    check.fail(errc::size_mismatch, name, " has ", all.rows, " rows, the ",
               a.operation == matrix_operation::none ? "matrix " : "transpose ", rows, of_matrix);
  }
  check.shape(name, all);
  if (all.leading_dimension == 0 && all.rows > 1 && all.first.size > 0) {
    check.fail(errc::zero_increment, name, " has leading dimension 0");
  }
  if (all.rows > 0) check.vector(name, all.first);
  return {all.first.data, all.rows, all.leading_dimension == 0 ? 1 : all.leading_dimension,
          all.first.element};
}

/// Whether no two elements of a matrix are one. Those r rows and c columns apart are if r times the
/// leading dimension is c times the increment, so first if these have no common factor.
bool are_distinct(const operand_rows& m) {
  if (m.rows <= 1 || m.first.size <= 1) return true;
  const std::ptrdiff_t common = std::gcd(m.leading_dimension, m.first.increment);
  const auto reduced = [&](std::ptrdiff_t step) {
    return static_cast<std::size_t>(std::abs(step / common));
  };
  return reduced(m.first.increment) >= m.rows || reduced(m.leading_dimension) >= m.first.size;
}

/// Returns the product of column 0.
spmv_arguments checked_products(const check& check, const spmm_arguments& a) {
  check_matrix(check, a.a);
  const operand x = checked_column(check, "x", a.x, a.a.width(), " columns", a.a);
  const operand y = checked_column(check, "y", a.y, a.a.height(), " rows", a.a);
  const std::size_t columns = a.x.first.size;
  if (a.y.first.size != columns) {
    check.fail(errc::size_mismatch, "x has ", columns, " columns, y has ", a.y.first.size);
  }
  const spmv_arguments first{
      a.a, x, {a.y.first.data, y.size, y.increment, y.element}, a.alpha, a.beta, a.plan, a.options};
  if (columns == 0) return first;
  check_arguments(check, first);
  if (!are_distinct(a.y)) check.fail(errc::overlap, "y's rows overlap");
  const operand_rows columns_of_x{x, columns, a.x.first.increment};
  for (std::size_t j = 0; j < columns; ++j) {
    const operand y_j = operand_rows{y, columns, a.y.first.increment}[j];
    check_rows_apart(check, "x", columns_of_x, "y", y_j);
    check_apart(check, "values", a.a.values, "y", y_j);
    check_apart(check, "column_indices", a.a.column_indices, "y", y_j);
    check_apart(check, "row_offsets", a.a.row_offsets, "y", y_j);
    if (a.a.row_ends) check_apart(check, "row_ends", *a.a.row_ends, "y", y_j);
  }
  return first;
}

}  // namespace

void validate(const executor& where, const csr_operand& a) {
  const backends::default_environment environment;
  const check check{"tally::validate"};
  if (where.backend() != nullptr) return check_whole(check, where, a);
  check_matrix(check, a);  // types and addresses, before it is located
  check_whole(check, choose(a), a);
}

spmv_plan::spmv_plan(const executor& where, const csr_operand& a, const spmv_options& options)
    : where_(where), matrix_(a), options_(options) {
  const backends::default_environment environment;
  const check check{"tally::spmv_plan"};
  check_matrix(check, a);
  if (where.backend() == nullptr) where_ = choose(a);
  if (a.height() == 0) {
    check_whole(check, where_, a);
    auto nothing = std::make_shared<backends::spmv_analysis>();
    nothing->description = "no rows";
    analysis_ = nothing;
    if (a.operation != matrix_operation::none) {
      transpose_ = std::make_shared<backends::csr_transpose>();
    }
  } else if (a.operation != matrix_operation::none) {
    check_whole(check, where_, a);
    transpose_ = backends::transpose(where_, a, has_fixed_values());
    // The columns are the plan's own.
    analysis_ = backends::analyse(where_, transpose_->matrix,
                                  {.is_permuted = transpose_->places.size > 0,
                                   .fixed_columns = true,
                                   .fixed_values = has_fixed_values(),
                                   .is_checked = true});
  } else {
    check_reachable(check, where_, a);
    const bool is_checked = !where_.backend()->analyse_checks();
    if (is_checked) check_defect(check, a, backends::find_defect(where_, a));
    analysis_ = backends::analyse(where_, a,
                                  {.fixed_columns = has_fixed_columns(),
                                   .fixed_values = has_fixed_values(),
                                   .is_checked = is_checked,
                                   .queued = options_.queued});
    if (!options_.queued) check_defect(check, a, analysis_->defect);
  }
}

void spmv_plan::wait() const {
  const check check{"tally::spmv_plan"};
  if (analysis_ == nullptr) check.fail(errc::invalid_argument, "the plan was moved from");
  if (!options_.queued) return;
  const backends::default_environment environment;
  check_defect(check, matrix_, analysis_->ready().defect);
}

const std::string& spmv_plan::describe() const {
  wait();
  return analysis_->ready().description;
}

void spmv(const executor& where, const spmv_arguments& a) {
  const backends::default_environment environment;
  const check check{"tally::spmv"};
  if (!is_plain(a)) check_arguments(check, a);
  run(check, where, a, [](const executor& on, const backends::csr_product& product) {
    backends::spmv(on, product);
  });
}

void spmm(const executor& where, const spmm_arguments& a) {
  const backends::default_environment environment;
  const check check{"tally::spmm"};
  const spmv_arguments first = checked_products(check, a);
  if (a.x.first.size == 0) return;
  run(check, where, first, [&](const executor& on, const backends::csr_product& product) {
    backends::spmm(on, {product, a.x.first.size, a.x.first.increment, a.y.first.increment});
  });
}

}  // namespace tally
