// Readers of Matrix Market files.
#include "src/sparse/matrix_market/header.hpp"

#include "backends/common/floating_point_environment.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

namespace tally::matrix_market {
namespace {

/// Returns the row limit for a number of entries, to bound row offsets.
constexpr std::size_t max_rows(std::size_t entries, const options& o) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  return o.max_empty_rows > all - 64 * entries ? all : o.max_empty_rows + 64 * entries;
}
// --- Entries --------------------------------------------------------------------------------------

/// Indices from 0.
template <class T>
struct entry {
  std::size_t row;
  std::size_t column;
  T value;
};

/// Whether an unrepresentable number is too small rather than too large.
bool is_tiny(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, e);
  const auto point = static_cast<std::ptrdiff_t>(std::min(digits.find('.'), digits.size()));
  const auto leading = static_cast<std::ptrdiff_t>(digits.find_first_of("123456789"));
  if (e == number.size()) return point < leading;
  const std::string_view power = without_plus(number.substr(e + 1));
  std::int64_t exponent = 0;
  const auto parsed = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (parsed.ec != std::errc{}) return power.front() == '-';  // even the exponent is out of range
  return exponent < leading - point;
}

/// Replaces Fortran's exponent letter D (1.5D+02) by e, in `copy`.
std::string_view with_e(std::string_view number, std::string& copy) {
  const std::size_t d = number.find_first_not_of("+-.0123456789");
  if (d == 0 || d == number.npos || (number[d] != 'D' && number[d] != 'd')) return number;
  copy = number;
  copy[d] = 'e';
  return copy;
}

template <class R>
R parse_real(const line_reader& lines, const char* what, std::string_view word) {
  if (word.empty()) lines.fail("the line ends before its ", what);
  std::string copy;
  const std::string_view number = with_e(without_plus(word), copy);
  const char* const last = number.data() + number.size();
  R value{};
  const auto [end, status] = std::from_chars(number.data(), last, value);
  if (end != last || status == std::errc::invalid_argument) {
    lines.fail(quoted(word), " is not a number");
  }
  if (status == std::errc::result_out_of_range) {
    if (!is_tiny(number)) {
      lines.fail(shown(word), " is out of the range of ", tally::name(type_of<R>));
    }
    return number.front() == '-' ? -R(0) : R(0);
  }
  return value;
}

template <class T>
T parse_value(const line_reader& lines, field entries_are, std::string_view& line) {
  if (entries_are == field::pattern) return T(1);
  using R = real_t<T>;
  const std::string_view word = take_word(line);
  if (entries_are == field::integer || entries_are == field::unsigned_integer) {
    const bool is_signed = entries_are == field::integer;
    const std::string_view signs = is_signed ? "+-" : "+";
    const std::string_view digits = word.substr(word.find_first_not_of(signs) == 1 ? 1 : 0);
    if (!word.empty() && digits.find_first_not_of("0123456789") != digits.npos) {
      lines.fail(quoted(word), is_signed ? " is not an integer" : " is not an unsigned integer");
    }
  }
  const R real = parse_real<R>(lines, "value", word);
  if constexpr (is_complex_v<T>) {
    if (entries_are != field::complex) return real;
    return T(real, parse_real<R>(lines, "imaginary part", take_word(line)));
  } else {
    return real;
  }
}

/// Checks position and value of a non-general matrix's entry.
template <class T>
void check_symmetry(const line_reader& lines, symmetry symmetric, const entry<T>& e) {
  if (symmetric == symmetry::general || e.row > e.column) return;
  const auto kind = name(symmetric);
  if (e.row < e.column) {
    lines.fail("the entry in row ", e.row + 1, " and column ", e.column + 1,
               " is above the diagonal of a ", kind, " matrix, whose lower half says all");
  }
  if (symmetric == symmetry::skew_symmetric) {
    lines.fail("row ", e.row + 1, " has an entry on the diagonal, where a ", kind,
               " matrix is zero");
  }
  if constexpr (is_complex_v<T>) {
    if (symmetric == symmetry::hermitian && e.value.imag() != 0) {
      lines.fail("row ", e.row + 1, " has an imaginary part on the diagonal, where a ", kind,
                 " matrix is real");
    }
  }
}

