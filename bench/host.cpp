// Data in host memory: a dot product on the device with its transfer, by every method, beside the
// processor. All memory is reused.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/ours.hpp"

#include <tally/tally.hpp>

#include <cstring>

namespace bench {
namespace {

std::vector<std::size_t> sizes(const types& t, bool full) {
  const bool is_taken = t == types_of(pair<double, double>{}) || t == types_of(pair<float, bool>{});
  if (!is_taken) return {};
  if (!full) return {1'000, 1 << 14, 1 << 17, 1 << 20, 1 << 22, 1 << 24, 1 << 26};
  return {1'000,   1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18,
          1 << 19, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28};
}

/// Both operands in pinned memory and on the device, and a workspace between.
struct copies {
  std::size_t x_bytes, y_bytes;
  pinned_memory pinned_x{x_bytes}, pinned_y{y_bytes};
  device_memory device_x{x_bytes}, device_y{y_bytes};
  tally::workspace through{tally::cuda({.stream = stream()})};

  explicit copies(const workload& w)
      : x_bytes(w.x.size * size_of(w.x.element)), y_bytes(w.y.size * size_of(w.y.element)) {
    gather(w.x.data, w.y.data);
    bring();
  }

  void gather(const void* x, const void* y) const {
    std::memcpy(pinned_x.data(), x, x_bytes);
    std::memcpy(pinned_y.data(), y, y_bytes);
  }
  void bring() const {
    for (const auto& [to, from, bytes] :
         {std::tuple(&device_x, &pinned_x, x_bytes), std::tuple(&device_y, &pinned_y, y_bytes)}) {
      check(cudaMemcpyAsync(to->data(), from->data(), bytes, cudaMemcpyHostToDevice, stream()),
            "cudaMemcpyAsync");
    }
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  }
};

contenders ways(const workload& w, bool) {
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    const on_demand<copies> c([w] { return copies(w); });
    const auto at = [n = w.size()]<class T>(const auto& memory, std::type_identity<T>) {
      return std::span(static_cast<const T*>(memory.data()), n);
    };
    const auto product = [=](const tally::executor& where, const auto& of_x, const auto& of_y) {
      return tally::dot<A>(where, at(of_x, std::type_identity<X>{}),
                           at(of_y, std::type_identity<Y>{}));
    };
    const auto add = [&](std::string name, std::string label, auto f) {
      list.push_back(on_host(std::move(name), std::move(label), w, f));
    };
    const auto add_part = [&](std::string name, std::string label, auto f) {
      add(std::move(name), std::move(label), [=] {
        f();
        return A{};
      });
      list.back().compute = nullptr;  // no product
    };
    const auto on_device = [] { return tally::cuda({.stream = stream()}); };
    add_part("limit: the bus", "pinned memory to the device, no product", [=] { c().bring(); });
    add_part("limit: a thread's copy", "into pinned memory, no product",
             [=] { c().gather(x.data(), y.data()); });
    add("tally::cuda, resident", "the kernel alone",
        [=] { return product(on_device(), c().device_x, c().device_y); });
    add("cudaMemcpy, then tally::cuda", "pageable", [=] {
      check(cudaMemcpy(c().device_x.data(), x.data(), c().x_bytes, cudaMemcpyHostToDevice),
            "cudaMemcpy");
      check(cudaMemcpy(c().device_y.data(), y.data(), c().y_bytes, cudaMemcpyHostToDevice),
            "cudaMemcpy");
      return product(on_device(), c().device_x, c().device_y);
    });
    add("tally::workspace, pageable", "through stages",
        [=] { return tally::dot<A>(c().through.executor(), x, y); });
    add("tally::workspace, pinned", "from where it is",
        [=] { return product(c().through.executor(), c().pinned_x, c().pinned_y); });
    add("tally::simd", tally::simd().description(),
        [=] { return tally::dot<A>(tally::simd(), x, y); });
    add("tally::openmp", tally::openmp().description(),
        [=] { return tally::dot<A>(tally::openmp(), x, y); });
  });
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "host", .sizes = sizes, .ways = ways},
};
const std::span<const lane> host_lanes = lanes;

}  // namespace bench
