// Sparse matrices, and sums of segments, which are the rows of one.
#include "module.hpp"
#include "operations/reductions.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace python {

namespace {

/// A matrix in compressed sparse rows, whose arrays it keeps, and perhaps a plan.
class csr {
 public:
  csr(std::int64_t rows, std::int64_t columns, nb::handle offsets, nb::handle indices,
      nb::handle values, bool fixed_columns, bool fixed_values, bool plan, nb::handle backend)
      : backend_(nb::borrow(backend)) {
    call c("csr", backend);
    const vector o = c.read_contiguous("indptr", offsets, offsets_);
    const vector i = c.read_contiguous("indices", indices, indices_);
    const vector v = c.read_contiguous("data", values, values_);
    c.require_signed("indptr", offsets_);
    c.require_signed("indices", indices_);
    c.require_signed("data", values_);
    if (rows < 0 || columns < 0) c.fail(PyExc_ValueError, "the shape is negative");
    c.require_same_size("indptr", o.n, "indptr of this shape", static_cast<std::size_t>(rows) + 1);
    c.require_same_size("indices", i.n, "data", v.n);
    matrix_.size = sizeof matrix_;
    matrix_.rows = static_cast<std::size_t>(rows);
    matrix_.columns = static_cast<std::size_t>(columns);
    matrix_.nonzeros = v.n;
    matrix_.row_offsets = o.data;
    matrix_.column_indices = i.data;
    matrix_.values = v.data;
    matrix_.offset_type = o.type;
    matrix_.column_type = i.type;
    matrix_.value_type = v.type;
    matrix_.fixed_columns = fixed_columns;
    matrix_.fixed_values = fixed_values;
    tally_spmv_plan* made = nullptr;
    c.run(INT64_MAX, [&](const tally_executor* where) {
      return plan ? tally_spmv_plan_create(where, &matrix_, &made)
                  : tally_validate(where, &matrix_);
    });
    plan_.reset(made);
  }

  /// op(A) x of a vector, or of each vector along an axis of an array of two dimensions.
  nb::object times(nb::handle x, bool transposed, bool exact, nb::handle out, int axis) {
    call c("csr.dot", backend_);
    place(c);
    array a;
    c.read("x", x, a);
    c.require_signed("x", a);
    if (a.ndim != 1 && a.ndim != 2) {
      c.fail(PyExc_ValueError, "x has " + std::to_string(a.ndim) + " dimensions, not 1 or 2");
    }
    if (a.ndim == 1) axis = 0;
    tally_csr m = matrix_;
    m.operation = transposed ? TALLY_TRANSPOSE : TALLY_NO_TRANSPOSE;
    c.require_same_size(transposed ? "a column of A" : "a row of A",
                        transposed ? m.rows : m.columns, a.ndim == 1 ? "x" : "a vector of x",
                        static_cast<std::size_t>(a.shape[axis]));
    const tally_type type = sum_type(m.value_type, a.type);
    std::int64_t shape[2] = {a.shape[0], a.ndim == 2 ? a.shape[1] : 1};
    const std::int64_t vectors = shape[1 - axis];
    shape[axis] = static_cast<std::int64_t>(transposed ? m.columns : m.rows);
    results result(c, values_.is_numpy ? a : values_, a.ndim, shape, type, false, out);
    result.require_written(c);
    if (vectors == 0) return result.object();
    const tally_call_options o = options_of(exact);
    const tally_spmv_plan* const plan = transposed ? nullptr : plan_.get();
    c.run(static_cast<std::int64_t>(m.nonzeros + m.rows) * vectors, [&](const auto* where) {
      if (a.ndim == 1) {
        const vector v = vector_at(a.data, a.shape[0], a.stride[0], a.type, a.item);
        return tally_spmv(where, plan, type, nullptr, &m, v.type, v.data, v.inc, type, nullptr,
                          type, result.data(), 1, &o);
      }
      const std::int64_t ldy = axis == 0 ? shape[1] : 1, incy = axis == 0 ? 1 : shape[1];
      const auto step = [&](int i) { return a.shape[i] > 1 ? a.stride[i] : 1; };
      return tally_spmm(where, plan, static_cast<std::size_t>(vectors), type, nullptr, &m, a.type,
                        a.data, step(axis), step(1 - axis), type, nullptr, type, result.data(), ldy,
                        incy, &o);
    });
    return result.object();
  }

  std::string plan() const {
    const char* text = "";
    if (plan_) check(tally_spmv_plan_describe(plan_.get(), &text));
    return text;
  }

 private:
  struct destroy {
    void operator()(tally_spmv_plan* p) const { tally_spmv_plan_destroy(p); }
  };

  /// The device is that of the matrix.
  void place(call& c) {
    array a;
    if (!values_.is_numpy) c.read("the matrix", values_.object, a);
  }

