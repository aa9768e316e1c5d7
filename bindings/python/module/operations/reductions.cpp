// Bits: a whole array is summed in the order of its indices (C order), whatever its layout; each
// slice along axes likewise. A layout that is no vector goes through blocks, which are nodes of the
// order's tree (exact: parts of one unrounded sum), so nothing is copied whole.
#include "operations/reductions.hpp"

#include "arrays/axes.hpp"
#include "arrays/layout.hpp"

#include <tally/numerics/order.hpp>
#include <tally/numerics/order_tree.hpp>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace python {

namespace {

static_assert(block % tally::order::chunk == 0);

template <class T>
struct complex_sum {
  T re, im;
  friend complex_sum operator+(const complex_sum& a, const complex_sum& b) {
    return {a.re + b.re, a.im + b.im};
  }
};

template <class T>
void unify_nan(T& v) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) v = std::numeric_limits<T>::quiet_NaN();  // as the contract has it
  }
}
template <class T>
void unify_nan(complex_sum<T>& v) {
  unify_nan(v.re);
  unify_nan(v.im);
}

/// Joins the sums of blocks, in the default floating-point environment.
template <class Sum>
tally_status sum_blocks(const reduction& r, const tally_executor* where, const block_reader& x,
                        tally_type type, void* result) {
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  std::vector<Sum> nodes(x.blocks());
  const tally_status s = x.for_each([&](std::size_t i, std::size_t n, const void* data) {
    return r.function(where, n, x.type, data, 1, type, &nodes[i], nullptr);
  });
  tally::order::tree<Sum> tree;
  for (const Sum& node : nodes) tree.add(node);
  Sum sum = tree.total();
  unify_nan(sum);
  if (s == TALLY_SUCCESS) std::memcpy(result, &sum, sizeof sum);
  std::fesetenv(&environment);
  return s;
}

tally_status sum_in_order(const reduction& r, const tally_executor* where, const block_reader& x,
                          tally_type type, void* result) {
  switch (type) {
    case TALLY_FLOAT32:
      return sum_blocks<float>(r, where, x, type, result);
    case TALLY_FLOAT64:
      return sum_blocks<double>(r, where, x, type, result);
    case TALLY_COMPLEX64:
      return sum_blocks<complex_sum<float>>(r, where, x, type, result);
    case TALLY_COMPLEX128:
      return sum_blocks<complex_sum<double>>(r, where, x, type, result);
    default:
      return sum_blocks<std::uint64_t>(r, where, x, type, result);
  }
}

tally_status sum_exactly(const reduction& r, const tally_executor* where, const block_reader& x,
                         tally_type type, void* result) {
  const tally_type sum = tally_exact_sum_type(x.type, x.type, type);
  std::vector<std::int64_t> limbs(tally_exact_words(sum));
  tally_call_options o = options_of(true);
  o.form = TALLY_RESULT_WORDS;
  const tally_status s = x.for_each([&](std::size_t, std::size_t n, const void* data) {
    return r.function(where, n, x.type, data, 1, sum, limbs.data(), &o);
  });
  if (s != TALLY_SUCCESS) return s;
  const auto round = r.result == result_kind::root ? tally_round_root_words : tally_round_words;
  return round(where, 1, sum, limbs.data(), type, result, nullptr);
}

tally_type type_of(result_kind kind, tally_type x) {
  const tally_type sum = sum_type(x, x);
  if (kind == result_kind::sum) return sum;
  return kind == result_kind::root && sum == TALLY_INT64 ? TALLY_FLOAT64 : real_of(sum);
}

/// One reduction's operand, type and grade.
struct job {
  call& c;
  const reduction& r;
  array& a;
  tally_type type;
  bool exact;
  tally_wait wait;

  bool is_sum() const { return r.function == tally_sum; }

  /// Whether sums of blocks, joined in the order's tree, are the sum of all: not below a root, nor
  /// if sums of real and imaginary parts have been added, nor of a maximum.
  bool joins() const {
    if (r.function == tally_max_norm) return false;
    return exact || is_sum() || r.function == tally_sum_of_squares ||
           (r.function == tally_asum && !is_complex(a.type));
  }

  const tally_call_options* options(tally_call_options& room) const {
    if (!exact && wait == TALLY_WAIT_YES) return nullptr;
    room = options_of(exact, wait);
    return &room;
  }

  void reduce_vector(const vector& v, void* result) const {
    tally_call_options room;
    const auto* const o = options(room);
    c.run(static_cast<std::int64_t>(v.n), [&](const tally_executor* where) {
      return r.function(where, v.n, v.type, v.data, v.inc, type, result, o);
    });
  }

  /// All elements of a layout, in its order.
  void reduce_layout(const char* data, const layout& l, void* result) const {
    if (l.ndim <= 1) {
      return reduce_vector(vector_at(data, l.length(), l.step(), a.type, a.item), result);
    }
    const block_reader x(a, data, l);
    c.run(l.elements(), [&](const tally_executor* where) {
      return exact && type != TALLY_INT64 ? sum_exactly(r, where, x, type, result)
                                          : sum_in_order(r, where, x, type, result);
    });
  }

