#include "module.hpp"
#include "operations/reductions.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace python {

namespace {

/// The counts of samples in bins, or with weights the exact sum of each bin's, rounded once.
class counted {
 public:
  /// `weights` may be None.
  counted(call& c, const array& x, const vector& samples, std::size_t bins, nb::handle weights)
      : c_(c), n_(x.shape[0]) {
    options_.size = sizeof options_;
    tally_type type = TALLY_INT64;
    if (!weights.is_none()) {
      vector w = c.read_vector("weights", weights, weights_);
      if (is_integer(w.type) || tally_type_size(w.type) == 2) {
        w = c.read_vector("weights", libraries("converted")(weights_.source(), "float64"),
                          weights_);
      }
      c.require_same_size("x", samples.n, "weights", w.n);
      if (w.type != TALLY_FLOAT32 && w.type != TALLY_FLOAT64) {
        c.fail(PyExc_TypeError, "weights are complex");
      }
      options_.weights = w.data;
      options_.incw = w.inc;
      options_.weights_type = type = w.type;
      if (w.n == 0) options_.weights = &options_;  // none is read
    }
    const auto shape = static_cast<std::int64_t>(bins);
    result_.emplace(c, x, 1, &shape, type, false, nb::none());
    result_->require_written(c, "");
    type_ = type;
  }

  /// `f(where, counts_type, counts, options)` counts.
  template <class F>
  nb::object count(F&& f) {
    c_.run(n_, [&](const tally_executor* where) {
      return f(where, type_, result_->data(), &options_);
    });
    return result_->object();
  }

  tally_histogram_options& options() { return options_; }

 private:
  call& c_;
  std::int64_t n_;
  array weights_;
  tally_histogram_options options_{};
  tally_type type_;
  std::optional<results> result_;
};

nb::object bincount(nb::handle x, nb::handle weights, std::int64_t minlength, nb::handle backend) {
  call c("bincount", backend);
  array a;
  vector keys = c.read_vector("x", x, a);
  if (keys.n == 0 && a.is_numpy) keys.type = a.type = TALLY_INT64;  // an empty list is of float64
  if (!is_integer(a.type) || a.is_unsigned) {
    c.fail(PyExc_TypeError, "x has elements of " + std::string(type_name(a.type, a.is_unsigned)) +
                                "; keys are integers, and not uint64");
  }
  if (minlength < 0) c.fail(PyExc_ValueError, "minlength is negative");
  std::int64_t bins = minlength;
  if (keys.n > 0) {
    const auto [least, greatest] = extrema_of(c, keys);
    if (least < 0) c.fail(PyExc_IndexError, "a key is " + std::to_string(least) + ", negative");
    if (greatest >= INT32_MAX) c.fail(PyExc_IndexError, "a key is above 2^31 - 2");
    bins = std::max(bins, greatest + 1);
  }
  if (bins > INT32_MAX) c.fail(PyExc_ValueError, "minlength is above 2^31 - 1");
  counted counts(c, a, keys, static_cast<std::size_t>(bins), weights);
  return counts.count([&](const tally_executor* where, tally_type type, void* to, const auto* o) {
    if (bins == 0) return tally_status{TALLY_SUCCESS};
    return tally_bincount(where, keys.n, keys.type, keys.data, keys.inc,
                          static_cast<std::size_t>(bins), type, to, o);
  });
}

/// Samples between `edges`, in host memory.
nb::object histogram(nb::handle x, nb::handle edges, nb::handle weights, nb::handle backend) {
  call c("histogram", backend);
  array a, e;
  const vector samples = c.read_vector("x", x, a);
  c.require_signed("x", a);
  read_as_numpy(edges, e);
  if (e.ndim != 1 || e.shape[0] < 2 || (e.stride[0] != 1)) {
    c.fail(PyExc_ValueError, "bins are no contiguous edges");
  }
  const auto bins = static_cast<std::size_t>(e.shape[0] - 1);
  counted counts(c, a, samples, bins, weights);
  return counts.count([&](const tally_executor* where, tally_type type, void* to, const auto* o) {
    return tally_histogram_range(where, samples.n, samples.type, samples.data, samples.inc, e.type,
                                 e.data, bins, type, to, o);
  });
}

/// `bins` of equal width.
nb::object histogram_even(nb::handle x, double lower, double upper, std::int64_t bins,
                          nb::handle weights, nb::handle backend) {
  call c("histogram", backend);
  array a;
  const vector samples = c.read_vector("x", x, a);
  c.require_signed("x", a);
  counted counts(c, a, samples, static_cast<std::size_t>(bins), weights);
  return counts.count([&](const tally_executor* where, tally_type type, void* to, const auto* o) {
    return tally_histogram_even(where, samples.n, samples.type, samples.data, samples.inc,
                                TALLY_FLOAT64, &lower, &upper, static_cast<std::size_t>(bins), type,
                                to, o);
  });
}

}  // namespace

void define_histograms(nb::module_& m) {
  const nb::object none = nb::none();
  m.def(
      "bincount", bincount, nb::arg("x"), nb::arg("weights").none() = none,
      nb::arg("minlength") = 0, nb::kw_only(), nb::arg("backend").none() = none,
      nb::sig("def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, *, "
              "backend: Backend = None) -> Any"),
      "numpy.bincount; with weights each bin has the exact sum of its weights, rounded once.");
  m.def("_histogram", histogram, nb::arg("x"), nb::arg("edges"), nb::arg("weights").none() = none,
        nb::arg("backend").none() = none);
  m.def("_histogram_even", histogram_even, nb::arg("x"), nb::arg("lower"), nb::arg("upper"),
        nb::arg("bins"), nb::arg("weights").none() = none, nb::arg("backend").none() = none);
}

}  // namespace python
