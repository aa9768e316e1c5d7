// Slices of a matrix: adjacent rows of one pattern first, then the other rows by length.
#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/csr_defects.hpp"
#include "backends/simd/spmv/slices/slices.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <numeric>
#include <span>

namespace tally::backends::simd {
namespace {

/// Terms per sorting scope if values are read in place, to stay in cache.
constexpr std::size_t max_terms_in_place = std::size_t{1} << 14;

/// Bytes of values above which reading several rows side by side costs more than it gains, unless
/// rows are short and columns near each other (tuning/spmv.md: max_bytes_in_place).
constexpr std::size_t max_bytes_in_place = std::size_t{1} << 22;

/// Whether longer rows of W read in place, uneven ones of large matrices, and long ones of one
/// pattern in very large ones, are faster one by one (tuning/spmv.md: pays).
template <class W>
bool prefers_single_rows() {
  return sizeof(W) == 8 && !gathers_fast();
}
/// Terms of longer rows.
constexpr std::size_t many_terms = 2 * row_order::lanes;
/// Bytes of values of a very large matrix.
constexpr std::size_t far_bytes = std::size_t{1} << 24;

/// `Packed`: W, or std::int32_t for places of values.
template <class W, class Packed = W>
class slice_maker {
 public:
  /// `packs` from `of_terms`, in the order of the matrix's terms.
  slice_maker(row_slices& s, const csr_operand& a, const void* of_terms, lines<Packed>& packed)
      : s_(s),
        a_(a),
        rows_(a),
        columns_(a.column_indices),
        patterns_(pattern_ranges(a, s.patterns)),
        packs_(s.packs()),
        of_terms_(static_cast<const Packed*>(of_terms)),
        packed_(packed) {}

  void make(std::size_t shares) {
    if (packs_) packed_.reserve(a_.nonzeros() + a_.nonzeros() / 16 + slice);
    const std::size_t scopes = count_scopes(shares);
    s_.scopes.reserve(scopes + a_.rows / row_slices::max_rows + 2);
    std::size_t row = 0;
    for (std::size_t i = 1; row < a_.rows; ++i) {
      // Equal parts of rows plus terms; split if there are too many rows.
      const std::size_t target = (a_.rows + a_.nonzeros()) / scopes * i;
      const std::size_t end = i < scopes ? rows_.first_behind(target, a_.rows) : a_.rows;
      for (std::size_t parts = divided(end - row, row_slices::max_rows); parts > 0; --parts) {
        const std::size_t begin = row;
        row += divided(end - row, parts);
        make_scope(begin, row);
      }
    }
    begin_scope(row);
    if (packs_) packed_.resize(packed_.size() + slice);
    s_.columns.shrink_to_fit();
    s_.rows.shrink_to_fit();
    s_.groups.shrink_to_fit();
  }

 private:
  static constexpr std::size_t slice = rows_of_slice<W>;

  /// Minimum rows of a slice of one pattern (tuning/spmv.md: min_rows).
  static constexpr std::size_t min_rows = 3 * slice / 8;
  /// The same for values read in place and more than 8 terms (tuning/spmv.md: min_in_place).
  static constexpr std::size_t min_in_place = slice / 2;

  /// Longer rows stay in place: threads may share one.
  static constexpr std::size_t max_terms = order::chunk;

  /// A row in no slice yet, perhaps with others like it.
  struct remaining_row {
    std::size_t row;
    std::size_t terms;
    std::size_t rows = 1;
  };

