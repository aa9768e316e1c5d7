// Matrix Market files: every field and symmetry, spellings, errors.
#include <tally/tally.hpp>

#include "tests/data.hpp"
#include "tests/matrices.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <locale>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#if TALLY_HAS_ZLIB
#include <zlib.h>
#endif

namespace {

using data::expect_error;
using tally::errc;
using complex = std::complex<double>;

template <class Value = double, class Offset = std::int32_t, class Column = std::int32_t>
tally::csr_matrix<Value, Offset, Column> read(const std::string& text,
                                              const tally::matrix_market_options& options = {}) {
  std::istringstream stream(text);
  return tally::read_matrix_market<Value, Offset, Column>(stream, "a.mtx", options);
}

template <class Value = double>
tally::dense_matrix<Value> read_array(const std::string& text,
                                      const tally::matrix_market_options& options = {}) {
  std::istringstream stream(text);
  return tally::read_matrix_market_array<Value>(stream, "a.mtx", options);
}

std::string coordinate(const std::string& kind, const std::string& rest) {
  return "%%MatrixMarket matrix coordinate " + kind + "\n" + rest;
}

template <class Value, class Offset, class Column>
void expect_matrix(const tally::csr_matrix<Value, Offset, Column>& a, std::size_t rows,
                   std::size_t columns, const std::vector<Offset>& offsets,
                   const std::vector<Column>& indices, const std::vector<Value>& values) {
  EXPECT_EQ(a.rows, rows);
  EXPECT_EQ(a.columns, columns);
  EXPECT_EQ(a.row_offsets, offsets);
  EXPECT_EQ(a.column_indices, indices);
  EXPECT_EQ(a.values, values);
  tally::validate(tally::serial(), a.view());
}

void expect_failure(const std::string& text, const std::string& file,
                    const tally::matrix_market_options& options = {}) {
  expect_error(errc::unreadable_file, "tally::read_matrix_market: a.mtx:" + text,
               [&] { read(file, options); });
}

void expect_array_failure(const std::string& text, const std::string& file,
                          const tally::matrix_market_options& options = {}) {
  expect_error(errc::unreadable_file, "tally::read_matrix_market_array: a.mtx:" + text,
               [&] { read_array(file, options); });
}

class file {
 public:
  explicit file(const std::string& contents) { std::ofstream(path_, std::ios::binary) << contents; }
  ~file() { std::filesystem::remove(path_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("tally-" + std::to_string(std::random_device()()) + ".mtx");
};

// --- Fields and symmetries ------------------------------------------------------------------------

TEST(MatrixMarket, RealGeneral) {
  expect_matrix(read(coordinate("real general",
                                "3 4 4\n"
                                "1 1 1.5\n3 4 -2e-3\n2 1 7\n1 3 +.5\n")),
                3, 4, {0, 2, 3, 4}, {0, 2, 0, 3}, {1.5, 0.5, 7.0, -2e-3});
}

TEST(MatrixMarket, RealSymmetric) {
  expect_matrix(read(coordinate("real symmetric", "3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n")), 3, 3,
                {0, 2, 4, 6}, {0, 1, 0, 2, 1, 2}, {1.0, 2.0, 2.0, 3.0, 3.0, 4.0});
}

TEST(MatrixMarket, RealSkewSymmetric) {
  expect_matrix(read(coordinate("real skew-symmetric", "3 3 2\n2 1 2.5\n3 2 -3\n")), 3, 3,
                {0, 1, 3, 4}, {1, 0, 2, 1}, {-2.5, 2.5, 3.0, -3.0});
}

TEST(MatrixMarket, DoubleIsReal) {
  expect_matrix(read(coordinate("double general", "1 1 1\n1 1 2.5\n")), 1, 1, {0, 1}, {0}, {2.5});
}

TEST(MatrixMarket, IntegerGeneral) {
  // A value that is no double is rounded to the nearest.
  expect_matrix(read(coordinate("integer general",
                                "2 2 3\n1 2 -4\n2 1 +9007199254740993\n"
                                "2 2 123456789012345678901234567890\n")),
                2, 2, {0, 1, 3}, {1, 0, 1}, {-4.0, 9007199254740992.0, 1.2345678901234568e29});
}

TEST(MatrixMarket, IntegerSymmetric) {
  expect_matrix(read(coordinate("integer symmetric", "2 2 2\n2 1 -4\n2 2 5\n")), 2, 2, {0, 1, 3},
                {1, 0, 1}, {-4.0, -4.0, 5.0});
}

TEST(MatrixMarket, IntegerSkewSymmetric) {
  expect_matrix(read(coordinate("integer skew-symmetric", "2 2 1\n2 1 -4\n")), 2, 2, {0, 1, 2},
                {1, 0}, {4.0, -4.0});
}

TEST(MatrixMarket, UnsignedInteger) {
  expect_matrix(
      read(coordinate("unsigned-integer general", "2 1 2\n1 1 18446744073709551615\n2 1 +7\n")), 2,
      1, {0, 1, 2}, {0, 0}, {0x1p64, 7.0});
  expect_failure("3: \"-7\" is not an unsigned integer",
                 coordinate("unsigned-integer general", "1 1 1\n1 1 -7\n"));
  expect_failure("1: a matrix can't be unsigned-integer and skew-symmetric",
                 coordinate("unsigned-integer skew-symmetric", "2 2 1\n2 1 7\n"));
}

TEST(MatrixMarket, PatternGeneral) {
  expect_matrix(read(coordinate("pattern general", "2 3 3\n2 3\n1 2\n2 1\n")), 2, 3, {0, 1, 3},
                {1, 0, 2}, {1.0, 1.0, 1.0});
}

TEST(MatrixMarket, PatternSymmetric) {
  expect_matrix(read(coordinate("pattern symmetric", "2 2 2\n2 1\n2 2\n")), 2, 2, {0, 1, 3},
                {1, 0, 1}, {1.0, 1.0, 1.0});
}

TEST(MatrixMarket, ComplexGeneral) {
  expect_matrix(read<complex>(coordinate("complex general", "1 2 2\n1 2 1 -2\n1 1 .5 0\n")), 1, 2,
                {0, 2}, {0, 1}, {complex(0.5, 0), complex(1, -2)});
}

TEST(MatrixMarket, ComplexSymmetric) {
  expect_matrix(read<complex>(coordinate("complex symmetric", "2 2 2\n2 1 1 -2\n1 1 3 4\n")), 2, 2,
                {0, 2, 3}, {0, 1, 0}, {complex(3, 4), complex(1, -2), complex(1, -2)});
}

TEST(MatrixMarket, ComplexSkewSymmetric) {
  expect_matrix(read<complex>(coordinate("complex skew-symmetric", "2 2 1\n2 1 1 -2\n")), 2, 2,
                {0, 1, 2}, {1, 0}, {complex(-1, 2), complex(1, -2)});
}

TEST(MatrixMarket, ComplexHermitian) {
  expect_matrix(read<complex>(coordinate("complex hermitian", "2 2 2\n2 1 1 -2\n2 2 3 0\n")), 2, 2,
                {0, 1, 3}, {1, 0, 1}, {complex(1, 2), complex(1, -2), complex(3, 0)});
}

TEST(MatrixMarket, RealFilesAsComplex) {
  expect_matrix(read<complex>(coordinate("real skew-symmetric", "2 2 1\n2 1 2\n")), 2, 2, {0, 1, 2},
                {1, 0}, {complex(-2, -0.0), complex(2)});
  expect_matrix(read<complex>(coordinate("integer general", "1 1 1\n1 1 2\n")), 1, 1, {0, 1}, {0},
                {complex(2)});
  expect_matrix(read<complex>(coordinate("pattern general", "1 1 1\n1 1\n")), 1, 1, {0, 1}, {0},
                {complex(1)});
}

TEST(MatrixMarket, FieldsAndSymmetriesThatExcludeEachOther) {
  for (const std::string field : {"real", "integer", "pattern"}) {
    expect_failure("1: a matrix can't be " + field + " and hermitian",
                   coordinate(field + " hermitian", "1 1 0\n"));
  }
  expect_failure("1: a matrix can't be pattern and skew-symmetric",
                 coordinate("pattern skew-symmetric", "1 1 0\n"));
}

template <class T>
class MatrixMarketTypes : public testing::Test {};

template <class V, class O, class C>
struct types {
  using value = V;
  using offset = O;
  using column = C;
};
using every_kind = testing::Types<
    types<float, std::int32_t, std::int32_t>, types<float, std::int32_t, std::int64_t>,
    types<float, std::int64_t, std::int32_t>, types<float, std::int64_t, std::int64_t>,
    types<double, std::int32_t, std::int32_t>, types<double, std::int32_t, std::int64_t>,
    types<double, std::int64_t, std::int32_t>, types<double, std::int64_t, std::int64_t>,
    types<std::complex<float>, std::int32_t, std::int32_t>,
    types<std::complex<float>, std::int32_t, std::int64_t>,
    types<std::complex<float>, std::int64_t, std::int32_t>,
    types<std::complex<float>, std::int64_t, std::int64_t>,
    types<std::complex<double>, std::int32_t, std::int32_t>,
    types<std::complex<double>, std::int32_t, std::int64_t>,
    types<std::complex<double>, std::int64_t, std::int32_t>,
    types<std::complex<double>, std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(MatrixMarketTypes, every_kind);

TYPED_TEST(MatrixMarketTypes, AreRead) {
  using V = typename TypeParam::value;
  const auto a = read<V, typename TypeParam::offset, typename TypeParam::column>(
      coordinate("real symmetric", "2 2 2\n2 1 0.1\n1 1 3\n"));
  using R = tally::real_t<V>;
  expect_matrix(a, 2, 2, {0, 2, 3}, {0, 1, 0}, {V(3), V(R(0.1L)), V(R(0.1L))});
}

// --- Ways of writing ------------------------------------------------------------------------------

TEST(MatrixMarket, WordsInEitherCase) {
  expect_matrix(read("%%matrixmarket MATRIX Coordinate REAL General\n1 1 1\n1 1 2\n"), 1, 1, {0, 1},
                {0}, {2.0});
}

TEST(MatrixMarket, CommentsBlankLinesAndBlanks) {
  expect_matrix(read("%%MatrixMarket  matrix\tcoordinate real general \n%\n% a comment\n\n \t\n"
                     "  2 2\t2 \n\n%% another\n 1  1\t1 \n   % and another\n2 2 2\n\n% the last\n"),
                2, 2, {0, 1, 2}, {0, 1}, {1.0, 2.0});
}

TEST(MatrixMarket, CrLf) {
  expect_matrix(read("%%MatrixMarket matrix coordinate real general\r\n% c\r\n\r\n1 2 1\r\n"
                     "1 2 5\r\n"),
                1, 2, {0, 1}, {1}, {5.0});
}

TEST(MatrixMarket, NoNewlineAtTheEnd) {
  expect_matrix(read(coordinate("pattern general", "1 2 1\n1 2")), 1, 2, {0, 1}, {1}, {1.0});
}

TEST(MatrixMarket, EmptyMatrices) {
  expect_matrix(read(coordinate("real general", "0 0 0\n")), 0, 0, {0}, {}, {});
  expect_matrix(read(coordinate("real symmetric", "3 3 0\n")), 3, 3, {0, 0, 0, 0}, {}, {});
  expect_matrix(read(coordinate("real general", "0 5 0")), 0, 5, {0}, {}, {});
}

TEST(MatrixMarket, DuplicatesAreAddedUpInTheFilesOrder) {
  // Another order of addition loses the ones.
  expect_matrix(
      read(coordinate("real general", "1 3 4\n1 2 1\n1 2 1\n1 1 5\n1 2 9007199254740992\n")), 1, 3,
      {0, 2}, {0, 1}, {5.0, 9007199254740994.0});
  expect_matrix(read(coordinate("pattern symmetric", "2 2 2\n2 1\n2 1\n")), 2, 2, {0, 1, 2}, {1, 0},
                {2.0, 2.0});
}

TEST(MatrixMarket, ZerosStay) {
  expect_matrix(read(coordinate("real general", "1 2 2\n1 1 0\n1 2 -0\n")), 1, 2, {0, 2}, {0, 1},
                {0.0, -0.0});
}

TEST(MatrixMarket, Numbers) {
  const auto a =
      read(coordinate("real general",
                      "1 14 14\n1 1 0.1\n1 2 4.9406564584124654e-324\n1 3 1.7976931348623157E+308\n"
                      "1 4 1e-400\n1 5 -1e-99999999999999999999\n1 6 inf\n1 7 -Infinity\n1 8 nan\n"
                      "1 9 1.\n1 10 -.5\n1 11 00001\n1 12 0." +
                          std::string(500, '0') + "1\n1 13 0." + std::string(5000, '0') +
                          "1e5001\n1 14 0e999999\n"));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> expected = {0.1,       0x1p-1074,    0x1.fffffffffffffp1023,
                                        0.0,       -0.0,         infinity,
                                        -infinity, std::nan(""), 1.0,
                                        -0.5,      1.0,          0.0,
                                        1.0,       0.0};
  ASSERT_EQ(a.values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(data::bits(a.values[i]), data::bits(expected[i])) << i;
  }
}

TEST(MatrixMarket, ExponentsOfFortran) {
  EXPECT_EQ(read(coordinate("real general",
                            "1 5 5\n1 1 1.5D+02\n1 2 -1.5d-02\n1 3 +.5D2\n1 4 1D0\n"
                            "1 5 2.5D-400\n"))
                .values,
            (std::vector<double>{150, -0.015, 50, 1, 0}));
  EXPECT_EQ(read<complex>(coordinate("complex general", "1 1 1\n1 1 1.0D0 -2.0D+00\n")).values,
            std::vector<complex>{complex(1, -2)});
}

TEST(MatrixMarket, FloatsAreRoundedOnce) {
  // Halfway between two floats except for a digit that double loses.
  const auto a = read<float>(coordinate("real general",
                                        "1 3 3\n1 1 1.000000059604644775390625000000001\n"
                                        "1 2 1e-45\n1 3 1e-50\n"));
  EXPECT_EQ(a.values, (std::vector<float>{1.0000001f, 0x1p-149f, 0.0f}));
}

TEST(MatrixMarket, TheLocaleAndTheRoundingModeDoNotMatter) {
  struct comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new comma));
  std::fesetround(FE_UPWARD);
  const auto a = read(coordinate("real general", "1 2 3\n1 1 0.1\n1 2 1\n1 2 1e-30\n"));
  std::fesetround(FE_TONEAREST);
  std::locale::global(before);
  EXPECT_EQ(a.values, (std::vector<double>{0.1, 1.0}));
}

TEST(MatrixMarket, RowsAreSortedByColumnAndStableWhateverTheOrder) {
  std::mt19937_64 random(1);
  const std::size_t n = 50;
  std::vector<std::string> lines;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= n; ++j) {
      if (random() % 3 == 0) {
        lines.push_back(std::to_string(i) + ' ' + std::to_string(j) + ' ' +
                        std::to_string(100 * i + j) + '\n');
      }
    }
  }
  const auto file = [&] {
    std::string text = "50 50 " + std::to_string(lines.size()) + '\n';
    for (const auto& line : lines) text += line;
    return coordinate("integer general", text);
  };
  const auto a = read(file());
  std::shuffle(lines.begin(), lines.end(), random);
  const auto b = read(file());
  expect_matrix(b, n, n, a.row_offsets, a.column_indices, a.values);
  for (std::size_t i = 0; i < n; ++i) {
    for (auto j = a.row_offsets[i]; j < a.row_offsets[i + 1]; ++j) {
      EXPECT_EQ(a.values[j], 100.0 * (i + 1) + a.column_indices[j] + 1);
    }
  }
}

