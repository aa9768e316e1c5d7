// The exact grade on Kokkos: superaccumulators of a host's threads, or a device's levels, added by
// integer atomics.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/kokkos/levels.hpp"
#include "backends/kokkos/sums.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

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

template <class T>
KOKKOS_FUNCTION split_number number_of(const own_numbers<T>& x, std::size_t i, int part) {
  return {x.template get<double>(i, part), 0};
}
KOKKOS_FUNCTION inline split_number number_of(const numbers& x, std::size_t i, int part) {
  if (x.v.number != type::int64) return {x.get<double>(i, part), 0};
  const auto value = x.get<std::int64_t>(i, part);
  const std::int64_t low = value & 0xffffffff;
  return {static_cast<double>(value - low), static_cast<double>(low)};
}

template <class Sum>
KOKKOS_FUNCTION void add(Sum& sum, const split_number& v) {
  sum.add(v.high);
  if (v.low != 0) sum.add(v.low);
}

template <class Sum>
KOKKOS_FUNCTION void add_product(Sum& sum, const split_number& a, const split_number& b) {
  if (a.low == 0 && b.low == 0) return sum.add_product(a.high, b.high);
  if (!a.is_finite() || !b.is_finite()) {  // 0 of a part is not 0 of the whole
    sum.add_product(a.whole(), b.whole());
    return;
  }
  sum.add_product(a.high, b.high);
  sum.add_product(a.high, b.low);
  sum.add_product(a.low, b.high);
  sum.add_product(a.low, b.low);
}

/// A kind of terms known at compile time, in place of an exact_term.
template <exact_term what>
struct known_term {
  explicit known_term(exact_term) {}
  KOKKOS_FUNCTION constexpr operator exact_term() const { return what; }
};

/// Terms of both parts of a sum.
template <class Numbers, class Term = exact_term>
struct exact_terms {
  static constexpr bool is_known = !std::is_same_v<Numbers, numbers>;
  /// Terms that a thread loads before it adds them.
  static constexpr std::size_t at_once = is_known ? 4 : 1;
  /// Parts of a term in one level, at most.
  static constexpr std::size_t parts = is_known ? 2 : 16;

  Term term;
  Numbers x, y;
  conjugate conjugated;
  weighted_vectors weighted;
  bool to_float;  // the type of weighted products

  explicit exact_terms(const exact_arguments& a)
      : term(a.term),
        x(a.x),
        y(a.y),
        conjugated(a.conjugated),
        weighted(a.x, a.y, a.mask),
        to_float(a.result.element == type::float32) {}

  /// Numbers of a term.
  struct loaded {
    split_number xr, xi, yr, yi;
  };

  KOKKOS_FUNCTION bool is_product() const { return term == exact_term::product; }
  KOKKOS_FUNCTION bool is_complex() const {
    return x.is_complex() || (is_product() && y.is_complex());
  }

  KOKKOS_FUNCTION loaded load(std::size_t i) const {
    loaded of{};
    if (term == exact_term::weighted) {
      of.xr.high = to_float ? double{weighted.product<float>(i)} : weighted.product<double>(i);
      return of;
    }
    of.xr = number_of(x, i, 0);
    if (x.is_complex()) of.xi = number_of(x, i, 1);
    if (!is_product()) return of;
    of.yr = number_of(y, i, 0);
    if (y.is_complex()) of.yi = number_of(y, i, 1);
    return of;
  }

  template <class Sum>
  KOKKOS_FUNCTION void add(const loaded& of, Sum& re, Sum& im) const {
    const bool x_complex = x.is_complex();
    switch (static_cast<exact_term>(term)) {
      case exact_term::value:
        kokkos::add(re, of.xr);
        if (x_complex) kokkos::add(im, of.xi);
        return;
      case exact_term::magnitude:
        kokkos::add(re, of.xr.whole() < 0 ? -of.xr : of.xr);
        if (x_complex) kokkos::add(re, of.xi.whole() < 0 ? -of.xi : of.xi);
        return;
      case exact_term::square:
        add_product(re, of.xr, of.xr);
        if (x_complex) add_product(re, of.xi, of.xi);
        return;
      case exact_term::weighted:
        re.add_product(of.xr.high, of.xr.high);
        return;
      case exact_term::product:
        break;
    }
    const bool y_complex = y.is_complex();
    const split_number xi = conjugated == conjugate::x ? -of.xi : of.xi;
    const split_number yi = conjugated == conjugate::y ? -of.yi : of.yi;
    add_product(re, of.xr, of.yr);
    if (x_complex && y_complex) add_product(re, -xi, yi);
    if (y_complex) add_product(im, of.xr, yi);
    if (x_complex) add_product(im, xi, of.yr);
  }
};

