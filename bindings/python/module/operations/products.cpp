// Dot products, of vectors and of the rows of arrays, and sums of multiples of rows.
#include "arrays/layout.hpp"
#include "module.hpp"
#include "operations/elementwise.hpp"

#include <optional>
#include <vector>

namespace python {

namespace {

/// dtype= of a product, or its accumulator; `is_unsigned` if the result is a sum of uint64.
tally_type product_type(const call& c, const array& x, const array& y, nb::handle dtype,
                        bool& is_unsigned) {
  is_unsigned = x.is_unsigned || y.is_unsigned;
  bool is_given = is_unsigned;
  const tally_type type = chosen_type(dtype, sum_type(x.type, y.type), is_given);
  if (is_unsigned && type != TALLY_INT64) {
    c.fail(PyExc_TypeError, "uint64 is multiplied by integers alone, and their sum is of uint64");
  }
  is_unsigned = is_given;
  return type;
}

nb::object dot(nb::handle x, nb::handle y, flag exact, int conjugate, nb::handle dtype,
               nb::handle out, nb::handle backend) {
  call c("dot", backend);
  array a, b;
  const vector v = c.read_vector("x", x, a), w = c.read_vector("y", y, b);
  c.require_same_size("x", v.n, "y", w.n);
  bool is_unsigned;
  const tally_type type = product_type(c, a, b, dtype, is_unsigned);
  results result(c, a.is_numpy ? b : a, 0, nullptr, type, is_unsigned, out);
  tally_call_options o = options_of(exact, result.wait());
  o.conjugate = conjugate;
  const bool is_default = !exact && conjugate == 0 && result.wait() == TALLY_WAIT_YES;
  c.run(a.shape[0], [&](const tally_executor* where) {
    return tally_dot(where, v.n, v.type, v.data, v.inc, w.type, w.data, w.inc, type, result.data(),
                     is_default ? nullptr : &o);
  });
  return result.object();
}

/// A matrix as tally.h takes it: the distances of rows and of columns.
struct matrix {
  std::size_t rows, columns;
  std::ptrdiff_t ld, inc;
};

matrix read_matrix(call& c, const char* name, nb::handle x, array& a) {
  c.read(name, x, a);
  if (a.ndim != 2) {
    c.fail(PyExc_ValueError,
           std::string(name) + " has " + std::to_string(a.ndim) + " dimensions, not 2");
  }
  return {static_cast<std::size_t>(a.shape[0]), static_cast<std::size_t>(a.shape[1]),
          a.shape[0] > 1 ? a.stride[0] : 1, a.shape[1] > 1 ? a.stride[1] : 1};
}

nb::object multi_dot(nb::handle A, nb::handle x, flag exact, int conjugate, nb::handle dtype,
                     nb::handle out, nb::handle backend) {
  call c("multi_dot", backend);
  array a, b;
  const matrix m = read_matrix(c, "A", A, a);
  const vector w = c.read_vector("x", x, b);
  c.require_same_size("a row of A", m.columns, "x", w.n);
  bool is_unsigned;
  const tally_type type = product_type(c, a, b, dtype, is_unsigned);
  results result(c, a, 1, a.shape, type, is_unsigned, out);
  tally_call_options o = options_of(exact, result.wait());
  o.conjugate = conjugate;
  c.run(a.size(), [&](const tally_executor* where) {
    return tally_multi_dot_strided(where, m.rows, w.n, a.type, a.data, m.ld, m.inc, w.type, w.data,
                                   w.inc, type, result.data(), &o);
  });
  return result.object();
}

/// The first `count` dimensions, in C order.
layout leading(const array& a, int count) {
  layout l;
  for (int i = 0; i < count; ++i) l.add(a.shape[i], a.stride[i]);
  return l;
}

/// Rows along the last axis of an array.
struct rows {
  const array& a;
  layout order = leading(a, a.ndim - 1);
  std::int64_t n = a.shape[a.ndim - 1];

