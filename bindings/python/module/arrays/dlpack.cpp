// Arrays of other libraries: by DLPack's C exchange interface (1.2), which takes tens of ns, else
// by its capsules, which take 2 us, else by __cuda_array_interface__.
//
// Capsules are read here, not by nanobind, which asks PyTorch for one that checks nothing if
// __dlpack__ fails. PyTorch's exports ignore conjugate and negative bits, so those are resolved.
#include "arrays/array.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace python {

namespace {

// --- DLPack's structs -----------------------------------------------------------------------------

struct dl_device {
  std::int32_t type, id;
};
struct dl_type {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct dl_tensor {
  void* data;
  dl_device device;
  std::int32_t ndim;
  dl_type type;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: C order
  std::uint64_t byte_offset;
};
struct dl_version {
  std::uint32_t major, minor;
};
struct dl_managed {  // "dltensor"
  dl_tensor tensor;
  void* context;
  void (*deleter)(dl_managed*);
};
struct dl_versioned {  // "dltensor_versioned"
  dl_version version;
  void* context;
  void (*deleter)(dl_versioned*);
  std::uint64_t flags;  // 1: read-only
  dl_tensor tensor;
};
struct dl_exchange {
  dl_version version;
  dl_exchange* previous;
  int (*allocate)(dl_tensor* prototype, dl_versioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* text));
  int (*managed_from)(void* object, dl_versioned** out);
  int (*to_object)(dl_versioned* tensor, void** out);
  int (*tensor_from)(void* object, dl_tensor* out);
  int (*current_stream)(std::int32_t type, std::int32_t id, void** stream);
};

enum { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
constexpr std::uint8_t dl_complex = 5;

constexpr struct {
  dl_type dl;
  tally_type type;
} types[] = {{{2, 64, 1}, TALLY_FLOAT64},
             {{2, 32, 1}, TALLY_FLOAT32},
             {{2, 16, 1}, TALLY_FLOAT16},
             {{4, 16, 1}, TALLY_BFLOAT16},
             {{0, 64, 1}, TALLY_INT64},
             {{0, 32, 1}, TALLY_INT32},
             {{0, 8, 1}, TALLY_INT8},
             {{1, 8, 1}, TALLY_UINT8},
             {{6, 8, 1}, TALLY_BOOL},
             {{dl_complex, 64, 1}, TALLY_COMPLEX64},
             {{dl_complex, 128, 1}, TALLY_COMPLEX128}};
constexpr dl_type dl_uint64 = {1, 64, 1};
constexpr dl_type converted[] = {{0, 16, 1}, {1, 16, 1}, {1, 32, 1}};  // to integers of more bits

/// A number in host memory, which PyTorch takes over in half of the time of an allocation.
struct host_number {
  host_number() {
    tensor.version = {1, 0};
    tensor.context = this;
    tensor.deleter = [](dl_versioned* t) { delete static_cast<host_number*>(t->context); };
    tensor.tensor.data = value;
    tensor.tensor.device = {cpu, 0};
    tensor.tensor.shape = tensor.tensor.strides = extents;
  }

