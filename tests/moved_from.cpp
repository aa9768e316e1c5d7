// Moved-from objects: every member of every public class gives the empty state or a clear error.
// New classes must be listed. (Those over ranks: mpi.cpp and nccl.cpp.)
#include "tests/data.hpp"

#include <tally/distributed/host_copies.hpp>
#include <tally/distributed/joined_sum.hpp>
#include <tally/numerics/order_tree.hpp>
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace {

using data::expect_error;
using tally::errc;

/// Moving copies, so these are unchanged.
static_assert(std::is_trivially_copyable_v<tally::executor> &&
              std::is_trivially_copyable_v<tally::grade> &&
              std::is_trivially_copyable_v<tally::exact_sum<float>> &&
              std::is_trivially_copyable_v<tally::exact_sum<double>> &&
              std::is_trivially_copyable_v<tally::order::tree<double>> &&
              std::is_trivially_copyable_v<tally::csr_view<double>> &&
              std::is_trivially_copyable_v<tally::vector_reference<double>>);
/// Its functions are static.
static_assert(std::is_empty_v<tally::detail::elementwise_call<tally::elementwise::axpby>>);
/// Not movable.
static_assert(!std::is_move_constructible_v<tally::detail::first_exception> &&
              !std::is_move_constructible_v<tally::detail::readable_elements>);

TEST(MovedFrom, HasEveryClassOfTheHeaders) {
  const std::set<std::string> listed = {
      "executor",         "grade",       "exact_sum",      "tree",
      "first_exception",  "map_on_host", "reduce_on_host", "readable_elements",
      "elementwise_call",  // above
      "vector_reference", "error",       "buffer",         "spmv_plan",
      "workspace",                                                     // below
      "complex",                                                       // Kokkos's
      "borders",          "intervals",   "placed_rows",    "matrix"};  // over ranks
  const std::string begin = "\nclass ", exported = "TALLY_EXPORT ";
  int classes = 0;
  for (const auto& header :
       std::filesystem::recursive_directory_iterator(TALLY_SOURCES "/include/tally")) {
    const std::string folder = header.path().parent_path().filename();
    if (header.path().extension() != ".hpp" || folder == "mpi" || folder == "nccl") continue;
    std::ifstream file(header.path());
    const std::string text = (std::ostringstream() << file.rdbuf()).str();
    for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
      std::size_t place = at + begin.size();
      if (text.compare(place, exported.size(), exported) == 0) place += exported.size();
      const std::string name(data::word_at(text, place));
      if (text[place + name.size()] == ';') continue;  // defined elsewhere
      ++classes;
      EXPECT_TRUE(listed.contains(name)) << name << " of " << header.path();
    }
  }
  EXPECT_GT(classes, 5);
}

TEST(MovedFrom, Error) {
  tally::error from(errc::overlap, "some text");
  const tally::error to = std::move(from);
  EXPECT_EQ(from.code(), errc::overlap);
  EXPECT_LE(std::strlen(from.what()), std::strlen(to.what()));
  EXPECT_STREQ(to.what(), "some text");
}

/// Vectors are empty, and the view mismatches its rows.
TEST(MovedFrom, Matrix) {
  tally::csr_matrix<double> from{2, 2, {0, 1, 2}, {0, 1}, {1, 1}};
  const auto to = std::move(from);
  expect_error(errc::size_mismatch, "tally::validate: row_offsets has 0 elements; 2 rows need 3",
               [&] { tally::validate(tally::serial(), from.view()); });
  tally::validate(tally::serial(), to.view());
}

class MovedFrom : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(MovedFrom, Buffer) {
  tally::buffer from(where(), 64);
  void* const memory = from.get();
  tally::buffer to = std::move(from);
  EXPECT_EQ(to.get(), memory);
  EXPECT_EQ(from.get(), nullptr);
  EXPECT_EQ(from.bytes(), 0u);
  EXPECT_EQ(from.where().name(), where().name());
  expect_error(errc::null_pointer, "tally::copy_bytes: from is null", [&] {
    double x;
    tally::copy_bytes(where(), from.get(), &x, sizeof x);
  });
  from = std::move(to);
  EXPECT_EQ(from.get(), memory);
  EXPECT_EQ(to.get(), nullptr);
  tally::buffer again = std::move(to);
  EXPECT_EQ(again.get(), nullptr);
}

