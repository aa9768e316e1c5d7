// Several dot products on one thread: pair by pair over a tile, a node of the order's tree, then
// over the next tile, so that common vectors come from memory once; bits are those of `dot`.
// Vectors of float or double with one y are summed two or four at a time, loading y once; with
// AVX-512 their sums stay in registers.
#include "backends/simd/sums/multi_dot.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/order/tree.hpp"
#include "backends/common/sparse/row_results.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/exact/exact.hpp"
#include "backends/simd/sums/columns.hpp"
#include "backends/simd/sums/reduce.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <tuple>

#ifndef TALLY_BACKENDS_SIMD_MULTI_DOT_CPP  // once per target
#define TALLY_BACKENDS_SIMD_MULTI_DOT_CPP
namespace tally::backends::simd {
namespace {

/// Sums of several vectors with y, over a node of n terms.
template <class W>
using against_one_node = void(const W* const* x, const W* y, std::size_t n, W* sums);

/// Kernel for `vectors` vectors at a time. A node may have any number of terms if sums are in
/// registers, else whole chunks.
template <class W>
struct turn {
  std::size_t vectors;
  bool in_registers;
  against_one_node<W>* sum;
};

/// At most this many vectors at a time.
constexpr std::size_t max_in_turn = 4;

template <class W>
struct turns {
  turn<W> cached, from_memory;
};

struct implementation {
  instruction_set set;
  std::tuple<turns<float>, turns<double>> turns_of;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/sums/multi_dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Sums in registers ---------------------------------------------------------------------------

template <class V, std::size_t k>
struct terms_of_each {
  V of[k];
};

template <class W, std::size_t k>
struct sums_of_each {
  W of[k];

  friend sums_of_each operator+(sums_of_each a, const sums_of_each& b) {
    for (std::size_t j = 0; j < k; ++j) a.of[j] += b.of[j];
    return a;
  }
};

template <class V, std::size_t k>
HWY_INLINE terms_of_each<V, k> added(terms_of_each<V, k> a, const terms_of_each<V, k>& b) {
#pragma GCC unroll 4
  for (std::size_t j = 0; j < k; ++j) a.of[j] = hn::Add(a.of[j], b.of[j]);
  return a;
}

template <class Sum, class D, std::size_t k>
HWY_INLINE Sum fold_vector(D d, const terms_of_each<hn::Vec<D>, k>& v) {
  Sum sum;
#pragma GCC unroll 4
  for (std::size_t j = 0; j < k; ++j) sum.of[j] = fold_vector<hn::TFromD<D>>(d, v.of[j]);
  return sum;
}

/// Products of k vectors with y, which is loaded once. The vectors are prefetched `ahead` numbers
/// before, unless it is 0.
template <class W, std::size_t k, std::size_t ahead>
struct products_with_one {
  using number = W;
  using sum = sums_of_each<W, k>;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = has_masked_loads;
  const W* x[k];
  const W* y;

