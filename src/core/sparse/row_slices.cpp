#include "src/core/sparse/row_slices.hpp"

#include "src/core/order/row_order.hpp"
#include "src/core/sparse/csr.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <ranges>
#include <span>

namespace tally::backends {
namespace {

constexpr std::size_t window = row_slices::window;

/// Makes the slices of values of type W.
template <class W>
class slice_maker {
 public:
  slice_maker(row_slices& s, const csr_operand& a, const pattern_runs& patterns)
      : s_(s),
        a_(a),
        rows_(a),
        columns_(a.column_indices),
        patterns_(patterns),
        values_(std::get<lines<W>>(s.values)) {}

  void make() {
    const std::size_t windows = (a_.rows + window - 1) / window;
    s_.slice = slice;
    s_.windows.reserve(windows + 1);
    if (s_.keeps) values_.reserve(a_.nonzeros() + a_.nonzeros() / 16 + slice);
    for (std::size_t w = 0; w < windows; ++w) make_window(w * window);
    begin_window();
    if (s_.keeps) values_.resize(values_.size() + slice);
    s_.narrow.shrink_to_fit();
    s_.wide.shrink_to_fit();
    s_.rows.shrink_to_fit();
    s_.series.shrink_to_fit();
  }

 private:
  static constexpr std::size_t slice = rows_of_slice<W>;

  /// Fewer adjacent rows of one pattern are no slice: it takes as long as three eighths of one that
  /// is gathered.
  static constexpr std::size_t least_rows = 3 * slice / 8;

  /// Adjacent rows of a window.
  struct run {
    std::size_t row;
    std::size_t rows;
    const row_pattern* pattern;
  };
  /// Is a row that is in no slice yet.
  struct row_left {
    std::size_t row;
    std::size_t terms;
    const row_pattern* pattern;
  };

  slice_window& begin_window() {
    return s_.windows.emplace_back(slice_window{s_.series.size(), values_.size(), s_.narrow.size(),
                                                s_.rows.size(), s_.counts.size()});
  }

