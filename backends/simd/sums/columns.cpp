// Sums of adjacent vectors, such as the columns of a row-major matrix: a row of vectors has a
// number of each. Many are summed lane by lane, in registers, and lanes fold as soon as they can;
// of few, or of rows that are converted first, the 64 lanes are an array in the first-level cache,
// to which rows are added.
#include "backends/simd/sums/columns.hpp"

#include "backends/common/order/tree.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <tuple>

#ifndef TALLY_BACKENDS_SIMD_COLUMNS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_COLUMNS_CPP
namespace tally::backends::simd {
namespace {

template <class W>
using column_sums = void(const columns& x, W* sums, std::span<W> workspace);

struct implementation {
  instruction_set set;
  std::tuple<column_sums<float>*, column_sums<double>*, column_sums<std::uint64_t>*> sums;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/sums/columns.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/numbers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Numbers whose lanes are an array, at most: a third of a first-level cache (tuning/multi_dot.md:
/// max_in_array).
template <class W>
constexpr std::size_t max_in_array = 256 / sizeof(W);

// --- Lane by lane --------------------------------------------------------------------------------

/// Numbers that change no other when added, as many as columns.
template <class W>
struct zeros {
  alignas(64) W of[max_columns<W>];

  constexpr zeros() : of() {
    for (W& each : of) each = std::is_floating_point_v<W> ? -W{0} : W{0};
  }
};
template <class W>
constexpr zeros<W> no_numbers;

/// Rows of at most a chunk of terms.
template <class W>
struct terms_in_place {
  const W* first;
  std::ptrdiff_t step;  ///< from a row to the next
  const W* y;           ///< a factor per row, or null
  std::size_t n;        ///< rows

  const W* row(std::size_t i) const { return first + static_cast<std::ptrdiff_t>(i) * step; }
};

/// to[j] = base[j] + the sum of column j over some lanes; j < count.
template <class W>
using sum_of_lanes = void(const terms_in_place<W>& x, std::size_t lane, std::size_t count,
                          const W* base, W* to);

/// Calls f(i, load, store) for whole vectors of numbers, then for what is left.
template <std::size_t vectors, class W, class F>
HWY_INLINE void for_each_vector(std::size_t count, const F& f) {
  constexpr std::size_t w = width<W>;
  const auto load_all = [](const W* p) HWY_ATTR { return hn::LoadU(tag<W>(), p); };
  const auto store_all = [](vec<W> v, W* p) HWY_ATTR { hn::StoreU(v, tag<W>(), p); };
  std::size_t i = 0;
  if constexpr (vectors > 1) {
    for (; i + vectors * w <= count; i += vectors * w) {
      f.template operator()<vectors>(i, load_all, store_all);
    }
  }
  for (; i + w <= count; i += w) f.template operator()<1>(i, load_all, store_all);
  if (i == count) return;
  const std::size_t left = count - i;
  f.template operator()<1>(
      i, [left](const W* p) HWY_ATTR { return load_first<W>(p, left); },
      [left](vec<W> v, W* p) HWY_ATTR {
        constexpr tag<W> d;
        hn::BlendedStore(v, hn::FirstN(d, left), d, p);
      });
}

/// Lane `lane`. Few additions pass through memory, and rows of one lane are few streams.
template <bool multiplies, class W>
void sum_lane(const terms_in_place<W>& x, std::size_t lane, std::size_t count, const W* base,
              W* to) {
  constexpr tag<W> d;
  const auto sum = [&]<std::size_t vectors>(std::size_t i, const auto& load,
                                            const auto& store) HWY_ATTR {
    vec<W> s[vectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) s[v] = hn::Set(d, no_numbers<W>.of[0]);
    const W* from = x.row(lane) + i;
    for (std::size_t t = lane; t < x.n; t += order::lanes) {
      [[maybe_unused]] const auto factor = hn::Set(d, multiplies ? x.y[t] : W{});
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v) {
        auto term = load(from + v * width<W>);
        if constexpr (multiplies) term = hn::Mul(term, factor);
        s[v] = hn::Add(s[v], term);
      }
      from += static_cast<std::ptrdiff_t>(order::lanes) * x.step;
    }
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i + v * width<W>;
      store(hn::Add(load(base + at), s[v]), to + at);
    }
  };
  for_each_vector<8, W>(count, sum);
}

/// Lane `lane` from memory: each row is a stream (tuning/multi_dot.md: max_wide).
template <bool multiplies, class W>
void sum_lane_in_streams(const terms_in_place<W>& x, std::size_t lane, std::size_t count,
                         const W* base, W* to) {
  constexpr tag<W> d;
  constexpr std::size_t ahead = 384 / sizeof(W);
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(order::lanes) * x.step;
  const bool is_added = base == to;
  for_each_vector<1, W>(
      count, [&]<std::size_t>(std::size_t i, const auto& load, const auto& store) HWY_ATTR {
        auto s = hn::Set(d, no_numbers<W>.of[0]);
        const W* from = x.row(lane) + i;
        for (std::size_t t = lane; t < x.n; t += order::lanes, from += step) {
          __builtin_prefetch(from + ahead);
          auto term = load(from);
          if constexpr (multiplies) term = hn::Mul(term, hn::Set(d, x.y[t]));
          s = hn::Add(s, term);
        }
        store(is_added ? hn::Add(load(to + i), s) : s, to + i);
      });
}

/// Lanes `lane`, 16, 32 and 48 further, of at most `max_terms` terms each, with factors in
/// registers.
template <bool multiplies, std::size_t max_terms, class W>
void sum_four_lanes(const terms_in_place<W>& x, std::size_t lane, std::size_t count, const W* base,
                    W* to) {
  constexpr tag<W> d;
  constexpr std::size_t apart = order::lanes / 4;
  const W* from[4][max_terms];
  [[maybe_unused]] vec<W> factor[4][max_terms];
#pragma GCC unroll 4
  for (std::size_t k = 0; k < 4; ++k) {
#pragma GCC unroll 4
    for (std::size_t t = 0; t < max_terms; ++t) {
      const std::size_t i = lane + k * apart + t * order::lanes;
      from[k][t] = i < x.n ? x.row(i) : no_numbers<W>.of;
      if constexpr (multiplies) factor[k][t] = hn::Set(d, i < x.n ? x.y[i] : W{1});
    }
  }
  for_each_vector<1, W>(
      count, [&]<std::size_t>(std::size_t i, const auto& load, const auto& store) HWY_ATTR {
        vec<W> s[4];
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) {
#pragma GCC unroll 4
          for (std::size_t t = 0; t < max_terms; ++t) {
            auto term = load(from[k][t] + i);
            if constexpr (multiplies) term = hn::Mul(term, factor[k][t]);
            s[k] = t == 0 ? term : hn::Add(s[k], term);
          }
        }
        const auto sum = hn::Add(hn::Add(s[0], s[2]), hn::Add(s[1], s[3]));
        store(hn::Add(load(base + i), sum), to + i);
      });
}

/// Rows that are summed at once, at most, a lane each (tuning/multi_dot.md).
constexpr std::size_t few_rows = 16;

/// All lanes.
template <bool multiplies, class W>
void sum_few_rows(const terms_in_place<W>& x, std::size_t, std::size_t count, const W* base,
                  W* to) {
  constexpr tag<W> d;
  const W* from[few_rows];
  W factor[few_rows];
  for (std::size_t k = 0; k < few_rows; ++k) {
    from[k] = k < x.n ? x.row(k) : no_numbers<W>.of;
    factor[k] = multiplies && k < x.n ? x.y[k] : W{1};
  }
  for_each_vector<1, W>(
      count, [&]<std::size_t>(std::size_t i, const auto& load, const auto& store) HWY_ATTR {
        vec<W> s[few_rows];
#pragma GCC unroll 16
        for (std::size_t k = 0; k < few_rows; ++k) {
          s[k] = load(from[k] + i);
          if constexpr (multiplies) s[k] = hn::Mul(s[k], hn::Set(d, factor[k]));
        }
#pragma GCC unroll 4
        for (std::size_t step = few_rows / 2; step > 0; step /= 2) {
#pragma GCC unroll 8
          for (std::size_t k = 0; k < step; ++k) s[k] = hn::Add(s[k], s[k + step]);
        }
        store(hn::Add(load(base + i), s[0]), to + i);
      });
}

/// Sums of rows of any number, some columns at a time.
template <class W>
class lane_summer {
  static constexpr std::size_t line = 64 / sizeof(W);

