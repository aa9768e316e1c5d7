// Exact sums of any number of terms, and of operands of any types.
//
// Terms are split without error over levels, accumulators in registers. A tile's largest and
// smallest term prove afterwards that nothing was lost; else it is added again, with another bias
// or more levels, or to exponent bins.
//
// Included by a source per kind of terms, so that a static program has only the kinds it sums.
#include "backends/simd/exact/exact.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

#include <functional>
#include <optional>
#include <type_traits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_EXACT_SUMS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_EXACT_SUMS
#undef TALLY_BACKENDS_SIMD_EXACT_SUMS
#else
#define TALLY_BACKENDS_SIMD_EXACT_SUMS
#endif

#include "backends/simd/exact/bins-inl.hpp"
#include "backends/simd/exact/deep_levels-inl.hpp"
#include "backends/simd/sums/numbers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Any number of terms -------------------------------------------------------------------------

/// Adds tiles until one doesn't fit; returns the number of terms added. `seen`: extent of that
/// tile.
template <class Terms>
std::size_t add_tiles(const Terms terms, std::size_t n, intermediate_sum& to, extent& seen) {
  const auto zero = hn::Zero(u64);
  level_sums sums = {zero, zero, zero, zero};
  std::size_t done = 0, count = 0;
  for (; done < n; ++count) {
    const std::size_t tile = std::min(n - done, tile_terms<Terms>);
    if (!add_levels(terms.from(done), tile, to, sums, seen)) break;
    done += tile;
  }
  collect<Terms>(sums, count, to);
  return done;
}

/// Calls f with each depth above the least until it returns true. Three levels hold products of
/// floats over 2^+-15; six, doubles over 2^+-100 and their products over 2^+-40.
template <class Terms, class F>
bool any_deep([[maybe_unused]] const intermediate_sum& to, [[maybe_unused]] const F& f) {
  if constexpr (has_deep_levels<Terms>) {
    if constexpr (!Terms::paired) {
      if (f(std::integral_constant<int, 3>())) return true;
    }
    return f(std::integral_constant<int, 4>()) ||
           (to.deepest == 6 && f(std::integral_constant<int, 6>()));
  }
  return false;
}

/// Sets the next tile's levels; others are moved to the sum.
template <class Terms>
HWY_INLINE void set_levels(int top, int depth, intermediate_sum& to) {
  const bool same = top == to.top && (!Terms::paired || (depth == 2) == (to.depth == 2));
  if (to.used > 0 && !same) to.template flush_levels<Terms::paired>();
  to.top = top;
  to.depth = depth;
}

template <class Terms>
HWY_NOINLINE bool aim_deep_levels(const extent& e, intermediate_sum& to) {
  return any_deep<Terms>(to, [&](auto depth) {
    // With little room above, the next terms may need fewer levels.
    const auto top = aim<window<Terms, depth>, min_deep_top<Terms, depth>, 2>(e);
    if (top) set_levels<Terms>(*top, depth, to);
    return top.has_value();
  });
}

/// Whether levels hold such terms.
template <class Terms>
HWY_NOINLINE bool have_levels(const extent& e, const intermediate_sum& to) {
  return aim<window<Terms>>(e) || any_deep<Terms>(to, [&](auto depth) {
           return aim<window<Terms, depth>, min_deep_top<Terms, depth>>(e).has_value();
         });
}

/// Aims as few levels as hold such terms; returns whether any do.
template <class Terms>
HWY_NOINLINE bool aim_levels(const extent& e, intermediate_sum& to) {
  const auto top = aim_at<Terms>(e, to.careful);
  if (!top) return aim_deep_levels<Terms>(e, to);
  set_levels<Terms>(*top, 2, to);
  return true;
}

/// Adds deep tiles until one doesn't fit, and aims for that; returns the number of terms added.
/// Unless `aimed`, no levels hold the next term.
template <class Terms>
HWY_NOINLINE std::size_t add_deep(const Terms terms, std::size_t n, intermediate_sum& to,
                                  bool& aimed) {
  extent seen;
  std::size_t done = 0;
  any_deep<Terms>(to, [&](auto depth) {
    if (depth == to.depth) done = add_deep_tiles<Terms, depth>(terms, n, to, seen);
    return depth == to.depth;
  });
  if (done < n) {
    aimed = aim_levels<Terms>(seen, to);
  } else {  // the next terms may have a smaller range
    const int below = to.top - (static_cast<int>(seen.smallest >> 20) - 1023);
    if (below <= window<Terms>) {
      set_levels<Terms>(to.top, 2, to);
    } else {
      any_deep<Terms>(to, [&](auto depth) {
        to.depth = depth;
        return below <= window<Terms, depth>;
      });
    }
  }
  return done;
}

