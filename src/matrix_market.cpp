#include <tally/error.hpp>
#include <tally/matrix_market.hpp>

#include "backends/floating_point_environment.hpp"
#include "src/check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
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

constexpr std::string_view function = "tally::read_matrix_market";

constexpr std::size_t longest_line = 65536;

/// Rows that a matrix of so many entries may have: what its row offsets take stays in proportion.
constexpr std::size_t most_rows(std::size_t entries) {
  return (std::size_t{1} << 20) + 64 * entries;
}

/// Throws for a file; the parts make the text.
template <class... Part>
[[noreturn]] void fail(std::string_view file, const Part&... parts) {
  check(function).fail(errc::unreadable_file, file, ": ", parts...);
}

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
  stream_bytes(std::istream& stream, std::string_view file)
      : stream_(stream.rdbuf()), file_(file) {}

  bool are_gzip() { return stream_.peek() == 0x1f; }

  std::size_t read(char* to, std::size_t size) override {
    stream_.read(to, static_cast<std::streamsize>(size));
    if (stream_.bad()) fail(file_, "reading failed");
    return static_cast<std::size_t>(stream_.gcount());
  }

 private:
  std::istream stream_;  // over the caller's buffer, without the exceptions that it may ask for
  std::string_view file_;
};

#if TALLY_HAS_ZLIB
/// The bytes that gzip compressed; members that follow each other are read as one.
class gzip_bytes : public byte_source {
 public:
  gzip_bytes(byte_source& compressed, std::string_view file)
      : compressed_(compressed), file_(file) {
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
        if (zlib_.avail_in == 0 && between_members_) break;
        if (zlib_.avail_in == 0) fail(file_, "the gzip data end early");
      }
      const int status = inflate(&zlib_, Z_NO_FLUSH);
      between_members_ = status == Z_STREAM_END;
      if (between_members_) {
        inflateReset(&zlib_);
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK) {
        fail(file_, "the gzip data are damaged: ", zlib_.msg != nullptr ? zlib_.msg : "no reason");
      }
    }
    return size - zlib_.avail_out;
  }

 private:
  byte_source& compressed_;
  std::string_view file_;
  z_stream zlib_{};
  bool between_members_ = false;
  std::array<char, 32768> block_;
};
#endif

std::unique_ptr<byte_source> decompressed([[maybe_unused]] byte_source& gzip,
                                          std::string_view file) {
#if TALLY_HAS_ZLIB
  return std::make_unique<gzip_bytes>(gzip, file);
#else
  fail(file, "it is compressed by gzip, and this Tally was built without zlib");
#endif
}

// --- Lines and words ------------------------------------------------------------------------------

class line_reader {
 public:
  line_reader(byte_source& bytes, std::string_view file)
      : bytes_(bytes), file_(file), buffer_(longest_line + 2) {}  // CR and LF

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
    if (line.size() > longest_line) fail_too_long();
    return true;
  }

  /// The next line that is neither blank nor a comment.
  bool next_with_data(std::string_view& line) {
    while (next(line)) {
      const std::size_t start = line.find_first_not_of(" \t");
      if (start != line.npos && line[start] != '%') return true;
    }
    return false;
  }

  /// The number of the line that was read last, from 1.
  std::size_t number() const { return number_; }

  /// Throws with that number.
  template <class... Part>
  [[noreturn, gnu::cold]] void fail(const Part&... parts) const {
    matrix_market::fail(file_name_and_line(), parts...);
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
    }
  }

  [[noreturn]] void fail_too_long() const {
    fail("the line is longer than ", longest_line, " characters");
  }
  std::string file_name_and_line() const {
    return std::string(file_) + ':' + std::to_string(std::max<std::size_t>(number_, 1));
  }

  byte_source& bytes_;
  std::string_view file_;
  std::vector<char> buffer_;  // what is read and not yet used is [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t number_ = 0;
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

enum class field { real, integer, pattern, complex };
enum class symmetry { general, symmetric, skew_symmetric, hermitian };

template <class Value>
struct keyword {
  std::string_view word;
  Value value;
};

constexpr keyword<field> fields[] = {{"real", field::real},
                                     {"double", field::real},
                                     {"integer", field::integer},
                                     {"pattern", field::pattern},
                                     {"complex", field::complex}};
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

