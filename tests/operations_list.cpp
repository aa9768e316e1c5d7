// Each public operation, for some combinations of types.
#include "tests/operations.hpp"

#include <tally/tally.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

namespace operations {

namespace {

class all_operations {
 public:
  all_operations(std::size_t n, values v, truth t, structure s)
      : n_(n), values_(v), truth_(t), structure_(s) {
    dots();
    reductions();
    multi_dots();
    intervals();
    scans();
    extrema();
    elementwise();
    histograms();
    matrices();
    assemblies_of<double>();
    assemblies_of<std::complex<float>>();
    functions();
    booleans();
  }
  std::vector<operation> take() { return std::move(all_); }

 private:
  template <class T>
  T element(std::mt19937_64& random, std::size_t i, std::size_t n) const {
    const double place = 2 * static_cast<double>(i) / static_cast<double>(n) - 1;
    const double in_order = values_ == values::ascending ? place : -place;
    if constexpr (tally::is_complex_v<T>) {
      using R = tally::real_t<T>;
      const R re = element<R>(random, i, n);
      return T(re, element<R>(random, i, n));
    } else if constexpr (std::is_same_v<T, bool>) {
      if (values_ == values::one_value || values_ == values::saturated) return true;
      if (is_in_order()) return in_order < 0;
      return data::random_element<T>(random, data::kind::plain);
    } else if constexpr (std::is_integral_v<T>) {
      if (values_ == values::saturated) return std::numeric_limits<T>::max();
      if (values_ == values::one_value) return 5;
      if (is_in_order()) return static_cast<T>(7 * (in_order + (std::is_signed_v<T> ? 0 : 1)));
      return data::random_element<T>(random, data::kind::plain);
    } else {
      // float16 has no exponents with products subnormal in float.
      using F = std::conditional_t<std::is_same_v<T, double>, double, float>;
      constexpr bool half = std::is_same_v<T, tally::float16>;
      constexpr int lowest = half ? -13 : std::numeric_limits<F>::min_exponent;
      constexpr int highest = half ? 16 : std::numeric_limits<F>::max_exponent;
      constexpr F infinity = std::numeric_limits<F>::infinity();
      const F uniform = std::uniform_real_distribution<F>(-1, 1)(random);
      const bool is_rare = i % 64 == 37;
      switch (values_) {
        case values::tiny:
          return T(std::ldexp(uniform, (random() % 2 ? lowest : lowest / 2) - 2));
        case values::subnormal:
          return T(std::ldexp(uniform, lowest - 2));
        case values::huge:
          return T(std::ldexp(uniform, highest));
        case values::wide:
          return T(std::ldexp(
              uniform, static_cast<int>(random() % static_cast<unsigned>(highest)) - highest / 2));
        case values::mixed:
          return T(i % 2 ? std::ldexp(uniform, lowest - 2) : uniform);
        case values::nan:
        case values::nans:
          return T(is_rare || values_ == values::nans ? std::numeric_limits<F>::quiet_NaN()
                                                      : uniform);
        case values::infinite:
        case values::infinities:
          return T(is_rare || values_ == values::infinities ? std::copysign(infinity, uniform)
                                                            : uniform);
        case values::zero:
          return T(std::copysign(F(0), uniform));
        case values::saturated:
          return T(std::copysign(half ? F(100) : F(1000), uniform));
        case values::one_value:
          return T(F(0.7));
        case values::ascending:
        case values::descending:
          return T(static_cast<F>(in_order));
        case values::plain:
          break;
      }
      return T(uniform);
    }
  }
  bool is_in_order() const { return values_ == values::ascending || values_ == values::descending; }

  template <class T>
  std::vector<std::byte> elements(std::size_t n, std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<std::byte> bytes(n * sizeof(T));
    for (std::size_t i = 0; i < n; ++i) {
      const T value = element<T>(random, i, n);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
    if (std::is_same_v<T, bool> && truth_ == truth::any_byte) {
      constexpr std::byte all[] = {std::byte{2}, std::byte{1}, std::byte{255}, std::byte{128},
                                   std::byte{3}};
      for (std::size_t i = 0; i < n; ++i) {
        if (bytes[i] != std::byte{}) bytes[i] = all[i % std::size(all)];
      }
    }
    return bytes;
  }
  template <class T>
  std::vector<std::byte> elements(std::uint64_t seed) const {
    return elements<T>(n_, seed);
  }
  template <class T>
  static std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  static std::vector<std::byte> untouched(std::size_t bytes) {
    return std::vector<std::byte>(bytes, std::byte{0x5a});
  }

  struct some {
    std::size_t first = 0, count = 0;
  };
  static constexpr some none = {0, 0}, first = {0, 1}, second = {1, 1}, third = {2, 1};
  static constexpr some first_two = {0, 2}, first_three = {0, 3}, second_and_third = {1, 2};

  /// One call in a group of operations with common inputs and outputs.
  struct row {
    std::string_view name;
    some inputs, outputs;
    function* call;
    bool has_host_functions = false;
  };

  /// Rows are data, and this is no template, to keep compilation short.
  void add(std::initializer_list<tally::type> types, const std::vector<input>& inputs,
           const std::vector<std::vector<std::byte>>& outputs, std::initializer_list<row> rows,
           const factors& constants = {}) {
    std::string label;
    for (const tally::type t : types) label.append("_").append(tally::name(t));
    const auto those = [](const auto& all, some part) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(part.first);
      return std::vector(begin, begin + static_cast<std::ptrdiff_t>(part.count));
    };
    for (const row& each : rows) {
      all_.push_back({std::string(each.name) + label, those(inputs, each.inputs),
                      those(outputs, each.outputs), each.call, constants, each.has_host_functions});
    }
  }

  // dot, dotc

  template <class X, class Y>
  static constexpr std::size_t dots_parts =
      tally::is_complex_v<X> || tally::is_complex_v<Y> ? 2 : 1;

  template <class X, class Y>
  void dots_of() {
    using R = tally::dot_result_t<X, Y>;
    const auto types = {tally::type_of<X>, tally::type_of<Y>};
    const std::vector<input> xy = {{elements<X>(1)}, {elements<Y>(2)}};
    const std::vector<std::vector<std::byte>> results = {untouched(sizeof(R))};
    add(types, xy, results,
        {{"dot", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::dot(where, a.in<X>(0), a.in<Y>(1), a.result<R>());
          }},
         {"dot_returned", first_two, none,
          [](const tally::executor& where, arguments& a) {
            a.keep(tally::dot(where, a.in<X>(0), a.in<Y>(1)));
          }},
         {"dot_strided", first_two, first, [](const tally::executor& where, arguments& a) {
            const auto x = a.in<X>(0);
            const auto y = a.in<Y>(1);
            tally::dot(where, tally::strided(x.data(), x.size() / 3, 3),
                       tally::strided(y.data(), y.size() / 3, -2), a.result<R>());
          }}});
    if constexpr (tally::is_complex_v<X>) {
      add(types, xy, results,
          {{"dotc", first_two, first, [](const tally::executor& where, arguments& a) {
              tally::dot(where, a.in<X>(0), a.in<Y>(1), a.result<R>(), tally::conjugate::x);
            }}});
    }
    add(types, xy, results,
        {{"dot_exact", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::dot(where, a.in<X>(0), a.in<Y>(1), a.result<R>(), tally::exact);
          }},
         {"dot_exact_strided", first_two, first,
          [](const tally::executor& where, arguments& a) {
            const auto x = a.in<X>(0);
            const auto y = a.in<Y>(1);
            tally::dot(where, tally::strided(x.data(), x.size() / 3, -3),
                       tally::strided(y.data(), y.size() / 3, 2), a.result<R>(), tally::exact);
          }},
         {"dot_exact_returned", first_two, none,
          [](const tally::executor& where, arguments& a) {
            a.keep(tally::dot(where, a.in<X>(0), a.in<Y>(1), tally::exact));
          }},
         {"dot_exact_added", first_two, none, [](const tally::executor& where, arguments& a) {
            tally::exact_sum<double> sums[dots_parts<X, Y>];
            tally::dot(where, a.in<X>(0), a.in<Y>(1), tally::add_to(sums));
            a.keep(sums[dots_parts<X, Y> - 1].template round<double>());
          }}});
  }

