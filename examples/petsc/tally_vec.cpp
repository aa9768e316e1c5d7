#include "tally_vec.hpp"

#include <petsc/private/vecimpl.h>

#include <cstddef>
#include <exception>
#include <new>
#include <span>
#include <vector>

namespace example {
namespace {

tally::executor where = tally::automatic();
PetscErrorCode (*norm_of_seq)(Vec, NormType, PetscReal*) = nullptr;

// --- PETSc's arrays as operands -------------------------------------------------------------------

void check(PetscErrorCode status) {
  if (status != PetscErrorCode{}) throw std::bad_exception();  // PETSc has said what it is
}

std::size_t size_of(Vec x) {
  PetscInt n = 0;
  check(VecGetLocalSize(x, &n));
  return static_cast<std::size_t>(n);
}

/// The elements of a Vec that is read. It has data() and size(), so it is an operand.
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

/// Those of a Vec that is written, and perhaps read.
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

/// The arrays of a sequential AIJ matrix.
class rows_of {
 public:
  explicit rows_of(Mat a) : matrix_(a) {
    PetscBool done = PETSC_FALSE;
    check(MatGetSize(a, nullptr, &columns_));
    check(MatSeqAIJGetArrayRead(a, &values_));
    const PetscErrorCode status =
        MatGetRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &offsets_, &indices_, &done);
    if (status == 0 && done == PETSC_TRUE) return;
    MatSeqAIJRestoreArrayRead(a, &values_);
    check(status);
    throw std::runtime_error("the matrix has no rows that can be read");
  }
  ~rows_of() {
    PetscBool done = PETSC_FALSE;
    MatSeqAIJRestoreArrayRead(matrix_, &values_);
    MatRestoreRowIJ(matrix_, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &offsets_, &indices_, &done);
  }
  rows_of(const rows_of&) = delete;
  rows_of& operator=(const rows_of&) = delete;

  auto view() const {
    const auto rows = static_cast<std::size_t>(rows_);
    const auto terms = static_cast<std::size_t>(offsets_[rows]);
    return tally::csr_view{rows, static_cast<std::size_t>(columns_), std::span(offsets_, rows + 1),
                           std::span(indices_, terms), std::span(values_, terms)};
  }

 private:
  Mat matrix_;
  PetscInt rows_ = 0;
  PetscInt columns_ = 0;
  const PetscInt* offsets_ = nullptr;
  const PetscInt* indices_ = nullptr;
  const PetscScalar* values_ = nullptr;
};

/// What a call threw, as PETSc has it: no exception passes PETSc's frames.
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

// --- Operations -----------------------------------------------------------------------------------

// PETSc conjugates the second vector of VecDot, and those of the list of VecMDot; Tally's dotc the
// first one.

PetscErrorCode dot(Vec x, Vec y, PetscScalar* result) {
  return returned([&] { *result = tally::dotc(where, read(y), read(x)); });
}

PetscErrorCode tdot(Vec x, Vec y, PetscScalar* result) {
  return returned([&] { *result = tally::dot(where, read(y), read(x)); });
}

void multi_dot(Vec x, PetscInt n, const Vec y[], PetscScalar* results,
               tally::conjugate conjugated) {
  if (n == 0) return;
  const read one(x);
  std::vector<tally::operand_pair> pairs;
  for (const Vec each : std::span(y, static_cast<std::size_t>(n))) {
    pairs.push_back({tally::as_operand(read(each)), tally::as_operand(one)});
  }
  tally::multi_dot(where, {{{}, {}, pairs}, conjugated, {results, tally::type_of<PetscScalar>}});
}

PetscErrorCode mdot(Vec x, PetscInt n, const Vec y[], PetscScalar* results) {
  return returned([&] { multi_dot(x, n, y, results, tally::conjugate::x); });
}

PetscErrorCode mtdot(Vec x, PetscInt n, const Vec y[], PetscScalar* results) {
  return returned([&] { multi_dot(x, n, y, results, tally::conjugate::none); });
}

PetscErrorCode norm(Vec x, NormType which, PetscReal* results) {
  return returned([&] {
    const read elements(x);
    switch (which) {
      case NORM_1:
        *results = tally::asum(where, elements);
        break;
      case NORM_1_AND_2:
        results[0] = tally::asum(where, elements);
        results[1] = tally::nrm2(where, elements);
        break;
      case NORM_INFINITY:  // no sum
        check(norm_of_seq(x, which, results));
        break;
      default:
        *results = tally::nrm2(where, elements);
    }
  });
}

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
    const written sum(y);
    PetscInt i = 0;
    for (; i + 1 < n; i += 2) {
      tally::axpbypcz(where, alpha[i], read(x[i]), alpha[i + 1], read(x[i + 1]), 1, sum);
    }
    if (i < n) tally::axpy(where, alpha[i], read(x[i]), sum);
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

PetscErrorCode mult(Mat a, Vec x, Vec y) {
  return returned([&] { tally::spmv(where, rows_of(a).view(), read(x), written(y)); });
}

PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec w) {
  return returned(
      [&] { tally::spmv(where, 1, rows_of(a).view(), read(x), 1, read(y), written(w)); });
}