 public:
  lane_summer(const columns& x, const W* y, std::span<W> memory, bool is_wide)
      : x_({static_cast<const W*>(x.first.data),
            x.first.increment * (is_complex(x.first.element) ? 2 : 1), y, x.first.size}),
        together_(x.first.size <= few_rows           ? order::lanes
                  : x.first.size <= 4 * order::lanes ? 4
                                                     : 1),
        is_wide_(is_wide),
        kernel_(kernel()),
        count_(x.count),
        memory_(memory) {}

  void sum(W* sums) {
    const std::size_t buffers = column_buffers(x_.n) - (together_ == 1 ? 0 : 2);
    const std::size_t max_width = memory_.size() / buffers / line * line;
    const W* const first = x_.first;
    // Loads across cache lines cost two, so the second part begins with a line.
    const bool is_alignable = !is_wide_ && x_.step % static_cast<std::ptrdiff_t>(line) == 0;
    const std::size_t head = -(reinterpret_cast<std::uintptr_t>(first) / sizeof(W)) % line;
    std::size_t next = is_alignable && head != 0 ? head : max_width;
    for (std::size_t j = 0; j < count_; j += some_, next = max_width) {
      some_ = std::min(next, count_ - j);
      x_.first = first + j;
      sum_tree(x_, sums + j, memory_.data());
    }
  }

