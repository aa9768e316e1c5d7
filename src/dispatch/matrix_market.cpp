#include <tally/error.hpp>
#include <tally/matrix_market.hpp>

#include "src/core/floating_point_environment.hpp"
#include "src/dispatch/check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#if TALLY_HAS_ZLIB
#include <zlib.h>
#endif

namespace tally::matrix_market {
namespace {

using options = matrix_market_options;

/// Rows that a matrix of so many entries may have: what its row offsets take stays in proportion.
constexpr std::size_t most_rows(std::size_t entries) {
  return (std::size_t{1} << 20) + 64 * entries;
}

/// What is read, by which function.
struct source {
  std::string_view function, file;

  /// Throws; the parts make the text.
  template <class... Part>
  [[noreturn, gnu::cold]] void fail(const Part&... parts) const {
    check(function).fail(errc::unreadable_file, file, ": ", parts...);
  }
};

/// A word of the file as a message may show it: not too long, and printable.
std::string shown(std::string_view word) {
  constexpr std::size_t most = 40;
  std::string text(word.substr(0, most));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return word.size() > most ? text + "..." : text;
}

std::string quoted(std::string_view word) { return '"' + shown(word) + '"'; }

// --- Bytes ----------------------------------------------------------------------------------------

class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Up to `size` bytes; none at the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

/// The bytes of a stream as they are.
class stream_bytes : public byte_source {
 public:
  stream_bytes(std::istream& stream, const source& from) : stream_(stream.rdbuf()), from_(from) {}

  bool are_gzip() { return stream_.peek() == 0x1f; }

  std::size_t read(char* to, std::size_t size) override {
    stream_.read(to, static_cast<std::streamsize>(size));
    if (stream_.bad()) from_.fail("reading failed");
    return static_cast<std::size_t>(stream_.gcount());
  }

