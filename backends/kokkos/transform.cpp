// The element-wise functions on Kokkos's default execution space, an element at a time; types are
// told apart at run time.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"
#include "src/core/elementwise/blocks.hpp"
#include "src/core/types/typed_vector.hpp"

namespace tally::backends::kokkos {
namespace {

template <elementwise what, class V>
struct write_elements {
  factors<V> f;
  typed_vector x, y, z;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const environment_guard environment;
    const V first = x.template get<V>(i);
    if constexpr (transforms::is_binary(what)) {
      z.put(i, function<what>(f, first, y.template get<V>(i)));
    } else {
      z.put(i, function<what>(f, first, first));
    }
  }
};

struct copy_elements {
  const std::byte* from;
  std::byte* to;
  std::ptrdiff_t from_stride, to_stride;
  int bytes;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const auto at = static_cast<std::ptrdiff_t>(i);
    for (int k = 0; k < bytes; ++k) to[at * to_stride + k] = from[at * from_stride + k];
  }
};

struct copy_booleans {
  typed_vector x, z;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const auto at = static_cast<std::ptrdiff_t>(i);
    static_cast<types::bool8*>(z.data)[at * z.increment] =
        copied(static_cast<const types::bool8*>(x.data)[at * x.increment]);
  }
};

template <class Body>
void run(std::size_t n, const Body& body) {
  const space where;
  Kokkos::parallel_for("tally transform", Kokkos::RangePolicy<space>(where, 0, n), body);
  if (on_host) where.fence();
}

}  // namespace

void transform(const executor&, const transform_arguments& a) {
  const auto lock = acquire();
  if (copies_bits(a)) {
    if (a.x.element == type::boolean) {
      return run(a.x.size, copy_booleans{typed_vector(a.x), typed_vector(a.z)});
    }
    const auto size = static_cast<std::ptrdiff_t>(size_of(a.x.element));
    return run(a.x.size, copy_elements{static_cast<const std::byte*>(a.x.data),
                                       static_cast<std::byte*>(a.z.data), a.x.increment * size,
                                       a.z.increment * size, static_cast<int>(size)});
  }
  with_computation(a, [&]<class C>() {
    using V = computed_t<C>;
    with_function<V>(a.what, [&]<elementwise what>() {
      run(a.x.size, write_elements<what, V>{factors<V>::template of<C>(a), typed_vector(a.x),
                                            typed_vector(a.y), typed_vector(a.z)});
    });
  });
}

}  // namespace tally::backends::kokkos