TEST(MatrixMarket, FilesPastTheBuffer) {
  std::string text = "200000 1 200000\n";
  std::vector<double> expected;
  for (int i = 1; i <= 200000; ++i) {
    text += std::to_string(i) + " 1 " + std::to_string(i) + ".5\n";
    expected.push_back(i + 0.5);
  }
  EXPECT_EQ(read(coordinate("real general", text)).values, expected);
}

TEST(MatrixMarket, AStreamThatThrowsAtItsEnd) {
  std::istringstream stream(coordinate("pattern general", "1 1 1\n1 1\n"));
  stream.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
  EXPECT_EQ(tally::read_matrix_market(stream).values, std::vector<double>{1.0});
}

TEST(MatrixMarket, AFileByItsPath) {
  const file f(coordinate("pattern general", "1 1 1\n1 1\n"));
  EXPECT_EQ(tally::read_matrix_market(f.path()).values, std::vector<double>{1.0});
  EXPECT_EQ(tally::read_matrix_market<float>(f.path().string()).values, std::vector<float>{1.0f});
}

// --- Errors ---------------------------------------------------------------------------------------

TEST(MatrixMarketErrors, Files) {
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market: no/such/file.mtx: can't be opened: No such file or "
               "directory",
               [] { tally::read_matrix_market("no/such/file.mtx"); });
  expect_error(errc::unreadable_file, "tally::read_matrix_market: .: reading failed",
               [] { tally::read_matrix_market("."); });
  const file f(coordinate("pattern general", "1 1 1\n1 2\n"));
  expect_error(
      errc::unreadable_file,
      "tally::read_matrix_market: " + f.path().string() + ":3: column 2 of a matrix with 1 column",
      [&] { tally::read_matrix_market(f.path()); });
  std::istream nothing(nullptr);
  expect_error(errc::unreadable_file, "tally::read_matrix_market: stream: reading failed",
               [&] { tally::read_matrix_market(nothing); });
}

