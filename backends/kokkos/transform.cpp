// The element-wise functions on Kokkos; gather and scatter byte by byte.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/common/elementwise/gathered_elements.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {
namespace {

template <elementwise what, class V>
struct write_elements {
  factors_for<what, V> f;
  typed_vector x, y, z;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const V first = x.template get<V>(i);
    if constexpr (detail::reads_output(what)) {
      z.put(i, function<what>(f, first, y.template get<V>(i), z.template get<V>(i)));
    } else if constexpr (detail::is_binary(what)) {
      z.put(i, function<what>(f, first, y.template get<V>(i)));
    } else {
      z.put(i, function<what>(f, first, first));
    }
  }
};

/// The same in the type of all vectors, for the updates of solvers.
template <elementwise what, class V>
struct write_plain {
  factors_for<what, V> f;
  const V *x, *y;
  V* z;
  std::ptrdiff_t x_step, y_step, z_step;

  static constexpr bool exists =
      std::is_floating_point_v<V> && (what == elementwise::axpby || what == elementwise::scal);

  write_plain(const factors_for<what, V>& factors, const transform_arguments& a)
      : f(factors),
        x(static_cast<const V*>(a.x.data)),
        y(static_cast<const V*>(a.y.data)),
        z(static_cast<V*>(a.z.data)),
        x_step(a.x.increment),
        y_step(a.y.increment),
        z_step(a.z.increment) {}

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const V first = x[at * x_step];
    z[at * z_step] = function<what>(f, first, detail::is_binary(what) ? y[at * y_step] : first);
  }
};

template <elementwise what>
bool has_plain_vectors(const transform_arguments& a, type t) {
  return a.x.element == t && a.z.element == t && (!detail::is_binary(what) || a.y.element == t);
}

/// Elements of a short function of `inputs` vectors.
template <int inputs, class V>
struct write_short {
  elementwise what;
  factors<V> f;
  typed_vector x, y, w, z;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    V second{}, third{};
    if constexpr (inputs > 1) second = y.template get<V>(i);
    if constexpr (inputs > 2) third = w.template get<V>(i);
    const V result = short_function<inputs, V>(what, f, x.template get<V>(i), second, third);
    if constexpr (std::is_arithmetic_v<V>) {
      if (detail::is_comparison(what)) return z.put_truth(i, result != 0);
    }
    z.put(i, result);
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
    static_cast<detail::bool8*>(z.data)[at * z.increment] =
        copied(static_cast<const detail::bool8*>(x.data)[at * x.increment]);
  }
};

struct fill_elements {
  element_bytes value;
  moved_vector z;
  int bytes;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (int k = 0; k < bytes; ++k) z.at(i)[k] = value.bytes[k];
  }
};

struct swap_elements {
  moved_vector x, y;
  int bytes;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (int k = 0; k < bytes; ++k) {
      const std::byte held = x.at(i)[k];
      x.at(i)[k] = y.at(i)[k];
      y.at(i)[k] = held;
    }
  }
};

struct move_elements {
  gathered_elements elements;

  KOKKOS_FUNCTION void operator()(std::size_t i) const { elements.move<unsigned char>(i); }
};

template <class Body>
void run(const space& on, std::size_t n, const Body& body) {
  for_each(on, "tally transform", n, body);
  if (on_host) on.fence();
}

}  // namespace

void backend::transform(const executor& where, const transform_arguments& a,
                        type computation) const {
  locked([&] {
    const space on = space_of(where);
    if (copies_bits(a)) {
      if (a.x.element == type::boolean) {
        return run(on, a.x.size, copy_booleans{typed_vector(a.x), typed_vector(a.z)});
      }
      const auto size = static_cast<std::ptrdiff_t>(size_of(a.x.element));
      return run(
          on, a.x.size,
          copy_elements{static_cast<const std::byte*>(a.x.data), static_cast<std::byte*>(a.z.data),
                        a.x.increment * size, a.z.increment * size, static_cast<int>(size)});
    }
    with_type<accumulator_types>(computation, [&]<class C>() {
      using V = computed_t<C>;
      if (detail::is_short(a.what)) {
        const auto run_short = [&]<int inputs>() {
          run(on, a.x.size,
              write_short<inputs, V>{a.what, factors<V>::template of<C>(a.alpha, a.beta),
                                     typed_vector(a.x), typed_vector(a.y), typed_vector(a.w),
                                     typed_vector(a.z)});
        };
        return with_inputs(a.what, run_short);
      }
      with_function<V, true>(a.what, [&]<elementwise what>() {
        if constexpr (write_plain<what, V>::exists) {
          if (has_plain_vectors<what>(a, type_of<C>)) {
            return run(on, a.x.size, write_plain<what, V>(three_factors<V>::template of<C>(a), a));
          }
        }
        run(on, a.x.size,
            write_elements<what, V>{three_factors<V>::template of<C>(a), typed_vector(a.x),
                                    typed_vector(a.y), typed_vector(a.z)});
      });
    });
  });
}

void backend::fill(const executor& where, const element_bytes& value,
                   const output_operand& z) const {
  locked([&] {
    const space on = space_of(where);
    run(on, z.size, fill_elements{value, moved_vector(z), static_cast<int>(size_of(z.element))});
  });
}

void backend::swap(const executor& where, const output_operand& x, const output_operand& y) const {
  locked([&] {
    const space on = space_of(where);
    run(on, x.size,
        swap_elements{moved_vector(x), moved_vector(y), static_cast<int>(size_of(x.element))});
  });
}

void backend::gather(const executor& where, const gather_arguments& a) const {
  locked([&] { run(space_of(where), a.indices.size, move_elements{gathered_elements(a)}); });
}

}  // namespace tally::backends::kokkos