 private:
  sum_of_lanes<W>* kernel() const {
    if constexpr (std::is_floating_point_v<W>) {
      if (x_.y != nullptr) return kernel_of<true>();
    }
    return kernel_of<false>();
  }
  template <bool multiplies>
  sum_of_lanes<W>* kernel_of() const {
    return x_.n <= few_rows           ? &sum_few_rows<multiplies, W>
           : x_.n <= order::lanes     ? &sum_four_lanes<multiplies, 1, W>
           : x_.n <= 2 * order::lanes ? &sum_four_lanes<multiplies, 2, W>
           : x_.n <= 4 * order::lanes ? &sum_four_lanes<multiplies, 4, W>
           : is_wide_                 ? &sum_lane_in_streams<multiplies, W>
                                      : &sum_lane<multiplies, W>;
  }

  void sum_tree(const terms_in_place<W>& x, W* to, W* free) const {
    if (x.n <= order::chunk) return fold(x, 0, 1, to, free);
    const std::size_t left = std::bit_floor((x.n - 1) / order::chunk) * order::chunk;
    sum_tree({x.first, x.step, x.y, left}, to, free);
    sum_tree({x.row(left), x.step, x.y == nullptr ? nullptr : x.y + left, x.n - left}, free,
             free + some_in_lines());
    add(free, to);
  }

  /// Sums lanes `lane`, `lane` + step, ...
  void fold(const terms_in_place<W>& x, std::size_t lane, std::size_t step, W* to, W* free) const {
    const std::size_t leaf = order::lanes / together_;
    if (step == leaf) return kernel_(x, lane, some_, no_numbers<W>.of, to);
    fold(x, lane, 2 * step, to, free);
    if (lane + step >= x.n) return;  // absent lanes would add +0
    if (2 * step == leaf) return kernel_(x, lane + step, some_, to, to);
    fold(x, lane + step, 2 * step, free, free + some_in_lines());
    add(free, to);
  }

  void add(const W* from, W* to) const {
    for_each_vector<1, W>(some_,
                          [&]<std::size_t>(std::size_t i, const auto& load, const auto& store)
                              HWY_ATTR { store(hn::Add(load(to + i), load(from + i)), to + i); });
  }

