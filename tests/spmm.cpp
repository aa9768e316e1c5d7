// spmm: each column has the bits of spmv alone, whatever the layouts, the types, the number of
// columns, the form of the matrix and the plan; no other byte of Y is written.
#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/matrices.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace {

using data::bytes_of;
using data::kind;
using matrices::pattern;
using tally::errc;
using tally::matrix_operation;
using tally::type;

/// Elements between rows and columns of a dense matrix, and before it.
struct strides {
  std::ptrdiff_t row, column;
  std::size_t offset = 0;
};

/// A dense matrix in `memory`.
struct dense {
  std::size_t rows, columns;
  strides by;
  type element;

  std::size_t bytes() const { return (by.offset + last() + 1) * tally::size_of(element); }
  tally::operand_rows in(const std::byte* memory) const {
    std::size_t first = by.offset;
    if (by.row < 0) first += reach(rows, by.row);
    if (by.column < 0) first += reach(columns, by.column);
    return {{memory + first * tally::size_of(element), columns, by.column, element}, rows, by.row};
  }
  tally::output_rows out(std::byte* memory) const {
    const tally::operand_rows all = in(memory);
    return {{const_cast<void*>(all.first.data), columns, by.column, element}, rows, by.row};
  }

 private:
  static std::size_t reach(std::size_t n, std::ptrdiff_t step) {
    return n == 0 ? 0 : (n - 1) * static_cast<std::size_t>(step < 0 ? -step : step);
  }
  std::size_t last() const { return reach(rows, by.row) + reach(columns, by.column); }
};

/// Column j, by which spmv is called.
tally::operand column(const tally::operand_rows& m, std::size_t j) {
  return {m.first.slice(j, 1).data, m.rows, m.leading_dimension == 0 ? 1 : m.leading_dimension,
          m.first.element};
}

struct types {
  type values, x, y;
};
constexpr types f64 = {type::float64, type::float64, type::float64};
constexpr types f32 = {type::float32, type::float32, type::float32};

struct matrix_form {
  matrix_operation operation = matrix_operation::none;
  bool four_arrays = false;
  type offsets = type::int32, columns = type::int32;
};

struct factors {
  tally::scalar alpha = 1, beta = 0;
  tally::grade grade = {};
};

/// A matrix's arrays in an executor's memory.
class placed_matrix {
 public:
  placed_matrix(const tally::executor& where, const pattern& p,
                const std::vector<std::byte>& values, type value, const matrix_form& f)
      : offsets_(where, 8 * p.rows + 16),
        columns_(where, 8 * p.nonzeros() + 8),
        values_(where, values.size() + 8) {
    a_ = {p.rows,
          p.columns,
          place(offsets_, p.row_offsets, f.offsets),
          place(columns_, p.column_indices, f.columns),
          {values_.get(), p.nonzeros(), 1, value}};
    values_.write(values.data(), values.size());
    if (f.four_arrays) {
      a_.row_ends = a_.row_offsets.slice(1, p.rows);
      a_.row_offsets.size = p.rows;
    }
    a_.operation = f.operation;
  }
  const tally::csr_operand& get() const { return a_; }

 private:
  static tally::operand place(data::buffer& memory, const std::vector<std::int32_t>& indices,
                              type element) {
    const auto bytes = element == type::int32
                           ? bytes_of(indices)
                           : bytes_of(std::vector<std::int64_t>(indices.begin(), indices.end()));
    memory.write(bytes.data(), bytes.size());
    return {memory.get(), indices.size(), 1, element};
  }

  data::buffer offsets_, columns_, values_;
  tally::csr_operand a_;
};