/// A plan of a matrix's transpose, for the nonzeros that the matrix had then.
struct kept_plan {
  tally::spmv_plan plan;
  PetscObjectState nonzeros;
};

PetscErrorCode forget(void* kept) {
  delete static_cast<kept_plan*>(kept);
  return 0;
}

/// The plan that lives with a matrix. It is made anew where nonzeros have come or gone, or the
/// executor is another one.
const tally::spmv_plan& plan_of_transpose(Mat a, const rows_of& rows) {
  constexpr const char* name = "tally_plan_of_transpose";
  auto* const object = reinterpret_cast<PetscObject>(a);
  PetscObjectState nonzeros = 0;
  check(MatGetNonzeroState(a, &nonzeros));
  PetscObject found = nullptr;
  check(PetscObjectQuery(object, name, &found));
  if (found != nullptr) {
    void* kept = nullptr;
    check(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(found), &kept));
    const auto& old = *static_cast<const kept_plan*>(kept);
    if (old.nonzeros == nonzeros && old.plan.where() == where) return old.plan;
  }
  auto made = std::make_unique<kept_plan>(
      kept_plan{tally::spmv_plan(where, tally::transpose(rows.view())), nonzeros});
  const tally::spmv_plan& plan = made->plan;
  PetscContainer container = nullptr;
  check(PetscContainerCreate(PETSC_COMM_SELF, &container));
  check(PetscContainerSetUserDestroy(container, forget));
  check(PetscContainerSetPointer(container, made.release()));
  check(PetscObjectCompose(object, name, reinterpret_cast<PetscObject>(container)));
  check(PetscContainerDestroy(&container));
  return plan;
}

PetscErrorCode mult_transpose(Mat a, Vec x, Vec y) {
  return returned([&] {
    const rows_of rows(a);
    tally::spmv(where, plan_of_transpose(a, rows), tally::transpose(rows.view()), read(x),
                written(y));
  });
}

/// A sequential vector; what is not here stays PETSc's own, as operations on single elements do.
PetscErrorCode create(Vec x) {
  PetscFunctionBegin;
  PetscCall(VecSetType(x, VECSEQ));
  x->ops->dot = x->ops->dot_local = dot;
  x->ops->tdot = x->ops->tdot_local = tdot;
  x->ops->mdot = x->ops->mdot_local = mdot;
  x->ops->mtdot = x->ops->mtdot_local = mtdot;
  norm_of_seq = x->ops->norm;
  x->ops->norm = x->ops->norm_local = norm;
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
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(x), VECTALLY));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace

PetscErrorCode register_vec_tally() { return VecRegister(VECTALLY, create); }

void run_vec_tally_on(const tally::executor& chosen) { where = chosen; }

PetscErrorCode multiply_by_tally(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetVecType(a, VECTALLY));
  PetscCall(MatSetOperation(a, MATOP_MULT, reinterpret_cast<void (*)()>(mult)));
  PetscCall(MatSetOperation(a, MATOP_MULT_ADD, reinterpret_cast<void (*)()>(mult_add)));
  PetscCall(MatSetOperation(a, MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)()>(mult_transpose)));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace example
