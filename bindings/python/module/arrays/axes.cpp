#include "arrays/axes.hpp"

#include <algorithm>

namespace python {

namespace {

int index_of(nb::handle axis, int ndim) {
  const Py_ssize_t given = PyNumber_AsSsize_t(axis.ptr(), PyExc_OverflowError);
  if (given == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  const std::int64_t i = given < 0 ? given + ndim : given;
  if (i >= 0 && i < ndim) return static_cast<int>(i);
  nb::object error = nb::module_::import_("numpy.exceptions").attr("AxisError")(given, ndim);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace

axes::axes(const array& a, nb::handle axis, bool keepdims) {
  bool is_reduced[max_dimensions];
  std::fill_n(is_reduced, a.ndim, axis.is_none());
  const auto reduce = [&](nb::handle one) {
    bool& known = is_reduced[index_of(one, a.ndim)];
    if (known) raise(PyExc_ValueError, "tally: an axis is given twice");
    known = true;
  };
  if (nb::isinstance<nb::tuple>(axis) || nb::isinstance<nb::list>(axis)) {
    for (nb::handle one : axis) reduce(one);
  } else if (!axis.is_none()) {
    reduce(axis);
  }
  for (int i = 0; i < a.ndim; ++i) {
    is_reduced[i] ? reduced[reduced_count++] = i : kept[kept_count++] = i;
    if (!is_reduced[i] || keepdims) shape[ndim++] = is_reduced[i] ? 1 : a.shape[i];
  }
}

void copy_slices(call& c, const axes& x, array& a) {
  nb::list order;
  for (int i = 0; i < x.kept_count; ++i) order.append(x.kept[i]);
  for (int i = 0; i < x.reduced_count; ++i) order.append(x.reduced[i]);
  array copy;
  c.read("x", libraries("contiguous")(a.source(), nb::tuple(order)), copy);
  // The copy's dimensions take the places of the axes that they were.
  for (int i = 0; i < a.ndim; ++i) {
    const int axis = i < x.kept_count ? x.kept[i] : x.reduced[i - x.kept_count];
    a.shape[axis] = copy.shape[i];
    a.stride[axis] = copy.stride[i];
  }
  a.data = copy.data;
  a.object = copy.object;
}

}  // namespace python
