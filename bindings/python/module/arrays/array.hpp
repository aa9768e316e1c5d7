// Arrays of any library, as they lie in memory, and new ones.
#pragma once

#include <nanobind/nanobind.h>
#include <tally/tally.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace python {

namespace nb = nanobind;

inline constexpr int max_dimensions = 64;  // NumPy's

/// Elements that Tally reads in place. An object that it can't read is replaced by a copy, which
/// changes no bit: bits depend on values and their order alone.
struct array {
  const char* data;  ///< element 0, also where strides are negative
  int ndim;
  std::int64_t shape[max_dimensions];
  std::int64_t stride[max_dimensions];  ///< in elements
  tally_type type;
  int item;                  ///< bytes per element
  int device = -1;           ///< a CUDA device; -1: host memory
  void* stream = nullptr;    ///< the library's current stream of that device
  bool is_writable = false;  ///< in place
  bool is_unsigned = false;  ///< uint64, read as int64, the same modulo 2^64
  bool is_numpy = true;      ///< results are NumPy's
  nb::object
      object;  ///< keeps the elements: the given object, a copy, or a tuple of one and a capsule

  /// The object whose elements these are.
  nb::object source() const {
    return nb::isinstance<nb::tuple>(object) ? nb::object(object[0]) : object;
  }

  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < ndim; ++i) n *= shape[i];
    return n;
  }
};

/// A vector as tally.h takes it: data is the lowest address.
struct vector {
  std::size_t n;
  tally_type type;
  const void* data;
  std::ptrdiff_t inc;
};

inline vector vector_at(const char* first, std::int64_t n, std::int64_t stride, tally_type type,
                        int item) {
  const std::int64_t inc = n > 1 ? stride : 1;
  return {static_cast<std::size_t>(n), type, inc < 0 ? first + (n - 1) * inc * item : first, inc};
}

/// Raises a Python exception.
[[noreturn]] void raise(PyObject* type, const std::string& text);

/// The address that a number of Python is: a stream's, or of elements.
void* address(nb::handle number);

// --- NumPy ----------------------------------------------------------------------------------------

/// Whether x is a NumPy array, which is then described by `a`.
bool read_numpy(nb::handle x, array& a);

/// What numpy.asarray makes of it.
void read_as_numpy(nb::handle x, array& a);

/// A new NumPy array, C-ordered and uninitialised.
nb::object new_numpy(int ndim, const std::int64_t* shape, tally_type type, bool is_unsigned,
                     void** data);

/// A NumPy scalar.
nb::object numpy_scalar(const void* value, tally_type type, bool is_unsigned);

/// What numpy.dtype(dtype), or a dtype of PyTorch, stands for; `is_unsigned` if it is uint64.
/// Raises for others' types.
tally_type type_of_dtype(nb::handle dtype, bool& is_unsigned);

/// A member of the module numpy.
nb::object numpy(const char* name);

// --- Other libraries ------------------------------------------------------------------------------

/// Whether x has DLPack or __cuda_array_interface__, which then describes it.
bool read_foreign(nb::handle x, nb::handle stream, array& a);

/// Counts a write to a tensor, by which PyTorch finds gradients of what has changed since.
void count_write(nb::handle x);

/// An uninitialised C-ordered array of the library and device of `like`; None if its arrays can't
/// be written.
nb::object new_like(const array& like, int ndim, const std::int64_t* shape, tally_type type,
                    bool is_unsigned, void** data);

/// A function of tally._libraries.
nb::object libraries(const char* name);

/// The name of a type in NumPy and other libraries.
const char* type_name(tally_type type, bool is_unsigned = false);

}  // namespace python