KOKKOS_INLINE_FUNCTION void add_words(const accumulator& sum, std::int64_t* to) {
  std::int64_t own[accumulator::words];
  sum.to_words(own);
  for (int i = 0; i < accumulator::words; ++i) {
    if (own[i] != 0) Kokkos::atomic_add(to + i, own[i]);
  }
}

/// Adds blocks of terms, a host's thread or a device's team one after another, and each block's
/// normal forms to `words`: real, then imaginary.
template <class Terms>
struct add_blocks {
  static constexpr int words_of_both = 2 * accumulator::words;

  Terms terms;
  std::size_t size, length;
  std::int64_t* words;

  KOKKOS_FUNCTION void operator()(const launch_index& at) const {
    if constexpr (on_host) {
      const environment_guard environment;
      accumulator re, im;
      for (std::size_t i = begin_of(at); i < end_of(at); ++i) terms.add(terms.load(i), re, im);
      add_words(re, words);
      add_words(im, words + accumulator::words);
    } else {
      add_block(at);
    }
  }

  KOKKOS_FUNCTION std::size_t begin_of(std::size_t block) const { return block * length; }
  KOKKOS_FUNCTION std::size_t end_of(std::size_t block) const {
    return size - begin_of(block) < length ? size : begin_of(block + 1);
  }

  /// Terms i, i + step, ..., loaded at once.
  template <std::size_t... k>
  KOKKOS_FUNCTION void add_some(std::size_t i, std::size_t step, level_sum& re, level_sum& im,
                                std::index_sequence<k...>) const {
    const typename Terms::loaded of[] = {terms.load(i + k * step)...};
    (terms.add(of[k], re, im), ...);
  }