  std::ptrdiff_t step() const { return n > 1 ? a.stride[a.ndim - 1] : 1; }
  /// Whether they are rows of one distance, each of adjacent elements.
  bool are_regular() const { return order.ndim <= 1 && step() == 1; }
  std::ptrdiff_t ld() const { return order.ndim == 1 ? order.stride[0] : n; }
  const void* operator[](std::size_t i) const {
    const char* const first = a.data + order.offset(static_cast<std::int64_t>(i)) * a.item;
    return vector_at(first, n, step(), a.type, a.item).data;
  }
};

nb::object batched_dot(nb::handle x, nb::handle y, flag exact, int conjugate, nb::handle dtype,
                       nb::handle out, nb::handle backend) {
  call c("batched_dot", backend);
  array a, b;
  c.read("x", x, a);
  c.read("y", y, b);
  if (a.ndim == 0) c.fail(PyExc_ValueError, "x has no dimension");
  c.require_same_shape("x", a, "y", b);
  bool is_unsigned;
  const tally_type type = product_type(c, a, b, dtype, is_unsigned);
  results result(c, a.is_numpy ? b : a, a.ndim - 1, a.shape, type, is_unsigned, out);
  tally_call_options o = options_of(exact, result.wait());
  o.conjugate = conjugate;
  const rows u{a}, v{b};
  const auto n = static_cast<std::size_t>(u.n), k = static_cast<std::size_t>(u.order.elements());
  c.run(a.size(), [&](const tally_executor* where) {
    if (u.are_regular() && v.are_regular()) {
      return tally_batched_dot(where, k, n, a.type, a.data, u.ld(), b.type, b.data, v.ld(), type,
                               result.data(), &o);
    }
    const std::vector<std::size_t> sizes(k, n);
    const std::vector<std::ptrdiff_t> incx(k, u.step()), incy(k, v.step());
    std::vector<const void*> us(k), vs(k);
    for (std::size_t i = 0; i < k; ++i) us[i] = u[i], vs[i] = v[i];
    return tally_multi_dot_list(where, k, sizes.data(), a.type, us.data(), incx.data(), b.type,
                                vs.data(), incy.data(), type, result.data(), &o);
  });
  return result.object();
}

/// A vector that is updated, or a new one of some size and type if `given` is None.
class updated {
 public:
  updated(call& c, const char* name, nb::handle given, const array& like, std::int64_t n,
          tally_type type) {
    if (given.is_none()) {
      made_.emplace(c, like, 1, &n, type, false, nb::none());
      made_->require_written(c, "; pass y=");
      v_ = {static_cast<std::size_t>(n), type, made_->data(), 1};
    } else {
      v_ = c.write_vector(name, given, room_);
      c.require_signed(name, room_);
      given_ = nb::borrow(given);
    }
  }
  const vector* operator->() const { return &v_; }
  void* data() const { return const_cast<void*>(v_.data); }
  nb::object object() { return made_ ? made_->object() : given_; }