  template <class Load>
  HWY_INLINE terms_of_each<vec<W>, k> of(const Load& load) const {
    vec<W> of_y = load(y);
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
    asm("" : "+v"(of_y.raw));  // GCC 12 would reload it for each product
#endif
    terms_of_each<vec<W>, k> terms;
#pragma GCC unroll 4
    for (std::size_t j = 0; j < k; ++j) terms.of[j] = hn::Mul(load(x[j]), of_y);
    return terms;
  }
  HWY_INLINE auto at(std::size_t i) const {
    if constexpr (ahead > 0) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < k; ++j) __builtin_prefetch(x[j] + i + ahead, 0, 2);
    }
    return of([i](const W* p) HWY_ATTR { return load<W>(p + i); });
  }
  HWY_INLINE auto first(std::size_t i, std::size_t count) const {
    return of([=](const W* p) HWY_ATTR { return load_first<W>(p + i, count); });
  }
  HWY_INLINE products_with_one from(std::size_t i) const {
    products_with_one t = *this;
#pragma GCC unroll 4
    for (std::size_t j = 0; j < k; ++j) t.x[j] += i;
    t.y += i;
    return t;
  }
  HWY_INLINE const W* address() const { return x[0]; }
  template <class Mask>
  HWY_INLINE auto masked(Mask m, std::ptrdiff_t i) const {
    return of([=](const W* p) HWY_ATTR { return hn::MaskedLoad(m, tag<W>(), p + i); });
  }
};

template <class W, std::size_t k, std::size_t ahead>
void sum_in_registers(const W* const* x, const W* y, std::size_t n, W* sums) {
  products_with_one<W, k, ahead> t;
  for (std::size_t j = 0; j < k; ++j) t.x[j] = x[j];
  t.y = y;
  const auto sum = sum_node(t, n);
  for (std::size_t j = 0; j < k; ++j) sums[j] = sum.of[j];
}

// --- Sums in memory ------------------------------------------------------------------------------

/// Vectors read in turn, a row of lanes each.
constexpr std::size_t in_turn = 4;

/// Sums one chunk of each vector, with sums in memory: still faster than reading from main memory.
template <class W>
void sum_chunk_against_one(const W* const* x, const W* y, W* sums) {
  constexpr tag<W> d;
  // Prefetches into the second-level cache, which takes more at once than the first: prefetchers
  // find many streams late (tuning/multi_dot.md: in_turn, ahead).
  constexpr std::size_t ahead = 1024 / sizeof(W);
  constexpr std::size_t line = 64 / sizeof(W);
  HWY_ALIGN W lanes[in_turn][order::lanes] = {};
  for (std::size_t i = 0; i < order::chunk; i += order::lanes) {
#pragma GCC unroll 16
    for (std::size_t l = 0; l < order::lanes; l += width<W>) {
      const auto of_y = hn::LoadU(d, y + i + l);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < in_turn; ++j) {
        const W* const from = x[j] + i + l;
        if (l % line == 0) __builtin_prefetch(from + ahead, 0, 2);
        const auto term = hn::Mul(hn::LoadU(d, from), of_y);
        hn::Store(hn::Add(hn::Load(d, lanes[j] + l), term), d, lanes[j] + l);
      }
    }
  }
  for (std::size_t j = 0; j < in_turn; ++j) {
    for (std::size_t half = order::lanes / 2; half >= width<W>; half /= 2) {
      for (std::size_t l = 0; l < half; l += width<W>) {
        const auto far = hn::Load(d, lanes[j] + l + half);
        hn::Store(hn::Add(hn::Load(d, lanes[j] + l), far), d, lanes[j] + l);
      }
    }
    sums[j] = fold_vector<W>(d, hn::Load(d, lanes[j]));
  }
}

template <class W>
void sum_in_memory(const W* const* x, const W* y, std::size_t n, W* sums) {
  std::array<tree<W>, in_turn> trees;
  for (std::size_t i = 0; i < n; i += order::chunk) {
    std::array<const W*, in_turn> from;
    std::array<W, in_turn> of_chunk;
    for (std::size_t j = 0; j < in_turn; ++j) from[j] = x[j] + i;
    sum_chunk_against_one(from.data(), y + i, of_chunk.data());
    for (std::size_t j = 0; j < in_turn; ++j) trees[j].add(of_chunk[j]);
  }
  for (std::size_t j = 0; j < in_turn; ++j) sums[j] = trees[j].total();
}

/// Vectors whose sums fit half of the registers.
template <class W>
constexpr std::size_t fitting = registers / 2 * width<W> / order::lanes;