template <class T>
entry<T> parse_entry(const line_reader& lines, const header& h, std::string_view line) {
  const std::size_t row = parse_index(lines, "row", take_word(line));
  if (row - 1 >= h.rows) {
    lines.fail("row ", row, " of a matrix with ", h.rows, h.rows == 1 ? " row" : " rows");
  }
  const std::size_t column = parse_index(lines, "column", take_word(line));
  if (column - 1 >= h.columns) {
    lines.fail("column ", column, " of a matrix with ", h.columns,
               h.columns == 1 ? " column" : " columns");
  }
  const T value = parse_value<T>(lines, h.entries_are, line);
  expect_end(lines, line, "entry");
  const entry<T> e{row - 1, column - 1, value};
  check_symmetry(lines, h.symmetric, e);
  return e;
}

/// Returns the mirror image across the diagonal.
template <class T>
entry<T> mirrored(const entry<T>& e, symmetry symmetric) {
  if (symmetric == symmetry::skew_symmetric) return {e.column, e.row, -e.value};
  if constexpr (is_complex_v<T>) {
    if (symmetric == symmetry::hermitian) return {e.column, e.row, std::conj(e.value)};
  }
  return {e.column, e.row, e.value};
}

/// Calls f for an entry and, if not general, its mirror image.
template <class T, class F>
void for_both_halves(const entry<T>& e, symmetry symmetric, const F& f) {
  f(e);
  if (symmetric != symmetry::general && e.row != e.column) f(mirrored(e, symmetric));
}

/// Blocks, which never move. Rows are as wide as offsets: 16 bytes per entry of double with 32-bit
/// offsets.
template <class Value, class Offset, class Column>
class stored_entries {
 public:
  using row_type = std::make_unsigned_t<Offset>;

  explicit stored_entries(symmetry symmetric) : symmetric_(symmetric) {}

  void add(const entry<Value>& e) {
    if (blocks_.empty() || blocks_.back().size() == block_size) {
      blocks_.emplace_back();
      if (blocks_.size() > 1) blocks_.back().reserve(block_size);  // small files need less
    }
    blocks_.back().push_back(
        {static_cast<row_type>(e.row), static_cast<Column>(e.column), e.value});
  }

  /// Calls f for all entries in file order, with mirror images.
  template <class F>
  void for_each(const F& f) const {
    for (const auto& block : blocks_) {
      for (const stored& s : block) {
        for_both_halves(entry<Value>{static_cast<std::size_t>(s.row),
                                     static_cast<std::size_t>(s.column), s.value},
                        symmetric_, f);
      }
    }
  }
  void clear() { blocks_ = {}; }

 private:
  struct stored {
    row_type row;
    Column column;
    Value value;
  };
  static constexpr std::size_t block_size = std::size_t{1} << 16;
  symmetry symmetric_;
  std::vector<std::vector<stored>> blocks_;
};

/// Entries of a list, which is kept.
template <class Value>
struct listed_entries {
  std::span<const matrix_entry<Value>> list;

  template <class F>
  void for_each(const F& f) const {
    for (const matrix_entry<Value>& e : list) {
      f(entry<Value>{static_cast<std::size_t>(e.row), static_cast<std::size_t>(e.column), e.value});
    }
  }
  void clear() {}
};

void check_entries(const line_reader& lines, std::size_t entries, std::size_t limit,
                   std::string_view of) {
  if (entries <= limit) return;
  lines.fail(entries, " entries are more than the ", limit, " of ", of);
}
void check_entries(const line_reader& lines, std::size_t entries) {
  check_entries(lines, entries, lines.limits().max_entries, "matrix_market_options::max_entries");
}