 private:
  array room_;
  std::optional<results> made_;
  nb::object given_;
  vector v_;
};

nb::object gemv(nb::handle alpha, nb::handle A, nb::handle x, nb::handle beta, nb::handle y,
                flag exact, flag conjugate, nb::handle dtype, nb::handle backend) {
  call c("gemv", backend);
  number numbers[2];
  const factor f = numbers[0].read(c, "alpha", alpha), g = numbers[1].read(c, "beta", beta);
  array a, b;
  const matrix m = read_matrix(c, "A", A, a);
  const vector w = c.read_vector("x", x, b);
  c.require_signed("A", a);
  c.require_signed("x", b);
  c.require_same_size("a row of A", m.columns, "x", w.n);
  bool is_unsigned = false;
  const tally_type type = chosen_type(dtype, sum_type(a.type, b.type), is_unsigned);
  updated z(c, "y", y, a, a.shape[0], type);
  c.require_same_size("a column of A", m.rows, "y", z->n);
  const tally_call_options o = options_of(exact);
  c.run(a.size(), [&](const tally_executor* where) {
    // conj(A) is the conjugate transpose of A's transpose, whose rows are A's columns.
    return tally_gemv(where, conjugate ? TALLY_CONJUGATE_TRANSPOSE : TALLY_NO_TRANSPOSE,
                      conjugate ? m.columns : m.rows, conjugate ? m.rows : m.columns, f.type,
                      f.data, a.type, a.data, conjugate ? m.inc : m.ld, conjugate ? m.ld : m.inc,
                      w.type, w.data, w.inc, g.type, y.is_none() ? nullptr : g.data, z->type,
                      z.data(), z->inc, &o);
  });
  return z.object();
}

nb::object multi_axpy(nb::handle alpha, nb::handle X, nb::handle beta, nb::handle y,
                      nb::handle backend) {
  call c("multi_axpy", backend);
  number room;
  const factor g = room.read(c, "beta", beta);
  array a, b, z;
  const matrix m = read_matrix(c, "X", X, a);
  const vector f = c.read_factors("alpha", alpha, b), v = c.write_vector("y", y, z);
  c.require_signed("X", a);
  c.require_signed("y", z);
  c.require_same_size("X", m.rows, "alpha", f.n);
  c.require_same_size("a row of X", m.columns, "y", v.n);
  const void* const first =
      vector_at(a.data, a.shape[1], m.inc, a.type, a.item).data;  // lowest, as in BLAS
  c.run(a.size(), [&](const tally_executor* where) {
    return tally_multi_axpy(where, m.rows, m.columns, f.type, f.data, a.type, first, m.ld, m.inc,
                            g.type, g.data, v.type, const_cast<void*>(v.data), v.inc, nullptr);
  });
  return nb::borrow(y);
}

}  // namespace

void define_products(nb::module_& m) {
  const nb::object none = nb::none();
  m.def("dot", dot, nb::arg("x"), nb::arg("y"), nb::kw_only(), nb::arg("exact") = false,
        nb::arg("conjugate") = 0, nb::arg("dtype").none() = none, nb::arg("out").none() = none,
        nb::arg("backend").none() = none,
        nb::sig("def dot(x: ArrayLike, y: ArrayLike, *, exact: bool = False, conjugate: int = 0, "
                "dtype: DTypeLike | None = None, out: Any = None, backend: Backend = None) -> Any"),
        "sum_i x_i y_i of two vectors of any types; conjugate=1: of conj(x_i) y_i, 2: of x_i "
        "conj(y_i).");
  m.def(
      "multi_dot", multi_dot, nb::arg("A"), nb::arg("x"), nb::kw_only(), nb::arg("exact") = false,
      nb::arg("conjugate") = 0, nb::arg("dtype").none() = none, nb::arg("out").none() = none,
      nb::arg("backend").none() = none,
      nb::sig(
          "def multi_dot(A: ArrayLike, x: ArrayLike, *, exact: bool = False, conjugate: int = 0, "
          "dtype: DTypeLike | None = None, out: Any = None, backend: Backend = None) -> Any"),
      "The dot product of each row of A with x, in one pass; A has two dimensions of any strides.");
  m.def("batched_dot", batched_dot, nb::arg("x"), nb::arg("y"), nb::kw_only(),
        nb::arg("exact") = false, nb::arg("conjugate") = 0, nb::arg("dtype").none() = none,
        nb::arg("out").none() = none, nb::arg("backend").none() = none,
        nb::sig("def batched_dot(x: ArrayLike, y: ArrayLike, *, exact: bool = False, "
                "conjugate: int = 0, dtype: DTypeLike | None = None, out: Any = None, "
                "backend: Backend = None) -> Any"),
        "Dot products along the last axis of two arrays of one shape, each with the bits of dot.");
  m.def("gemv", gemv, nb::arg("alpha"), nb::arg("A"), nb::arg("x"), nb::arg("beta") = 0,
        nb::arg("y").none() = none, nb::kw_only(), nb::arg("exact") = false,
        nb::arg("conjugate") = false, nb::arg("dtype").none() = none,
        nb::arg("backend").none() = none,
        nb::sig("def gemv(alpha: Number, A: ArrayLike, x: ArrayLike, beta: Number = 0, "
                "y: Any = None, *, exact: bool = False, conjugate: bool = False, "
                "dtype: DTypeLike | None = None, backend: Backend = None) -> Any"),
        "y = alpha A x + beta y, or a new array alpha A x without y; each element of A x has the "
        "bits of dot. A has two dimensions of any strides: A.T is the transpose, and with "
        "conjugate=True its elements are conjugated. y is not read if beta is 0.");
  m.def("multi_axpy", multi_axpy, nb::arg("alpha"), nb::arg("X"), nb::arg("beta"), nb::arg("y"),
        nb::kw_only(), nb::arg("backend").none() = none,
        nb::sig("def multi_axpy(alpha: ArrayLike, X: ArrayLike, beta: Number, y: Any, *, "
                "backend: Backend = None) -> Any"),
        "y_i = beta y_i + sum_j alpha_j X_ji in one pass, with the bits of one axpy after another; "
        "y is not read if beta is 0.");
}

}  // namespace python