template <class W>
constexpr turns<W> turns_of_this_target() {
  static_assert(in_turn <= max_in_turn && fitting<W> <= max_in_turn);
  if constexpr (fitting<W> >= 2) {
    // Twice as many as fit: what the compiler keeps in memory costs less than fewer streams.
    constexpr std::size_t ahead = 512 / sizeof(W);
    return {{fitting<W>, true, &sum_in_registers<W, fitting<W>, 0>},
            {max_in_turn, true, &sum_in_registers<W, max_in_turn, ahead>}};
  } else {
    constexpr turn<W> in_memory = {in_turn, false, &sum_in_memory<W>};
    return {in_memory, in_memory};
  }
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET), {turns_of_this_target<float>(), turns_of_this_target<double>()}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
namespace {

/// Terms per tile. Pair by pair tiles are longer, since each begins with a wait for memory
/// (tuning/multi_dot.md: tile_in_turn, tile_by_pair, tile_in_streams).
constexpr std::size_t tile_in_streams = 16 * order::chunk;
constexpr std::size_t tile_in_turn = 64 * order::chunk;
constexpr std::size_t tile_by_pair = 128 * order::chunk;

/// Two vectors at a time read y from the second-level cache; so a tile is a chunk, which stays in
/// the first, unless there are more bytes than this (tuning/multi_dot.md:
/// chunk_in_turn_up_to_bytes).
constexpr std::size_t chunk_in_turn_up_to_bytes = std::size_t{2} << 20;

/// Shorter vectors go pair by pair, since their y stays in the first-level cache
/// (tuning/multi_dot.md: by_pair_up_to_bytes).
constexpr std::size_t by_pair_up_to_bytes = std::size_t{16} << 10;

/// Minimum bytes for sums in memory; if all vectors fit a cache the kernel of `dot` is faster.
constexpr std::size_t in_memory_from_bytes = std::size_t{4} << 20;

/// Number of pairs from `first` on whose rows lie at one distance from the one before.
std::size_t left_in_block(const dot_pairs& pairs, std::size_t first) {
  const auto left = [first](const operand_rows& v) {
    return v.rows_per_block == 0 ? SIZE_MAX : v.rows_per_block - first % v.rows_per_block;
  };
  return pairs.list.empty() ? std::min(left(pairs.x), left(pairs.y)) : SIZE_MAX;
}

bool is_in_one_block(const dot_pairs& pairs, std::size_t first, std::size_t count) {
  return left_in_block(pairs, first) >= count;
}

/// Whether these are contiguous vectors of `A` with one y.
template <class A>
bool have_one_y(const dot_pairs& pairs, std::size_t first, std::size_t count) {
  const operand y = pairs[first].y;
  if (y.element != type_of<A> || y.increment != 1) return false;
  if (pairs.list.empty()) {
    const operand& x = pairs.x.first;
    return pairs.y.leading_dimension == 0 && is_in_one_block(pairs, first, count) &&
           x.element == type_of<A> && x.increment == 1;
  }
  const auto some = pairs.list.subspan(first, count);
  return std::ranges::all_of(some, [&](const operand_pair& pair) {
    return pair.y.data == y.data && pair.y.size == y.size && pair.y.increment == 1 &&
           pair.x.element == type_of<A> && pair.x.increment == 1;
  });
}

/// How pairs are summed.
template <class A>
struct method {
  dot_node<A>* node;  ///< null for values
  reduce_node<A>* node_of_values;
  const turn<A>* kernel;  ///< null if it gains nothing
  const turn<A>* rest;    ///< for fewer vectors than that takes
  std::size_t tile;       ///< terms

  /// Returns the sum of a node; of complex values the parts.
  dot_sum<A> sum(const operand_pair& pair) const {
    if (node != nullptr) return node(pair.x, pair.y);
    const reduce_sum<A> all = node_of_values(pair.x, 1);
    if constexpr (is_complex_v<A>) {
      return {all.re, 0, all.im, 0};
    } else {
      return {all.value};
    }
  }
};

/// Returns the method for pairs of at most n terms, `some` of which are summed now; with one y of
/// the widest instruction set, for its registers (tuning/multi_dot.md: set_for).
template <class A>
method<A> method_for(const executor& where, const multi_sum& a, std::size_t first,
                     std::size_t count, std::size_t n, std::size_t some) {
  const operand_pair one = a.pairs[first];
  const type x = one.x.element, y = one.y.element;
  if (a.values) {
    const instruction_set set = set_for_reduce(where, x, count * n);
    return {nullptr, reduce_node_of<A>(set, reduction::sum, x), nullptr, nullptr, tile_by_pair};
  }
  if constexpr (std::is_floating_point_v<A>) {
    if (count > 1 && have_one_y<A>(a.pairs, first, count)) {
      const instruction_set set = for_arithmetic(where);
      const auto& turns_of_set = std::get<turns<A>>(implementation_of(set).turns_of);
      const std::size_t bytes = n * sizeof(A);
      const bool from_memory =
          count >= max_in_turn && reads_in_streams(a.pairs.size() * some * sizeof(A));
      const turn<A>& kernel = from_memory ? turns_of_set.from_memory : turns_of_set.cached;
      const bool gains =
          kernel.in_registers ? bytes > by_pair_up_to_bytes : count * bytes >= in_memory_from_bytes;
      if (count < kernel.vectors || !gains) {
        return {node_of<A>(set, x, y), nullptr, nullptr, nullptr, tile_by_pair};
      }
      const bool by_chunk =
          kernel.in_registers && kernel.vectors == 2 && count * bytes <= chunk_in_turn_up_to_bytes;
      return {node_of<A>(set, x, y), nullptr, &kernel, &turns_of_set.cached,
              by_chunk      ? order::chunk
              : from_memory ? tile_in_streams
                            : tile_in_turn};
    }
  }
  return {node_of<A>(set_for_dot(where, x, y, count * n), x, y), nullptr, nullptr, nullptr,
          tile_by_pair};
}

// --- Columns -------------------------------------------------------------------------------------

/// Accumulator of columns' numbers.
template <class A>
using column_number = std::conditional_t<std::is_integral_v<A>, std::uint64_t, real_t<A>>;

/// The vectors of one block of rows, and whether they are columns.
struct columns_of_block {
  columns all;
  operand y;
  bool are_columns = false;

