// Elements by index, and extrema that are no rows of bindings/operations.
#include "module.hpp"
#include "operations/reductions.hpp"

namespace python {

namespace {

/// Indices of int32 or int64.
vector read_indices(call& c, nb::handle indices, array& a) {
  vector v = c.read_contiguous("indices", indices, a);
  if (v.n == 0 && a.is_numpy) v.type = TALLY_INT64;  // an empty list is an array of float64
  if ((v.type != TALLY_INT32 && v.type != TALLY_INT64) || a.is_unsigned) {
    c.fail(PyExc_TypeError, "indices are neither int32 nor int64");
  }
  return v;
}

/// Tally reads no index twice, so they are checked here.
void check_indices(call& c, const vector& indices, std::int64_t size) {
  if (indices.n == 0) return;
  const auto [least, greatest] = extrema_of(c, indices);
  for (const std::int64_t at : {least, greatest}) {
    if (at < 0 || at >= size) {
      raise(PyExc_IndexError, std::string("tally.") + c.function() + ": index " +
                                  std::to_string(at) + " is outside of " + std::to_string(size) +
                                  " elements");
    }
  }
}

nb::object gather_elements(nb::handle x, nb::handle indices, nb::handle out, nb::handle backend) {
  call c("gather", backend);
  array a, i;
  const vector from = c.read_vector("x", x, a), at = read_indices(c, indices, i);
  check_indices(c, at, a.shape[0]);
  results result(c, a, 1, i.shape, a.type, a.is_unsigned, out);
  result.require_written(c);
  c.run(i.shape[0], [&](const tally_executor* where) {
    return tally_gather(where, from.type, from.n, from.data, from.inc, at.type, at.data, at.n,
                        result.data(), 1, nullptr);
  });
  return result.object();
}

template <auto function>
nb::object scatter(const char* name, nb::handle x, nb::handle indices, nb::handle out,
                   nb::handle backend) {
  call c(name, backend);
  array a, i, z;
  const vector from = c.read_vector("x", x, a), at = read_indices(c, indices, i);
  c.require_same_size("x", from.n, "indices", at.n);
  const vector to = c.write_vector("out", out, z);
  if (z.type != a.type) c.fail(PyExc_TypeError, "out is of another type than x");
  check_indices(c, at, z.shape[0]);
  c.run(i.shape[0], [&](const tally_executor* where) {
    return function(where, from.type, from.n, from.data, from.inc, at.type, at.data, to.n,
                    const_cast<void*>(to.data), to.inc, nullptr);
  });
  return nb::borrow(out);
}

}  // namespace

void define_gathers(nb::module_& m) {
  const nb::object none = nb::none();
  m.def("gather", gather_elements, nb::arg("x"), nb::arg("indices"), nb::arg("out").none() = none,
        nb::kw_only(), nb::arg("backend").none() = none,
        nb::sig("def gather(x: ArrayLike, indices: ArrayLike, out: Any = None, *, "
                "backend: Backend = None) -> Any"),
        "z_i = x[indices_i].");
  m.def(
      "scatter",
      [](nb::handle x, nb::handle indices, nb::handle out, nb::handle backend) {
        return scatter<tally_scatter>("scatter", x, indices, out, backend);
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("out"), nb::kw_only(),
      nb::arg("backend").none() = none,
      nb::sig("def scatter(x: ArrayLike, indices: ArrayLike, out: Any, *, "
              "backend: Backend = None) -> Any"),
      "z[indices_i] = x_i; no index twice.");
  m.def(
      "scatter_add",
      [](nb::handle x, nb::handle indices, nb::handle out, nb::handle backend) {
        return scatter<tally_scatter_add>("scatter_add", x, indices, out, backend);
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("out"), nb::kw_only(),
      nb::arg("backend").none() = none,
      nb::sig("def scatter_add(x: ArrayLike, indices: ArrayLike, out: Any, *, "
              "backend: Backend = None) -> Any"),
      "z[indices_i] += x_i, each z_j rounded once; of float32 or float64.");
  m.def(
      "iamax",
      [](nb::handle x, nb::handle axis, nb::handle out, flag keepdims, nb::handle backend) {
        // The index as that of a min or max.
        constexpr auto function = [](const tally_executor* where, std::size_t n, tally_type type,
                                     const void* data, std::ptrdiff_t inc, void* result,
                                     const tally_call_options* o) {
          return tally_iamax(where, n, type, data, inc,
                             reinterpret_cast<std::int64_t*>(static_cast<char*>(result) + 8), o);
        };
        return find({"iamax", function, {extremum_part::index}}, x, axis, out, keepdims, backend);
      },
      nb::arg("x"), nb::arg("axis").none() = none, nb::kw_only(), nb::arg("out").none() = none,
      nb::arg("keepdims") = false, nb::arg("backend").none() = none,
      nb::sig("def iamax(x: ArrayLike, axis: Axis = None, *, out: Any = None, "
              "keepdims: bool = False, backend: Backend = None) -> Any"),
      "The lowest index of the element of largest magnitude, from 0; -1 if there is none.");
  m.def(
      "minmax",
      [](nb::handle x, nb::handle axis, flag keepdims, nb::handle backend) {
        return find({"minmax", tally_minmax, {extremum_part::value, extremum_part::second_value}},
                    x, axis, nb::none(), keepdims, backend);
      },
      nb::arg("x"), nb::arg("axis").none() = none, nb::kw_only(), nb::arg("keepdims") = false,
      nb::arg("backend").none() = none,
      nb::sig("def minmax(x: ArrayLike, axis: Axis = None, *, keepdims: bool = False, "
              "backend: Backend = None) -> tuple[Any, Any]"),
      "The smallest and the largest element, in one pass.");
}

}  // namespace python