/// Calls f(line) for exactly the announced entries.
template <class F>
void for_each_entry(line_reader& lines, const header& h, const F& f) {
  std::string_view line;
  for (std::size_t i = 0; i < h.entries; ++i) {
    if (!lines.next_with_data(line)) {
      lines.fail("the file ends after ", i, " of ", h.entries,
                 h.entries == 1 ? " entry" : " entries");
    }
    f(line);
  }
  if (lines.next_with_data(line)) {
    lines.fail("more than the ", h.entries, h.entries == 1 ? " entry" : " entries", " that line ",
               h.size_line, " announces");
  }
}

// --- Rows -----------------------------------------------------------------------------------------

/// Stable; with original indices.
template <class Column>
std::vector<std::pair<Column, std::size_t>> sorted(const Column* columns, std::size_t n) {
  std::vector<std::pair<Column, std::size_t>> row(n);
  for (std::size_t i = 0; i < n; ++i) row[i] = {columns[i], i};
  std::sort(row.begin(), row.end());
  return row;
}

/// Stable, by column.
template <class Value, class Column>
void sort_row(Column* columns, Value* values, std::size_t n) {
  if (std::is_sorted(columns, columns + n)) return;
  const auto row = sorted(columns, n);
  const std::vector<Value> unsorted(values, values + n);
  for (std::size_t i = 0; i < n; ++i) {
    columns[i] = row[i].first;
    values[i] = unsorted[row[i].second];
  }
}

/// `count` includes mirror images.
template <class Value, class Offset, class Column, class Entries>
void sorted_by_row(std::size_t height, Entries entries, std::size_t count,
                   const csr_arrays<Value, Offset, Column>& to) {
  to.row_offsets.resize(0);
  Offset* const offsets = to.row_offsets.resize(height + 1);
  entries.for_each([&](const entry<Value>& e) { ++offsets[e.row + 1]; });
  std::partial_sum(offsets, offsets + height + 1, offsets);
  Column* const columns = to.column_indices.resize(count);
  Value* const values = to.values.resize(count);
  entries.for_each([&](const entry<Value>& e) {
    const auto at = static_cast<std::size_t>(offsets[e.row]++);  // finally the row's end
    columns[at] = static_cast<Column>(e.column);
    values[at] = e.value;
  });
  entries.clear();

  std::size_t first = 0, kept = 0;
  for (std::size_t row = 0; row < height; ++row) {
    const auto last = static_cast<std::size_t>(offsets[row]);
    const std::size_t begin = kept;
    offsets[row] = static_cast<Offset>(begin);
    sort_row(columns + first, values + first, last - first);
    for (; first < last; ++first) {
      if (kept > begin && columns[kept - 1] == columns[first]) {
        values[kept - 1] += values[first];
      } else {
        columns[kept] = columns[first];
        values[kept++] = values[first];
      }
    }
  }
  offsets[height] = static_cast<Offset>(kept);
  to.column_indices.resize(kept);
  to.values.resize(kept);
}

/// Appends to a caller's vector.
template <class T>
class grown {
 public:
  explicit grown(vector_reference<T> to) : to_(to) {}

  void add(const T& element) {
    if (size_ == room_) {
      room_ = std::max<std::size_t>(64, 2 * room_);
      data_ = to_.resize(room_);
    }
    data_[size_++] = element;
  }
  std::size_t size() const { return size_; }
  /// Called after the last element.
  void end() const { to_.resize(size_); }