TEST(MatrixMarketErrors, Header) {
  expect_failure("1: the file is empty; it should begin with %%MatrixMarket", "");
  expect_failure("1: \"\" stands where %%MatrixMarket should", "\n");
  expect_failure("1: \"3\" stands where %%MatrixMarket should", "3 3 3\n");
  expect_failure("1: \"?PNG?\" stands where %%MatrixMarket should", "\x89PNG\r\r\n");
  expect_failure("1: the object is \"vector\"; only a matrix is read",
                 "%%MatrixMarket vector coordinate real general\n");
  expect_failure("1: the object is \"\"; only a matrix is read", "%%MatrixMarket\n");
  expect_failure(
      "1: the format is \"array\"; only coordinate is read, not dense matrices: "
      "read_matrix_market_array reads those",
      "%%MatrixMarket matrix array real general\n");
  expect_failure("1: the format is \"csr\"; only coordinate is read",
                 "%%MatrixMarket matrix csr real general\n");
  expect_failure(
      "1: the field is \"rational\"; there are real, double, integer, "
      "unsigned-integer, pattern, complex",
      coordinate("rational general", ""));
  expect_failure("1: the symmetry is \"\"; there are general, symmetric, skew-symmetric, hermitian",
                 coordinate("real", ""));
  expect_failure("1: \"more\" stands after the symmetry", coordinate("real general more", ""));
}

TEST(MatrixMarketErrors, Sizes) {
  const auto sizes = [](const std::string& line) {
    return coordinate("real general", line + "\n");
  };
  expect_failure("2: the file ends before its sizes", sizes("% nothing"));
  expect_failure("2: \"+\" is not a number of rows", sizes("+"));
  expect_failure("2: \"-3\" is not a number of rows", sizes("-3 3 3"));
  expect_failure("2: \"3.0\" is not a number of columns", sizes("3 3.0 3"));
  expect_failure("2: the line ends before its number of entries", sizes("3 3"));
  expect_failure("2: \"3\" stands after the number of entries", sizes("3 3 3 3"));
  expect_failure("2: 18446744073709551616 is too large for a number of entries",
                 sizes("3 3 18446744073709551616"));
  expect_failure("2: a matrix of 3 rows and 4 columns can't be symmetric",
                 coordinate("real symmetric", "3 4 0\n"));
  expect_failure("2: 2147483648 columns are more than the 2147483647 of int32 column indices",
                 sizes("1 2147483648 0"));
  expect_failure("2: 2147483648 entries are more than the 2147483647 of int32 row offsets",
                 sizes("1 1 2147483648"));
  EXPECT_EQ((read<double, std::int32_t, std::int64_t>(sizes("1 2147483648 0")).columns),
            2147483648u);
  expect_error(
      errc::unreadable_file,
      "tally::read_matrix_market: a.mtx:2: 18446744073709551615 columns are more than the "
      "281474976710656 of int64 column indices",
      [&] { read<double, std::int64_t, std::int64_t>(sizes("1 18446744073709551615 0")); });
}

