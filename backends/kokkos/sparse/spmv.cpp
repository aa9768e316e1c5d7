// spmv on Kokkos.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/csr_defects.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "backends/kokkos/sums.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <algorithm>
#include <complex>
#include <type_traits>

namespace tally::backends::kokkos {
namespace {

/// Terms of a real part of a sum: part `of_value` of a value times part `of_x` of an element of x.
struct product_of_parts {
  int of_value, of_x;
};

/// Terms of a row's sums in the default grade, all parts of a product at once.
template <class A>
struct matrix_terms {
  static constexpr bool is_plain = false;
  using sum = dot_sum<A>;
  using R = real_t<A>;
  index_vector columns, places;  // without `places` value j is term j's
  numbers values, x;

  explicit matrix_terms(const csr_product& a)
      : columns(a.a.column_indices), places(a.places), values(a.a.values), x(a.x) {}

  KOKKOS_FUNCTION R value(std::size_t j, int part) const {
    return values.get<R>(places.data == nullptr ? j : static_cast<std::size_t>(places[j]), part);
  }
  KOKKOS_FUNCTION R element(std::size_t j, int part) const {
    if (x.v.data == nullptr) return R(part == 0);  // values alone
    return x.get<R>(static_cast<std::size_t>(columns[j]), part);
  }
  KOKKOS_FUNCTION R product(std::size_t j, product_of_parts p) const {
    return multiply(value(j, p.of_value), element(j, p.of_x));
  }
  KOKKOS_FUNCTION sum term(std::size_t j) const {
    sum all{product(j, {0, 0})};
    if constexpr (is_complex_v<A>) {
      if (values.is_complex() && x.is_complex()) all.ii = product(j, {1, 1});
      if (x.is_complex()) all.ri = product(j, {0, 1});
      if (values.is_complex()) all.ir = product(j, {1, 0});
    }
    return all;
  }
};

/// The same, plain: real values and adjacent x of one type and indices of another, without
/// `places`.
template <class T, class Index>
struct plain_terms {
  static constexpr bool is_plain = true;
  using sum = dot_sum<T>;
  const Index* columns;
  const T* values;
  const T* x;

  explicit plain_terms(const csr_product& a)
      : columns(static_cast<const Index*>(a.a.column_indices.data)),
        values(static_cast<const T*>(a.a.values.data)),
        x(static_cast<const T*>(a.x.data)) {}

  /// Terms from j on.
  KOKKOS_FUNCTION plain_terms from(std::int64_t j) const {
    plain_terms rest = *this;
    rest.columns += j;
    rest.values += j;
    return rest;
  }
  KOKKOS_FUNCTION sum term(std::size_t j) const { return {multiply(values[j], x[columns[j]])}; }
};

/// Destination of rows' sums in vectors of the sums' own type.
template <class T>
struct plain_results {
  factors<T> f;
  const T* addend;
  T* y;
  std::ptrdiff_t addend_step, y_step;

  explicit plain_results(const csr_product& a)
      : f(factors<T>::template of<T>(a.alpha, a.beta)),
        addend(a.reads_addend() ? static_cast<const T*>(a.addend().data) : nullptr),
        y(static_cast<T*>(a.y.data)),
        addend_step(a.addend().increment),
        y_step(a.y.increment) {}

  KOKKOS_FUNCTION void put(std::size_t i, const complex_number<T>& sum) const {
    const auto row = static_cast<std::ptrdiff_t>(i);
    y[row * y_step] = addend != nullptr
                          ? function<elementwise::axpby>(f, sum.re, addend[row * addend_step])
                          : function<elementwise::scal>(f, sum.re, sum.re);
  }
};

/// Whether all vectors are of one type, x adjacent, and the terms in order.
template <class T>
bool is_plain(const csr_product& a) {
  constexpr type own = type_of<T>;
  return a.a.values.element == own && a.x.element == own && a.x.increment == 1 &&
         a.y.element == own && (!a.reads_addend() || a.addend().element == own) &&
         !a.is_permuted() && !a.sums_values();
}

/// The same in vectors of any type.
template <class A, class C>
struct row_results {
  using V = computed_t<C>;
  factors<V> f;
  bool reads_addend;
  typed_vector addend, y;