 private:
  vector_reference<T> to_;
  T* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

// --- Whole files ----------------------------------------------------------------------------------

void check_options(std::string_view function, const options& o) {
  constexpr std::size_t longest = std::size_t{1} << 30;
  if (o.max_line == 0 || o.max_line > longest) {
    check(function).fail(errc::invalid_argument, "max_line is ", o.max_line, "; it can be 1 to ",
                         longest);
  }
  if (o.max_ratio == 0) check(function).fail(errc::invalid_argument, "max_ratio is 0");
}

void with_lines(std::istream& stream, const source& from, const options& o,
                const std::function<void(line_reader&, const byte_source&)>& f) {
  check_options(from.function, o);
  const backends::default_environment environment;
  const auto bytes = bytes_of(stream, from, o);
  line_reader lines(*bytes, from, o);
  f(lines, *bytes);
}

template <class Value>
void check_field(const source& from, const header& h) {
  if (h.entries_are == field::complex && !is_complex_v<Value>) {
    check(from.function)
        .fail(errc::unsupported_type, from.file, ": complex entries can't be read as ",
              tally::name(type_of<Value>));
  }
}

constexpr std::string_view of_matrix = "tally::read_matrix_market";

}  // namespace

std::unique_ptr<std::istream> opened(const std::string& path, std::string_view function) {
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*stream) {
    source{function, path}.fail("can't be opened: ", std::generic_category().message(errno));
  }
  return stream;
}

template <class Value, class Offset, class Column>
matrix_market_sizes reader<Value, Offset, Column>::read(
    std::istream& stream, std::string_view file, const options& o,
    const csr_arrays<Value, Offset, Column>& to) {
  const source from{of_matrix, file};
  matrix_market_sizes sizes;
  with_lines(stream, from, o, [&](line_reader& lines, const byte_source&) {
    const header h = read_header(lines, format::coordinate);
    check_field<Value>(from, h);
    constexpr auto max_columns =
        std::min(max_elements, static_cast<std::size_t>(std::numeric_limits<Column>::max()));
    if (h.columns > max_columns) {
      lines.fail(h.columns, " columns are more than the ", max_columns, " of ",
                 tally::name(type_of<Column>), " column indices");
    }
    const std::string of_offsets = std::string(tally::name(type_of<Offset>)) + " row offsets";
    const auto check_count = [&](std::size_t n) {
      constexpr auto max_offset = static_cast<std::size_t>(std::numeric_limits<Offset>::max());
      check_entries(lines, n, max_offset, of_offsets);
      check_entries(lines, n);
    };
    check_count(h.entries);

    stored_entries<Value, Offset, Column> entries(h.symmetric);
    std::size_t count = 0;
    for_each_entry(lines, h, [&](std::string_view line) {
      const auto e = parse_entry<Value>(lines, h, line);
      count += h.symmetric != symmetry::general && e.row != e.column ? 2 : 1;
      check_count(count);
      entries.add(e);
    });
    using row_type = typename stored_entries<Value, Offset, Column>::row_type;
    if (const std::size_t limit = max_rows(count, o); h.rows > limit) {
      from.fail(h.rows, " rows are more than the ", limit, " read of a matrix with ", count,
                count == 1 ? " entry" : " entries", " (matrix_market_options::max_empty_rows)");
    }
    constexpr auto max_rows_here =
        std::min<std::size_t>(max_elements, std::numeric_limits<row_type>::max());
    if (h.rows > max_rows_here) {
      from.fail(h.rows, " rows are more than the ", max_rows_here, " of ", of_offsets);
    }
    sorted_by_row(h.rows, std::move(entries), count, to);
    sizes = {h.rows, h.columns, h.entries};
  });
  return sizes;
}

// --- Parts of files -------------------------------------------------------------------------------

namespace {

/// Checks that `readers` processes can read the matrix as `Value`: one has at least the average
/// number of entries.
template <class Value>
header read_head(line_reader& lines, const source& from, std::size_t readers) {
  const header h = read_header(lines, format::coordinate);
  check_field<Value>(from, h);
  check_entries(lines, h.entries / readers + (h.entries % readers != 0));
  if (std::max(h.rows, h.columns) > max_elements) {
    lines.fail(h.rows, " x ", h.columns, " are more than the ", max_elements,
               " rows or columns that are read");
  }
  return h;
}

template <class Value>
std::size_t read_entries(line_reader& lines, const header& h, grown<matrix_entry<Value>>& entries) {
  std::size_t count = 0;
  std::string_view line;
  while (lines.next_with_data(line)) {
    ++count;
    for_both_halves(parse_entry<Value>(lines, h, line), h.symmetric, [&](const entry<Value>& e) {
      entries.add({static_cast<std::int64_t>(e.row), static_cast<std::int64_t>(e.column), e.value});
    });
    check_entries(lines, entries.size());
  }
  return count;
}

/// Rejects pipes: a second reader would wait for another writer, or take the first reader's bytes.
void check_regular(const source& from, const std::string& path) {
  std::error_code ignored;
  const auto what = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(what) && !std::filesystem::is_regular_file(what)) {
    from.fail("it can't be read in parts: it is no regular file");
  }
}