TEST(MatrixMarketErrors, SizesThatTheFileDoesNotKeep) {
  // None takes the memory that it announces.
  expect_failure("2: the file ends after 0 of 2147483647 entries",
                 coordinate("real general", "3 3 2147483647\n"));
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market: a.mtx:3: the file ends after 1 of 9223372036854775807 "
               "entries",
               [] {
                 read<double, std::int64_t, std::int32_t>(
                     coordinate("real general", "3 3 9223372036854775807\n1 1 1\n"),
                     {.max_entries = std::size_t{1} << 63});
               });
  expect_failure("4: the file ends after 1 of 2 entries",
                 coordinate("real general", "3 3 2\n1 1 1\n\n"));
  expect_failure("3: the file ends after 0 of 1 entry", coordinate("real general", "3 3 1\n%\n"));
  expect_failure("4: more than the 1 entry that line 2 announces",
                 coordinate("real general", "3 3 1\n1 1 1\n2 2 2\n"));
  expect_failure("5: more than the 0 entries that line 3 announces",
                 coordinate("real general", "%\n3 3 0\n\nanything\n"));
  expect_failure(
      " 18446744073709551615 rows are more than the 1048640 read of a matrix with 1 entry "
      "(matrix_market_options::max_empty_rows)",
      coordinate("real general", "18446744073709551615 1 1\n1 1 1\n"));
  expect_failure(
      " 1048577 rows are more than the 1048576 read of a matrix with 0 entries "
      "(matrix_market_options::max_empty_rows)",
      coordinate("real general", "1048577 1 0\n"));
  EXPECT_EQ(read(coordinate("real general", "1048576 1 0\n")).row_offsets.size(), 1048577u);
  // Hypersparse matrices, where permitted; then row offsets are the limit.
  const std::string sparse = coordinate("real general", "3000000 1 1\n2999999 1 5\n");
  EXPECT_EQ(read(sparse, {.max_empty_rows = 2999936}).row_offsets.back(), 1);
  expect_failure(
      " 3000000 rows are more than the 2999999 read of a matrix with 1 entry "
      "(matrix_market_options::max_empty_rows)",
      sparse, {.max_empty_rows = 2999935});
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  expect_failure(" 18446744073709551615 rows are more than the 4294967295 of int32 row offsets",
                 coordinate("real general", "18446744073709551615 1 1\n1 1 1\n"),
                 {.max_empty_rows = all});
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market: a.mtx: 18446744073709551615 rows are more than the "
               "281474976710656 of int64 row offsets",
               [&] {
                 read<double, std::int64_t>(
                     coordinate("real general", "18446744073709551615 1 0\n"),
                     {.max_empty_rows = all});
               });
}

TEST(MatrixMarketErrors, Entries) {
  const auto entry = [](const std::string& kind, const std::string& line) {
    return coordinate(kind, "10 10 2\n2 1 2\n" + line + "\n");
  };
  const std::string general = "integer general";
  expect_failure("4: column 12 of a matrix with 10 columns", entry(general, "1 12 1"));
  expect_failure("4: column 0 of a matrix with 10 columns", entry(general, "1 0 1"));
  expect_failure("4: row 11 of a matrix with 10 rows", entry(general, "11 1 1"));
  expect_failure("4: row 0 of a matrix with 10 rows", entry(general, "0 1 1"));
  expect_failure("4: row 18446744073709551615 of a matrix with 10 rows",
                 entry(general, "18446744073709551615 1 1"));
  expect_failure("4: 18446744073709551616 is too large for a row",
                 entry(general, "18446744073709551616 1 1"));
  expect_failure("4: \"-1\" is not a row", entry(general, "-1 1 1"));
  expect_failure("4: \"1.0\" is not a row", entry(general, "1.0 1 1"));
  expect_failure("4: \"x\" is not a column", entry(general, "1 x 1"));
  expect_failure("4: the line ends before its column", entry(general, "1"));
  expect_failure("4: the line ends before its value", entry(general, "1 1"));
  expect_failure("4: \"%\" stands after the entry", entry(general, "1 1 1 % one"));
  expect_failure("4: \"1.5\" is not an integer", entry(general, "1 1 1.5"));
  expect_failure("4: \"1e2\" is not an integer", entry(general, "1 1 1e2"));
  expect_failure("4: \"+-1\" is not an integer", entry(general, "1 1 +-1"));
  expect_failure("4: \"-\" is not an integer", entry(general, "1 1 -"));
  expect_failure("4: \"nan\" is not an integer", entry(general, "1 1 nan"));
  expect_failure("4: 1" + std::string(39, '0') + "... is out of the range of float64",
                 entry(general, "1 1 1" + std::string(400, '0')));

  const std::string real = "real general";
  for (const std::string word : {"one", "1,5", "1.5+02", "0x1p3", "++1", "+-1", "1e", ".", "1.5D",
                                 "D+02", "1.5DD2", "1.5D+02D", "1.5Q+02", "+D2", "-D2"}) {
    expect_failure("4: \"" + word + "\" is not a number", entry(real, "1 1 " + word));
  }
  expect_failure("4: \"?\" is not a number", entry(real, "1 1 " + std::string(1, '\0')));
  expect_failure("4: \"" + std::string(40, 'x') + "...\" is not a number",
                 entry(real, "1 1 " + std::string(41, 'x')));
  for (const std::string number : {"1e309", "-1.8e308", "1e99999999999999999999", "0.001e9999"}) {
    expect_failure("4: " + number + " is out of the range of float64",
                   entry(real, "1 1 " + number));
  }
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market: a.mtx:4: 1e39 is out of the range of float32",
               [&] { read<float>(entry(real, "1 1 1e39")); });

  expect_failure("3: \"2\" stands after the entry", entry("pattern general", "1 1"));
  const auto complex_entry = [&](const std::string& text, const std::string& file) {
    expect_error(errc::unreadable_file, "tally::read_matrix_market: a.mtx:" + text,
                 [&] { read<complex>(file); });
  };
  complex_entry("3: the line ends before its imaginary part", entry("complex general", ""));
  complex_entry("3: \"x\" is not a number", coordinate("complex general", "1 1 1\n1 1 1 x\n"));
}

TEST(MatrixMarketErrors, Symmetry) {
  for (const std::string kind : {"symmetric", "skew-symmetric"}) {
    expect_failure("3: the entry in row 1 and column 2 is above the diagonal of a " + kind +
                       " matrix, whose lower half says all",
                   coordinate("real " + kind, "2 2 1\n1 2 1\n"));
  }
  expect_failure("3: row 2 has an entry on the diagonal, where a skew-symmetric matrix is zero",
                 coordinate("real skew-symmetric", "2 2 1\n2 2 0\n"));
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market: a.mtx:3: row 2 has an imaginary part on the diagonal, "
               "where a hermitian matrix is real",
               [] { read<complex>(coordinate("complex hermitian", "2 2 1\n2 2 1 1\n")); });
}

TEST(MatrixMarketErrors, LongLines) {
  const auto comment = [](std::size_t length, const std::string& end) {
    return coordinate("pattern general", '%' + std::string(length - 1, 'x') + end + "1 1 1\n1 1\n");
  };
  for (const std::string end : {"\n", "\r\n"}) {
    EXPECT_EQ(read(comment(65536, end)).rows, 1u);
    for (const std::size_t length : {65537, 65538, 65539, 200000}) {
      expect_failure(
          "2: the line is longer than 65536 characters "
          "(matrix_market_options::max_line)",
          comment(length, end));
    }
  }
}

TEST(MatrixMarketErrors, ComplexAsReal) {
  expect_error(errc::unsupported_type,
               "tally::read_matrix_market: a.mtx: complex entries can't be read as float64",
               [] { read(coordinate("complex general", "1 1 0\n")); });
  expect_error(errc::unsupported_type,
               "tally::read_matrix_market: a.mtx: complex entries can't be read as float32",
               [] { read<float>(coordinate("complex general", "1 1 0\n")); });
}