  static std::size_t divided(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

  std::size_t count_scopes(std::size_t shares) const {
    std::size_t scopes = std::max<std::size_t>(divided(a_.rows, row_slices::max_rows), 1);
    if (!packs_) scopes = std::max(scopes, divided(a_.nonzeros(), max_terms_in_place));
    return divided(scopes, shares) * shares;
  }

  sorting_scope& begin_scope(std::size_t first) {
    begin_lines();
    return s_.scopes.emplace_back(sorting_scope{first, s_.groups.size(), packed_.size(),
                                                s_.columns.size(), s_.rows.size(),
                                                s_.counts.size()});
  }

  void make_scope(std::size_t first, std::size_t end) {
    first_ = first;
    sorting_scope& scope = begin_scope(first);
    left_.clear();
    alike_.clear();
    adjacent_.clear();
    apart_.clear();
    std::size_t next = first;
    auto p = std::ranges::partition_point(
        patterns_, [&](const pattern_range& range) { return range.end() <= first; });
    for (; p != patterns_.end() && p->row < end; ++p) {
      const std::size_t begin = std::max(p->row, first), stop = std::min(p->end(), end);
      leave(next, begin);
      const std::size_t sliced = begin + adjacent_rows(*p->pattern, begin, stop);
      split({begin, sliced - begin, p->pattern});
      s_.pattern_terms += (sliced - begin) * p->pattern->terms;
      leave(sliced, stop);
      next = stop;
    }
    leave(next, end);
    add_adjacent();
    add_left(scope);
    add_apart();
  }

  /// Number of a pattern's rows from `begin` to slice as adjacent. x is read in whole vectors, so
  /// perhaps not the last.
  std::size_t adjacent_rows(const row_pattern& p, std::size_t begin, std::size_t end) const {
    if (!packs_ && prefers_single_rows<W>() && p.terms > many_terms &&
        a_.nonzeros() * sizeof(W) > far_bytes) {
      return 0;
    }
    std::size_t n = end - begin;
    while (n > 0 && !can_be_read(begin + n - 1, p.terms)) --n;
    if (!packs_ && n >= slice) return n;  // the last slice overlaps the one before
    const std::size_t rest = n % slice;
    if (rest == 0) return n;
    const std::int32_t highest = *std::max_element(p.above, p.above + p.terms);
    const auto behind = static_cast<std::int64_t>(begin + n - rest + slice) + p.lowest + highest;
    const bool is_slice = packs_ ? rest >= min_rows
                                 : rest >= min_in_place && p.terms > row_order::lanes &&
                                       can_be_read(begin, p.terms, (slice - 1) * p.terms);
    return is_slice && behind <= static_cast<std::int64_t>(a_.columns) ? n : n - rest;
  }

  /// Whether `terms` terms, `behind` past the row's first, can be read; in place, eight at a time.
  bool can_be_read(std::size_t row, std::size_t terms, std::size_t behind = 0) const {
    constexpr std::size_t lanes = row_order::lanes;
    return packs_ || rows_.begin(row) + behind + divided(terms, lanes) * lanes <= a_.nonzeros();
  }

  void leave(std::size_t begin, std::size_t end) {
    for (std::size_t rows; begin < end; begin += rows) {
      const std::size_t terms = rows_.length(begin);
      s_.longest = std::max(s_.longest, terms);
      rows = alike_rows(begin, end, terms);
      if (rows > 1) {
        alike_.push_back({begin, terms, rows});
      } else if (terms > max_terms && s_.reads != slice_values::gathered) {
        apart_.push_back(begin);
      } else {
        left_.push_back({begin, terms});
      }
    }
  }

  /// Returns the number of rows from `begin` with equal columns, if they are to be summed together,
  /// else 1.
  std::size_t alike_rows(std::size_t begin, std::size_t end, std::size_t terms) const {
    if (terms <= row_order::lanes || terms > row_order::short_row ||
        s_.reads == slice_values::gathered) {
      return 1;
    }
    std::size_t rows = 1;
    csr_defects::with_index(a_.column_indices, [&](const auto* columns) {
      const auto* const of_first = columns + rows_.begin(begin);
      while (begin + rows < end && rows_.length(begin + rows) == terms &&
             std::equal(of_first, of_first + terms, of_first + rows * terms)) {
        ++rows;
      }
    });
    // Values are read 8 at a time.
    const std::size_t readable = divided(terms, row_order::lanes) * row_order::lanes;
    return rows_.begin(begin) + (rows - 1) * terms + readable <= a_.nonzeros() ? rows : 1;
  }

  const Packed* terms_of(std::size_t row) const { return of_terms_ + rows_.begin(row); }

  std::uint16_t relative(std::size_t row) const {
    static_assert(row_slices::max_rows <= 1 << 16);
    return static_cast<std::uint16_t>(row - first_);
  }

  /// Adds slices to the last group if of the same kind, else to a new one.
  void add_to_group(const slice_group& kind, std::size_t slices = 1) {
    const bool begins = s_.scopes.back().group == s_.groups.size();
    const auto is_same = [&](const slice_group& last) {
      return last.pattern == kind.pattern && last.rows == kind.rows &&
             last.adjacent == kind.adjacent && last.shortest == kind.shortest &&
             last.longest == kind.longest;
    };
    if (begins || !is_same(s_.groups.back())) {
      begin_lines();
      s_.groups.push_back(kind);
    }
    s_.groups.back().size = static_cast<std::uint16_t>(s_.groups.back().size + slices);
  }

  /// Splits a range of adjacent rows into full slices and the rest.
  void split(const pattern_range& all) {
    const std::size_t rest = all.rows % slice, full = all.rows - rest;
    if (full > 0) adjacent_.push_back({all.row, full, all.pattern});
    if (rest == 0) return;
    // In place, the last rows overlap those before.
    const std::size_t rows = packs_ || full == 0 ? rest : slice;
    adjacent_.push_back({all.end() - rows, rows, all.pattern});
  }

  /// Adds the slices of adjacent rows by pattern, full ones first.
  void add_adjacent() {
    std::ranges::sort(adjacent_, {}, [this](const pattern_range& r) {
      return r.pattern->number << 32 | r.rows % slice << 16 | relative(r.row);
    });
    for (const pattern_range& r : adjacent_) {
      const row_pattern& p = *r.pattern;
      const auto terms = static_cast<std::uint8_t>(p.terms);
      const std::size_t rows = std::min(r.rows, slice);
      add_to_group({&p, 0, terms, terms, slice_rows::adjacent, static_cast<std::uint8_t>(rows)},
                   divided(r.rows, slice));
      s_.longest = std::max(s_.longest, p.terms);
      for (std::size_t row = r.row; row < r.end(); row += slice) {
        s_.rows.push_back(relative(row));
        if (!packs_) continue;
        const Packed* const from = terms_of(row);
        std::size_t to = packed_.size();
        packed_.resize(to + rows * p.terms);
        for (std::size_t k = 0; k < p.terms; ++k) {
          for (std::size_t i = 0; i < rows; ++i) packed_[to++] = from[i * p.terms + k];
        }
      }
    }
  }

  /// Aligns to a cache line.
  void begin_lines() { packed_.resize(divided(packed_.size(), slice) * slice); }

  /// Sorts by length, stably; by counting, the longest first.
  void sort_left() {
    std::array<std::uint16_t, max_terms + 2> ends{};
    const auto missing_terms = [](const remaining_row& row) {
      return max_terms - std::min(row.terms, max_terms);
    };
    for (const remaining_row& row : left_) ++ends[missing_terms(row) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    sorted_.resize(left_.size());
    for (const remaining_row& row : left_) sorted_[ends[missing_terms(row)]++] = row;
    left_.swap(sorted_);
  }

  /// Slices the remaining rows, longest first.
  void add_left(sorting_scope& scope) {
    sort_left();
    const std::span<const remaining_row> rows(left_);
    std::size_t i = find_columns(rows, scope);
    for (const remaining_row& row : alike_) add_alike(row, scope);
    if (!pays(rows, scope)) i = rows.size();
    for (const remaining_row& row : rows.first(i)) apart_.push_back(row.row);
    for (; i < rows.size() && rows[i].terms > row_order::short_row; ++i) {
      add_long_row(rows[i], scope);
    }
    for (; i < rows.size(); i += slice) {
      add_slice(rows.subspan(i, std::min(slice, rows.size() - i)), scope);
    }
  }

  /// Whether slices of listed rows are faster than rows one by one. Rows are sorted, the longest
  /// first.
  bool pays(std::span<const remaining_row> rows, const sorting_scope& scope) const {
    if (packs_ || rows.empty()) return true;
    std::size_t terms = 0;
    for (const remaining_row& row : rows) terms += row.terms;
    const bool are_short = terms <= many_terms * rows.size();
    const bool are_even = 4 * rows.front().terms * rows.size() <= 5 * terms;
    // Single rows between slices would take a call each.
    if (prefers_single_rows<W>() && a_.nonzeros() > many_terms * a_.rows && adjacent_.empty()) {
      return false;
    }
    return a_.nonzeros() * sizeof(W) <= max_bytes_in_place ||
           (scope.narrow && are_short && (are_even || !prefers_single_rows<W>()));
  }

  /// Values are read in whole vectors.
  void add_long_row(const remaining_row& row, const sorting_scope& scope) {
    const std::size_t padded = divided(row.terms, slice) * slice;
    if (!packs_ && rows_.begin(row.row) + padded > a_.nonzeros()) {
      return apart_.push_back(row.row);
    }
    add_to_group({.rows = slice_rows::alone});
    s_.rows.push_back(relative(row.row));
    if (packs_) {
      const std::size_t to = packed_.size();
      packed_.resize(to + padded);
      std::copy_n(terms_of(row.row), row.terms, packed_.data() + to);
    }
    add_columns(std::span(&row, 1), 1, padded, scope);
  }

  void add_alike(const remaining_row& row, const sorting_scope& scope) {
    add_to_group({.rows = slice_rows::alike});
    s_.rows.push_back(relative(row.row));
    s_.rows.push_back(static_cast<std::uint16_t>(row.rows));
    add_columns(std::span(&row, 1), 1, divided(row.terms, row_order::lanes) * row_order::lanes,
                scope);
  }

  void add_apart() {
    std::ranges::sort(apart_);
    for (std::size_t i = 0; i < apart_.size();) {
      std::size_t n = 1;
      while (i + n < apart_.size() && apart_[i + n] == apart_[i] + n) ++n;
      add_to_group({.rows = slice_rows::apart});
      s_.rows.push_back(relative(apart_[i]));
      s_.rows.push_back(static_cast<std::uint16_t>(n));
      i += n;
    }
  }

  struct columns_span {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = 0;

    bool is_narrow() const { return highest - lowest <= std::numeric_limits<std::uint16_t>::max(); }
  };

  columns_span with_rows(columns_span span, std::span<const remaining_row> rows) const {
    csr_defects::with_index(a_.column_indices, [&](const auto* columns) {
      for (const remaining_row& row : rows) {
        for (std::size_t j = rows_.begin(row.row); j < rows_.end(row.row); ++j) {
          span.lowest = std::min<std::int64_t>(span.lowest, columns[j]);
          span.highest = std::max<std::int64_t>(span.highest, columns[j]);
        }
      }
    });
    return span;
  }

  /// Sets base and width of column indices. Long rows, which come first, stay in place if they
  /// alone make indices wide; returns their number.
  std::size_t find_columns(std::span<const remaining_row> rows, sorting_scope& scope) const {
    const auto is_long = [](const remaining_row& row) { return row.terms > row_order::short_row; };
    const auto long_rows =
        static_cast<std::size_t>(std::ranges::find_if_not(rows, is_long) - rows.begin());
    const columns_span some = with_rows(with_rows({}, alike_), rows.subspan(long_rows));
    const columns_span all = with_rows(some, rows.first(long_rows));
    const bool leaves =
        some.is_narrow() && !all.is_narrow() && (long_rows < rows.size() || !alike_.empty());
    const columns_span& span = leaves ? some : all;
    scope.lowest = std::min(span.lowest, span.highest);
    scope.narrow = span.is_narrow();
    // See `load_indices`.
    assert(span.highest - scope.lowest <= std::numeric_limits<std::int32_t>::max());
    return leaves ? long_rows : 0;
  }

  /// Lists columns of as many rows as a slice has, the last repeated, for `longest` terms each.
  void add_columns(std::span<const remaining_row> rows, std::size_t height, std::size_t longest,
                   const sorting_scope& scope) {
    const auto add = [&]<class I>(I) {
      const std::size_t at = s_.columns.size();
      s_.columns.resize(at + longest * height * sizeof(I));
      I* const to = reinterpret_cast<I*>(s_.columns.data() + at);
      for (std::size_t r = 0; r < height; ++r) {
        const remaining_row& row = rows[std::min(r, rows.size() - 1)];
        const std::size_t begin = rows_.begin(row.row);
        for (std::size_t k = 0; k < row.terms; ++k) {
          to[k * height + r] = static_cast<I>(columns_[begin + k] - scope.lowest);
        }
      }
    };
    scope.narrow ? add(std::uint16_t{}) : add(std::uint32_t{});
  }

  void add_slice(std::span<const remaining_row> rows, const sorting_scope& scope) {
    const std::size_t longest = rows.front().terms, shortest = rows.back().terms;
    const auto is_readable = [&](const remaining_row& row) {
      return can_be_read(row.row, longest);
    };
    if (!std::ranges::all_of(rows, is_readable)) {
      for (const remaining_row& row : rows) apart_.push_back(row.row);
      return;
    }
    add_to_group({nullptr, 0, static_cast<std::uint8_t>(shortest),
                  static_cast<std::uint8_t>(longest), slice_rows::listed});
    const auto row_at = [&](std::size_t r) { return rows[std::min(r, rows.size() - 1)]; };
    for (std::size_t r = 0; r < slice; ++r) s_.rows.push_back(relative(row_at(r).row));
    // Padding is excluded from sums and arbitrary.
    if (packs_) {
      const std::size_t to = packed_.size();
      packed_.resize(to + longest * slice);
      for (std::size_t r = 0; r < slice; ++r) {
        const Packed* const from = terms_of(row_at(r).row);
        for (std::size_t k = 0; k < row_at(r).terms; ++k) packed_[to + k * slice + r] = from[k];
      }
    }
    for (std::size_t k = shortest; k < longest; ++k) {
      std::uint8_t count = 0;
      for (std::size_t r = 0; r < slice; ++r) count += k < row_at(r).terms;
      s_.counts.push_back(count);
    }
    add_columns(rows, slice, longest, scope);
  }

  row_slices& s_;
  const csr_operand& a_;
  row_bounds rows_;
  index_vector columns_;
  const std::vector<pattern_range> patterns_;
  bool packs_;
  const Packed* of_terms_;
  lines<Packed>& packed_;
  // The rows of one sorting scope.
  std::size_t first_ = 0;
  std::vector<pattern_range> adjacent_;
  std::vector<remaining_row> left_, sorted_, alike_;
  std::vector<std::size_t> apart_;
};

}  // namespace

row_slices::row_slices(const csr_operand& a, bool copies, std::size_t shares)
    : reads(copies ? slice_values::copied : slice_values::in_place), terms(a.nonzeros()) {
  with_type<type_list<float, double>>(a.values.element, [&]<class W>() {
    slice_maker<W>(*this, a, a.values.data, values.emplace<lines<W>>()).make(shares);
  });
}

row_slices::row_slices(const csr_operand& a, const operand& term_places)
    : reads(slice_values::gathered), terms(a.nonzeros()) {
  with_type<type_list<float, double>>(a.values.element, [&]<class W>() {
    values.emplace<lines<W>>();
    slice_maker<W, std::int32_t>(*this, a, term_places.data, places).make(1);
  });
}

std::string row_slices::describe() const {
  const auto bytes_of = [](const auto&... v) { return (std::span(v).size_bytes() + ...); };
  const auto [slice, bytes] = std::visit(
      [&]<class W>(const lines<W>& all) {
        return std::pair(rows_of_slice<W>,
                         bytes_of(all, places, groups, scopes, columns, rows, counts));
      },
      values);
  const bool keeps = reads == slice_values::copied;
  return (keeps ? "values kept in slices of " : "rows in slices of ") + std::to_string(slice) +
         (keeps ? " rows, " : ", ") + std::to_string(terms == 0 ? 0 : 100 * pattern_terms / terms) +
         " % of all terms in patterns, " + std::to_string(bytes) + " bytes";
}

}  // namespace tally::backends::simd
