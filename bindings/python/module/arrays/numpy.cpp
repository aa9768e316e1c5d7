// Arrays and scalars of NumPy, whose structs are read directly: a fifth of the time of DLPack.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#include "arrays/array.hpp"

#include <numpy/arrayobject.h>

#include <atomic>
#include <bit>

namespace python {

namespace {

PyArrayObject* struct_of(nb::handle x) { return reinterpret_cast<PyArrayObject*>(x.ptr()); }

/// NumPy's number of ml_dtypes.bfloat16, which that package registers; -1 before it is imported.
int bfloat16_number() {
  static std::atomic<int> number = -1;
  if (number < 0) {
    nb::object modules = nb::module_::import_("sys").attr("modules");
    nb::object found = modules.attr("get")("ml_dtypes");
    if (!found.is_none()) {
      nb::object dtype = numpy("dtype")(found.attr("bfloat16"));
      number = reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num;
    }
  }
  return number;
}

/// -1 for a type that Tally has not.
tally_type type_of_number(int number) {
  switch (number) {
    case NPY_BOOL:
      return TALLY_BOOL;
    case NPY_BYTE:
      return TALLY_INT8;
    case NPY_UBYTE:
      return TALLY_UINT8;
    case NPY_INT:
      return TALLY_INT32;
    case NPY_LONG:
    case NPY_LONGLONG:
      return TALLY_INT64;
    case NPY_HALF:
      return TALLY_FLOAT16;
    case NPY_FLOAT:
      return TALLY_FLOAT32;
    case NPY_DOUBLE:
      return TALLY_FLOAT64;
    case NPY_CFLOAT:
      return TALLY_COMPLEX64;
    case NPY_CDOUBLE:
      return TALLY_COMPLEX128;
    default:
      return number >= NPY_USERDEF && number == bfloat16_number() ? TALLY_BFLOAT16 : -1;
  }
}

int number_of_type(tally_type type, bool is_unsigned) {
  constexpr int numbers[] = {NPY_BOOL, NPY_BYTE,  NPY_UBYTE,  NPY_INT,    NPY_LONG,   NPY_HALF,
                             -1,       NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE};
  if (type == TALLY_BFLOAT16) {
    nb::module_::import_("ml_dtypes");
    return bfloat16_number();
  }
  return is_unsigned ? NPY_ULONG : numbers[type];
}

/// A type whose copy Tally reads; -1: there is none.
int readable_number(int number) {
  switch (number) {
    case NPY_SHORT:
    case NPY_USHORT:
      return NPY_INT;
    case NPY_UINT:
      return NPY_LONG;
    case NPY_ULONG:
    case NPY_ULONGLONG:
      return NPY_ULONG;
    default:
      return type_of_number(number) < 0 ? -1 : number;
  }
}

/// Whether Tally can read the elements in place.
bool is_readable(PyArrayObject* x) {
  if (!PyArray_ISNBO(PyArray_DESCR(x)->byteorder) || !PyArray_ISALIGNED(x)) return false;
  const npy_intp item = PyArray_ITEMSIZE(x);
  for (int i = 0; i < PyArray_NDIM(x); ++i) {
    const npy_intp stride = PyArray_STRIDE(x, i);
    if (PyArray_DIM(x, i) > 1 && (stride == 0 || (stride & (item - 1)) != 0)) {
      return PyArray_SIZE(x) == 0;
    }
  }
  return true;
}

/// Pre: readable.
void describe(PyArrayObject* x, tally_type type, array& a) {
  a.data = PyArray_BYTES(x);
  a.ndim = PyArray_NDIM(x);
  a.type = type;
  a.item = static_cast<int>(PyArray_ITEMSIZE(x));
  const int shift = std::countr_zero(static_cast<unsigned>(a.item));
  for (int i = 0; i < a.ndim; ++i) {
    a.shape[i] = PyArray_DIM(x, i);
    a.stride[i] = PyArray_STRIDE(x, i) >> shift;
  }
  a.is_writable = PyArray_ISWRITEABLE(x);
  a.object = nb::borrow(reinterpret_cast<PyObject*>(x));
}

[[noreturn, gnu::cold]] void refuse(PyArrayObject* x) {
  nb::handle dtype(reinterpret_cast<PyObject*>(PyArray_DESCR(x)));
  raise(PyExc_TypeError, std::string("tally: elements of type ") + nb::str(dtype).c_str() +
                             "; no operation reads these");
}

/// Arrays of a subclass, and those that must be copied.
[[gnu::cold]] void read_otherwise(PyArrayObject* x, array& a) {
  nb::handle object(reinterpret_cast<PyObject*>(x));
  if (!PyArray_CheckExact(object.ptr()) &&
      nb::isinstance(object, nb::module_::import_("numpy.ma").attr("MaskedArray"))) {
    raise(PyExc_TypeError, "tally: a masked array; pass x.compressed(), or x.filled(0) for a sum");
  }
  const int given = PyArray_TYPE(x), number = readable_number(given);
  if (number < 0) refuse(x);
  const bool is_unsigned = number == NPY_ULONG;
  const tally_type type = is_unsigned ? TALLY_INT64 : type_of_number(number);
  const bool same_size = PyArray_ITEMSIZE(x) == static_cast<npy_intp>(tally_type_size(type));
  if ((number == given || (is_unsigned && same_size)) && is_readable(x)) {
    describe(x, type, a);
  } else {
    constexpr int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_FORCECAST;
    PyArray_Descr* const native = PyArray_DescrFromType(number);
    PyObject* const copy = PyArray_FromAny(object.ptr(), native, 0, 0, flags, nullptr);
    if (copy == nullptr) throw nb::python_error();
    describe(struct_of(copy), type, a);
    Py_DECREF(copy);
    a.is_writable = false;
  }
  a.is_unsigned = is_unsigned;
}

}  // namespace

bool read_numpy(nb::handle x, array& a) {
  if (!PyArray_Check(x.ptr())) return false;
  PyArrayObject* const numpy_array = struct_of(x);
  const tally_type type = type_of_number(PyArray_TYPE(numpy_array));
  if (PyArray_CheckExact(x.ptr()) && type >= 0 && is_readable(numpy_array)) [[likely]] {
    describe(numpy_array, type, a);
  } else {
    read_otherwise(numpy_array, a);
  }
  return true;
}

void read_as_numpy(nb::handle x, array& a) {
  nb::object made = numpy("asarray")(x);
  if (!read_numpy(made, a)) raise(PyExc_TypeError, "tally: numpy.asarray makes no array of this");
  a.is_writable = false;
}

nb::object new_numpy(int ndim, const std::int64_t* shape, tally_type type, bool is_unsigned,
                     void** data) {
  npy_intp dims[max_dimensions];
  for (int i = 0; i < ndim; ++i) dims[i] = shape[i];
  PyObject* const made = PyArray_SimpleNew(ndim, dims, number_of_type(type, is_unsigned));
  if (made == nullptr) throw nb::python_error();
  *data = PyArray_DATA(struct_of(made));
  return nb::steal(made);
}

nb::object numpy_scalar(const void* value, tally_type type, bool is_unsigned) {
  PyArray_Descr* const dtype = PyArray_DescrFromType(number_of_type(type, is_unsigned));
  PyObject* const made = PyArray_Scalar(const_cast<void*>(value), dtype, nullptr);
  Py_DECREF(dtype);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

tally_type type_of_dtype(nb::handle dtype, bool& is_unsigned) {
  PyArray_Descr* made = nullptr;
  if (PyArray_DescrConverter(dtype.ptr(), &made) != NPY_SUCCEED) {
    const nb::python_error unknown;
    const std::string name = nb::str(dtype).c_str(), module = "torch.";
    if (!name.starts_with(module)) throw unknown;
    return type_of_dtype(nb::str(name.c_str() + module.size()), is_unsigned);
  }
  const int number = made->type_num;
  nb::object kept = nb::steal(reinterpret_cast<PyObject*>(made));
  is_unsigned = number == NPY_ULONG || number == NPY_ULONGLONG;
  const tally_type type = is_unsigned ? TALLY_INT64 : type_of_number(number);
  if (type < 0) {
    raise(PyExc_TypeError,
          std::string("tally: the type ") + nb::str(kept).c_str() + "; no operation writes it");
  }
  return type;
}

nb::object numpy(const char* name) { return nb::module_::import_("numpy").attr(name); }

const char* type_name(tally_type type, bool is_unsigned) {
  return is_unsigned ? "uint64" : tally_type_name(type);
}

void import_numpy() {
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
}

}  // namespace python
