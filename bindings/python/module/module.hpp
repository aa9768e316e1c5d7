// The parts of the module, which its sources define.
#pragma once

#include "call.hpp"

namespace python {

void import_numpy();
void define_executors(nb::module_& m);
void define_operations(nb::module_& m);  // the rows of bindings/operations
void define_products(nb::module_& m);
void define_exact_sums(nb::module_& m);
void define_gathers(nb::module_& m);
void define_histograms(nb::module_& m);
void define_sparse(nb::module_& m);

}  // namespace python