  array offsets_, indices_, values_;
  tally_csr matrix_{};
  nb::object backend_;
  std::unique_ptr<tally_spmv_plan, destroy> plan_;
};

/// The first and the last of the offsets, and whether they don't decrease.
struct offset_facts {
  std::int64_t first, last;
  bool decrease;
};

template <class Offset>
offset_facts facts_on_host(const void* offsets, std::size_t n) {
  const auto* const o = static_cast<const Offset*>(offsets);
  return {o[0], o[n - 1], !std::is_sorted(o, o + n)};
}

/// The same of offsets on a device, from their range and their differences, which don't overflow
/// where the range holds no negative offset.
offset_facts facts_on_device(call& c, const array& like, const vector& o) {
  const auto at = [&](std::size_t i) -> std::int64_t {
    const char* const from =
        static_cast<const char*>(o.data) + i * static_cast<std::size_t>(like.item);
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    const bool is_wide = o.type == TALLY_INT64;
    void* const to = is_wide ? static_cast<void*>(&wide) : &narrow;
    check(tally_device_copy(c.where(), to, from, static_cast<std::size_t>(like.item)));
    return is_wide ? wide : narrow;
  };
  offset_facts facts{at(0), at(o.n - 1), false};
  if (o.n == 1) return facts;
  const auto [least, greatest] = extrema_of(c, o);
  const auto n = static_cast<std::int64_t>(o.n - 1);
  results differences(c, like, 1, &n, o.type, false, nb::none());
  differences.require_written(c, " without which offsets on a device can't be checked");
  vector d{o.n - 1, o.type, differences.data(), 1};
  c.run(n, [&](const tally_executor* where) {
    return tally_sub(where, d.n, o.type, static_cast<const char*>(o.data) + like.item, 1, o.type,
                     o.data, 1, d.type, differences.data(), 1, nullptr);
  });
  facts.decrease = least < facts.first || greatest > facts.last || extrema_of(c, d).first < 0;
  return facts;
}

nb::object segmented_sum(nb::handle x, nb::handle offsets, flag exact, nb::handle dtype,
                         nb::handle out, nb::handle backend) {
  call c("segmented_sum", backend);
  array a, b;
  vector v = c.read_vector("x", x, a);
  if (v.inc != 1) {
    c.read("x", libraries("contiguous")(a.source()), a);
    v.data = a.data;
  }
  c.require_signed("x", a);
  const vector o = c.read_contiguous("offsets", offsets, b);
  if ((o.type != TALLY_INT32 && o.type != TALLY_INT64) || b.is_unsigned) {
    c.fail(PyExc_TypeError, "offsets are neither int32 nor int64");
  }
  if (o.n == 0) c.fail(PyExc_ValueError, "there are no offsets; of no segments there is one, 0");
  const offset_facts facts = c.on_device()           ? facts_on_device(c, b, o)
                             : o.type == TALLY_INT32 ? facts_on_host<std::int32_t>(o.data, o.n)
                                                     : facts_on_host<std::int64_t>(o.data, o.n);
  if (facts.first != 0) c.fail(PyExc_ValueError, "the first of the offsets is not 0");
  if (facts.decrease) c.fail(PyExc_ValueError, "offsets decrease");
  c.require_same_size("segments up to the last offset", static_cast<std::size_t>(facts.last), "x",
                      v.n);
  bool is_unsigned = false;
  const tally_type type = chosen_type(dtype, sum_type(a.type, a.type), is_unsigned);
  const std::int64_t segments = b.shape[0] - 1;
  results result(c, a, 1, &segments, type, is_unsigned, out);
  result.require_written(c);
  const tally_call_options how = options_of(exact);
  c.run(a.shape[0] + segments, [&](const tally_executor* where) {
    return tally_segmented_sum(where, static_cast<std::size_t>(segments), o.type, o.data, v.n,
                               v.type, v.data, type, result.data(), &how);
  });
  return result.object();
}

}  // namespace

void define_sparse(nb::module_& m) {
  nb::class_<csr>(m, "_csr")
      .def(nb::init<std::int64_t, std::int64_t, nb::handle, nb::handle, nb::handle, bool, bool,
                    bool, nb::handle>(),
           nb::arg("rows"), nb::arg("columns"), nb::arg("indptr"), nb::arg("indices"),
           nb::arg("data"), nb::arg("fixed_columns"), nb::arg("fixed_values"), nb::arg("plan"),
           nb::arg("backend").none())
      .def("times", &csr::times, nb::arg("x"), nb::arg("transposed"), nb::arg("exact"),
           nb::arg("out").none(), nb::arg("axis"))
      .def_prop_ro("plan", &csr::plan);
  const nb::object none = nb::none();
  m.def("segmented_sum", segmented_sum, nb::arg("x"), nb::arg("offsets"), nb::kw_only(),
        nb::arg("exact") = false, nb::arg("dtype").none() = none, nb::arg("out").none() = none,
        nb::arg("backend").none() = none,
        nb::sig("def segmented_sum(x: ArrayLike, offsets: ArrayLike, *, exact: bool = False, "
                "dtype: DTypeLike | None = None, out: Any = None, backend: Backend = None) -> Any"),
        "The sums of x[offsets[j]:offsets[j + 1]], of floating-point or complex numbers, in the "
        "order of a sparse matrix's rows; that of an empty segment is 0. The first offset is 0, "
        "the last one len(x).");
}

}  // namespace python