template <class Terms>
void add_unfit(const Terms terms, std::size_t n, intermediate_sum& to);

template <class Terms>
void add_terms(Terms terms, std::size_t n, intermediate_sum& to) {
  if (HWY_UNLIKELY(to.special != 0)) return add_specials(terms, n, to);
  if constexpr (!has_levels<Terms>) {
    return add_to_bins(terms, n, to);
  } else {
    constexpr std::size_t tile = tile_terms<Terms>;
    constexpr std::size_t block = (std::size_t{1} << 11) / step_terms<Terms> * tile;  // see collect
    const auto pass = [&](std::size_t terms_done) {
      terms = terms.from(terms_done);
      n -= terms_done;
      if (terms_done > 0) to.failed = 0;
    };
    const auto leave = [&] {  // the next tiles may fail, too
      to.failed = std::min<std::size_t>(2 * to.failed + 1, 63);
      to.untried = to.failed * tile;
    };
    if (!to.aimed && n > 0) {
      to.aimed = true;
      to.deepest = max_depth_for<Terms>(n);
      const auto top = aim_at<Terms>(extent_of(terms, std::min(n, doubles)), false);
      to.top = top.value_or(0);
      const bool aimed = top || (has_deep_levels<Terms> &&
                                 aim_deep_levels<Terms>(
                                     extent_of(terms, std::min(n, deep_tile_terms<Terms>)), to));
      if (!aimed) leave();
    }
    while (n > 0) {
      if (HWY_UNLIKELY(to.special != 0)) return add_specials(terms, n, to);
      if (to.untried > 0) {
        const std::size_t count = std::min({n, to.untried, tile});
        add_unfit(terms, count, to);
        to.untried -= count;
        terms = terms.from(count);
        n -= count;
        continue;
      }
      if (to.failed > 0 &&  // a step's terms tell whether to try
          !have_levels<Terms>(extent_of(terms, std::min(n, step_terms<Terms>)), to)) {
        leave();
        continue;
      }
      bool aimed = true;
      if (has_deep_levels<Terms> && HWY_UNLIKELY(to.depth > 2)) {
        pass(add_deep(terms, std::min(n, 8 * deep_tile_terms<Terms>), to, aimed));
      } else {
        const std::size_t count = std::min(n, block);
        extent seen;
        const std::size_t fitted = add_tiles(terms, count, to, seen);
        pass(fitted);
        if (fitted < count) aimed = aim_levels<Terms>(seen, to);
      }
      if (!aimed) leave();
    }
  }
}

template <class Terms>
void add_unfit(const Terms terms, std::size_t n, intermediate_sum& to) {
  if constexpr (may_be_scaled<Terms> && !is_scaled<Terms>) {
    const std::size_t some = n < 512 ? n : 64;  // tell whether to look at all
    int each = are_moderate(terms, some) ? 0 : scale_of(terms, some);
    if (each != 0 && some < n) each = scale_of(terms, n);
    if (each != 0) {
      intermediate_sum& scaled =
          static_cast<shared_bins&>(to.bins).template scaled_of<Terms::paired>(
              to, scale_of_terms<Terms>(each));
      return add_terms(scaled_terms<Terms>(terms, each), n, scaled);
    }
  }
  add_to_bins(terms.as_they_are(), n, to);
}

template <bool paired>
HWY_NOINLINE void flush(intermediate_sum& held) {
  held.flush_levels<paired>();
  intermediate_sum* const scaled = static_cast<shared_bins&>(held.bins).scaled;
  if (scaled != nullptr) scaled->template flush_levels<paired>();
  drain<paired>(held.bins);
}

