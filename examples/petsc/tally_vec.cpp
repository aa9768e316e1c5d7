#include "tally_vec.hpp"

#include <tally/mpi.hpp>

#include <petsc/private/vecimpl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace example {
namespace {

tally::executor where = tally::automatic();
tally::grade grade_of_sums;

// Operations of PETSc's own vectors.
PetscErrorCode (*norm_of_part)(Vec, NormType, PetscReal*) = nullptr;
PetscErrorCode (*duplicate_of_mpi)(Vec, Vec*) = nullptr;

// --- PETSc's arrays as operands -------------------------------------------------------------------

void check(PetscErrorCode status) {
  if (status != PetscErrorCode{}) throw std::bad_exception();  // PETSc has reported it
}

std::size_t size_of(Vec x) {
  PetscInt n = 0;
  check(VecGetLocalSize(x, &n));
  return static_cast<std::size_t>(n);
}

/// A vector's elements for reading. An operand, by data() and size().
class read {
 public:
  explicit read(Vec x) : vec_(x), size_(size_of(x)) { check(VecGetArrayRead(x, &elements_)); }
  ~read() { VecRestoreArrayRead(vec_, &elements_); }
  read(const read&) = delete;
  read& operator=(const read&) = delete;

  const PetscScalar* data() const { return elements_; }
  std::size_t size() const { return size_; }

 private:
  Vec vec_;
  std::size_t size_;
  const PetscScalar* elements_ = nullptr;
};

/// A vector's elements for writing, perhaps also reading.
class written {
 public:
  explicit written(Vec x) : vec_(x), size_(size_of(x)) { check(VecGetArray(x, &elements_)); }
  ~written() { VecRestoreArray(vec_, &elements_); }
  written(const written&) = delete;
  written& operator=(const written&) = delete;

  PetscScalar* data() const { return elements_; }
  std::size_t size() const { return size_; }