class Spmm : public data::OnEveryExecutor {
 protected:
  /// `by_x` and `by_y` have steps of a row; 0 stands for the tight one.
  void compare(const pattern& p, const types& t, std::size_t columns, strides by_x, strides by_y,
               const factors& f = {}, const matrix_form& form = {}, kind k = kind::plain) {
    const auto values = data::random_bytes(t.values, p.nonzeros(), 1, k);
    const placed_matrix there(where(), p, values, t.values, form),
        here(tally::serial(), p, values, t.values, form);
    const tally::csr_operand& a = there.get();
    const dense x{a.width(), columns, by_x, t.x}, y{a.height(), columns, by_y, t.y};
    const std::size_t y_size = tally::size_of(t.y);
    const auto x_bytes = data::random_bytes(t.x, x.bytes() / tally::size_of(t.x), 2, k);
    const auto y_bytes = f.beta.is_zero() ? std::vector<std::byte>(y.bytes(), std::byte{0xff})
                                          : data::random_bytes(t.y, y.bytes() / y_size, 3, k);
    auto want = y_bytes;
    const tally::output_rows rows = y.out(want.data());
    for (std::size_t j = 0; j < columns; ++j) {
      const tally::operand to = column(rows, j);
      tally::spmv(tally::serial(), {here.get(),
                                    column(x.in(x_bytes.data()), j),
                                    {const_cast<void*>(to.data), to.size, to.increment, to.element},
                                    f.alpha,
                                    f.beta,
                                    nullptr,
                                    {f.grade, false}});
    }
    data::buffer far_x(where(), x_bytes.size()), far_y(where(), y_bytes.size());
    far_x.write(x_bytes.data(), x_bytes.size());
    std::vector<std::byte> got(want.size());
    const auto expect = [&](const tally::spmv_plan* plan, const char* with) {
      far_y.write(y_bytes.data(), y_bytes.size());
      tally::spmm(
          where(),
          {a, x.in(far_x.get()), y.out(far_y.get()), f.alpha, f.beta, plan, {f.grade, false}});
      far_y.read(got.data(), got.size());
      const auto first =
          static_cast<std::size_t>(std::ranges::mismatch(got, want).in1 - got.begin());
      ASSERT_EQ(first, got.size())
          << "at element " << first / y_size << " of " << a.height() << " by " << columns << ", "
          << tally::name(t.values) << " by " << tally::name(t.x) << " to " << tally::name(t.y)
          << ", strides " << by_x.row << ", " << by_x.column << " and " << by_y.row << ", "
          << by_y.column << with;
    };
    ASSERT_NO_FATAL_FAILURE(expect(nullptr, ""));
    const tally::spmv_plan plan(where(), a), knows(where(), a, tally::fixed_columns),
        keeps(where(), a, tally::fixed_values);
    ASSERT_NO_FATAL_FAILURE(expect(&plan, ", with a plan"));
    ASSERT_NO_FATAL_FAILURE(expect(&knows, ", with fixed columns"));
    ASSERT_NO_FATAL_FAILURE(expect(&keeps, ", with fixed values"));
  }

  static strides row_major(std::size_t columns, std::size_t more = 0) {
    return {static_cast<std::ptrdiff_t>(columns + more), 1, more};
  }
  static strides column_major(std::size_t rows, std::size_t more = 0) {
    return {1, static_cast<std::ptrdiff_t>(rows + more), more};
  }
};

const std::vector<std::size_t> lengths = {0,    1,  2,  3,  4,   5,    6,   7,   8,   9,
                                          15,   16, 17, 64, 127, 128,  129, 130, 200, 1024,
                                          1025, 0,  63, 7,  1,   2100, 3,   70,  0};

