#include "src/sparse/matrix_market/header.hpp"

#include <charconv>
#include <system_error>

namespace tally::matrix_market {
namespace {

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
}  // namespace

std::string_view name(symmetry value) { return name(value, symmetries); }

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
}  // namespace tally::matrix_market