  explicit row_results(const csr_product& a)
      : f(factors<V>::template of<C>(a.alpha, a.beta)),
        reads_addend(a.reads_addend()),
        addend(a.addend()),
        y(a.y) {}

  KOKKOS_FUNCTION void put(std::size_t i, const complex_number<real_t<A>>& parts) const {
    V sum{};
    if constexpr (is_complex_v<C>) {
      using T = real_t<C>;
      sum = {static_cast<T>(parts.re), static_cast<T>(parts.im)};
    } else {
      sum = static_cast<V>(parts.re);
    }
    y.put(i, reads_addend ? function<elementwise::axpby>(f, sum, addend.template get<V>(i))
                          : function<elementwise::scal>(f, sum, sum));
  }
};

/// Rows in the default grade and the destination of their sums.
template <class Terms, class Results>
struct summed_rows {
  using Sum = typename Terms::sum;
  using sums_of_team = team_memory<Sum>;
  static constexpr int lanes = static_cast<int>(row_order::lanes);
  static constexpr int threads = 256;      // of a team
  static constexpr int lanes_at_once = 4;  // of a thread, for more loads in flight
  static constexpr int width = lanes_at_once * threads;

  Terms terms;
  Results results;
  conjugate conjugated;
  row_bounds rows;
  std::size_t count;

  KOKKOS_FUNCTION void put(std::size_t i, const Sum& sum) const {
    results.put(i, finish_parts(sum, conjugated));
  }

  /// A long row, by a team with memory for `width` lanes.
  KOKKOS_FUNCTION void sum_long_row(const team_member& team, std::size_t row,
                                    const sums_of_team& lane, const sums_of_team& held) const {
    const Sum sum = sum_by_team(team, terms, rows.begin(row), rows.end(row), lane, held,
                                static_cast<std::size_t>(width) / order::lanes);
    Kokkos::single(Kokkos::PerTeam(team), [&] { put(row, sum); });
  }
};

/// A row a thread of a host; on a device a team takes several, a lane a thread, and then the long
/// ones.
template <class Terms, class Results>
struct sum_rows : summed_rows<Terms, Results> {
  using base = summed_rows<Terms, Results>;
  using base::lanes, base::lanes_at_once, base::rows, base::terms, base::width;
  using typename base::Sum, typename base::sums_of_team;
  static constexpr int rows_of_team = width / lanes;

  KOKKOS_FUNCTION void operator()(const launch_index& at) const {
    if constexpr (on_host) {
      sum_row(at);
    } else {
      sum_rows_of(at);
    }
  }

  template <class Row>  // nvcc checks it, unless a template, on devices, too
  void sum_row(Row row) const {
    const std::size_t begin = rows.begin(row), end = rows.end(row);
    this->put(row, end - begin <= row_order::short_row ? sum_short_row(begin, end)
                                                       : sum_by_thread(terms, begin, end));
  }

