// spmv: the bits of a literal transcription of the row order, for every type of values, vectors and
// indices, row length, stride and factor, with and without a plan; invalid matrices are found.
#include "tests/data.hpp"
#include "tests/elementwise_transcription.hpp"
#include "tests/golden.hpp"
#include "tests/matrices.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using data::bytes_of;
using data::kind;
using data::layout;
using matrices::pattern;
using tally::elementwise;
using tally::type;

using value_types = tally::type_list<tally::float16, tally::bfloat16, float, double,
                                     std::complex<float>, std::complex<double>>;
using vector_types = tally::type_list<float, double, std::complex<float>, std::complex<double>>;

template <class... T, class F>
void for_each(tally::type_list<T...>, F&& f) {
  (f(std::type_identity<T>{}), ...);
}

std::vector<std::byte> sums_of(const pattern& p, const std::vector<std::byte>& values,
                               type value_type, const std::vector<std::byte>& x, type x_type,
                               type accumulator, bool conjugated) {
  const std::size_t value_size = tally::size_of(value_type), x_size = tally::size_of(x_type);
  std::vector<std::byte> sums;
  for (std::size_t i = 0; i < p.rows; ++i) {
    const auto first = static_cast<std::size_t>(p.row_offsets[i]),
               last = static_cast<std::size_t>(p.row_offsets[i + 1]);
    const std::vector<std::byte> row(values.data() + first * value_size,
                                     values.data() + last * value_size);
    std::vector<std::byte> factors((last - first) * x_size);
    for (std::size_t j = first; j < last; ++j) {
      const auto column = static_cast<std::size_t>(p.column_indices[j]);
      std::memcpy(factors.data() + (j - first) * x_size, x.data() + column * x_size, x_size);
    }
    const auto sum = transcription::dot({row, value_type}, {factors, x_type}, accumulator,
                                        conjugated, transcription::order::of_rows);
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  return sums;
}

/// `what` is scal without y, axpby for an updated y, waxpby for a separate one.
std::vector<std::byte> combined(const std::vector<std::byte>& sums, type accumulator,
                                const tally::scalar& alpha, const tally::scalar& beta,
                                elementwise what, const std::vector<std::byte>& y, type y_type) {
  const type c = tally::detail::computation_type(elementwise::axpby, accumulator, y_type);
  const std::vector<std::byte> room(sums.size() / tally::size_of(accumulator) * tally::size_of(c));
  const auto wide = transcription::transform(elementwise::copy, {}, {sums, accumulator},
                                             {sums, accumulator}, {room, c});
  return transcription::transform(what, {alpha, beta}, {wide, c}, {y, y_type}, {y, y_type});
}

/// A column's terms in the order of the rows, within a row as stored.
struct transposed {
  pattern rows;
  std::vector<std::byte> values;

  transposed(const pattern& p, const std::vector<std::byte>& of, std::size_t size) {
    rows.columns = p.rows;
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> columns(p.columns);
    for (std::size_t i = 0; i < p.rows; ++i) {
      for (auto j = static_cast<std::size_t>(p.row_offsets[i]);
           j < static_cast<std::size_t>(p.row_offsets[i + 1]); ++j) {
        columns[static_cast<std::size_t>(p.column_indices[j])].emplace_back(i, j);
      }
    }
    for (const auto& column : columns) {
      for (const auto& [i, j] : column) {
        rows.column_indices.push_back(static_cast<std::int32_t>(i));
        values.insert(values.end(), of.data() + j * size, of.data() + (j + 1) * size);
      }
      rows.end_row();
    }
  }
};

/// A matrix with separate row ends: permuted rows with gaps that must not be read.
struct apart {
  std::vector<std::int32_t> begins, ends, columns;
  std::vector<std::byte> values;

  apart(const pattern& p, const std::vector<std::byte>& of, std::size_t size)
      : begins(p.rows), ends(p.rows) {
    std::mt19937 random(12);
    std::vector<std::size_t> order(p.rows);
    std::iota(order.begin(), order.end(), 0);
    // Half stay in order and adjacent, as in most matrices.
    std::shuffle(order.begin() + static_cast<std::ptrdiff_t>(p.rows / 2), order.end(), random);
    for (const std::size_t i : order) {
      const std::size_t gap = i % 3 == 0 ? random() % 9 : 0;
      columns.insert(columns.end(), gap, std::numeric_limits<std::int32_t>::max());
      values.insert(values.end(), gap * size, std::byte{0xff});
      begins[i] = static_cast<std::int32_t>(columns.size());
      const auto first = static_cast<std::size_t>(p.row_offsets[i]),
                 last = static_cast<std::size_t>(p.row_offsets[i + 1]);
      columns.insert(columns.end(), p.column_indices.begin() + p.row_offsets[i],
                     p.column_indices.begin() + p.row_offsets[i + 1]);
      values.insert(values.end(), of.data() + first * size, of.data() + last * size);
      ends[i] = static_cast<std::int32_t>(columns.size());
    }
  }
};

/// A matrix in an executor's memory, in three arrays or four.
class placed_matrix {
 public:
  placed_matrix(const tally::executor& where, const apart& four, const pattern& p, type value_type,
                type offset_type, type column_type, std::size_t misplaced = 0)
      : placed_matrix(where, four.begins, four.columns, four.values, value_type, offset_type,
                      column_type, misplaced, p, 8 * four.ends.size() + 64) {
    matrix_.row_ends =
        data::place(ends_, indices(four.ends, offset_type), offset_type, {misplaced + 1, 1});
  }
  placed_matrix(const tally::executor& where, const pattern& p,
                const std::vector<std::byte>& values, type value_type, type offset_type,
                type column_type, std::size_t misplaced = 0)
      : placed_matrix(where, p.row_offsets, p.column_indices, values, value_type, offset_type,
                      column_type, misplaced, p, 64) {}
  const tally::csr_operand& get() const { return matrix_; }

  tally::csr_operand get(tally::matrix_operation operation) const {
    tally::csr_operand a = matrix_;
    a.operation = operation;
    return a;
  }

 private:
  placed_matrix(const tally::executor& where, const std::vector<std::int32_t>& row_offsets,
                const std::vector<std::int32_t>& column_indices,
                const std::vector<std::byte>& values, type value_type, type offset_type,
                type column_type, std::size_t misplaced, const pattern& p, std::size_t ends_bytes)
      : offsets_(where, bytes_for(row_offsets.size())),
        columns_(where, bytes_for(column_indices.size())),
        values_(where, values.size() + 64),
        ends_(where, ends_bytes) {
    matrix_.rows = p.rows;
    matrix_.columns = p.columns;
    matrix_.row_offsets =
        data::place(offsets_, indices(row_offsets, offset_type), offset_type, {misplaced, 1});
    matrix_.column_indices =
        data::place(columns_, indices(column_indices, column_type), column_type, {misplaced, 1});
    matrix_.values = data::place(values_, values, value_type, {misplaced, 1});
  }
  static std::size_t bytes_for(std::size_t n) { return 8 * n + 64; }
  static std::vector<std::byte> indices(const std::vector<std::int32_t>& narrow, type element) {
    if (element == type::int32) return bytes_of(narrow);
    return bytes_of(std::vector<std::int64_t>(narrow.begin(), narrow.end()));
  }

  data::buffer offsets_, columns_, values_, ends_;
  tally::csr_operand matrix_;
};

struct factors {
  tally::scalar alpha = 1;
  tally::scalar beta = 0;
  bool reads_y = false;
};

struct layouts {
  layout x, y;
  std::size_t matrix = 0;  ///< misalignment of its arrays, in elements
};

struct types {
  type values, x, y, accumulator;
};
template <class V, class X, class Y>
constexpr types of = {tally::type_of<V>, tally::type_of<X>, tally::type_of<Y>,
                      tally::type_of<tally::dot_result_t<V, X>>};

/// Form of a matrix, and of the call.
struct form {
  tally::matrix_operation operation = tally::matrix_operation::none;
  bool four_arrays = false;
};
constexpr form as_it_is = {};
constexpr form transpose = {tally::matrix_operation::transpose};
constexpr form conjugate_transpose = {tally::matrix_operation::conjugate_transpose};
constexpr form four_arrays = {tally::matrix_operation::none, true};
constexpr form transpose_of_four = {tally::matrix_operation::transpose, true};

class Spmv : public data::OnEveryExecutor {
 protected:
  /// Compares products with and without plans.
  void compare(const pattern& p, const types& t, kind k, type offset_type, type column_type,
               const std::vector<factors>& all, const layouts& l = {}, const form& f = as_it_is) {
    using tally::matrix_operation;
    const auto values = data::random_bytes(t.values, p.nonzeros(), 1, k);
    const std::size_t value_size = tally::size_of(t.values);
    const placed_matrix a =
        f.four_arrays
            ? placed_matrix(where(), apart(p, values, value_size), p, t.values, offset_type,
                            column_type, l.matrix)
            : placed_matrix(where(), p, values, t.values, offset_type, column_type, l.matrix);
    const tally::csr_operand matrix = a.get(f.operation);
    const bool conjugates = f.operation == matrix_operation::conjugate_transpose;
    if (f.operation == matrix_operation::none) {
      const tally::spmv_plan plan(where(), matrix), knows(where(), matrix, {.fixed_columns = true}),
          keeps(where(), matrix, {.fixed_values = true}),
          later(where(), matrix, {.fixed_columns = true, .queued = true});
      std::vector<const tally::spmv_plan*> plans = {nullptr, &plan, &knows, &keeps};
      if (data::on_device(where())) plans.push_back(&later);
      return compare(p, values, matrix, plans, t, k, all, l, conjugates);
    }
    const transposed q(p, values, value_size);
    const tally::spmv_plan plan(where(), matrix), copy(where(), matrix, {.fixed_values = true});
    compare(q.rows, q.values, matrix, {nullptr, &plan, &copy}, t, k, all, l, conjugates);
  }

  /// Compares products whose summed rows are those of p.
  void compare(const pattern& p, const std::vector<std::byte>& values,
               const tally::csr_operand& matrix, const std::vector<const tally::spmv_plan*>& plans,
               const types& t, kind k, const std::vector<factors>& all, const layouts& l,
               bool conjugates) {
    const auto x = data::random_bytes(t.x, p.columns, 2, k);
    const auto sums = sums_of(p, values, t.values, x, t.x, t.accumulator, conjugates);
    for (const tally::spmv_plan* plan : plans) {
      EXPECT_FALSE(plan != nullptr && !plan->is_queued() && plan->describe().empty());
    }
    data::buffer x_memory(where(), memory_for(p.columns, tally::size_of(t.x), l.x));
    const std::size_t y_size = tally::size_of(t.y);
    data::buffer y_memory(where(), memory_for(p.rows, y_size, l.y));
    const layout beside{l.y.offset + 1, l.x.increment};
    data::buffer added_memory(where(), memory_for(p.rows, y_size, beside));
    const std::vector<std::byte> unwritten(y_memory.size(), std::byte{0xff});
    y_memory.write(unwritten.data(), unwritten.size());
    const tally::operand px = data::place(x_memory, x, t.x, l.x);
    for (const factors& f : all) {
      // An unread y holds NaNs.
      const auto before = f.reads_y ? data::random_bytes(t.y, p.rows, 3, k)
                                    : std::vector<std::byte>(p.rows * y_size, std::byte{0xff});
      const auto want = combined(sums, t.accumulator, f.alpha, f.beta,
                                 f.reads_y ? elementwise::axpby : elementwise::scal, before, t.y);
      const auto added = data::random_bytes(t.y, p.rows, 4, k);
      const auto want_apart =
          combined(sums, t.accumulator, f.alpha, f.beta, elementwise::waxpby, added, t.y);
      for (const tally::spmv_plan* with : plans) {
        const tally::operand py = data::place(y_memory, before, t.y, l.y);
        const tally::output_operand to{const_cast<void*>(py.data), py.size, py.increment,
                                       py.element};
        tally::spmv(where(), {matrix, px, to, f.alpha, f.beta, with});
        expect_equal(y_memory, py, want, p, with != nullptr);
        if (HasFatalFailure()) return;
        y_memory.write(unwritten.data(), unwritten.size());
        tally::spmv(where(), {matrix,
                              px,
                              to,
                              f.alpha,
                              f.beta,
                              with,
                              {.wait = false},
                              data::place(added_memory, added, t.y, beside)});
        expect_equal(y_memory, py, want_apart, p, with != nullptr);
        if (HasFatalFailure()) return;
      }
    }
  }

 private:
  static std::size_t memory_for(std::size_t n, std::size_t size, layout l) {
    const auto step = static_cast<std::size_t>(l.increment < 0 ? -l.increment : l.increment);
    return (l.offset + n * step + 2) * size;
  }

  /// No other byte may change.
  static void expect_equal(const data::buffer& memory, const tally::operand& y,
                           const std::vector<std::byte>& want, const pattern& p, bool planned) {
    const std::size_t size = tally::size_of(y.element);
    std::vector<std::byte> image(memory.size());
    memory.read(image.data(), image.size());
    const auto at = [&](std::size_t i) {
      const auto* const element =
          static_cast<const std::byte*>(y.data) +
          static_cast<std::ptrdiff_t>(i) * y.increment * static_cast<std::ptrdiff_t>(size);
      return static_cast<std::size_t>(element - memory.get());
    };
    const auto element_of = [size](const std::vector<std::byte>& bytes, std::size_t first) {
      return std::vector<std::byte>(bytes.data() + first, bytes.data() + first + size);
    };
    for (std::size_t i = 0; i < y.size; ++i) {
      ASSERT_EQ(element_of(image, at(i)), element_of(want, i * size))
          << "row " << i << " of " << p.row_offsets[i + 1] - p.row_offsets[i] << " terms, "
          << tally::name(y.element) << ", increment " << y.increment
          << (planned ? ", with a plan" : "");
      std::memset(image.data() + at(i), 0xff, size);
    }
    const std::size_t step = static_cast<std::size_t>(y.increment < 0 ? -y.increment : y.increment);
    if (want.empty() || step == 1) return;
    const std::size_t first = std::min(at(0), at(y.size - 1));
    const std::size_t last = std::max(at(0), at(y.size - 1));
    for (std::size_t b = first; b < last; ++b) ASSERT_EQ(image[b], std::byte{0xff});
  }
};

const std::vector<std::size_t> border_lengths = {
    0,  1,  2,  3,  4,   5,   6,   7,    8,    9,    10,   0,    15, 16,   17,   23,
    24, 63, 64, 65, 120, 127, 128, 129,  130,  191,  192,  193,  0,  1023, 1024, 1025,
    0,  3,  0,  5,  1,   0,   0,   2047, 2048, 2049, 4100, 9000, 70, 7,    0};

TEST_ON_EVERY_EXECUTOR(Spmv, RowLengths) {
  const pattern p = matrices::rows_of(border_lengths, 1500, 7);
  for (const kind k : {kind::plain, kind::wide, kind::special}) {
    compare(p, of<double, double, double>, k, type::int32, type::int32, {{}, {0.7, -1.25, true}});
    compare(p, of<float, float, float>, k, type::int64, type::int32, {{}, {0.7, -1.25, true}});
  }
  // The last row ends the arrays: nothing is read past them.
  for (std::size_t n = 1; n < 20; ++n) {
    compare(matrices::rows_of({n}, 30, n), of<double, double, double>, kind::plain, type::int32,
            type::int32, {{}});
  }
}

TEST_ON_EVERY_EXECUTOR(Spmv, Types) {
  const pattern p = matrices::rows_of({0, 1, 5, 8, 9, 20, 128, 129, 1030, 3}, 200, 3);
  int turn = 0;
  for_each(value_types{}, [&]<class V>(std::type_identity<V>) {
    for_each(vector_types{}, [&]<class X>(std::type_identity<X>) {
      for_each(vector_types{}, [&]<class Y>(std::type_identity<Y>) {
        if constexpr (tally::detail::gives_product(tally::type_of<V>, tally::type_of<X>,
                                                   tally::type_of<Y>)) {
          std::vector<factors> all = {{}, {2, 3, true}, {0.1, 0, false}, {0.1f, -0.3, true}};
          if (tally::is_complex_v<Y>) {
            all.push_back({std::complex<double>(0.3, -0.7), std::complex<float>(0.1f, 2), true});
            all.push_back({std::complex<float>(0.3f, 0), std::complex<double>(0, 0), false});
          }
          const type offset = turn & 1 ? type::int64 : type::int32;
          const type column = turn & 2 ? type::int64 : type::int32;
          ++turn;
          compare(p, of<V, X, Y>, turn % 3 == 0 ? kind::special : kind::plain, offset, column, all);
        }
      });
    });
  });
}

// Rows for a few device threads each; hosts sum them without branches.
TEST_ON_EVERY_EXECUTOR(Spmv, ShortRows) {
  const pattern p = matrices::rows_of({0, 1, 5, 8, 3, 2, 4, 7, 6, 0, 9, 16, 20, 1, 31, 3}, 200, 3);
  for_each(value_types{}, [&]<class V>(std::type_identity<V>) {
    for_each(vector_types{}, [&]<class X>(std::type_identity<X>) {
      using Y = tally::dot_result_t<V, X>;
      for (const type offset : {type::int32, type::int64}) {
        for (const type column : {type::int32, type::int64}) {
          compare(p, of<V, X, Y>, kind::special, offset, column, {{}, {0.1, -0.3, true}},
                  {{1, 2}, {3, -1}, 1});
        }
      }
    });
  });
}

// x larger than a core's cache, a matrix larger than all caches.
TEST_ON_EVERY_BACKEND(Spmv, FarElements) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 400; ++i) lengths.push_back(9 + i % 120);
  const pattern wide = matrices::rows_of(lengths, 200'000, 7);
  const pattern far = matrices::random_rows(100'000, 15, 0.5, 9);
  for (const type column : {type::int32, type::int64}) {
    compare(wide, of<double, double, double>, kind::plain, type::int32, column, {{}});
    compare(wide, of<float, double, double>, kind::plain, type::int64, column, {{}});
  }
  compare(far, of<double, double, double>, kind::plain, type::int32, type::int32, {{}});
  compare(far, of<float, float, float>, kind::plain, type::int64, type::int64, {{}});
}

TEST_ON_EVERY_EXECUTOR(Spmv, Indices) {
  const pattern p = matrices::rows_of(border_lengths, 300, 5);
  for (const type offset : {type::int32, type::int64}) {
    for (const type column : {type::int32, type::int64}) {
      compare(p, of<double, double, double>, kind::plain, offset, column, {{}});
      compare(p, of<float, double, double>, kind::plain, offset, column, {{}});
      compare(p, of<tally::float16, float, float>, kind::wide, offset, column, {{}});
      compare(p, of<std::complex<float>, std::complex<float>, std::complex<float>>, kind::plain,
              offset, column, {{}});
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Spmv, StridesAndAlignments) {
  const pattern p = matrices::rows_of({3, 0, 9, 17, 128, 300, 1100, 8, 2, 2}, 77, 11);
  for (const std::ptrdiff_t incx : {1, 2, -1, -3}) {
    for (const std::ptrdiff_t incy : {1, 3, -1, -2}) {
      const layouts l{{1, incx}, {3, incy}, 1};
      compare(p, of<double, double, double>, kind::plain, type::int32, type::int32,
              {{}, {2.5, 0.5, true}}, l);
      compare(p, of<std::complex<double>, double, std::complex<double>>, kind::plain, type::int64,
              type::int32, {{}, {2.5, 0.5, true}}, l);
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Spmv, Factors) {
  const pattern p = matrices::rows_of({0, 1, 2, 3, 129}, 9, 13);
  const std::vector<factors> all = {{-1, 0, false},
                                    {0, 0, false},
                                    {0, 1, true},
                                    {1, -0.0, false},
                                    {-2.5f, 1, true},
                                    {1e-30, 1e300, true},
                                    {std::numeric_limits<double>::quiet_NaN(), 0, false}};
  for (const kind k : {kind::plain, kind::wide, kind::special}) {
    compare(p, of<double, double, double>, k, type::int32, type::int32, all);
    compare(p, of<double, double, float>, k, type::int32, type::int32, all);
    compare(p, of<float, float, double>, k, type::int32, type::int32, all);
  }
}

/// Several threads; rows longer than a partition are cut.
TEST_ON_EVERY_EXECUTOR(Spmv, ManyRowsAndLongOnes) {
  std::vector<std::size_t> lengths(20000, 4);
  for (std::size_t i = 0; i < lengths.size(); i += 3) lengths[i] = 0;
  compare(matrices::rows_of(lengths, 20000, 17), of<double, double, double>, kind::plain,
          type::int32, type::int32, {{}, {0.5, 2, true}});
  lengths.assign(50, 100);
  lengths.insert(lengths.end(), {150000, 0, 5000, 70001, 3});
  compare(matrices::rows_of(lengths, 20000, 19), of<double, double, double>, kind::plain,
          type::int32, type::int32, {{}, {0.5, 2, true}});
  compare(matrices::rows_of({2000, 60000, 0, 1}, 500, 23),
          of<std::complex<float>, std::complex<float>, std::complex<float>>, kind::plain,
          type::int32, type::int32, {{}});
  compare(matrices::rows_of({200000}, 1000, 29), of<double, double, double>, kind::plain,
          type::int32, type::int32, {{}});
  compare(matrices::arrow(60000), of<float, float, float>, kind::plain, type::int32, type::int32,
          {{}});
}

TEST_ON_EVERY_EXECUTOR(Spmv, FewTermsARowAndLongOnes) {
  std::vector<std::size_t> lengths(70000);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i % 11;
  lengths.front() = 129;
  lengths[30000] = 128;
  lengths[30001] = 5000;
  lengths[50000] = 1025;
  lengths.back() = 20000;
  const pattern p = matrices::rows_of(lengths, 30000, 37);
  compare(p, of<double, double, double>, kind::plain, type::int32, type::int32,
          {{}, {0.5, 2, true}});
  compare(p, of<float, float, float>, kind::plain, type::int64, type::int32, {{}});
  compare(p, of<double, double, double>, kind::plain, type::int64, type::int64, {{}});
  compare(p, of<float, float, float>, kind::plain, type::int32, type::int64, {{}});
}

TEST_ON_EVERY_EXECUTOR(Spmv, Matrices) {
  for (const pattern& p : {matrices::stencil(40, 30, 1, 1), matrices::stencil(9, 8, 11, 1),
                           matrices::stencil(8, 9, 7, 3), matrices::rmat(11, 30000, 1),
                           matrices::random_rows(3000, 9, 0, 1),
                           matrices::random_rows(3000, 12, 0.6, 2), matrices::arrow(3000)}) {
    compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, {{}});
  }
}

// A plan without promises may be used with another column type.
TEST_ON_EVERY_EXECUTOR(Spmv, ColumnsMayGetAnotherType) {
  const pattern p = matrices::stencil(512, 513, 1, 1);
  const data::placed offsets(where(), p.row_offsets), narrow(where(), p.column_indices);
  const data::placed wide(
      where(), std::vector<std::int64_t>(p.column_indices.begin(), p.column_indices.end()));
  const data::placed values(where(), std::vector<double>(p.nonzeros(), 3)),
      x(where(), std::vector<double>(p.columns, 2)), y(where(), std::vector<double>(p.rows));
  const tally::csr_view a{p.rows, p.columns, offsets.span(), narrow.span(), values.span()};
  const tally::csr_view b{p.rows, p.columns, offsets.span(), wide.span(), values.span()};
  const tally::spmv_plan plan(where(), a);
  for (const double factor : {1, 2}) {
    factor == 1 ? tally::spmv(where(), plan, factor, a, x.span(), 0, y.span())
                : tally::spmv(where(), plan, factor, b, x.span(), 0, y.span());
    const std::vector<double> now = y.read();
    for (std::size_t i = 0; i < p.rows; ++i) {
      ASSERT_EQ(now[i], factor * 6 * (p.row_offsets[i + 1] - p.row_offsets[i])) << i;
    }
  }
}

// Without a plan long rows are queued.
TEST_ON_EVERY_EXECUTOR(Spmv, ManyTerms) {
  if (!data::on_device(where())) return;
  std::mt19937_64 random(3);
  std::vector<std::size_t> lengths(170'000);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i % 1000 == 7 ? 129 : random() % 18;
  for (const std::size_t n : {128, 1023, 1024, 1025, 2048, 2049, 33'000, 70'000}) {
    lengths[random() % lengths.size()] = n;
  }
  lengths.back() = 5000;
  compare(matrices::rows_of(lengths, 20'000, 5), of<double, double, double>, kind::plain,
          type::int32, type::int32, {{0.7, -1.25, true}}, {{1, 2}, {3, -1}, 1});
  lengths.resize(50'000);
  for (std::size_t i = 0; i < lengths.size(); i += 5) lengths[i] += 150;
  compare(matrices::rows_of(lengths, 20'000, 5), of<float, float, float>, kind::plain, type::int64,
          type::int64, {{}});
  // No row is long enough to be queued.
  for (std::size_t& length : lengths) length = random() % 129;
  compare(matrices::rows_of(lengths, 20'000, 5), of<double, double, double>, kind::plain,
          type::int64, type::int32, {{}}, {{1, 1}, {}, 1});
  lengths.resize(300'001);
  for (std::size_t& length : lengths) length = random() % 30 == 0 ? random() % 129 : random() % 9;
  for (std::size_t i = 0; i < 30'000; ++i) lengths[i] = i % 64 < 20 ? 128 : 0;
  compare(matrices::rows_of(lengths, 20'000, 5), of<double, double, double>, kind::plain,
          type::int32, type::int32, {{}});
  compare(matrices::rows_of(lengths, 20'000, 5), of<float, float, float>, kind::plain, type::int32,
          type::int32, {{}}, {{1, 1}, {3, -1}, 1});
}

// Row blocks of a device: rows that cross their borders and that they can't hold, and rows of no
// terms over several of them.
TEST_ON_EVERY_EXECUTOR(Spmv, RowBlocks) {
  if (!data::on_device(where())) return;
  std::mt19937_64 random(8);
  std::vector<std::size_t> lengths(330'001);
  for (std::size_t& length : lengths) length = random() % 65;
  for (std::size_t i = 0; i < 3000; ++i) lengths[100'000 + i] = 0;
  for (std::size_t i = 0; i < 700; ++i) lengths[200'000 + i] = i % 2 == 0 ? 128 : 127 - i % 5;
  for (std::size_t i = 0; i < 900; ++i) lengths[210'000 + i] = 1;
  lengths.front() = 128;
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  const layouts l{{1, 1}, {3, -2}, 1};
  for (const std::size_t last : {0, 128}) {
    lengths.back() = last;
    // With few columns a plan keeps differences.
    const pattern p = matrices::rows_of(lengths, last == 0 ? 40'000 : 4000, 5);
    compare(p, of<double, double, double>, kind::special, type::int32, type::int32, {all[1]}, l);
    compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, all, l);
  }
  // Other types, and x, take another way.
  const pattern p = matrices::rows_of(lengths, 40'000, 5);
  compare(p, of<float, float, double>, kind::plain, type::int32, type::int32, {{}});
  compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, {{}}, {{1, 2}, {}, 1});
  compare(p, of<float, float, float>, kind::plain, type::int32, type::int64, {{}});
  // Without a plan longer rows are queued.
  for (const std::size_t n : {129, 640, 641, 642, 768, 769, 897, 898, 1024, 1025, 2049, 70'000}) {
    lengths[random() % lengths.size()] = n;
    lengths[250'000 + n % 50] = n;
  }
  for (const std::size_t last : {129, 5000}) {
    lengths.front() = lengths.back() = last;
    const pattern longer = matrices::rows_of(lengths, 40'000, 6);
    compare(longer, of<double, double, double>, kind::plain, type::int32, type::int32, all);
    compare(longer, of<float, float, float>, kind::special, type::int32, type::int32, {all[1]}, l);
  }
  // Long rows have most of the terms: short ones have a launch of their own.
  lengths.resize(60'001);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = i % 8 == 3 ? 400 + random() % 300 : random() % 30;
  }
  lengths.back() = 100;
  const pattern most = matrices::rows_of(lengths, 40'000, 7);
  compare(most, of<double, double, double>, kind::plain, type::int32, type::int32, all, l);
  compare(most, of<float, float, float>, kind::special, type::int32, type::int32, {all[1]});
}

// Without a plan, in row blocks of a device: long rows within them and at their ends, in one chunk
// and in several.
TEST_ON_EVERY_EXECUTOR(Spmv, UnevenRows) {
  if (!data::on_device(where())) return;
  std::mt19937_64 random(10);
  std::vector<std::size_t> lengths(90'001);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = i % 61 == 3 ? 129 + random() % 900 : random() % 13;
  }
  for (std::size_t i = 0; i < 12'000; ++i) lengths[20'000 + i] = 0;
  for (std::size_t i = 0; i < 300; ++i) lengths[40'000 + i] = i % 3 == 0 ? 129 : 0;
  for (const std::size_t n :
       {128, 129, 510, 641, 768, 1023, 1024, 1025, 2047, 2048, 2049, 70'000}) {
    lengths[random() % lengths.size()] = n;
    lengths[50'000 + n % 50] = n;
  }
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  for (const std::size_t last : {0, 1, 640, 5000}) {
    lengths.front() = lengths.back() = last;
    const pattern p = matrices::rows_of(lengths, 40'000, 6);
    compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, all,
            {{1, 1}, {3, -2}, 1});
    compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, {all[1]});
  }
  // Nearly all terms are in long rows.
  for (std::size_t& length : lengths) length = random() % 100 == 0 ? random() % 3000 : 0;
  const pattern p = matrices::rows_of(lengths, 40'000, 7);
  compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, all);
  compare(p, of<float, float, double>, kind::plain, type::int32, type::int32, {{}});
  compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, {{}}, {{1, 2}, {}, 1});
}

// A device sums chunks of few rows in warps; a plan may keep columns in 16 bits.
TEST_ON_EVERY_EXECUTOR(Spmv, FewLongRows) {
  if (!data::on_device(where())) return;
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  std::vector<std::size_t> lengths{0,    1,    128,  129,       1023, 1024,    1025, 2047,
                                   2048, 2049, 5000, 1'100'000, 0,    100'001, 3};
  for (const std::size_t columns : {3000, 300'000}) {
    const pattern p = matrices::rows_of(lengths, columns, 5);
    compare(p, of<double, double, double>, kind::special, type::int32, type::int32, all,
            {{1, 1}, {3, -2}, 1});
    compare(p, of<float, float, float>, kind::plain, type::int64, type::int32, all,
            {{3, 1}, {}, 1});
    // Other columns, types and x take another way.
    compare(p, of<double, double, double>, kind::plain, type::int32, type::int64, {{}});
    compare(p, of<float, float, double>, kind::plain, type::int32, type::int32, {{}});
    compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, {{}}, {{1, 2}, {}});
    std::reverse(lengths.begin(), lengths.end());
  }
  compare(matrices::rows_of({1'048'577}, 70'000, 5), of<double, double, double>, kind::special,
          type::int32, type::int32, all);
  // Long rows of few columns, each a warp's with a plan.
  lengths.assign(1200, 129);
  for (std::size_t i = 1; i < lengths.size(); ++i) lengths[i] = 2048 - i;
  const pattern p = matrices::rows_of(lengths, 2000, 5);
  compare(p, of<double, double, double>, kind::special, type::int32, type::int32, all);
  compare(p, of<float, float, float>, kind::special, type::int32, type::int32, {all[1]},
          {{1, 1}, {3, -2}, 1});
  // All rows long, of up to four chunks.
  for (std::size_t i = 0; i < 9; ++i) lengths[100 * i] = std::size_t{2048} + i * 256;
  const pattern longer = matrices::rows_of(lengths, 100'000, 5);
  compare(longer, of<double, double, double>, kind::special, type::int64, type::int32, all);
  compare(longer, of<float, float, float>, kind::special, type::int32, type::int32, {all[1]},
          {{1, 1}, {3, -2}, 1});
  compare(longer, of<float, float, double>, kind::plain, type::int32, type::int64, {{}});
  compare(longer, of<float, float, float>, kind::plain, type::int32, type::int32, {{}},
          {{1, 2}, {}});
}

// Device plans find offsets of rows of one length by a product, and keep few columns in 16 bits.
TEST_ON_EVERY_EXECUTOR(Spmv, RowsOfOneLength) {
  if (!data::on_device(where())) return;
  const std::vector<factors> all = {{0.7, -1.25, true}};
  const auto compare_all = [&](const pattern& p) {
    compare(p, of<double, double, double>, kind::special, type::int32, type::int32, all,
            {{1, 1}, {3, -2}, 1});
    compare(p, of<float, float, float>, kind::special, type::int64, type::int32, all, {{3, 1}, {}});
    compare(p, of<float, float, float>, kind::plain, type::int32, type::int64, {{}});
  };
  for (const std::size_t columns : {64, 65'536, 65'537}) {
    for (const std::size_t terms : {1, 2, 3, 4, 9}) {
      compare_all(matrices::rows_of(std::vector<std::size_t>((1 << 18) + 77, terms), columns, 1));
    }
  }
  // Near the diagonal, kept as differences.
  for (const std::size_t terms : {1, 3, 5}) {
    const std::size_t rows = 40'001;
    pattern near = matrices::rows_of(std::vector<std::size_t>(rows, terms), rows, 3);
    for (std::size_t i = 0; i < near.nonzeros(); ++i) {
      std::int32_t& column = near.column_indices[i];
      column = static_cast<std::int32_t>(
          std::min(i / terms + static_cast<std::size_t>(column) % 900, rows - 1));
    }
    compare_all(near);
  }
  // Nearly one length.
  std::vector<std::size_t> lengths((1 << 18) + 77, 5);
  for (std::size_t i = 0; i < lengths.size(); i += 57) lengths[i] = i % 5;
  compare_all(matrices::rows_of(lengths, 60'000, 2));
}

// Device plans that know columns, and with fewer than 256 terms a row products without one, keep x
// in shared memory.
TEST_ON_EVERY_EXECUTOR(Spmv, LongRowsOfFewColumns) {
  if (!data::on_device(where())) return;
  std::mt19937_64 random(9);
  for (const std::size_t longest : {400, 1300}) {
    std::vector<std::size_t> lengths(3'300'000 / longest);
    for (std::size_t& length : lengths) length = random() % longest;
    for (const std::size_t n : {0, 1, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049, 5000, 70'000}) {
      lengths[random() % lengths.size()] = n;
    }
    lengths.front() = 4097;
    for (const std::size_t last : {0, 1025}) {
      lengths.back() = last;
      const pattern p = matrices::rows_of(lengths, 3001, 5);
      const std::vector<factors> all = {{}, {0.7, -1.25, true}};
      compare(p, of<double, double, double>, kind::special, type::int32, type::int32, all,
              {{1, 1}, {3, -2}, 1});
      compare(p, of<float, float, float>, kind::plain, type::int64, type::int32, all,
              {{3, 1}, {}, 1});
      compare(p, of<float, float, double>, kind::plain, type::int32, type::int32, {{}});
      // Other columns, and x, take another way.
      compare(p, of<double, double, double>, kind::plain, type::int32, type::int64, {{}});
      compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, {{}},
              {{1, 2}, {}});
    }
  }
}

// Without a plan one row has 1075 chunks, added 512 at a time.
TEST_ON_EVERY_EXECUTOR(Spmv, VeryLongRow) {
  if (!data::on_device(where())) return;
  std::vector<std::size_t> lengths(70'001, 8);
  lengths[30'000] = 1'100'000;
  const pattern p = matrices::rows_of(lengths, 20'000, 5);
  const std::vector<factors> all = {{0.7, -1.25, true}};
  compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, all);
  compare(p, of<float, float, float>, kind::plain, type::int64, type::int64, all);
}

// Without a plan nearly all rows seem as long as the longest.
TEST_ON_EVERY_EXECUTOR(Spmv, ManyTermsInEvenRows) {
  if (!data::on_device(where())) return;
  for (const std::size_t terms : {7, 9, 11, 13, 17, 27, 35}) {
    std::vector<std::size_t> lengths(std::max<std::size_t>(1'650'000 / terms, 270'001), terms);
    for (std::size_t i = 0; i < lengths.size(); i += 57) lengths[i] = i % 4;
    for (std::size_t i = 5; i < lengths.size(); i += 9973) lengths[i] = terms + i % 70;
    lengths[70'000] = 129;
    lengths[70'001] = 5000;
    std::fill_n(lengths.begin() + 90'000, 30, 100);  // more than a tile has room for
    lengths.back() = 0;
    const pattern p = matrices::rows_of(lengths, 60'000, 5);
    const layouts l{{1, 1}, {3, -2}, 1};
    const std::vector<factors> all = {{0.7, -1.25, true}};
    compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, all, l);
    compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, all, l);
  }
}

// Without a plan a block each, short ones among them, and some of many chunks.
TEST_ON_EVERY_EXECUTOR(Spmv, LongRowsInTheMean) {
  if (!data::on_device(where())) return;
  std::mt19937_64 random(12);
  std::vector<std::size_t> lengths(3001);
  for (std::size_t& length : lengths) length = random() % 800;
  for (const std::size_t n : {0, 1, 128, 129, 1023, 1024, 1025, 4095, 4096, 4097, 70'000}) {
    lengths[random() % lengths.size()] = n;
  }
  lengths.front() = 5000;
  for (const std::size_t columns : {3000, 200'000}) {
    const pattern p = matrices::rows_of(lengths, columns, 5);
    const std::vector<factors> all = {{}, {0.7, -1.25, true}};
    compare(p, of<double, double, double>, kind::plain, type::int64, type::int32, all,
            {{1, 1}, {3, -2}, 1});
    compare(p, of<float, float, float>, kind::plain, type::int32, type::int32, {all[1]});
  }
}

// Hub columns with most of the terms, and split rows.
TEST_ON_EVERY_EXECUTOR(Spmv, HotColumns) {
  if (!data::on_device(where())) return;
  const pattern p = matrices::rmat(17, 3 << 20, 1);
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  compare(p, of<double, double, double>, kind::special, type::int32, type::int64, all,
          {{1, 1}, {3, -2}, 1});
  compare(p, of<float, float, float>, kind::plain, type::int64, type::int32, all);
  compare(p, of<float, float, double>, kind::wide, type::int32, type::int32, {{}}, {{0, 2}, {}, 3});
}

// Distant elements of x.
TEST_ON_EVERY_EXECUTOR(Spmv, FarColumns) {
  if (!data::on_device(where())) return;
  const pattern p = matrices::random_rows(270'001, 17, 0, 3);
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  compare(p, of<double, double, double>, kind::special, type::int32, type::int64, all,
          {{1, 1}, {3, -2}, 1});
  compare(p, of<float, float, float>, kind::plain, type::int64, type::int32, all, {{3, 1}, {}, 1});
  compare(p, of<float, float, float>, kind::special, type::int32, type::int32, all);
  compare(p, of<float, float, double>, kind::plain, type::int32, type::int32, {{}}, {{}, {0, 2}});
  compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, {{}}, {{0, 2}, {}});
}

/// Columns anywhere, most among a few hubs; one longer row.
pattern far_and_hot() {
  std::mt19937_64 random(6);
  pattern p;
  p.columns = 300'000;
  for (std::size_t i = 0; i < p.columns; ++i) {
    const std::size_t length = i == 1000 ? 100 : random() % 33;
    for (std::size_t j = 0; j < length; ++j) {
      const std::size_t column = random() % p.columns;
      p.column_indices.push_back(
          static_cast<std::int32_t>(random() % 4 < 3 ? column - column % 30 : column));
    }
    p.end_row();
  }
  return p;
}

/// About equal lengths, columns at most `reach` from the diagonal; some hundred adjacent rows are
/// empty.
pattern banded(std::size_t rows, std::size_t max_terms, int reach, std::uint64_t seed,
               std::size_t columns = 0) {
  std::mt19937_64 random(seed);
  pattern p;
  p.columns = columns > 0 ? columns : rows;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t length =
        i / 500 == 3 ? 0 : max_terms / 2 + random() % (max_terms - max_terms / 2 + 1);
    for (std::size_t j = 0; j < length; ++j) {
      const auto column =
          static_cast<std::int64_t>(i + random() % static_cast<std::size_t>(2 * reach + 1)) - reach;
      p.column_indices.push_back(static_cast<std::int32_t>(
          std::clamp<std::int64_t>(column, 0, static_cast<std::int64_t>(p.columns) - 1)));
    }
    p.end_row();
  }
  return p;
}

// Device plans encode these by stencils, 16-bit deltas, or not at all.
TEST_ON_EVERY_BACKEND(Spmv, ManyShortRows) {
  const pattern grid = matrices::stencil(211, 160, 1, 1), band = banded(33000, 8, 300, 5),
                far = banded(40001, 7, 39000, 6);
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  for (const pattern* p : {&grid, &band, &far}) {
    compare(*p, of<double, double, double>, kind::special, type::int32, type::int32, all);
    compare(*p, of<float, float, float>, kind::plain, type::int64, type::int64, all,
            {{1, 1}, {3, -2}, 3});
    compare(*p, of<double, double, double>, kind::plain, type::int64, type::int32, {{}},
            {{0, 1}, {1, 3}, 1});
    compare(*p, of<float, float, double>, kind::plain, type::int32, type::int64, all, {{}, {}, 1});
    compare(*p, of<float, float, float>, kind::wide, type::int32, type::int32, {{}},
            {{1, 2}, {3, 1}, 2});
    compare(*p, of<tally::float16, float, float>, kind::plain, type::int32, type::int32, {{}});
    compare(*p, of<float, double, double>, kind::plain, type::int32, type::int32, {{}});
  }
  compare(matrices::stencil(37, 31, 29, 3), of<double, double, double>, kind::plain, type::int32,
          type::int32, {{}});
  compare(matrices::stencil(37, 31, 29, 3), of<float, float, float>, kind::plain, type::int32,
          type::int32, {{}}, {{}, {}, 1});
  compare(banded(33000, 33, 300, 7), of<double, double, double>, kind::plain, type::int32,
          type::int32, {{}});
  if (data::on_device(where())) {  // enough rows for threads to have more in flight
    const pattern grid_of_9 = matrices::stencil(512, 513, 1, 3);
    compare(grid_of_9, of<double, double, double>, kind::plain, type::int32, type::int32, {{}});
    pattern sparse_band;
    sparse_band.columns = 300000;
    for (std::size_t i = 0; i < sparse_band.columns; ++i) {
      for (std::size_t j = 0; i % 9 == 0 && j < i % 14; ++j) {
        sparse_band.column_indices.push_back(
            static_cast<std::int32_t>(std::min(i + j * (i % 89), sparse_band.columns - 1)));
      }
      sparse_band.end_row();
    }
    compare(sparse_band, of<float, float, float>, kind::plain, type::int32, type::int32, {{}});
    pattern ahead = banded(410'001, 6, 3000, 13);
    ahead.columns += 4000;
    for (std::int32_t& column : ahead.column_indices) column += 4000;
    compare(ahead, of<double, double, double>, kind::plain, type::int32, type::int32, {{}},
            {{}, {}, 1});
    // Blocks take several tiles, and x ends early.
    for (const int reach : {300, 3000, 8000}) {
      const pattern tiles = banded(410'001, 6, reach, 12, 410'001 - static_cast<unsigned>(reach));
      compare(tiles, of<double, double, double>, kind::special, type::int64, type::int32, {{}},
              {{}, {}, 1});
      compare(tiles, of<float, float, float>, kind::wide, type::int32, type::int64, {{}},
              {{}, {}, 3});
    }
    // Few stencils, except in the last rows, when most blocks have ended.
    pattern late = matrices::stencil(1100, 500, 1, 1);
    for (std::size_t i = late.nonzeros() - 3000; i < late.nonzeros(); ++i) {
      late.column_indices[i] -= static_cast<std::int32_t>(i * i % 900);
    }
    compare(late, of<double, double, double>, kind::plain, type::int32, type::int32, {{}});
    compare(late, of<float, float, float>, kind::plain, type::int64, type::int64, {{}});
  }
  for (const form& f : {transpose, conjugate_transpose}) {
    compare(grid, of<double, double, double>, kind::plain, type::int32, type::int32, {{}}, {}, f);
    compare(band, of<float, float, float>, kind::plain, type::int32, type::int32, {{}}, {}, f);
  }
}

// Device plans keep x in shared memory, except for too wide a band.
TEST_ON_EVERY_EXECUTOR(Spmv, ManyRowsInABand) {
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  const pattern narrow = banded(33000, 40, 700, 8);
  compare(narrow, of<double, double, double>, kind::special, type::int32, type::int32, all);
  compare(narrow, of<float, float, float>, kind::plain, type::int64, type::int64, all,
          {{1, 1}, {3, -2}, 3});
  compare(narrow, of<float, double, double>, kind::plain, type::int32, type::int32, {{}});
  if (!data::on_device(where())) return;
  compare(narrow, of<double, double, float>, kind::plain, type::int64, type::int32, {{}},
          {{1, 2}, {}, 1});
  for (const pattern& p :
       {banded(33001, 128, 3000, 9), banded(40000, 33, 12000, 10), banded(33000, 70, 30000, 11)}) {
    compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, {{}},
            {{1, 1}, {1, 1}, 1});
    compare(p, of<float, float, float>, kind::wide, type::int32, type::int64, all);
  }
}

// Device plans describe their encoding of columns.
TEST_ON_EVERY_EXECUTOR(Spmv, PlansSayWhatTheyKnow) {
  if (where().name() != "cuda") return;
  const auto text = [&]<class V = float>(const pattern& p, V = {}) {
    const data::placed offsets(where(), p.row_offsets), columns(where(), p.column_indices);
    const data::placed values(where(), std::vector<V>(p.nonzeros()));
    const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(), values.span()};
    return tally::spmv_plan(where(), a, tally::fixed_columns).describe();
  };
  const auto says = [&](const pattern& p, const std::string& what) {
    const std::string all = text(p);
    EXPECT_NE(all.find(what), std::string::npos) << all;
    EXPECT_NE(all.find(" bytes"), std::string::npos) << all;
  };
  says(matrices::stencil(211, 160, 1, 1), "9 patterns of rows");
  EXPECT_TRUE(text(matrices::stencil(211, 160, 1, 1)).starts_with("stencils: "));
  if (data::has_shared_memory_for_rings()) {
    for (const int reach : {300, 3000}) {
      const std::string far = std::to_string(reach);
      says(banded(1 << 18, 8, reach, 5),
           "ring: each row in a thread, and x in shared memory, since differences column - row are "
           "from -" +
               far + " to " + far + "; in the place of columns differences of 16 bits, in ");
    }
  }
  // Too few rows for a ring.
  says(banded((1 << 18) - 1, 8, 300, 5), "row tiles: each row in a thread, in tiles of 128");
  says(banded(33000, 8, 30000, 5), "differences of 16 bits, in ");
  says(banded(33000, 70, 3000, 5),
       "band: each row in 8 threads, and x in shared memory, since columns are at most 3000 from "
       "the diagonal; in the place of columns differences of 16 bits, in ");
  // With adjacent columns, loads of x overlap.
  pattern apart = banded(33000, 60, 2000, 5), adjacent = apart;
  for (std::size_t i = 0; i < adjacent.rows; ++i) {
    const auto begin = adjacent.row_offsets[i], end = adjacent.row_offsets[i + 1];
    const auto first = std::clamp<std::int64_t>(static_cast<std::int64_t>(i) - 2000, 0, 30000);
    for (auto k = begin; k < end; ++k) {
      adjacent.column_indices[static_cast<std::size_t>(k)] =
          static_cast<std::int32_t>(first + (i * i) % 2900 + static_cast<std::size_t>(k - begin));
    }
  }
  EXPECT_TRUE(text(apart, double{}).starts_with("band: each row in 8 threads"));
  EXPECT_TRUE(text(adjacent, double{}).starts_with("row tiles: ")) << text(adjacent, 0.0);
  says(matrices::random_rows(20'000, 20, 0.7, 2), " in several, in ");

  says(
      matrices::rows_of(std::vector<std::size_t>(1 << 18, 3), 64, 5),
      "even rows: two rows in a thread, in tiles of 256, since rows are short; columns of 16 bits, "
      "in 1572864 bytes");
  says(banded(1 << 19, 24, 300, 5),
       ", which groups of 128 threads sum in turn, and columns of 16 "
       "bits, in ");
  const pattern few = matrices::rows_of(std::vector<std::size_t>(2000, 800), 3000, 5);
  EXPECT_TRUE(text(few).starts_with("few columns: ")) << text(few);
  says(few, "and columns of 16 bits, in ");
  const pattern one = matrices::rows_of({1 << 20}, 60'000, 5);
  EXPECT_TRUE(text(one).starts_with("long rows: chunks in warps, and columns of 16 bits, in "))
      << text(one);
  for (const std::string& hot : {text(far_and_hot()), text(far_and_hot(), double{})}) {
    EXPECT_TRUE(hot.starts_with("hub columns: ")) << hot;
    EXPECT_NE(hot.find("and codes of all columns"), std::string::npos) << hot;
  }
  // Nothing that no kernel reads.
  for (const pattern& p : {matrices::stencil(211, 160, 1, 1), banded(33000, 8, 300, 5)}) {
    for (const std::string& s : {text(p, tally::float16{}), text(p, tally::bfloat16{}),
                                 text(p, std::complex<float>{}), text(p, std::complex<double>{})}) {
      EXPECT_TRUE(s.starts_with("row threads: each row in 2 threads, since rows are short: ")) << s;
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Spmv, QueuedPlans) {
  std::vector<pattern> some = {matrices::stencil(211, 160, 1, 1), banded(33000, 8, 300, 5),
                               far_and_hot(), matrices::random_rows(20'000, 20, 0.7, 2), pattern{}};
  if (data::on_device(where())) some.push_back(matrices::rmat(17, 3 << 20, 1));
  for (const pattern& p : some) {
    const data::placed offsets(where(), p.row_offsets), columns(where(), p.column_indices);
    const data::placed values(where(), std::vector<float>(p.nonzeros()));
    const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(), values.span()};
    // Which least-used columns become hubs is arbitrary.
    const auto without_share = [](std::string text) {
      const auto at = text.find(" % of the terms, in shared memory");
      if (at == std::string::npos) return text;
      const auto begin = text.find_last_not_of("0123456789", at - 1) + 1;
      return text.erase(begin, at - begin);
    };
    const auto compare_texts = [&](const tally::spmv_options& promise) {
      tally::spmv_options queued = promise;
      queued.queued = true;
      const tally::spmv_plan waits(where(), a, promise), goes_on(where(), a, queued);
      EXPECT_TRUE(goes_on.is_queued());
      EXPECT_FALSE(waits.is_queued());
      goes_on.wait();
      EXPECT_EQ(without_share(goes_on.describe()), without_share(waits.describe()));
      const tally::spmv_plan unused(where(), a, queued);
    };
    compare_texts({});
    compare_texts({.fixed_columns = true});
    compare_texts({.fixed_values = true});
  }
}

// With fixed_columns values may change; with any promise columns must not move.
TEST_ON_EVERY_EXECUTOR(Spmv, PlansThatKnowColumnsReadValues) {
  const pattern p = matrices::stencil(200, 190, 1, 1);
  const data::placed offsets(where(), p.row_offsets), columns(where(), p.column_indices),
      elsewhere(where(), p.column_indices);
  data::placed values(where(), std::vector<double>(p.nonzeros(), 1));
  const data::placed x(where(), std::vector<double>(p.columns, 2)),
      y(where(), std::vector<double>(p.rows));
  const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(), values.span()};
  const tally::csr_view b{p.rows, p.columns, offsets.span(), elsewhere.span(), values.span()};
  const data::placed other_values(where(), std::vector<double>(p.nonzeros(), 5));
  const tally::csr_view c{p.rows, p.columns, offsets.span(), columns.span(), other_values.span()};
  const tally::spmv_plan unpromised(where(), a), knows(where(), a, {.fixed_columns = true}),
      knows_all(where(), a, {.fixed_values = true});
  EXPECT_FALSE(unpromised.has_fixed_columns() || unpromised.has_fixed_values());
  EXPECT_TRUE(knows.has_fixed_columns() && !knows.has_fixed_values());
  EXPECT_TRUE(knows_all.has_fixed_columns() && knows_all.has_fixed_values());
  const auto inner = [&](const tally::spmv_plan& plan, const auto& of) {
    tally::spmv(where(), plan, of, x.span(), y.span());
    return y.read()[205];  // a point with all neighbours
  };
  EXPECT_EQ(inner(knows, a), 10);
  const std::vector<double> threes(p.nonzeros(), 3);
  values.memory.write(threes.data(), threes.size() * sizeof(double));
  EXPECT_EQ(inner(knows, a), 30);
  EXPECT_EQ(inner(unpromised, b), 30);
  for (const tally::spmv_plan* plan : {&knows, &knows_all}) {
    data::expect_error(tally::errc::invalid_argument,
                       "tally::spmv: the plan is of a matrix with its column_indices elsewhere",
                       [&] { inner(*plan, b); });
  }
  EXPECT_EQ(inner(knows, c), 50);
  data::expect_error(
      tally::errc::invalid_argument,
      "tally::spmv: the plan was made with fixed_values, of a matrix with its values "
      "elsewhere",
      [&] { inner(knows_all, c); });
  if (where().name() == "simd" || where().name() == "openmp") {
    EXPECT_NE(knows_all.describe().find("values kept in slices of 8 rows"), std::string::npos)
        << knows_all.describe();
  }
  if (where().name() != "cuda") return;
  EXPECT_NE(knows.describe().find("9 patterns"), std::string::npos) << knows.describe();
}

// A plan that keeps only columns takes values of any type.
TEST_ON_EVERY_EXECUTOR(Spmv, PlansThatKnowColumnsTakeValuesOfAnyType) {
  for (const pattern& p : {matrices::stencil(37, 31, 1, 1), banded(900, 12, 300, 5),
                           matrices::random_rows(1030, 9, 0.5, 3),
                           matrices::stencil(210, 200, 1, 1), banded(33000, 40, 700, 8)}) {
    const data::placed offsets(where(), p.row_offsets), columns(where(), p.column_indices);
    const auto check_products = [&]<class Planned, class V>(Planned, V) {
      std::vector<V> values(p.nonzeros()), x(p.columns), want(p.rows);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = V(static_cast<int>(i % 19) - 9);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = V(static_cast<int>(i % 23) - 11) / V(8);
      tally::spmv(tally::serial(),
                  tally::csr_view{p.rows, p.columns, p.row_offsets, p.column_indices, values}, x,
                  want);
      const data::placed planned(where(), std::vector<Planned>(p.nonzeros()));
      const data::placed taken(where(), values), on_device(where(), x),
          y(where(), std::vector<V>(p.rows));
      const tally::spmv_plan plan(
          where(),
          tally::csr_view{p.rows, p.columns, offsets.span(), columns.span(), planned.span()},
          {.fixed_columns = true});
      tally::spmv(where(), plan,
                  tally::csr_view{p.rows, p.columns, offsets.span(), columns.span(), taken.span()},
                  on_device.span(), y.span());
      EXPECT_EQ(y.read(), want) << plan.describe();
    };
    check_products(float(), double());
    check_products(double(), float());
    check_products(tally::float16(), float());
  }
}

/// Groups of `rows` adjacent rows with `length(run)` terms each, equal relative to the diagonal.
template <class Length>
pattern in_runs(std::size_t runs, std::size_t rows, const Length& length) {
  std::mt19937_64 random(runs + rows);
  pattern p;
  p.columns = runs * rows;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t terms = length(run);
    std::vector<std::size_t> places(terms);
    for (std::size_t& place : places) place = random() % (p.columns - rows);
    for (std::size_t i = 0; i < rows; ++i) {
      for (const std::size_t place : places) {  // in any order, some twice
        p.column_indices.push_back(static_cast<std::int32_t>(place + i));
      }
      p.end_row();
    }
  }
  return p;
}

// Host plans sum such rows side by side: groups of any size, rows of any length, up to the arrays'
// end.
TEST_ON_EVERY_EXECUTOR(Spmv, RunsOfRows) {
  const std::vector<factors> all = {{}, {0.7, -1.25, true}};
  const auto is_done = [&](const pattern& p) {
    compare(p, of<double, double, double>, kind::special, type::int32, type::int32, all);
    compare(p, of<float, float, float>, kind::wide, type::int64, type::int64, all,
            {{1, 1}, {3, -2}, 1});
    compare(p, of<float, float, double>, kind::special, type::int64, type::int32, {{}},
            {{0, 1}, {1, 1}});
  };
  for (const std::size_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 40}) {
    is_done(in_runs(40, rows, [](std::size_t run) { return run % 20 + 1; }));
    is_done(in_runs(3, rows, [](std::size_t run) { return 126 + run; }));  // and one of long rows
    is_done(in_runs(30, rows, [](std::size_t run) { return run % 3 == 0 ? 0 : run % 7 * 8; }));
  }
  is_done(in_runs(600, 12, [](std::size_t) { return 11; }));  // more stencils than a plan keeps

  const bool on_host_vectors = where().name() == "simd" || where().name() == "openmp";
  const pattern grid = matrices::stencil(30, 30, 1, 1);
  const std::vector<double> values(grid.nonzeros());
  const tally::csr_view a{grid.rows, grid.columns, grid.row_offsets, grid.column_indices, values};
  if (on_host_vectors) {
    const std::string text = tally::spmv_plan(where(), a, {.fixed_columns = true}).describe();
    EXPECT_NE(text.find("; rows in slices of 8, 94 % of all terms in patterns, "),
              std::string::npos)
        << text;
  }
  const pattern p = in_runs(20, 30, [](std::size_t run) { return run % 12 + 1; });
  compare(p, of<float, double, double>, kind::plain, type::int32, type::int32, {{}});
  compare(p, of<tally::float16, float, float>, kind::plain, type::int32, type::int32, {{}});
  compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, {{}}, {},
          transpose);
}

// Hosts read x in triples for stencils of adjacent columns: any number of slices, full or not, rows
// of 9 to 126 terms, one sorting scope or more.
TEST_ON_EVERY_EXECUTOR(Spmv, RunsOfTriples) {
  for (const std::size_t rows : {3, 5, 8, 14, 17, 24, 93}) {
    std::mt19937_64 random(rows);
    pattern p;
    p.columns = 42 * rows + 300;
    for (std::size_t run = 0; run < 42; ++run) {
      std::vector<std::size_t> places(run % 40 + 3);
      for (std::size_t& place : places) place = random() % (p.columns - rows - 2);
      places.back() = p.columns - rows - 2;  // up to the last column
      for (std::size_t i = 0; i < rows; ++i) {
        for (const std::size_t place : places) {
          for (std::size_t c = 0; c < 3; ++c) {
            p.column_indices.push_back(static_cast<std::int32_t>(place + i + c));
          }
        }
        p.end_row();
      }
    }
    compare(p, of<double, double, double>, kind::special, type::int32, type::int32,
            {{}, {0.7, -1.25, true}});
    compare(p, of<float, float, float>, kind::special, type::int64, type::int32, {{}});
  }
}

// Plans with values slice one sorting scope at a time, longest rows first: scopes with rows of
// every length, few rows, columns within and beyond 16 bits.
TEST_ON_EVERY_EXECUTOR(Spmv, SlicesOfRows) {
  const auto lengths_up_to = [](std::size_t rows, std::size_t max_terms, std::size_t columns) {
    std::mt19937_64 random(rows + max_terms);
    pattern p;
    p.columns = columns;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t terms =
          random() % 50 == 0 ? 200 + random() % 2000 : random() % (max_terms + 1);
      const std::size_t near = random() % (columns > 3000 ? columns - 3000 : 1);
      for (std::size_t j = 0; j < terms; ++j) {
        const std::size_t column = i < rows / 2 ? near + random() % 3000 : random();
        p.column_indices.push_back(static_cast<std::int32_t>(column % columns));
      }
      p.end_row();
    }
    return p;
  };
  for (const std::size_t rows : {1, 7, 9, 255, 256, 257, 1030}) {
    for (const std::size_t max_terms : {3, 9, 40, 128}) {
      const pattern p = lengths_up_to(rows, max_terms, 200000);
      compare(p, of<double, double, double>, kind::special, type::int32, type::int32,
              {{}, {0.7, -1.25, true}});
      compare(p, of<float, float, float>, kind::special, type::int64, type::int64, {{}},
              {{1, 1}, {3, -2}, 1});
    }
  }
  compare(lengths_up_to(600, 20, 5), of<float, float, double>, kind::wide, type::int32, type::int32,
          {{}});
  // 16-bit columns hold all rows of a scope except its long one.
  std::vector<std::size_t> lengths(300, 9);
  lengths[150] = 500;
  pattern one_wide = matrices::rows_of(lengths, 3000, 2);
  for (std::size_t j = 150 * 9; j < 150 * 9 + 500; ++j) one_wide.column_indices[j] *= 50;
  one_wide.columns = 150000;
  compare(one_wide, of<double, double, double>, kind::special, type::int32, type::int32, {{}});
  compare(one_wide, of<float, float, float>, kind::special, type::int64, type::int64, {{}});
  compare(lengths_up_to(5000, 6, 300), of<double, double, double>, kind::special, type::int32,
          type::int32, {{}, {0.7, -1.25, true}});  // some scopes of maximal size
}

// Few of many columns have terms: hosts copy these elements.
TEST_ON_EVERY_EXECUTOR(Spmv, FewColumns) {
  std::vector<std::size_t> lengths(2500);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i % 100 == 0 ? i / 2 : i * i % 61;
  pattern p = matrices::rows_of(lengths, 600, 4);
  for (auto& column : p.column_indices) column = column * 17 + 5;
  p.columns = 600 * 17;
  compare(p, of<double, double, double>, kind::special, type::int32, type::int32,
          {{}, {0.7, -1.25, true}});
  compare(p, of<float, float, float>, kind::special, type::int64, type::int64, {{}},
          {{1, 1}, {3, -2}, 1});
}

#if TALLY_HAS_OPENMP
/// Expects the serial bits with a plan that keeps values, on several numbers of threads.
template <class T>
void multiply_in_shares(const pattern& p) {
  const auto values = data::elements_of<T>(data::random_bytes<T>(p.nonzeros(), 1, kind::special));
  const auto x = data::elements_of<T>(data::random_bytes<T>(p.columns, 2, kind::special));
  const auto y = data::elements_of<T>(data::random_bytes<T>(p.rows, 3, kind::special));
  const tally::csr_view a{p.rows, p.columns, p.row_offsets, p.column_indices, values};
  const auto multiplied = [&](const tally::executor& where, const tally::spmv_plan* plan,
                              bool combines, auto... grade) {
    std::vector<T> result = y;
    const T alpha = combines ? T(0.7) : T(1), beta = combines ? T(-1.25) : T(0);
    if (plan == nullptr) {
      tally::spmv(where, alpha, a, x, beta, result, grade...);
    } else {
      tally::spmv(where, *plan, alpha, a, x, beta, result, grade...);
    }
    return bytes_of(result);
  };
  for (const bool combines : {false, true}) {
    const auto want = multiplied(tally::serial(), nullptr, combines);
    const auto want_exact = multiplied(tally::serial(), nullptr, combines, tally::exact);
    for (int threads = 1; threads <= 7; ++threads) {
      const tally::executor where = tally::openmp({.threads = threads});
      const tally::spmv_plan plan(where, a, {.fixed_values = true});
      EXPECT_EQ(multiplied(where, &plan, combines), want) << threads << plan.describe();
      EXPECT_EQ(multiplied(where, &plan, combines, tally::exact), want_exact)
          << threads << plan.describe();
      // Another number of threads may use a plan.
      EXPECT_EQ(multiplied(tally::openmp({.threads = 8 - threads}), &plan, combines), want)
          << threads << plan.describe();
    }
  }
}

// Partitions of such plans are whole scopes, also at empty rows and at rows of a chunk, which no
// border cuts.
TEST(SpmvShares, AreWholeWindows) {
  std::vector<std::vector<std::size_t>> all;
  // Every other row of a band has 400 terms, most of all: of 3, 4 and 5 equal partitions some begin
  // in the band, one at an empty row.
  for (const auto& [rows, band] : {std::pair{1335, 64}, {1330, 112}, {1307, 64}}) {
    std::vector<std::size_t>& lengths = all.emplace_back();
    for (int i = 0; i < rows; ++i) {
      const bool in_band = 512 <= i && i < 512 + band;
      lengths.push_back(in_band ? i % 2 == 0 ? 0 : 400 : i % 3 == 0 ? 3 : 0);
    }
  }
  std::vector<std::size_t>& halves = all.emplace_back(3000);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = i / 128 % 2 == 0 ? 0 : i % 37;
  for (std::size_t i = 7; i < halves.size(); i += 90) halves[i] = i % 180 == 7 ? 512 : 511;
  std::vector<std::size_t>& chunks = all.emplace_back(halves);
  for (std::size_t& terms : chunks) terms = terms > 500 ? 2 * terms : terms;
  std::vector<std::size_t>& short_rows = all.emplace_back(5000);
  for (std::size_t i = 0; i < short_rows.size(); ++i) {
    short_rows[i] = i % 256 < 9 || i % 256 > 250 ? 0 : i * i % 12;
  }
  std::vector<std::size_t>& cut = all.emplace_back(short_rows);  // rows outside any scope
  for (std::size_t i = 1000; i < cut.size(); i += 1000) cut[i] = 5000;
  for (const std::vector<std::size_t>& lengths : all) {
    std::vector<std::size_t> repeated;  // many terms in one partition
    for (int i = 0; i < 4; ++i) repeated.insert(repeated.end(), lengths.begin(), lengths.end());
    const pattern p = matrices::rows_of(repeated, 4000, 9);
    multiply_in_shares<double>(p);
    multiply_in_shares<float>(p);
  }
}
#endif

TEST_ON_EVERY_EXECUTOR(Spmv, Empty) {
  compare(matrices::rows_of({}, 5, 1), of<double, double, double>, kind::plain, type::int32,
          type::int32, {{}, {2, 3, true}});
  compare(matrices::rows_of({0, 0, 0}, 5, 1), of<double, double, double>, kind::plain, type::int32,
          type::int32, {{}, {2, 3, true}});
  pattern none;  // no columns either
  none.end_row();
  compare(none, of<float, double, double>, kind::plain, type::int32, type::int64,
          {{}, {2, 3, true}});
}

// --- Transposes, and matrices of four arrays -----------------------------------------------------

const form other_forms[] = {transpose, conjugate_transpose, four_arrays, transpose_of_four};

TEST_ON_EVERY_EXECUTOR(Spmv, RowLengthsInOtherForms) {
  const pattern rows = matrices::rows_of(border_lengths, 1500, 7);
  const pattern columns = transposed(rows, {}, 0).rows;  // lengths of its columns
  for (const form& f : other_forms) {
    const pattern& p = f.operation == tally::matrix_operation::none ? rows : columns;
    for (const kind k : {kind::plain, kind::special}) {
      compare(p, of<double, double, double>, k, type::int32, type::int32, {{}, {0.7, -1.25, true}},
              {}, f);
      compare(p, of<float, float, float>, k, type::int64, type::int32, {{}}, {}, f);
    }
    // Columns in row order; rows that end the arrays.
    compare(columns, of<float, double, double>, kind::plain, type::int32, type::int64, {{}}, {}, f);
    for (std::size_t n = 1; n < 20; n += 3) {
      compare(matrices::rows_of({n, 2, n}, 30, n), of<double, double, double>, kind::plain,
              type::int32, type::int32, {{}}, {}, f);
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Spmv, TypesInOtherForms) {
  const pattern p = matrices::rows_of({0, 1, 5, 8, 9, 20, 128, 129, 1030, 3, 0}, 40, 3);
  int turn = 0;
  for_each(value_types{}, [&]<class V>(std::type_identity<V>) {
    for_each(vector_types{}, [&]<class X>(std::type_identity<X>) {
      using Y = tally::dot_result_t<V, X>;
      for (const form& f : other_forms) {
        std::vector<factors> all = {{}, {0.1, -0.3, true}};
        if (tally::is_complex_v<Y>) all.push_back({std::complex<double>(0.3, -0.7), 2, true});
        const type offset = turn & 1 ? type::int64 : type::int32;
        const type column = turn & 2 ? type::int64 : type::int32;
        compare(p, of<V, X, Y>, ++turn % 3 == 0 ? kind::special : kind::plain, offset, column, all,
                {{1, 2}, {3, -1}, 1}, f);
      }
    });
  });
}

TEST_ON_EVERY_BACKEND(Spmv, MatricesInOtherForms) {
  std::vector<std::size_t> lengths(50, 100);
  lengths.insert(lengths.end(), {150000, 0, 5000, 70001, 3});
  for (const pattern& p : {matrices::stencil(40, 30, 1, 1), matrices::stencil(8, 9, 7, 3),
                           matrices::rmat(11, 30000, 1), matrices::random_rows(3000, 12, 0.6, 2),
                           matrices::arrow(60000), matrices::rows_of(lengths, 20000, 19),
                           matrices::rows_of({}, 5, 1), matrices::rows_of({0, 0, 0}, 5, 1)}) {
    for (const form& f : other_forms) {
      compare(p, of<double, double, double>, kind::plain, type::int32, type::int32,
              {{}, {0.5, 2, true}}, {}, f);
    }
  }
  pattern none;  // no columns
  none.end_row();
  for (const form& f : other_forms) {
    compare(none, of<float, double, double>, kind::plain, type::int32, type::int64, {{}}, {}, f);
  }
}

// Lanes of columns that later ones use again, and terms that are staged (as those of long rows).
TEST_ON_EVERY_BACKEND(Spmv, TransposesOfManyTerms) {
  for (const pattern& p : {matrices::stencil(250, 250, 1, 1), matrices::stencil(24, 24, 24, 3),
                           matrices::random_rows(150000, 9, 0, 3)}) {
    compare(p, of<double, double, double>, kind::plain, type::int32, type::int32, {{}}, {},
            transpose);
  }
  compare(matrices::random_rows(300000, 9, 0, 3), of<float, float, float>, kind::plain, type::int32,
          type::int32, {{}}, {}, transpose);
}

// Adjacent rows with equal columns, as of nodes with several unknowns, beside others; the last
// one's values end the matrix.
TEST_ON_EVERY_BACKEND(Spmv, RowsWithEqualColumns) {
  for (const std::size_t columns : {std::size_t{900}, std::size_t{200000}}) {
    pattern p;
    p.columns = columns;
    for (std::size_t node = 0; node < 700; ++node) {
      const std::size_t terms = node % 131, begin = node * columns / 700;
      for (std::size_t row = 0; row <= node % 7; ++row) {
        for (std::size_t k = 0; k < terms; ++k) {
          p.column_indices.push_back(static_cast<std::int32_t>((begin + 7 * k) % columns));
        }
        p.end_row();
      }
    }
    compare(p, of<double, double, double>, kind::special, type::int32, type::int32,
            {{}, {0.5, 2, true}});
    compare(p, of<float, float, float>, kind::plain, type::int64, type::int64, {{}});
  }
}

// Values gathered in the order of the transpose: columns of a whole chunk and more, few long rows,
// patterns of more values than caches hold, and lanes that share a half.
TEST_ON_EVERY_BACKEND(Spmv, TransposesOfGatheredValues) {
  const std::vector<std::size_t> long_rows(20, 4000);
  for (const pattern& p :
       {matrices::arrow(20000), matrices::rows_of(long_rows, 9000, 5), matrices::rmat(11, 40000, 1),
        matrices::stencil(70, 60, 50, 1), matrices::random_rows(50000, 4, 0, 7)}) {
    compare(p, of<double, double, double>, kind::special, type::int32, type::int32,
            {{}, {0.5, 2, true}}, {}, transpose);
    compare(p, of<float, float, float>, kind::plain, type::int64, type::int32, {{}}, {}, transpose);
    compare(p, of<float, double, double>, kind::plain, type::int32, type::int64, {{}}, {},
            transpose);
  }
}

// A plan of the transpose reads values, unless they are promised to stay.
TEST_ON_EVERY_EXECUTOR(Spmv, PlansOfTransposesReadValuesOrKeepThem) {
  const data::placed offsets(where(), std::vector<std::int64_t>{0, 2, 3});
  const data::placed columns(where(), std::vector<std::int32_t>{0, 1, 1});
  data::placed values(where(), std::vector<double>{1, 2, 3});
  const data::placed x(where(), std::vector<double>{10, 100});
  const data::placed y(where(), std::vector<double>{0, 0});
  const tally::csr_view a{2, 2, offsets.span(), columns.span(), values.span()};
  const tally::spmv_plan reads(where(), tally::transpose(a));
  const tally::spmv_plan keeps(where(), tally::transpose(a), {.fixed_values = true});
  EXPECT_FALSE(reads.has_fixed_values());
  EXPECT_TRUE(keeps.has_fixed_values());
  const auto product = [&](const tally::spmv_plan& plan) {
    tally::spmv(where(), plan, tally::transpose(a), x.span(), y.span());
    return y.read();
  };
  EXPECT_EQ(product(reads), (std::vector<double>{10, 320}));
  EXPECT_EQ(product(keeps), (std::vector<double>{10, 320}));
  values.memory.write(std::array<double, 3>{5, 6, 7}.data(), 24);
  EXPECT_EQ(product(reads), (std::vector<double>{50, 760}));
  EXPECT_EQ(product(keeps), (std::vector<double>{10, 320}));

  // Values may have another, larger type.
  const data::placed floats(where(), std::vector<float>{1, 2, 3});
  const tally::csr_view narrow{2, 2, offsets.span(), columns.span(), floats.span()};
  const tally::spmv_plan of_floats(where(), tally::transpose(narrow));
  EXPECT_EQ(product(of_floats), (std::vector<double>{50, 760}));
  const data::placed complexes(where(), std::vector<std::complex<double>>{1, 2, 3});
  const tally::csr_view wide{2, 2, offsets.span(), columns.span(), complexes.span()};
  const tally::spmv_plan of_complexes(where(), tally::transpose(wide));
  EXPECT_EQ(product(of_complexes), (std::vector<double>{50, 760}));
  const data::placed z(where(), std::vector<std::complex<double>>(2));
  tally::spmv(where(), of_floats, tally::transpose(wide), x.span(), z.span());
  EXPECT_EQ(z.read(), (std::vector<std::complex<double>>{10, 320}));
  const auto of_doubles = [&] {
    tally::spmv(where(), keeps, tally::transpose(narrow), x.span(), y.span());
  };
  data::expect_error(
      tally::errc::invalid_argument,
      "tally::spmv: the plan was made with fixed_values, of a matrix with its values "
      "elsewhere",
      of_doubles);
}

// Rows of four arrays may share terms, which then outnumber values.
TEST_ON_EVERY_EXECUTOR(Spmv, RowsThatShareTerms) {
  constexpr std::size_t n = 1200, rows = 40;
  const pattern all = matrices::rows_of({n}, 90, 3);
  const auto values = data::random_bytes(type::float64, n, 1, kind::plain);
  apart shared(all, values, sizeof(double));
  pattern p;  // the same matrix with terms written out
  p.columns = all.columns;
  std::vector<std::byte> written_out;
  const std::int32_t first = shared.begins[0];
  shared.begins.clear();
  shared.ends.clear();
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t begin = 7 * i, end = i % 9 == 4 ? n : begin + 5 * i;
    shared.begins.push_back(first + static_cast<std::int32_t>(begin));
    shared.ends.push_back(first + static_cast<std::int32_t>(end));
    p.column_indices.insert(p.column_indices.end(),
                            all.column_indices.begin() + static_cast<std::ptrdiff_t>(begin),
                            all.column_indices.begin() + static_cast<std::ptrdiff_t>(end));
    written_out.insert(written_out.end(), values.data() + begin * sizeof(double),
                       values.data() + end * sizeof(double));
    p.end_row();
  }
  ASSERT_GT(p.nonzeros(), n);
  const placed_matrix a(where(), shared, p, type::float64, type::int32, type::int32);
  compare(p, written_out, a.get(), {nullptr}, of<double, double, double>, kind::plain, {{}}, {},
          false);
  const tally::csr_operand t = a.get(tally::matrix_operation::transpose);
  const transposed q(p, written_out, sizeof(double));
  const tally::spmv_plan plan(where(), t), copy(where(), t, {.fixed_values = true});
  compare(q.rows, q.values, t, {nullptr, &plan, &copy}, of<double, double, double>, kind::plain,
          {{}}, {}, false);
}

TEST_ON_EVERY_EXECUTOR(Spmv, GoldenBits) {
  const auto expect = [&]<class T>(const std::vector<T>& values, const std::vector<T>& x,
                                   auto bits) {
    pattern p = matrices::arrow(values.size());
    p.rows = 1;  // the full row
    p.row_offsets.resize(2);
    p.column_indices.resize(values.size());
    const placed_matrix a(where(), p, bytes_of(values), tally::type_of<T>, type::int32,
                          type::int32);
    data::buffer x_memory(where(), (x.size() + 1) * sizeof(T)), y_memory(where(), 4 * sizeof(T));
    const auto px = data::place(x_memory, bytes_of(x), tally::type_of<T>, {});
    tally::spmv(where(), {a.get(), px, {y_memory.get(), 1, 1, tally::type_of<T>}});
    const auto expect_bits = [&] {
      T y;
      y_memory.read(&y, sizeof y);
      EXPECT_EQ(std::bit_cast<decltype(bits)>(y), bits) << "a row of " << values.size() << " terms";
    };
    expect_bits();

    pattern column;
    column.columns = 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      column.column_indices.push_back(0);
      column.end_row();
    }
    const placed_matrix b(where(), column, bytes_of(values), tally::type_of<T>, type::int32,
                          type::int32);
    for (const auto operation :
         {tally::matrix_operation::transpose, tally::matrix_operation::conjugate_transpose}) {
      tally::spmv(where(), {b.get(operation), px, {y_memory.get(), 1, 1, tally::type_of<T>}});
      expect_bits();
    }
  };
  for (const auto& row : golden::matrix_rows) {
    expect(golden::doubles(row.n, 1), golden::doubles(row.n, 2), row.f64);
    expect(golden::doubles(row.n, 3, -520, 8), golden::doubles(row.n, 4, -550, 8), row.subnormal);
    expect(golden::floats(row.n, 5), golden::floats(row.n, 6), row.f32);
  }
}

// --- The templates -------------------------------------------------------------------------------

TEST(SpmvTemplates, TakeVectorsSpansAndStrides) {
  const std::vector<std::int64_t> offsets = {0, 2, 2, 3};
  const std::vector<std::int32_t> columns = {0, 1, 1};
  const std::vector<float> values = {1, 2, 3};
  const tally::csr_view a{3, 2, offsets, columns, values};
  static_assert(
      std::is_same_v<decltype(a), const tally::csr_view<float, std::int64_t, std::int32_t>>);
  const std::vector<double> x = {10, 100};
  std::vector<double> y(3, -1);
  tally::spmv(a, x, y);
  EXPECT_EQ(y, (std::vector<double>{210, 0, 300}));
  tally::spmv(tally::serial(), 2, a, x, 0.5, y);
  EXPECT_EQ(y, (std::vector<double>{525, 0, 750}));
  std::array<double, 6> wide{};
  tally::spmv(tally::simd(), a, std::span(x), tally::strided(wide.data(), 3, 2), tally::exact);
  EXPECT_EQ(wide, (std::array<double, 6>{210, 0, 0, 0, 300, 0}));
  const tally::spmv_plan plan(a);
  EXPECT_NE(plan.describe().find("at most 2"), std::string::npos) << plan.describe();
  tally::spmv(plan.where(), plan, a, x, y);
  EXPECT_EQ(y, (std::vector<double>{210, 0, 300}));
  tally::spmv(plan.where(), plan, -1, a, x, 1, y);
  EXPECT_EQ(y, (std::vector<double>{0, 0, 0}));
  const tally::spmv_plan copy = plan;
  tally::spmv(tally::automatic(), copy, a, x, y, tally::exact);
  EXPECT_EQ(y, (std::vector<double>{210, 0, 300}));

  const std::vector<double> v = {1, 10, 100};
  std::vector<double> w(2);
  tally::spmv(tally::transpose(a), v, w);
  EXPECT_EQ(w, (std::vector<double>{1, 302}));
  tally::spmv(2, tally::transpose(a), v, 1, w);
  EXPECT_EQ(w, (std::vector<double>{3, 906}));
  const tally::spmv_plan of_transpose(tally::conjugate_transpose(a), {.fixed_values = true});
  tally::spmv(of_transpose.where(), of_transpose, 1, tally::transpose(a), v, -1, w, w);
  EXPECT_EQ(w, (std::vector<double>{-2, -604}));

  using doubles = std::vector<double>;
  using complexes = std::vector<std::complex<float>>;
  static_assert(tally::detail::has_spmv<float, doubles, doubles&>);
  static_assert(tally::detail::has_spmv<float, doubles, complexes&>);
  static_assert(!tally::detail::has_spmv<float, complexes, doubles&>);
  static_assert(!tally::detail::has_spmv<int, doubles, doubles&>);
  static_assert(!tally::detail::has_spmv<float, std::vector<int>, doubles&>);
  static_assert(!tally::detail::has_spmv<float, doubles, const doubles&>);
  static_assert(!tally::detail::has_spmv_factor<std::complex<float>, float, doubles, doubles&>);
}

/// Like a rank-1 Kokkos::View.
template <class T>
struct view {
  using value_type = T;
  static constexpr int rank = 1;
  T* pointer;
  std::size_t length;
  std::ptrdiff_t step = 1;
  T* data() const { return pointer; }
  std::size_t extent(int) const { return length; }
  std::ptrdiff_t stride(int) const { return step; }
};

TEST(SpmvTemplates, TakeIndicesOfAnyIntegerTypeAndViews) {
  std::vector<std::size_t> offsets = {0, 2, 2, 3};
  std::vector<unsigned> columns = {0, 1, 1};
  std::vector<double> values = {1, 2, 3};
  const std::vector<double> x = {10, 100};
  std::vector<double> y(3);
  const auto expect_product = [&](const auto& a) {
    std::fill(y.begin(), y.end(), -1);
    tally::spmv(a, x, y);
    EXPECT_EQ(y, (std::vector<double>{210, 0, 300}));
  };
  expect_product(tally::csr_view{3, 2, offsets, columns, values});
  const std::vector<long long> long_offsets(offsets.begin(), offsets.end());
  const std::vector<unsigned long long> long_columns(columns.begin(), columns.end());
  expect_product(tally::csr_view{3, 2, long_offsets, long_columns, values});
  expect_product(tally::csr_view{3, 2, view<std::size_t>{offsets.data(), 4},
                                 view<unsigned>{columns.data(), 3},
                                 view<const double>{values.data(), 3}});
  // Four arrays: the middle row is empty and may begin anywhere.
  const std::vector<std::size_t> begins = {1, 0, 0}, ends = {3, 0, 1};
  const std::vector<unsigned> moved_columns = {1, 0, 1};
  const std::vector<double> moved = {3, 1, 2};
  expect_product(tally::csr_view{3, 2, begins, ends, moved_columns, moved});
  tally::validate(tally::csr_view{3, 2, begins, ends, moved_columns, moved});
  const std::vector<unsigned> narrow_begins = {1, 0, 0}, narrow_ends = {3, 0, 1};
  expect_product(tally::csr_view{3, 2, view<const unsigned>{narrow_begins.data(), 3},
                                 view<const unsigned>{narrow_ends.data(), 3},
                                 view<const unsigned>{moved_columns.data(), 3},
                                 view<const double>{moved.data(), 3}});
  data::expect_error(
      tally::errc::invalid_argument,
      "tally::csr_view: values has a stride; a matrix's arrays are contiguous",
      [&] { (void)tally::csr_view{3, 2, offsets, columns, view<double>{values.data(), 3, 2}}; });
  data::expect_error(
      tally::errc::invalid_argument,
      "tally::csr_view: column_indices is uint32 and there are 2147483649 columns; "
      "it is for up to 2147483648",
      [&] { (void)tally::csr_view{3, (std::size_t{1} << 31) + 1, offsets, columns, values}; });
  tally::csr_matrix<double, int, unsigned> wide;
  wide.columns = (std::size_t{1} << 31) + 1;
  data::expect_error(tally::errc::invalid_argument,
                     "tally::csr_view: column_indices is uint32 and there are 2147483649 columns; "
                     "it is for up to 2147483648",
                     [&] { (void)wide.view(); });
  static_assert(!tally::csr_index<bool> && !tally::csr_index<char> && !tally::csr_index<short> &&
                !tally::csr_index<double>);
}

// --- Errors --------------------------------------------------------------------------------------

class SpmvErrors : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    data::OnEveryExecutor::SetUp();
    if (IsSkipped()) return;
    memory_ = std::make_unique<data::buffer>(where(), 4096);
    a_ = {3, 4, put(0, std::vector<std::int32_t>{0, 2, 2, 5}),
          put(256, std::vector<std::int32_t>{0, 3, 1, 2, 3}),
          put(512, std::vector<double>{1, 2, 3, 4, 5})};
    x_ = put(1024, std::vector<double>{1, 2, 3, 4});
    y_ = put(2048, std::vector<double>{7, 8, 9});
  }

  template <class T>
  tally::operand put(std::size_t at, const std::vector<T>& elements) {
    memory_->write(elements.data(), elements.size() * sizeof(T), at);
    return {memory_->get() + at, elements.size(), 1, tally::type_of<T>};
  }
  tally::output_operand y() const {
    return {const_cast<void*>(y_.data), y_.size, y_.increment, y_.element};
  }
  tally::spmv_arguments good() const { return {a_, x_, y()}; }

  void expect_spmv_error(tally::errc code, const std::string& text,
                         const tally::spmv_arguments& a) {
    data::expect_error(code, "tally::spmv: " + text, [&] { tally::spmv(where(), a); });
    std::array<double, 3> now;
    memory_->read(now.data(), sizeof now, 2048);
    EXPECT_EQ(now, (std::array<double, 3>{7, 8, 9}));
  }
  void expect_defect(const std::string& text) {
    using tally::errc;
    data::expect_error(errc::invalid_argument, "tally::validate: " + text,
                       [&] { tally::validate(where(), a_); });
    data::expect_error(errc::invalid_argument, "tally::spmv_plan: " + text,
                       [&] { tally::spmv_plan(where(), a_); });
    if (where().name() != "cuda") {  // found at once
      data::expect_error(errc::invalid_argument, "tally::spmv_plan: " + text,
                         [&] { tally::spmv_plan(where(), a_, {.queued = true}); });
      return;
    }
    // Every wait reports the plan's error, after errors of its own arguments.
    const tally::spmv_plan unpromised(where(), a_, {.queued = true}),
        knows(where(), a_, {.fixed_columns = true, .queued = true});
    for (const tally::spmv_plan* plan : {&unpromised, &knows}) {
      const auto expect_error = [&](const auto& call) {
        data::expect_error(errc::invalid_argument, "tally::spmv_plan: " + text, call);
      };
      auto a = good();
      a.a = a_;
      a.plan = plan;
      a.x.size = 3;
      expect_spmv_error(errc::size_mismatch, "x has 3 elements, the matrix 4 columns", a);
      a.x.size = 4;
      expect_error([&] { tally::spmv(where(), a); });
      expect_error([&] { plan->wait(); });
      expect_error([&] { (void)plan->describe(); });
    }
  }

  std::unique_ptr<data::buffer> memory_;
  tally::csr_operand a_;
  tally::operand x_, y_;
};

TEST_ON_EVERY_EXECUTOR(SpmvErrors, OfArguments) {
  using tally::errc;
  tally::validate(where(), a_);
  auto a = good();
  a.x.size = 3;
  expect_spmv_error(errc::size_mismatch, "x has 3 elements, the matrix 4 columns", a);
  a = good();
  a.y.size = 2;
  expect_spmv_error(errc::size_mismatch, "y has 2 elements, the matrix 3 rows", a);
  a = good();
  a.a.rows = 2;
  expect_spmv_error(errc::size_mismatch, "row_offsets has 4 elements; 2 rows need 3", a);
  a = good();
  a.a.column_indices.size = 4;
  expect_spmv_error(errc::size_mismatch, "column_indices has 4 elements, values has 5", a);
  a = good();
  a.a.column_indices.element = type::uint8;
  expect_spmv_error(errc::unsupported_type, "column_indices is uint8; it may be int32 or int64", a);
  a = good();
  a.a.values.element = type::int64;
  expect_spmv_error(errc::unsupported_type,
                    "values is int64; it may be a floating-point or complex type", a);
  a = good();
  a.x.element = type::int64;
  expect_spmv_error(errc::unsupported_type,
                    "values is float64, x int64, y float64; x and y are float32, float64, or "
                    "complex, and y is complex where one of the others is",
                    a);
  a = good();
  a.alpha = std::complex<double>(1, 0);
  expect_spmv_error(errc::unsupported_type, "alpha is complex128; the computation is in float64",
                    a);
  a = good();
  a.a.values.data = nullptr;
  expect_spmv_error(errc::null_pointer, "values is null and should point at 5 elements", a);
  a = good();
  a.x.data = static_cast<const std::byte*>(x_.data) + 4;
  expect_spmv_error(errc::misaligned, "x is not a multiple of 8 bytes, the alignment of float64",
                    a);
  a = good();
  a.y.increment = 0;
  expect_spmv_error(errc::zero_increment, "y has increment 0", a);
  a = good();
  a.x.data = static_cast<const std::byte*>(y_.data) - 24;
  expect_spmv_error(errc::overlap, "y overlaps x", a);
  a = good();
  a.y.data = const_cast<void*>(a.a.values.data);
  expect_spmv_error(errc::overlap, "y overlaps values", a);
  a = good();
  a.a.operation = tally::matrix_operation::transpose;
  expect_spmv_error(errc::size_mismatch, "x has 4 elements, the transpose 3 columns", a);
  a.x.size = 3;
  expect_spmv_error(errc::size_mismatch, "y has 3 elements, the transpose 4 rows", a);
  a.a.operation = static_cast<tally::matrix_operation>(3);
  expect_spmv_error(errc::invalid_argument, "the matrix's operation is 3; there are 3 operations",
                    a);
  a = good();
  a.a.row_ends = a_.row_offsets.slice(1, 3);
  expect_spmv_error(errc::size_mismatch,
                    "row_offsets has 4 elements; 3 rows need 3 beside row_ends", a);
  a.a.row_offsets.size = 3;
  a.a.row_ends->size = 2;
  expect_spmv_error(errc::size_mismatch, "row_ends has 2 elements; 3 rows need 3", a);
  a.a.row_ends->size = 3;
  a.a.row_ends->element = type::int64;
  expect_spmv_error(errc::unsupported_type,
                    "row_ends is int64, row_offsets int32; they have one type", a);
  a.a.row_ends->element = type::int32;
  a.a.row_ends->data = nullptr;
  expect_spmv_error(errc::null_pointer, "row_ends is null and should point at 3 elements", a);
  a.a.row_ends->data = y_.data;
  expect_spmv_error(errc::overlap, "y overlaps row_ends", a);
  a = good();
  a.options.wait = true;
  expect_spmv_error(errc::invalid_argument, "options.wait is set; there is no form that waits", a);
}

TEST_ON_EVERY_EXECUTOR(SpmvErrors, OfPlans) {
  const tally::spmv_plan plan(where(), a_);
  auto a = good();
  a.plan = &plan;
  a.a.row_offsets = put(3072, std::vector<std::int32_t>{0, 2, 2, 5});
  expect_spmv_error(tally::errc::invalid_argument,
                    "the plan is of another matrix, of 3 rows, 4 columns and 5 values; this one "
                    "has 3, 4 and 5, and its row_offsets elsewhere",
                    a);
  tally::csr_operand of = a_;
  of.operation = tally::matrix_operation::transpose;
  const tally::spmv_plan transposes(where(), of), keeps(where(), of, {.fixed_values = true});
  a = good();
  a.plan = &transposes;
  expect_spmv_error(tally::errc::invalid_argument,
                    "the plan is of its transpose; the product is with the matrix", a);
  a = good();
  a.a = of;
  a.x = {x_.data, 3};
  a.y = {memory_->get() + 2560, 4};
  a.plan = &plan;
  expect_spmv_error(tally::errc::invalid_argument,
                    "the plan is of the matrix; the product is with its transpose", a);
  a.plan = &transposes;
  a.a.column_indices = put(3072, std::vector<std::int32_t>{0, 3, 1, 2, 3});
  expect_spmv_error(tally::errc::invalid_argument,
                    "the plan is of a matrix with its column_indices elsewhere", a);
  a.a = of;
  a.a.values = put(3072, std::vector<double>{1, 2, 3, 4, 5});
  tally::spmv(where(), a);
  a.plan = &keeps;
  expect_spmv_error(tally::errc::invalid_argument,
                    "the plan was made with fixed_values, of a matrix with its values elsewhere",
                    a);
  if (data::on_device(where())) return;
  const tally::executor other =
      where().name() == "serial" ? tally::executor(tally::simd()) : tally::serial();
  a = good();
  a.plan = &plan;
  data::expect_error(tally::errc::invalid_argument,
                     "tally::spmv: the plan was made on " + where().description() +
                         "; the product is on " + other.description(),
                     [&] { tally::spmv(other, a); });
}

TEST_ON_EVERY_EXECUTOR(SpmvErrors, OfMatrices) {
  put(0, std::vector<std::int32_t>{1, 2, 2, 5});
  expect_defect("row_offsets[0] is 1; it must be 0");
  put(0, std::vector<std::int32_t>{0, 4, 2, 5});
  expect_defect("row 1 ends at 2, before it starts at 4");
  put(0, std::vector<std::int32_t>{0, 2, 2, 4});
  expect_defect("row_offsets[3] is 4; values has 5 elements");
  put(0, std::vector<std::int32_t>{0, -2, 2, 5});
  expect_defect("row 0 ends at -2, before it starts at 0");
  put(0, std::vector<std::int32_t>{0, 2, 2, 5});
  put(256, std::vector<std::int32_t>{0, 3, 4, 2, -1});
  expect_defect("column_indices[2] is 4; there are 4 columns");
  put(256, std::vector<std::int32_t>{0, 3, 1, 2, -1});
  expect_defect("column_indices[4] is -1; there are 4 columns");
  a_.column_indices = put(256, std::vector<std::int64_t>{0, 3, 1, 2, std::int64_t{1} << 32});
  expect_defect("column_indices[4] is 4294967296; there are 4 columns");
  a_.column_indices = put(256, std::vector<std::int64_t>{0, 3, 1, 2, 3});
  a_.row_offsets = put(0, std::vector<std::int64_t>{0, 2, std::int64_t{1} << 40, 5});
  expect_defect("row 2 ends at 5, before it starts at 1099511627776");
  if (data::on_device(where())) return;
  put(0, std::vector<std::int64_t>{0, 2, 2, 6});
  expect_spmv_error(tally::errc::invalid_argument, "row_offsets[3] is 6; values has 5 elements",
                    good());
}

/// Columns are checked after rows.
TEST_ON_EVERY_EXECUTOR(SpmvErrors, OfLargeMatrices) {
  if (!data::on_device(where())) return;
  const auto refuses = [&](const pattern& p, const std::string& text) {
    const std::vector<std::byte> values(p.nonzeros() * sizeof(float));
    const placed_matrix a(where(), p, values, type::float32, type::int32, type::int32);
    data::expect_error(tally::errc::invalid_argument, "tally::spmv_plan: " + text,
                       [&] { tally::spmv_plan(where(), a.get(), {.fixed_columns = true}); });
  };
  for (pattern p :
       {matrices::rmat(17, 3 << 20, 1), banded(33000, 70, 3000, 9), banded(33000, 128, 3000, 9),
        banded(33000, 8, 300, 9), banded(410'001, 8, 300, 9)}) {
    const std::size_t last = p.nonzeros() - 1, columns = p.columns;
    const std::int32_t good = std::exchange(p.column_indices[last], -7);
    refuses(p, "column_indices[" + std::to_string(last) + "] is -7; there are " +
                   std::to_string(columns) + " columns");
    p.column_indices[last] = good;
    p.column_indices[5] = static_cast<std::int32_t>(columns);
    refuses(p, "column_indices[5] is " + std::to_string(columns) + "; there are " +
                   std::to_string(columns) + " columns");
    for (const std::int32_t wrong : {-5, 1 << 30}) {  // at the start of a tile of rows
      pattern q = p;
      q.row_offsets[1024] = wrong;
      const std::size_t row = wrong < 0 ? 1023 : 1024;
      refuses(q, "row " + std::to_string(row) + " ends at " +
                     std::to_string(q.row_offsets[row + 1]) + ", before it starts at " +
                     std::to_string(q.row_offsets[row]));
    }
    p.row_offsets[1] = p.row_offsets[2] + 1;
    refuses(p, "row 1 ends at " + std::to_string(p.row_offsets[2]) + ", before it starts at " +
                   std::to_string(p.row_offsets[1]));
  }
}

TEST_ON_EVERY_EXECUTOR(SpmvErrors, OfFourArrays) {
  const auto rows = [&](const std::vector<std::int32_t>& begins,
                        const std::vector<std::int32_t>& ends) {
    a_.row_offsets = put(0, begins);
    a_.row_ends = put(128, ends);
  };
  rows({3, 0, 1}, {5, 0, 3});
  tally::validate(where(), a_);
  put(256, std::vector<std::int32_t>{77, 3, 1, 2, 3});  // the first value is in no row
  tally::validate(where(), a_);
  put(256, std::vector<std::int32_t>{77, 3, 1, 4, 3});
  expect_defect("column_indices[3] is 4; there are 4 columns");
  rows({3, 0, 1}, {6, 0, 3});
  expect_defect("row 0 ends at 6; values has 5 elements");
  rows({1, -2, 1}, {2, 0, 3});
  expect_defect("row 1 starts at -2");
  rows({1, 2, 3}, {2, 1, 2});
  expect_defect("row 1 ends at 1, before it starts at 2");
  // A transposed product without a plan checks the whole matrix.
  auto a = good();
  a.a.operation = tally::matrix_operation::transpose;
  a.x = {x_.data, 3};
  a.y = {memory_->get() + 2560, 4};
  expect_spmv_error(tally::errc::invalid_argument, "row 1 ends at 1, before it starts at 2", a);
}

/// The first defect is reported, whichever thread finds another.
TEST_ON_EVERY_EXECUTOR(SpmvErrors, OfLongMatrices) {
  pattern p = matrices::stencil(200, 200, 1, 1);
  const std::vector<std::byte> values(p.nonzeros() * sizeof(float));
  const auto broken = [&](const std::string& text) {
    const placed_matrix a(where(), p, values, type::float32, type::int32, type::int32);
    data::expect_error(tally::errc::invalid_argument, "tally::validate: " + text,
                       [&] { tally::validate(where(), a.get()); });
  };
  p.column_indices[p.nonzeros() - 1] = 40000;
  broken("column_indices[" + std::to_string(p.nonzeros() - 1) +
         "] is 40000; there are 40000 columns");
  p.column_indices[77777] = -5;
  broken("column_indices[77777] is -5; there are 40000 columns");
  p.row_offsets[30001] = p.row_offsets[30000] - 1;
  const std::string row = "row 30000 ends at " + std::to_string(p.row_offsets[30001]) +
                          ", before it starts at " + std::to_string(p.row_offsets[30000]);
  broken(row);
  p.row_offsets[39999] = 7;
  broken(row);
}

}  // namespace