  /// Pre: pairs [first, first + count) are of one block.
  columns_of_block(const multi_sum& a, std::size_t first, std::size_t count) {
    const bool swapped = !a.values && a.pairs.x.leading_dimension == 0;
    const operand_rows& rows = swapped ? a.pairs.y : a.pairs.x;
    const operand_rows& others = swapped ? a.pairs.x : a.pairs.y;
    if (!a.pairs.list.empty() || count < 2 || rows.first.size == 0) return;
    const std::ptrdiff_t distance = rows.leading_dimension, increment = rows.first.increment;
    if (distance == 0) return;
    // Vectors of one term are columns, however they lie.
    if (std::abs(distance) >= std::abs(increment) && rows.first.size > 1) return;
    if (!a.values && (is_complex(a.results.element) || others.leading_dimension != 0)) return;
    are_columns = true;
    y = others[first];
    all = {rows[first], distance, 0, nullptr};
  }

  /// Terms [begin, begin + n) of `count` vectors from `vector` on.
  template <class A>
  void sum(const executor& where, const multi_sum& a, std::size_t vector, std::size_t count,
           std::size_t begin, std::size_t n, column_number<A>* sums,
           std::span<column_number<A>> workspace = {}) const {
    columns part = all.part(vector, count, begin, n);
    const operand factors = y.slice(begin, n);
    if (!a.values) part.y = &factors;
    sum_columns(for_arithmetic(where), part, sums, workspace);
  }
};

/// Vectors that `sum_columns` sums at a time.
template <class A>
constexpr std::size_t max_column_vectors =
    max_columns<column_number<A>> / (is_complex_v<A> ? 2 : 1);

/// Memory for wide parts of rows, which are read faster than narrow ones: more than the stack has.
/// There is none where it gains nothing, or if the allocation fails.
template <class A>
class column_workspace {
 public:
  column_workspace(const multi_sum& a, std::size_t first, std::size_t count) {
    if (is_exact(a)) return;
    count = std::min(count, left_in_block(a.pairs, first));
    const columns_of_block block(a, first, count);
    const std::size_t rows = block.all.first.size;
    if (!block.are_columns || rows <= max_narrow_rows) return;
    columns wide = block.all.part(0, count, 0, rows);
    if (!a.values) wide.y = &block.y;
    if (!is_lane_by_lane<number>(wide)) return;
    if (count * sizeof(A) < in_memory_from_bytes / rows) return;
    constexpr std::size_t max_vectors = max_wide<number> / numbers, line = 64 / sizeof(number);
    const std::size_t parts = (count + max_vectors - 1) / max_vectors;
    const std::size_t width = ((count + parts - 1) / parts * numbers + line - 1) / line * line;
    buffers_ = column_buffers(rows) * width;
    memory_.reset(new (std::nothrow) number[buffers_ + width + line]);
    if (memory_ != nullptr) vectors_ = width / numbers;
  }

  /// Vectors that are summed at a time; 0 without memory.
  std::size_t vectors() const { return vectors_; }
  std::span<column_number<A>> buffers() const {
    if (vectors_ == 0) return {};
    constexpr std::size_t line = 64;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory_.get()) % line;
    return {memory_.get() + (line - past) / sizeof(number), buffers_};
  }
  /// Room for sums.
  A* sums() const { return reinterpret_cast<A*>(buffers().data() + buffers_); }

 private:
  using number = column_number<A>;
  static constexpr std::size_t numbers = sizeof(A) / sizeof(number);
  std::unique_ptr<number[]> memory_;
  std::size_t buffers_ = 0;  ///< numbers
  std::size_t vectors_ = 0;
};

}  // namespace

std::size_t longest(const dot_pairs& pairs, std::size_t first, std::size_t count) {
  if (pairs.list.empty()) return pairs.x.first.size;
  std::size_t size = 0;
  for (std::size_t j = first; j < first + count; ++j) size = std::max(size, pairs.list[j].x.size);
  return size;
}

