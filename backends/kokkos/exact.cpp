// The exact grade on Kokkos: superaccumulators per thread, added by integer atomics.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/kokkos/sums.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <algorithm>
#include <cstdint>

namespace tally::backends::kokkos {
namespace {

using accumulator = exact_sum<double>;

/// Real number as the sum of two doubles, for int64.
struct split_number {
  double high, low;

  KOKKOS_FUNCTION split_number operator-() const { return {-high, -low}; }
  KOKKOS_FUNCTION double whole() const { return high + low; }
  KOKKOS_FUNCTION bool is_finite() const { return high - high == 0; }
};

KOKKOS_FUNCTION inline split_number number_of(const numbers& x, std::size_t i, int part) {
  if (x.v.number != type::int64) return {x.get<double>(i, part), 0};
  const auto value = x.get<std::int64_t>(i, part);
  const std::int64_t low = value & 0xffffffff;
  return {static_cast<double>(value - low), static_cast<double>(low)};
}

KOKKOS_FUNCTION inline void add(accumulator& sum, const split_number& v) {
  sum.add(v.high);
  sum.add(v.low);
}

KOKKOS_FUNCTION inline void add_product(accumulator& sum, const split_number& a,
                                        const split_number& b) {
  if (!a.is_finite() || !b.is_finite()) {  // 0 of a part is not 0 of the whole
    sum.add_product(a.whole(), b.whole());
    return;
  }
  sum.add_product(a.high, b.high);
  sum.add_product(a.high, b.low);
  sum.add_product(a.low, b.high);
  sum.add_product(a.low, b.low);
}

/// Adds a block of terms, and its normal forms to `words`.
struct add_run {
  exact_term term;
  numbers x, y;
  conjugate conjugated;
  std::size_t size, length;
  std::int64_t* words;  // real, then imaginary
  weighted_vectors weighted;
  bool to_float;  // the type of weighted products

  KOKKOS_FUNCTION void operator()(std::size_t run) const {
    const environment_guard environment;
    accumulator re, im;
    const std::size_t begin = run * length;
    const std::size_t end = size - begin < length ? size : begin + length;
    for (std::size_t i = begin; i < end; ++i) add_term(i, re, im);
    add_words(re, words);
    add_words(im, words + accumulator::words);
  }

  KOKKOS_FUNCTION void add_term(std::size_t i, accumulator& re, accumulator& im) const {
    const bool x_complex = x.is_complex();
    const split_number xr = number_of(x, i, 0);
    split_number xi = x_complex ? number_of(x, i, 1) : split_number{0, 0};
    switch (term) {
      case exact_term::value:
        add(re, xr);
        add(im, xi);
        return;
      case exact_term::magnitude:
        add(re, xr.whole() < 0 ? -xr : xr);
        add(re, xi.whole() < 0 ? -xi : xi);
        return;
      case exact_term::square:
        add_product(re, xr, xr);
        if (x_complex) add_product(re, xi, xi);
        return;
      case exact_term::weighted: {
        const double number =
            to_float ? double{weighted.product<float>(i)} : weighted.product<double>(i);
        re.add_product(number, number);
        return;
      }
      case exact_term::product:
        break;
    }
    const bool y_complex = y.is_complex();
    const split_number yr = number_of(y, i, 0);
    split_number yi = y_complex ? number_of(y, i, 1) : split_number{0, 0};
    if (conjugated == conjugate::x) xi = -xi;
    if (conjugated == conjugate::y) yi = -yi;
    add_product(re, xr, yr);
    if (x_complex && y_complex) add_product(re, -xi, yi);
    if (y_complex) add_product(im, xr, yi);
    if (x_complex) add_product(im, xi, yr);
  }

  KOKKOS_FUNCTION static void add_words(const accumulator& sum, std::int64_t* to) {
    std::int64_t own[accumulator::words];
    sum.to_words(own);
    for (int i = 0; i < accumulator::words; ++i) {
      if (own[i] != 0) Kokkos::atomic_add(to + i, own[i]);
    }
  }
};

template <class T>
struct add_sums {
  const std::int64_t* words;
  int parts;
  std::int64_t* to;

