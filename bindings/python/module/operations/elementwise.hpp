// Element-wise functions of arrays of one shape; all are rows of bindings/operations.
#pragma once

#include "call.hpp"
#include "operations/argument.hpp"

#include <cstddef>

namespace python {

/// A number in host memory, as tally.h takes it.
struct factor {
  tally_type type;
  const void* data;
};

/// A factor's value, or the array that has it.
class number {
 public:
  /// The factor, which this object keeps.
  factor read(const call& c, const char* name, nb::handle given);

 private:
  alignas(16) std::byte value_[16];
  array a_;
};

/// An enumerator of tally.h: the package passes it as a number.
inline int choice_of(const factor& f) {
  return static_cast<int>(*static_cast<const std::int64_t*>(f.data));
}

/// The type of a new result: the inputs', the real one of a modulus, a scan's accumulator, or bool.
enum class result_type { same, modulus, scan, truth };

/// An element-wise function, or a scan, which is one of vectors alone.
struct elementwise {
  const char* name;
  result_type result;
  /// Calls tally.h with factors and vectors, each in the order of the arguments.
  tally_status (*function)(const tally_executor*, std::size_t, const factor*, const vector*);
};

/// Returns the array that is written: the argument of that role, or a new one if that is None.
nb::object transform(const elementwise& f, std::initializer_list<argument> arguments,
                     nb::handle dtype, nb::handle backend);

}  // namespace python