 private:
  Vec vec_;
  std::size_t size_;
  PetscScalar* elements_ = nullptr;
};

/// No exception may pass PETSc's frames.
template <class Call>
PetscErrorCode returned(const Call& call) {
  PetscFunctionBegin;
  try {
    call();
  } catch (const std::exception& e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", e.what());
  }
  PetscFunctionReturn(PetscErrorCode{});
}

// --- Layouts --------------------------------------------------------------------------------------

/// A layout in PETSc's form and in Tally's.
struct distribution {
  PetscLayout petsc;
  tally::mpi::layout tally;
};

/// One layout each, since a layout has a communicator.
std::list<distribution> distributions;

PetscErrorCode forget_distributions() {
  PetscFunctionBegin;
  for (distribution& each : distributions) PetscCall(PetscLayoutDestroy(&each.petsc));
  distributions.clear();
  PetscFunctionReturn(PetscErrorCode{});
}

/// Whether both have the same ranks and cuts. All ranks agree.
bool are_congruent(PetscLayout a, PetscLayout b) {
  if (a == b) return true;
  int ranks = MPI_UNEQUAL;
  PetscBool cut = PETSC_FALSE;
  check(PetscErrorCode(MPI_Comm_compare(a->comm, b->comm, &ranks)));
  if (ranks != MPI_IDENT && ranks != MPI_CONGRUENT) return false;
  check(PetscLayoutCompare(a, b, &cut));
  return cut == PETSC_TRUE;
}

/// Returns the layout in Tally's form. Collective if it is new.
const tally::mpi::layout& layout_of(PetscLayout map) {
  for (const distribution& each : distributions) {
    if (are_congruent(each.petsc, map)) return each.tally;
  }
  distributions.push_back({nullptr, tally::mpi::layout(map->comm, map->n)});
  check(PetscLayoutReference(map, &distributions.back().petsc));
  return distributions.back().tally;
}

const tally::mpi::layout& layout_of(Vec x) { return layout_of(x->map); }

// --- Sums over all ranks --------------------------------------------------------------------------

// PETSc conjugates the second vector of VecDot and the listed ones of VecMDot: x here, a pair's
// first.

PetscErrorCode dot(Vec x, Vec y, PetscScalar* result) {
  return returned([&] {
    *result = tally::mpi::dot(layout_of(x), where, read(y), read(x),
                              {tally::conjugate::x, grade_of_sums});
  });
}

PetscErrorCode tdot(Vec x, Vec y, PetscScalar* result) {
  return returned(
      [&] { *result = tally::mpi::dot(layout_of(x), where, read(y), read(x), grade_of_sums); });
}

auto pairs_of(Vec x, PetscInt n, const Vec y[]) {
  const read one(x);
  std::vector<tally::vector_pair<PetscScalar, PetscScalar>> pairs;
  for (const Vec each : std::span(y, static_cast<std::size_t>(n))) {
    pairs.push_back(tally::pair_of(read(each), one));
  }
  return pairs;
}

PetscErrorCode mdot(Vec x, PetscInt n, const Vec y[], PetscScalar* results) {
  return returned([&] {
    const auto pairs = pairs_of(x, n, y);
    std::ranges::copy(
        tally::mpi::multi_dot(layout_of(x), where, pairs, {tally::conjugate::x, grade_of_sums}),
        results);
  });
}

PetscErrorCode mtdot(Vec x, PetscInt n, const Vec y[], PetscScalar* results) {
  return returned([&] {
    const auto pairs = pairs_of(x, n, y);
    std::ranges::copy(tally::mpi::multi_dot(layout_of(x), where, pairs, grade_of_sums), results);
  });
}

/// Computes the dot product and the squared norm of y.
PetscErrorCode dot_norm2(Vec x, Vec y, PetscScalar* product, PetscScalar* square) {
  return returned([&] {
    const read first(x), second(y);
    const std::array pairs = {tally::pair_of(second, first), tally::pair_of(second, second)};
    const auto sums =
        tally::mpi::multi_dot(layout_of(x), where, pairs, {tally::conjugate::x, grade_of_sums});
    *product = sums[0];
    *square = sums[1];
  });
}

PetscErrorCode norm(Vec x, NormType which, PetscReal* results) {
  return returned([&] {
    const tally::mpi::layout& l = layout_of(x);
    const read elements(x);
    switch (which) {
      case NORM_1:
        *results = tally::mpi::asum(l, where, elements, grade_of_sums);
        break;
      case NORM_1_AND_2:
        results[0] = tally::mpi::asum(l, where, elements, grade_of_sums);
        results[1] = tally::mpi::nrm2(l, where, elements, grade_of_sums);
        break;
      case NORM_INFINITY:  // no sum
        check(norm_of_part(x, which, results));
        check(PetscErrorCode(
            MPI_Allreduce(MPI_IN_PLACE, results, 1, MPIU_REAL, MPIU_MAX, x->map->comm)));
        break;
      default:
        *results = tally::mpi::nrm2(l, where, elements, grade_of_sums);
    }
  });
}

// PETSc adds these over the ranks itself (VecDotBegin, VecSum): the first rank returns the whole
// sum, others zeros.

template <class T>
void leave_to_first_rank(Vec x, T* results, PetscInt n) {
  if (layout_of(x).rank() > 0) std::fill_n(results, n, T{});
}

PetscErrorCode sum_local(Vec x, PetscScalar* result) {
  return returned([&] {
    *result = tally::mpi::sum(layout_of(x), where, read(x), grade_of_sums);
    leave_to_first_rank(x, result, 1);
  });
}

PetscErrorCode dot_local(Vec x, Vec y, PetscScalar* result) {
  PetscFunctionBegin;
  PetscCall(dot(x, y, result));
  leave_to_first_rank(x, result, 1);
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode tdot_local(Vec x, Vec y, PetscScalar* result) {
  PetscFunctionBegin;
  PetscCall(tdot(x, y, result));
  leave_to_first_rank(x, result, 1);
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode mdot_local(Vec x, PetscInt n, const Vec y[], PetscScalar* results) {
  PetscFunctionBegin;
  PetscCall(mdot(x, n, y, results));
  leave_to_first_rank(x, results, n);
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode mtdot_local(Vec x, PetscInt n, const Vec y[], PetscScalar* results) {
  PetscFunctionBegin;
  PetscCall(mtdot(x, n, y, results));
  leave_to_first_rank(x, results, n);
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode norm_local(Vec x, NormType which, PetscReal* results) {
  PetscFunctionBegin;
  PetscCall(norm(x, which, results));
  leave_to_first_rank(x, results, which == NORM_1_AND_2 ? 2 : 1);
  PetscFunctionReturn(PetscErrorCode{});
}

// --- Operations on this rank's elements -----------------------------------------------------------

PetscErrorCode scale(Vec x, PetscScalar alpha) {
  return returned([&] { tally::scal(where, alpha, written(x)); });
}

PetscErrorCode copy(Vec x, Vec y) {
  return returned([&] { tally::copy(where, read(x), written(y)); });
}

PetscErrorCode set(Vec x, PetscScalar alpha) {
  return returned([&] { tally::fill(where, alpha, written(x)); });
}

PetscErrorCode swap(Vec x, Vec y) {
  return returned([&] { tally::swap(where, written(x), written(y)); });
}

PetscErrorCode axpy(Vec y, PetscScalar alpha, Vec x) {
  return returned([&] { tally::axpy(where, alpha, read(x), written(y)); });
}

PetscErrorCode axpby(Vec y, PetscScalar alpha, PetscScalar beta, Vec x) {
  return returned([&] { tally::axpby(where, alpha, read(x), beta, written(y)); });
}

PetscErrorCode maxpy(Vec y, PetscInt n, const PetscScalar* alpha, Vec* x) {
  return returned([&] {
    const auto k = static_cast<std::size_t>(n);
    std::vector<std::span<const PetscScalar>> list;
    for (const Vec each : std::span(x, k)) {
      const read elements(each);
      list.emplace_back(elements.data(), elements.size());
    }
    tally::multi_axpy(where, std::span(alpha, k), list, 1, written(y));
  });
}

PetscErrorCode aypx(Vec y, PetscScalar beta, Vec x) {
  return returned([&] { tally::axpby(where, 1, read(x), beta, written(y)); });
}

PetscErrorCode waxpy(Vec w, PetscScalar alpha, Vec x, Vec y) {
  return returned([&] { tally::waxpby(where, alpha, read(x), 1, read(y), written(w)); });
}

PetscErrorCode axpbypcz(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x,
                        Vec y) {
  return returned(
      [&] { tally::axpbypcz(where, alpha, read(x), beta, read(y), gamma, written(z)); });
}

PetscErrorCode pointwise_mult(Vec w, Vec x, Vec y) {
  return returned([&] { tally::mul(where, read(x), read(y), written(w)); });
}

/// IEEE's quotient; PETSc's own is 0 where y_i is.
PetscErrorCode pointwise_divide(Vec w, Vec x, Vec y) {
  return returned([&] { tally::div(where, read(x), read(y), written(w)); });
}

// --- Products with matrices -----------------------------------------------------------------------

auto rows_of(Mat a) {
  tally::csr_matrix<PetscScalar, PetscInt, PetscInt> rows;
  PetscInt first = 0, last = 0, columns = 0;
  check(MatGetOwnershipRange(a, &first, &last));
  check(MatGetSize(a, nullptr, &columns));
  rows.rows = static_cast<std::size_t>(last - first);
  rows.columns = static_cast<std::size_t>(columns);
  for (PetscInt row = first; row < last; ++row) {
    PetscInt terms = 0;
    const PetscInt* indices = nullptr;
    const PetscScalar* values = nullptr;
    check(MatGetRow(a, row, &terms, &indices, &values));
    rows.column_indices.insert(rows.column_indices.end(), indices, indices + terms);
    rows.values.insert(rows.values.end(), values, values + terms);
    rows.row_offsets.push_back(static_cast<PetscInt>(rows.values.size()));
    check(MatRestoreRow(a, row, &terms, &indices, &values));
  }
  return rows;
}

using matrix = tally::mpi::matrix<PetscScalar>;

/// A matrix as Tally distributes it, with the state that it was made from.
struct copy_of_matrix {
  PetscObjectState state;
  matrix forward;
  std::optional<matrix> transposed;  ///< from its first product on
};

PetscErrorCode forget(void* kept) {
  delete static_cast<copy_of_matrix*>(kept);
  return PetscErrorCode{};
}

/// Returns the copy attached to a matrix, renewed after changes.
copy_of_matrix& copy_of(Mat a) {
  constexpr const char* name = "tally_copy";
  auto* const object = reinterpret_cast<PetscObject>(a);
  PetscObjectState state = 0;
  check(PetscObjectStateGet(object, &state));
  PetscObject found = nullptr;
  check(PetscObjectQuery(object, name, &found));
  if (found != nullptr) {
    void* kept = nullptr;
    check(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(found), &kept));
    auto& old = *static_cast<copy_of_matrix*>(kept);
    if (old.state == state) return old;
  }
  PetscLayout rows = nullptr, columns = nullptr;
  check(MatGetLayouts(a, &rows, &columns));
  auto made = std::make_unique<copy_of_matrix>(copy_of_matrix{
      state, matrix(layout_of(rows), layout_of(columns), rows_of(a).view()), std::nullopt});
  copy_of_matrix& copy = *made;
  PetscContainer container = nullptr;
  check(PetscContainerCreate(PetscObjectComm(object), &container));
  check(PetscContainerSetUserDestroy(container, forget));
  check(PetscContainerSetPointer(container, made.release()));
  check(PetscObjectCompose(object, name, reinterpret_cast<PetscObject>(container)));
  check(PetscContainerDestroy(&container));
  return copy;
}

PetscErrorCode mult(Mat a, Vec x, Vec y) {
  return returned([&] { tally::mpi::spmv(where, copy_of(a).forward, read(x), written(y)); });
}

PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec w) {
  return returned([&] {
    if (y != w) tally::copy(where, read(y), written(w));
    tally::mpi::spmv(where, 1, copy_of(a).forward, read(x), 1, written(w));
  });
}

PetscErrorCode mult_transpose(Mat a, Vec x, Vec y) {
  return returned([&] {
    copy_of_matrix& copy = copy_of(a);
    if (!copy.transposed) copy.transposed = tally::mpi::transpose(copy.forward);
    tally::mpi::spmv(where, *copy.transposed, read(x), written(y));
  });
}

// --- The type -------------------------------------------------------------------------------------

PetscErrorCode duplicate(Vec x, Vec* y) {
  PetscFunctionBegin;
  PetscCall(duplicate_of_mpi(x, y));  // with x's operations
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(*y), VECTALLY));
  PetscFunctionReturn(PetscErrorCode{});
}

/// PETSc's standard type, sequential on one rank; other operations, as on single elements, stay
/// PETSc's.
PetscErrorCode create(Vec x) {
  PetscFunctionBegin;
  PetscBool is_distributed = PETSC_FALSE;
  PetscCall(VecSetType(x, VECSTANDARD));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(x), VECMPI, &is_distributed));
  if (is_distributed == PETSC_TRUE) {  // sequential vectors are duplicated by type name
    duplicate_of_mpi = x->ops->duplicate;
    x->ops->duplicate = duplicate;
  }
  norm_of_part = x->ops->norm_local;
  x->ops->dot = dot;
  x->ops->tdot = tdot;
  x->ops->mdot = mdot;
  x->ops->mtdot = mtdot;
  x->ops->dotnorm2 = dot_norm2;
  x->ops->norm = norm;
  x->ops->dot_local = dot_local;
  x->ops->tdot_local = tdot_local;
  x->ops->mdot_local = mdot_local;
  x->ops->mtdot_local = mtdot_local;
  x->ops->norm_local = norm_local;
  x->ops->sum = sum_local;
  x->ops->scale = scale;
  x->ops->copy = copy;
  x->ops->set = set;
  x->ops->swap = swap;
  x->ops->axpy = axpy;
  x->ops->axpby = axpby;
  x->ops->maxpy = maxpy;
  x->ops->aypx = aypx;
  x->ops->waxpy = waxpy;
  x->ops->axpbypcz = axpbypcz;
  x->ops->pointwisemult = pointwise_mult;
  x->ops->pointwisedivide = pointwise_divide;
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(x), VECTALLY));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace

PetscErrorCode register_vec_tally() {
  PetscFunctionBegin;
  PetscCall(VecRegister(VECTALLY, create));
  PetscCall(PetscRegisterFinalize(forget_distributions));
  PetscFunctionReturn(PetscErrorCode{});
}

void run_vec_tally_on(const tally::executor& chosen, tally::grade g) {
  where = chosen;
  grade_of_sums = g;
}

PetscErrorCode multiply_by_tally(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetVecType(a, VECTALLY));
  PetscCall(MatSetOperation(a, MATOP_MULT, reinterpret_cast<void (*)()>(mult)));
  PetscCall(MatSetOperation(a, MATOP_MULT_ADD, reinterpret_cast<void (*)()>(mult_add)));
  PetscCall(MatSetOperation(a, MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)()>(mult_transpose)));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace example