std::size_t pairs_together(const multi_sum& a) {
  return columns_of_block(a, 0, a.pairs.size()).are_columns ? max_column_vectors<float> : 1;
}

template <class A>
multi_dot_sum<A> sum_side_by_side(const executor& where, const multi_sum& a, std::size_t first_pair,
                                  std::size_t count, std::size_t first, std::size_t n) {
  const dot_pairs& pairs = a.pairs;
  multi_dot_sum<A> all;
  if (is_in_one_block(pairs, first_pair, count)) {
    const columns_of_block block(a, first_pair, count);
    if (block.are_columns) {
      using W = column_number<A>;
      std::array<W, 2 * side_by_side> numbers;
      block.template sum<A>(where, a, 0, count, first, n, numbers.data());
      for (std::size_t j = 0; j < count; ++j) {
        if constexpr (is_complex_v<A>) {
          all.of[j] = {numbers[2 * j], 0, numbers[2 * j + 1], 0};
        } else {
          all.of[j] = {static_cast<A>(numbers[j])};
        }
      }
      return all;
    }
  }
  const method<A> how =
      method_for<A>(where, a, first_pair, count, longest(pairs, first_pair, count), n);
  [[maybe_unused]] const auto* const y = static_cast<const A*>(pairs[first_pair].y.data);

  const auto sums = [&](std::size_t begin, std::size_t max_terms) {
    multi_dot_sum<A> s;
    std::size_t j = 0;
    if constexpr (std::is_floating_point_v<A>) {
      for (const auto* const kernel : {how.kernel, how.rest}) {
        if (kernel == nullptr || (!kernel->in_registers && max_terms % order::chunk != 0)) continue;
        for (; j + kernel->vectors <= count; j += kernel->vectors) {
          std::array<const A*, max_in_turn> x;
          std::array<A, max_in_turn> of_turn;
          for (std::size_t i = 0; i < kernel->vectors; ++i) {
            x[i] = static_cast<const A*>(pairs[first_pair + j + i].x.data) + begin;
          }
          kernel->sum(x.data(), y + begin, max_terms, of_turn.data());
          for (std::size_t i = 0; i < kernel->vectors; ++i) s.of[j + i].value = of_turn[i];
        }
      }
    }
    for (; j < count; ++j) {
      const operand_pair pair = pairs[first_pair + j];
      if (pair.x.size <= begin) continue;
      const std::size_t terms = std::min(max_terms, pair.x.size - begin);
      s.of[j] = how.sum({pair.x.slice(begin, terms), pair.y.slice(begin, terms)});
    }
    return s;
  };
  sum_in_tree(first, n, how.tile, sums, all);
  return all;
}

template <class A>
void write_results(const multi_sum& a, std::size_t first, std::size_t count, const A* sums) {
  if constexpr (!std::is_integral_v<A>) {
    if (a.update) return write_rows(*a.update, first, count, sums);
  }
  std::copy_n(sums, count, static_cast<A*>(a.results.data) + first);
}

