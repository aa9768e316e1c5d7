#include "bench/ours.hpp"

#include "bench/elementwise.hpp"
#include "bench/in_place.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace bench {

std::vector<tally::executor> host_executors(int threads, bool full) {
  std::vector<tally::executor> list;
  for (const tally::executor& where : tally::executors()) {
    const bool threaded =
        where.name() == "openmp" ||
        (where.name() == "kokkos" && where.description().find("threads") != std::string::npos);
    const bool on_host = where.reaches_host_memory();
    if (on_host && threaded == (threads > 1)) list.push_back(where);
  }
  if (threads > 1) {
    list.push_back(tally::automatic());
  } else if (full) {
    for (const tally::instruction_set set : tally::instruction_sets()) {
      const tally::executor forced = tally::simd({.instructions = set});
      if (forced != tally::simd()) list.push_back(forced);
    }
  }
  return list;
}

contenders ours_of_one(const workload& w, bool full) {
  contenders list;
  for (const tally::executor& where : host_executors(w.threads, full)) {
    visit(w, [&]<class X, class A>(std::span<const X> x, auto, std::type_identity<A>) {
      const std::string label = where.description();
      std::string name = "tally::" + std::string(where.name());
      if (where.name() == "simd" && where != tally::simd()) name = "tally::" + label;
      const auto add = [&](auto f) { list.push_back(on_host(name, label, w, f)); };
      if (w.what == operation::axpy) {  // as BLAS has it
        workload of_z = w;
        of_z.y.data = w.z;
        contender c =
            on_host(name + ", y in place", label, w, [=] { compute(where, of_z, w.z, true); });
        list.push_back(in_place(std::move(c), w));
      }
      if (w.is_elementwise()) return add([=] { compute(where, w, w.z, true); });
      if constexpr (std::is_floating_point_v<A>) {
        if (w.what == operation::nrm2) add([=] { return tally::nrm2<A>(where, x); });
        if (w.what == operation::sum_of_squares) {
          add([=] { return tally::sum_of_squares<A>(where, x); });
        }
        if constexpr (std::is_same_v<X, A>) {
          if (w.what == operation::max_norm) add([=] { return tally::max_norm(where, x); });
        }
        if (w.what == operation::wrms_norm) {
          add([=, y = std::span(static_cast<const A*>(w.y.data), x.size())] {
            return tally::wrms_norm<A>(where, x, y);
          });
        }
        if (is_fused(w.what)) {
          return add([=] {
            A sum;
            compute(where, w, &sum, true);
            return sum;
          });
        }
      }
      if (w.what == operation::sum) add([=] { return tally::sum<A>(where, x); });
      if (w.what == operation::iamax) add([=] { return tally::iamax(where, x); });
      if constexpr (!tally::is_complex_v<X>) {
        if (w.what == operation::asum) add([=] { return tally::asum<A>(where, x); });
        if (w.what == operation::max) add([=] { return tally::max(where, x).value; });
      }
    });
  }
  return list;
}

namespace {

/// Cached edges of this many bins.
const std::vector<float>& edges_of(std::size_t bins) {
  static std::map<std::size_t, std::vector<float>> all;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::vector<float>& edges = all[bins];
  if (edges.empty()) {
    for (std::size_t i = 0; i <= bins; ++i) {
      const double place = static_cast<double>(i) / static_cast<double>(bins);
      edges.push_back(static_cast<float>(2 * std::pow(place, 1.5) - 1));
    }
  }
  return edges;
}

}  // namespace

tally::histogram_arguments histogram_of(const workload& w) {
  tally::histogram_arguments a;
  a.what = w.bins;
  a.x = w.x;
  a.counts = {const_cast<void*>(w.y.data), w.y.size, 1, w.y.element};
  a.lower = -1.0f;
  a.upper = 1.0f;
  if (w.bins == tally::binning::edges) a.edges = tally::as_operand(edges_of(w.y.size));
  return a;
}

tally::spmv_arguments spmv_of(const workload& w, void* y, const tally::spmv_plan* plan) {
  tally::spmv_arguments a;
  a.a = w.matrix;
  a.x = w.x;
  a.y = {y, w.matrix.height(), 1, w.accumulator};
  a.plan = plan;
  return a;
}

tally::spmm_arguments spmm_of(const workload& w, void* y, const tally::spmv_plan* plan) {
  const auto k = static_cast<std::ptrdiff_t>(w.rows);
  tally::spmm_arguments a;
  a.a = w.matrix;
  a.x = {{w.x.data, w.rows, 1, w.x.element}, w.matrix.width(), k};
  a.y = {{y, w.rows, 1, w.accumulator}, w.matrix.height(), k};
  a.plan = plan;
  return a;
}

tally::coo_arguments assembly_of(const workload& w, void* values, void* offsets, void* columns) {
  const tally::csr_operand& m = w.matrix;
  const std::size_t n = m.nonzeros();
  return {m.rows,
          m.columns,
          w.y,
          m.column_indices,
          m.values,
          {},
          {offsets, m.rows + 1, 1, tally::type::int32},
          {columns, n, 1, tally::type::int32},
          {values, n, 1, w.accumulator}};
}

std::int64_t checksum(const tally::operand& counts) {
  const auto* const c = static_cast<const std::int32_t*>(counts.data);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts.size; ++i) {
    sum = (sum ^ static_cast<std::uint64_t>(c[i])) * 0x9e3779b97f4a7c15u;
  }
  return static_cast<std::int64_t>(sum);
}

