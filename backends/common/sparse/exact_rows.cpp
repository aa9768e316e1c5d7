#include "backends/common/sparse/exact_rows.hpp"

#include "backends/common/sparse/gathered.hpp"
#include "backends/common/sparse/row_results.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>

namespace tally::backends {
namespace {

template <class T>
double real_part(const T& value) {
  if constexpr (is_complex_v<T>) {
    return static_cast<double>(value.real());
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

/// Writes the factors of terms [begin, end) to one sum for a real row, two for a complex one.
template <class V, class X>
void place_terms(const csr_product& p, std::size_t begin, std::size_t end, double* a, double* b) {
  constexpr std::size_t step = exact_group::sums;
  const auto* const values = static_cast<const V*>(p.a.values.data);
  const auto* const x = static_cast<const X*>(p.x.data);
  const index_vector columns(p.a.column_indices), places(p.places);
  const bool sums_values = p.sums_values();
  for (std::size_t j = begin; j < end; ++j) {
    const V& v = values[p.is_permuted() ? places[j] : static_cast<std::int64_t>(j)];
    const X element = sums_values ? X(1) : x[columns[j] * p.x.increment];
    a[0] = real_part(v);
    b[0] = real_part(element);
    if constexpr (is_complex_v<V> || is_complex_v<X>) {
      // re: value.re * x.re - value.im * x.im; im: value.re * x.im + value.im * x.re.
      a[1] = a[0];
      b[1] = b[0];
      double value_im = 0, x_im = 0;
      if constexpr (is_complex_v<V>) {
        value_im = p.conjugated == conjugate::x ? -double{v.imag()} : double{v.imag()};
      }
      if constexpr (is_complex_v<X>) {
        x_im = p.conjugated == conjugate::y ? -double{element.imag()} : double{element.imag()};
      }
      if constexpr (!is_complex_v<V>) {
        b[1] = x_im;
      } else if constexpr (!is_complex_v<X>) {
        a[1] = value_im;
      } else {
        b[1] = x_im;
        a += step, b += step;
        a[0] = -value_im;
        b[0] = x_im;
        a[1] = value_im;
        b[1] = real_part(element);
      }
    }
    a += step, b += step;
  }
}

using placer = void(const csr_product&, std::size_t, std::size_t, double*, double*);
constexpr auto placers = table_over<detail::matrix_value_types>([]<class V>() {
  return table_over<detail::spmv_vector_types>(
      []<class X>() -> placer* { return &place_terms<V, X>; });
});

/// significand * 2^exponent, decoded with integers: subnormals are slow (tuning/exact.md:
/// binary_number).
struct binary_number {
  std::int64_t significand;
  int field;
  int exponent;

  explicit binary_number(double value) {
    const auto bits = __builtin_bit_cast(std::uint64_t, value);
    field = static_cast<int>(bits >> 52 & 0x7ff);
    const auto fraction = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << 52) - 1));
    const std::int64_t magnitude = fraction | std::int64_t{field != 0} << 52;
    const std::int64_t sign = -static_cast<std::int64_t>(bits >> 63);
    significand = (magnitude ^ sign) - sign;
    exponent = field + (field == 0) - 1075;
  }
  bool is_finite() const { return field != 0x7ff; }
};

/// Sums term by term, in the limbs of an exact_sum that the terms reach.
template <class R>
[[gnu::noinline]] R sum_one(const exact_group& group, std::size_t i) {
  using exact = exact_sum<double>;
  __extension__ using wide = __int128;
  constexpr std::size_t step = exact_group::sums;
  constexpr int part_bits = 62;
  const double* const a = group.a + i;
  const double* const b = group.b + i;
  double special = 0;
  int smallest = exact::highest_exponent, largest = exact::lowest_exponent;
  for (std::size_t k = 0; k < group.length; ++k) {
    const binary_number x(a[k * step]), y(b[k * step]);
    if (!x.is_finite() || !y.is_finite()) special += a[k * step] * b[k * step];
    if (x.significand == 0 || y.significand == 0) continue;
    smallest = std::min(smallest, x.exponent + y.exponent);
    largest = std::max(largest, x.exponent + y.exponent);
  }
  if (special != 0) return canonical(static_cast<R>(special));
  if (smallest > largest) return 0;
  std::int64_t pieces[3];
  const int low = exact::split(0, smallest, pieces);
  const int high = exact::split(0, largest + part_bits, pieces) + 3;
  std::int64_t words[exact::words];  // set: low to high, and the last three
  std::fill(words + low, words + high + 1, 0);
  std::fill(words + exact::limbs, words + exact::words, 0);
  for (std::size_t k = 0; k < group.length; ++k) {
    const binary_number x(a[k * step]), y(b[k * step]);
    const wide product = wide{x.significand} * y.significand;
    if (product == 0) continue;
    const auto add = [&](std::int64_t m, int exponent) {
      const int first = exact::split(m, exponent, pieces);
      for (int piece = 0; piece < 3; ++piece) words[first + piece] += pieces[piece];
    };
    const int exponent = x.exponent + y.exponent;
    add(static_cast<std::int64_t>(product & ((wide{1} << part_bits) - 1)), exponent);
    add(static_cast<std::int64_t>(product >> part_bits), exponent + part_bits);
  }
  return exact::round_words<R>(words, low, high + 1);
}

template <class A>
class exact_rows {
  using R = real_t<A>;
  static constexpr std::size_t parts = sizeof(A) / sizeof(R);
  static constexpr std::size_t rows_of_group = exact_group::sums / parts;