  std::size_t some_in_lines() const { return (some_ + line - 1) / line * line; }

  terms_in_place<W> x_;
  std::size_t together_;  ///< lanes of a call of `kernel_`
  bool is_wide_;
  sum_of_lanes<W>* kernel_;
  std::size_t count_, some_ = 0;  ///< columns: all, and those that are summed now
  std::span<W> memory_;
};

// --- Lanes in an array ---------------------------------------------------------------------------

/// Rows of numbers that are added to lanes.
template <class W>
struct rows {
  const W* first;
  std::ptrdiff_t step;       ///< from a row to the next
  std::size_t count;         ///< numbers of a row
  const W* y;                ///< a factor per row, or null
  std::ptrdiff_t ahead = 0;  ///< from a row to one that is prefetched; 0: none

  rows from(std::size_t i) const {
    rows r = *this;
    r.first += static_cast<std::ptrdiff_t>(i) * step;
    if (y != nullptr) r.y += i;
    return r;
  }
};

/// to[i] = from[i] * factor, or is increased by it; i < n. May write more up to the end of a
/// vector, where terms are zeros.
template <bool starts, bool multiplies, class W>
HWY_INLINE void add_numbers(const W* from, [[maybe_unused]] W factor, std::size_t n, W* to) {
  constexpr tag<W> d;
  const auto add = [&](vec<W> terms, std::size_t i) HWY_ATTR {
    if constexpr (multiplies) terms = hn::Mul(terms, hn::Set(d, factor));
    hn::StoreU(starts ? terms : hn::Add(hn::LoadU(d, to + i), terms), d, to + i);
  };
  std::size_t i = 0;
#pragma GCC unroll 4
  for (; i + width<W> <= n; i += width<W>) add(hn::LoadU(d, from + i), i);
  if (i < n) add(load_first<W>(from + i, n - i), i);
}

/// Adds at most `order::lanes` rows to lanes from the first on, `stride` numbers apart.
template <bool starts, bool multiplies, class W>
void add_rows(const rows<W>& x, std::size_t n, std::size_t stride, W* to) {
  if (!multiplies && stride == x.count && x.step == static_cast<std::ptrdiff_t>(stride)) {
    // One after another, in lanes and memory.
    return add_numbers<starts, false>(x.first, W{}, n * x.count, to);
  }
  const auto all = [&](std::size_t count) HWY_ATTR {
    const W* from = x.first;
    for (std::size_t l = 0; l < n; ++l, from += x.step, to += stride) {
      if (x.ahead != 0) {
        for (std::size_t j = 0; j < count; j += 64 / sizeof(W)) {
          __builtin_prefetch(from + x.ahead + j);
        }
      }
      add_numbers<starts, multiplies>(from, multiplies ? x.y[l] : W{}, count, to);
    }
  };
  constexpr std::size_t max = max_in_array<W>;
  x.count == max ? all(max) : all(x.count);
}
template <class W>
void add_rows(const rows<W>& x, std::size_t n, bool starts, std::size_t stride, W* to) {
  if constexpr (std::is_floating_point_v<W>) {
    if (x.y != nullptr) {
      return starts ? add_rows<true, true>(x, n, stride, to)
                    : add_rows<false, true>(x, n, stride, to);
    }
  }
  starts ? add_rows<true, false>(x, n, stride, to) : add_rows<false, false>(x, n, stride, to);
}

/// Folds the first `have` lanes; absent ones would add +0.
template <class W>
void fold(std::size_t have, std::size_t stride, W* lanes) {
  constexpr tag<W> d;
  for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
    if (have <= half) continue;
    const std::size_t n = (have - half) * stride;
    const W* const far = lanes + half * stride;
    std::size_t i = 0;
#pragma GCC unroll 4
    for (; i + width<W> <= n; i += width<W>) {
      hn::StoreU(hn::Add(hn::LoadU(d, lanes + i), hn::LoadU(d, far + i)), d, lanes + i);
    }
    for (; i < n; ++i) lanes[i] += far[i];
    have = half;
  }
}