  /// Each lane in a register: a loop over the last terms, or a lambda, would keep them in memory.
  Sum sum_short_row(std::size_t i, std::size_t end) const {
    static_assert(row_order::lanes == 8);
    Sum lane[8] = {};
    for (; end - i >= 8; i += 8) {
      for (std::size_t l = 0; l < 8; ++l) lane[l] = lane[l] + terms.term(i + l);
    }
    switch (end - i) {
      case 7:
        lane[6] = lane[6] + terms.term(i + 6);
        [[fallthrough]];
      case 6:
        lane[5] = lane[5] + terms.term(i + 5);
        [[fallthrough]];
      case 5:
        lane[4] = lane[4] + terms.term(i + 4);
        [[fallthrough]];
      case 4:
        lane[3] = lane[3] + terms.term(i + 3);
        [[fallthrough]];
      case 3:
        lane[2] = lane[2] + terms.term(i + 2);
        [[fallthrough]];
      case 2:
        lane[1] = lane[1] + terms.term(i + 1);
        [[fallthrough]];
      case 1:
        lane[0] = lane[0] + terms.term(i);
        break;
      default:
        break;
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }

  KOKKOS_FUNCTION void sum_rows_of(const team_member& team) const {
    const sums_of_team lane(team.team_scratch(0), width);
    const sums_of_team held(team.team_scratch(0), max_levels);
    constexpr std::size_t of_team = rows_of_team;
    const std::size_t first = static_cast<std::size_t>(team.league_rank()) * of_team;
    const int n = static_cast<int>(this->count - first < of_team ? this->count - first : of_team);
    const int places = n * lanes, step = (places + lanes_at_once - 1) / lanes_at_once;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, step),
                         [&](int t) { sum_lanes(first, t, step, places, lane); });
    fold_lanes(team, lane, n, lanes);
    std::size_t longest = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, n),
        [&](int r, std::size_t& max_length) {
          const std::size_t row = first + static_cast<std::size_t>(r);
          const std::size_t length = rows.length(row);
          if (length <= row_order::short_row) this->put(row, lane(r * lanes));
          if (length > max_length) max_length = length;
        },
        Kokkos::Max<std::size_t>(longest));
    if (longest <= row_order::short_row) return;
    team.team_barrier();
    for (int r = 0; r < n; ++r) {
      const std::size_t row = first + static_cast<std::size_t>(r);
      if (rows.length(row) > row_order::short_row) this->sum_long_row(team, row, lane, held);
    }
  }

  /// Sums lanes t, t + step, ... of the team's `places`, of short rows, side by side.
  KOKKOS_FUNCTION void sum_lanes(std::size_t first, int t, int step, int places,
                                 const sums_of_team& lane) const {
    Sum sums[lanes_at_once] = {};
    std::size_t next[lanes_at_once], end[lanes_at_once];
    for (int k = 0; k < lanes_at_once; ++k) {
      const int place = t + k * step;
      next[k] = end[k] = 0;
      if (place >= places) continue;
      const std::size_t row = first + static_cast<std::size_t>(place / lanes);
      const std::size_t begin = rows.begin(row), behind = rows.end(row);
      next[k] = begin + static_cast<std::size_t>(place % lanes);
      end[k] = behind - begin <= row_order::short_row ? behind : begin;
    }
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (int k = 0; k < lanes_at_once; ++k) {
        if (next[k] >= end[k]) continue;
        sums[k] = sums[k] + terms.term(next[k]);
        next[k] += row_order::lanes;
        is_done = false;
      }
    }
    for (int k = 0; k < lanes_at_once; ++k) {
      if (t + k * step < places) lane(t + k * step) = sums[k];
    }
  }

  void run(const space& on) const {
    if constexpr (on_host) {
      for_each(on, "tally spmv", this->count, *this);
      on.fence();
    } else {
      const auto teams = static_cast<int>((this->count + rows_of_team - 1) / rows_of_team);
      run_teams<Sum>(on, "tally spmv", teams, base::threads, width, *this);
    }
  }
};

/// Numbers of long rows, in any order, and how many there are; more than there is room for only
/// with wrong offsets.
struct long_rows {
  std::size_t* numbers;
  std::size_t room;
  unsigned* count;     // 0 between launches, as the next one
  unsigned* finished;  // teams
};

/// A row a thread of a device, for few plain terms a row; long ones are noted. Nothing is shared,
/// and there is no barrier: as a team's, the same takes a quarter longer (tuning/kokkos.md:
/// max_mean).
template <class Terms, class Results, class Offset>
struct sum_short_rows {
  Terms terms;
  Results results;
  const Offset *begins, *ends;
  long_rows noted;