TEST_ON_EVERY_EXECUTOR(Spmm, NumbersOfColumns) {
  const pattern p = matrices::rows_of(lengths, 150, 3);
  for (const std::size_t k : {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 31, 32, 33, 40, 64, 71}) {
    for (const types& t : {f64, f32}) {
      ASSERT_NO_FATAL_FAILURE(compare(p, t, k, row_major(k), row_major(k)));
      ASSERT_NO_FATAL_FAILURE(
          compare(p, t, k, column_major(p.columns), column_major(p.rows), {0.5, 2}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Spmm, Layouts) {
  const pattern p = matrices::rows_of(lengths, 90, 5);
  constexpr std::size_t k = 6;
  const auto n = static_cast<std::ptrdiff_t>(p.columns), m = static_cast<std::ptrdiff_t>(p.rows);
  const std::vector<std::pair<strides, strides>> all = {{row_major(k, 3), row_major(k, 1)},
                                                        {row_major(k, 2), column_major(p.rows, 1)},
                                                        {column_major(p.columns, 3), row_major(k)},
                                                        {{-7, 1}, {6, -1}},
                                                        {{13, 2, 1}, {2, 2 * m + 1, 1}},
                                                        {{-1, -n}, {-2, 3 * m}},
                                                        {{8, 1, 2}, {1, -m, 5}},
                                                        {row_major(k), {2 * k - 1, 2}},
                                                        {row_major(k), {k + 1, 3}}};
  for (const auto& [x, y] : all) {
    for (const factors& f : {factors{}, factors{-1.5, 0}, factors{2, -0.25}}) {
      ASSERT_NO_FATAL_FAILURE(compare(p, f64, k, x, y, f));
      ASSERT_NO_FATAL_FAILURE(compare(p, f32, k, x, y, f));
    }
  }
  // Rows of x that are one vector each would have no increment; a single one has none to need.
  ASSERT_NO_FATAL_FAILURE(compare(matrices::rows_of({3}, 1, 1), f64, 4, {0, 1}, {0, 1}));
  // Shares of 32 columns would leave one.
  ASSERT_NO_FATAL_FAILURE(
      compare(matrices::rows_of({3, 300}, 9, 1), f64, 993, row_major(993), row_major(993)));
}

TEST_ON_EVERY_EXECUTOR(Spmm, Types) {
  using enum type;
  const pattern p = matrices::rows_of(lengths, 80, 7);
  const std::vector<types> all = {
      {float32, float64, float64},       {float32, float32, float64},
      {float64, float32, float32},       {float64, float64, float32},
      {float16, float32, float32},       {bfloat16, float64, complex64},
      {float64, float64, complex128},    {complex64, complex64, complex64},
      {float64, complex128, complex128}, {complex128, float32, complex128}};
  for (const types& t : all) {
    for (const std::size_t k : {3, 9}) {
      ASSERT_NO_FATAL_FAILURE(compare(p, t, k, row_major(k), row_major(k)));
      ASSERT_NO_FATAL_FAILURE(
          compare(p, t, k, column_major(p.columns), column_major(p.rows), {0.5f, 1}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Spmm, FormsOfTheMatrix) {
  const pattern p = matrices::rows_of(lengths, 60, 9);
  const std::vector<matrix_form> forms = {{matrix_operation::transpose},
                                          {matrix_operation::conjugate_transpose},
                                          {matrix_operation::none, true},
                                          {matrix_operation::transpose, true},
                                          {matrix_operation::none, false, type::int64},
                                          {matrix_operation::none, false, type::int32, type::int64},
                                          {matrix_operation::none, true, type::int64, type::int64}};
  for (const matrix_form& form : forms) {
    const std::size_t n = form.operation == matrix_operation::none ? p.columns : p.rows;
    ASSERT_NO_FATAL_FAILURE(compare(p, f64, 8, row_major(8), row_major(8), {2, 1}, form));
    ASSERT_NO_FATAL_FAILURE(compare(p, f32, 5, column_major(n), row_major(5), {}, form));
    ASSERT_NO_FATAL_FAILURE(compare(p, {type::complex128, type::complex128, type::complex128}, 3,
                                    row_major(3), row_major(3), {}, form));
  }
}

TEST_ON_EVERY_EXECUTOR(Spmm, ExactGradeAndSpecialValues) {
  const pattern p = matrices::rows_of(lengths, 60, 11);
  ASSERT_NO_FATAL_FAILURE(compare(p, f64, 5, row_major(5), row_major(5), {1, 0, tally::exact}));
  for (const kind k : {kind::wide, kind::special}) {
    for (const factors& f : {factors{}, factors{-2.5, 1e300}, factors{0, 1}}) {
      ASSERT_NO_FATAL_FAILURE(compare(p, f64, 9, row_major(9), row_major(9), f, {}, k));
      ASSERT_NO_FATAL_FAILURE(compare(p, f32, 9, column_major(60), row_major(9), f, {}, k));
    }
  }
}

/// Several threads; rows longer than a part are cut.
TEST_ON_EVERY_EXECUTOR(Spmm, Matrices) {
  std::vector<std::size_t> uneven(3000, 4);
  for (std::size_t i = 0; i < uneven.size(); i += 3) uneven[i] = i % 100;
  uneven.insert(uneven.end(), {30000, 0, 5000, 20001, 3});
  for (const pattern& p : {matrices::stencil(70, 60, 1, 1), matrices::stencil(17, 16, 15, 3),
                           matrices::rmat(11, 30000, 1), matrices::rows_of(uneven, 20000, 17),
                           matrices::rows_of({60000}, 500, 23)}) {
    for (const std::size_t k : {4, 8, 32}) {
      ASSERT_NO_FATAL_FAILURE(compare(p, f64, k, row_major(k), row_major(k)));
      ASSERT_NO_FATAL_FAILURE(compare(p, f64, k, column_major(p.columns), column_major(p.rows)));
    }
    ASSERT_NO_FATAL_FAILURE(compare(p, f32, 32, row_major(32), column_major(p.rows), {3, 1}));
  }
}

/// Enough rows to fill a device, whose blocks have tiles of them; some have more terms than others.
TEST_ON_EVERY_EXECUTOR(Spmm, ManyRows) {
  std::vector<std::size_t> many(9000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = i / 1000 == 4 ? 100 + i % 29 : i % 13;
  std::vector<std::size_t> with_long = many;
  with_long[77] = 129, with_long[5000] = 3000, with_long.back() = 1025;
  for (const auto& rows : {many, with_long}) {
    const pattern p = matrices::rows_of(rows, 4000, 29);
    for (const std::size_t k : {32, 23}) {
      ASSERT_NO_FATAL_FAILURE(compare(p, f64, k, row_major(k), row_major(k)));
    }
    ASSERT_NO_FATAL_FAILURE(compare(p, f32, 32, row_major(32, 1), column_major(p.rows), {2, 1},
                                    {matrix_operation::none, false, type::int64, type::int64}));
  }
}

/// The row order, written out.
TEST_ON_EVERY_EXECUTOR(Spmm, LiteralTranscription) {
  constexpr std::size_t k = 5;
  const pattern p = matrices::rows_of(lengths, 40, 13);
  const auto values = data::random_bytes(type::float64, p.nonzeros(), 4, kind::plain);
  const auto x = data::random_bytes(type::float64, p.columns * k, 5, kind::plain);
  const placed_matrix a(where(), p, values, type::float64, {});
  data::buffer far_x(where(), x.size()), far_y(where(), p.rows * k * sizeof(double));
  far_x.write(x.data(), x.size());
  tally::spmm(where(), {a.get(), dense{p.columns, k, {k, 1}, type::float64}.in(far_x.get()),
                        dense{p.rows, k, {k, 1}, type::float64}.out(far_y.get())});
  std::vector<std::byte> y(far_y.size());
  far_y.read(y.data(), y.size());
  for (std::size_t i = 0; i < p.rows; ++i) {
    const auto first = static_cast<std::size_t>(p.row_offsets[i]),
               last = static_cast<std::size_t>(p.row_offsets[i + 1]);
    const std::vector<std::byte> row(values.data() + first * 8, values.data() + last * 8);
    for (std::size_t j = 0; j < k; ++j) {
      std::vector<std::byte> terms((last - first) * 8);
      for (std::size_t l = first; l < last; ++l) {
        const std::size_t at = static_cast<std::size_t>(p.column_indices[l]) * k + j;
        std::memcpy(terms.data() + (l - first) * 8, x.data() + at * 8, 8);
      }
      const auto want = transcription::dot({row, type::float64}, {terms, type::float64},
                                           type::float64, false, transcription::order::of_rows);
      ASSERT_EQ(std::memcmp(want.data(), y.data() + (i * k + j) * 8, 8), 0)
          << "row " << i << " of " << last - first << " terms, column " << j;
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Spmm, GoldenBits) {
  for (const auto& row : golden::matrix_rows) {
    const auto values = golden::doubles(row.n, 1), x = golden::doubles(row.n, 2);
    pattern p;
    p.columns = row.n;
    for (std::size_t j = 0; j < row.n; ++j) p.column_indices.push_back(static_cast<int>(j));
    p.end_row();
    const placed_matrix a(where(), p, bytes_of(values), type::float64, {});
    std::vector<double> three;
    for (const double value : x) three.insert(three.end(), {value, 2 * value, value});
    const data::placed<double> far_x(where(), three), far_y(where(), {0, 0, 0});
    tally::spmm(where(),
                {a.get(),
                 tally::detail::as_rows(tally::rows(far_x.span().data(), row.n, 3)),
                 {tally::as_output(*std::make_unique<std::span<double>>(far_y.span())), 1, 3}});
    const auto y = far_y.read();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(y[0]), row.f64) << row.n;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(y[2]), row.f64) << row.n;
  }
}

TEST_ON_EVERY_EXECUTOR(Spmm, Empty) {
  ASSERT_NO_FATAL_FAILURE(compare(matrices::rows_of({}, 5, 1), f64, 3, row_major(3), row_major(3)));
  ASSERT_NO_FATAL_FAILURE(
      compare(matrices::rows_of({0, 0}, 5, 1), f64, 3, row_major(3), row_major(3), {1, 2}));
  const pattern p = matrices::rows_of({2, 1}, 2, 1);
  const placed_matrix a(where(), p, std::vector<std::byte>(24), type::float64, {});
  tally::spmm(
      where(),
      {a.get(), {{nullptr, 0, 1, type::float64}, 2, 1}, {{nullptr, 0, 1, type::float64}, 2, 1}});
}

TEST(SpmmTemplates, TakeRowsAndFactors) {
  const std::vector<int> offsets = {0, 2, 3}, columns = {0, 1, 1};
  const std::vector<double> values = {1, 2, 3}, x = {1, 2, 3, 10, 20, 30};
  const tally::csr_view a{2, 2, offsets, columns, values};
  std::vector<double> y(6);
  const auto in = tally::rows(x.data(), 2, 3);
  tally::spmm(a, in, tally::rows(y.data(), 2, 3));
  EXPECT_EQ(y, (std::vector<double>{21, 42, 63, 30, 60, 90}));
  tally::spmm(2, a, in, 1.0f, tally::rows(y.data(), 2, 3));
  EXPECT_EQ(y, (std::vector<double>{63, 126, 189, 90, 180, 270}));
  const tally::spmv_plan plan(tally::serial(), a);
  tally::spmm(tally::serial(), plan, a, in, tally::rows(y.data(), 2, 3, 1, 2));  // column-major
  EXPECT_EQ(y, (std::vector<double>{21, 30, 42, 60, 63, 90}));
  tally::spmm(tally::simd(), tally::transpose(a), in, tally::rows(y.data(), 2, 3), tally::exact);
  EXPECT_EQ(y, (std::vector<double>{1, 2, 3, 32, 64, 96}));
  tally::spmm(tally::serial(), plan, 1, a, in, 0, tally::rows(y.data(), 2, 3), tally::exact);
  EXPECT_EQ(y, (std::vector<double>{21, 42, 63, 30, 60, 90}));
}

TEST(SpmmErrors, OfArguments) {
  const std::vector<int> offsets = {0, 2, 3}, columns = {0, 1, 1};
  const std::vector<double> values = {1, 2, 3};
  const tally::csr_view a{2, 2, offsets, columns, values};
  std::vector<double> v(64);
  double* const p = v.data();
  const auto on = tally::serial();
  data::expect_error(errc::size_mismatch, "tally::spmm: x has 3 rows, the matrix 2 columns",
                     [&] { tally::spmm(on, a, tally::rows(p, 3, 2), tally::rows(p + 32, 2, 2)); });
  data::expect_error(errc::size_mismatch, "tally::spmm: y has 3 rows, the transpose 2 rows", [&] {
    tally::spmm(on, tally::transpose(a), tally::rows(p, 2, 2), tally::rows(p + 32, 3, 2));
  });
  data::expect_error(errc::size_mismatch, "tally::spmm: x has 2 columns, y has 3",
                     [&] { tally::spmm(on, a, tally::rows(p, 2, 2), tally::rows(p + 32, 2, 3)); });
  data::expect_error(errc::overlap, "tally::spmm: y overlaps x",
                     [&] { tally::spmm(on, a, tally::rows(p, 2, 2), tally::rows(p + 3, 2, 2)); });
  data::expect_error(errc::overlap, "tally::spmm: y's rows overlap", [&] {
    tally::spmm(on, a, tally::rows(p, 2, 2), tally::rows(p + 32, 2, 2, 1));
  });
  data::expect_error(errc::zero_increment, "tally::spmm: x has leading dimension 0", [&] {
    tally::spmm(on, a, tally::rows(p, 2, 2, 0), tally::rows(p + 32, 2, 2));
  });
  tally::spmm(on, a, tally::rows(p, 2, 0), tally::rows(p + 32, 2, 0));  // nothing to do
  data::expect_error(errc::null_pointer, "tally::spmm: x is null and should point at 2 elements",
                     [&] {
                       tally::spmm(on, a, tally::rows(static_cast<const double*>(nullptr), 2, 2),
                                   tally::rows(p + 32, 2, 2));
                     });
  data::expect_error(errc::invalid_argument, "tally::spmm: x has more than one block of rows", [&] {
    tally::spmm(on, {tally::as_operand(a),
                     {{p, 2, 1, type::float64}, 4, 2, 2, 8},
                     {{p + 32, 2, 1, type::float64}, 2, 2}});
  });
  const tally::spmv_plan plan(tally::simd(), a);
  data::expect_error(
      errc::invalid_argument,
      "tally::spmm: the plan was made on " + tally::simd().description() + "; the product is on " +
          on.description(),
      [&] { tally::spmm(on, plan, a, tally::rows(p, 2, 2), tally::rows(p + 32, 2, 2)); });
  // Columns of y that lie between those of x share nothing.
  tally::spmm(on, a, tally::rows(p, 2, 2, 4), tally::rows(p + 2, 2, 2, 4));
}

}  // namespace