/// Rows in `W`, contiguous: converted, gathered and, integers, multiplied.
template <class W>
class row_buffer {
 public:
  static constexpr std::size_t max_rows = 16;  // small for the stack

  /// Returns at most `max_rows` rows from `first` on.
  rows<W> fetch(const columns& x, std::size_t first, std::size_t n, std::size_t stride,
                [[maybe_unused]] const W* y) {
    const std::size_t parts = is_complex(x.first.element) ? 2 : 1;
    auto* const convert = converters<W>[x.first.element];
    for (std::size_t i = 0; i < n; ++i) {
      operand row = x.first.slice(first + i, 1);
      row.size = x.count / parts;
      row.increment = x.distance;
      W* const to = numbers_ + i * stride;
      for_each_stretch(row, [&](const void* stretch, std::size_t at, std::size_t some) {
        convert(stretch, parts * some, to + parts * at);
      });
      if constexpr (std::is_integral_v<W>) {
        if (y == nullptr) continue;
        for (std::size_t j = 0; j < x.count; ++j) to[j] *= y[i];
      }
    }
    return {numbers_, static_cast<std::ptrdiff_t>(stride), x.count,
            std::is_integral_v<W> ? nullptr : y};
  }

 private:
  HWY_ALIGN W numbers_[max_rows * max_in_array<W> + width<W>];
};

/// Factors of at most `order::lanes` rows.
template <class W>
class factor_buffer {
 public:
  const W* fetch(const operand& y) {
    if (y.increment == 1 && y.element == stored_as<W>) return static_cast<const W*>(y.data);
    auto* const convert = converters<W>[y.element];
    for_each_stretch(y, [&](const void* stretch, std::size_t at, std::size_t n) {
      convert(stretch, n, numbers_ + at);
    });
    return numbers_;
  }

 private:
  HWY_ALIGN W numbers_[order::lanes + width<W>];
};

/// Sums of each vector over a node.
template <class W>
struct row_of_sums {
  W of[max_in_array<W>] = {};

  friend row_of_sums operator+(row_of_sums a, const row_of_sums& b) {
    for (std::size_t j = 0; j < max_in_array<W>; ++j) a.of[j] += b.of[j];
    return a;
  }
};

template <class W>
class column_summer {
 public:
  explicit column_summer(const columns& x)
      : x_(x),
        is_direct_(is_direct<W>(x)),
        step_(x.first.increment * (is_complex(x.first.element) ? 2 : 1)),
        stride_(is_direct_ && x.y == nullptr && step_ == static_cast<std::ptrdiff_t>(x.count)
                    ? x.count
                    : (x.count + width<W> - 1) / width<W> * width<W>) {}

  void sum(W* sums) {
    const std::size_t n = x_.first.size;
    if (n <= order::chunk) {
      sum_chunk(0, n, sums);
    } else {
      row_of_sums<W> all;
      const auto chunk = [&](std::size_t first, std::size_t terms) HWY_ATTR {
        row_of_sums<W> s;
        sum_chunk(first, terms, s.of);
        return s;
      };
      sum_in_tree(0, n, order::chunk, chunk, all);
      std::copy_n(all.of, x_.count, sums);
    }
  }

 private:
  void sum_chunk(std::size_t first, std::size_t n, W* sums) {
    if (n == 0) {
      std::fill_n(sums, x_.count, W{});
      return;
    }
    for (std::size_t i = 0; i < n; i += order::lanes) {
      add(first + i, std::min(order::lanes, n - i), i == 0);
    }
    fold(std::min(n, order::lanes), stride_, lanes_);
    std::copy_n(lanes_, x_.count, sums);
  }

