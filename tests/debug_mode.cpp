// A program in libstdc++'s debug mode (-D_GLIBCXX_DEBUG), whose containers differ from the
// library's: everything that owns memory and crosses a compiled function.
#include <tally/tally.hpp>

#include <complex>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG)
#error "This program is to be compiled with -D_GLIBCXX_DEBUG"
#endif

namespace {

int failed = 0;

void expect(bool condition, const char* text) {
  if (condition) return;
  ++failed;
  std::printf("not so: %s\n", text);
}
#define EXPECT(condition) expect(condition, #condition)

template <class F>
std::string thrown(const F& f) {
  try {
    f();
  } catch (const tally::error& e) {
    return e.what();
  }
  return "";
}

template <class Value, class Offset, class Column>
void read_matrices(const std::string& path) {
  const auto from_path = tally::read_matrix_market<Value, Offset, Column>(path);
  std::ifstream stream(path);
  const auto from_stream = tally::read_matrix_market<Value, Offset, Column>(stream);
  for (const auto& a : {from_path, from_stream}) {
    EXPECT(a.rows == 3 && a.columns == 2);
    EXPECT((a.row_offsets == std::vector<Offset>{0, 1, 1, 3}));
    EXPECT((a.column_indices == std::vector<Column>{1, 0, 1}));
    EXPECT((a.values == std::vector<Value>{Value(1.5f), Value(4), Value(-2)}));
    std::vector<Value> y(3);
    tally::spmv(a.view(), std::vector<Value>{Value(1), Value(2)}, y);
    EXPECT((y == std::vector<Value>{Value(3), Value(0), Value(0)}));
  }
}

template <class Value>
void read_all(const std::string& matrix, const std::string& array) {
  read_matrices<Value, std::int32_t, std::int32_t>(matrix);
  read_matrices<Value, std::int32_t, std::int64_t>(matrix);
  read_matrices<Value, std::int64_t, std::int32_t>(matrix);
  read_matrices<Value, std::int64_t, std::int64_t>(matrix);

  std::vector<tally::matrix_entry<Value>> entries;
  std::size_t lines = 0;
  for (std::size_t part = 0; part < 2; ++part) {
    const auto read = tally::read_matrix_market_part<Value>(matrix, part, 2);
    EXPECT(read.sizes.rows == 3 && read.sizes.columns == 2 && read.sizes.entries == 4);
    lines += read.lines;
    entries.insert(entries.end(), read.entries.begin(), read.entries.end());
  }
  EXPECT(lines == 4 && entries.size() == 4);
  const auto rows = tally::rows_of_entries<Value>(3, 2, entries);
  EXPECT(rows.rows == 3 && rows.columns == 2);
  EXPECT((rows.row_offsets == std::vector<std::int64_t>{0, 1, 1, 3}));

  std::ifstream stream(array);
  for (const auto& a : {tally::read_matrix_market_array<Value>(array),
                        tally::read_matrix_market_array<Value>(stream)}) {
    EXPECT(a.rows == 200 && a.columns == 1 && a.values.size() == 200);
    EXPECT(a.values[199] == Value(199));
  }
  std::ifstream again(array);
  EXPECT(tally::read_matrix_market_vector<Value>(again) ==
         tally::read_matrix_market_vector<Value>(array));
}

void read_files() {
  const std::string matrix = "tally_debug_mode.mtx", array = "tally_debug_mode_array.mtx";
  std::ofstream(matrix) << "%%MatrixMarket matrix coordinate real general\n3 2 4\n3 2 -3\n1 2 1.5\n"
                           "3 1 4\n3 2 1\n";
  std::ofstream numbers(array);
  numbers << "%%MatrixMarket matrix array real general\n200 1\n";
  for (int i = 0; i < 200; ++i) numbers << i << "\n";
  numbers.close();
  read_all<float>(matrix, array);
  read_all<double>(matrix, array);
  read_all<std::complex<float>>(matrix, array);
  read_all<std::complex<double>>(matrix, array);
  EXPECT(tally::read_matrix_market_sizes(matrix).entries == 4);
  EXPECT(thrown([] { (void)tally::read_matrix_market("none.mtx"); }).find("none.mtx") !=
         std::string::npos);
  std::remove(matrix.c_str());
  std::remove(array.c_str());
}

void run_on(const tally::executor& where) {
  EXPECT(where.description().find(where.name()) == 0);
  if (!where.reaches_host_memory()) return;  // can't read these vectors
  const std::size_t n = 3000;
  const std::vector<double> x(n, 0.5);
  std::vector<double> y(n, 2);
  EXPECT(tally::dot(where, x, y) == n);
  EXPECT(tally::sum(where, x, tally::exact) == n / 2);
  EXPECT(tally::max(where, y).value == 2);
  tally::axpy(where, 2.0, x, y);
  EXPECT(y == std::vector<double>(n, 3));
  EXPECT((tally::multi_dot(where, std::vector{tally::pair_of(x, y), tally::pair_of(x, x)}) ==
          std::vector<double>{1.5 * n, 0.25 * n}));
  std::vector<tally::exact_sum<double>> sums(1);
  tally::sum(where, x, tally::add_to(sums));
  EXPECT(sums[0].round<double>() == n / 2);
  std::vector<int> counts(2);
  tally::histogram_range(where, x, std::vector<double>{0, 0.5, 1}, counts);
  EXPECT((counts == std::vector<int>{0, n}));
  std::vector<double> z(2);
  tally::gather(where, x, std::vector<int>{1, 2}, z);
  EXPECT(z[1] == 0.5);
  tally::transform(where, x, y, [](double v) { return v + 1; });
  EXPECT(tally::transform_reduce(where, y, 0.0, std::plus<>(), [](double v) { return 2 * v; }) ==
         3 * n);

  const std::vector<int> offsets = {0, 1, 3}, columns = {1, 0, 1};
  const std::vector<float> values = {1, 2, 3};
  const tally::csr_view a{2, 2, offsets, columns, values};
  const tally::spmv_plan plan(where, a, {.fixed_values = true});
  const std::vector<float> two(2, 1);
  std::vector<float> products(2);
  tally::spmv(where, plan, a, two, products);
  EXPECT((products == std::vector<float>{1, 5}) && !plan.describe().empty());
  EXPECT(thrown([&] { tally::dot(where, x, z); }).find("3000") != std::string::npos);

  const tally::interval_field field = {tally::summand::value, tally::as_operand(x), {}};
  const tally::interval_shape shape = {tally::summand::value, tally::type::float64, 1, n};
  std::vector<double> nodes(8);
  tally::interval_part part;
  part.fields = {&field, 1};
  part.nodes = nodes.data();
  std::string called;
  part.context = &called;
  part.when_terms_are_there = [](void* to) { *static_cast<std::string*>(to) += "once"; };
  tally::sum_part(where, shape, part);
  EXPECT(called == "once" && nodes[0] == 1024);
}

}  // namespace

int main() {
  EXPECT(tally::backend_names().front() == "serial");
  EXPECT(!tally::instruction_sets().empty());
  EXPECT(thrown([] { (void)tally::executor_named("none"); }).find("none") != std::string::npos);
  for (const tally::executor& where : tally::executors()) run_on(where);
  run_on(tally::automatic());
  const std::vector<tally::node_interval> intervals = {{0, 2, 0}, {2, 3, 1}};
  const std::vector<tally::join_step> steps = tally::join_steps(intervals);
  EXPECT(steps.size() == 2 && steps[0].node == 0 && steps[1].additions == 1);
  read_files();
  std::printf("%d failed\n", failed);
  return failed != 0;
}