header read_header(line_reader& lines) {
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
  const std::string_view format = take_word(line);
  if (!equal_in_any_case(format, "coordinate")) {
    lines.fail("the format is ", quoted(format), "; only coordinate is read",
               equal_in_any_case(format, "array") ? ", not dense matrices" : "");
  }
  h.entries_are = parse_keyword(lines, "field", take_word(line), fields);
  h.symmetric = parse_keyword(lines, "symmetry", take_word(line), symmetries);
  expect_end(lines, line, "symmetry");
  const bool fits = h.symmetric == symmetry::hermitian        ? h.entries_are == field::complex
                    : h.symmetric == symmetry::skew_symmetric ? h.entries_are != field::pattern
                                                              : true;
  if (!fits) {
    lines.fail("a matrix can't be ", name(h.entries_are, fields), " and ",
               name(h.symmetric, symmetries));
  }

  if (!lines.next_with_data(line)) lines.fail("the file ends before its sizes");
  h.size_line = lines.number();
  h.rows = parse_index(lines, "number of rows", take_word(line));
  h.columns = parse_index(lines, "number of columns", take_word(line));
  h.entries = parse_index(lines, "number of entries", take_word(line));
  expect_end(lines, line, "number of entries");
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

template <class R>
R parse_real(const line_reader& lines, const char* what, std::string_view word) {
  if (word.empty()) lines.fail("the line ends before its ", what);
  const std::string_view number = without_plus(word);
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
  if (entries_are == field::integer) {
    const std::string_view digits = word.substr(word.find_first_not_of("+-") == 1 ? 1 : 0);
    if (!word.empty() && digits.find_first_not_of("0123456789") != digits.npos) {
      lines.fail(quoted(word), " is not an integer");
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

/// All entries in the order of the file, both halves of a symmetric matrix.
template <class T>
std::vector<entry<T>> read_entries(line_reader& lines, const header& h) {
  std::vector<entry<T>> entries;
  std::string_view line;
  for (std::size_t i = 0; i < h.entries; ++i) {
    if (!lines.next_with_data(line)) {
      lines.fail("the file ends after ", i, " of ", h.entries,
                 h.entries == 1 ? " entry" : " entries");
    }
    const auto e = parse_entry<T>(lines, h, line);
    entries.push_back(e);
    if (h.symmetric == symmetry::general) continue;
    check_symmetry(lines, h.symmetric, e);
    if (e.row != e.column) entries.push_back(mirrored(e, h.symmetric));
  }
  if (lines.next_with_data(line)) {
    lines.fail("more than the ", h.entries, h.entries == 1 ? " entry" : " entries", " that line ",
               h.size_line, " announces");
  }
  return entries;
}

// --- Rows -----------------------------------------------------------------------------------------

template <class Value, class Offset, class Column>
csr_matrix<Value, Offset, Column> sorted_by_row(std::size_t rows, std::size_t columns,
                                                std::vector<entry<Value>> entries) {
  csr_matrix<Value, Offset, Column> a;
  a.rows = rows;
  a.columns = columns;
  auto& offsets = a.row_offsets;
  offsets.assign(rows + 1, 0);
  for (const entry<Value>& e : entries) ++offsets[e.row + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

  struct element {
    Column column;
    Value value;
  };
  std::vector<element> elements(entries.size());
  for (const entry<Value>& e : entries) {
    elements[static_cast<std::size_t>(offsets[e.row]++)] = {static_cast<Column>(e.column), e.value};
  }
  entries = {};  // before there is a third copy

  a.column_indices.reserve(elements.size());
  a.values.reserve(elements.size());
  auto first = elements.begin();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto last = elements.begin() + offsets[row];  // where the row ends, by now
    const auto begin = a.values.size();
    offsets[row] = static_cast<Offset>(begin);
    if (!std::ranges::is_sorted(first, last, {}, &element::column)) {
      std::ranges::stable_sort(first, last, {}, &element::column);
    }
    for (; first != last; ++first) {
      if (a.values.size() > begin && a.column_indices.back() == first->column) {
        a.values.back() += first->value;
      } else {
        a.column_indices.push_back(first->column);
        a.values.push_back(first->value);
      }
    }
  }
  offsets[rows] = static_cast<Offset>(a.values.size());
  return a;
}

}  // namespace

template <class Value, class Offset, class Column>
csr_matrix<Value, Offset, Column> reader<Value, Offset, Column>::read(std::istream& stream,
                                                                      std::string_view file) {
  const backends::default_environment environment;
  stream_bytes plain(stream, file);
  const auto gzip = plain.are_gzip() ? decompressed(plain, file) : nullptr;
  line_reader lines(gzip ? *gzip : plain, file);

  const header h = read_header(lines);
  if (h.entries_are == field::complex && !is_complex_v<Value>) {
    check(function).fail(errc::unsupported_type, file, ": complex entries can't be read as ",
                         tally::name(type_of<Value>));
  }
  constexpr auto most_columns =
      std::min(most_elements, static_cast<std::size_t>(std::numeric_limits<Column>::max()));
  constexpr auto most_entries = static_cast<std::size_t>(std::numeric_limits<Offset>::max());
  if (h.columns > most_columns) {
    lines.fail(h.columns, " columns are more than the ", most_columns, " of ",
               tally::name(type_of<Column>), " column indices");
  }
  const auto check_entries = [&](std::size_t entries) {
    if (entries <= most_entries) return;
    lines.fail(entries, " entries are more than the ", most_entries, " of ",
               tally::name(type_of<Offset>), " row offsets");
  };
  check_entries(h.entries);
  auto entries = read_entries<Value>(lines, h);
  check_entries(entries.size());
  if (h.rows > most_rows(entries.size())) {
    fail(file, h.rows, " rows are more than the ", most_rows(entries.size()),
         " read of a matrix with ", entries.size(), entries.size() == 1 ? " entry" : " entries");
  }
  return sorted_by_row<Value, Offset, Column>(h.rows, h.columns, std::move(entries));
}

template <class Value, class Offset, class Column>
csr_matrix<Value, Offset, Column> reader<Value, Offset, Column>::read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "can't be opened: ", std::generic_category().message(errno));
  return read(stream, path);
}

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
