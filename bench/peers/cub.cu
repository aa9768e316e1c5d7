// CUB's DeviceReduce over products: read by index, and through a zipped iterator.
#include "bench/elementwise.hpp"
#include "bench/peers/device_peers.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/extrema.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>
#include <cuda/std/functional>

#include <string>

namespace bench::peers {
namespace {

/// CUDA's type for our element type.
template <class T>
struct native {
  using type = T;
};
template <>
struct native<tally::float16> {
  using type = __half;
};
template <>
struct native<tally::bfloat16> {
  using type = __nv_bfloat16;
};

template <class A, class X, class Y>
struct product_at {
  const X* x;
  const Y* y;
  __device__ A operator()(int i) const { return term<A>(x[i], y[i]); }
};

template <class A>
struct product_of {
  template <class Pair>
  __device__ A operator()(const Pair& pair) const {
    return term<A>(thrust::get<0>(pair), thrust::get<1>(pair));
  }
};

struct magnitude {
  template <class A>
  __device__ A operator()(A value) const {
    return fabs(value);
  }
};

/// CUB's two-phase calls: reduce(nullptr, bytes, ...) asks for scratch memory.
template <class Reduce>
launch with_scratch(Reduce reduce) {
  const on_demand<std::pair<device_memory, std::size_t>> scratch([=] {
    std::size_t bytes = 0;
    check(reduce(nullptr, bytes, nullptr, stream()), "cub::DeviceReduce");
    return std::pair(device_memory(bytes), bytes);
  });
  return [=](cudaStream_t stream, void* result) {
    std::size_t bytes = scratch().second;
    check(reduce(scratch().first.data(), bytes, result, stream), "cub::DeviceReduce");
  };
}

/// Calls f(name, launch) for each available way.
template <class F>
void each_way(const workload& w, F f) {
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x_span, std::span<const Y> y_span,
                                          std::type_identity<A>) {
    if constexpr (!tally::is_complex_v<A>) {
      using NX = typename native<X>::type;
      using NY = typename native<Y>::type;
      const auto* const x = reinterpret_cast<const NX*>(x_span.data());
      const auto* const y = reinterpret_cast<const NY*>(y_span.data());
      const auto n = static_cast<int>(x_span.size());
      f("CUB",
        with_scratch([=](void* scratch, std::size_t& bytes, void* result, cudaStream_t stream) {
          return cub::DeviceReduce::TransformReduce(
              scratch, bytes, thrust::counting_iterator<int>(0), static_cast<A*>(result), n,
              cuda::std::plus<>{}, product_at<A, NX, NY>{x, y}, A{}, stream);
        }));
      f("CUB (zipped)",
        with_scratch([=](void* scratch, std::size_t& bytes, void* result, cudaStream_t stream) {
          const auto products =
              thrust::make_transform_iterator(thrust::make_zip_iterator(x, y), product_of<A>{});
          return cub::DeviceReduce::Sum(scratch, bytes, products, static_cast<A*>(result), n,
                                        stream);
        }));
    }
  });
}

std::string version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

}  // namespace

contenders cub_on_device(const workload& w) {
  contenders list;
  each_way(w,
           [&](const char* name, launch f) { list.push_back(on_device(name, version(), f, w)); });
  return list;
}

contenders cub_of_one_on_device(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class A>(std::span<const X> x_span, auto, std::type_identity<A>) {
    if constexpr (std::is_floating_point_v<X> && std::is_same_v<X, A>) {
      const X* const x = x_span.data();
      const auto n = static_cast<int>(x_span.size());
      const auto add = [&](const char* name, auto reduce) {
        list.push_back(on_device(
            name, version(),
            with_scratch([=](void* scratch, std::size_t& bytes, void* result, cudaStream_t stream) {
              return reduce(scratch, bytes, static_cast<A*>(result), stream);
            }),
            w));
      };
      if (w.what == operation::sum) {
        add("CUB", [=](void* scratch, std::size_t& bytes, A* result, cudaStream_t stream) {
          return cub::DeviceReduce::Sum(scratch, bytes, x, result, n, stream);
        });
      } else if (w.what == operation::asum) {
        add("CUB", [=](void* scratch, std::size_t& bytes, A* result, cudaStream_t stream) {
          return cub::DeviceReduce::TransformReduce(scratch, bytes, x, result, n,
                                                    cuda::std::plus<>{}, magnitude{}, A{}, stream);
        });
      } else if (w.what == operation::max) {
        add("CUB (value alone)",
            [=](void* scratch, std::size_t& bytes, A* result, cudaStream_t stream) {
              return cub::DeviceReduce::Max(scratch, bytes, x, result, n, stream);
            });
#if CUB_VERSION >= 200800  // a value and an index; earlier versions write pairs
        add("CUB", [=](void* scratch, std::size_t& bytes, A* result, cudaStream_t stream) {
          auto* const index = reinterpret_cast<std::int64_t*>(result) + 1;
          return cub::DeviceReduce::ArgMax(scratch, bytes, x, result, index, std::int64_t{n},
                                           stream);
        });
#endif
        list.push_back(on_host("Thrust", version() + ", returned to the host", w, [=] {
          const auto best = thrust::max_element(thrust::cuda::par.on(stream()), x, x + n);
          A value;
          check(cudaMemcpy(&value, best, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
          return value;
        }));
      }
    }
  });
  return list;
}

namespace {

/// Computes 16-bit elements in float.
template <class G>
struct on_elements {
  G g;
  template <class... T>
  __device__ auto operator()(T... x) const {
    using X = std::common_type_t<T...>;
    if constexpr (sizeof(X) == 2) {
      return X(g(static_cast<float>(x)...));
    } else {
      return g(x...);
    }
  }
};

contenders scan_on_device(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class Y>(std::span<const X> x, std::span<const Y>, auto) {
    if constexpr (std::is_same_v<X, Y> && std::is_floating_point_v<X>) {
      const auto scan = [=](void* scratch, std::size_t& bytes, void* z, cudaStream_t stream) {
        return cub::DeviceScan::InclusiveSum(scratch, bytes, x.data(), static_cast<X*>(z),
                                             static_cast<std::int64_t>(x.size()), stream);
      };
      list.push_back(on_device("CUB", version(), with_scratch(scan), w));
    }
  });
  return list;
}

}  // namespace