  void dots() {
    dots_of<double, double>();
    dots_of<float, float>();
    dots_of<float, bool>();
    dots_of<float, double>();
    dots_of<tally::float16, tally::float16>();
    dots_of<tally::bfloat16, tally::bfloat16>();
    dots_of<tally::bfloat16, double>();
    dots_of<std::int8_t, std::int32_t>();
    dots_of<std::int64_t, double>();
    dots_of<std::complex<float>, std::complex<float>>();
    dots_of<std::complex<double>, std::complex<double>>();
    dots_of<std::complex<double>, float>();
    dots_of<std::complex<float>, std::int32_t>();
  }

  // sum, asum, nrm2

  template <class X>
  void reductions_of() {
    using S = tally::sum_result_t<X>;
    using A = tally::asum_result_t<X>;
    using N = tally::nrm2_result_t<X>;
    add({tally::type_of<X>}, {{elements<X>(3)}},
        {untouched(sizeof(S)), untouched(sizeof(A)), untouched(sizeof(N))},
        {{"sum", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::sum(where, a.in<X>(0), a.result<S>());
          }},
         {"sum_returned", first, none,
          [](const tally::executor& where, arguments& a) {
            a.keep(tally::sum(where, a.in<X>(0)));
          }},
         {"asum", first, second,
          [](const tally::executor& where, arguments& a) {
            tally::asum(where, a.in<X>(0), a.result<A>());
          }},
         {"asum_returned", first, none,
          [](const tally::executor& where, arguments& a) {
            a.keep(tally::asum(where, a.in<X>(0)));
          }},
         {"nrm2", first, third,
          [](const tally::executor& where, arguments& a) {
            tally::nrm2(where, a.in<X>(0), a.result<N>());
          }},
         {"nrm2_returned", first, none,
          [](const tally::executor& where, arguments& a) {
            a.keep(tally::nrm2(where, a.in<X>(0)));
          }},
         {"sum_exact", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::sum(where, a.in<X>(0), a.result<S>(), tally::exact);
          }},
         {"asum_exact", first, second,
          [](const tally::executor& where, arguments& a) {
            tally::asum(where, a.in<X>(0), a.result<A>(), tally::exact);
          }},
         {"nrm2_exact", first, third,
          [](const tally::executor& where, arguments& a) {
            tally::nrm2(where, a.in<X>(0), a.result<N>(), tally::exact);
          }},
         {"nrm2_exact_added", first, none, [](const tally::executor& where, arguments& a) {
            tally::exact_sum<double> sum;
            tally::nrm2(where, a.in<X>(0), tally::add_to(sum));
            a.keep(sum.round_root<double>());
          }}});
  }

  template <class X, class W>
  void norms_of() {
    using N = tally::weighted_result_t<X, W>;
    using A = tally::asum_result_t<X>;
    add({tally::type_of<X>, tally::type_of<W>},
        {{elements<X>(3)}, {elements<W>(4)}, {elements<W>(5)}},
        {untouched(sizeof(N)), untouched(sizeof(A))},
        {{"wrms_norm", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::wrms_norm(where, a.in<X>(0), a.in<W>(1), a.result<N>());
          }},
         {"wrms_norm_returned", first_two, none,
          [](const tally::executor& where, arguments& a) {
            a.keep(tally::wrms_norm(where, a.in<X>(0), a.in<W>(1)));
          }},
         {"wrms_norm_mask", first_three, first,
          [](const tally::executor& where, arguments& a) {
            tally::wrms_norm_mask(where, a.in<X>(0), a.in<W>(1), a.in<W>(2), a.result<N>());
          }},
         {"wrms_norm_exact", first_three, first,
          [](const tally::executor& where, arguments& a) {
            tally::wrms_norm_mask(where, a.in<X>(0), a.in<W>(1), a.in<W>(2), a.result<N>(),
                                  tally::exact);
          }},
         {"max_norm", first, none, [](const tally::executor& where, arguments& a) {
            a.keep(tally::max_norm(where, a.in<X>(0)));
          }}});
  }

  void reductions() {
    norms_of<double, double>();
    norms_of<float, float>();
    norms_of<std::int32_t, double>();
    reductions_of<double>();
    reductions_of<float>();
    reductions_of<tally::float16>();
    reductions_of<tally::bfloat16>();
    reductions_of<bool>();
    reductions_of<std::int32_t>();
    reductions_of<std::complex<float>>();
    reductions_of<std::complex<double>>();
  }

  // multi_dot, batched_dot

  template <class X, class Y>
  void multi_dots_of() {
    using R = tally::dot_result_t<X, Y>;
    constexpr std::size_t k = 5;
    const auto types = {tally::type_of<X>, tally::type_of<Y>};
    const std::vector<input> vector_and_rows = {
        {elements<Y>(5)}, {elements<X>(k * n_, 4)}, {elements<Y>(k * n_, 5)}};
    const std::vector<std::vector<std::byte>> results = {untouched(k * sizeof(R))};
    add(types, vector_and_rows, results,
        {{"multi_dot", first_two, first, multi_dot<X, Y, R, k>},
         {"multi_dot_list", second_and_third, first, multi_dot_list<X, Y, R, k>},
         {"batched_dot", second_and_third, first, batched_dot<X, Y, R, k>},
         {"multi_dot_columns", first_two, first, columns_dot<X, Y, R, k>}});
    add(types, vector_and_rows, results,
        {{"multi_dot_exact", first_two, first, multi_dot<X, Y, R, k, tally::exact>},
         {"multi_dot_list_exact", second_and_third, first,
          multi_dot_list<X, Y, R, k, tally::exact>},
         {"batched_dot_exact", second_and_third, first, batched_dot<X, Y, R, k, tally::exact>}});
    // sums, gemv
    using S = tally::sum_result_t<X>;
    add(types, {{elements<X>(k * n_, 4)}}, {untouched(k * sizeof(S))},
        {{"sums", first, first, sums<X, S, k, false>},
         {"sums_of_columns", first, first, sums<X, S, k, true>},
         {"sums_exact", first, first, sums<X, S, k, true, tally::exact>}});
    if constexpr (!std::is_integral_v<R>) {
      add(types, vector_and_rows, {elements<R>(k, 6)},
          {{"gemv", first_two, first, gemv<X, Y, R, k, false>},
           {"gemv_of_columns", first_two, first, gemv<X, Y, R, k, true>},
           {"gemv_exact", first_two, first, gemv<X, Y, R, k, true, tally::exact>}},
          {tally::real_t<R>(0.7), tally::real_t<R>(1.3)});
    }
  }
  template <class X, class S, std::size_t k, bool columns, auto... grade>
  static void sums(const tally::executor& where, arguments& a) {
    tally::sums(where, block<k, columns>(a.in<X>(0)), a.result<S>(), grade...);
  }
  template <class X, class Y, class R, std::size_t k, bool columns, auto... grade>
  static void gemv(const tally::executor& where, arguments& a) {
    using F = tally::real_t<R>;
    tally::gemv(where, a.constants.get<F>(0), block<k, columns>(a.in<X>(1)), a.in<Y>(0),
                a.constants.get<F>(1), a.out<R>(), grade...);
  }
  template <class X, class Y, class R, std::size_t k, auto... grade>
  static void columns_dot(const tally::executor& where, arguments& a) {
    tally::multi_dot(where, block<k, true>(a.in<X>(1)), a.in<Y>(0), a.result<R>(), grade...);
  }
  template <std::size_t k, bool columns, class X>
  static auto block(std::span<X> x) {
    const std::size_t n = x.size() / k;
    return columns ? tally::rows(x.data(), k, n, 1, static_cast<std::ptrdiff_t>(k))
                   : tally::rows(x.data(), k, n);
  }
  template <class X, class Y, class R, std::size_t k, auto... grade>
  static void multi_dot(const tally::executor& where, arguments& a) {
    const auto y = a.in<Y>(0);
    tally::multi_dot(where, tally::rows(a.in<X>(1).data(), k, y.size()), y, a.result<R>(),
                     grade...);
  }
  template <class X, class Y, class R, std::size_t k, auto... grade>
  static void multi_dot_list(const tally::executor& where, arguments& a) {
    const auto x = a.in<X>(0);
    const auto y = a.in<Y>(1);
    const std::size_t n = x.size() / k;
    const std::array pairs = {tally::pair_of(x.first(n), y.first(n)),
                              tally::pair_of(x.last(n / 2), y.first(n / 2)),
                              tally::pair_of(x.first(0), y.first(0))};
    tally::multi_dot(where, pairs, a.result<R>(), grade...);
  }
  template <class X, class Y, class R, std::size_t k, auto... grade>
  static void batched_dot(const tally::executor& where, arguments& a) {
    const auto x = a.in<X>(0);
    tally::batched_dot(where, tally::rows(x.data(), k, x.size() / k),
                       tally::rows(a.in<Y>(1).data(), k, x.size() / k), a.result<R>(), grade...);
  }

  void multi_dots() {
    multi_dots_of<double, double>();
    multi_dots_of<float, float>();
    multi_dots_of<tally::bfloat16, float>();
    multi_dots_of<std::int8_t, bool>();
    multi_dots_of<std::complex<double>, std::complex<double>>();
    multi_dots_of<std::complex<float>, double>();
  }

  // sum_part, append_chunk, append_interval, finish_interval

  template <class X, class Y>
  void intervals_of() {
    using tally::summand;
    add({tally::type_of<X>, tally::type_of<Y>}, {{elements<X>(22)}, {elements<Y>(23)}}, {},
        {{"interval_dot", first_two, none, sum_of_intervals<X, Y, summand::product>},
         {"interval_sum", first_two, none, sum_of_intervals<X, X, summand::value>},
         {"interval_asum", first_two, none, sum_of_intervals<X, X, summand::magnitude>},
         {"interval_nrm2", first_two, none, sum_of_intervals<X, X, summand::square>}});
  }
  /// Sums two parts of a vector; the first ends inside a chunk.
  template <class X, class Y, tally::summand what>
  static void sum_of_intervals(const tally::executor& where, arguments& a) {
    const tally::interval_field whole = {what, tally::as_operand(a.in<X>(0)),
                                         tally::as_operand(a.in<Y>(1))};
    const std::size_t n = whole.x.size;
    const tally::interval_shape shape = {what, tally::type_of<tally::dot_result_t<X, Y>>, 1,
                                         static_cast<std::int64_t>(n)};
    const auto part = [&](std::size_t first, std::size_t last) {
      tally::interval_field field = whole;
      field.x = whole.x.slice(first, last - first);
      if (what == tally::summand::product) field.y = whole.y.slice(first, last - first);
      return field;
    };
    constexpr std::size_t chunk = tally::order::chunk;
    const std::size_t begin = n > chunk ? n / 2 / chunk * chunk : n;  // a single chunk is not cut
    const std::size_t border = n > chunk ? begin + 300 : n;
    std::vector<std::int64_t> first(tally::interval_bytes(shape) / 8), second(first);
    std::vector<tally::real_t<tally::dot_result_t<X, Y>>> terms(shape.numbers() * chunk);
    std::complex<double> result;
    const auto sum_part = [&](std::size_t from, std::size_t to, auto& message, auto* some_terms) {
      const tally::interval_field field = part(from, to);
      auto* const head = reinterpret_cast<tally::interval_head*>(message.data());
      *head = tally::sum_part(where, shape,
                              {.fields = {&field, 1},
                               .first = static_cast<std::int64_t>(from),
                               .nodes = head + 1,
                               .head = some_terms,
                               .head_stride = chunk,
                               .tail = some_terms,
                               .tail_stride = chunk});
    };
    sum_part(0, border, first, terms.data());
    sum_part(border, n, second, terms.data() + 300);
    if (border < n) {
      tally::append_chunk(shape, static_cast<std::int64_t>(begin / chunk), chunk, chunk,
                          terms.data(), first.data());
    }
    tally::append_interval(first.data(), second.data());
    tally::finish_interval(shape, first.data(), tally::conjugate::none, &result);
    a.keep(result);
  }

  void intervals() {
    intervals_of<double, double>();
    intervals_of<float, tally::bfloat16>();
    intervals_of<std::complex<float>, double>();
  }

  // inclusive_scan, exclusive_scan

  template <class X>
  void scans_of() {
    using S = tally::sum_result_t<X>;
    const auto types = {tally::type_of<X>};
    add(types, {{elements<X>(3)}}, {untouched(n_ * sizeof(S))},
        {{"inclusive_scan", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::inclusive_scan(where, a.in<X>(0), a.out<S>());
          }},
         {"exclusive_scan", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::exclusive_scan(where, a.in<X>(0), a.out<S>());
          }},
         {"scan_strided", first, first, [](const tally::executor& where, arguments& a) {
            const auto x = a.in<X>(0);
            const std::size_t n = x.size() / 2;
            tally::exclusive_scan(where, tally::strided(x.data(), n, -2),
                                  tally::strided(a.result<S>(), n, 2));
          }}});
    add(types, {}, {elements<S>(4)},
        {{"scan_in_place", none, first, [](const tally::executor& where, arguments& a) {
            tally::exclusive_scan(where, a.out<S>(), a.out<S>());
          }}});
  }

  void scans() {
    scans_of<double>();
    scans_of<float>();
    scans_of<tally::bfloat16>();
    scans_of<std::int32_t>();
    scans_of<std::complex<double>>();
  }

  // min, max, minmax, iamax

  template <class X>
  void extrema_of() {
    const auto types = {tally::type_of<X>};
    const std::vector<input> x = {{elements<X>(6)}};
    if constexpr (!tally::is_complex_v<X>) {
      using E = tally::extremum<X>;
      add(types, x, {untouched(sizeof(E)), untouched(2 * sizeof(E))},
          {{"min", first, first,
            [](const tally::executor& where, arguments& a) {
              tally::min(where, a.in<X>(0), a.result<E>());
            }},
           {"max", first, first,
            [](const tally::executor& where, arguments& a) {
              tally::max(where, a.in<X>(0), a.result<E>());
            }},
           {"minmax", first, second, [](const tally::executor& where, arguments& a) {
              tally::minmax(where, a.in<X>(0), a.result<tally::extrema<X>>());
            }}});
    }
    add(types, x, {untouched(sizeof(std::int64_t))},
        {{"iamax", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::iamax(where, a.in<X>(0), a.result<std::int64_t>());
          }},
         {"iamax_returned", first, none, [](const tally::executor& where, arguments& a) {
            a.keep(tally::iamax(where, a.in<X>(0)));
          }}});
  }

  void extrema() {
    extrema_of<double>();
    extrema_of<float>();
    extrema_of<tally::float16>();
    extrema_of<tally::bfloat16>();
    extrema_of<bool>();
    extrema_of<std::uint8_t>();
    extrema_of<std::int64_t>();
    extrema_of<std::complex<float>>();
    extrema_of<std::complex<double>>();
  }

  // The element-wise functions

  template <class X, class Z, class S>
  void elementwise_of(S alpha, S beta) {
    const auto types = {tally::type_of<X>, tally::type_of<Z>, tally::type_of<S>};
    const std::vector<input> inputs = {{elements<X>(7)}, {elements<Z>(8)}};
    const std::vector<std::vector<std::byte>> outputs = {elements<Z>(9)};
    add(types, inputs, outputs,
        {{"copy", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::copy(where, a.in<X>(0), a.out<Z>());
          }},
         {"scal", none, first,
          [](const tally::executor& where, arguments& a) {
            tally::scal(where, a.constants.get<S>(0), a.out<Z>());
          }},
         {"axpy", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::axpy(where, a.constants.get<S>(0), a.in<X>(0), a.out<Z>());
          }},
         {"axpby", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::axpby(where, a.constants.get<S>(0), a.in<X>(0), a.constants.get<S>(1),
                         a.out<Z>());
          }},
         {"waxpby", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::waxpby(where, a.constants.get<S>(0), a.in<X>(0), a.constants.get<S>(1),
                          a.in<Z>(1), a.out<Z>());
          }},
         {"axpbypcz", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::axpbypcz(where, a.constants.get<S>(0), a.in<X>(0), a.constants.get<S>(1),
                            a.in<Z>(1), a.constants.get<S>(0), a.out<Z>());
          }},
         {"axypbz", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::axypbz(where, a.constants.get<S>(0), a.in<X>(0), a.in<Z>(1),
                          a.constants.get<S>(1), a.out<Z>());
          }},
         {"fill", none, first,
          [](const tally::executor& where, arguments& a) {
            tally::fill(where, a.constants.get<S>(0), a.out<Z>());
          }},
         {"add", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::add(where, a.in<X>(0), a.in<Z>(1), a.out<Z>());
          }},
         {"sub", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::sub(where, a.in<X>(0), a.in<Z>(1), a.out<Z>());
          }},
         {"mul", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::mul(where, a.in<X>(0), a.in<Z>(1), a.out<Z>());
          }},
         {"mul_strided", first_two, first,
          [](const tally::executor& where, arguments& a) {
            const auto x = a.in<X>(0);
            const std::size_t n = x.size() / 2;
            tally::mul(where, tally::strided(x.data(), n, -2),
                       tally::strided(a.in<Z>(1).data(), n, 2),
                       tally::strided(a.result<Z>(), n, 2));
          }}},
        {alpha, beta});
    add(types, inputs, {elements<Z>(9), elements<Z>(10)},
        {{"swap", none, first_two, [](const tally::executor& where, arguments& a) {
            tally::swap(where, a.out<Z>(0), a.out<Z>(1));
          }}});
    constexpr std::size_t k = 5;
    add(types, {{elements<S>(k, 7)}, {elements<X>(k * n_, 4)}}, {elements<Z>(9)},
        {{"multi_axpy", first_two, first,
          [](const tally::executor& where, arguments& a) {
            const auto z = a.out<Z>(0);
            tally::multi_axpy(where, a.in<S>(0), tally::rows(a.in<X>(1).data(), k, z.size()),
                              a.constants.get<S>(1), z);
          }},
         {"multi_axpy_list", first_two, first,
          [](const tally::executor& where, arguments& a) {
            const auto z = a.out<Z>(0);
            const auto x = a.in<X>(1);
            const std::array list = {x.first(z.size()), x.last(z.size())};
            tally::multi_axpy(where, a.in<S>(0).first(2), list, 0, z);
          }}},
        {alpha, beta});
    using R = tally::dot_result_t<X, Z>;
    add(types, {{elements<S>(k, 7)}, {elements<X>(k * n_, 4)}},
        {elements<Z>(9), untouched(k * sizeof(R))},
        {{"multi_axpy_dot", first_two, first_two,
          [](const tally::executor& where, arguments& a) {
            const auto z = a.out<Z>(0);
            tally::multi_axpy_dot(where, a.in<S>(0), tally::rows(a.in<X>(1).data(), k, z.size()),
                                  a.constants.get<S>(1), z, a.result<R>(1));
          }},
         {"multi_axpy_dot_exact", first_two, first_two,
          [](const tally::executor& where, arguments& a) {
            const auto z = a.out<Z>(0);
            tally::multi_axpy_dot(where, a.in<S>(0), tally::rows(a.in<X>(1).data(), k, z.size()),
                                  a.constants.get<S>(1), z, a.result<R>(1),
                                  {tally::conjugate::x, tally::exact});
          }},
         {"multi_axpy_dot_list", first_two, first_two,
          [](const tally::executor& where, arguments& a) {
            const auto z = a.out<Z>(0);
            const auto x = a.in<X>(1);
            const std::array list = {x.first(z.size()), x.last(z.size())};
            tally::multi_axpy_dot(where, a.in<S>(0).first(2), list, 0, z, a.result<R>(1));
          }}},
        {alpha, beta});
    std::vector<std::int32_t> backwards(n_);
    for (std::size_t i = 0; i < n_; ++i) backwards[i] = static_cast<std::int32_t>(n_ - 1 - i);
    add(types, {{elements<Z>(9)}, {bytes_of(backwards)}}, {elements<Z>(10)},
        {{"gather", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::gather(where, a.in<Z>(0), a.in<std::int32_t>(1), a.out<Z>(0));
          }},
         {"scatter", first_two, first, [](const tally::executor& where, arguments& a) {
            tally::scatter(where, a.in<Z>(0), a.in<std::int32_t>(1), a.out<Z>(0));
          }}});
    if constexpr (tally::float_or_double<Z>) {
      for (std::int32_t& i : backwards) i /= 3;
      add(types, {{elements<Z>(9)}, {bytes_of(backwards)}}, {elements<Z>(10)},
          {{"scatter_add", first_two, first, [](const tally::executor& where, arguments& a) {
              tally::scatter_add(where, a.in<Z>(0), a.in<std::int32_t>(1), a.out<Z>(0));
            }}});
    }
    const std::vector<std::vector<std::byte>> vector_and_sum = {
        elements<Z>(9), untouched(sizeof(tally::dot_result_t<Z, Z>))};
    add(types, inputs, vector_and_sum,
        {{"axpy_dot", first_two, first_two,
          [](const tally::executor& where, arguments& a) {
            const auto y = a.out<Z>(0);
            tally::axpy_dot(where, a.constants.get<S>(0), a.in<X>(0), y, a.in<Z>(1),
                            a.result<tally::dot_result_t<Z, Z>>(1));
          }},
         {"axpy_dot_exact", first_two, first_two,
          [](const tally::executor& where, arguments& a) {
            tally::axpy_dot(where, a.constants.get<S>(0), a.in<X>(0), a.out<Z>(0), a.in<Z>(1),
                            a.result<tally::dot_result_t<Z, Z>>(1), tally::exact);
          }},
         {"axpy_dot_returned", first_two, first,
          [](const tally::executor& where, arguments& a) {
            a.keep(
                tally::axpy_dot(where, a.constants.get<S>(0), a.in<X>(0), a.out<Z>(0), a.in<Z>(1)));
          }},
         {"axpy_dotc", first, first_two,
          [](const tally::executor& where, arguments& a) {
            const auto y = a.out<Z>(0);
            tally::axpy_dot(where, a.constants.get<S>(0), a.in<X>(0), y, y,
                            a.result<tally::dot_result_t<Z, Z>>(1), tally::conjugate::x);
          }}},
        {alpha, beta});
    const std::vector<std::vector<std::byte>> vector_and_norm = {
        elements<Z>(9), untouched(sizeof(tally::nrm2_result_t<Z>))};
    add(types, inputs, vector_and_norm,
        {{"waxpby_nrm2", first_two, first_two,
          [](const tally::executor& where, arguments& a) {
            tally::waxpby_nrm2(where, a.constants.get<S>(0), a.in<X>(0), a.constants.get<S>(1),
                               a.in<Z>(1), a.out<Z>(0), a.result<tally::nrm2_result_t<Z>>(1));
          }}},
        {alpha, beta});
    functions_of_one<X, Z>(types, inputs, first, outputs, first);
  }

  /// Those after axypbz, called as by the public functions, with x as each input.
  template <class X, class Z>
  void functions_of_one(std::initializer_list<tally::type> types, const std::vector<input>& inputs,
                        some from, const std::vector<std::vector<std::byte>>& outputs, some to,
                        const std::string& suffix = "") {
    const auto of = [&]<tally::elementwise what>() {
      using namespace tally::detail;
      constexpr tally::type x = tally::type_of<X>, computation = computation_type(what, x, x, x, x);
      if constexpr (takes(what, computation) && gives(what, x, x, tally::type_of<Z>, x) &&
                    (what != tally::elementwise::where || is_mask(x, computation))) {
        const std::string_view name = description_of(what).function.substr(sizeof "tally::" - 1);
        const std::string full = std::string(name) + suffix;
        add(types, inputs, outputs,
            {{full, from, to, [](const tally::executor& where, arguments& a) {
                call_with_one<what>(where, a.in<X>(0), a.out<Z>());
              }}});
      }
    };
    constexpr auto first_one = static_cast<std::size_t>(tally::elementwise::axypbz) + 1;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (of.template operator()<static_cast<tally::elementwise>(first_one + i)>(), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(tally::last_elementwise) + 1 -
                               first_one>());
  }

  template <tally::elementwise what, class X, class Z>
  static void call_with_one(const tally::executor& where, const X& x, Z z) {
    using namespace tally::detail;
    if constexpr (!is_short(what)) {
      if constexpr (inputs(what) == 1) {
        elementwise_call<what>::run(where, x, z);
      } else {
        elementwise_call<what>::run(where, x, x, z);
      }
    } else {
      const auto call = [&](const auto&... factors) {
        if constexpr (what == tally::elementwise::scale) {
          elementwise_call<what>::run(where, factors..., x, z);
        } else {
          [&]<std::size_t... i>(std::index_sequence<i...>) {
            elementwise_call<what>::run(where, x, factors..., (void(i), x)..., z);
          }(std::make_index_sequence<static_cast<std::size_t>(tally::detail::inputs(what) - 1)>());
        }
      };
      if constexpr (is_comparison(what) && tally::detail::factors(what) == 2) {
        call(tally::comparison::less, 0);
      } else if constexpr (is_comparison(what)) {
        call(tally::comparison::not_equal);
      } else if constexpr (tally::detail::factors(what) == 2) {
        call(-2, 3);
      } else if constexpr (tally::detail::factors(what) == 1) {
        call(3);
      } else {
        call();
      }
    }
  }

  void elementwise() {
    elementwise_of<double, double>(0.3, -1.7);
    elementwise_of<float, float>(0.3f, 0x1.8p-140f);  // a subnormal factor
    elementwise_of<float, float>(3.0, 1e-310);
    elementwise_of<double, double>(0x1.8p-140f, 0.1f);
    elementwise_of<double, float>(0.1, -0.1);
    elementwise_of<float, tally::bfloat16>(0.7f, -0.3f);
    elementwise_of<tally::float16, tally::float16>(0.7f, -0.3f);
    elementwise_of<tally::bfloat16, tally::bfloat16>(tally::bfloat16(0x1.8p-130f),
                                                     tally::bfloat16(3.0f));
    elementwise_of<std::int32_t, std::int64_t>(3, -2);
    elementwise_of<std::complex<float>, std::complex<float>>(std::complex<float>(0.5f, 0x1p-140f),
                                                             std::complex<float>(0x1p-140f, 0.3f));
    elementwise_of<std::complex<double>, std::complex<double>>(std::complex<double>(0.1, -0.2),
                                                               std::complex<double>(0.3, 5e-320));
    elementwise_of<float, std::complex<double>>(0.1f, 0.2f);
  }

  // bincount, histogram_even, histogram_range

  static constexpr std::size_t few_bins = 37;
  std::size_t bins() const { return structure_ == structure::many_bins ? n_ : few_bins; }
  std::size_t sample_count() const { return structure_ == structure::many_bins ? n_ / 64 + 1 : n_; }

  /// `saturated` keys lie outside a histogram without the last bin.
  template <class K>
  std::vector<std::byte> keys(std::uint64_t seed, std::size_t bins) const {
    std::mt19937_64 random(seed);
    const std::size_t n = sample_count();
    std::vector<K> all(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t key = values_ == values::saturated    ? bins - 1
                              : values_ == values::one_value  ? bins / 3
                              : values_ == values::ascending  ? i * bins / n
                              : values_ == values::descending ? (n - 1 - i) * bins / n
                                                              : random() % bins;
      all[i] = static_cast<K>(key);
    }
    return bytes_of(all);
  }

  template <class K, class C>
  void bincounts_of() {
    add({tally::type_of<K>, tally::type_of<C>}, {{keys<K>(10, bins())}},
        {bytes_of(std::vector<C>(bins(), 3)), untouched(sizeof(tally::outside_counts))},
        {{"bincount", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::bincount(where, a.in<K>(0), a.out<C>());
          }},
         {"bincount_add", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::bincount(where, a.in<K>(0), a.out<C>(), {.add = true});
          }},
         {"bincount_outside", first, first_two, [](const tally::executor& where, arguments& a) {
            const auto counts = a.out<C>();
            tally::bincount(where, a.in<K>(0), counts.first(counts.size() - 2),
                            {.outside = a.result<tally::outside_counts>(1)});
          }}});
  }

  template <class K, class W>
  void weighted_bincounts_of() {
    const auto types = {tally::type_of<K>, tally::type_of<W>};
    const input weights = {elements<W>(sample_count(), 11)};
    add(types, {{keys<K>(10, bins())}, weights}, {bytes_of(std::vector<W>(bins(), W(0.1)))},
        {{"bincount_weights", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::bincount(where, a.in<K>(0), a.in<W>(1), a.out<W>(), {.add = true});
          }},
         {"bincount_weights_strided", first_two, first,
          [](const tally::executor& where, arguments& a) {
            const auto k = a.in<K>(0);
            const std::size_t n = k.size() / 2;
            tally::bincount(where, tally::strided(k.data(), n, 2),
                            tally::strided(a.in<W>(1).data(), n, -2), a.out<W>());
          }}});
    // As objects, which are slow to make for many bins.
    add(types, {{keys<K>(10, few_bins)}, weights}, {},
        {{"bincount_weights_added", first_two, none,
          [](const tally::executor& where, arguments& a) {
            std::vector<tally::exact_sum<double>> sums(few_bins);
            tally::bincount(where, a.in<K>(0), a.in<W>(1), tally::add_to(sums));
            a.keep(sums[few_bins / 2].template round<double>());
          }}});
  }

  /// The scale of edges that suits the samples' magnitude.
  template <class X>
  X scale() const {
    constexpr int lowest = std::numeric_limits<X>::min_exponent;
    if constexpr (std::is_integral_v<X>) return 1;
    if (values_ == values::huge) return std::numeric_limits<X>::max();
    if (values_ == values::tiny) return std::ldexp(X(1), lowest / 2 - 2);
    if (values_ == values::subnormal) return std::ldexp(X(1), lowest - 2);
    return 1;
  }

  /// Many samples are on the edges of equal bins in [-1, 1] times the scale; some or all elements
  /// outside.
  template <class X>
  std::vector<std::byte> samples(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    const std::size_t n = sample_count();
    std::vector<X> all(n);
    const bool are_on_edges = values_ <= values::huge;
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<X>) {
        all[i] = values_ >= values::saturated ? element<X>(random, i, n)
                                              : static_cast<X>(random() % (2 * bins() + 26));
      } else if (are_on_edges && random() % 2) {
        const double width = 2.0 / static_cast<double>(bins());
        const double edge = -1.0 + static_cast<double>(random() % (bins() + 1)) * width;
        all[i] = static_cast<X>(edge) * scale<X>();
      } else {
        all[i] = are_on_edges ? std::uniform_real_distribution<X>(-1, 1)(random) * scale<X>()
                              : element<X>(random, i, n);
      }
    }
    return bytes_of(all);
  }

  template <class X>
  void histograms_of() {
    using S = std::conditional_t<std::is_integral_v<X>, double, X>;
    const X lower = std::is_integral_v<X> ? X(3) : static_cast<X>(-1 * scale<X>());
    const std::size_t count = bins();
    const X upper = std::is_integral_v<X> ? static_cast<X>(2 * count + 16) : scale<X>();
    std::vector<X> edges(count + 1);
    for (std::size_t i = 0; i <= count; ++i) {
      if constexpr (std::is_integral_v<X>) {
        edges[i] = static_cast<X>(2 * i);
      } else {
        const double width = 2.0 / static_cast<double>(count);
        edges[i] = static_cast<X>(-1.0 + static_cast<double>(i) * width) * scale<X>();
      }
    }
    static constexpr some all_inputs = {0, 3};
    add({tally::type_of<X>},
        {{bytes_of(edges), true}, {samples<X>(12)}, {elements<S>(sample_count(), 13)}},
        {bytes_of(std::vector<std::int64_t>(count, 3)), untouched(sizeof(tally::outside_counts)),
         bytes_of(std::vector<std::int32_t>(2 * count, 3)),
         bytes_of(std::vector<S>(count, S(0.1)))},
        {{"histogram_even", second, first_two,
          [](const tally::executor& where, arguments& a) {
            tally::histogram_even(where, a.in<X>(0), a.constants.get<X>(0), a.constants.get<X>(1),
                                  a.out<std::int64_t>(),
                                  {.outside = a.result<tally::outside_counts>(1)});
          }},
         {"histogram_even_channels", second, third,
          [](const tally::executor& where, arguments& a) {
            const auto even = a.in<X>(0).first(a.in<X>(0).size() / 2 * 2);
            tally::histogram_even(where, even, a.constants.get<X>(0), a.constants.get<X>(1),
                                  a.out<std::int32_t>(), {.add = true, .channels = 2});
          }},
         {"histogram_even_weights",
          second_and_third,
          {3, 1},
          [](const tally::executor& where, arguments& a) {
            tally::histogram_even(where, a.in<X>(0), a.in<S>(1), a.constants.get<X>(0),
                                  a.constants.get<X>(1), a.out<S>());
          }},
         {"histogram_range", first_two, first_two,
          [](const tally::executor& where, arguments& a) {
            tally::histogram_range(where, a.in<X>(1), a.in<X>(0), a.out<std::int64_t>(),
                                   {.outside = a.result<tally::outside_counts>(1)});
          }},
         {"histogram_range_weights",
          all_inputs,
          {3, 1},
          [](const tally::executor& where, arguments& a) {
            tally::histogram_range(where, a.in<X>(1), a.in<S>(2), a.in<X>(0), a.out<S>());
          }}},
        {lower, upper});
  }

  void histograms() {
    bincounts_of<std::int32_t, std::int64_t>();
    bincounts_of<std::uint8_t, std::int32_t>();
    bincounts_of<std::int64_t, std::int32_t>();
    weighted_bincounts_of<std::int32_t, double>();
    weighted_bincounts_of<std::int64_t, float>();
    histograms_of<double>();
    histograms_of<float>();
    histograms_of<std::int32_t>();
  }

  // spmv, its plan, validate

  std::vector<std::size_t> terms_of_rows(std::mt19937_64& random) const {
    const bool has_many_rows =
        structure_ == structure::short_rows || structure_ == structure::empty_rows;
    const bool is_mixed = structure_ == structure::mixed;
    std::vector<std::size_t> terms(has_many_rows ? n_ : n_ / (is_mixed ? 8 : 32) + 1);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      switch (structure_) {
        case structure::mixed:
          terms[i] = i == 17 ? tally::order::chunk + 500 : i % 97 == 5 ? 300 : random() % 9;
          break;
        case structure::short_rows:
          terms[i] = 1;
          break;
        case structure::empty_rows:
          terms[i] = i % 64 == 5 ? 8 : 0;
          break;
        case structure::one_long_row:
          terms[i] = i == terms.size() / 2 ? n_ : 0;
          break;
        default:
          terms[i] = 32;
      }
    }
    return terms;
  }

  template <class V, class X, class Y, class S>
  void products_of(S alpha, S beta, std::size_t apart = 1) {
    using O = std::int32_t;
    std::mt19937_64 random(14);
    const std::vector<std::size_t> terms = terms_of_rows(random);
    const std::size_t rows = terms.size(), columns = n_;
    std::vector<O> offsets = {0}, indices;
    for (const std::size_t max_terms : terms) {
      for (std::size_t j = 0; j < std::min(max_terms, columns); ++j) {
        indices.push_back(static_cast<O>(random() % columns / apart * apart));
      }
      offsets.push_back(static_cast<O>(indices.size()));
    }
    static constexpr some all_inputs = {0, 4};
    add({tally::type_of<V>, tally::type_of<X>, tally::type_of<Y>, tally::type_of<S>},
        {{bytes_of(offsets)},
         {bytes_of(indices)},
         {elements<V>(indices.size(), 15)},
         {elements<X>(columns, 16)}},
        {elements<Y>(rows, 17)},
        {{"spmv", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            tally::spmv(where, matrix<V, X>(a), a.in<X>(3), a.out<Y>());
          }},
         {"spmv_factors", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            tally::spmv(where, a.constants.get<S>(0), matrix<V, X>(a), a.in<X>(3),
                        a.constants.get<S>(1), a.out<Y>());
          }},
         {"spmv_exact", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            tally::spmv(where, a.constants.get<S>(0), matrix<V, X>(a), a.in<X>(3),
                        a.constants.get<S>(1), a.out<Y>(), tally::exact);
          }},
         {"spmv_plan", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const tally::spmv_plan plan(where, matrix<V, X>(a));
            tally::spmv(where, plan, a.constants.get<S>(0), matrix<V, X>(a), a.in<X>(3),
                        a.constants.get<S>(1), a.out<Y>());
          }},
         {"spmv_plan_fixed_columns", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const tally::spmv_plan plan(where, matrix<V, X>(a), {.fixed_columns = true});
            tally::spmv(where, plan, a.constants.get<S>(0), matrix<V, X>(a), a.in<X>(3),
                        a.constants.get<S>(1), a.out<Y>());
          }},
         {"spmv_plan_fixed_values", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const tally::spmv_plan plan(where, matrix<V, X>(a), {.fixed_values = true});
            tally::spmv(where, plan, a.constants.get<S>(0), matrix<V, X>(a), a.in<X>(3),
                        a.constants.get<S>(1), a.out<Y>());
          }},
         {"spmv_four_arrays", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const auto offsets = a.in<std::int32_t>(0);
            const std::size_t m = offsets.size() - 1;
            const tally::csr_view four{m,
                                       a.in<X>(3).size(),
                                       offsets.first(m),
                                       offsets.subspan(1),
                                       a.in<std::int32_t>(1),
                                       a.in<V>(2)};
            tally::spmv(where, a.constants.get<S>(0), four, a.in<X>(3), a.constants.get<S>(1),
                        a.out<Y>());
          }},
         {"validate", all_inputs, none,
          [](const tally::executor& where, arguments& a) {
            tally::validate(where, matrix<V, X>(a));
          }}},
        {alpha, beta});
    add({tally::type_of<V>},
        {{bytes_of(offsets)},
         {bytes_of(indices)},
         {elements<V>(indices.size(), 15)},
         {elements<X>(columns, 16)},
         {elements<V>(rows, 27)}},
        {untouched(std::min(rows, columns) * sizeof(V)), untouched(rows * sizeof(double)),
         untouched(indices.size() * sizeof(V))},
        {{"diagonal", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            tally::diagonal(where, matrix<V, X>(a), a.out<V>());
          },
          true},
         {"row_norms", all_inputs, second,
          [](const tally::executor& where, arguments& a) {
            tally::row_norms(where, matrix<V, X>(a), tally::row_norm::one, a.out<double>());
          },
          true},
         {"row_norms_largest", all_inputs, second,
          [](const tally::executor& where, arguments& a) {
            tally::row_norms(where, matrix<V, X>(a), tally::row_norm::infinity, a.out<double>());
          },
          true},
         {"scale_rows",
          {0, 5},
          third,
          [](const tally::executor& where, arguments& a) {
            tally::scale_rows(where, matrix<V, X>(a), a.in<V>(4), a.out<V>());
          },
          true}});
    static constexpr std::size_t several = 4;
    add({tally::type_of<V>, tally::type_of<X>, tally::type_of<Y>, tally::type_of<S>},
        {{bytes_of(offsets)},
         {bytes_of(indices)},
         {elements<V>(indices.size(), 15)},
         {elements<X>(several * columns, 22)}},
        {elements<Y>(several * rows, 23)},
        {{"spmm", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const auto x = a.in<X>(3);
            const auto y = a.out<Y>();
            tally::spmm(where, a.constants.get<S>(0), matrix<V, X>(a, several),
                        tally::rows(x.data(), x.size() / several, several), a.constants.get<S>(1),
                        tally::rows(y.data(), y.size() / several, several));
          }},
         {"spmm_plan_columns", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const auto x = a.in<X>(3);
            const auto y = a.out<Y>();
            const auto n = static_cast<std::ptrdiff_t>(x.size() / several),
                       m = static_cast<std::ptrdiff_t>(y.size() / several);
            const tally::spmv_plan plan(where, matrix<V, X>(a, several));
            tally::spmm(where, plan, matrix<V, X>(a, several),
                        tally::rows(x.data(), x.size() / several, several, 1, n),
                        tally::rows(y.data(), y.size() / several, several, 1, m));
          }}},
        {alpha, beta});
    if constexpr (std::is_same_v<V, double> && std::is_same_v<X, double>) {
      add({tally::type_of<std::int32_t>}, {{bytes_of(offsets)}, {bytes_of(indices)}},
          {untouched(rows * sizeof(std::int64_t))},
          {{"segmented_sum_integers", first_two, first,
            [](const tally::executor& where, arguments& a) {
              tally::segmented_sum(where, a.in<std::int32_t>(0), a.in<std::int32_t>(1),
                                   a.out<std::int64_t>());
            }}});
      add({tally::type::boolean}, {{bytes_of(offsets)}, {elements<bool>(indices.size(), 26)}},
          {untouched(rows * sizeof(std::int64_t))},
          {{"segmented_sum_bools", first_two, first,
            [](const tally::executor& where, arguments& a) {
              tally::segmented_sum(where, a.in<std::int32_t>(0), a.in<bool>(1),
                                   a.out<std::int64_t>());
            }}});
    }
    using R = tally::dot_result_t<V, V>;
    add({tally::type_of<V>, tally::type_of<X>, tally::type_of<Y>, tally::type_of<S>},
        {{bytes_of(offsets)}, {elements<V>(indices.size(), 15)}}, {untouched(rows * sizeof(R))},
        {{"segmented_sum", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::segmented_sum(where, a.in<std::int32_t>(0), a.in<V>(1), a.out<R>());
          }},
         {"segmented_sum_exact", first_two, first, [](const tally::executor& where, arguments& a) {
            tally::segmented_sum(where, a.in<std::int32_t>(0), a.in<V>(1), a.out<R>(),
                                 tally::exact);
          }}});
    // The matrix also stands for its transpose, so x and y swap.
    add({tally::type_of<V>, tally::type_of<X>, tally::type_of<Y>, tally::type_of<S>},
        {{bytes_of(offsets)},
         {bytes_of(indices)},
         {elements<V>(indices.size(), 15)},
         {elements<X>(rows, 16)}},
        {elements<Y>(columns, 17)},
        {{"spmv_transpose", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            tally::spmv(where, a.constants.get<S>(0), transpose<V, X, Y>(a), a.in<X>(3),
                        a.constants.get<S>(1), a.out<Y>());
          }},
         {"spmv_transpose_plan", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const auto b = transpose<V, X, Y>(a);
            const tally::spmv_plan plan(where, b);
            tally::spmv(where, plan, a.constants.get<S>(0), b, a.in<X>(3), a.constants.get<S>(1),
                        a.out<Y>());
          }},
         {"spmv_transpose_fixed", all_inputs, first,
          [](const tally::executor& where, arguments& a) {
            const auto b = transpose<V, X, Y>(a);
            const tally::spmv_plan plan(where, b, {.fixed_values = true});
            tally::spmv(where, plan, b, a.in<X>(3), a.out<Y>(), tally::exact);
          }}},
        {alpha, beta});
  }
  template <class V, class X, class Y>
  static auto transpose(arguments& a) {
    const auto offsets = a.in<std::int32_t>(0);
    return tally::conjugate_transpose(tally::csr_view{offsets.size() - 1, a.out<Y>().size(),
                                                      offsets, a.in<std::int32_t>(1), a.in<V>(2)});
  }
  template <class V, class X>
  static auto matrix(const arguments& a, std::size_t vectors = 1) {
    const auto offsets = a.in<std::int32_t>(0);
    return tally::csr_view{offsets.size() - 1, a.in<X>(3).size() / vectors, offsets,
                           a.in<std::int32_t>(1), a.in<V>(2)};
  }

  void matrices() {
    products_of<double, double, double>(0.3, -1.7);
    products_of<float, float, float>(0x1p-140f, 0x1.8p-140f, 64);
    products_of<float, double, double>(0.1f, 0.2f);
    products_of<tally::bfloat16, float, float>(0.1f, 0.2f);
    products_of<std::complex<float>, std::complex<float>, std::complex<float>>(
        std::complex<float>(0.5f, 0x1p-140f), std::complex<float>(0x1p-140f, 0.3f));
    products_of<double, double, std::complex<double>>(std::complex<double>(0.1, -0.2),
                                                      std::complex<double>(0.0, 5e-320));
  }

  // csr_from_coo

  template <class V>
  void assemblies_of() {
    std::mt19937_64 random(25);
    std::vector<std::int32_t> rows(n_), columns(n_);
    for (std::int32_t& row : rows) row = static_cast<std::int32_t>(random() % 37);
    for (std::int32_t& column : columns) column = static_cast<std::int32_t>(random() % 11);
    static constexpr std::size_t offsets = 38 * sizeof(std::int32_t);
    add({tally::type_of<V>}, {{bytes_of(rows)}, {bytes_of(columns)}, {elements<V>(26)}},
        {untouched(offsets), untouched(n_ * sizeof(std::int32_t)), untouched(n_ * sizeof(V))},
        {{"csr_from_coo", first_three, first_three,
          [](const tally::executor& where, arguments& a) { assemble<V>(where, a, {}); }},
         {"csr_from_coo_exact", first_three, first_three,
          [](const tally::executor& where, arguments& a) {
            assemble<V>(where, a, tally::exact);
          }}});
  }
  template <class V>
  static void assemble(const tally::executor& where, arguments& a, tally::grade g) {
    a.keep(tally::csr_from_coo(where, 37, 11, a.in<std::int32_t>(0), a.in<std::int32_t>(1),
                               a.in<V>(2), a.out<std::int32_t>(0), a.out<std::int32_t>(1),
                               a.out<V>(2), g));
  }

  // transform and transform_reduce, with functions of the caller's

  /// Arithmetic on any elements: integers wrap.
  struct sum_of {
    template <class X>
    X operator()(X p, X q) const {
      if constexpr (std::is_integral_v<X>) {
        return static_cast<X>(std::int64_t{p} + q);
      } else {
        return p + q;
      }
    }
  };
  struct product_of {
    template <class X>
    X operator()(X p, X q) const {
      if constexpr (std::is_integral_v<X>) {
        return static_cast<X>(std::int64_t{p} * q);
      } else {
        return p * q;
      }
    }
  };

  template <class X>
  void functions_of() {
    add({tally::type_of<X>}, {{elements<X>(18)}, {elements<X>(19)}, {elements<X>(24)}},
        {elements<X>(20), untouched(sizeof(X))},
        {{"transform_three", first_three, first,
          [](const tally::executor& where, arguments& a) {
            tally::transform(where, a.in<X>(0), a.in<X>(1), a.in<X>(2), a.out<X>(),
                             [](X p, X q, X r) { return p > q ? r : product_of()(p, q); });
          },
          true},
         {"transform_reduce_three", first_three, second,
          [](const tally::executor& where, arguments& a) {
            tally::transform_reduce(
                where, a.in<X>(0), a.in<X>(1), a.in<X>(2), X(0), sum_of(),
                [](X p, X q, X r) { return p > q ? r : product_of()(p, q); }, a.result<X>());
          },
          true},
         {"transform", first_two, first,
          [](const tally::executor& where, arguments& a) {
            tally::transform(where, a.in<X>(0), a.in<X>(1), a.out<X>(), [](X p, X q) {
              return p > q ? sum_of()(p, X(-1)) : product_of()(p, q);
            });
          },
          true},
         {"transform_reduce", first_two, second,
          [](const tally::executor& where, arguments& a) {
            tally::transform_reduce(where, a.in<X>(0), a.in<X>(1), X(0), sum_of(), product_of(),
                                    a.result<X>());
          },
          true}});
  }

  void functions() {
    functions_of<double>();
    functions_of<float>();
    functions_of<std::int32_t>();
  }

  // Operations on bool that are not above

  template <class Z>
  void copies_of_bool() {
    add({tally::type::boolean, tally::type_of<Z>}, {{elements<bool>(21)}},
        {untouched(n_ * sizeof(Z))},
        {{"copy", first, first,
          [](const tally::executor& where, arguments& a) {
            tally::copy(where, a.in<bool>(0), a.out<Z>());
          }},
         {"copy_strided", first, first, [](const tally::executor& where, arguments& a) {
            const auto x = a.in<bool>(0);
            tally::copy(where, tally::strided(x.data(), x.size() / 3, 3),
                        tally::strided(a.result<Z>(), x.size() / 3, -2));
          }}});
  }

  void booleans() {
    dots_of<bool, bool>();
    dots_of<bool, double>();
    dots_of<std::complex<double>, bool>();
    multi_dots_of<bool, bool>();
    multi_dots_of<float, bool>();
    [this]<class... Z>(tally::type_list<Z...>) {
      (copies_of_bool<Z>(), ...);
    }(tally::element_types{});

    const std::vector<std::byte> x = elements<bool>(21);
    const input edges = {
        {std::byte{0}, std::byte{1}, truth_ == truth::one ? std::byte{1} : std::byte{77}}, true};
    const std::vector<input> inputs = {{elements<float>(22)}, {x}, {x}, edges};
    constexpr some one = {1, 1}, two = {0, 2}, with_edges = {2, 2};
    const std::vector<std::vector<std::byte>> elements_of_outputs = {
        elements<float>(23), elements<double>(23), elements<std::int8_t>(23),
        elements<tally::float16>(23)};
    add({}, inputs, elements_of_outputs,
        {{"axpy_bool", one, first,
          [](const tally::executor& where, arguments& a) {
            tally::axpy(where, 0.1f, a.in<bool>(0), a.out<float>());
          }},
         {"mul_bool", two, second,
          [](const tally::executor& where, arguments& a) {
            tally::mul(where, a.in<bool>(1), a.in<float>(0), a.out<double>());
          }},
         {"sub_bool", one, third, [](const tally::executor& where, arguments& a) {
            const auto p = a.in<bool>(0);
            tally::sub(where, p, tally::strided(p.data(), p.size(), -1), a.out<std::int8_t>());
          }}});
    functions_of_one<bool, tally::float16>({}, inputs, one, elements_of_outputs, {3, 1}, "_bool");

    const std::vector<std::vector<std::byte>> counts = {bytes_of(std::vector<std::int32_t>(2, 3)),
                                                        untouched(sizeof(tally::outside_counts)),
                                                        bytes_of(std::vector<double>(2, 0.1))};
    add({}, inputs, counts,
        {{"bincount_bool", one, first,
          [](const tally::executor& where, arguments& a) {
            tally::bincount(where, a.in<bool>(0), a.out<std::int32_t>());
          }},
         {"bincount_strided_bool", one, first,
          [](const tally::executor& where, arguments& a) {
            const auto k = a.in<bool>(0);
            tally::bincount(where, tally::strided(k.data(), k.size() / 3, -3),
                            a.out<std::int32_t>());
          }},
         {"bincount_outside_bool", one, first_two,
          [](const tally::executor& where, arguments& a) {
            tally::bincount(where, a.in<bool>(0), a.out<std::int32_t>().first(1),
                            {.outside = a.result<tally::outside_counts>(1)});
          }},
         {"bincount_weights_bool", two, third,
          [](const tally::executor& where, arguments& a) {
            tally::bincount(where, a.in<bool>(1), a.in<float>(0), a.out<double>(), {.add = true});
          }},
         {"histogram_even_bool", one, first,
          [](const tally::executor& where, arguments& a) {
            tally::histogram_even(where, a.in<bool>(0), 0, 2, a.out<std::int32_t>());
          }},
         {"histogram_even_double_bool", one, first_two,
          [](const tally::executor& where, arguments& a) {
            tally::histogram_even(where, a.in<bool>(0), -0.5, 1.0, a.out<std::int32_t>(),
                                  {.outside = a.result<tally::outside_counts>(1)});
          }},
         {"histogram_range_bool", with_edges, first,
          [](const tally::executor& where, arguments& a) {
            tally::histogram_range(where, a.in<bool>(0), a.in<bool>(1), a.out<std::int32_t>());
          }}});

    add({}, inputs, {elements<float>(23), elements<std::int32_t>(23), untouched(sizeof(double))},
        {{"transform_bool", two, first,
          [](const tally::executor& where, arguments& a) {
            tally::transform(where, a.in<bool>(1), a.in<float>(0), a.out<float>(),
                             [](bool p, float q) { return p ? q : -q; });
          },
          true},
         {"transform_strided_bool", one, second,
          [](const tally::executor& where, arguments& a) {
            const std::size_t n = a.in<bool>(0).size() / 2;
            tally::transform(where, tally::strided(a.in<bool>(0).data(), n, -2),
                             a.out<std::int32_t>().first(n), [](const auto& p) { return p + 5; });
          },
          true},
         {"transform_reduce_bool", two, third,
          [](const tally::executor& where, arguments& a) {
            tally::transform_reduce(where, a.in<bool>(1), a.in<float>(0), 0.0, std::plus<>(),
                                    std::multiplies<>(), a.result<double>());
          },
          true}});
  }

  std::size_t n_;
  values values_;
  truth truth_;
  structure structure_;
  std::vector<operation> all_;
};

}  // namespace

list::list(std::size_t n, values v, truth t, structure s)
    : all_(all_operations(n, v, t, s).take()) {}

}  // namespace operations
