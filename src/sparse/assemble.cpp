// Assembly of a sparse matrix in host memory. Entries in any order are sorted twice: into buckets
// of adjacent rows that fit the caches, then each bucket by row and column. All steps are stable,
// so entries of one place keep the order given. One thread sorts entries that are near each other
// as one bucket, and those in order stay where they are.
#include "src/sparse/assemble.hpp"

#include "backends/common/exact/window_sum.hpp"
#include "backends/common/memory.hpp"
#include "backends/common/order/dot_sum.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/types/tables.hpp"
#include "src/sparse/parts.hpp"

#include <tally/numerics/exact_sum.hpp>
#include <tally/numerics/order.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally {
namespace {

using backends::assembled;
using backends::with_type;

constexpr const char* function_name = "tally::csr_from_coo";

/// Returns the number of a number's digits.
template <class T>
int width_of(T n) {
  return static_cast<int>(std::bit_width(n));
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// Entries as given, contiguous and with indices of 32 bits. Negative ones become larger than any
/// matrix.
struct narrow_entries {
  using number = std::uint32_t;
  const std::int32_t *rows, *columns;
  const std::byte* values;

  explicit narrow_entries(const coo_arguments& a)
      : rows(static_cast<const std::int32_t*>(a.row_indices.data)),
        columns(static_cast<const std::int32_t*>(a.column_indices.data)),
        values(static_cast<const std::byte*>(a.values.data)) {}

  number row(std::size_t k) const { return static_cast<number>(rows[k]); }
  number column(std::size_t k) const { return static_cast<number>(columns[k]); }
  template <class V>
  V value(std::size_t k) const {
    return load<V>(values + k * sizeof(V));
  }
};

/// The same of any layout.
struct given_entries {
  using number = std::uint64_t;
  backends::index_vector rows, columns;
  std::ptrdiff_t row_increment, column_increment, increment;
  const std::byte* values;

  explicit given_entries(const coo_arguments& a)
      : rows(a.row_indices),
        columns(a.column_indices),
        row_increment(a.row_indices.increment),
        column_increment(a.column_indices.increment),
        increment(a.values.increment),
        values(static_cast<const std::byte*>(a.values.data)) {}

  number row(std::size_t k) const { return static_cast<number>(rows[at(k, row_increment)]); }
  number column(std::size_t k) const {
    return static_cast<number>(columns[at(k, column_increment)]);
  }
  template <class V>
  V value(std::size_t k) const {
    return load<V>(values + static_cast<std::ptrdiff_t>(at(k, increment) * sizeof(V)));
  }

 private:
  static std::size_t at(std::size_t k, std::ptrdiff_t increment) {
    return k * static_cast<std::size_t>(increment);
  }
};

/// Whether entries of a part lie in the matrix, in order, and near each other.
struct survey {
  bool row_outside = false, column_outside = false, sorted = true;
  std::size_t jumps = 0;  ///< entries far from the one before
};

template <class Entries>
survey survey_of(const Entries& entries, const coo_arguments& a, std::size_t first, std::size_t n) {
  using number = typename Entries::number;
  constexpr std::size_t max_index = std::numeric_limits<std::make_signed_t<number>>::max();
  const auto rows = static_cast<number>(std::min(a.rows, max_index + 1));
  const auto columns = static_cast<number>(std::min(a.columns, max_index + 1));
  const number far_rows = rows / 8, far_columns = columns / 8;
  survey all;
  for (std::size_t k = first; k < first + n;) {
    number row_outside = 0, column_outside = 0, unsorted = 0, jumps = 0;
    const std::size_t block_end = std::min(first + n, k + order::chunk);
    if (k == 0) {
      row_outside = entries.row(0) >= rows;
      column_outside = entries.column(0) >= columns;
      ++k;
    }
    for (; k < block_end; ++k) {
      const number row = entries.row(k), last_row = entries.row(k - 1);
      const number column = entries.column(k), last_column = entries.column(k - 1);
      row_outside |= row >= rows;
      column_outside |= column >= columns;
      unsorted |= (row < last_row) | ((row == last_row) & (column < last_column));
      jumps += static_cast<number>(
          (static_cast<number>(row - last_row + far_rows) > 2 * far_rows) |
          (static_cast<number>(column - last_column + far_columns) > 2 * far_columns));
    }
    all.row_outside |= row_outside != 0;
    all.column_outside |= column_outside != 0;
    all.sorted &= unsorted == 0;
    all.jumps += jumps;
  }
  return all;
}

/// An entry while it is sorted; `Bits` are its value's.
template <class Index, class Bits>
struct record {
  Index row, column;
  Bits bits;
};

/// An entry among those of its row in order.
template <class Index, class Bits>
struct place {
  Index column;
  Bits bits;
};

/// Records or places.
template <class T>
struct stored_entries {
  const T* all;

  auto row(std::size_t k) const { return all[k].row; }
  auto column(std::size_t k) const { return all[k].column; }
  template <class V>
  V value(std::size_t k) const {
    return std::bit_cast<V>(all[k].bits);
  }
};

/// Whether entries may be of V.
template <class V, class Entries>
inline constexpr bool holds = true;
template <class V, class Index, class Bits>
inline constexpr bool holds<V, stored_entries<place<Index, Bits>>> = sizeof(V) == sizeof(Bits);

/// Memory of a sort.
template <class Index, class Bits>
struct sort_memory {
  std::span<Index> counts;        ///< a power of two, of the values of a digit
  record<Index, Bits>*to, *from;  ///< destinations of the passes in turn
  place<Index, Bits>* places;
  std::size_t start;  ///< of the first place
};

/// Sorts n entries stably by row, then column, into places: a radix sort of the columns' digits,
/// then of whole rows.
/// @param row_ends zeros, of rows from `first_row`; become the ends of the rows' places.
template <class Index, class Bits, class Entries>
void sort_entries(const Entries& entries, std::size_t n, std::size_t columns, std::size_t first_row,
                  std::span<std::size_t> row_ends, sort_memory<Index, Bits> memory) {
  using stored = stored_entries<record<Index, Bits>>;
  const auto column_of = [](const auto& from, std::size_t k) {
    return static_cast<Index>(from.column(k));
  };
  const auto row_end = [&](const auto& from, std::size_t k) -> std::size_t& {
    return row_ends[from.row(k) - first_row];
  };
  const int max_width = width_of(memory.counts.size()) - 1;
  constexpr std::size_t max_index = std::numeric_limits<Index>::max();
  Index smallest = 0, largest = static_cast<Index>(std::min(columns - 1, max_index));
  if (width_of(largest) > max_width) {
    smallest = std::numeric_limits<Index>::max(), largest = 0;
    for (std::size_t k = 0; k < n; ++k) {
      smallest = std::min(smallest, column_of(entries, k));
      largest = std::max(largest, column_of(entries, k));
    }
    if (n == 0) smallest = largest;
  }
  const int bits = width_of(static_cast<Index>(largest - smallest));
  const int passes = bits == 0 ? 0 : (bits + max_width - 1) / max_width;
  const int width = bits == 0 ? 0 : (bits + passes - 1) / passes;
  const std::span<Index> counts = memory.counts.first(std::size_t{1} << width);
  const auto sort_digits = [&](const auto& from, int shift, const auto& count_also) {
    const auto digit = [&](std::size_t k) {
      return static_cast<Index>((column_of(from, k) - smallest) >> shift) &
             static_cast<Index>(counts.size() - 1);
    };
    std::ranges::fill(counts, Index{0});
    for (std::size_t k = 0; k < n; ++k) {
      ++counts[digit(k)];
      count_also(k);
    }
    Index before = 0;
    for (Index& count : counts) before += std::exchange(count, before);
    for (std::size_t k = 0; k < n; ++k) {
      memory.to[counts[digit(k)]++] = {static_cast<Index>(from.row(k)), column_of(from, k),
                                       from.template value<Bits>(k)};
    }
    std::swap(memory.to, memory.from);
  };
  const auto sort_rows = [&](const auto& from) {
    for (std::size_t k = 0; k < n; ++k) {
      memory.places[row_end(from, k)++] = {column_of(from, k), from.template value<Bits>(k)};
    }
  };
  const auto count_row = [&](std::size_t k) { ++row_end(entries, k); };
  if (passes > 0) sort_digits(entries, 0, count_row);
  for (int shift = width; shift < bits; shift += width) {
    sort_digits(stored{memory.from}, shift, [](std::size_t) {});
  }
  for (std::size_t k = 0; passes == 0 && k < n; ++k) count_row(k);
  std::size_t before = memory.start;
  for (std::size_t& end : row_ends) before += std::exchange(end, before);
  passes == 0 ? sort_rows(entries) : sort_rows(stored{memory.from});
}

/// Returns the exact sum of part(0) ... part(count - 1), rounded once.
template <class A, class Part>
A exact_of(std::size_t count, const Part& part) {
  using backends::window_sum;
  if (count == 2) return backends::canonical(part(0) + part(1) + A{0});  // +0 for an exact zero
  if (count <= static_cast<std::size_t>(window_sum::max_terms)) {
    bool fits = true;
    int top = std::numeric_limits<int>::min();
    for (std::size_t k = 0; k < count; ++k) {
      const window_sum::term term{double{part(k)}};
      fits &= !term.special();
      if (!term.zero()) top = std::max(top, term.exponent);
    }
    if (top == std::numeric_limits<int>::min()) top = 0;
    window_sum sum(top);
    for (std::size_t k = 0; fits && k < count; ++k) fits = sum.add(window_sum::term(part(k)));
    if (fits) return sum.template round<A>();
  }
  exact_sum<double> sum;
  for (std::size_t k = 0; k < count; ++k) sum.add(part(k));
  return sum.template round<A>();
}

template <class A, class Part>
A sum_of(std::size_t count, bool exact, const Part& part) {
  if (exact) return exact_of<A>(count, part);
  A sum = part(0);
  for (std::size_t k = 1; k < count; ++k) sum = sum + part(k);
  return backends::canonical(sum);
}

/// Returns the sum of value(0) ... value(count - 1).
template <class V, class Value>
V sum_of_values(std::size_t count, bool exact, const Value& value) {
  using A = real_t<dot_result_t<V, V>>;
  if constexpr (is_complex_v<V>) {
    return {sum_of<A>(count, exact, [&](std::size_t k) { return value(k).real(); }),
            sum_of<A>(count, exact, [&](std::size_t k) { return value(k).imag(); })};
  } else {
    return backends::rounded<V>(
        sum_of<A>(count, exact, [&](std::size_t k) { return backends::rounded<A>(value(k)); }));
  }
}

/// An assembly of `Entries`, as given.
template <class Entries>
class assembly {
 public:
  assembly(const executor& host, const coo_arguments& a)
      : host_(host), a_(a), given_(a), size_(a.values.size) {}

  assembled run() {
    for_each_part(
        host_, function_name, size_, [&](std::size_t parts) { surveys_.resize(parts); },
        [&](std::size_t i, std::size_t first, std::size_t n) {
          surveys_[i] = survey_of(given_, a_, first, n);
        });
    if (std::ranges::any_of(surveys_, &survey::row_outside)) return first_outside(true);
    if (std::ranges::any_of(surveys_, &survey::column_outside)) return first_outside(false);
    choose_buckets();
    if (is_sorted_) {
      find_rows();
      write(given_);
    } else {
      with_bits([&]<class Bits>() { sort_as<Bits>(); });
    }
    return {assembled::defect::none, stored_[buckets_], 0};
  }

 private:
  template <class F>
  void with_bits(const F& f) const {
    switch (size_of(a_.values.element)) {
      case 2:
        return f.template operator()<std::array<std::byte, 2>>();
      case 4:
        return f.template operator()<std::array<std::byte, 4>>();
      case 8:
        return f.template operator()<std::array<std::byte, 8>>();
      default:
        return f.template operator()<std::array<std::byte, 16>>();
    }
  }

  template <class Bits>
  void sort_as() {
    constexpr std::size_t max_index = std::numeric_limits<std::uint32_t>::max();
    if constexpr (std::is_same_v<Entries, given_entries>) {
      if (std::max({a_.rows, a_.columns, size_}) > max_index) return sort<std::uint64_t, Bits>();
    }
    sort<std::uint32_t, Bits>();
  }

  assembled first_outside(bool is_row) const {
    const given_entries entries(a_);
    const auto index = [&](std::size_t k) { return is_row ? entries.row(k) : entries.column(k); };
    std::size_t k = 0;
    while (index(k) < (is_row ? a_.rows : a_.columns)) ++k;
    return {is_row ? assembled::defect::row : assembled::defect::column, k,
            static_cast<std::int64_t>(index(k))};
  }

  /// Constants: tuning/assembly.md.
  void choose_buckets() {
    constexpr std::size_t entries_per_bucket = std::size_t{1} << 14, max_buckets = 1024;
    std::size_t jumps = 0;
    for (const survey& part : surveys_) jumps += part.jumps;
    is_sorted_ = std::ranges::all_of(surveys_, &survey::sorted);
    is_near_ = jumps <= size_ / 8 || size_ <= 8 * entries_per_bucket;
    const bool is_one = surveys_.size() <= 1 && (is_sorted_ || is_near_);
    const std::size_t wanted =
        is_one ? 1 : std::clamp(size_ / entries_per_bucket, std::size_t{1}, max_buckets);
    while (a_.rows > wanted << shift_) ++shift_;
    buckets_ = (a_.rows + (std::size_t{1} << shift_) - 1) >> shift_;
    row_ends_.resize(a_.rows);
    starts_.resize(buckets_ + 1, size_);
    stored_.resize(buckets_ + 1);
    if (buckets_ > 0) starts_[0] = 0;
  }

  /// Calls prepare(parts), then f(part, first, end) for ranges of buckets, on threads.
  template <class Prepare, class F>
  void for_each_range(const Prepare& prepare, const F& f) const {
    constexpr std::size_t weight = order::chunk;  // so that a part may be one bucket
    for_each_part(host_, function_name, buckets_ * weight, prepare,
                  [&](std::size_t i, std::size_t first, std::size_t n) {
                    f(i, first / weight, (first + n) / weight);
                  });
  }
  template <class F>
  void for_each_bucket(const F& f) const {
    for_each_range([](std::size_t) {},
                   [&](std::size_t, std::size_t first, std::size_t end) {
                     for (std::size_t b = first; b < end; ++b) f(b);
                   });
  }

  std::size_t first_row(std::size_t b) const { return std::min(b << shift_, a_.rows); }

  /// Calls f(r, first, end) for the rows of a bucket, with the range of their entries.
  template <class F>
  void for_each_row(std::size_t b, const F& f) const {
    std::size_t first = starts_[b];
    for (std::size_t r = first_row(b); r < first_row(b + 1); ++r) {
      f(r, first, row_ends_[r]);
      first = row_ends_[r];
    }
  }

  /// Rows of entries that are in order.
  void find_rows() {
    for (std::size_t b = 1; b < buckets_; ++b) {
      std::size_t first = starts_[b - 1], end = size_;
      while (first < end) {
        const std::size_t middle = first + (end - first) / 2;
        if (given_.row(middle) < first_row(b)) {
          first = middle + 1;
        } else {
          end = middle;
        }
      }
      starts_[b] = first;
    }
    for_each_bucket([&](std::size_t b) {
      std::size_t k = starts_[b];
      for (std::size_t r = first_row(b); r < first_row(b + 1); ++r) {
        while (k < starts_[b + 1] && given_.row(k) == r) ++k;
        row_ends_[r] = k;
      }
    });
  }

  template <class Index, class Bits>
  void sort() {
    using record = tally::record<Index, Bits>;
    const auto records = backends::make_table<record>(size_);
    const auto others = backends::make_table<record>(size_);
    const auto places = backends::make_table<place<Index, Bits>>(size_);
    if (buckets_ > 1) fill_buckets(records.get());
    const int max_width = buckets_ > 1 || !is_near_ ? 12 : std::max(8, width_of(size_));
    const std::size_t values = std::size_t{1} << std::min(max_width, width_of(a_.columns - 1));
    std::vector<Index> counts;
    const auto sort_bucket = [&](std::size_t i, std::size_t b, record* to) {
      const std::size_t start = starts_[b], n = starts_[b + 1] - start, row = first_row(b);
      record* const own = records.get() + start;
      const sort_memory<Index, Bits> memory{std::span(counts).subspan(i * values, values), to, own,
                                            places.get(), start};
      const std::span row_ends(row_ends_.data() + row, first_row(b + 1) - row);
      if (buckets_ == 1) {
        sort_entries(given_, n, a_.columns, row, row_ends, memory);
      } else {
        sort_entries(stored_entries<record>{own}, n, a_.columns, row, row_ends, memory);
      }
    };
    for_each_range([&](std::size_t parts) { counts.resize(parts * values); },
                   [&](std::size_t i, std::size_t first, std::size_t end) {
                     for (std::size_t b = first; b < end; ++b) {
                       sort_bucket(i, b, others.get() + starts_[first]);
                     }
                   });
    write(stored_entries<place<Index, Bits>>{places.get()});
  }

  /// Sorts by bucket. Each part of the entries has a place for those of its buckets.
  template <class Index, class Bits>
  void fill_buckets(record<Index, Bits>* records) {
    std::vector<std::size_t> next(surveys_.size() * buckets_);
    const auto for_each_entry = [&](const auto& f) {
      for_each_part(host_, function_name, size_,
                    [&](std::size_t i, std::size_t first, std::size_t n) {
                      std::size_t* const of_part = &next[i * buckets_];
                      for (std::size_t k = first; k < first + n; ++k) {
                        f(of_part[given_.row(k) >> shift_]++, k);
                      }
                    });
    };
    for_each_entry([](std::size_t, std::size_t) {});
    std::size_t before = 0;
    for (std::size_t b = 0; b < buckets_; ++b) {
      starts_[b] = before;
      for (std::size_t i = b; i < next.size(); i += buckets_) {
        before += std::exchange(next[i], before);
      }
    }
    for_each_entry([&](std::size_t to, std::size_t k) {
      records[to] = {static_cast<Index>(given_.row(k)), static_cast<Index>(given_.column(k)),
                     given_.template value<Bits>(k)};
    });
  }

  template <class Sorted>
  void write(const Sorted& entries) {
    if (buckets_ > 1) count(entries);
    const auto put = [](const output_operand& to, std::size_t i, std::uint64_t index) {
      if (to.element == type::int64) {
        static_cast<std::int64_t*>(to.data)[i] = static_cast<std::int64_t>(index);
      } else {
        static_cast<std::int32_t*>(to.data)[i] = static_cast<std::int32_t>(index);
      }
    };
    put(a_.row_offsets, 0, 0);
    with_type<detail::matrix_value_types>(a_.values.element, [&]<class V>() {
      if constexpr (holds<V, Sorted>) {
        auto* const sums = static_cast<V*>(a_.sorted_values.data);
        for_each_bucket([&](std::size_t b) {
          std::size_t to = stored_[b];
          for_each_row(b, [&](std::size_t r, std::size_t first, std::size_t end) {
            for (std::size_t next = first; first < end; first = next) {
              next = first + 1;
              while (next < end && entries.column(next) == entries.column(first)) ++next;
              put(a_.sorted_columns, to, entries.column(first));
              sums[to++] =
                  next - first == 1
                      ? entries.template value<V>(first)
                      : sum_of_values<V>(next - first, a_.sums.is_exact(), [&](std::size_t k) {
                          return entries.template value<V>(first + k);
                        });
            }
            put(a_.row_offsets, r + 1, to);
          });
          if (buckets_ == 1) stored_[1] = to;  // nobody has counted
        });
      }
    });
  }

  /// Sets the number of values before each bucket.
  template <class Sorted>
  void count(const Sorted& entries) {
    for_each_bucket([&](std::size_t b) {
      std::size_t stored = 0;
      for_each_row(b, [&](std::size_t, std::size_t first, std::size_t end) {
        stored += first < end;
        for (std::size_t k = first + 1; k < end; ++k) {
          stored += entries.column(k - 1) != entries.column(k);
        }
      });
      stored_[b + 1] = stored;
    });
    for (std::size_t b = 0; b < buckets_; ++b) stored_[b + 1] += stored_[b];
  }

  const executor& host_;
  const coo_arguments& a_;
  Entries given_;
  std::size_t size_;
  std::vector<survey> surveys_;
  bool is_sorted_ = true;
  bool is_near_ = true;  ///< most entries are near those before them
  int shift_ = 0;        ///< a bucket has 2^shift_ rows
  std::size_t buckets_ = 0;
  std::vector<std::size_t> starts_;    ///< of the buckets' entries
  std::vector<std::size_t> row_ends_;  ///< of the rows' entries
  std::vector<std::size_t> stored_;    ///< values before each bucket
};

}  // namespace

backends::assembled assemble_on_host(const executor& host, const coo_arguments& a) {
  const auto is_narrow = [](const operand& v) {
    return v.element == type::int32 && (v.increment == 1 || v.size <= 1);
  };
  constexpr std::size_t max_entries = std::numeric_limits<std::uint32_t>::max();
  return is_narrow(a.row_indices) && is_narrow(a.column_indices) &&
                 (a.values.increment == 1 || a.values.size <= 1) && a.values.size <= max_entries
             ? assembly<narrow_entries>(host, a).run()
             : assembly<given_entries>(host, a).run();
}

}  // namespace tally