/// Not inlined, nor kinds of packed terms: `add_exact` would take the bins of all on the stack.
template <class Terms>
HWY_NOINLINE void add_all(Terms terms, std::size_t n, exact_sum<double>& to) {
  shared_bins bins;
  intermediate_sum held{to, bins};
  add_terms(terms, n, held);
  flush<Terms::paired>(held);
}

// --- All other operands --------------------------------------------------------------------------

/// Real numbers of a block's elements: re and im, for int64 a multiple of 2^32 and the rest, else
/// one. 6 KiB of the stack.
template <class T>
struct number_arrays {
  static constexpr std::size_t room = 6144 / sizeof(T);
  HWY_ALIGN T first[room];
  T* const second = first + room / 2;

  /// Returns elements per block, of `two` numbers each, or one.
  static constexpr std::size_t block(bool two) { return two ? room / 2 : room; }
};

/// Whether float represents X.
template <class X>
struct is_narrow : std::bool_constant<std::is_integral_v<X> ? (sizeof(X) < sizeof(float))
                                                            : sizeof(real_t<X>) <= sizeof(float)> {
};
using narrow_types = detail::those<element_types, is_narrow>;

template <class X, class T>
void split_numbers(const X* data, std::size_t n, T* first, T* second) {
  if constexpr (is_complex_v<X>) {
    const auto* const pairs = reinterpret_cast<const real_t<X>*>(data);
    for (std::size_t i = 0; i < n; ++i) {
      first[i] = pairs[2 * i];
      second[i] = pairs[2 * i + 1];
    }
  } else if constexpr (std::is_same_v<X, std::int64_t>) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t low = data[i] & 0xffffffff;
      first[i] = static_cast<double>(data[i] - low);
      second[i] = static_cast<double>(low);
    }
  } else {
    convert_numbers(data, n, first);
  }
}

/// Not inlined: sums would take this stack, too.
template <class T>
HWY_NOINLINE void split_numbers(const operand& v, number_arrays<T>& to) {
  if (v.element == type_of<T> && v.increment != 1) {
    return gather(v, reinterpret_cast<std::byte*>(to.first));
  }
  using readable = std::conditional_t<std::is_same_v<T, float>, narrow_types, element_types>;
  for_each_stretch(v, [&](const void* stretch, std::size_t i, std::size_t n) {
    with_type<readable>(v.element, [&]<class X>() HWY_ATTR {
      split_numbers(static_cast<const detail::stored_t<X>*>(stretch), n, to.first + i,
                    to.second + i);
    });
  });
}

/// Whether elements are summed in place: contiguous, of the kernels' types. For magnitudes and
/// squares a complex vector is a real one, twice as long.
bool are_in_place(const exact_arguments& a) {
  const bool product = a.term == exact_term::product;
  const bool parted = is_complex(a.x.element) && (product || a.term == exact_term::value);
  const type part = part_of(a.x.element);
  if (a.term == exact_term::weighted) return false;
  return a.x.increment == 1 && !parted && (part == type::float64 || part == type::float32) &&
         (!product || (a.y.increment == 1 && a.x.element == a.y.element));
}

/// Writes a sum, or its root, rounded. Not inlined: kinds of terms share it.
template <bool paired>
HWY_NOINLINE void round(intermediate_sum& held, const exact_arguments& a) {
  const bool root = a.term == exact_term::square;
  with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
    R& result = *static_cast<R*>(a.result.data);
    if (!held.is_made()) {
      result = held.round_levels<paired, R>(root);
    } else {
      flush<paired>(held);
      result = root ? held.sum().template round_root<R>() : held.sum().template round<R>();
    }
  });
}

template <class Terms>
void write_rounded(Terms terms, std::size_t n, const exact_arguments& a) {
  shared_bins bins;
  room_for_sum room;
  intermediate_sum held{room, bins};
  add_terms(terms, n, held);
  round<Terms::paired>(held, a);
}

/// Calls f with the terms and their number. Pre: `are_in_place`. Each including source has its own.
template <class F>
void with_terms_in_place(const exact_arguments& a, const F& f);

bool write_in_place(const exact_arguments& a) {
  if (a.result.words || !are_in_place(a)) return false;
  with_terms_in_place(a, [&](auto terms, std::size_t n) HWY_ATTR { write_rounded(terms, n, a); });
  return true;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