  KOKKOS_FUNCTION void operator()(std::size_t part) const {
    std::int64_t own[accumulator::words];
    accumulator::from_words(words + part * accumulator::words).to_words(own);
    add_normal_form<T>(own, to + part * exact_sum<T>::words, add_to_word());
  }
};

template <class T, class R>
struct round_sums {
  const std::int64_t* words;
  int parts;
  bool root;
  R* results;
  std::size_t divisor = 0;  // of a mean, whose root is the result

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    round_sum<T>(words, parts, root, results, i);
    if (divisor > 0) results[i] = root_of_mean(results[i], divisor);
  }
};

void add_terms(const space& where, const exact_arguments& a, std::int64_t* words) {
  // Blocks: threads meet rarely, yet are many.
  const std::size_t length = std::max<std::size_t>(1024, a.x.size >> 20);
  clear(where, words, 2 * accumulator::words);
  Kokkos::parallel_for(
      "tally exact", Kokkos::RangePolicy<space>(where, 0, (a.x.size + length - 1) / length),
      add_run{a.term, numbers(a.x), numbers(a.y), a.conjugated, a.x.size, length, words,
              weighted_vectors(a.x, a.y, a.mask), a.result.element == type::float32});
}

void run_to_words(const exact_arguments& a) {
  const space where;
  constexpr std::size_t words = 2 * accumulator::words;
  auto* const sums = static_cast<std::int64_t*>(scratch(words * sizeof(std::int64_t)));
  add_terms(where, a, sums);
  if (a.options.wait && !on_host) {
    std::int64_t all[words];
    copy_to_host(where, sums, all, static_cast<int>(words));
    where.fence();
    add_to_words({accumulator::from_words(all), accumulator::from_words(all + accumulator::words)},
                 a.result);
    return;
  }
  const int parts = is_complex(a.result.element) ? 2 : 1;
  with_type<type_list<float, double>>(part_of(a.result.element), [&]<class T>() {
    Kokkos::parallel_for("tally words", Kokkos::RangePolicy<space>(where, 0, parts),
                         add_sums<T>{sums, parts, static_cast<std::int64_t*>(a.result.data)});
  });
  if (on_host) where.fence();
}

template <class R>
void run(const exact_arguments& a) {
  const space where;
  constexpr std::size_t words = 2 * accumulator::words;
  auto* const sums =
      static_cast<std::int64_t*>(scratch(words * sizeof(std::int64_t) + 2 * sizeof(R)));
  add_terms(where, a, sums);

  const bool staged = a.options.wait && !on_host;
  auto* const result = static_cast<R*>(staged ? static_cast<void*>(sums + words) : a.result.data);
  const int parts = is_complex(a.result.element) ? 2 : 1;
  Kokkos::parallel_for("tally result", Kokkos::RangePolicy<space>(where, 0, 1),
                       round_sums<double, R>{sums, parts, a.is_root(), result, a.divisor()});
  if (staged) copy_to_host(where, result, a.result.data, parts);
  if (a.options.wait || on_host) where.fence();
}

}  // namespace

void backend::exact(const executor&, const exact_arguments& a) const {
  locked([&] {
    if (a.result.words) return run_to_words(a);
    with_type<type_list<float, double>>(part_of(a.result.element), [&]<class R>() { run<R>(a); });
  });
}

void backend::round_words(const executor&, const round_arguments& a) const {
  locked([&] {
    const space where;
    with_sum_types(a, [&]<class T, class R>() {
      const int parts = is_complex(a.sum) ? 2 : 1;
      const std::size_t numbers = a.count * static_cast<std::size_t>(parts);
      const bool staged = a.wait && !on_host;
      auto* const results = static_cast<R*>(staged ? scratch(numbers * sizeof(R)) : a.result.data);
      Kokkos::parallel_for("tally round", Kokkos::RangePolicy<space>(where, 0, a.count),
                           round_sums<T, R>{a.words, parts, a.root, results});
      if (staged) copy_to_host(where, results, a.result.data, static_cast<int>(numbers));
    });
    if (a.wait || on_host) where.fence();
  });
}

}  // namespace tally::backends::kokkos
