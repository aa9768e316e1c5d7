// What the functions of the module share: one call's operands, executor, options and results.
#pragma once

#include "arrays/array.hpp"

#include <cstddef>

namespace python {

/// A tally_executor; `follows` the data's device and its library's stream if none was named.
struct executor {
  tally_executor value;
  bool is_cuda = false;
  int device = -1;
  nb::object stream = nb::none();
  int threads = 0;  // OpenMP's, as given
};

/// A choice: whatever Python takes as true or false.
struct flag {
  bool is;
  operator bool() const { return is; }
};

/// Raises the exception of a failed call.
void check(tally_status status);

/// The lock is kept in calls of at most this many elements: it costs as much as they do.
inline constexpr std::int64_t short_call = 4096;

/// Releases the interpreter's lock while it lives.
class unlocked {
 public:
  explicit unlocked(bool release) : state_(release ? PyEval_SaveThread() : nullptr) {}
  ~unlocked() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  unlocked(const unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// One call of a function of the module.
class call {
 public:
  call(const char* function, nb::handle backend);

  /// Describes an operand, which may be copied. All lie on one device.
  void read(const char* name, nb::handle x, array& a);
  /// One that is written in place.
  void write(const char* name, nb::handle x, array& a);
  /// A vector: one dimension.
  vector read_vector(const char* name, nb::handle x, array& a);
  /// A vector that is written in place.
  vector write_vector(const char* name, nb::handle x, array& a);
  /// A factor per vector: adjacent numbers in host memory, or on the operands' device.
  vector read_factors(const char* name, nb::handle x, array& a);
  /// A vector of adjacent elements.
  vector read_contiguous(const char* name, nb::handle x, array& a);

  /// Raises an exception: "tally.dot: ...".
  [[noreturn]] void fail(PyObject* type, const std::string& text) const;
  /// Raises for uint64, which most operations would take for int64.
  void require_signed(const char* name, const array& a) const;
  void require_same_shape(const char* x, const array& a, const char* y, const array& b) const;
  void require_same_size(const char* x, std::size_t nx, const char* y, std::size_t ny) const;

  /// The executor; null for tally_automatic's. Pre: operands have been read.
  const tally_executor* where();

  /// Whether operands lie on a device.
  bool on_device() const { return device_ >= 0; }

  /// Runs `f(where)`, without the lock if it is long.
  template <class F>
  void run(std::int64_t elements, F&& f) {
    const tally_executor* const at = where();
    tally_status status;
    {
      const unlocked u(elements > short_call || device_ >= 0);
      status = f(at);
    }
    check(status);
  }

  const char* function() const { return function_; }

 private:
  void place(const char* name, const array& a);
  vector vector_of(const char* name, const array& a) const;

  const char* function_;
  nb::handle backend_;
  nb::object stream_ = nb::none();  // the caller's, as a number
  executor chosen_{};
  const tally_executor* where_ = nullptr;
  bool is_named_ = false, is_placed_ = false, is_ready_ = false;
  int device_ = -1;
  void* device_stream_ = nullptr;
  const char* first_ = nullptr;
};

/// The memory of a call's results, and the object that it returns.
class results {
 public:
  /// `out` is None or an array of that shape. Scalars are returned for no dimensions.
  results(call& c, const array& like, int ndim, const std::int64_t* shape, tally_type type,
          bool is_unsigned, nb::handle out);

  /// Raises where results of operands on a device would lie in host memory: JAX's.
  void require_written(const call& c, const char* advice = "; pass out=") const;

  void* data() { return data_; }
  /// Copies results from host memory.
  void write(call& c, const void* from, std::size_t bytes);
  /// The member of tally_call_options: waiting calls write to host memory.
  tally_wait wait() const { return queued_ ? TALLY_WAIT_NO : TALLY_WAIT_YES; }
  /// Pre: the results are written.
  nb::object object();

 private:
  alignas(16) std::byte value_[16];
  void* data_ = value_;
  tally_type type_;
  bool is_unsigned_, queued_ = false;  // queued: on a device
  nb::object made_, out_;
  nb::object library_;  // whose array is made of the results in host memory
};

tally_call_options options_of(bool exact, tally_wait wait = TALLY_WAIT_DEFAULT);

// --- Types ----------------------------------------------------------------------------------------

inline bool is_complex(tally_type t) { return t >= TALLY_COMPLEX64; }
inline bool is_integer(tally_type t) { return t <= TALLY_INT64; }
inline bool is_double(tally_type t) { return t == TALLY_FLOAT64 || t == TALLY_COMPLEX128; }
inline tally_type real_of(tally_type t) { return is_complex(t) ? t - 2 : t; }
static_assert(TALLY_COMPLEX64 - 2 == TALLY_FLOAT32 && TALLY_COMPLEX128 - 2 == TALLY_FLOAT64);

/// The accumulator of a dot product.
inline tally_type sum_type(tally_type x, tally_type y) {
  if (is_integer(x) && is_integer(y)) return TALLY_INT64;
  const tally_type real = is_double(x) || is_double(y) ? TALLY_FLOAT64 : TALLY_FLOAT32;
  return is_complex(x) || is_complex(y) ? real + 2 : real;
}

/// dtype= of a function, or its default.
tally_type chosen_type(nb::handle dtype, tally_type otherwise, bool& is_unsigned);

}  // namespace python

template <>
struct nanobind::detail::type_caster<python::flag> {
  NB_TYPE_CASTER(python::flag, const_name("bool"))

  bool from_python(handle x, uint8_t, cleanup_list*) noexcept {
    const int truth = PyObject_IsTrue(x.ptr());
    if (truth < 0) PyErr_Clear();
    value.is = truth == 1;
    return truth >= 0;
  }
  static handle from_cpp(python::flag f, rv_policy, cleanup_list*) noexcept {
    return handle(f ? Py_True : Py_False).inc_ref();
  }
};