  /// Adjacent results are sums of vectors of `n` elements, one for each index of `kept`.
  void sum_vectors(const char* data, const layout& kept, std::int64_t n, std::int64_t inc,
                   char* to) const {
    const int outside = std::max(0, kept.ndim - 2);  // more dimensions than one call takes
    const int inside = kept.ndim - outside;
    const std::int64_t k = inside > 0 ? kept.size[kept.ndim - 1] : 1;
    const std::int64_t ld = inside > 0 ? kept.stride[kept.ndim - 1] : 1;
    tally_call_options o = options_of(exact, wait);
    if (inside == 2) {
      o.outer = static_cast<std::size_t>(kept.size[kept.ndim - 2]);
      o.outer_stride = kept.stride[kept.ndim - 2];
    }
    std::int64_t calls = 1;
    for (int d = 0; d < outside; ++d) calls *= kept.size[d];
    const std::int64_t sums = kept.elements() / calls;
    const auto step = static_cast<std::int64_t>(tally_type_size(type)) * sums;
    c.run(kept.elements() * n, [&](const tally_executor* where) {
      for (std::int64_t i = 0; i < calls; ++i) {
        const char* const from = data + kept.offset(i, outside) * a.item;
        const tally_status s =
            tally_sums(where, static_cast<std::size_t>(k), static_cast<std::size_t>(n), a.type,
                       from, ld, inc, type, to + i * step, &o);
        if (s != TALLY_SUCCESS) return s;
      }
      return tally_status{TALLY_SUCCESS};
    });
  }

  /// Sums of short slices that are no vectors: several at a time are copied.
  void sum_copied_slices(const axes& x, const layout& kept, std::int64_t n, char* to) const {
    int order[max_dimensions];
    std::copy_n(x.kept, x.kept_count, order);
    std::copy_n(x.reduced, x.reduced_count, order + x.kept_count);
    const layout all = layout_of(a, order, a.ndim);
    const std::int64_t slices = kept.elements();
    const std::int64_t together = std::max<std::int64_t>(1, block / n);
    const std::unique_ptr<char[]> buffer(
        new char[static_cast<std::size_t>(std::min(together, slices) * n * a.item)]);
    const tally_call_options o = options_of(exact, wait);
    const auto step = static_cast<std::int64_t>(tally_type_size(type));
    c.run(slices * n, [&](const tally_executor* where) {
      for (std::int64_t i = 0; i < slices; i += together) {
        const std::int64_t k = std::min(together, slices - i);
        gather(a.data, all, a.item, i * n, (i + k) * n, buffer.get());
        const tally_status s =
            tally_sums(where, static_cast<std::size_t>(k), static_cast<std::size_t>(n), a.type,
                       buffer.get(), n, 1, type, to + i * step, &o);
        if (s != TALLY_SUCCESS) return s;
      }
      return tally_status{TALLY_SUCCESS};
    });
  }

  /// All elements in C order, or where the order is of no account, in that of memory.
  void reduce_whole(void* result) const {
    const char* data = a.data;
    layout l = layout_of(a);
    if (l.ndim > 1 && (exact || type == TALLY_INT64)) l = layout_in_memory(a, data);
    if (l.ndim > 1 && (c.on_device() || !joins())) {
      copy_slices(c, axes(a, nb::none(), false), a);
      data = a.data;
      l = layout_of(a);
    }
    reduce_layout(data, l, result);
  }

  void reduce_slices(const axes& x, char* to) const {
    layout kept = layout_of(a, x.kept, x.kept_count);
    layout reduced = layout_of(a, x.reduced, x.reduced_count);
    const std::int64_t slices = kept.elements(), n = reduced.elements();
    if (slices == 0) return;
    if (reduced.ndim > 1 && is_sum() && n > 0 && n < block && !c.on_device()) {
      return sum_copied_slices(x, kept, n, to);
    }
    if (reduced.ndim > 1 && (c.on_device() || !joins())) {
      copy_slices(c, x, a);
      kept = layout_of(a, x.kept, x.kept_count);
      reduced = layout_of(a, x.reduced, x.reduced_count);
    }
    if (reduced.ndim <= 1 && is_sum()) {
      return sum_vectors(a.data, kept, reduced.length(), reduced.step(), to);
    }
    const auto size = static_cast<std::int64_t>(tally_type_size(type));
    for (std::int64_t i = 0; i < slices; ++i) {
      reduce_layout(a.data + kept.offset(i) * a.item, reduced, to + i * size);
    }
  }
};

}  // namespace

