// Eigen, compiled for every processor of this architecture and again for x86-64-v3.
#include "bench/peers/eigen_kernel.hpp"
#include "bench/peers/library.hpp"
#include "bench/peers/peers.hpp"

namespace bench::peers {
namespace {

void add(contenders& list, const std::string& label, const workload& w,
         eigen_kernel_of* kernel_of) {
  eigen_kernel* const kernel = kernel_of(w);
  if (!kernel) return;
  const std::string name = "Eigen" + (label.empty() ? label : " (" + label + ")");
  const auto add_with = [&]<class R>(std::type_identity<R>) {
    list.push_back(
        on_host(name, TALLY_BENCH_EIGEN_VERSION, w, [=, x = w.x.data, y = w.y.data, n = w.size()] {
          R result;
          kernel(x, y, n, &result);
          return result;
        }));
  };
  if (w.is_elementwise()) {
    list.push_back(
        on_host(name, TALLY_BENCH_EIGEN_VERSION, w,
                [=, x = w.x.data, y = w.y.data, n = w.size(), z = w.z] { kernel(x, y, n, z); }));
    return;
  }
  if (w.what == operation::iamax) return add_with(std::type_identity<std::int64_t>());
  visit(w, [&](auto, auto, auto accumulator) { add_with(accumulator); });
}

/// Null on older processors.
template <class F>
F* of_v3(const char* function) {
#ifdef TALLY_BENCH_EIGEN_V3
  // A library of its own: older processors must not run its inline functions, linked into the
  // program.
  static const library v3{TALLY_BENCH_EIGEN_V3};
  if (v3 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return v3.function<F>(function);
  }
#endif
  (void)function;
  return nullptr;
}

}  // namespace

contenders eigen(const workload& w) {
  contenders list;
  add(list, "", w, &bench_eigen_kernel);
  if (auto* const v3 = of_v3<eigen_kernel_of>("bench_eigen_kernel")) add(list, "x86-64-v3", w, v3);
  return sequential(std::move(list));
}

contenders eigen_spmv(const workload& w) {
  contenders list;
  const auto add = [&](const char* name, auto* multiply) {
    list.push_back(on_host(name, TALLY_BENCH_EIGEN_VERSION, w, [=] { multiply(w); }));
  };
  add("Eigen", &bench_eigen_spmv);
  if (auto* const v3 = of_v3<decltype(bench_eigen_spmv)>("bench_eigen_spmv")) {
    add("Eigen (x86-64-v3)", v3);
  }
  return list;
}

contenders eigen_assembly(const workload& w) {
  contenders list;
  const auto add = [&](const char* name, auto* make) {
    contender c = on_host(name, TALLY_BENCH_EIGEN_VERSION, w, [=] { make(w, nullptr); });
    c.compute = [=](void* values) { make(w, values); };
    list.push_back(std::move(c));
  };
  add("Eigen", &bench_eigen_assembly);
  if (auto* const v3 = of_v3<decltype(bench_eigen_assembly)>("bench_eigen_assembly")) {
    add("Eigen (x86-64-v3)", v3);
  }
  return sequential(std::move(list));
}

}  // namespace bench::peers