 private:
  std::istream stream_;  // over the caller's buffer, without the exceptions that it may ask for
  source from_;
};

#if TALLY_HAS_ZLIB
/// The bytes that gzip compressed; members that follow each other are read as one, and zeros behind
/// the last one, with which blocks are filled up, are left out.
class gzip_bytes : public byte_source {
 public:
  gzip_bytes(byte_source& compressed, const source& from, std::size_t max_ratio)
      : compressed_(compressed), from_(from), max_ratio_(max_ratio) {
    constexpr int gzip_alone = 16 + MAX_WBITS;
    if (inflateInit2(&zlib_, gzip_alone) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_bytes() override { inflateEnd(&zlib_); }
  gzip_bytes(const gzip_bytes&) = delete;
  gzip_bytes& operator=(const gzip_bytes&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(size);
    while (zlib_.avail_out == size) {
      if (zlib_.avail_in == 0) {
        zlib_.next_in = reinterpret_cast<Bytef*>(block_.data());
        zlib_.avail_in = static_cast<uInt>(compressed_.read(block_.data(), block_.size()));
        bytes_in_ += zlib_.avail_in;
        if (zlib_.avail_in == 0 && between_members_) break;
        if (zlib_.avail_in == 0) from_.fail("the gzip data end early");
      }
      if (between_members_) skip_padding();
      if (zlib_.avail_in == 0) continue;
      const int status = inflate(&zlib_, Z_NO_FLUSH);
      between_members_ = status == Z_STREAM_END;
      if (between_members_) {
        inflateReset(&zlib_);
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK) {
        from_.fail("the gzip data are damaged: ", zlib_.msg != nullptr ? zlib_.msg : "no reason");
      }
    }
    const std::size_t count = size - zlib_.avail_out;
    check_ratio(count);
    return count;
  }

 private:
  void skip_padding() {
    for (; zlib_.avail_in > 0 && *zlib_.next_in == 0; ++zlib_.next_in, --zlib_.avail_in) {
      is_padded_ = true;
    }
    if (is_padded_ && zlib_.avail_in > 0) {
      from_.fail("the gzip data are damaged: something stands after their padding");
    }
  }

  /// Past the first bytes, so that small files may be as regular as they like.
  void check_ratio(std::size_t count) {
    bytes_out_ += count;
    constexpr std::uint64_t free = std::uint64_t{64} << 20;
    if (bytes_out_ <= free || bytes_out_ / max_ratio_ < bytes_in_) return;
    from_.fail("the gzip data become more than ", max_ratio_,
               " times as many bytes (matrix_market_options::max_ratio)");
  }

  byte_source& compressed_;
  source from_;
  std::size_t max_ratio_;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
  z_stream zlib_{};
  bool between_members_ = false, is_padded_ = false;
  std::array<char, 32768> block_;
};
#endif

std::unique_ptr<byte_source> decompressed([[maybe_unused]] byte_source& gzip, const source& from,
                                          [[maybe_unused]] std::size_t max_ratio) {
#if TALLY_HAS_ZLIB
  return std::make_unique<gzip_bytes>(gzip, from, max_ratio);
#else
  from.fail("it is compressed by gzip, and this Tally was built without zlib");
#endif
}

// --- Lines and words ------------------------------------------------------------------------------

class line_reader {
 public:
  line_reader(byte_source& bytes, const source& from, const options& limits)
      : bytes_(bytes), from_(from), limits_(limits), buffer_(limits.max_line + 2) {}  // CR and LF

  /// The next line, without its end; valid until the next call. False after the last one.
  bool next(std::string_view& line) {
    const char* const newline = find_newline();
    if (newline == nullptr && begin_ == end_) return false;
    const char* const first = buffer_.data() + begin_;
    const char* const last = newline != nullptr ? newline : buffer_.data() + end_;
    begin_ += static_cast<std::size_t>(last - first) + (newline != nullptr ? 1 : 0);
    ++number_;
    line = {first, static_cast<std::size_t>(last - first)};
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > limits_.max_line) fail_too_long();
    return true;
  }

  /// The next line that is neither blank nor a comment.
  bool next_with_data(std::string_view& line) {
    while (next(line)) {
      const std::size_t start = line.find_first_not_of(" \t");
      if (start != line.npos && line[start] != '%') return true;
      skipped_ += line.size() + 1;
      if (skipped_ > limits_.max_skipped) {
        fail("comments and blank lines have more than ", limits_.max_skipped,
             " bytes (matrix_market_options::max_skipped)");
      }
    }
    return false;
  }

  /// The number of the line that was read last, from 1.
  std::size_t number() const { return number_; }

  const options& limits() const { return limits_; }

  /// Throws with that number.
  template <class... Part>
  [[noreturn, gnu::cold]] void fail(const Part&... parts) const {
    const std::string line = std::to_string(std::max<std::size_t>(number_, 1));
    check(from_.function).fail(errc::unreadable_file, from_.file, ":", line, ": ", parts...);
  }

 private:
  const char* find_newline() {
    std::size_t searched = begin_;
    while (true) {
      const void* const newline = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
      if (newline != nullptr) return static_cast<const char*>(newline);
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
      searched = end_;
      if (end_ == buffer_.size()) {
        ++number_;
        fail_too_long();
      }
      const std::size_t count = bytes_.read(buffer_.data() + end_, buffer_.size() - end_);
      if (count == 0) return nullptr;
      end_ += count;
      bytes_read_ += count;
      if (bytes_read_ > limits_.max_bytes) {
        from_.fail("it has more than ", limits_.max_bytes,
                   " bytes (matrix_market_options::max_bytes)");
      }
    }
  }

  [[noreturn]] void fail_too_long() const {
    fail("the line is longer than ", limits_.max_line, " characters");
  }

  byte_source& bytes_;
  source from_;
  options limits_;
  std::vector<char> buffer_;  // what is read and not yet used is [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::size_t skipped_ = 0;
};

/// Takes the first word off a line; an empty one where there is none.
std::string_view take_word(std::string_view& line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
  const auto last = std::find_if(first, line.end(), is_blank);
  const std::string_view word(first, last);
  line = {last, line.end()};
  return word;
}

// --- The header -----------------------------------------------------------------------------------

enum class format { coordinate, array };
enum class field { real, integer, unsigned_integer, pattern, complex };
enum class symmetry { general, symmetric, skew_symmetric, hermitian };

template <class Value>
struct keyword {
  std::string_view word;
  Value value;
};

constexpr keyword<field> fields[] = {
    {"real", field::real},       {"double", field::real},
    {"integer", field::integer}, {"unsigned-integer", field::unsigned_integer},
    {"pattern", field::pattern}, {"complex", field::complex}};
constexpr keyword<symmetry> symmetries[] = {{"general", symmetry::general},
                                            {"symmetric", symmetry::symmetric},
                                            {"skew-symmetric", symmetry::skew_symmetric},
                                            {"hermitian", symmetry::hermitian}};

struct header {
  field entries_are = field::real;
  symmetry symmetric = symmetry::general;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t entries = 0;
  std::size_t size_line = 0;
};

template <class Value, std::size_t N>
std::string_view name(Value value, const keyword<Value> (&keywords)[N]) {
  return std::find_if(keywords, keywords + N, [&](const auto& k) { return k.value == value; })
      ->word;
}

bool equal_in_any_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

template <class Value, std::size_t N>
Value parse_keyword(const line_reader& lines, const char* what, std::string_view word,
                    const keyword<Value> (&keywords)[N]) {
  std::string all;
  for (const keyword<Value>& k : keywords) {
    if (equal_in_any_case(word, k.word)) return k.value;
    all += (all.empty() ? "" : ", ") + std::string(k.word);
  }
  lines.fail("the ", what, " is ", quoted(word), "; there are ", all);
}

/// Numbers may begin with a plus, which std::from_chars does not take.
std::string_view without_plus(std::string_view word) {
  const bool signed_once = word.size() > 1 && word[0] == '+' && word[1] != '-';
  return word.substr(signed_once ? 1 : 0);
}

std::size_t parse_index(const line_reader& lines, const char* what, std::string_view word) {
  if (word.empty()) lines.fail("the line ends before its ", what);
  const std::string_view digits = without_plus(word);
  const char* const last = digits.data() + digits.size();
  std::size_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), last, value);
  if (end != last || status == std::errc::invalid_argument) {
    lines.fail(quoted(word), " is not a ", what);
  }
  if (status != std::errc{}) lines.fail(shown(word), " is too large for a ", what);
  return value;
}

void expect_end(const line_reader& lines, std::string_view line, const char* what) {
  const std::string_view word = take_word(line);
  if (!word.empty()) lines.fail(quoted(word), " stands after the ", what);
}

header read_header(line_reader& lines, format expected) {
  header h;
  std::string_view line;
  if (!lines.next(line)) lines.fail("the file is empty; it should begin with %%MatrixMarket");
  const std::string_view banner = take_word(line);
  if (!equal_in_any_case(banner, "%%MatrixMarket")) {
    lines.fail(quoted(banner), " stands where %%MatrixMarket should");
  }
  const std::string_view object = take_word(line);
  if (!equal_in_any_case(object, "matrix")) {
    lines.fail("the object is ", quoted(object), "; only a matrix is read");
  }
  const bool is_array = expected == format::array;
  const std::string_view kind = take_word(line);
  if (!equal_in_any_case(kind, is_array ? "array" : "coordinate")) {
    const bool other = equal_in_any_case(kind, is_array ? "coordinate" : "array");
    lines.fail("the format is ", quoted(kind), "; only ", is_array ? "array" : "coordinate",
               " is read",
               !other     ? ""
               : is_array ? ", not sparse matrices: read_matrix_market reads those"
                          : ", not dense matrices: read_matrix_market_array reads those");
  }
  h.entries_are = parse_keyword(lines, "field", take_word(line), fields);
  h.symmetric = parse_keyword(lines, "symmetry", take_word(line), symmetries);
  expect_end(lines, line, "symmetry");
  const bool fits =
      h.symmetric == symmetry::hermitian ? h.entries_are == field::complex
      : h.symmetric == symmetry::skew_symmetric
          ? h.entries_are != field::pattern && h.entries_are != field::unsigned_integer
          : true;
  if (!fits) {
    lines.fail("a matrix can't be ", name(h.entries_are, fields), " and ",
               name(h.symmetric, symmetries));
  }
  if (is_array && h.entries_are == field::pattern) lines.fail("an array can't be a pattern");
  if (is_array && h.symmetric != symmetry::general) {
    lines.fail("the symmetry is ", name(h.symmetric, symmetries), "; only general arrays are read");
  }

  if (!lines.next_with_data(line)) lines.fail("the file ends before its sizes");
  h.size_line = lines.number();
  h.rows = parse_index(lines, "number of rows", take_word(line));
  h.columns = parse_index(lines, "number of columns", take_word(line));
  if (is_array) {
    expect_end(lines, line, "number of columns");
    if (__builtin_mul_overflow(h.rows, h.columns, &h.entries)) {
      lines.fail(h.rows, " rows and ", h.columns, " columns are too many");
    }
  } else {
    h.entries = parse_index(lines, "number of entries", take_word(line));
    expect_end(lines, line, "number of entries");
  }
  if (h.symmetric != symmetry::general && h.rows != h.columns) {
    lines.fail("a matrix of ", h.rows, " rows and ", h.columns, " columns can't be ",
               name(h.symmetric, symmetries));
  }
  return h;
}

// --- Entries --------------------------------------------------------------------------------------

/// One entry, counted from 0.
template <class T>
struct entry {
  std::size_t row;
  std::size_t column;
  T value;
};

/// Whether a number that no type holds is too small rather than too large.
bool is_tiny(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, e);
  const auto point = static_cast<std::ptrdiff_t>(std::min(digits.find('.'), digits.size()));
  const auto leading = static_cast<std::ptrdiff_t>(digits.find_first_of("123456789"));
  if (e == number.size()) return point < leading;
  const std::string_view power = without_plus(number.substr(e + 1));
  std::int64_t exponent = 0;
  const auto parsed = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (parsed.ec != std::errc{}) return power.front() == '-';  // even that is out of range
  return exponent < leading - point;
}

