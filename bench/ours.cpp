#include "bench/ours.hpp"

#include "backends/backend.hpp"
#include "bench/elementwise.hpp"

#include <cstring>

namespace bench {
namespace {

tally::elementwise function_of(operation what) {
  switch (what) {
    case operation::axpy:
      return tally::elementwise::axpy;
    case operation::add:
      return tally::elementwise::add;
    case operation::mul:
      return tally::elementwise::mul;
    case operation::relu:
      return tally::elementwise::relu;
    case operation::sigmoid:
      return tally::elementwise::sigmoid;
    case operation::exp:
      return tally::elementwise::exp;
    default:
      return tally::elementwise::copy;
  }
}

}  // namespace

std::vector<tally::executor> host_executors(int threads, bool full) {
  std::vector<tally::executor> list;
  for (const tally::executor& where : tally::executors()) {
    const bool threaded = where.name() == "openmp" || where.name() == "kokkos";
    const bool on_host = where.backend()->reaches(where, {});
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
      if (w.is_elementwise()) return add([=] { compute(where, w, w.z, true); });
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

void compute(const tally::executor& where, const workload& w, void* result, bool wait, bool exact) {
  const tally::output to = {result, w.accumulator};
  switch (w.what) {
    case operation::dot:
      return tally::dot(where, {w.x, w.y, tally::conjugate::none, to, wait, exact});
    case operation::sum:
      return tally::reduce(where, {w.x, tally::reduction::sum, to, exact, wait});
    case operation::asum:
      return tally::reduce(where, {w.x, tally::reduction::asum, to, exact, wait});
    case operation::iamax:
      return tally::find_extremum(where, {w.x, tally::extreme::iamax, result, wait});
    case operation::max:
      if (!wait) return tally::find_extremum(where, {w.x, tally::extreme::max, result, false});
      alignas(8) unsigned char both[16];
      tally::find_extremum(where, {w.x, tally::extreme::max, both, true});
      std::memcpy(result, both, size_of(w.x.element));
      return;
    default:
      tally::transform_arguments a;
      a.what = function_of(w.what);
      a.alpha = plain::alpha;
      a.x = w.x;
      a.y = w.y_read();
      a.z = {result, w.size(), 1, w.x.element};
      return tally::transform(where, a);
  }
}

}  // namespace bench