namespace {

/// Finds the sums of rows of at most a chunk without any choice per row; returns false if they are
/// not plain. Uses the widest instructions, for most loads in flight (tuning/multi_dot.md:
/// sum_short_rows).
template <class A>
bool sum_short_rows(const executor& where, const multi_sum& a, std::size_t first, std::size_t count,
                    A* sums) {
  if constexpr (std::is_floating_point_v<A>) {
    const auto [x, y] = a.pairs[first];
    const auto is_plain = [](const operand& v) {
      return v.element == type_of<A> && v.increment == 1 && v.size <= order::chunk;
    };
    if (!a.pairs.list.empty() || !is_plain(x)) return false;
    const auto rows = [](const operand& row, const operand_rows& all) {
      return rows_of<A>{static_cast<const A*>(row.data), all.leading_dimension};
    };
    const instruction_set set = for_arithmetic(where);
    if (a.values) {
      sums_of_rows(set, rows(x, a.pairs.x), x.size, count, sums);
      return true;
    }
    if (!is_plain(y)) return false;
    dots_of_rows(set, rows(x, a.pairs.x), rows(y, a.pairs.y), x.size, count, sums);
    return true;
  } else {
    return false;
  }
}

/// Finds the sums of pairs of one block.
template <class A>
void sum_block(const executor& where, const multi_sum& a, std::size_t first, std::size_t count,
               const column_workspace<A>& workspace, A* sums) {
  const columns_of_block block(a, first, count);
  if (block.are_columns) {
    using W = column_number<A>;
    const std::size_t max_vectors = std::max(max_column_vectors<A>, workspace.vectors());
    for (std::size_t j = 0; j < count; j += max_vectors) {
      const std::size_t some = std::min(max_vectors, count - j);
      auto* const numbers = reinterpret_cast<W*>(sums + j);
      block.template sum<A>(where, a, j, some, 0, block.all.first.size, numbers,
                            workspace.buffers());
      for (std::size_t i = 0; i < some * sizeof(A) / sizeof(W); ++i) {
        numbers[i] = canonical(numbers[i]);
      }
    }
    return;
  }
  if (sum_short_rows<A>(where, a, first, count, sums)) return;
  for (std::size_t j = 0; j < count; j += side_by_side) {
    const std::size_t some = std::min(side_by_side, count - j);
    const std::size_t n = longest(a.pairs, first + j, some);
    const auto method = method_for<A>(where, a, first + j, some, n, n);
    if (n <= tile_by_pair && !method.kernel) {
      for (std::size_t i = j; i < j + some; ++i) {
        sums[i] = finish(method.sum(a.pairs[first + i]), a.conjugated);
      }
      continue;
    }
    const auto all = sum_side_by_side<A>(where, a, first + j, some, 0, n);
    for (std::size_t i = 0; i < some; ++i) sums[j + i] = finish(all.of[i], a.conjugated);
  }
}

/// Finds the exact sum of a pair, in `result` if it is not null. Not inlined: the arguments would
/// take stack from other sums.
[[gnu::noinline]] void sum_exactly(const executor& where, const multi_sum& a, std::size_t pair,
                                   void* result) {
  exact_arguments one = exact_of(a, pair);
  if (result != nullptr) one.result.data = result;
  instance.exact(where, one);
}

/// Finds the sums of pairs [first, first + count).
template <class A>
void sum_pairs(const executor& where, const multi_sum& a, std::size_t first, std::size_t count,
               const column_workspace<A>& workspace, A* sums) {
  if (is_exact(a)) {
    for (std::size_t j = 0; j < count; ++j) sum_exactly(where, a, first + j, sums + j);
    return;
  }
  for (std::size_t j = 0; j < count;) {
    const std::size_t some = std::min(count - j, left_in_block(a.pairs, first + j));
    sum_block<A>(where, a, first + j, some, workspace, sums + j);
    j += some;
  }
}

}  // namespace

void write_dots(const executor& where, const multi_sum& a, std::size_t first, std::size_t count) {
  if (a.results.words) {
    for (std::size_t j = first; j < first + count; ++j) sum_exactly(where, a, j, nullptr);
    return;
  }
  with_type<accumulator_types>(a.results.element, [&]<class A>() {
    const column_workspace<A> workspace(a, first, count);
    if (!a.update) {
      return sum_pairs<A>(where, a, first, count, workspace,
                          static_cast<A*>(a.results.data) + first);
    }
    std::array<A, 3072 / sizeof(A)> few_sums;  // small for the stack; many columns
    const bool is_wide = workspace.vectors() > few_sums.size();
    A* const sums = is_wide ? workspace.sums() : few_sums.data();
    const std::size_t block = is_wide ? workspace.vectors() : few_sums.size();
    for (std::size_t j = 0; j < count; j += block) {
      const std::size_t some = std::min(block, count - j);
      sum_pairs<A>(where, a, first + j, some, workspace, sums);
      write_results<A>(a, first + j, some, sums);
    }
  });
}

void backend::multi_dot(const executor& where, const multi_sum& a) const {
  write_dots(where, a, 0, a.pairs.size());
}

// For the openmp backend.
template <class A>
using summing = multi_dot_sum<A>(const executor&, const multi_sum&, std::size_t, std::size_t,
                                 std::size_t, std::size_t);
template summing<std::int64_t> sum_side_by_side<std::int64_t>;
template summing<float> sum_side_by_side<float>;
template summing<double> sum_side_by_side<double>;
template summing<std::complex<float>> sum_side_by_side<std::complex<float>>;
template summing<std::complex<double>> sum_side_by_side<std::complex<double>>;
template <class A>
using writing = void(const multi_sum&, std::size_t, std::size_t, const A*);
template writing<std::int64_t> write_results<std::int64_t>;
template writing<float> write_results<float>;
template writing<double> write_results<double>;
template writing<std::complex<float>> write_results<std::complex<float>>;
template writing<std::complex<double>> write_results<std::complex<double>>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
