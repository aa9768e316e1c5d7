// Extrema on Kokkos: one reduction for the value, one for the index.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/kokkos/sums.hpp"

#include <type_traits>

namespace tally::backends::kokkos {
namespace {

/// Type of comparison: float, double, or int64 for integers.
template <class X>
using compared =
    std::conditional_t<std::is_integral_v<X>, std::int64_t,
                       std::conditional_t<std::is_same_v<real_t<X>, double>, double, float>>;

/// Magnitudes of integers are compared as -|x|, which can't overflow, so the least is sought.
template <extreme what, class X>
inline constexpr bool looks_for_least =
    what == extreme::min || (what == extreme::iamax && std::is_integral_v<X>);

template <extreme what, class X>
using reducer_of = std::conditional_t<looks_for_least<what, X>, Kokkos::Min<compared<X>, memory>,
                                      Kokkos::Max<compared<X>, memory>>;

template <extreme what, class X>
struct elements {
  using R = compared<X>;
  own_numbers<X> x;
  std::size_t size;
  std::size_t shares;

  KOKKOS_FUNCTION R magnitude(std::size_t i, int part) const {
    const R number = x.template get<R>(i, part);
    return number < 0 ? -number : number;
  }
  KOKKOS_FUNCTION R get(std::size_t i) const {
    if constexpr (what != extreme::iamax) {
      return x.template get<R>(i, 0);
    } else if constexpr (is_complex_v<X>) {
      return magnitude(i, 0) + magnitude(i, 1);
    } else if constexpr (std::is_integral_v<X>) {
      const R number = x.template get<R>(i, 0);
      return number < 0 ? number : -number;
    } else {
      return magnitude(i, 0);
    }
  }

  /// Calls `f(i, get(i))` for a part's elements: adjacent on a host, strided on a device.
  template <class F>
  KOKKOS_FUNCTION void for_each(std::size_t share, F f) const {
    const environment_guard environment;
    const std::size_t length = (size + shares - 1) / shares;
    const std::size_t begin = on_host ? share * length : share;
    const std::size_t end = on_host && begin + length < size ? begin + length : size;
    for (std::size_t i = begin; i < end; i += on_host ? 1 : shares) f(i, get(i));
  }
};

/// NaNs never win.
template <extreme what, class X>
struct find_value {
  using R = compared<X>;
  elements<what, X> all;

  KOKKOS_FUNCTION void operator()(std::size_t share, R& best) const {
    all.for_each(share, [&best](std::size_t, R value) {
      if (looks_for_least<what, X> ? value < best : value > best) best = value;
    });
  }
};

/// NaNs come before all indices.
inline constexpr std::int64_t nans = std::int64_t{1} << 62;
inline constexpr std::int64_t none = Kokkos::reduction_identity<std::int64_t>::min();

/// First index of the value; of the first NaN, less `nans`.
template <extreme what, class X>
struct find_index {
  using R = compared<X>;
  elements<what, X> all;
  const R* best;

  KOKKOS_FUNCTION void operator()(std::size_t share, std::int64_t& first) const {
    const R wanted = *best;
    all.for_each(share, [&first, wanted](std::size_t i, R value) {
      const auto index = static_cast<std::int64_t>(i) - (value != value ? nans : 0);
      if ((value == wanted || value != value) && index < first) first = index;
    });
  }
};

/// Extremum and its index, in device memory.
struct found {
  alignas(8) unsigned char value[8];
  std::int64_t index;
};

template <extreme what, class X>
struct write_result {
  own_numbers<X> x;
  std::size_t size;
  const found* from;
  void* result;

  KOKKOS_FUNCTION void operator()(std::size_t) const {
    const bool is_nan = from->index < 0;
    // No index if all are infinite: reductions begin at the largest finite number.
    const std::int64_t index = is_nan ? from->index + nans : from->index == none ? 0 : from->index;
    if constexpr (what == extreme::iamax) {
      *static_cast<std::int64_t*>(result) = size == 0 ? -1 : index;
    } else {
      X value = x.data[index * x.increment];
      if constexpr (!std::is_integral_v<X>) {
        if (is_nan) value = static_cast<X>(quiet_nan<compared<X>>);
      }
      *static_cast<tally::extremum<X>*>(result) = {value, index};
    }
  }
};

template <extreme what, class X>
void search(const space& on, const operand& x, found* scratch, void* result) {
  using R = compared<X>;
  using policy = Kokkos::RangePolicy<space>;
  auto* const value = reinterpret_cast<R*>(scratch->value);
  const std::size_t shares = std::min<std::size_t>(x.size, std::size_t{1} << 16);
  const elements<what, X> all{own_numbers<X>(x), x.size, shares};
  Kokkos::parallel_reduce("tally extremum", policy(on, 0, shares), find_value<what, X>{all},
                          reducer_of<what, X>(Kokkos::View<R, memory>(value)));
  Kokkos::parallel_reduce(
      "tally index", policy(on, 0, shares), find_index<what, X>{all, value},
      Kokkos::Min<std::int64_t, memory>(Kokkos::View<std::int64_t, memory>(&scratch->index)));
  Kokkos::parallel_for("tally result", policy(on, 0, 1),
                       write_result<what, X>{all.x, x.size, scratch, result});
}

template <class X>
void run(const space& on, const extremum_arguments& a) {
  auto* const memory_of_all = static_cast<char*>(scratch(on, 2 * sizeof(found) + 32));
  auto* const finds = reinterpret_cast<found*>(memory_of_all);
  // For a result that a device can't write in place.
  const bool staged = a.options.wait && !on_host;
  char* const result = staged ? memory_of_all + 2 * sizeof(found) : static_cast<char*>(a.result);
  int words = 1;
  if (a.what == extreme::iamax) {
    search<extreme::iamax, X>(on, a.x, finds, result);
  } else if constexpr (!is_complex_v<X>) {
    constexpr std::size_t one = sizeof(tally::extremum<X>);
    const bool both = a.what == extreme::minmax;
    words = both ? 4 : 2;
    if (a.what != extreme::max) search<extreme::min, X>(on, a.x, finds, result);
    if (a.what != extreme::min) {
      search<extreme::max, X>(on, a.x, finds + both, result + (both ? one : 0));
    }
  }
  if (staged) copy_to_host(on, reinterpret_cast<const std::int64_t*>(result), a.result, words);
  if (a.options.wait || on_host) on.fence();
}

}  // namespace

void backend::extremum(const executor& where, const extremum_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    with_type(a.x.element, [&]<class X>() { run<X>(on, a); });
  });
}

}  // namespace tally::backends::kokkos