  KOKKOS_FUNCTION void operator()(std::size_t row) const {
    constexpr int lanes = row_order::lanes;
    const Offset begin = begins[row], length = ends[row] - begin;
    if (length > static_cast<Offset>(row_order::short_row)) {
      const unsigned place = Kokkos::atomic_fetch_add(noted.count, 1u);
      if (place < noted.room) noted.numbers[place] = row;
      return;
    }
    const Terms own = terms.from(begin);
    const auto n = static_cast<int>(length);
    typename Terms::sum lane[lanes] = {};
    for (int i = 0; i < n; i += lanes) {
      for (int l = 0; l < lanes; ++l) {
        if (i + l < n) lane[l] = lane[l] + own.term(static_cast<std::size_t>(i + l));
      }
    }
    for (int half = lanes / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
    }
    results.put(row, finish_parts(lane[0], conjugate::none));
  }
};

/// The long ones, by teams.
template <class Terms, class Results>
struct sum_noted_rows : summed_rows<Terms, Results> {
  using base = summed_rows<Terms, Results>;
  using typename base::sums_of_team;
  static constexpr unsigned teams = 64;

  long_rows noted;

  sum_noted_rows(const base& all, const long_rows& noting) : base(all), noted(noting) {}

  KOKKOS_FUNCTION void operator()(const team_member& team) const {
    const sums_of_team lane(team.team_scratch(0), base::width);
    const sums_of_team held(team.team_scratch(0), max_levels);
    const std::size_t counted = *noted.count, all = counted < noted.room ? counted : noted.room;
    for (auto k = static_cast<std::size_t>(team.league_rank()); k < all; k += teams) {
      this->sum_long_row(team, noted.numbers[k], lane, held);
    }
    team.team_barrier();  // all have read the count
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      if (Kokkos::atomic_fetch_add(noted.finished, 1u) + 1 < teams) return;
      *noted.count = 0;
      *noted.finished = 0;
    });
  }
};

/// Mean terms a row, at most, and rows, at least, for a row a thread of a device: two launches.
/// (tuning/kokkos.md)
constexpr std::size_t max_mean = 16, min_rows = std::size_t{1} << 16;

/// Rows of four arrays may share terms, so any number may be long.
bool has_few_terms(const csr_operand& a) {
  return a.rows >= min_rows && a.nonzeros() <= max_mean * a.rows && !a.row_ends;
}

template <class Terms, class Results>
void sum_few_terms(const space& on, const summed_rows<Terms, Results>& all, std::size_t terms) {
  using sum_long = sum_noted_rows<Terms, Results>;
  const launch_memory shared = memory_of_launches(on);
  const std::size_t room = terms / row_order::short_row;
  const long_rows noted{static_cast<std::size_t*>(scratch(on, room * sizeof(std::size_t))), room,
                        shared.counters, shared.counters + 1};
  const index_vector &begins = all.rows.begins, &ends = all.rows.ends;
  const auto queue = [&]<class Offset>(std::type_identity<Offset>) {
    for_each(on, "tally spmv", all.count,
             sum_short_rows<Terms, Results, Offset>{all.terms, all.results,
                                                    static_cast<const Offset*>(begins.data),
                                                    static_cast<const Offset*>(ends.data), noted});
  };
  begins.wide ? queue(std::type_identity<std::int64_t>())
              : queue(std::type_identity<std::int32_t>());
  run_teams<typename sum_long::Sum>(on, "tally spmv", sum_long::teams, sum_long::threads,
                                    sum_long::width, sum_long(all, noted));
}

template <class A>
struct exact_terms {
  using R = real_t<A>;
  matrix_terms<std::complex<double>> terms;
  conjugate conjugated;

