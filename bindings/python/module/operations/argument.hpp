// Arguments of the functions in bindings/operations.
#pragma once

#include <nanobind/nanobind.h>

namespace python {

namespace nb = nanobind;

enum class role { factor, in, out, inout };

struct argument {
  role is;
  const char* name;
  nb::handle value;
};

}  // namespace python
