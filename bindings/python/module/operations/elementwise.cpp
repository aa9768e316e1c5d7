#include "operations/elementwise.hpp"

#include "arrays/layout.hpp"
#include "module.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

namespace python {

namespace {

constexpr int max_vectors = 4, max_factors = 3;

/// The type of a new result: the wider one of the higher kind, and float32 where float16 or
/// bfloat16 would be far narrower than an integer.
tally_type joined(tally_type x, tally_type y) {
  if (x == y) return x;
  if (x > y) std::swap(x, y);
  if (is_complex(y)) return is_double(x) || is_double(y) ? TALLY_COMPLEX128 : TALLY_COMPLEX64;
  if (x == TALLY_FLOAT16 && y == TALLY_BFLOAT16) return TALLY_FLOAT32;
  if (x == TALLY_INT8 && y == TALLY_UINT8) return TALLY_INT32;
  const bool is_wide = x == TALLY_INT32 || x == TALLY_INT64;
  if (is_wide && (y == TALLY_FLOAT16 || y == TALLY_BFLOAT16)) return TALLY_FLOAT32;
  return y;
}

/// A C-ordered array of the shape of `like`.
void layout_c_order(array& x, const array& like, tally_type type, void* data) {
  x.data = static_cast<const char*>(data);
  x.type = type;
  x.item = static_cast<int>(tally_type_size(type));
  x.ndim = like.ndim;
  std::int64_t dense = 1;
  for (int i = like.ndim; i-- > 0; dense *= like.shape[i]) {
    x.shape[i] = like.shape[i];
    x.stride[i] = dense;
  }
}

/// Dimensions of arrays of one shape, merged where all of them allow it, in the order of the last
/// one's memory.
struct joint_layout {
  int ndim = 0;
  std::int64_t size[max_dimensions], stride[max_vectors][max_dimensions];
  int vectors;

  joint_layout(const array* a, int count) : vectors(count) {
    const array& written = a[count - 1];
    int order[max_dimensions];
    std::iota(order, order + written.ndim, 0);
    std::stable_sort(order, order + written.ndim, [&](int i, int j) {
      return std::abs(written.stride[i]) > std::abs(written.stride[j]);
    });
    if (written.size() == 0) {
      ndim = 1;
      size[0] = 0;
      for (int v = 0; v < vectors; ++v) stride[v][0] = 1;
      return;
    }
    for (int i = 0; i < written.ndim; ++i) add(a, order[i]);
  }

  /// The fastest dimension's elements, and the distance of a vector's.
  std::int64_t inner() const { return ndim == 0 ? 1 : size[ndim - 1]; }
  std::int64_t step(int v) const { return ndim == 0 ? 1 : stride[v][ndim - 1]; }
  /// Offset of a vector's row of the fastest dimension.
  std::int64_t offset(int v, std::int64_t row) const {
    std::int64_t at = 0;
    for (int d = ndim - 1; d-- > 0; row /= size[d]) at += row % size[d] * stride[v][d];
    return at;
  }