namespace {

tally::fused_arguments fused_of(const workload& w, tally::output result,
                                tally::call_options options) {
  const tally::output_operand z = {w.z, w.size(), 1, w.x.element};
  if (w.what == operation::axpy_dot) {
    return {{tally::elementwise::axpy, plain::alpha, {}, w.x, z, z},
            tally::fused_sum::dot,
            w.y,
            tally::conjugate::none,
            result,
            options};
  }
  return {{tally::elementwise::waxpby, plain::alpha, 1, w.x, w.y, z},
          tally::fused_sum::nrm2,
          {},
          tally::conjugate::none,
          result,
          options};
}

}  // namespace

void compute_in_two_calls(const tally::executor& where, const workload& w, void* result,
                          bool wait) {
  const tally::fused_arguments a = fused_of(w, {result, w.accumulator}, {.wait = wait});
  tally::transform(where, a.update);
  if (a.what == tally::fused_sum::dot) {
    return tally::dot(where, {a.update.z, a.v, a.conjugated, a.result, a.options});
  }
  tally::reduce(where, {a.update.z, tally::reduction::nrm2, a.result, a.options});
}

namespace {

/// Sets the factors that the plain functions have.
void set_factors(tally::transform_arguments& a) {
  a.alpha = plain::alpha, a.beta = plain::beta, a.gamma = plain::gamma;
  if (a.what == tally::elementwise::clamp) a.alpha = plain::low, a.beta = plain::high;
  if (a.what == tally::elementwise::pow) a.alpha = plain::exponent;
  if (tally::detail::is_comparison(a.what)) {
    a.alpha = tally::detail::code_of(tally::comparison::less), a.beta = plain::high;
  }
}

}  // namespace

void compute(const tally::executor& where, const workload& w, void* result, bool wait, bool exact) {
  const tally::call_options options = {exact ? tally::exact : tally::grade{}, wait};
  const tally::output to = {result, w.accumulator};
  const tally::output_operand several = {result, has_several(w.what) ? w.results() : 0, 1,
                                         w.accumulator};
  switch (w.what) {
    case operation::dot:
      return tally::dot(where, {w.x, w.y, tally::conjugate::none, to, options});
    case operation::sum:
      return tally::reduce(where, {w.x, tally::reduction::sum, to, options});
    case operation::asum:
      return tally::reduce(where, {w.x, tally::reduction::asum, to, options});
    case operation::nrm2:
      return tally::reduce(where, {w.x, tally::reduction::nrm2, to, options});
    case operation::sum_of_squares:
      return tally::reduce(where, {w.x, tally::reduction::sum_of_squares, to, options});
    case operation::max_norm:
      return tally::reduce(where, {w.x, tally::reduction::max_norm, to, options});
    case operation::wrms_norm:
      return tally::reduce_weighted(where,
                                    {w.x, w.y, {}, tally::weighted_norm::root_mean, to, options});
    case operation::iamax:
      return tally::find_extremum(where, {w.x, tally::extreme::iamax, result, options});
    case operation::histogram: {
      tally::histogram(where, histogram_of(w));
      const std::int64_t sum = checksum(w.y);
      std::memcpy(result, &sum, sizeof sum);
      return;
    }
    case operation::spmv:
      return tally::spmv(where, spmv_of(w, result));
    case operation::spmm:
      return tally::spmm(where, spmm_of(w, result));
    case operation::assembly: {
      std::vector<std::int32_t> offsets(w.matrix.rows + 1), columns(w.matrix.nonzeros());
      tally::csr_from_coo(where, assembly_of(w, result, offsets.data(), columns.data()));
      return;
    }
    case operation::diagonal:
    case operation::row_norms:
    case operation::scale_rows: {
      const auto function = w.what == operation::diagonal    ? tally::row_function::diagonal
                            : w.what == operation::row_norms ? tally::row_function::one_norm
                                                             : tally::row_function::scale;
      return tally::apply_to_rows(
          where, {w.matrix, function, w.x, {result, w.results(), 1, w.accumulator}});
    }
    case operation::sums:
      tally::sums(where, {w.vectors(), to, options});
      return;
    case operation::gemv:
      return tally::gemv(where, {.a = w.vectors(), .x = w.y, .y = several});
    case operation::multi_axpy: {
      const std::vector<double> factors(w.rows, plain::gamma / static_cast<double>(w.rows));
      return tally::multi_axpy(
          where, {.alpha = tally::as_operand(factors), .x = {w.vectors()}, .y = several});
    }
    case operation::segmented_sum:
      return tally::segmented_sum(where, {.offsets = w.y, .x = w.x, .results = several});
    case operation::scatter_add:
      return tally::gather_elements(
          where, {.x = w.x, .indices = w.y, .z = several, .scatters = true, .adds = true});
    case operation::waxpby_nrm2:
    case operation::axpy_dot:
      return tally::fused(where, fused_of(w, to, options));
    case operation::max:
      if (!wait) return tally::find_extremum(where, {w.x, tally::extreme::max, result, options});
      alignas(8) unsigned char both[16];
      tally::find_extremum(where, {w.x, tally::extreme::max, both});
      std::memcpy(result, both, size_of(w.x.element));
      return;
    case operation::scan:
      return tally::scan(where, {w.x, {result, w.size(), 1, w.x.element}});
    default:
      tally::transform_arguments a;
      a.what = function_of(w.what);
      set_factors(a);
      a.x = w.x;
      a.y = w.y_read();
      a.z = {result, w.size(), 1, w.x.element};
      if (tally::detail::is_ternary(a.what)) a.w = a.z;
      return tally::transform(where, a);
  }
}

}  // namespace bench