  dl_versioned tensor{};
  std::int64_t extents[1] = {};  // none: only an address that is not null
  alignas(16) std::byte value[16] = {};
};

bool same(const dl_type& a, const dl_type& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// --- Libraries ------------------------------------------------------------------------------------

/// What is asked of a type once.
struct traits {
  PyTypeObject* type = nullptr;
  const dl_exchange* exchange = nullptr;
  bool has_gradients = false;  // PyTorch's
  nb::handle forward, graph;   // its modules torch.autograd.forward_ad and .graph, which stay
};

/// The last type's are kept, per thread: programs use few.
const traits& traits_of(nb::handle x) {
  static thread_local traits last;
  PyTypeObject* const type = Py_TYPE(x.ptr());
  if (type == last.type) return last;
  nb::handle object(reinterpret_cast<PyObject*>(type));
  traits t;
  t.has_gradients = nb::hasattr(object, "requires_grad");
  if (t.has_gradients) {
    t.forward = nb::module_::import_("torch.autograd.forward_ad").ptr();
    t.graph = nb::module_::import_("torch.autograd.graph").ptr();
  }
  if (nb::hasattr(object, "__dlpack_c_exchange_api__")) {
    nb::object capsule = object.attr("__dlpack_c_exchange_api__");
    const auto* e =
        static_cast<const dl_exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (e == nullptr) PyErr_Clear();
    while (e != nullptr && e->version.major != 1) e = e->previous;
    if (e != nullptr && e->tensor_from != nullptr) t.exchange = e;
  }
  Py_INCREF(object.ptr());  // its address stays its own
  t.type = type;
  std::swap(last, t);
  Py_XDECREF(reinterpret_cast<PyObject*>(t.type));
  return last;
}

/// Whether an attribute of a tensor, or what a method returns, is true.
bool is_true(nb::handle x, PyObject* name, bool is_method) {
  PyObject* self = x.ptr();
  nb::object value = nb::steal(is_method ? PyObject_VectorcallMethod(name, &self, 1, nullptr)
                                         : PyObject_GetAttr(self, name));
  const int truth = value.is_valid() ? PyObject_IsTrue(value.ptr()) : -1;
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

/// Whether a tensor has a tangent, of forward-mode gradients. Operators of PyTorch, below which
/// none can be asked for, see to that themselves.
bool has_tangent(const traits& its, nb::handle x) {
  static PyObject* const current_level = PyUnicode_InternFromString("_current_level");
  nb::object level = nb::steal(PyObject_GetAttr(its.forward.ptr(), current_level));
  if (!level.is_valid()) throw nb::python_error();
  if (PyLong_AsLong(level.ptr()) < 0) return false;
  try {
    return !nb::object(its.forward.attr("unpack_dual")(x).attr("tangent")).is_none();
  } catch (const nb::python_error& e) {
    if (!e.matches(PyExc_RuntimeError)) throw;
    return false;
  }
}

void refuse_gradients(const traits& its, nb::handle x) {
  static PyObject* const requires_grad = PyUnicode_InternFromString("requires_grad");
  if (is_true(x, requires_grad, false) || has_tangent(its, x)) {
    raise(PyExc_RuntimeError,
          "tally: a tensor that requires a gradient; use tally.torch, or x.detach()");
  }
}

/// Whether a PyTorch tensor has what DLPack does not tell: a negative bit, or a conjugate one,
/// which only complex tensors have.
bool has_unread_bits(nb::handle x, bool is_complex) {
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  static PyObject* const is_conj = PyUnicode_InternFromString("is_conj");
  return is_true(x, is_neg, true) || (is_complex && is_true(x, is_conj, true));
}

nb::object resolved(nb::handle x) { return x.attr("resolve_conj")().attr("resolve_neg")(); }

/// False if elements can't be read in place, since a stride is 0 or Tally has not their type.
bool describe(const dl_tensor& t, array& a) {
  for (const dl_type& each : converted) {
    if (same(t.type, each)) return false;
  }
  a.type = -1;
  a.is_unsigned = same(t.type, dl_uint64);
  if (a.is_unsigned) a.type = TALLY_INT64;
  for (const auto& each : types) {
    if (same(t.type, each.dl)) a.type = each.type;
  }
  if (a.type < 0) {
    raise(PyExc_TypeError, "tally: elements of DLPack's type (" + std::to_string(t.type.code) +
                               ", " + std::to_string(t.type.bits) +
                               " bits); no operation reads these");
  }
  const auto on = t.device.type;
  if (on != cpu && on != cuda && on != cuda_host && on != cuda_managed) {
    raise(PyExc_ValueError, "tally: an array on a device of DLPack's type " + std::to_string(on) +
                                ", which no backend reads");
  }
  if (t.ndim > max_dimensions) raise(PyExc_ValueError, "tally: an array of too many dimensions");
  a.device = on == cuda || on == cuda_managed ? t.device.id : -1;
  a.data = static_cast<const char*>(t.data) + t.byte_offset;
  a.ndim = t.ndim;
  a.item = t.type.bits / 8;
  a.is_numpy = false;
  bool is_readable = true;
  std::int64_t dense = 1;
  for (int i = t.ndim; i-- > 0;) {
    a.shape[i] = t.shape[i];
    a.stride[i] = t.strides != nullptr ? t.strides[i] : dense;
    // CuPy 14 divides the bytes of negative strides as an unsigned number.
    if (a.stride[i] > INT64_MAX / a.item) {
      a.stride[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.stride[i]) -
                                              (UINT64_MAX / static_cast<unsigned>(a.item) + 1));
    }
    dense *= t.shape[i];
    is_readable = is_readable && (t.shape[i] <= 1 || a.stride[i] != 0);
  }
  return is_readable;
}

void read_copy(nb::handle x, nb::handle stream, array& a) {
  nb::object copy = libraries("readable")(x);
  if (!read_numpy(copy, a) && !read_foreign(copy, stream, a)) read_as_numpy(copy, a);
  a.is_writable = false;
}

/// Raises for a tensor whose elements can't be read in place, such as a sparse one; `error` is its
/// library's.
[[noreturn]] void refuse_tensor(nb::handle x, nb::handle error = nb::none()) {
  libraries("refuse_tensor")(x, error);
  throw nb::python_error();
}

bool has_elements(const dl_tensor& t) {
  return std::find(t.shape, t.shape + t.ndim, 0) == t.shape + t.ndim;
}

void read_exchange(const traits& its, nb::handle x, nb::handle stream, array& a) {
  const dl_exchange& exchange = *its.exchange;
  dl_tensor t;
  if (exchange.tensor_from(x.ptr(), &t) != 0) {
    const nb::python_error error;
    if (its.has_gradients) refuse_tensor(x, error.value());
    throw error;
  }
  if (t.data == nullptr && its.has_gradients && has_elements(t)) refuse_tensor(x);
  if (its.has_gradients && has_unread_bits(x, t.type.code == dl_complex)) {
    read_exchange(its, resolved(x), stream, a);
    a.is_writable = false;
    return;
  }
  if (!describe(t, a)) return read_copy(x, stream, a);
  a.object = nb::borrow(x);
  a.is_writable = true;
  if (a.device >= 0 && stream.is_none() &&
      exchange.current_stream(cuda, a.device, &a.stream) != 0) {
    throw nb::python_error();
  }
}

/// The stream that reads, as an argument of __dlpack__: 1 is CUDA's default stream.
void read_capsule(nb::handle x, nb::handle stream, array& a) {
  nb::object device = x.attr("__dlpack_device__")();
  const int type = nb::cast<int>(nb::int_(device[0]));
  nb::dict options;
  if (type == cuda || type == cuda_managed) {
    nb::object current = stream.is_none() ? libraries("stream")(x) : nb::borrow(stream);
    a.stream = address(current);
    options["stream"] = a.stream == nullptr ? nb::object(nb::int_(1)) : current;
  }
  nb::object capsule;
  try {
    nb::dict versioned = nb::borrow<nb::dict>(options.attr("copy")());
    versioned["max_version"] = nb::make_tuple(1, 0);
    capsule = x.attr("__dlpack__")(**versioned);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;  // before DLPack 1.0
    capsule = x.attr("__dlpack__")(**options);
  }
  // The capsule is not taken over, so it frees what it holds.
  bool is_readable = false;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    const auto& t = *static_cast<const dl_versioned*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (t.version.major != 1) raise(PyExc_BufferError, "tally: an unknown version of DLPack");
    is_readable = describe(t.tensor, a);
    a.is_writable = (t.flags & 1) == 0;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) {
    is_readable = describe(
        static_cast<const dl_managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->tensor, a);
    a.is_writable = true;
  } else {
    raise(PyExc_BufferError, "tally: __dlpack__ returned no capsule of DLPack");
  }
  if (!is_readable) return read_copy(x, stream, a);
  a.object = nb::make_tuple(nb::borrow(x), capsule);
}

/// The interface of Numba's device arrays.
void read_cuda_interface(nb::handle x, nb::handle stream, array& a) {
  nb::object described = x.attr("__cuda_array_interface__");
  const auto member = [&](const char* name) { return described.attr("get")(name); };
  nb::object shape = described["shape"], strides = member("strides"), data = described["data"];
  if (!member("mask").is_none()) raise(PyExc_TypeError, "tally: a masked array");
  a.type = type_of_dtype(described["typestr"], a.is_unsigned);
  a.item = static_cast<int>(tally_type_size(a.type));
  a.ndim = static_cast<int>(nb::len(shape));
  if (a.ndim > max_dimensions) raise(PyExc_ValueError, "tally: an array of too many dimensions");
  a.data = static_cast<const char*>(address(data[0]));
  a.is_writable = !nb::cast<bool>(data[1]);
  a.is_numpy = false;
  std::int64_t dense = 1;
  for (int i = a.ndim; i-- > 0;) {
    a.shape[i] = nb::cast<std::int64_t>(shape[i]);
    const std::int64_t bytes =
        strides.is_none() ? dense * a.item : nb::cast<std::int64_t>(nb::object(strides[i]));
    if (a.shape[i] > 1 && (bytes == 0 || bytes % a.item != 0)) {
      raise(PyExc_ValueError, "tally: an array whose strides are no multiple of its elements");
    }
    a.stride[i] = bytes / a.item;
    dense *= a.shape[i];
  }
  nb::object its_stream = stream.is_none() ? member("stream") : nb::borrow(stream);
  if (!its_stream.is_none()) a.stream = address(its_stream);
  a.device = 0;
  a.object = nb::borrow(x);
}

}  // namespace

bool read_foreign(nb::handle given, nb::handle stream, array& a) {
  const traits t = traits_of(given);
  if (t.has_gradients) refuse_gradients(t, given);
  if (t.exchange != nullptr) {
    read_exchange(t, given, stream, a);
    return true;
  }
  nb::object x =
      t.has_gradients && has_unread_bits(given, true) ? resolved(given) : nb::borrow(given);
  if (nb::hasattr(x, "__dlpack__")) {
    read_capsule(x, stream, a);
  } else if (nb::hasattr(x, "__cuda_array_interface__")) {
    read_cuda_interface(x, stream, a);
  } else {
    return false;
  }
  if (x.ptr() != given.ptr()) a.is_writable = false;
  return true;
}

void count_write(nb::handle x) {
  const traits& its = traits_of(x);
  if (its.has_gradients) its.graph.attr("increment_version")(x);
}

nb::object new_like(const array& like, int ndim, const std::int64_t* shape, tally_type type,
                    bool is_unsigned, void** data) {
  const nb::object object = like.source();
  const dl_exchange* const exchange = traits_of(object).exchange;
  if (exchange == nullptr) {
    nb::list extents;
    for (int i = 0; i < ndim; ++i) extents.append(shape[i]);
    nb::object made = libraries("empty")(object, nb::tuple(extents), type_name(type, is_unsigned));
    array a;
    if (!made.is_none()) {
      read_foreign(made, nb::int_(0), a);
      *data = const_cast<char*>(a.data);
    }
    return made;
  }
  std::int64_t extents[max_dimensions + 1];
  std::copy_n(shape, ndim, extents);
  dl_tensor prototype{};
  prototype.device = like.device >= 0 ? dl_device{cuda, like.device} : dl_device{cpu, 0};
  prototype.ndim = ndim;
  prototype.shape = extents;
  for (const auto& each : types) {
    if (each.type == type) prototype.type = each.dl;
  }
  if (is_unsigned) prototype.type = dl_uint64;
  const auto set_error = [](void*, const char*, const char* text) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_RuntimeError, text);
  };
  dl_versioned* made = nullptr;
  if (ndim == 0 && like.device < 0) {
    made = &(new host_number)->tensor;
    made->tensor.type = prototype.type;
  } else if (exchange->allocate(&prototype, &made, nullptr, set_error) != 0) {
    throw nb::python_error();
  }
  *data = static_cast<char*>(made->tensor.data) + made->tensor.byte_offset;
  void* result = nullptr;
  if (exchange->to_object(made, &result) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(result));
}

nb::object libraries(const char* name) {
  return nb::module_::import_("tally._libraries").attr(name);
}

}  // namespace python