TEST_ON_EVERY_EXECUTOR(MovedFrom, Plan) {
  const data::placed<std::int32_t> offsets(where(), {0, 1, 2}), columns(where(), {0, 1});
  const data::placed<double> values(where(), {2, 3}), x(where(), {1, 1});
  data::placed<double> y(where(), {7, 7});
  const tally::csr_view<double> a{2, 2, std::span<const std::int32_t>(offsets.span()),
                                  std::span<const std::int32_t>(columns.span()),
                                  std::span<const double>(values.span())};
  const auto expect_moved_from = [&](const auto& matrix, const tally::spmv_plan& from) {
    const std::string text = "tally::spmv_plan: the plan was moved from";
    expect_error(errc::invalid_argument, text, [&] { (void)from.describe(); });
    expect_error(errc::invalid_argument, text, [&] { from.wait(); });
    expect_error(errc::invalid_argument, text,
                 [&] { tally::spmv(where(), from, matrix, x.span(), y.span()); });
    EXPECT_EQ(y.read(), (std::vector<double>{7, 7}));
    EXPECT_EQ(from.where().name(), where().name());
    EXPECT_EQ(from.matrix().rows, 2u);
    EXPECT_EQ(from.analysis(), nullptr);
    EXPECT_EQ(from.transpose(), nullptr);
  };
  const auto test = [&](const auto& matrix, const tally::spmv_options& how = {}) {
    tally::spmv_plan from(where(), matrix, how);
    const bool is_queued = from.is_queued(), has_fixed_columns = from.has_fixed_columns(),
               has_fixed_values = from.has_fixed_values();
    tally::spmv_plan to = std::move(from);
    expect_moved_from(matrix, from);
    expect_moved_from(matrix, tally::spmv_plan(from));
    EXPECT_EQ(from.is_queued(), is_queued);
    EXPECT_EQ(from.has_fixed_columns(), has_fixed_columns);
    EXPECT_EQ(from.has_fixed_values(), has_fixed_values);
    from = std::move(to);
    expect_moved_from(matrix, to);
    EXPECT_FALSE(from.describe().empty());
    tally::spmv(where(), from, matrix, x.span(), y.span());
    EXPECT_EQ(y.read(), (std::vector<double>{2, 3}));
    y.memory.write(std::vector<double>{7, 7}.data(), 16);
  };
  test(a);
  test(a, {.fixed_columns = true});
  test(a, {.fixed_values = true});
  test(a, {.queued = true});
  test(a, {.fixed_columns = true, .queued = true});
  test(a, {.fixed_values = true, .queued = true});
  test(tally::transpose(a));
  test(tally::transpose(a), {.fixed_values = true});
}

TEST_ON_EVERY_EXECUTOR(MovedFrom, Workspace) {
  if (!data::has_workspaces(where())) GTEST_SKIP() << "a workspace is one of cuda's";
  tally::workspace from(where());
  const std::string_view name = from.executor().name();
  tally::workspace to = std::move(from);
  EXPECT_EQ(to.executor().name(), name);
  EXPECT_EQ(from.executor().name(), "automatic");
  const std::vector<double> x = {1, 2, 3};
  EXPECT_EQ(tally::dot(from.executor(), x, x), 14);
  from = std::move(to);
  EXPECT_EQ(from.executor().name(), name);
  EXPECT_EQ(to.executor().name(), "automatic");
  tally::workspace& same = from;
  from = std::move(same);
  EXPECT_EQ(from.executor().name(), name);
  EXPECT_EQ(tally::dot(from.executor(), x, x), 14);
}

}  // namespace