std::size_t newlines_before(std::uint64_t place, const std::string& path) {
  const auto file = opened(path, of_matrix);
  std::istream& stream = *file;
  std::vector<char> block(std::size_t{1} << 16);
  std::size_t lines = 0;
  while (place > 0) {
    stream.read(block.data(),
                static_cast<std::streamsize>(std::min<std::uint64_t>(place, block.size())));
    const std::streamsize count = stream.gcount();
    if (count == 0) break;
    lines += static_cast<std::size_t>(std::count(block.data(), block.data() + count, '\n'));
    place -= static_cast<std::uint64_t>(count);
  }
  return lines;
}

}  // namespace

template <class Value>
matrix_market_sizes part_reader<Value>::read(const std::string& path, std::size_t part,
                                             std::size_t parts, const options& o,
                                             vector_reference<matrix_entry<Value>> to,
                                             std::size_t& lines_read) {
  if (part >= parts) {
    check(of_matrix).fail(errc::invalid_argument, "part ", part, " of ", parts);
  }
  const source from{of_matrix, path};
  check_regular(from, path);
  matrix_market_sizes sizes;
  grown<matrix_entry<Value>> entries(to);
  const auto file = opened(path, of_matrix);
  std::istream& stream = *file;
  with_lines(stream, from, o, [&](line_reader& head, const byte_source& bytes) {
    const header h = read_head<Value>(head, from, bytes.are_plain() ? parts : 1);
    sizes = {h.rows, h.columns, h.entries};
    if (!bytes.are_plain()) {
      if (part == 0) lines_read = read_entries(head, h, entries);
      return;
    }
    // A line belongs to the part in which it begins.
    stream.clear();
    stream.seekg(0, std::ios::end);
    const auto end = static_cast<std::int64_t>(stream.tellg());
    const auto body = static_cast<std::uint64_t>(head.position());
    if (end < 0 || static_cast<std::uint64_t>(end) < body) {
      from.fail("it can't be read in parts: no place in it can be found");
    }
    if (static_cast<std::uint64_t>(end) > o.max_bytes) from.fail_too_many_bytes(o);
    const std::uint64_t size = static_cast<std::uint64_t>(end) - body;
    const auto border = [&](std::size_t p) {
      return body + size / parts * p + std::min<std::uint64_t>(p, size % parts);
    };
    const std::uint64_t skipped =
        part == 0 ? 0 : 1;  // to see the newline that ends the previous line
    const std::uint64_t first = border(part) - skipped;
    stream.seekg(static_cast<std::streamoff>(first));
    const auto own = plain_bytes_of(stream, from);
    line_reader lines(*own, from, o);
    lines.follow([&] { return newlines_before(first, path); });
    lines.stop_at(border(part + 1) - first);
    std::string_view line;
    if (part > 0) lines.next(line);
    lines_read = read_entries(lines, h, entries);
  });
  entries.end();
  return sizes;
}

void check_number_of_entries(const std::string& path, const options& limits) {
  options o = limits;
  o.max_skipped = std::numeric_limits<std::size_t>::max();  // limits a part
  const source from{of_matrix, path};
  const auto file = opened(path, of_matrix);
  std::istream& stream = *file;
  with_lines(stream, from, o, [&](line_reader& lines, const byte_source&) {
    for_each_entry(lines, read_header(lines, format::coordinate), [](std::string_view) {});
  });
}

