#include "backends/common/sparse/row_slices.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <numeric>
#include <span>

namespace tally::backends {
namespace {

/// Terms per sorting scope if values are read in place, to stay in cache.
constexpr std::size_t max_terms_in_place = std::size_t{1} << 14;

template <class W>
class slice_maker {
 public:
  slice_maker(row_slices& s, const csr_operand& a, const pattern_ranges& patterns,
              std::size_t shares)
      : s_(s),
        a_(a),
        rows_(a),
        columns_(a.column_indices),
        patterns_(patterns),
        shares_(shares),
        values_(std::get<lines<W>>(s.values)) {}

  void make() {
    s_.slice = slice;
    find_copied();
    if (s_.keeps) values_.reserve(a_.nonzeros() + a_.nonzeros() / 16 + slice);
    const std::size_t windows = count_scopes();
    s_.windows.reserve(windows + a_.rows / row_slices::max_rows + 2);
    std::size_t row = 0;
    for (std::size_t w = 1; row < a_.rows; ++w) {
      // Equal parts of rows plus terms; split if there are too many rows.
      const std::size_t target = (a_.rows + a_.nonzeros()) / windows * w;
      const std::size_t end = w < windows ? row_behind(target) : a_.rows;
      for (std::size_t parts = divided(end - row, row_slices::max_rows); parts > 0; --parts) {
        const std::size_t begin = row;
        row += divided(end - row, parts);
        make_scope(begin, row);
      }
    }
    begin_scope(row);
    if (s_.keeps) values_.resize(values_.size() + slice);
    if (s_.narrow.empty()) s_.copied.clear();
    s_.narrow.shrink_to_fit();
    s_.wide.shrink_to_fit();
    s_.rows.shrink_to_fit();
    s_.series.shrink_to_fit();
  }

 private:
  static constexpr std::size_t slice = rows_of_slice<W>;

  /// Minimum rows of a slice of one pattern (tuning/spmv.md: min_rows).
  static constexpr std::size_t min_rows = 3 * slice / 8;
  /// The same for values read in place and more than 8 terms (tuning/spmv.md: min_in_place).
  static constexpr std::size_t min_in_place = slice / 2;

  /// Longer rows stay in place: threads may share one.
  static constexpr std::size_t max_terms = order::chunk;

  struct run {
    std::size_t row;
    std::size_t rows;
    const row_pattern* pattern;
  };
  /// A row in no slice yet.
  struct remaining_row {
    std::size_t row;
    std::size_t terms;
    const row_pattern* pattern;
    std::uint64_t key;  ///< sort key: length (descending), pattern, index
  };