  /// Adds a row to each of n lanes.
  void add(std::size_t first, std::size_t n, bool starts) {
    const W* const y = x_.y != nullptr ? factors_.fetch(x_.y->slice(first, n)) : nullptr;
    if (is_direct_) {
      const W* const from = static_cast<const W*>(x_.first.data);
      rows<W> x = {from + static_cast<std::ptrdiff_t>(first) * step_, step_, x_.count, y};
      // Prefetchers work within pages, and long rows lie in one each. So a row is fetched well
      // before it is added; behind the last one are those of the next columns, which come while
      // lanes are folded (tuning/multi_dot.md: rows_ahead).
      const std::size_t all = x_.first.size, rows_ahead = std::min<std::size_t>(16, all);
      const std::size_t last = all - rows_ahead;
      const std::size_t inside = std::clamp(last, first, first + n) - first;
      const auto later = static_cast<std::ptrdiff_t>(rows_ahead) * step_;
      const bool is_far = std::abs(step_) >= static_cast<std::ptrdiff_t>(1024 / sizeof(W));
      if (is_far) x.ahead = later;
      add_rows(x, inside, starts, stride_, lanes_);
      x = x.from(inside);
      if (is_far) {
        x.ahead = later - static_cast<std::ptrdiff_t>(all) * step_ +
                  static_cast<std::ptrdiff_t>(x_.count);
      }
      return add_rows(x, n - inside, starts, stride_, lanes_ + inside * stride_);
    }
    constexpr std::size_t max_rows = row_buffer<W>::max_rows;
    for (std::size_t i = 0; i < n; i += max_rows) {
      const std::size_t some = std::min(max_rows, n - i);
      add_rows(buffer_.fetch(x_, first + i, some, stride_, y != nullptr ? y + i : nullptr), some,
               starts, stride_, lanes_ + i * stride_);
    }
  }

  const columns& x_;
  bool is_direct_;
  std::ptrdiff_t step_;
  /// Numbers from a lane to the next.
  std::size_t stride_;
  factor_buffer<W> factors_;
  row_buffer<W> buffer_;
  HWY_ALIGN W lanes_[order::lanes * max_in_array<W> + width<W>];
};

template <class W>
const W* factors_of(const columns& x) {
  return x.y == nullptr ? nullptr : static_cast<const W*>(x.y->data);
}

// Not inlined, for the stack.
template <class W>
HWY_NOINLINE void sum_lane_by_lane(const columns& x, W* sums) {
  HWY_ALIGN W memory[(std::size_t{15} << 10) / sizeof(W)];
  lane_summer<W>(x, factors_of<W>(x), memory, false).sum(sums);
}
template <class W>
HWY_NOINLINE void sum_in_array(const columns& x, W* sums) {
  column_summer<W>(x).sum(sums);
}

/// A lane starts as its first term, so sums may be -0 where the order has +0.
template <class W>
void sum_columns(const columns& x, W* sums, std::span<W> workspace) {
  if (is_lane_by_lane<W>(x)) {
    if (workspace.empty()) {
      sum_lane_by_lane(x, sums);
    } else {
      lane_summer<W>(x, factors_of<W>(x), workspace, true).sum(sums);
    }
  } else {
    const std::size_t max_numbers = max_in_array<W>;
    const std::size_t parts = is_complex(x.first.element) ? 2 : 1;
    for (std::size_t j = 0; j < x.count; j += max_numbers) {
      const columns some =
          x.part(j / parts, std::min(max_numbers, x.count - j) / parts, 0, x.first.size);
      sum_in_array(some, sums + j);
    }
  }
  for (std::size_t j = 0; j < x.count; ++j) sums[j] += W{};
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET), {&sum_columns<float>, &sum_columns<double>, &sum_columns<std::uint64_t>}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

template <class W>
void sum_columns(instruction_set set, const columns& x, W* sums, std::span<W> workspace) {
  std::get<column_sums<W>*>(implementation_of(set).sums)(x, sums, workspace);
}

// For multi_dot.
template <class W>
using summing = void(instruction_set, const columns&, W*, std::span<W>);
template summing<float> sum_columns<float>;
template summing<double> sum_columns<double>;
template summing<std::uint64_t> sum_columns<std::uint64_t>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