/// Fortran's double precision writes 1.5D+02; std::from_chars takes an e. In `copy` where there is
/// something to replace.
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
  return {row - 1, column - 1, value};
}

/// An entry of a matrix that is not general stands where one may, and is what it may be there.
template <class T>
void check_symmetry(const line_reader& lines, symmetry symmetric, const entry<T>& e) {
  if (e.row > e.column) return;
  const auto kind = name(symmetric, symmetries);
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

/// What stands on the other side of the diagonal.
template <class T>
entry<T> mirrored(const entry<T>& e, symmetry symmetric) {
  if (symmetric == symmetry::skew_symmetric) return {e.column, e.row, -e.value};
  if constexpr (is_complex_v<T>) {
    if (symmetric == symmetry::hermitian) return {e.column, e.row, std::conj(e.value)};
  }
  return {e.column, e.row, e.value};
}

/// The entries that a file has, in blocks, which are not moved as they grow in number. Where row
/// offsets have 32 bits, so have rows: 16 bytes an entry with a double.
template <class Value, class Offset, class Column>
class stored_entries {
 public:
  using row_type = std::make_unsigned_t<Offset>;

  void add(const entry<Value>& e) {
    if (blocks_.empty() || blocks_.back().size() == block_size) {
      blocks_.emplace_back();
      if (blocks_.size() > 1) blocks_.back().reserve(block_size);  // small files need less
    }
    blocks_.back().push_back(
        {static_cast<row_type>(e.row), static_cast<Column>(e.column), e.value});
  }

  /// Calls f(entry) for all in the order of the file, for both halves of a symmetric matrix.
  template <class F>
  void for_each(symmetry symmetric, const F& f) const {
    for (const auto& block : blocks_) {
      for (const stored& s : block) {
        const entry<Value> e{static_cast<std::size_t>(s.row), static_cast<std::size_t>(s.column),
                             s.value};
        f(e);
        if (symmetric != symmetry::general && e.row != e.column) f(mirrored(e, symmetric));
      }
    }
  }

 private:
  struct stored {
    row_type row;
    Column column;
    Value value;
  };
  static constexpr std::size_t block_size = std::size_t{1} << 16;
  std::vector<std::vector<stored>> blocks_;
};

void check_entries(const line_reader& lines, std::size_t entries, std::size_t most,
                   std::string_view of) {
  if (entries <= most) return;
  lines.fail(entries, " entries are more than the ", most, " of ", of);
}
void check_entries(const line_reader& lines, std::size_t entries) {
  check_entries(lines, entries, lines.limits().max_entries, "matrix_market_options::max_entries");
}

/// Calls f(line) for the lines with the entries that the header announces, and for no others.
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

/// Returns columns, sorted, each with the place that it had; equal ones stay in their order.
template <class Column>
std::vector<std::pair<Column, std::size_t>> sorted(const Column* columns, std::size_t n) {
  std::vector<std::pair<Column, std::size_t>> row(n);
  for (std::size_t i = 0; i < n; ++i) row[i] = {columns[i], i};
  std::sort(row.begin(), row.end());
  return row;
}

/// Sorts a row by column, entries at the same place in their order.
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

/// The matrix of so many entries, both halves counted.
template <class Value, class Offset, class Column>
csr_matrix<Value, Offset, Column> sorted_by_row(const header& h,
                                                stored_entries<Value, Offset, Column> entries,
                                                std::size_t count) {
  csr_matrix<Value, Offset, Column> a;
  a.rows = h.rows;
  a.columns = h.columns;
  auto& offsets = a.row_offsets;
  auto& columns = a.column_indices;
  auto& values = a.values;
  offsets.assign(h.rows + 1, 0);
  entries.for_each(h.symmetric, [&](const entry<Value>& e) { ++offsets[e.row + 1]; });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  columns.resize(count);
  values.resize(count);
  entries.for_each(h.symmetric, [&](const entry<Value>& e) {
    const auto at = static_cast<std::size_t>(offsets[e.row]++);  // then where the row ends
    columns[at] = static_cast<Column>(e.column);
    values[at] = e.value;
  });
  entries = {};

  std::size_t first = 0, kept = 0;
  for (std::size_t row = 0; row < h.rows; ++row) {
    const auto last = static_cast<std::size_t>(offsets[row]);
    const std::size_t begin = kept;
    offsets[row] = static_cast<Offset>(begin);
    sort_row(columns.data() + first, values.data() + first, last - first);
    for (; first < last; ++first) {
      if (kept > begin && columns[kept - 1] == columns[first]) {
        values[kept - 1] += values[first];
      } else {
        columns[kept] = columns[first];
        values[kept++] = values[first];
      }
    }
  }
  offsets[h.rows] = static_cast<Offset>(kept);
  columns.resize(kept);
  values.resize(kept);
  return a;
}

// --- Whole files ----------------------------------------------------------------------------------

void check_options(std::string_view function, const options& o) {
  constexpr std::size_t longest = std::size_t{1} << 30;
  if (o.max_line == 0 || o.max_line > longest) {
    check(function).fail(errc::invalid_argument, "max_line is ", o.max_line, "; it can be 1 to ",
                         longest);
  }
  if (o.max_ratio == 0) check(function).fail(errc::invalid_argument, "max_ratio is 0");
}

/// Calls f(lines) for the lines of a stream.
void with_lines(std::istream& stream, const source& from, const options& o,
                const std::function<void(line_reader&)>& f) {
  check_options(from.function, o);
  const backends::default_environment environment;
  stream_bytes plain(stream, from);
  const auto gzip = plain.are_gzip() ? decompressed(plain, from, o.max_ratio) : nullptr;
  line_reader lines(gzip ? *gzip : plain, from, o);
  f(lines);
}

std::ifstream opened(const std::string& path, std::string_view function) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    source{function, path}.fail("can't be opened: ", std::generic_category().message(errno));
  }
  return stream;
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