 private:
  void add(const array* a, int axis) {
    const std::int64_t n = a[0].shape[axis];
    if (n == 1) return;
    bool merges = ndim > 0;
    for (int v = 0; v < vectors && merges; ++v) {
      merges = stride[v][ndim - 1] == n * a[v].stride[axis];
    }
    if (merges) {
      size[ndim - 1] *= n;
    } else {
      size[ndim++] = n;
    }
    for (int v = 0; v < vectors; ++v) stride[v][ndim - 1] = a[v].stride[axis];
  }
};

/// Addresses of an array: from its lowest byte to behind its highest.
std::pair<const char*, const char*> range_of(const array& a) {
  const char *low = a.data, *high = a.data + a.item;
  for (int i = 0; i < a.ndim; ++i) {
    const std::int64_t reach = (a.shape[i] - 1) * a.stride[i] * a.item;
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

/// Tally compares one vector with one; of several calls the arrays as a whole are compared.
void require_apart(const call& c, const array* a, const char* const* names, int count) {
  const array& z = a[count - 1];
  const auto [low, high] = range_of(z);
  for (int v = 0; v + 1 < count; ++v) {
    const bool is_same = a[v].data == z.data && a[v].item == z.item &&
                         std::equal(z.stride, z.stride + z.ndim, a[v].stride);
    const auto [from, to] = range_of(a[v]);
    if (!is_same && from < high && low < to) {
      c.fail(PyExc_ValueError, std::string(names[count - 1]) + " shares memory with " + names[v]);
    }
  }
}

}  // namespace

factor number::read(const call& c, const char* name, nb::handle given) {
  const auto keep = [&](tally_type type, auto v) {
    std::memcpy(value_, &v, sizeof v);
    return factor{type, value_};
  };
  if (PyFloat_CheckExact(given.ptr())) return keep(TALLY_FLOAT64, PyFloat_AsDouble(given.ptr()));
  if (PyLong_CheckExact(given.ptr())) {
    int is_beyond = 0;
    const std::int64_t v = PyLong_AsLongLongAndOverflow(given.ptr(), &is_beyond);
    if (is_beyond != 0) c.fail(PyExc_OverflowError, std::string(name) + " is beyond int64");
    return keep(TALLY_INT64, v);
  }
  if (!read_numpy(given, a_)) read_as_numpy(given, a_);
  if (a_.ndim != 0 || a_.is_unsigned) {
    c.fail(PyExc_TypeError, std::string(name) + " is no number that Tally has");
  }
  return {a_.type, a_.data};
}

nb::object transform(const elementwise& f, std::initializer_list<argument> arguments,
                     nb::handle dtype, nb::handle backend) {
  call c(f.name, backend);
  number numbers[max_factors];
  factor factors[max_factors];
  array a[max_vectors];
  const char* names[max_vectors];
  int factor_count = 0, count = 0;
  std::optional<results> made;
  nb::object written;
  for (const argument& given : arguments) {
    if (given.is == role::factor) {
      factors[factor_count] = numbers[factor_count].read(c, given.name, given.value);
      ++factor_count;
      continue;
    }
    array& x = a[count];
    names[count++] = given.name;
    if (given.is == role::in || given.is == role::mask) {
      c.read(given.name, given.value, x);
      c.require_signed(given.name, x);
    } else if (!given.value.is_none()) {
      c.write(given.name, given.value, x);
      written = nb::borrow(given.value);
    } else {
      const int first = arguments.begin()->is == role::mask ? 1 : 0;
      tally_type type = a[first].type;
      for (int v = first + 1; v + 1 < count; ++v) type = joined(type, a[v].type);
      if (f.result == result_type::modulus) type = real_of(type);
      if (f.result == result_type::scan) type = sum_type(type, type);
      if (f.result == result_type::truth) type = TALLY_BOOL;
      bool is_unsigned = false;
      type = chosen_type(dtype, type, is_unsigned);
      made.emplace(c, a[0], a[0].ndim, a[0].shape, type, is_unsigned, nb::none());
      layout_c_order(x, a[0], type, made->data());
    }
  }
  for (int v = 1; v < count; ++v) c.require_same_shape(names[0], a[0], names[v], a[v]);
  if (f.result == result_type::scan && a[0].ndim != 1) {
    c.fail(PyExc_ValueError, "x has several dimensions");
  }
  if (made) made->require_written(c);
  const joint_layout l(a, count);
  if (l.ndim > 1) require_apart(c, a, names, count);
  const std::int64_t n = l.inner(), all = a[0].size(), rows = n > 0 ? all / n : 1;
  c.run(all, [&](const tally_executor* where) {
    tally_status s = TALLY_SUCCESS;
    for (std::int64_t row = 0; row < rows && s == TALLY_SUCCESS; ++row) {
      vector v[max_vectors];
      for (int i = 0; i < count; ++i) {
        const char* const first = a[i].data + l.offset(i, row) * a[i].item;
        v[i] = vector_at(first, n, l.step(i), a[i].type, a[i].item);
      }
      s = f.function(where, static_cast<std::size_t>(n), factors, v);
    }
    return s;
  });
  return made ? made->object() : written;
}

}  // namespace python