  KOKKOS_FUNCTION void add(exact_sum<double>& sum, product_of_parts p, double sign,
                           std::size_t first, std::size_t end) const {
    for (std::size_t j = first; j < end; ++j) {
      sum.add_product(sign * terms.value(j, p.of_value), terms.element(j, p.of_x));
    }
  }

  KOKKOS_FUNCTION complex_number<R> result(std::size_t first, std::size_t end) const {
    complex_number<R> rounded{};
    if (first == end) return rounded;
    const double sign = conjugated == conjugate::none ? 1 : -1;  // of imaginary parts
    {
      exact_sum<double> re;
      add(re, {0, 0}, 1, first, end);
      if (terms.values.is_complex() && terms.x.is_complex()) add(re, {1, 1}, -sign, first, end);
      rounded.re = re.template round<R>();
    }
    if constexpr (is_complex_v<A>) {
      exact_sum<double> im;
      if (terms.x.is_complex()) add(im, {0, 1}, 1, first, end);
      if (terms.values.is_complex()) add(im, {1, 0}, sign, first, end);
      rounded.im = im.template round<R>();
    }
    return rounded;
  }
};

/// Correctly rounded rows, a row a thread.
template <class A, class Results>
struct round_row {
  exact_terms<A> terms;
  Results results;
  row_bounds rows;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    results.put(i, terms.result(rows.begin(i), rows.end(i)));
  }
};

template <class Terms, class Results>
void run(const space& on, const csr_product& a, const Terms& terms, const Results& results) {
  const summed_rows<Terms, Results> all{terms, results, a.conjugated, row_bounds(a.a), a.a.rows};
  if constexpr (!on_host && Terms::is_plain) {
    if (has_few_terms(a.a)) return sum_few_terms(on, all, a.a.nonzeros());
  }
  sum_rows<Terms, Results>{all}.run(on);
}

template <class A, class C>
void run(const space& on, const csr_product& a) {
  const row_results<A, C> results(a);
  if (a.options.grade.is_exact()) {
    for_each(on, "tally spmv", a.a.rows,
             round_row<A, row_results<A, C>>{
                 {matrix_terms<std::complex<double>>(a), a.conjugated}, results, row_bounds(a.a)});
    if (on_host) on.fence();
    return;
  }
  if constexpr (std::is_same_v<A, C> && std::is_floating_point_v<A>) {
    if (is_plain<A>(a)) {
      const plain_results<A> to(a);
      if (a.a.column_indices.element == type::int32) {
        return run(on, a, plain_terms<A, std::int32_t>(a), to);
      }
      return run(on, a, plain_terms<A, std::int64_t>(a), to);
    }
  }
  run(on, a, matrix_terms<A>(a), results);
}

/// A row of integers, values alone, modulo 2^64.
struct write_integer_row {
  row_bounds rows;
  typed_vector values, y;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    std::int64_t sum = 0;
    for (std::size_t j = rows.begin(i); j < rows.end(i); ++j) {
      sum = plus(sum, values.get<std::int64_t>(j));
    }
    y.put(i, sum);
  }
};

void sum_integers(const space& on, const csr_product& a) {
  for_each(on, "tally segments", a.a.rows,
           write_integer_row{row_bounds(a.a), typed_vector(a.a.values), typed_vector(a.y)});
  if (on_host) on.fence();
}

/// Returns the first bad index, else n.
template <class Bad>
std::size_t first_of(const space& on, std::size_t n, const Bad& bad) {
  std::size_t first = n;
  Kokkos::parallel_reduce("tally csr", up_to(on, n), bad, Kokkos::Min<std::size_t>(first));
  return std::min(first, n);
}

struct decreases {
  index_vector offsets;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& first) const {
    if (offsets[i + 1] < offsets[i] && i < first) first = i;
  }
};

