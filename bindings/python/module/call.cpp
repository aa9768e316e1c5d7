#include "call.hpp"

#include "arrays/layout.hpp"

#include <algorithm>
#include <cstring>

namespace python {

void raise(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  throw nb::python_error();
}

void* address(nb::handle number) {
  nb::object index = nb::steal(PyNumber_Index(number.ptr()));
  void* const at = index.is_valid() ? PyLong_AsVoidPtr(index.ptr()) : nullptr;
  if (at == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
  return at;
}

void check(tally_status status) {
  if (status == TALLY_SUCCESS) [[likely]]
    return;
  const auto type_of = [](tally_status s) {
    switch (s) {
      case TALLY_UNSUPPORTED_TYPE:
        return PyExc_TypeError;
      case TALLY_KEY_OUT_OF_RANGE:
        return PyExc_IndexError;
      case TALLY_OUT_OF_MEMORY:
        return PyExc_MemoryError;
      case TALLY_MISSING_BACKEND:
      case TALLY_NO_DEVICE:
      case TALLY_DEVICE_FAILURE:
      case TALLY_UNKNOWN_FAILURE:
        return PyExc_RuntimeError;
      default:
        return PyExc_ValueError;
    }
  };
  raise(type_of(status), tally_last_error());
}

tally_call_options options_of(bool exact, tally_wait wait) {
  tally_call_options o{};
  o.size = sizeof o;
  o.grade = exact ? TALLY_GRADE_EXACT : TALLY_GRADE_DEFAULT;
  o.wait = wait;
  return o;
}

tally_type chosen_type(nb::handle dtype, tally_type otherwise, bool& is_unsigned) {
  return dtype.is_none() ? otherwise : type_of_dtype(dtype, is_unsigned);
}

// --- A call ---------------------------------------------------------------------------------------

call::call(const char* function, nb::handle backend) : function_(function), backend_(backend) {
  if (backend.is_none()) return;
  is_named_ = true;
  if (nb::isinstance<executor>(backend)) {
    chosen_ = nb::cast<const executor&>(backend);
    stream_ = chosen_.stream;
    return;
  }
  if (!nb::isinstance<nb::str>(backend)) {
    fail(PyExc_TypeError, "backend is no name, executor or None");
  }
  const char* const name = nb::cast<const char*>(backend);
  check(tally_executor_named(&chosen_.value, name));
  chosen_.is_cuda = std::string(name) == "cuda";
  if (std::string(name) == "automatic") is_named_ = false;
}

void call::fail(PyObject* type, const std::string& text) const {
  raise(type, std::string("tally.") + function_ + ": " + text);
}

void call::place(const char* name, const array& a) {
  if (is_placed_ && a.device != device_) {
    const auto memory = [](int device) {
      return device < 0 ? std::string("in host memory") : "on device " + std::to_string(device);
    };
    fail(PyExc_ValueError,
         std::string(first_) + " is " + memory(device_) + ", " + name + " " + memory(a.device));
  }
  if (!is_placed_) {
    device_ = a.device;
    device_stream_ = a.stream;
    first_ = name;
    is_placed_ = true;
  }
}

void call::read(const char* name, nb::handle x, array& a) {
  if (!read_numpy(x, a) && !read_foreign(x, stream_, a)) read_as_numpy(x, a);
  place(name, a);
}

void call::write(const char* name, nb::handle x, array& a) {
  if (!read_numpy(x, a) && !read_foreign(x, stream_, a)) {
    fail(PyExc_TypeError, std::string(name) + " is no array that can be written");
  }
  if (!a.is_writable) {
    fail(PyExc_ValueError, std::string(name) +
                               " can't be written in place: it is read-only, or has a type, a byte "
                               "order or a layout that no operation writes");
  }
  const char* data = a.data;
  if (a.ndim > 1 && layout_in_memory(a, data).may_overlap()) {
    fail(PyExc_ValueError, std::string(name) + " can't be written in place: elements share memory");
  }
  if (!a.is_numpy) count_write(x);
  place(name, a);
}

vector call::vector_of(const char* name, const array& a) const {
  if (a.ndim != 1) {
    fail(PyExc_ValueError,
         std::string(name) + " has " + std::to_string(a.ndim) + " dimensions, not 1");
  }
  return vector_at(a.data, a.shape[0], a.stride[0], a.type, a.item);
}

vector call::read_vector(const char* name, nb::handle x, array& a) {
  read(name, x, a);
  return vector_of(name, a);
}

vector call::read_contiguous(const char* name, nb::handle x, array& a) {
  const vector v = read_vector(name, x, a);
  if (v.n > 1 && v.inc != 1) fail(PyExc_ValueError, std::string(name) + " is not contiguous");
  return v;
}

vector call::write_vector(const char* name, nb::handle x, array& a) {
  write(name, x, a);
  return vector_of(name, a);
}

vector call::read_factors(const char* name, nb::handle x, array& a) {
  if (!read_numpy(x, a) && !read_foreign(x, stream_, a)) read_as_numpy(x, a);
  if (a.device >= 0) place(name, a);
  const vector v = vector_of(name, a);
  if (v.inc != 1) {
    array copy;
    read_factors(name, libraries("contiguous")(a.source()), copy);
    a = copy;
  }
  require_signed(name, a);
  return {v.n, a.type, a.data, 1};
}

void call::require_signed(const char* name, const array& a) const {
  if (a.is_unsigned) fail(PyExc_TypeError, std::string(name) + " is of uint64");
}

void call::require_same_shape(const char* x, const array& a, const char* y, const array& b) const {
  if (a.ndim == b.ndim && std::equal(a.shape, a.shape + a.ndim, b.shape)) return;
  const auto text_of = [](const array& each) {
    std::string text = "(";
    for (int i = 0; i < each.ndim; ++i) text += (i > 0 ? ", " : "") + std::to_string(each.shape[i]);
    return text + (each.ndim == 1 ? ",)" : ")");
  };
  fail(PyExc_ValueError,
       std::string(x) + " has the shape " + text_of(a) + ", " + y + " " + text_of(b));
}

void call::require_same_size(const char* x, std::size_t nx, const char* y, std::size_t ny) const {
  if (nx == ny) return;
  fail(PyExc_ValueError, std::string(x) + " has " + std::to_string(nx) + " elements, " + y +
                             " has " + std::to_string(ny));
}

const tally_executor* call::where() {
  if (is_ready_) return where_;
  is_ready_ = true;
  if (!is_named_) {
    if (device_ < 0) return where_ = nullptr;
    check(tally_cuda(&chosen_.value, device_, device_stream_));
  } else if (chosen_.is_cuda && device_ >= 0) {
    if (chosen_.device >= 0 && chosen_.device != device_) {
      fail(PyExc_ValueError, "the executor is of device " + std::to_string(chosen_.device) + ", " +
                                 first_ + " on device " + std::to_string(device_));
    }
    void* const stream = stream_.is_none() ? device_stream_ : address(stream_);
    check(tally_cuda(&chosen_.value, device_, stream));
  } else if (device_ >= 0) {
    const char* name = "";
    check(tally_executor_name(&chosen_.value, &name));
    if (std::string(name) != "kokkos") {
      fail(PyExc_ValueError, std::string(first_) + " is on device " + std::to_string(device_) +
                                 ", which " + name + " can't read");
    }
  }
  return where_ = &chosen_.value;
}

// --- Results --------------------------------------------------------------------------------------

results::results(call& c, const array& like, int ndim, const std::int64_t* shape, tally_type type,
                 bool is_unsigned, nb::handle out)
    : type_(type), is_unsigned_(is_unsigned) {
  if (out.is_none() && ndim == 0 && like.is_numpy) [[likely]]
    return;
  if (!out.is_none()) {
    array a;
    c.write("out", out, a);
    if (a.ndim != ndim || !std::equal(shape, shape + ndim, a.shape)) {
      c.fail(PyExc_ValueError, "out has another shape than the results");
    }
    out_ = nb::borrow(out);
    std::int64_t dense = 1;
    bool in_place = a.type == type && a.is_unsigned == is_unsigned;
    for (int i = ndim; i-- > 0; dense *= shape[i]) {
      in_place = in_place && (shape[i] <= 1 || a.stride[i] == dense);
    }
    if (in_place) {
      made_ = out_;
      data_ = const_cast<char*>(a.data);
      queued_ = a.device >= 0;
      return;
    }
    if (!a.is_numpy) {
      c.fail(PyExc_ValueError,
             std::string("out must be contiguous, of type ") + type_name(type, is_unsigned));
    }
  } else if (!like.is_numpy) {
    made_ = new_like(like, ndim, shape, type, is_unsigned, &data_);
    queued_ = like.device >= 0;
    if (!made_.is_none()) return;
    queued_ = false;
    library_ = like.source();
  }
  if (ndim > 0 || !out.is_none() || library_.is_valid()) {
    made_ = new_numpy(ndim, shape, type, is_unsigned, &data_);
  }
}

void results::require_written(const call& c, const char* advice) const {
  if (c.on_device() && !queued_) {
    c.fail(PyExc_TypeError, std::string("arrays of this library can't be written") + advice);
  }
}

void results::write(call& c, const void* from, std::size_t bytes) {
  if (queued_) {
    check(tally_device_copy(c.where(), data_, from, bytes));
  } else {
    std::memcpy(data_, from, bytes);
  }
}

nb::object results::object() {
  if (library_.is_valid()) return libraries("from_host")(library_, made_);
  if (out_.is_valid()) {
    if (out_.ptr() != made_.ptr()) numpy("copyto")(out_, made_);
    return out_;
  }
  return made_.is_valid() ? made_ : numpy_scalar(value_, type_, is_unsigned_);
}

}  // namespace python
