#include "backends/simd/spmv/scattered/scattered.hpp"

#include "backends/common/sparse/row_results.hpp"
#include "backends/simd/simd.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tally::backends::simd {
namespace {

/// Bytes of lanes above which they are prefetched (tuning/spmv.md: near_bytes_of_lanes).
constexpr std::size_t near_bytes_of_lanes = std::size_t{1} << 21;

/// Bytes of values up to which gathers find most in the L2 cache (tuning/spmv.md:
/// max_bytes_gathered).
constexpr std::size_t max_bytes_gathered = std::size_t{5} << 18;

/// Mean terms of a column up to which such a matrix is gathered: lanes take many more
/// (tuning/spmv.md: max_terms_gathered).
constexpr std::size_t max_terms_gathered = 32;

/// Whether values gathered by slices of the transpose share cache lines: all are in the L2 cache,
/// or rows are few and long, or the transpose is mostly of patterns (tuning/spmv.md: gathers_near).
bool gathers_near(const csr_operand& a, const csr_operand& transpose) {
  const std::size_t terms = a.nonzeros(), bytes = terms * size_of(a.values.element);
  if (terms > max_terms_gathered * a.columns) return false;
  if (bytes <= max_bytes_gathered) return true;
  const std::size_t scopes = (a.columns + row_slices::max_rows - 1) / row_slices::max_rows;
  // With `max_terms_gathered`, rows are at most 1024.
  constexpr std::size_t min_terms_of_scope = 64;
  if (terms >= min_terms_of_scope * a.rows * scopes) return true;
  // Longer columns are more streams than are prefetched from memory.
  constexpr std::size_t max_bytes_of_column = 128, max_near_bytes = std::size_t{1} << 22;
  if (bytes > std::max(max_bytes_of_column * a.columns, max_near_bytes)) return false;
  pattern_lists patterns;
  std::size_t of_patterns = 0;
  for (const pattern_range& range : pattern_ranges(transpose, patterns)) {
    of_patterns += range.rows >= rows_of_slice<float> ? range.rows * range.pattern->terms : 0;
  }
  return 2 * of_patterns >= terms;
}

/// `fetched`: added to lanes that were prefetched.
enum class taking { written, added, fetched };

template <taking how, class W>
void take(W term, W& at) {
  if constexpr (how == taking::written) {
    at = term;
  } else {
    at += term;
  }
}

/// Takes the terms [begin, end) of a row. `to`: index of each in `terms`.
template <taking how, class W>
[[gnu::always_inline]] inline void take_row(const W* values, W factor, const std::int32_t* to,
                                            std::size_t begin, std::size_t end, W* terms) {
  std::size_t j = begin;
  // Two indices a load: they bound a product in the caches.
  for (; std::endian::native == std::endian::little && j + 4 <= end; j += 4) {
    for (std::size_t k = 0; how == taking::fetched && k < 4; ++k) {
      __builtin_prefetch(terms + to[j + column_lanes::ahead + k], 1);
    }
    std::uint64_t first, second;
    std::memcpy(&first, to + j, sizeof first);
    std::memcpy(&second, to + j + 2, sizeof second);
    const W term[] = {values[j] * factor, values[j + 1] * factor, values[j + 2] * factor,
                      values[j + 3] * factor};
    take<how>(term[0], terms[static_cast<std::uint32_t>(first)]);
    take<how>(term[1], terms[first >> 32]);
    take<how>(term[2], terms[static_cast<std::uint32_t>(second)]);
    take<how>(term[3], terms[second >> 32]);
  }
  for (; j < end; ++j) take<how>(values[j] * factor, terms[to[j]]);
}

template <taking how, class W, class Offset>
void take_rows(const csr_operand& a, const operand& x, const std::int32_t* to, std::size_t first,
               std::size_t n, W* terms) {
  const auto* const offsets = static_cast<const Offset*>(a.row_offsets.data) + first;
  const auto* const values = static_cast<const W*>(a.values.data);
  const auto* of_row =
      static_cast<const W*>(x.data) + static_cast<std::ptrdiff_t>(first) * x.increment;
  for (std::size_t i = 0; i < n; ++i, of_row += x.increment) {
    take_row<how>(values, *of_row, to, static_cast<std::size_t>(offsets[i]),
                  static_cast<std::size_t>(offsets[i + 1]), terms);
  }
}

template <taking how, class W>
void take_rows(const csr_operand& a, const operand& x, const std::int32_t* to, std::size_t first,
               std::size_t n, W* terms) {
  a.row_offsets.element == type::int64 ? take_rows<how, W, std::int64_t>(a, x, to, first, n, terms)
                                       : take_rows<how, W, std::int32_t>(a, x, to, first, n, terms);
}

/// Adds n staged terms to their lanes.
template <class W>
void add_staged(const W* terms, const std::uint16_t* staged, std::size_t n, W* lanes) {
  std::size_t j = 0;
  for (; std::endian::native == std::endian::little && j + 4 <= n; j += 4) {
    std::uint64_t four;
    std::memcpy(&four, staged + j, sizeof four);
    for (std::size_t k = 0; k < 4; ++k, four >>= 16) {
      lanes[static_cast<std::uint16_t>(four)] += terms[j + k];
    }
  }
  for (; j < n; ++j) lanes[staged[j]] += terms[j];
}

/// Folds a block's lanes and writes its elements of y.
template <class W>
void write_block(const column_lanes& all, std::size_t block, const csr_product& a,
                 lanes_fold<W>* fold, W* lanes) {
  const std::size_t first = all.blocks[block].first;
  if (are_sums<W>(a)) return fold(all, block, lanes, static_cast<W*>(a.y.data) + first);
  alignas(64) std::array<W, column_lanes::max_columns> sums;
  fold(all, block, lanes, sums.data());
  write_rows(a, first, all.blocks[block + 1].first - first, sums.data());
}

template <class W>
void multiply(const csr_operand& matrix, const column_lanes& all, const csr_product& a,
              lanes_fold<W>* fold, W* lanes) {
  if (!all.staged.empty()) {
    W* const terms = lanes + all.lanes;
    take_rows<taking::written>(matrix, a.x, all.to.data(), 0, matrix.rows, terms);
    for (std::size_t b = 0; b + 1 < all.blocks.size(); ++b) {
      const std::size_t first = all.blocks[b].term, n = all.blocks[b + 1].term - first;
      add_staged(terms + first, all.staged.data() + first, n, lanes);
      write_block(all, b, a, fold, lanes);
    }
    return;
  }
  constexpr std::size_t near_lanes = near_bytes_of_lanes / sizeof(W);
  const auto take = all.are_single           ? &take_rows<taking::written, W>
                    : all.lanes > near_lanes ? &take_rows<taking::fetched, W>
                                             : &take_rows<taking::added, W>;
  std::size_t row = 0, next = 0;
  for (const lane_step& step : all.steps) {
    take(matrix, a.x, all.to.data(), row, step.rows_end - row, lanes);
    row = step.rows_end;
    for (; next < step.folds_end; ++next) {
      write_block(all, all.folds[next].block, a, fold, lanes + all.folds[next].lanes);
    }
  }
}

/// The matrix of the plan, with the product's values.
csr_operand matrix_of(const scattered_transpose& transpose, const csr_product& a) {
  csr_operand matrix = transpose.of;
  matrix.values.data = a.a.values.data;
  return matrix;
}

}  // namespace