  void make_window(std::size_t first) {
    first_ = first;
    const std::size_t end = std::min(first + window, a_.rows);
    slice_window& w = begin_window();
    left_.clear();
    adjacent_.clear();
    apart_.clear();
    std::size_t next = first;
    const pattern_run* const last = patterns_.all().data() + patterns_.all().size();
    for (const pattern_run* p = patterns_.behind(first); p != last && p->row < end; ++p) {
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

  /// Returns how many rows of a pattern from `begin` on are sliced as adjacent ones. Vectors of x
  /// are read whole, so the last ones may not be.
  std::size_t adjacent_rows(const row_pattern& p, std::size_t begin, std::size_t end) const {
    std::size_t n = end - begin;
    while (n > 0 && !can_be_read(begin + n - 1, p.terms)) --n;
    if (!s_.keeps) return n < slice ? 0 : n;  // the last slice overlaps the one before
    const std::size_t rest = n % slice;
    if (rest == 0) return n;
    const std::int32_t highest = *std::max_element(p.above, p.above + p.terms);
    const auto behind = static_cast<std::int64_t>(begin + n - rest + slice) + p.lowest + highest;
    return rest < least_rows || behind > static_cast<std::int64_t>(a_.columns) ? n - rest : n;
  }

  /// Says whether so many terms from a row's first one on can be read: values that are not kept are
  /// loaded eight at a time.
  bool can_be_read(std::size_t row, std::size_t terms) const {
    constexpr std::size_t lanes = row_order::lanes;
    return s_.keeps || rows_.begin(row) + (terms + lanes - 1) / lanes * lanes <= a_.nonzeros();
  }

  void leave(std::size_t begin, std::size_t end, const row_pattern* pattern) {
    for (; begin < end; ++begin) left_.push_back({begin, rows_.length(begin), pattern});
  }

  const W* values_of(std::size_t row) const {
    return static_cast<const W*>(a_.values.data) + rows_.begin(row);
  }

  std::uint16_t place(std::size_t row) const { return static_cast<std::uint16_t>(row - first_); }

  /// Adds a slice, or a run, to the window's last series, if it has this kind, or begins one.
  void add_to_series(const slice_series& kind, std::size_t terms) {
    const bool begins = s_.windows.back().series == s_.series.size();
    const auto is_same = [&](const slice_series& last) {
      return last.pattern == kind.pattern && last.rows == kind.rows &&
             last.shortest == kind.shortest && last.longest == kind.longest;
    };
    if (begins || !is_same(s_.series.back())) s_.series.push_back(kind);
    ++s_.series.back().size;
    s_.terms += terms;
    if (kind.pattern != nullptr) s_.pattern_terms += terms;
    s_.longest = std::max<std::size_t>(s_.longest, kind.longest);
  }

  void add_adjacent() {
    std::ranges::sort(adjacent_, [](const run& i, const run& j) {
      if (i.pattern != j.pattern) return std::less<>()(i.pattern, j.pattern);
      return i.row < j.row;
    });
    for (const run& r : adjacent_) {
      const row_pattern& p = *r.pattern;
      const auto terms = static_cast<std::uint8_t>(p.terms);
      add_to_series({&p, 0, terms, terms, slice_rows::adjacent}, r.rows * p.terms);
      s_.rows.push_back(place(r.row));
      s_.rows.push_back(static_cast<std::uint16_t>(r.rows));
      if (s_.keeps) copy_adjacent(values_of(r.row), r.rows, p.terms);
    }
  }

  void copy_adjacent(const W* from, std::size_t n, std::size_t terms) {
    std::size_t to = values_.size();
    values_.resize((to + n * terms + slice - 1) / slice * slice);
    for (std::size_t i = 0; i < n; i += slice) {
      const std::size_t rows = std::min(slice, n - i);
      for (std::size_t k = 0; k < terms; ++k) {
        for (std::size_t r = 0; r < rows; ++r) values_[to++] = from[r * terms + k];
      }
      from += rows * terms;
    }
  }

  /// Makes slices of the rows that are left, by their lengths, the longest ones first: where there
  /// are enough of one pattern, of these, and of the others with their columns.
  void add_left(slice_window& w) {
    std::ranges::sort(left_, [](const row_left& i, const row_left& j) {
      if (i.terms != j.terms) return i.terms > j.terms;
      if (i.pattern != j.pattern) return std::less<>()(i.pattern, j.pattern);
      return i.row < j.row;
    });
    std::size_t others = 0;  // these are at the beginning of left_ then
    for (std::size_t i = 0; i < left_.size();) {
      const row_left row = left_[i];
      std::size_t same = 1;
      const auto is_same = [&](const row_left& next) {
        return next.pattern == row.pattern && next.terms == row.terms;
      };
      while (same < slice && i + same < left_.size() && is_same(left_[i + same])) ++same;
      if (row.terms > row_order::short_row) {
        apart_.push_back(row.row);
        s_.longest = std::max(s_.longest, row.terms);
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
    const std::span<const row_left> rows(left_.data(), others);
    find_columns(rows, w);
    for (std::size_t i = 0; i < others; i += slice) {
      add_slice(rows.subspan(i, std::min(slice, others - i)), nullptr, w);
    }
  }

  void add_apart() {
    std::ranges::sort(apart_);
    for (std::size_t i = 0; i < apart_.size();) {
      std::size_t n = 1;
      while (i + n < apart_.size() && apart_[i + n] == apart_[i] + n) ++n;
      add_to_series({.rows = slice_rows::apart}, 0);
      s_.rows.push_back(place(apart_[i]));
      s_.rows.push_back(static_cast<std::uint16_t>(n));
      i += n;
    }
  }

  /// Finds what the columns of a window's rows are counted from, and how wide they are then.
  void find_columns(std::span<const row_left> rows, slice_window& w) const {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = 0;
    for (const row_left& row : rows) {
      for (std::size_t j = rows_.begin(row.row); j < rows_.end(row.row); ++j) {
        lowest = std::min(lowest, columns_[j]);
        highest = std::max(highest, columns_[j]);
      }
    }
    w.lowest = std::min(lowest, highest);
    w.narrow = highest - w.lowest <= std::numeric_limits<std::uint16_t>::max();
    if (!w.narrow) w.column = s_.wide.size();
  }

  void add_slice(std::span<const row_left> rows, const row_pattern* pattern,
                 const slice_window& w) {
    const std::size_t longest = rows.front().terms, shortest = rows.back().terms;
    const auto is_readable = [&](const row_left& row) { return can_be_read(row.row, longest); };
    if (!std::ranges::all_of(rows, is_readable)) {
      for (const row_left& row : rows) apart_.push_back(row.row);
      return;
    }
    std::size_t terms = 0;
    for (const row_left& row : rows) terms += row.terms;
    add_to_series({pattern, 0, static_cast<std::uint8_t>(shortest),
                   static_cast<std::uint8_t>(longest), slice_rows::listed},
                  terms);
    const auto row_at = [&](std::size_t r) { return rows[std::min(r, rows.size() - 1)]; };
    for (std::size_t r = 0; r < slice; ++r) s_.rows.push_back(place(row_at(r).row));
    // What a row lacks is left out of its sum, and its value and column may be any.
    if (s_.keeps) {
      const std::size_t to = values_.size();
      values_.resize(to + longest * slice);
      for (std::size_t r = 0; r < slice; ++r) {
        const W* const from = values_of(row_at(r).row);
        for (std::size_t k = 0; k < row_at(r).terms; ++k) values_[to + k * slice + r] = from[k];
      }
    }
    for (std::size_t k = shortest; k < longest; ++k) {
      s_.counts.push_back(static_cast<std::uint8_t>(
          std::ranges::count_if(std::views::iota(std::size_t{0}, slice),
                                [&](std::size_t r) { return k < row_at(r).terms; })));
    }
    if (pattern != nullptr) return;
    const auto add_columns = [&]<class I>(std::vector<I>& to) {
      const std::size_t at = to.size();
      to.resize(at + longest * slice);
      for (std::size_t r = 0; r < slice; ++r) {
        const std::size_t begin = rows_.begin(row_at(r).row);
        for (std::size_t k = 0; k < row_at(r).terms; ++k) {
          to[at + k * slice + r] = static_cast<I>(columns_[begin + k] - w.lowest);
        }
      }
    };
    w.narrow ? add_columns(s_.narrow) : add_columns(s_.wide);
  }

  row_slices& s_;
  const csr_operand& a_;
  row_bounds rows_;
  index_vector columns_;
  const pattern_runs& patterns_;
  lines<W>& values_;
  // What follows is of one window.
  std::size_t first_ = 0;  ///< its first row
  std::vector<run> adjacent_;
  std::vector<row_left> left_;
  std::vector<std::size_t> apart_;
};

}  // namespace

row_slices::row_slices(const csr_operand& a, const pattern_runs& patterns, bool copies)
    : keeps(copies) {
  a.values.element == type::float64 ? slice_maker<double>(*this, a, patterns).make()
                                    : slice_maker<float>(*this, a, patterns).make();
}

std::string row_slices::describe() const {
  const auto bytes_of = [](const auto& v) { return v.size() * sizeof(*v.data()); };
  const std::size_t bytes =
      std::apply([&](const auto&... v) { return (bytes_of(v) + ...); }, values) + bytes_of(series) +
      bytes_of(windows) + bytes_of(narrow) + bytes_of(wide) + bytes_of(rows) + bytes_of(counts);
  return (keeps ? "values kept in slices of " : "rows in slices of ") + std::to_string(slice) +
         (keeps ? " rows, " : ", ") + std::to_string(terms == 0 ? 0 : 100 * pattern_terms / terms) +
         " % of their terms in patterns, " + std::to_string(bytes) + " bytes";
}

}  // namespace tally::backends