template <class Value>
void part_reader<Value>::rows_of(std::size_t rows, std::size_t columns,
                                 std::span<const matrix_entry<Value>> entries,
                                 const csr_arrays<Value, std::int64_t, std::int64_t>& to) {
  const check check{"tally::rows_of_entries"};
  if (std::max(rows, columns) > max_elements) {
    check.fail(errc::invalid_argument, "a matrix of ", rows, " x ", columns, " is too large");
  }
  for (const matrix_entry<Value>& e : entries) {
    const auto row = static_cast<std::size_t>(e.row), column = static_cast<std::size_t>(e.column);
    if (row < rows && column < columns) continue;
    check.fail(errc::invalid_argument, "an entry in row ", e.row, " and column ", e.column,
               " of a matrix of ", rows, " x ", columns);
  }
  const backends::default_environment environment;
  sorted_by_row(rows, listed_entries<Value>{entries}, entries.size(), to);
}

template <class Value>
matrix_market_sizes array_reader<Value>::read(std::istream& stream, std::string_view file,
                                              const options& o, bool is_vector,
                                              vector_reference<Value> to) {
  const source from{
      is_vector ? "tally::read_matrix_market_vector" : "tally::read_matrix_market_array", file};
  matrix_market_sizes sizes;
  grown<Value> values(to);
  with_lines(stream, from, o, [&](line_reader& lines, const byte_source&) {
    const header h = read_header(lines, format::array);
    check_field<Value>(from, h);
    check_entries(lines, h.entries);
    if (is_vector && h.columns != 1) {
      lines.fail("a matrix of ", h.columns, " columns is no vector");
    }
    sizes = {h.rows, h.columns, h.entries};
    for_each_entry(lines, h, [&](std::string_view line) {
      values.add(parse_value<Value>(lines, h.entries_are, line));
      expect_end(lines, line, "value");
    });
  });
  values.end();
  return sizes;
}

template struct part_reader<float>;
template struct part_reader<double>;
template struct part_reader<std::complex<float>>;
template struct part_reader<std::complex<double>>;

template struct array_reader<float>;
template struct array_reader<double>;
template struct array_reader<std::complex<float>>;
template struct array_reader<std::complex<double>>;

template struct reader<float, std::int32_t, std::int32_t>;
template struct reader<float, std::int32_t, std::int64_t>;
template struct reader<float, std::int64_t, std::int32_t>;
template struct reader<float, std::int64_t, std::int64_t>;
template struct reader<double, std::int32_t, std::int32_t>;
template struct reader<double, std::int32_t, std::int64_t>;
template struct reader<double, std::int64_t, std::int32_t>;
template struct reader<double, std::int64_t, std::int64_t>;
template struct reader<std::complex<float>, std::int32_t, std::int32_t>;
template struct reader<std::complex<float>, std::int32_t, std::int64_t>;
template struct reader<std::complex<float>, std::int64_t, std::int32_t>;
template struct reader<std::complex<float>, std::int64_t, std::int64_t>;
template struct reader<std::complex<double>, std::int32_t, std::int32_t>;
template struct reader<std::complex<double>, std::int32_t, std::int64_t>;
template struct reader<std::complex<double>, std::int64_t, std::int32_t>;
template struct reader<std::complex<double>, std::int64_t, std::int64_t>;

}  // namespace tally::matrix_market

namespace tally {

matrix_market_sizes read_matrix_market_sizes(const std::string& path,
                                             const matrix_market_options& o) {
  using namespace matrix_market;
  const source from{of_matrix, path};
  matrix_market_sizes sizes;
  const auto file = opened(path, of_matrix);
  std::istream& stream = *file;
  with_lines(stream, from, o, [&](line_reader& lines, const byte_source&) {
    const header h = read_header(lines, format::coordinate);
    sizes = {h.rows, h.columns, h.entries};
  });
  return sizes;
}

}  // namespace tally
