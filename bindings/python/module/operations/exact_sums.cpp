// Unrounded sums.
#include "arrays/axes.hpp"
#include "arrays/layout.hpp"
#include "module.hpp"

namespace python {

namespace {

tally_type sum_type_of(nb::handle dtype) {
  bool is_unsigned = false;
  const tally_type type = type_of_dtype(dtype, is_unsigned);
  if (is_integer(type) || type == TALLY_FLOAT16 || type == TALLY_BFLOAT16) {
    raise(PyExc_TypeError,
          "tally.exact_sum: dtype may be float32, float64, complex64 or complex128");
  }
  return type;
}

/// The limbs of a sum: a contiguous array of int64.
std::int64_t* limbs_of(call& c, nb::handle words, tally_type sum, bool is_written) {
  array a;
  if (!read_numpy(words, a) || a.type != TALLY_INT64 || a.ndim != 1 ||
      (a.shape[0] > 1 && a.stride[0] != 1) || (is_written && !a.is_writable)) {
    c.fail(PyExc_TypeError, "words are no contiguous array of int64");
  }
  const std::size_t limbs = tally_exact_words(sum);
  if (a.shape[0] != static_cast<std::int64_t>(limbs)) {
    c.fail(PyExc_ValueError, "there are " + std::to_string(a.shape[0]) + " words; a sum of " +
                                 tally_type_name(sum) + " has " + std::to_string(limbs));
  }
  return reinterpret_cast<std::int64_t*>(const_cast<char*>(a.data));
}

void add_sum(nb::handle words, nb::handle dtype, nb::handle x, nb::handle backend) {
  call c("exact_sum.add", backend);
  const tally_type sum = sum_type_of(dtype);
  std::int64_t* const limbs = limbs_of(c, words, sum, true);
  array a;
  c.read("x", x, a);
  c.require_signed("x", a);
  const char* data = a.data;
  layout l = layout_in_memory(a, data);
  if (l.ndim > 1 && c.on_device()) {
    copy_slices(c, axes(a, nb::none(), false), a);
    data = a.data;
    l = layout_of(a);
  }
  tally_call_options o = options_of(true);
  o.form = TALLY_RESULT_WORDS;
  c.run(l.elements(), [&](const tally_executor* where) {
    if (l.ndim <= 1) {
      return tally_sum(where, static_cast<std::size_t>(l.length()), a.type, data, l.step(), sum,
                       limbs, &o);
    }
    return block_reader(a, data, l).for_each([&](std::size_t, std::size_t n, const void* terms) {
      return tally_sum(where, n, a.type, terms, 1, sum, limbs, &o);
    });
  });
}

void add_products(nb::handle words, nb::handle dtype, nb::handle x, nb::handle y, int conjugate,
                  nb::handle backend) {
  call c("exact_sum.add_products", backend);
  const tally_type sum = sum_type_of(dtype);
  std::int64_t* const limbs = limbs_of(c, words, sum, true);
  array a, b;
  const vector v = c.read_vector("x", x, a), w = c.read_vector("y", y, b);
  c.require_same_size("x", v.n, "y", w.n);
  c.require_signed("x", a);
  c.require_signed("y", b);
  tally_call_options o = options_of(true);
  o.form = TALLY_RESULT_WORDS;
  o.conjugate = conjugate;
  c.run(a.shape[0], [&](const tally_executor* where) {
    return tally_dot(where, v.n, v.type, v.data, v.inc, w.type, w.data, w.inc, sum, limbs, &o);
  });
}

/// Normalises `to`, after adding `from`, unless that is None.
void merge_words(nb::handle to, nb::handle dtype, nb::handle from) {
  call c("exact_sum.merge", nb::none());
  const tally_type sum = sum_type_of(dtype);
  check(tally_merge_words(1, sum, from.is_none() ? nullptr : limbs_of(c, from, sum, false),
                          limbs_of(c, to, sum, true)));
}

nb::object round_words(nb::handle words, nb::handle dtype, nb::handle result_dtype, bool root) {
  call c("exact_sum.round", nb::none());
  const tally_type sum = sum_type_of(dtype), type = sum_type_of(result_dtype);
  alignas(16) std::byte value[16];
  const auto round = root ? tally_round_root_words : tally_round_words;
  check(round(nullptr, 1, sum, limbs_of(c, words, sum, false), type, value, nullptr));
  return numpy_scalar(value, type, false);
}

}  // namespace

void define_exact_sums(nb::module_& m) {
  m.def("_add_sum", add_sum, nb::arg("words"), nb::arg("dtype"), nb::arg("x"),
        nb::arg("backend").none() = nb::none());
  m.def("_add_products", add_products, nb::arg("words"), nb::arg("dtype"), nb::arg("x"),
        nb::arg("y"), nb::arg("conjugate") = 0, nb::arg("backend").none() = nb::none());
  m.def("_merge_words", merge_words, nb::arg("to"), nb::arg("dtype"),
        nb::arg("from_").none() = nb::none());
  m.def("_round_words", round_words, nb::arg("words"), nb::arg("dtype"), nb::arg("result_dtype"),
        nb::arg("root") = false);
  m.def(
      "_exact_words", [](nb::handle dtype) { return tally_exact_words(sum_type_of(dtype)); },
      nb::arg("dtype"));
}

}  // namespace python