struct is_outside {
  index_vector columns;
  std::size_t bound;
  KOKKOS_FUNCTION void operator()(std::size_t j, std::size_t& first) const {
    if (static_cast<std::size_t>(columns[j]) >= bound && j < first) first = j;
  }
};

struct lies_outside {
  row_bounds rows;
  index_vector columns;
  std::int64_t nonzeros;
  std::size_t bound;

  /// Returns a row's defect, with `column` its index; for matrices of four arrays.
  KOKKOS_FUNCTION csr_defect::kind defect(std::size_t i, std::size_t& column) const {
    using kind = csr_defect::kind;
    if (rows.begins[i] < 0) return kind::early_row;
    if (rows.ends[i] < rows.begins[i]) return kind::decreasing_offset;
    if (rows.ends[i] > nonzeros) return kind::late_row;
    for (column = rows.begin(i); column < rows.end(i); ++column) {
      if (static_cast<std::size_t>(columns[column]) >= bound) return kind::column;
    }
    return kind::none;
  }
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& first) const {
    std::size_t column = 0;
    if (i < first && defect(i, column) != csr_defect::kind::none) first = i;
  }
};

/// Copies an index to the host.
std::int64_t index_at(const space& on, const operand& v, std::size_t i) {
  std::int64_t value = 0;
  if (v.element == type::int64) {
    copy_to_host(on, static_cast<const std::int64_t*>(v.data) + i, &value, 1);
    on.fence();
  } else {
    std::int32_t narrow = 0;
    copy_to_host(on, static_cast<const std::int32_t*>(v.data) + i, &narrow, 1);
    on.fence();
    value = narrow;
  }
  return value;
}

/// Returns the first defect of a matrix of four arrays, if any.
csr_defect defect_of_rows(const space& on, const csr_operand& a) {
  const lies_outside bad{row_bounds(a), index_vector(a.column_indices),
                         static_cast<std::int64_t>(a.nonzeros()), a.columns};
  const std::size_t row = first_of(on, a.rows, bad);
  if (row == a.rows) return {};
  return defect_of_row(a, row, [&](const operand& v, std::size_t i) { return index_at(on, v, i); });
}

}  // namespace

void backend::spmv(const executor& where, const csr_product& a) const {
  locked([&] {
    const space on = space_of(where);
    if (is_integer(a.a.values.element)) return sum_integers(on, a);
    with_row_accumulator(
        a, [&]<class A>() { with_combination<A>(a, [&]<class C>() { run<A, C>(on, a); }); });
  });
}

std::shared_ptr<const spmv_analysis> backend::analyse(const executor&, const csr_operand& matrix,
                                                      const planned_products&) const {
  auto analysis = std::make_shared<spmv_analysis>();
  analysis->description = on_host || has_few_terms(matrix) ? "a row a thread" : "a lane a thread";
  return analysis;
}

csr_defect backend::find_defect(const executor& where, const csr_operand& a) const {
  using kind = csr_defect::kind;
  return locked([&]() -> csr_defect {
    const space on = space_of(where);
    if (a.row_ends) return defect_of_rows(on, a);
    if (const auto first = index_at(on, a.row_offsets, 0); first != 0) {
      return {kind::first_offset, 0, first, 0};
    }
    const std::size_t row = first_of(on, a.rows, decreases{index_vector(a.row_offsets)});
    if (row < a.rows) {
      return {kind::decreasing_offset, row, index_at(on, a.row_offsets, row + 1),
              index_at(on, a.row_offsets, row)};
    }
    const std::int64_t last = index_at(on, a.row_offsets, a.rows);
    if (static_cast<std::size_t>(last) != a.nonzeros()) return {kind::last_offset, a.rows, last, 0};
    const std::size_t j =
        first_of(on, a.nonzeros(), is_outside{index_vector(a.column_indices), a.columns});
    if (j < a.nonzeros()) return {kind::column, j, index_at(on, a.column_indices, j), 0};
    return {};
  });
}

}  // namespace tally::backends::kokkos