TEST(MatrixMarketErrors, Limits) {
  const std::string three = coordinate("real general", "3 3 3\n1 1 1\n2 2 2\n3 3 3\n");
  const std::string symmetric = coordinate("real symmetric", "3 3 2\n1 1 1\n3 2 2\n");
  EXPECT_EQ(read(three, {.max_entries = 3}).values.size(), 3u);
  EXPECT_EQ(read(symmetric, {.max_entries = 3}).values.size(), 3u);
  expect_failure("2: 3 entries are more than the 2 of matrix_market_options::max_entries", three,
                 {.max_entries = 2});
  expect_failure("4: 3 entries are more than the 2 of matrix_market_options::max_entries",
                 symmetric, {.max_entries = 2});
  expect_error(
      errc::unreadable_file,
      "tally::read_matrix_market: a.mtx:2: 4000000000 entries are more than the 2147483647 "
      "of matrix_market_options::max_entries",
      [] { read<double, std::int64_t>(coordinate("real general", "3 3 4000000000\n")); });

  EXPECT_EQ(read(three, {.max_bytes = three.size()}).values.size(), 3u);
  expect_failure(" it has more than " + std::to_string(three.size() - 1) +
                     " bytes (matrix_market_options::max_bytes)",
                 three, {.max_bytes = three.size() - 1});

  EXPECT_EQ(read(three, {.max_line = 45}).values.size(), 3u);
  expect_failure("1: the line is longer than 44 characters (matrix_market_options::max_line)",
                 three, {.max_line = 44});

  const std::string skipped = coordinate("real general", "%\n\n1 1 1\n\n% end\n1 1 1\n");
  EXPECT_EQ(read(skipped, {.max_skipped = 10}).values.size(), 1u);
  expect_failure(
      "6: comments and blank lines have more than 9 bytes "
      "(matrix_market_options::max_skipped)",
      skipped, {.max_skipped = 9});

  const auto expect_no_option = [&](const std::string& text,
                                    const tally::matrix_market_options& options) {
    expect_error(errc::invalid_argument, "tally::read_matrix_market: " + text,
                 [&] { read(three, options); });
  };
  expect_no_option("max_line is 0; it can be 1 to 1073741824", {.max_line = 0});
  expect_no_option("max_line is 1073741825; it can be 1 to 1073741824", {.max_line = 1073741825});
  expect_no_option("max_ratio is 0", {.max_ratio = 0});
}

class endless : public std::streambuf {
 public:
  explicit endless(const std::string& begin) : text_(begin) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

  std::uint64_t taken = 0;

 private:
  int_type underflow() override {
    taken += text_.size();
    text_.assign(65536, '\n');
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(text_.front());
  }
  std::string text_;
};

TEST(MatrixMarketErrors, EndlessBlankLines) {
  for (const std::string begin : {"", "1 1 2\n", "1 1 2\n1 1 1\n"}) {
    endless lines(coordinate("real general", begin));
    std::istream stream(&lines);
    EXPECT_THROW(tally::read_matrix_market(stream, "a.mtx"), tally::error);
    EXPECT_LT(lines.taken, std::uint64_t{100} << 20);
  }
}

// --- Dense files ----------------------------------------------------------------------------------

std::string array(const std::string& kind, const std::string& rest) {
  return "%%MatrixMarket matrix array " + kind + "\n" + rest;
}

TEST(MatrixMarketArray, ColumnAfterColumn) {
  const auto a = read_array(array("real general", "% b\n3 2\n1\n2.5\n-3e1\n\n4\n% c\n5\n6.D0\n"));
  EXPECT_EQ(a.rows, 3u);
  EXPECT_EQ(a.columns, 2u);
  EXPECT_EQ(a.values, (std::vector<double>{1, 2.5, -30, 4, 5, 6}));
  EXPECT_EQ(std::vector<double>(a.column(1).begin(), a.column(1).end()),
            (std::vector<double>{4, 5, 6}));
}

TEST(MatrixMarketArray, FieldsAndTypes) {
  EXPECT_EQ(read_array<float>(array("integer general", "2 1\n-4\n16777217\n")).values,
            (std::vector<float>{-4, 16777216}));
  EXPECT_EQ(read_array<complex>(array("complex general", "1 2\n1 2\n3 -4\n")).values,
            (std::vector<complex>{{1, 2}, {3, -4}}));
  EXPECT_EQ(read_array<std::complex<float>>(array("real general", "1 1\n1\n")).values,
            std::vector<std::complex<float>>{1});
  EXPECT_EQ(read_array(array("double general", "1 1\n0\n")).values, std::vector<double>{0});
}

TEST(MatrixMarketArray, Empty) {
  for (const std::string sizes : {"0 0", "0 5", "5 0"}) {
    EXPECT_TRUE(read_array(array("real general", sizes + "\n")).values.empty());
  }
}

TEST(MatrixMarketArray, AVector) {
  const std::string text = array("real general", "3 1\n1\n2\n3\n");
  std::istringstream stream(text);
  EXPECT_EQ(tally::read_matrix_market_vector(stream), (std::vector<double>{1, 2, 3}));
  const file f(text);
  EXPECT_EQ(tally::read_matrix_market_vector<float>(f.path()), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(tally::read_matrix_market_array(f.path()).values, (std::vector<double>{1, 2, 3}));
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market_vector: a.mtx:2: a matrix of 2 columns is no vector", [] {
                 std::istringstream two(array("real general", "1 2\n1\n2\n"));
                 tally::read_matrix_market_vector(two, "a.mtx");
               });
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market_vector: no/such/file.mtx: can't be opened: No such file "
               "or directory",
               [] { tally::read_matrix_market_vector("no/such/file.mtx"); });
}

TEST(MatrixMarketArray, Errors) {
  const auto of = [](const std::string& rest) { return array("real general", rest); };
  expect_array_failure(
      "1: the format is \"coordinate\"; only array is read, not sparse matrices: "
      "read_matrix_market reads those",
      coordinate("real general", "1 1 0\n"));
  expect_array_failure("1: the format is \"\"; only array is read", "%%MatrixMarket matrix\n");
  expect_array_failure("1: the symmetry is symmetric; only general arrays are read",
                       array("real symmetric", "1 1\n1\n"));
  expect_array_failure("1: an array can't be a pattern", array("pattern general", "1 1\n"));
  expect_array_failure("2: \"3\" stands after the number of columns", of("3 1 3\n"));
  expect_array_failure("2: 4294967296 rows and 4294967296 columns are too many",
                       of("4294967296 4294967296\n"));
  expect_array_failure(
      "2: 3000000000 entries are more than the 2147483647 of "
      "matrix_market_options::max_entries",
      of("1000000000 3\n"));
  expect_array_failure("3: the file ends after 1 of 2147483647 entries", of("2147483647 1\n1\n"));
  expect_array_failure("4: more than the 1 entry that line 2 announces", of("1 1\n1\n2\n"));
  expect_array_failure("3: \"2\" stands after the value", of("2 1\n1 2\n"));
  expect_array_failure("3: \"x\" is not a number", of("1 1\nx\n"));
  expect_array_failure("3: 1e309 is out of the range of float64", of("1 1\n1e309\n"));
  expect_error(errc::unsupported_type,
               "tally::read_matrix_market_array: a.mtx: complex entries can't be read as float64",
               [] { read_array(array("complex general", "1 1\n1 1\n")); });
}

// --- gzip -----------------------------------------------------------------------------------------