scattered_transpose::scattered_transpose(std::shared_ptr<const csr_transpose> transpose,
                                         const csr_operand& a, bool for_one_thread, bool may_gather)
    : csr_transpose(*transpose), kept(std::move(transpose)), of(a) {
  if (places.size == 0 || a.row_ends || places.element != type::int32 ||
      !is_in<type_list<float, double>>(a.values.element)) {
    return;
  }
  if (for_one_thread && may_gather && gathers_near(a, matrix)) {
    slices.emplace(matrix, places);
    return;
  }
  if (for_one_thread) {
    lanes.emplace(a);
    if (!lanes->to.empty()) return;
    lanes.reset();
  }
  to.reset(new std::int32_t[places.size]);
  const auto* const from = static_cast<const std::int32_t*>(places.data);
  for (std::size_t k = 0; k < places.size; ++k) to[from[k]] = static_cast<std::int32_t>(k);
}

std::size_t scattered_transpose::room_bytes() const {
  const std::size_t numbers = lanes ? lanes->lanes + lanes->staged.size() : places.size;
  return numbers * size_of(of.values.element);
}

table_memory<std::byte> scattered_transpose::take_room() const {
  const std::size_t bytes = room_bytes();
  if (std::byte* const kept_room = room_.exchange(nullptr, std::memory_order_acquire)) {
    return {kept_room, table_alignment(bytes)};
  }
  auto made = make_table<std::byte>(bytes);
  if (lanes) std::fill_n(made.get(), bytes, std::byte{0});
  return made;
}

void scattered_transpose::give_room(table_memory<std::byte> room) const {
  std::byte* none = nullptr;
  if (room_.compare_exchange_strong(none, room.get(), std::memory_order_release)) {
    (void)room.release();
  }
}

scattered_transpose::~scattered_transpose() {
  table_memory<std::byte>(room_.load(), table_alignment(room_bytes())).reset();
}

const scattered_transpose* scattered_transpose_of(const csr_product& a) {
  if (!a.is_permuted() || a.options.grade.is_exact()) return nullptr;
  const auto& transpose = static_cast<const scattered_transpose&>(*a.plan->transpose());
  const type element = transpose.of.values.element;
  const bool suits =
      (transpose.to || transpose.lanes) && a.a.values.element == element && a.x.element == element;
  return suits ? &transpose : nullptr;
}

void multiply_in_lanes(const scattered_transpose& transpose, const csr_product& a,
                       instruction_set set) {
  table_memory<std::byte> room = transpose.take_room();
  const csr_operand matrix = matrix_of(transpose, a);
  with_type<type_list<float, double>>(matrix.values.element, [&]<class W>() {
    multiply(matrix, *transpose.lanes, a, lanes_fold_of<W>(set), reinterpret_cast<W*>(room.get()));
  });
  transpose.give_room(std::move(room));
}

scattered_terms::scattered_terms(const scattered_transpose& transpose, const csr_product& a)
    : transpose_(transpose), product_(a), terms_(transpose.take_room()), sums_(a) {
  sums_.a.values.data = terms_.get();
  sums_.x = {nullptr, a.x.size, 1, a.x.element};
  sums_.places = {};
  sums_.plan = nullptr;
}

scattered_terms::~scattered_terms() { transpose_.give_room(std::move(terms_)); }

void scattered_terms::write(std::size_t first, std::size_t n) const {
  const csr_operand matrix = matrix_of(transpose_, product_);
  with_type<type_list<float, double>>(matrix.values.element, [&]<class W>() {
    take_rows<taking::written>(matrix, product_.x, transpose_.to.get(), first, n,
                               reinterpret_cast<W*>(terms_.get()));
  });
}

std::shared_ptr<const csr_transpose> backend::transpose(const executor& where, const csr_operand& a,
                                                        bool keeps_values) const {
  auto made = serial::backend::transpose(where, a, keeps_values);
  if (keeps_values) return made;
  return std::make_shared<scattered_transpose>(
      std::move(made), a, true, gathers_fast() && where.instructions() == instruction_set::avx512);
}

}  // namespace tally::backends::simd