nb::object reduce(const reduction& r, nb::handle x, nb::handle axis, nb::handle dtype,
                  nb::handle out, bool keepdims, bool exact, nb::handle backend) {
  call c(r.name, backend);
  array a;
  c.read("x", x, a);
  bool is_unsigned = a.is_unsigned;
  const tally_type type = chosen_type(dtype, type_of(r.result, a.type), is_unsigned);
  if (a.is_unsigned && (r.function != tally_sum || type != TALLY_INT64)) {
    c.fail(PyExc_TypeError, "x is of uint64, whose sums are of uint64 alone");
  }
  const axes over(a, axis, keepdims);
  results result(c, a, over.ndim, over.shape, type, is_unsigned, out);
  const job j{c, r, a, type, exact, result.wait()};
  if (over.kept_count == 0) {
    j.reduce_whole(result.data());
  } else {
    j.reduce_slices(over, static_cast<char*>(result.data()));
  }
  return result.object();
}

nb::object weighted(const weighted_norm& f, std::initializer_list<argument> vectors,
                    nb::handle dtype, nb::handle out, bool exact, nb::handle backend) {
  call c(f.name, backend);
  array a[3];
  vector v[3];
  int count = 0;
  for (const argument& given : vectors) {
    array& x = a[count];
    c.read(given.name, given.value, x);
    c.require_signed(given.name, x);
    c.require_same_shape("x", a[0], given.name, x);
    layout l = layout_of(x);
    if (l.ndim > 1) {
      copy_slices(c, axes(x, nb::none(), false), x);
      l = layout_of(x);
    }
    v[count++] = vector_at(x.data, l.length(), l.step(), x.type, x.item);
  }
  bool is_unsigned = false;
  const tally_type sum = sum_type(a[0].type, a[1].type);
  const tally_type type = chosen_type(dtype, sum == TALLY_INT64 ? TALLY_FLOAT64 : sum, is_unsigned);
  results result(c, a[0], 0, nullptr, type, false, out);
  const tally_call_options o = options_of(exact, result.wait());
  c.run(a[0].size(), [&](const tally_executor* where) {
    return f.function(where, v[0].n, v, type, result.data(), &o);
  });
  return result.object();
}

std::pair<std::int64_t, std::int64_t> extrema_of(call& c, const vector& integers) {
  const vector& v = integers;
  extremum_record extrema[2];
  c.run(static_cast<std::int64_t>(v.n), [&](const tally_executor* where) {
    return tally_minmax(where, v.n, v.type, v.data, v.inc, extrema, nullptr);
  });
  const auto integer = [&](const extremum_record& r) -> std::int64_t {
    const auto as = [&]<class T>(T value) {
      std::memcpy(&value, r.value, sizeof value);
      return value;
    };
    switch (v.type) {
      case TALLY_INT8:
        return as(std::int8_t());
      case TALLY_INT32:
        return as(std::int32_t());
      case TALLY_INT64:
        return as(std::int64_t());
      default:
        return as(std::uint8_t());
    }
  };
  return {integer(extrema[0]), integer(extrema[1])};
}

nb::object find(const extremum& e, nb::handle x, nb::handle axis, nb::handle out, bool keepdims,
                nb::handle backend) {
  call c(e.name, backend);
  array a;
  c.read("x", x, a);
  c.require_signed("x", a);
  const axes over(a, axis, keepdims);
  layout reduced = layout_of(a, over.reduced, over.reduced_count);
  if (reduced.ndim > 1) {
    copy_slices(c, over, a);
    reduced = layout_of(a, over.reduced, over.reduced_count);
  }
  const layout kept = layout_of(a, over.kept, over.kept_count);
  const auto slices = static_cast<std::size_t>(kept.elements());
  std::vector<extremum_record> found(2 * slices);
  c.run(a.size(), [&](const tally_executor* where) {
    tally_status s = TALLY_SUCCESS;
    for (std::size_t i = 0; i < slices && s == TALLY_SUCCESS; ++i) {
      const char* const from = a.data + kept.offset(static_cast<std::int64_t>(i)) * a.item;
      const vector v = vector_at(from, reduced.length(), reduced.step(), a.type, a.item);
      s = e.function(where, v.n, v.type, v.data, v.inc, &found[2 * i], nullptr);
    }
    return s;
  });
  nb::list objects;
  for (const extremum_part part : e.parts) {
    const bool is_index = part == extremum_part::index;
    const tally_type type = is_index ? TALLY_INT64 : a.type;
    const std::size_t size = tally_type_size(type);
    std::vector<std::byte> values(slices * size);
    for (std::size_t i = 0; i < slices; ++i) {
      const extremum_record& r = found[2 * i + (part == extremum_part::second_value ? 1 : 0)];
      std::memcpy(&values[i * size], is_index ? static_cast<const void*>(&r.index) : r.value, size);
    }
    results result(c, a, over.ndim, over.shape, type, false, out);
    result.write(c, values.data(), values.size());
    objects.append(result.object());
  }
  return e.parts.size() == 1 ? nb::object(objects[0]) : nb::tuple(objects);
}

}  // namespace python