  KOKKOS_FUNCTION void add_block(const team_member& team) const {
    const team_memory<std::int64_t> shared(team.team_scratch(0), words_of_both);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, words_of_both),
                         [&](int i) { shared(i) = 0; });
    team.team_barrier();
    const auto block = static_cast<std::size_t>(team.league_rank());
    const auto threads = static_cast<std::size_t>(team.team_size());
    const std::size_t end = end_of(block);
    level_sum re(shared.data()), im(shared.data() + accumulator::words);
    constexpr std::size_t at_once = Terms::at_once;
    std::size_t i = begin_of(block) + static_cast<std::size_t>(team.team_rank());
    largest_exponent some_re, some_im;
    if (i < end) terms.add(terms.load(i), some_re, some_im);
    re.start(team, some_re);
    if (terms.is_complex()) im.start(team, some_im);
    for (; i + (at_once - 1) * threads < end; i += at_once * threads) {
      add_some(i, threads, re, im, std::make_index_sequence<at_once>());
    }
    for (; i < end; i += threads) terms.add(terms.load(i), re, im);
    re.flush(team);
    if (terms.is_complex()) im.flush(team);
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2), [&](int part) {
      const int first = part * accumulator::words;
      add_words(accumulator::from_words(shared.data() + first), words + first);
    });
  }

  /// Queues it.
  void run(const space& on) {
    if constexpr (on_host) {
      length = std::max<std::size_t>(1024, size >> 20);
      Kokkos::parallel_for("tally exact",
                           Kokkos::RangePolicy<space>(on, 0, (size + length - 1) / length), *this);
    } else {
      constexpr std::size_t some_teams = 1024, min_terms_of_thread = 8;
      constexpr int threads = 256;
      length = std::clamp((size + some_teams - 1) / some_teams, threads * min_terms_of_thread,
                          level_sum::max_parts / Terms::parts);
      const auto teams = static_cast<int>((size + length - 1) / length);
      if (teams == 0) return;
      using four_a_processor = Kokkos::LaunchBounds<threads, 4>;  // for more loads in flight
      run_teams<std::int64_t, four_a_processor>(on, "tally exact", teams, threads, words_of_both,
                                                *this);
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

/// Calls f with a kind of terms.
template <class F>
void with_term(exact_term term, const F& f) {
  switch (term) {
    case exact_term::value:
      return f.template operator()<exact_term::value>();
    case exact_term::magnitude:
      return f.template operator()<exact_term::magnitude>();
    case exact_term::square:
      return f.template operator()<exact_term::square>();
    case exact_term::weighted:
      return f.template operator()<exact_term::weighted>();
    case exact_term::product:
      return f.template operator()<exact_term::product>();
  }
}

void add_terms(const space& on, const exact_arguments& a, std::int64_t* words) {
  clear(on, words, 2 * accumulator::words);
  const auto add = [&]<class Terms>(const Terms& terms) {
    add_blocks<Terms>{terms, a.x.size, 0, words}.run(on);
  };
  if constexpr (!on_host) {  // of types and terms known at compile time
    const bool has_pair = a.term == exact_term::product;
    for (const bool is_double : {false, true}) {
      const type own = is_double ? type::float64 : type::float32;
      if (a.x.element != own || (has_pair && a.y.element != own)) continue;
      return with_term(a.term, [&]<exact_term what>() {
        is_double ? add(exact_terms<own_numbers<double>, known_term<what>>(a))
                  : add(exact_terms<own_numbers<float>, known_term<what>>(a));
      });
    }
  }
  add(exact_terms<numbers>(a));
}

void run_to_words(const space& on, const exact_arguments& a) {
  constexpr std::size_t words = 2 * accumulator::words;
  auto* const sums = static_cast<std::int64_t*>(scratch(on, words * sizeof(std::int64_t)));
  add_terms(on, a, sums);
  if (a.options.wait && !on_host) {
    std::int64_t all[words];
    copy_to_host(on, sums, all, static_cast<int>(words));
    on.fence();
    add_to_words({accumulator::from_words(all), accumulator::from_words(all + accumulator::words)},
                 a.result);
    return;
  }
  const int parts = is_complex(a.result.element) ? 2 : 1;
  with_type<type_list<float, double>>(part_of(a.result.element), [&]<class T>() {
    Kokkos::parallel_for("tally words", Kokkos::RangePolicy<space>(on, 0, parts),
                         add_sums<T>{sums, parts, static_cast<std::int64_t*>(a.result.data)});
  });
  if (on_host) on.fence();
}

template <class R>
void run(const space& on, const exact_arguments& a) {
  constexpr std::size_t words = 2 * accumulator::words;
  auto* const sums = static_cast<std::int64_t*>(scratch(on, words * sizeof(std::int64_t)));
  const bool staged = a.options.wait && !on_host;  // through memory that both write
  auto* const result = static_cast<R*>(staged ? memory_of_launches(on).result : a.result.data);
  add_terms(on, a, sums);

  const int parts = is_complex(a.result.element) ? 2 : 1;
  Kokkos::parallel_for("tally result", Kokkos::RangePolicy<space>(on, 0, 1),
                       round_sums<double, R>{sums, parts, a.is_root(), result, a.divisor()});
  if (a.options.wait || on_host) on.fence();
  if (staged) std::copy_n(result, parts, static_cast<R*>(a.result.data));
}

}  // namespace

void backend::exact(const executor& where, const exact_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    if (a.result.words) return run_to_words(on, a);
    with_type<type_list<float, double>>(part_of(a.result.element),
                                        [&]<class R>() { run<R>(on, a); });
  });
}

void backend::round_words(const executor& where, const round_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    with_sum_types(a, [&]<class T, class R>() {
      const int parts = is_complex(a.sum) ? 2 : 1;
      const std::size_t numbers = a.count * static_cast<std::size_t>(parts);
      const bool staged = a.wait && !on_host;
      auto* const results =
          static_cast<R*>(staged ? scratch(on, numbers * sizeof(R)) : a.result.data);
      Kokkos::parallel_for("tally round", Kokkos::RangePolicy<space>(on, 0, a.count),
                           round_sums<T, R>{a.words, parts, a.root, results});
      if (staged) copy_to_host(on, results, a.result.data, static_cast<int>(numbers));
    });
    if (a.wait || on_host) on.fence();
  });
}

}  // namespace tally::backends::kokkos