#if TALLY_HAS_ZLIB
std::string gzip(const std::string& text) {
  z_stream zlib{};
  EXPECT_EQ(deflateInit2(&zlib, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string compressed(deflateBound(&zlib, text.size()), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(compressed.data());
  zlib.avail_out = static_cast<uInt>(compressed.size());
  EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
  compressed.resize(zlib.total_out);
  deflateEnd(&zlib);
  return compressed;
}

TEST(MatrixMarketGzip, IsRead) {
  std::string text = "100000 1 100000\n";
  std::vector<double> expected;
  std::mt19937_64 random(2);
  for (int i = 1; i <= 100000; ++i) {
    const auto value = static_cast<std::int32_t>(random());
    text += std::to_string(i) + " 1 " + std::to_string(value) + "\n";
    expected.push_back(value);
  }
  text = coordinate("integer general", text);
  EXPECT_EQ(read(gzip(text)).values, expected);
  const file f(gzip(text));
  EXPECT_EQ(tally::read_matrix_market(f.path()).values, expected);
}

TEST(MatrixMarketGzip, SeveralMembersAreOneFile) {
  expect_matrix(read(gzip(coordinate("real general", "1 2 ")) + gzip("") + gzip("1\n1 2 3\n")), 1,
                2, {0, 1}, {1}, {3.0});
}

TEST(MatrixMarketGzip, ZerosMayFollow) {
  const std::string whole = gzip(coordinate("real general", "1 2 1\n1 2 3\n"));
  for (const std::size_t n : {1, 511, 100000}) {
    EXPECT_EQ(read(whole + std::string(n, '\0')).values, std::vector<double>{3.0}) << n;
    expect_failure(" the gzip data are damaged: something stands after their padding",
                   whole + std::string(n, '\0') + "x");
    expect_failure(" the gzip data are damaged: something stands after their padding",
                   whole + std::string(n, '\0') + whole);
  }
}

// A quarter of a MiB that expands to 256 MiB.
TEST(MatrixMarketGzip, ABombIsRefused) {
  std::string text = coordinate("pattern general", "1 1 67108864\n");
  for (int i = 0; i < 1 << 20; ++i) text += "1 1\n";
  const std::string one = gzip(text);
  text.erase(0, text.size() - (std::size_t{4} << 20));
  const std::string more = gzip(text);
  std::string bomb = one;
  for (int i = 1; i < 64; ++i) bomb += more;
  ASSERT_LT(bomb.size(), std::size_t{1} << 20);
  expect_failure(
      " the gzip data become more than 200 times as many bytes "
      "(matrix_market_options::max_ratio)",
      bomb);
  expect_failure(" it has more than 1048576 bytes (matrix_market_options::max_bytes)", bomb,
                 {.max_bytes = 1 << 20});
  expect_failure(
      "2: 67108864 entries are more than the 1000000 of "
      "matrix_market_options::max_entries",
      bomb, {.max_entries = 1000000});
  EXPECT_EQ(read(gzip(coordinate("pattern general", "1 1 2\n1 1\n1 1\n")), {.max_ratio = 1}).values,
            std::vector<double>{2.0});
}

TEST(MatrixMarketGzip, Errors) {
  const std::string whole = gzip(coordinate("real general", "1 2 1\n1 2 3\n"));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    expect_failure(" the gzip data end early", whole.substr(0, size));
  }
  std::string broken = whole;
  broken[whole.size() - 8] ^= 1;
  expect_failure(" the gzip data are damaged: incorrect data check", broken);
  broken = whole;
  broken[1] = 'x';
  expect_failure(" the gzip data are damaged: incorrect header check", broken);
  expect_failure(" the gzip data are damaged: incorrect header check", whole + "and more");
  expect_failure("3: column 3 of a matrix with 2 columns",
                 gzip(coordinate("real general", "1 2 1\n1 3 3\n")));
}
#else
TEST(MatrixMarketGzip, NeedsZlib) {
  expect_failure(" it is compressed by gzip, and this Tally was built without zlib",
                 "\x1f\x8b\x08");
}
#endif

// --- Parts of files -------------------------------------------------------------------------------

template <class Value>
tally::matrix_market_part<Value> joined(const std::filesystem::path& path, std::size_t parts) {
  tally::matrix_market_part<Value> all;
  for (std::size_t p = 0; p < parts; ++p) {
    const auto part = tally::read_matrix_market_part<Value>(path, p, parts);
    all.sizes = part.sizes;
    all.lines += part.lines;
    all.entries.insert(all.entries.end(), part.entries.begin(), part.entries.end());
  }
  return all;
}

template <class Value>
void expect_parts(const std::string& text) {
  SCOPED_TRACE(text);
  const file f(text);
  const auto wanted = tally::read_matrix_market<Value, std::int64_t, std::int64_t>(f.path());
  const auto sizes = tally::read_matrix_market_sizes(f.path());
  for (std::size_t parts = 1; parts < text.size() + 3; ++parts) {
    const auto all = joined<Value>(f.path(), parts);
    EXPECT_EQ(all.sizes.rows, wanted.rows);
    EXPECT_EQ(all.sizes.columns, wanted.columns);
    EXPECT_EQ(all.sizes.entries, all.lines) << parts;
    EXPECT_EQ(sizes.entries, all.lines);
    const auto got = tally::rows_of_entries<Value>(wanted.rows, wanted.columns, all.entries);
    EXPECT_EQ(got.row_offsets, wanted.row_offsets) << parts;
    EXPECT_EQ(got.column_indices, wanted.column_indices) << parts;
    EXPECT_TRUE(
        std::ranges::equal(got.values, wanted.values, {}, data::bits<Value>, data::bits<Value>))
        << parts;
  }
}

TEST(MatrixMarketParts, JoinedAreTheWhole) {
  expect_parts<double>(
      coordinate("real general", "1 3 4\n1 2 1\n1 2 1\n1 1 5\n1 2 9007199254740992\n"));
  expect_parts<float>(coordinate("real symmetric", "3 3 4\n1 1 1\n2 1 2.5\n3 2 3e-2\n3 3 4"));
  expect_parts<double>(coordinate("real skew-symmetric", "3 3 2\n2 1 2.5\n3 2 -3\n"));
  expect_parts<complex>(coordinate("complex hermitian", "2 2 2\n1 1 1 0\n2 1 1 -0.0\n"));
  expect_parts<double>(coordinate(
      "integer general", "% 1 1 1\n\n2 2 2\r\n% a comment\r\n1 2 3\r\n\n%\n2 1 -0\r\n%%\n"));
  expect_parts<double>(coordinate("pattern general", "0 3 0\n"));
  expect_parts<double>(coordinate("pattern general", "0 3 0"));
}

TEST(MatrixMarketParts, ErrorsHaveTheFilesLines) {
  const file f(coordinate("real general", "3 3 3\n1 1 1\n% no entry\n2 4 1\n3 3 1\n"));
  for (std::size_t parts = 1; parts < 40; ++parts) {
    expect_error(errc::unreadable_file,
                 "tally::read_matrix_market: " + f.path().string() +
                     ":5: column 4 of a matrix with 3 columns",
                 [&] { joined<double>(f.path(), parts); });
  }
  expect_error(errc::invalid_argument, "tally::read_matrix_market: part 2 of 2",
               [&] { tally::read_matrix_market_part(f.path(), 2, 2); });
  const std::string here = "tally::read_matrix_market: " + f.path().string();
  expect_error(errc::unreadable_file,
               here + ": it has more than 60 bytes (matrix_market_options::max_bytes)",
               [&] { tally::read_matrix_market_part(f.path(), 1, 2, {.max_bytes = 60}); });
  const file imaginary(coordinate("complex general", "1 1 1\n1 1 1 1\n"));
  expect_error(errc::unsupported_type,
               "tally::read_matrix_market: " + imaginary.path().string() +
                   ": complex entries can't be read as float64",
               [&] { tally::read_matrix_market_part(imaginary.path(), 0, 1); });
  const file few(coordinate("pattern general", "9 9 3\n1 1\n2 2\n"));
  EXPECT_EQ(joined<double>(few.path(), 3).lines, 2u);
}

TEST(MatrixMarketParts, RowsOfEntries) {
  const std::vector<tally::matrix_entry<double>> outside = {{0, 0, 1}, {0, 2, 1}};
  expect_error(errc::invalid_argument,
               "tally::rows_of_entries: an entry in row 0 and column 2 of a matrix of 1 x 2",
               [&] { tally::rows_of_entries<double>(1, 2, outside); });
  const std::vector<tally::matrix_entry<double>> below = {{-1, 0, 1}};
  expect_error(errc::invalid_argument,
               "tally::rows_of_entries: an entry in row -1 and column 0 of a matrix of 1 x 2",
               [&] { tally::rows_of_entries<double>(1, 2, below); });
  EXPECT_EQ(tally::rows_of_entries<double>(3, 0, {}).row_offsets.size(), 4u);
}

#if TALLY_HAS_ZLIB
TEST(MatrixMarketParts, ACompressedFileIsTheFirst) {
  const file f(gzip(coordinate("real general", "2 2 2\n2 1 3\n1 2 4\n")));
  EXPECT_EQ(tally::read_matrix_market_part(f.path(), 0, 3).lines, 2u);
  const auto last = tally::read_matrix_market_part(f.path(), 2, 3);
  EXPECT_EQ(last.lines, 0u);
  EXPECT_EQ(last.sizes.entries, 2u);
}
#endif

// --- Each option, each way of reading, each kind of file ------------------------------------------

struct outcome {
  std::size_t entries = 0;        ///< entries read
  std::size_t kibibytes = 0;      ///< growth of peak memory
  std::array<char, 256> error{};  ///< truncated
};

std::size_t peak_kibibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      std::size_t size = 0;
      status >> size;
      return size;
    }
  }
  return 0;
}

