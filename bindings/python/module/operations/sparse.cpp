#include "module.hpp"

#include <nanobind/stl/string.h>

#include <memory>

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

  /// op(A) x.
  nb::object times(nb::handle x, bool transposed, bool exact, nb::handle out) {
    call c("csr.dot", backend_);
    place(c);
    array a;
    const vector v = c.read_vector("x", x, a);
    tally_csr m = matrix_;
    m.operation = transposed ? TALLY_TRANSPOSE : TALLY_NO_TRANSPOSE;
    c.require_same_size(transposed ? "a column of A" : "a row of A",
                        transposed ? m.rows : m.columns, "x", v.n);
    const tally_type type = sum_type(m.value_type, a.type);
    const auto height = static_cast<std::int64_t>(transposed ? m.columns : m.rows);
    results result(c, values_.is_numpy ? a : values_, 1, &height, type, false, out);
    result.require_written(c);
    const tally_call_options o = options_of(exact);
    c.run(static_cast<std::int64_t>(m.nonzeros + m.rows), [&](const tally_executor* where) {
      return tally_spmv(where, transposed ? nullptr : plan_.get(), type, nullptr, &m, v.type,
                        v.data, v.inc, type, nullptr, type, result.data(), 1, &o);
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

}  // namespace

void define_sparse(nb::module_& m) {
  nb::class_<csr>(m, "_csr")
      .def(nb::init<std::int64_t, std::int64_t, nb::handle, nb::handle, nb::handle, bool, bool,
                    bool, nb::handle>(),
           nb::arg("rows"), nb::arg("columns"), nb::arg("indptr"), nb::arg("indices"),
           nb::arg("data"), nb::arg("fixed_columns"), nb::arg("fixed_values"), nb::arg("plan"),
           nb::arg("backend").none())
      .def("times", &csr::times, nb::arg("x"), nb::arg("transposed"), nb::arg("exact"),
           nb::arg("out").none())
      .def_prop_ro("plan", &csr::plan);
}

}  // namespace python