std::string_view of_array(bool is_vector) {
  return is_vector ? "tally::read_matrix_market_vector" : "tally::read_matrix_market_array";
}

}  // namespace

template <class Value, class Offset, class Column>
csr_matrix<Value, Offset, Column> reader<Value, Offset, Column>::read(std::istream& stream,
                                                                      std::string_view file,
                                                                      const options& o) {
  const source from{of_matrix, file};
  csr_matrix<Value, Offset, Column> matrix;
  with_lines(stream, from, o, [&](line_reader& lines) {
    const header h = read_header(lines, format::coordinate);
    check_field<Value>(from, h);
    constexpr auto most_columns =
        std::min(most_elements, static_cast<std::size_t>(std::numeric_limits<Column>::max()));
    if (h.columns > most_columns) {
      lines.fail(h.columns, " columns are more than the ", most_columns, " of ",
                 tally::name(type_of<Column>), " column indices");
    }
    const std::string of_offsets = std::string(tally::name(type_of<Offset>)) + " row offsets";
    const auto check_count = [&](std::size_t n) {
      constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Offset>::max());
      check_entries(lines, n, most, of_offsets);
      check_entries(lines, n);
    };
    check_count(h.entries);

    stored_entries<Value, Offset, Column> entries;
    std::size_t count = 0;
    for_each_entry(lines, h, [&](std::string_view line) {
      const auto e = parse_entry<Value>(lines, h, line);
      if (h.symmetric != symmetry::general) check_symmetry(lines, h.symmetric, e);
      count += h.symmetric != symmetry::general && e.row != e.column ? 2 : 1;
      check_count(count);
      entries.add(e);
    });
    using row_type = typename stored_entries<Value, Offset, Column>::row_type;
    const auto most = std::min<std::size_t>(most_rows(count), std::numeric_limits<row_type>::max());
    if (h.rows > most) {
      from.fail(h.rows, " rows are more than the ", most, " read of a matrix with ", count,
                count == 1 ? " entry" : " entries");
    }
    matrix = sorted_by_row(h, std::move(entries), count);
  });
  return matrix;
}

template <class Value, class Offset, class Column>
csr_matrix<Value, Offset, Column> reader<Value, Offset, Column>::read(const std::string& path,
                                                                      const options& o) {
  auto stream = opened(path, of_matrix);
  return read(stream, path, o);
}

template <class Value>
dense_matrix<Value> array_reader<Value>::read(std::istream& stream, std::string_view file,
                                              const options& o, bool is_vector) {
  const source from{of_array(is_vector), file};
  dense_matrix<Value> a;
  with_lines(stream, from, o, [&](line_reader& lines) {
    const header h = read_header(lines, format::array);
    check_field<Value>(from, h);
    check_entries(lines, h.entries);
    if (is_vector && h.columns != 1) {
      lines.fail("a matrix of ", h.columns, " columns is no vector");
    }
    a = {h.rows, h.columns, {}};
    for_each_entry(lines, h, [&](std::string_view line) {
      a.values.push_back(parse_value<Value>(lines, h.entries_are, line));
      expect_end(lines, line, "value");
    });
  });
  return a;
}

template <class Value>
dense_matrix<Value> array_reader<Value>::read(const std::string& path, const options& o,
                                              bool is_vector) {
  auto stream = opened(path, of_array(is_vector));
  return read(stream, path, o, is_vector);
}

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