/// Runs `call` in a separate process, for at most a minute.
outcome apart(const std::function<std::size_t()>& call) {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    outcome met;
    const std::size_t before = peak_kibibytes();
    try {
      met.entries = call();
    } catch (const std::exception& e) {
      std::strncpy(met.error.data(), e.what(), met.error.size() - 1);
    }
    met.kibibytes = peak_kibibytes() - before;
    _exit(write(ends[1], &met, sizeof met) == sizeof met ? 0 : 1);
  }
  close(ends[1]);
  outcome met;
  EXPECT_EQ(::read(ends[0], &met, sizeof met), static_cast<ssize_t>(sizeof met));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return met;
}

/// A named pipe that delivers a text.
class named_pipe {
 public:
  explicit named_pipe(const std::string& text) {
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    writer_ = fork();
    if (writer_ != 0) return;
    alarm(60);  // where the test has ended before it
    signal(SIGPIPE, SIG_DFL);
    const int to = open(path_.c_str(), O_WRONLY);  // waits for a reader
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = write(to, text.data() + sent, text.size() - sent);
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  ~named_pipe() {
    kill(writer_, SIGKILL);
    waitpid(writer_, nullptr, 0);
    std::filesystem::remove(path_);
  }
  named_pipe(const named_pipe&) = delete;
  named_pipe& operator=(const named_pipe&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("tally-" + std::to_string(std::random_device()()) + ".pipe");
  pid_t writer_ = 0;
};

using options = tally::matrix_market_options;
using way = std::function<std::size_t(const std::string&, const options&)>;

std::size_t read_part_of(const std::string& path, std::size_t p, std::size_t parts,
                         const options& o) {
  return tally::read_matrix_market_part(path, p, parts, o).entries.size();
}
const way whole = [](const std::string& path, const options& o) {
  return tally::read_matrix_market<double, std::int64_t, std::int64_t>(path, o).values.size();
};
const way in_parts = [](const std::string& path, const options& o) {
  return read_part_of(path, 0, 2, o) + read_part_of(path, 1, 2, o);
};

/// 10 entries in 1000 rows, the longest line, 12 bytes of comments and blanks.
const std::string ten = [] {
  std::string text = coordinate("real general", "%%%%%\n1000 10 10\n");
  for (int i = 1; i <= 10; ++i)
    text += std::to_string(i + 10) + " 1 5\n" + (i == 5 ? "%    \n" : "");
  return text;
}();

/// An option that just admits the ten, and one that just does not, for the whole file.
struct limit {
  const char* name;
  options passes, refuses;
  options part_passes, part_refuses;  ///< the same for two processes
};
const limit limits[] = {
    {"max_entries",
     {.max_entries = 10},
     {.max_entries = 9},
     {.max_entries = 5},
     {.max_entries = 4}},
    {"max_bytes",
     {.max_bytes = ten.size()},
     {.max_bytes = ten.size() - 1},
     {.max_bytes = ten.size()},
     {.max_bytes = ten.size() - 1}},
    {"max_line", {.max_line = 45}, {.max_line = 44}, {.max_line = 45}, {.max_line = 44}},
    {"max_skipped",
     {.max_skipped = 12},
     {.max_skipped = 11},
     {.max_skipped = 6},
     {.max_skipped = 5}},
    {"max_empty_rows", {.max_empty_rows = 360}, {.max_empty_rows = 359}, {.max_empty_rows = 0}, {}},
};

void expect_outcome(const outcome& met, std::size_t entries, const std::string& error) {
  const std::string got = met.error.data();
  EXPECT_EQ(met.entries, entries) << got;
  if (error.empty()) {
    EXPECT_EQ(got, "");
  } else {
    EXPECT_NE(got.find(error), got.npos) << got << " instead of " << error;
  }
  EXPECT_LT(met.kibibytes, 65536u);
}

TEST(MatrixMarketLimits, EachOptionOfEachKindOfFile) {
  const file regular(ten);
  for (const limit& l : limits) {
    SCOPED_TRACE(l.name);
    const std::string error = std::string("matrix_market_options::") + l.name;
    const auto expect_whole = [&](const auto& with_path) {
      const auto read = [&](const options& o) { return apart([&] { return with_path(o); }); };
      expect_outcome(read(l.passes), 10, "");
      expect_outcome(read(l.refuses), 0, error);
    };
    expect_whole([&](const options& o) { return whole(regular.path(), o); });
    const bool is_of_parts = std::string_view(l.name) != "max_empty_rows";
    const auto parts_of = [&](const std::filesystem::path& path, const options& o) {
      return apart([&] { return in_parts(path, o); });
    };
    expect_outcome(parts_of(regular.path(), l.part_passes), 10, "");
    if (is_of_parts) expect_outcome(parts_of(regular.path(), l.part_refuses), 0, error);
    expect_whole([&](const options& o) {
      const named_pipe pipe(ten);
      return whole(pipe.path(), o);
    });
    const named_pipe pipe(ten);
    expect_outcome(parts_of(pipe.path(), l.passes), 0,
                   "it can't be read in parts: it is no regular file");
#if TALLY_HAS_ZLIB
    const file compressed(gzip(ten));
    expect_whole([&](const options& o) { return whole(compressed.path(), o); });
    expect_outcome(parts_of(compressed.path(), l.passes), 10, "");  // the first part has all
    if (is_of_parts) expect_outcome(parts_of(compressed.path(), l.refuses), 0, error);
    {
      const named_pipe pipe(gzip(ten));
      expect_outcome(apart([&] { return whole(pipe.path(), l.passes); }), 10, "");
    }
#endif
  }
}

TEST(MatrixMarketLimits, DevicesAndFolders) {
  const std::function<std::size_t(const std::string&)> vector = [](const std::string& path) {
    return tally::read_matrix_market_vector(path).size();
  };
  const std::function<std::size_t(const std::string&)> sizes = [](const std::string& path) {
    return tally::read_matrix_market_sizes(path).entries;
  };
  const auto wholly = [](const std::string& path) { return whole(path, {}); };
  for (const auto& read : {vector, sizes, {wholly}}) {
    expect_outcome(apart([&] { return read("/dev/zero"); }), 0,
                   "/dev/zero:1: the line is longer than 65536 characters");
    expect_outcome(apart([&] { return read("/dev/null"); }), 0, "/dev/null:1: the file is empty");
    expect_outcome(apart([&] { return read("/"); }), 0, "/: reading failed");
  }
  for (const std::string path : {"/dev/zero", "/dev/null", "/"}) {
    expect_outcome(apart([&] { return in_parts(path, {}); }), 0,
                   path + ": it can't be read in parts: it is no regular file");
  }
  expect_outcome(apart([] { return in_parts("no/such/file.mtx", {}); }), 0,
                 "can't be opened: No such file or directory");
}

// An unreached limit takes no memory, nor does what a file announces.
TEST(MatrixMarketLimits, LargeOnesTakeNoMemory) {
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  const options largest{.max_entries = all,
                        .max_bytes = all,
                        .max_line = std::size_t{1} << 30,
                        .max_skipped = all,
                        .max_ratio = all,
                        .max_empty_rows = all};
  const file f(ten);
  expect_outcome(apart([&] { return whole(f.path(), largest); }), 10, "");
  expect_outcome(apart([&] { return in_parts(f.path(), largest); }), 10, "");
  const file announces(coordinate("real general", "5 5 3000000000\n1 1 1\n2 2 2\n"));
  expect_outcome(apart([&] { return in_parts(announces.path(), {}); }), 2, "");
  expect_outcome(apart([&] { return read_part_of(announces.path(), 0, 1, {}); }), 0,
                 ":2: 3000000000 entries are more than the 2147483647 of "
                 "matrix_market_options::max_entries");
  expect_error(errc::unreadable_file,
               "tally::read_matrix_market: " + announces.path().string() +
                   ":4: the file ends after 2 of 3000000000 entries",
               [&] { tally::matrix_market::check_number_of_entries(announces.path(), {}); });
}

// The number of an invalid line, although no process may hold the whole file.
TEST(MatrixMarketLimits, AWrongLineOfAPart) {
  std::string text = ten;
  text.replace(text.rfind("1 5"), 3, "1 x");
  const file f(text);
  expect_outcome(apart([&] { return read_part_of(f.path(), 0, 2, {.max_entries = 5}); }), 5, "");
  expect_outcome(apart([&] { return read_part_of(f.path(), 1, 2, {.max_entries = 5}); }), 0,
                 ":14: \"x\" is not a number");
}

#if TALLY_HAS_ZLIB
class endless_bytes : public std::streambuf {
 public:
  endless_bytes(std::string begin, std::string then)
      : text_(std::move(begin)), then_(std::move(then)) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

 private:
  int_type underflow() override {
    text_ = then_;
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(text_.front());
  }
  std::string text_, then_;
};

// Compressed data may go on endlessly and expand to nothing.
TEST(MatrixMarketLimits, CompressedBytesWithoutAnEnd) {
  const auto read = [](const std::string& then, const options& o) {
    return apart([&] {
      endless_bytes bytes(gzip(ten), then);
      std::istream stream(&bytes);
      return tally::read_matrix_market(stream, "a.mtx", o).values.size();
    });
  };
  expect_outcome(read(std::string(65536, '\0'), {}), 0,
                 "the padding of the gzip data has more than 16777216 bytes "
                 "(matrix_market_options::max_skipped)");
  expect_outcome(read(gzip(""), {.max_bytes = 1 << 20}), 0,
                 "it has more than 1048576 bytes (matrix_market_options::max_bytes)");
  // All of a bomb in the first part, its head in the others.
  std::string text = coordinate("pattern general", "1 1 67108864\n");
  for (int i = 0; i < 1 << 20; ++i) text += "1 1\n";
  const std::string one = gzip(text);
  text.erase(0, text.size() - (std::size_t{4} << 20));
  std::string bomb = one;
  for (int i = 1; i < 64; ++i) bomb += gzip(text);
  const file f(bomb);
  const outcome first = apart([&] { return read_part_of(f.path(), 0, 2, {}); });
  EXPECT_NE(std::string(first.error.data()).find("matrix_market_options::max_ratio"),
            std::string::npos)
      << first.error.data();
  expect_outcome(apart([&] { return read_part_of(f.path(), 1, 2, {}); }), 0, "");
  expect_outcome(apart([&] { return in_parts(f.path(), {.max_entries = 1000000}); }), 0,
                 "67108864 entries are more than the 1000000 of "
                 "matrix_market_options::max_entries");
}
#endif

// --- Real matrices --------------------------------------------------------------------------------

struct real_matrix {
  const char* name;
  std::size_t rows;
  std::size_t nonzeros;
  std::int32_t longest_row;

  friend void PrintTo(const real_matrix& m, std::ostream* out) { *out << m.name; }
};

class MatrixMarketCollection : public testing::TestWithParam<real_matrix> {};

TEST_P(MatrixMarketCollection, IsRead) {
  const real_matrix& expected = GetParam();
  const std::filesystem::path path = matrices::file(expected.name);
  if (!TALLY_HAS_ZLIB) GTEST_SKIP() << "without zlib";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto a = tally::read_matrix_market(path);
  tally::validate(a.view());
  EXPECT_EQ(a.rows, expected.rows);
  EXPECT_EQ(a.columns, expected.rows);
  EXPECT_EQ(a.values.size(), expected.nonzeros);
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < a.rows; ++i) {
    longest = std::max(longest, a.row_offsets[i + 1] - a.row_offsets[i]);
  }
  EXPECT_EQ(longest, expected.longest_row);
}

// Counts as the collection lists them.
INSTANTIATE_TEST_SUITE_P(Matrices, MatrixMarketCollection,
                         testing::Values(real_matrix{"west0067", 67, 294, 6},
                                         real_matrix{"1138_bus", 1138, 4054, 18},
                                         real_matrix{"cryg2500", 2500, 12349, 5},
                                         real_matrix{"ani4", 3081, 20971, 9},
                                         real_matrix{"bcsstk16", 4884, 290378, 81},
                                         real_matrix{"memplus", 17758, 126150, 574},
                                         real_matrix{"wiki-Vote", 7115, 103689, 893},
                                         real_matrix{"wing", 62032, 243088, 4},
                                         real_matrix{"arrow", 46500, 139498, 46500},
                                         real_matrix{"soc-Slashdot0902", 82168, 948464, 2511}),
                         [](const auto& matrix) {
                           std::string name = matrix.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