 public:
  exact_rows(const csr_product& p, const exact_row_kernels& kernels)
      : p_(p),
        kernels_(kernels),
        rows_(p.a),
        place_(placers[p.a.values.element][p.x.element]),
        terms_per_sum_(is_complex(p.a.values.element) && is_complex(p.x.element) ? 2 : 1) {}

  void sum(std::size_t first, std::size_t n, A* sums) {
    for (std::size_t i = 0; i < n;) {
      std::size_t rows = 0, length = 0;
      for (; rows < std::min(n - i, rows_of_group); ++rows) {
        const std::size_t of_row = rows_.length(first + i + rows) * terms_per_sum_;
        if (of_row > exact_group::max_length) break;
        length = std::max(length, of_row);
      }
      if (rows > 0) {
        sum_group(first + i, rows, length, reinterpret_cast<R*>(sums + i));
      } else {
        sum_long_row(first + i, sums[i]);
        rows = 1;
      }
      i += rows;
    }
  }

 private:
  void sum_group(std::size_t first, std::size_t rows, std::size_t length, R* sums) {
    if (length == 0) {
      std::fill_n(sums, parts * rows, R{0});
      return;
    }
    constexpr std::size_t step = exact_group::sums;
    for (std::size_t i = 0; i < rows_of_group; ++i) {
      const std::size_t begin = i < rows ? rows_.begin(first + i) : 0;
      const std::size_t end = i < rows ? rows_.end(first + i) : 0;
      place_(p_, begin, end, room_.a + parts * i, room_.b + parts * i);
      for (std::size_t k = (end - begin) * terms_per_sum_; k < length; ++k) {
        for (std::size_t part = 0; part < parts; ++part) {
          room_.a[k * step + parts * i + part] = room_.b[k * step + parts * i + part] = 0;
        }
      }
    }
    const exact_group group{room_.a, room_.b, length, std::is_same_v<R, float>};
    double found[step];
    if (kernels_.sum_group != nullptr) {
      kernels_.sum_group(group, found);
    } else {
      std::fill_n(found, step, std::numeric_limits<double>::quiet_NaN());
    }
    for (std::size_t i = 0; i < parts * rows; ++i) {
      sums[i] = found[i] == found[i] ? static_cast<R>(found[i]) : sum_one<R>(group, i);
    }
  }

  [[gnu::noinline]] void sum_long_row(std::size_t row, A& result) {
    exact_sums sum;
    add_part_of_row(p_, rows_.begin(row), rows_.end(row), kernels_.node, room_, sum);
    result = rounded_row<A>(sum);
  }

  const csr_product& p_;
  const exact_row_kernels& kernels_;
  row_bounds rows_;
  placer* place_;
  std::size_t terms_per_sum_;
  exact_factors room_;
};

}  // namespace

// Nodes take contiguous vectors, so elements are gathered by blocks.
void add_part_of_row(const csr_product& a, std::size_t begin, std::size_t end, exact_node& node,
                     exact_factors& room, exact_sums& to) {
  const index_vector columns(a.a.column_indices);
  exact_arguments part;
  part.conjugated = a.conjugated;
  if (a.sums_values()) {
    part.term = exact_term::value;
    part.x = a.a.values.slice(begin, end - begin);
    return node(part, to);
  }
  const std::size_t max_terms =
      sizeof(room.a) / std::max(size_of(a.x.element), size_of(a.a.values.element));
  auto* const values = reinterpret_cast<std::byte*>(room.a);
  auto* const elements = reinterpret_cast<std::byte*>(room.b);
  for (std::size_t j = begin; j < end; j += max_terms) {
    const std::size_t terms = std::min(max_terms, end - j);
    part.x = a.is_permuted() ? gathered(a.a.values, index_vector(a.places), j, terms, values)
                             : a.a.values.slice(j, terms);
    part.y = gathered(a.x, columns, j, terms, elements);
    node(part, to);
  }
}

template <class A>
void multiply_rows_exactly(const csr_product& a, std::size_t first, std::size_t n,
                           const exact_row_kernels& kernels) {
  exact_rows<A> rows(a, kernels);
  if (are_sums<A>(a)) return rows.sum(first, n, static_cast<A*>(a.y.data) + first);
  std::array<A, 32> sums;  // small: see exact_factors
  for (std::size_t i = 0; i < n; i += sums.size()) {
    const std::size_t count = std::min(sums.size(), n - i);
    rows.sum(first + i, count, sums.data());
    write_rows(a, first + i, count, sums.data());
  }
}

template void multiply_rows_exactly<float>(const csr_product&, std::size_t, std::size_t,
                                           const exact_row_kernels&);
template void multiply_rows_exactly<double>(const csr_product&, std::size_t, std::size_t,
                                            const exact_row_kernels&);
template void multiply_rows_exactly<std::complex<float>>(const csr_product&, std::size_t,
                                                         std::size_t, const exact_row_kernels&);
template void multiply_rows_exactly<std::complex<double>>(const csr_product&, std::size_t,
                                                          std::size_t, const exact_row_kernels&);

}  // namespace tally::backends
