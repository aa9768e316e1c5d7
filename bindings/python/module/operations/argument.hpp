// Arguments of the functions in bindings/operations.
#pragma once

#include <nanobind/nanobind.h>

namespace python {

namespace nb = nanobind;

/// A mask is an input that has no part in the type of a new result.
enum class role { factor, in, mask, out, inout };

struct argument {
  role is;
  const char* name;
  nb::handle value;
};

}  // namespace python