contenders cub_elementwise_on_device(const workload& w) {
  if (w.what == operation::scan) return scan_on_device(w);
  contenders list;
  bench::visit(
      w, [&]<class X, class Y>(std::span<const X> x_span, std::span<const Y> y_span, auto) {
        if constexpr (std::is_same_v<X, Y> && !tally::is_complex_v<X> && !std::is_integral_v<X>) {
          using N = typename native<X>::type;
          const auto* const x = reinterpret_cast<const N*>(x_span.data());
          const auto* const y = reinterpret_cast<const N*>(y_span.data());
          const auto n = static_cast<std::int64_t>(x_span.size());
          plain::visit(w.what, [&]<class G>(G g) {
            const on_elements<G> f{g};
            const auto from = [=]([[maybe_unused]] const N* z) {
              if constexpr (std::is_invocable_v<G, float, float, float>) {
                return cuda::std::tuple(x, y, z);
              } else if constexpr (std::is_invocable_v<G, float, float>) {
                return cuda::std::tuple(x, y);
              } else {
                return cuda::std::tuple(x);
              }
            };
            list.push_back(on_device(
                "CUB", version(),
                [=](cudaStream_t stream, void* z) {
                  auto* const to = static_cast<N*>(z);
                  check(cub::DeviceTransform::Transform(from(to), to, n, f, stream),
                        "cub::DeviceTransform");
                },
                w));
            if constexpr (!std::is_invocable_v<G, float, float, float>) {  // Thrust has none
              list.push_back(on_device(
                  "Thrust", version(),
                  [=](cudaStream_t stream, void* z) {
                    const auto where = thrust::cuda::par_nosync.on(stream);
                    if constexpr (std::is_invocable_v<G, float, float>) {
                      thrust::transform(where, x, x + n, y, static_cast<N*>(z), f);
                    } else {
                      thrust::transform(where, x, x + n, static_cast<N*>(z), f);
                    }
                  },
                  w));
            }
          });
        }
      });
  return list;
}

namespace {

/// The offset of a row of n elements.
struct row_offset {
  std::int64_t n;
  __device__ std::int64_t operator()(std::int64_t row) const { return row * n; }
};

template <class X, class Offsets>
launch segmented_sum(const X* x, std::size_t segments, Offsets offsets) {
  return with_scratch([=](void* scratch, std::size_t& bytes, void* z, cudaStream_t stream) {
    return cub::DeviceSegmentedReduce::Sum(scratch, bytes, x, static_cast<X*>(z),
                                           static_cast<int>(segments), offsets, offsets + 1,
                                           stream);
  });
}

}  // namespace

contenders cub_several_on_device(const workload& w) {
  contenders list;
  const auto add = [&](launch f) {
    list.push_back(on_device("CUB segmented", version(), std::move(f), w));
  };
  if (w.what == operation::segmented_sum) {
    add(segmented_sum(static_cast<const double*>(w.x.data), w.results(),
                      static_cast<const std::int32_t*>(w.y.data)));
  } else if (w.what == operation::sums && !w.columns) {
    const auto offsets =
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                        row_offset{static_cast<std::int64_t>(w.x.size)});
    const auto sums_of = [&]<class X>(std::type_identity<X>) {
      add(segmented_sum(static_cast<const X*>(w.x.data), w.rows, offsets));
    };
    w.x.element == tally::type::float64 ? sums_of(std::type_identity<double>{})
                                        : sums_of(std::type_identity<float>{});
  }
  return list;
}

contenders cub_to_host(const workload& w) {
  contenders list;
  each_way(w, [&](const char* name, launch f) {
    visit(w, [&]<class A>(auto, auto, std::type_identity<A>) {
      const on_demand<device_memory> device([] { return device_memory(sizeof(A)); });
      const on_demand<pinned_memory> host([] { return pinned_memory(sizeof(A)); });
      list.push_back(on_host(name, version() + ", and a copy to pinned memory", w, [=] {
        f(stream(), device().data());
        check(cudaMemcpyAsync(host().data(), device().data(), sizeof(A), cudaMemcpyDeviceToHost,
                              stream()),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
        return *static_cast<const A*>(host().data());
      }));
    });
  });
  return list;
}

}  // namespace bench::peers
