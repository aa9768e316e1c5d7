// Elements that are no numbers of a sum's type: converted, or gathered, a chunk at a time. Included
// after kernel-inl.hpp, once per target.
#include "backends/simd/vectors/targets.hpp"

#include <optional>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_NUMBERS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_NUMBERS
#undef TALLY_BACKENDS_SIMD_NUMBERS
#else
#define TALLY_BACKENDS_SIMD_NUMBERS
#endif

#include "backends/simd/sums/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class A>
struct buffer {
  HWY_ALIGN summed_t<real_t<A>> numbers[(is_complex_v<A> ? 2 : 1) * order::chunk];
};

template <class W>
using converter = void(const void* from, std::size_t n, W* to);

/// Converters by element type, or its parts' type; null where `W` doesn't take it.
template <class W>
constexpr auto converters = table_over([]<class X>() -> converter<W>* {
  using R = real_t<X>;
  if constexpr (std::is_integral_v<W> ? std::is_integral_v<R>
                                      : std::is_same_v<W, double> || !std::is_same_v<R, double>) {
    return [](const void* from, std::size_t n, W* to) {
      convert_numbers(static_cast<const detail::stored_t<R>*>(from), n, to);
    };
  } else {
    return nullptr;
  }
});

/// Returns the numbers of at most a chunk of elements: in place if they are contiguous and of type
/// A, else in `to`.
template <class A>
const summed_t<real_t<A>>* fetch(const operand& v, buffer<A>& to) {
  using W = summed_t<real_t<A>>;
  constexpr std::size_t parts = is_complex_v<A> ? 2 : 1;
  if (v.element != type_of<A>) {
    auto* const convert = converters<W>[v.element];
    for_each_stretch(v, [&](const void* stretch, std::size_t i, std::size_t n) {
      convert(stretch, parts * n, to.numbers + parts * i);
    });
  } else if (v.increment != 1) {
    gather(v, reinterpret_cast<std::byte*>(to.numbers));
  } else {
    return static_cast<const W*>(v.data);
  }
  return to.numbers;
}

/// Multiplies the numbers by weights. Not inlined, nor `clear_masked`: each has a buffer on the
/// stack.
template <class R>
HWY_NOINLINE void multiply_by(const operand& weights, const R* x, buffer<R>& to) {
  buffer<R> room;
  const R* const w = fetch<R>(weights, room);
  for (std::size_t i = 0; i < weights.size; ++i) to.numbers[i] = x[i] * w[i];
}

/// Clears the numbers of elements whose mask is not positive.
template <class R>
HWY_NOINLINE void clear_masked(const operand& mask, buffer<R>& to) {
  buffer<double> masks;
  const double* const m = fetch<double>(mask, masks);
  for (std::size_t i = 0; i < mask.size; ++i) to.numbers[i] = m[i] > 0 ? to.numbers[i] : R{};
}

/// Writes the products x_i * w_i, rounded, of at most a chunk of elements; 0 for those masked.
template <class R>
void weighted_products(const operand& x, const operand& w, const std::optional<operand>& mask,
                       buffer<R>& to) {
  multiply_by(w, fetch<R>(x, to), to);
  if (mask) clear_masked(*mask, to);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
