// The module tally._tally: arrays of any library become operands of the C interface, tally.h.
#include "module.hpp"

#include <nanobind/stl/string.h>

#include <vector>

namespace python {

namespace {

executor made(tally_status status, const executor& e) {
  check(status);
  return e;
}

}  // namespace

void define_executors(nb::module_& m) {
  nb::class_<executor>(m, "executor", "Where a call runs: a backend with its settings.")
      .def_prop_ro("name",
                   [](const executor& e) {
                     const char* name = "";
                     check(tally_executor_name(&e.value, &name));
                     return std::string(name);
                   })
      .def("__reduce__",
           [](const executor& e) {
             const char* name = "";
             check(tally_executor_name(&e.value, &name));
             if (!e.stream.is_none()) {
               raise(PyExc_TypeError, "tally: an executor of a stream, which is its process's");
             }
             const bool is_openmp = std::string(name) == "openmp";
             const nb::tuple settings = is_openmp   ? nb::make_tuple(e.threads)
                                        : e.is_cuda ? nb::make_tuple(e.device)
                                                    : nb::make_tuple();
             return nb::make_tuple(nb::module_::import_("tally").attr(name), settings);
           })
      .def("__repr__", [](nb::handle self) {
        return nb::str("<tally.executor {}>").format(self.attr("name"));
      });
  m.def(
      "serial",
      [] {
        executor e;
        return made(tally_serial(&e.value), e);
      },
      "One thread, plain loops: the reference.");
  m.def(
      "simd",
      [] {
        executor e;
        return made(tally_simd(&e.value, TALLY_INSTRUCTIONS_BEST), e);
      },
      "One thread, vector instructions.");
  m.def(
      "openmp",
      [](int threads) {
        executor e;
        e.threads = threads;
        return made(tally_openmp(&e.value, threads), e);
      },
      nb::arg("threads") = 0, "OpenMP threads; 0: as many as OpenMP takes.");
  m.def(
      "cuda",
      [](int device, nb::handle stream) {
        executor e;
        e.is_cuda = true;
        e.device = device;
        e.stream = nb::borrow(stream);
        return made(tally_cuda(&e.value, device, stream.is_none() ? nullptr : address(stream)), e);
      },
      nb::arg("device") = -1, nb::arg("stream").none() = nb::none(),
      nb::sig("def cuda(device: int = -1, stream: int | None = None) -> executor"),
      "A CUDA device, -1: that of the data, and a stream's address, None: the current one of the "
      "data's library.");
  m.def(
      "kokkos",
      [] {
        executor e;
        return made(tally_kokkos(&e.value), e);
      },
      "Kokkos's default execution space.");
  m.def(
      "executors",
      [] {
        std::size_t count = 0;
        check(tally_executors(0, nullptr, nullptr, &count));
        std::vector<const char*> names(count);
        std::vector<int> usable(count);
        check(tally_executors(count, names.data(), usable.data(), &count));
        nb::list listed;
        for (std::size_t i = 0; i < count; ++i) {
          if (usable[i] == 1) listed.append(names[i]);
        }
        return listed;
      },
      nb::sig("def executors() -> list[str]"), "Names of the backends that are usable here.");
  m.def("order_version", tally_order_version, "Version of the order contract.");
  m.def(
      "version",
      [] {
        const int v = tally_version();
        return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
               std::to_string(v % 100);
      },
      "Version of the library, not the package.");
}

}  // namespace python

NB_MODULE(_tally, m) {
  using namespace python;
  nb::set_leak_warnings(false);  // of executors that a program keeps
  import_numpy();
  define_executors(m);
  define_operations(m);
  define_products(m);
  define_exact_sums(m);
  define_gathers(m);
  define_histograms(m);
  define_sparse(m);
}