  static std::size_t divided(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

  std::size_t count_scopes() const {
    std::size_t windows = std::max<std::size_t>(divided(a_.rows, row_slices::max_rows), 1);
    if (!s_.keeps) windows = std::max(windows, divided(a_.nonzeros(), max_terms_in_place));
    return divided(windows, shares_) * shares_;
  }

  /// Returns the first row with at least `target` rows plus terms before it.
  std::size_t row_behind(std::size_t target) const {
    std::size_t first = 0;
    for (std::size_t rows = a_.rows; rows > 0;) {
      const std::size_t middle = first + rows / 2;
      if (middle + rows_.begin(middle) < target) {
        rows -= middle + 1 - first;
        first = middle + 1;
      } else {
        rows = middle - first;
      }
    }
    return first;
  }

  template <class F>
  void with_columns(const F& f) const {
    columns_.wide ? f(static_cast<const std::int64_t*>(columns_.data))
                  : f(static_cast<const std::int32_t*>(columns_.data));
  }

  /// Compacts the columns that have terms if the copies of x fit the L1 cache, x does not, and each
  /// thread has many terms per copy (tuning/spmv.md: find_copied). A sample of terms rejects most
  /// matrices.
  void find_copied() {
    constexpr std::size_t first_cache = std::size_t{1} << 15, min_terms = 16;
    const std::size_t terms = a_.nonzeros();
    const std::size_t most =
        std::min(row_slices::max_copied_bytes / sizeof(W), terms / shares_ / min_terms);
    if (a_.columns * sizeof(W) <= first_cache || a_.columns > terms || most == 0) return;
    std::vector<std::uint8_t> has_terms(a_.columns);
    const auto count = [&](std::size_t step) {
      with_columns([&](const auto* columns) {
        for (std::size_t j = 0; j < terms; j += step) {
          has_terms[static_cast<std::size_t>(columns[j])] = 1;
        }
      });
      return static_cast<std::size_t>(std::ranges::count(has_terms, 1));
    };
    if (count(std::max<std::size_t>(terms / (2 * most), 1)) > most || count(1) > most) return;
    places_.resize(a_.columns);
    for (std::size_t c = 0; c < a_.columns; ++c) {
      places_[c] = static_cast<std::uint16_t>(s_.copied.size());
      if (has_terms[c] != 0) s_.copied.push_back(static_cast<std::uint32_t>(c));
    }
  }

  std::int64_t listed_column(std::size_t j) const {
    const std::int64_t column = columns_[j];
    return places_.empty() ? column : places_[static_cast<std::size_t>(column)];
  }

  sorting_scope& begin_scope(std::size_t first) {
    begin_lines();
    return s_.windows.emplace_back(sorting_scope{first, s_.series.size(), values_.size(),
                                                 s_.narrow.size(), s_.rows.size(),
                                                 s_.counts.size()});
  }

  void make_scope(std::size_t first, std::size_t end) {
    first_ = first;
    sorting_scope& w = begin_scope(first);
    left_.clear();
    adjacent_.clear();
    apart_.clear();
    std::size_t next = first;
    const pattern_range* const last = patterns_.all().data() + patterns_.all().size();
    for (const pattern_range* p = patterns_.behind(first); p != last && p->row < end; ++p) {
      const std::size_t begin = std::max(p->row, first), stop = std::min(p->end(), end);
      leave(next, begin, nullptr);
      const std::size_t sliced = begin + adjacent_rows(*p->pattern, begin, stop);
      if (begin < sliced) adjacent_.push_back({begin, sliced - begin, p->pattern});
      leave(sliced, stop, p->pattern);
      next = stop;
    }
    leave(next, end, nullptr);
    add_adjacent();
    add_left(w);
    add_apart();
  }

  /// Number of a pattern's rows from `begin` to slice as adjacent. x is read in whole vectors, so
  /// perhaps not the last.
  std::size_t adjacent_rows(const row_pattern& p, std::size_t begin, std::size_t end) const {
    std::size_t n = end - begin;
    while (n > 0 && !can_be_read(begin + n - 1, p.terms)) --n;
    if (!s_.keeps && n >= slice) return n;  // the last slice overlaps the one before
    const std::size_t rest = n % slice;
    if (rest == 0) return n;
    const std::int32_t highest = *std::max_element(p.above, p.above + p.terms);
    const auto behind = static_cast<std::int64_t>(begin + n - rest + slice) + p.lowest + highest;
    const bool is_slice = s_.keeps ? rest >= min_rows
                                   : rest >= min_in_place && p.terms > row_order::lanes &&
                                         can_be_read(begin, p.terms, (slice - 1) * p.terms);
    return is_slice && behind <= static_cast<std::int64_t>(a_.columns) ? n : n - rest;
  }

  /// Whether `terms` terms, `behind` past the row's first, can be read; in place, eight at a time.
  bool can_be_read(std::size_t row, std::size_t terms, std::size_t behind = 0) const {
    constexpr std::size_t lanes = row_order::lanes;
    return s_.keeps ||
           rows_.begin(row) + behind + (terms + lanes - 1) / lanes * lanes <= a_.nonzeros();
  }

  void leave(std::size_t begin, std::size_t end, const row_pattern* pattern) {
    static_assert(pattern_lists::max_kept < 1 << 16 && row_slices::max_rows <= 1 << 16);
    const std::uint64_t number = pattern == nullptr ? 0 : pattern->number;
    // Long rows read in place keep memory order.
    const std::size_t max_sorted = s_.keeps ? max_terms : row_order::short_row + 1;
    for (; begin < end; ++begin) {
      const std::size_t terms = rows_.length(begin);
      const std::uint64_t lack = max_sorted - std::min(terms, max_sorted);
      left_.push_back({begin, terms, pattern, lack << 32 | number << 16 | place(begin)});
    }
  }

  const W* values_of(std::size_t row) const {
    return static_cast<const W*>(a_.values.data) + rows_.begin(row);
  }

  std::uint16_t place(std::size_t row) const { return static_cast<std::uint16_t>(row - first_); }

  /// Stable; by counting if there are no patterns.
  void sort_left() {
    if (std::ranges::any_of(left_,
                            [](const remaining_row& row) { return row.pattern != nullptr; })) {
      std::ranges::sort(left_, {}, &remaining_row::key);
      return;
    }
    const auto lack = [](const remaining_row& row) {
      return static_cast<std::size_t>(row.key >> 32);
    };
    begins_by_length_.fill(0);
    for (const remaining_row& row : left_) ++begins_by_length_[lack(row)];
    std::exclusive_scan(begins_by_length_.begin(), begins_by_length_.end(),
                        begins_by_length_.begin(), std::uint16_t{0});
    sorted_.resize(left_.size());
    for (const remaining_row& row : left_) sorted_[begins_by_length_[lack(row)]++] = row;
    left_.swap(sorted_);
  }

  /// Extends the last group if of the same kind, else begins one.
  void add_to_group(const slice_group& kind, std::size_t terms) {
    const bool begins = s_.windows.back().series == s_.series.size();
    const auto is_same = [&](const slice_group& last) {
      return last.pattern == kind.pattern && last.rows == kind.rows &&
             last.adjacent == kind.adjacent && last.shortest == kind.shortest &&
             last.longest == kind.longest;
    };
    if (begins || !is_same(s_.series.back())) {
      begin_lines();
      s_.series.push_back(kind);
    }
    ++s_.series.back().size;
    s_.terms += terms;
    if (kind.pattern != nullptr) s_.pattern_terms += terms;
    s_.longest = std::max<std::size_t>(s_.longest, kind.longest);
  }

  /// Adds the adjacent rows by pattern, full slices first.
  void add_adjacent() {
    std::ranges::sort(adjacent_, [](const run& i, const run& j) {
      const std::size_t rest_i = i.rows % slice, rest_j = j.rows % slice;
      if (i.pattern != j.pattern) return i.pattern->number < j.pattern->number;
      return rest_i != rest_j ? rest_i < rest_j : i.row < j.row;
    });
    for (auto begin = adjacent_.begin(); begin != adjacent_.end();) {
      const auto end = std::find_if(begin, adjacent_.end(),
                                    [&](const run& r) { return r.pattern != begin->pattern; });
      const std::span<const run> runs(begin, end);
      for (const run& r : runs) {
        std::size_t row = r.row;
        for (; row + slice <= r.row + r.rows; row += slice)
          add_adjacent({row, slice, r.pattern}, slice);
        // In place, the last rows overlap those before.
        const std::size_t rest = r.row + r.rows - row;
        if (!s_.keeps && r.rows > slice && rest > 0) {
          add_adjacent({r.row + r.rows - slice, slice, r.pattern}, rest);
        }
      }
      for (const run& r : runs) {
        const std::size_t rest = s_.keeps || r.rows < slice ? r.rows % slice : 0;
        if (rest > 0) add_adjacent({r.row + r.rows - rest, rest, r.pattern}, rest);
      }
      begin = end;
    }
  }

  /// Adds one slice, of which `rows` rows are in no other.
  void add_adjacent(const run& r, std::size_t rows) {
    const row_pattern& p = *r.pattern;
    const auto terms = static_cast<std::uint8_t>(p.terms);
    add_to_group({&p, 0, terms, terms, slice_rows::adjacent, static_cast<std::uint8_t>(r.rows)},
                 rows * p.terms);
    s_.rows.push_back(place(r.row));
    if (!s_.keeps) return;
    const W* const from = values_of(r.row);
    std::size_t to = values_.size();
    values_.resize(to + r.rows * p.terms);
    for (std::size_t k = 0; k < p.terms; ++k) {
      for (std::size_t i = 0; i < r.rows; ++i) values_[to++] = from[i * p.terms + k];
    }
  }

  /// Aligns to a cache line.
  void begin_lines() { values_.resize((values_.size() + slice - 1) / slice * slice); }

  /// Slices the remaining rows, longest first; by pattern where a slice is full, else with column
  /// indices.
  void add_left(sorting_scope& w) {
    sort_left();
    std::size_t others = 0;  // collected at the front of left_
    for (std::size_t i = 0; i < left_.size();) {
      const remaining_row row = left_[i];
      std::size_t same = 1;
      const auto is_same = [&](const remaining_row& next) {
        return next.pattern == row.pattern && next.terms == row.terms;
      };
      while (same < slice && i + same < left_.size() && is_same(left_[i + same])) ++same;
      if (row.terms > max_terms) {
        leave_apart(row);
        same = 1;
      } else if (row.pattern != nullptr && same == slice) {
        add_slice(std::span(left_).subspan(i, slice), row.pattern, w);
      } else {
        std::copy_n(left_.begin() + static_cast<std::ptrdiff_t>(i), same,
                    left_.begin() + static_cast<std::ptrdiff_t>(others));
        others += same;
      }
      i += same;
    }
    const std::span<const remaining_row> rows(left_.data(), others);
    std::size_t i = find_columns(rows, w);
    for (const remaining_row& row : rows.first(i)) leave_apart(row);
    for (; i < others && rows[i].terms > row_order::short_row; ++i) add_long_row(rows[i], w);
    for (; i < others; i += slice) {
      add_slice(rows.subspan(i, std::min(slice, others - i)), nullptr, w);
    }
  }

  void leave_apart(const remaining_row& row) {
    apart_.push_back(row.row);
    s_.longest = std::max(s_.longest, row.terms);
  }

  /// Pre: more than `short_row` terms. Values are read in whole vectors.
  void add_long_row(const remaining_row& row, const sorting_scope& w) {
    const std::size_t begin = rows_.begin(row.row), places = divided(row.terms, slice) * slice;
    if (!s_.keeps && begin + places > a_.nonzeros()) return leave_apart(row);
    s_.longest = std::max(s_.longest, row.terms);
    add_to_group({.rows = slice_rows::alone}, row.terms);
    s_.rows.push_back(place(row.row));
    if (s_.keeps) {
      const std::size_t to = values_.size();
      values_.resize(to + places);
      std::copy_n(values_of(row.row), row.terms, values_.data() + to);
    }
    const auto add_columns = [&]<class I>(std::vector<I>& to) {
      const std::size_t at = to.size();
      to.resize(at + places);
      for (std::size_t k = 0; k < row.terms; ++k) {
        to[at + k] = static_cast<I>(listed_column(begin + k) - w.lowest);
      }
    };
    w.narrow ? add_columns(s_.narrow) : add_columns(s_.wide);
  }

  void add_apart() {
    std::ranges::sort(apart_);
    for (std::size_t i = 0; i < apart_.size();) {
      std::size_t n = 1;
      while (i + n < apart_.size() && apart_[i + n] == apart_[i] + n) ++n;
      add_to_group({.rows = slice_rows::apart}, 0);
      s_.rows.push_back(place(apart_[i]));
      s_.rows.push_back(static_cast<std::uint16_t>(n));
      i += n;
    }
  }

  struct columns_span {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = 0;

    bool is_narrow() const { return highest - lowest <= std::numeric_limits<std::uint16_t>::max(); }
  };

  columns_span with_rows(columns_span span, std::span<const remaining_row> rows) const {
    with_columns([&](const auto* columns) {
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
  std::size_t find_columns(std::span<const remaining_row> rows, sorting_scope& w) {
    if (!places_.empty()) return 0;  // narrow, with base 0
    const auto is_long = [](const remaining_row& row) { return row.terms > row_order::short_row; };
    const auto long_rows =
        static_cast<std::size_t>(std::ranges::find_if_not(rows, is_long) - rows.begin());
    const columns_span some = with_rows({}, rows.subspan(long_rows));
    const columns_span all = with_rows(some, rows.first(long_rows));
    const bool leaves = some.is_narrow() && !all.is_narrow() && long_rows < rows.size();
    const columns_span& span = leaves ? some : all;
    w.lowest = std::min(span.lowest, span.highest);
    w.narrow = span.is_narrow();
    if (!w.narrow) {
      // See `load_indices`.
      assert(span.highest - w.lowest <= std::numeric_limits<std::int32_t>::max());
      w.column = s_.wide.size();
    }
    return leaves ? long_rows : 0;
  }

  void add_slice(std::span<const remaining_row> rows, const row_pattern* pattern,
                 const sorting_scope& w) {
    const std::size_t longest = rows.front().terms, shortest = rows.back().terms;
    const auto is_readable = [&](const remaining_row& row) {
      return can_be_read(row.row, longest);
    };
    if (!std::ranges::all_of(rows, is_readable)) {
      for (const remaining_row& row : rows) apart_.push_back(row.row);
      return;
    }
    std::size_t terms = 0;
    for (const remaining_row& row : rows) terms += row.terms;
    add_to_group({pattern, 0, static_cast<std::uint8_t>(shortest),
                  static_cast<std::uint8_t>(longest), slice_rows::listed},
                 terms);
    const auto row_at = [&](std::size_t r) { return rows[std::min(r, rows.size() - 1)]; };
    for (std::size_t r = 0; r < slice; ++r) s_.rows.push_back(place(row_at(r).row));
    // Padding is excluded from sums and arbitrary.
    if (s_.keeps) {
      const std::size_t to = values_.size();
      values_.resize(to + longest * slice);
      for (std::size_t r = 0; r < slice; ++r) {
        const W* const from = values_of(row_at(r).row);
        for (std::size_t k = 0; k < row_at(r).terms; ++k) values_[to + k * slice + r] = from[k];
      }
    }
    for (std::size_t k = shortest; k < longest; ++k) {
      std::uint8_t count = 0;
      for (std::size_t r = 0; r < slice; ++r) count += k < row_at(r).terms;
      s_.counts.push_back(count);
    }
    if (pattern != nullptr) return;
    const auto add_columns = [&]<class I>(std::vector<I>& to) {
      const std::size_t at = to.size();
      to.resize(at + longest * slice);
      for (std::size_t r = 0; r < slice; ++r) {
        const std::size_t begin = rows_.begin(row_at(r).row);
        for (std::size_t k = 0; k < row_at(r).terms; ++k) {
          to[at + k * slice + r] = static_cast<I>(listed_column(begin + k) - w.lowest);
        }
      }
    };
    w.narrow ? add_columns(s_.narrow) : add_columns(s_.wide);
  }

  row_slices& s_;
  const csr_operand& a_;
  row_bounds rows_;
  index_vector columns_;
  const pattern_ranges& patterns_;
  std::size_t shares_;
  lines<W>& values_;
  std::vector<std::uint16_t> places_;  ///< of a column among the copied ones
  // The rows of one sorting scope.
  std::size_t first_ = 0;
  std::vector<run> adjacent_;
  std::vector<remaining_row> left_, sorted_;
  std::array<std::uint16_t, max_terms + 1> begins_by_length_;
  std::vector<std::size_t> apart_;
};

}  // namespace

row_slices::row_slices(const csr_operand& a, const pattern_ranges& patterns, bool copies,
                       std::size_t shares)
    : keeps(copies) {
  a.values.element == type::float64 ? slice_maker<double>(*this, a, patterns, shares).make()
                                    : slice_maker<float>(*this, a, patterns, shares).make();
}

std::string row_slices::describe() const {
  const auto bytes_of = [](const auto& v) { return v.size() * sizeof(*v.data()); };
  const std::size_t bytes =
      std::apply([&](const auto&... v) { return (bytes_of(v) + ...); }, values) + bytes_of(series) +
      bytes_of(windows) + bytes_of(copied) + bytes_of(narrow) + bytes_of(wide) + bytes_of(rows) +
      bytes_of(counts);
  return (keeps ? "values kept in slices of " : "rows in slices of ") + std::to_string(slice) +
         (keeps ? " rows, " : ", ") + std::to_string(terms == 0 ? 0 : 100 * pattern_terms / terms) +
         " % of their terms in patterns, " +
         (copied.empty() ? "" : std::to_string(copied.size()) + " elements of x copied, ") +
         std::to_string(bytes) + " bytes";
}

}  // namespace tally::backends
