// Invalid enumerators and unreleased C struct sizes, to every type-erased function: clear errors,
// nothing written. New functions must be listed in tests/calls.cpp, or here if they have no such
// arguments.
#include "tests/calls.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace {

using calls::arguments;
using calls::c_memory;
using calls::c_row;
using calls::enumerators;
using calls::memory;
using calls::row;
using tally::type;
constexpr auto f64 = type::float64;

/// Functions without such arguments, or infallible and tested below.
const std::set<std::string> others = {
    // no enumerator
    "copy_bytes", "pin", "unpin", "refuse_result", "refuse_sums", "serial", "openmp", "cuda",
    "kokkos", "executor_of", "automatic", "executors", "backend_names", "executor_named",
    "instruction_sets", "join_steps", "count_interval_nodes", "append_interval", "windows_take",
    "read_matrix_market_sizes", "check_number_of_entries", "list_join_steps", "opened",
    // the checks of for_each_part, where there is CUDA or Kokkos
    "launch_sum", "launch_map", "run_on_kokkos",
    // TheyCantFail
    "deallocate", "name", "choose", "interval_bytes", "clear_interval", "node_bytes"};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return (std::ostringstream() << file.rdbuf()).str();
}

TEST(OutOfRange, HasEveryFunctionOfTheHeaders) {
  std::set<std::string> listed = others;
  for (const row& each : calls::of_cpp()) listed.insert(each.function);
  const std::string exported = "TALLY_EXPORT ";
  int functions = 0;
  for (const auto& header :
       std::filesystem::recursive_directory_iterator(TALLY_SOURCES "/include/tally")) {
    if (header.path().extension() != ".hpp") continue;
    const std::string text = text_of(header.path());
    for (std::size_t at = text.find(exported); at != text.npos; at = text.find(exported, at + 1)) {
      const std::size_t end = text.find_first_of(";{(", at);
      if (end == text.npos || text[end] != '(') continue;  // a class
      ++functions;
      const std::string name(data::word_at(text, end));
      EXPECT_TRUE(listed.contains(name)) << name << " of " << header.path();
    }
  }
  EXPECT_GT(functions, 50);
}

class OutOfRange : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(OutOfRange, IsAnErrorAndNothingIsWritten) {
  memory m(where());
  for (const row& each : calls::of_cpp()) {
    SCOPED_TRACE(each.function);
    enumerators right;
    try {
      each.call(where(), m, right);
      EXPECT_FALSE(each.is_refused);
    } catch (const tally::error& e) {
      const std::string_view name = each.function;
      const bool is_refused =
          each.is_refused || (data::on_device(where()) && name == "for_each_part");
      EXPECT_TRUE(is_refused) << e.what();
    }
    m.clear();
    for (std::size_t k = 0; k < right.counts().size(); ++k) {
      std::vector<int> numbers;
      for (int number = right.counts()[k]; number < 256; ++number) numbers.push_back(number);
      for (const int number : numbers) {
        enumerators wrong(k, number);
        try {
          each.call(where(), m, wrong);
          ADD_FAILURE() << "enumerator " << k << " may be " << number;
        } catch (const tally::error& e) {
          const std::string text = e.what();
          EXPECT_TRUE(e.code() == tally::errc::unsupported_type ||
                      e.code() == tally::errc::invalid_argument)
              << text;
          EXPECT_TRUE(text.starts_with("tally::")) << text;
        }
        ASSERT_FALSE(HasFailure()) << "enumerator " << k << " is " << number;
      }
      EXPECT_TRUE(m.is_clear()) << "something was written; enumerator " << k;
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(OutOfRange, WhatTheyAreThatCantFail) {
  for (int number = tally::type_count; number < 256; ++number) {
    const auto none = static_cast<type>(number);
    EXPECT_EQ(tally::size_of(none), 0u);
    EXPECT_EQ(tally::alignment_of(none), 1u);
    EXPECT_EQ(tally::name(none), "no element type");
    EXPECT_FALSE(tally::is_listed(tally::part_of(none)));
    EXPECT_FALSE(tally::is_listed(tally::complex_of(none)));
    EXPECT_EQ(tally::exact_words(none), 0u);
    for (const auto& [x, y, result] :
         {std::array{none, f64, f64}, std::array{f64, none, f64}, std::array{f64, f64, none}}) {
      EXPECT_FALSE(tally::is_listed(tally::exact_sum_type(x, y, result)));
    }
    double number_there = 0;
    const tally::operand v = {&number_there, 1, 1, none};
    EXPECT_EQ(v.slice(1, 0).data, &number_there);
    EXPECT_EQ(tally::choose(v).name(), "simd");
    EXPECT_EQ(tally::choose(v, v).name(), "simd");
    EXPECT_EQ(tally::choose(v, v, v).name(), "simd");
    EXPECT_EQ(tally::node_bytes({tally::summand::value, none, 1, 1}), 0u);
  }
  for (int number = 4; number < 256; ++number) {
    const auto what = static_cast<tally::summand>(number);
    EXPECT_EQ(tally::node_bytes({what, f64, 1, 1}), 0u);
    const tally::interval_shape shape = {what, static_cast<type>(number + 7), 1, 1};
    const std::size_t bytes = tally::interval_bytes(shape);
    ASSERT_GE(bytes, sizeof(tally::interval_head));
    std::vector<std::int64_t> message(bytes / 8);
    tally::clear_interval(shape, message.data());
  }
  EXPECT_EQ(tally::name(static_cast<tally::instruction_set>(77)), "unknown");
  for (int number = 2; number < 256; ++number) {
    tally::deallocate(tally::serial(), nullptr, static_cast<tally::reach>(number));
  }
}

// --- C --------------------------------------------------------------------------------------------

/// Functions without enumerator and struct, or infallible and tested below.
const std::set<std::string> other_functions = {
    "tally_automatic", "tally_copy_last_error", "tally_cuda", "tally_device_alloc",
    "tally_device_copy", "tally_device_free", "tally_executor_name", "tally_executor_named",
    "tally_executors", "tally_kokkos", "tally_last_error", "tally_order_version", "tally_pin",
    "tally_pinned_alloc", "tally_pinned_free", "tally_serial", "tally_spmv_plan_describe",
    "tally_spmv_plan_destroy", "tally_unpin", "tally_version", "tally_workspace_destroy",
    "tally_workspace_executor",
    // ThoseOfCThatCantFail
    "tally_exact_sum_type", "tally_exact_words", "tally_status_name", "tally_type_name",
    "tally_type_size"};

TEST(OutOfRange, HasEveryFunctionOfC) {
  std::set<std::string> listed = other_functions;
  for (const c_row& each : calls::of_c()) listed.insert(each.function);
  const std::string text = text_of(TALLY_SOURCES "/tests/c_frozen.c");
  const std::string frozen = "\nFUNCTION(";
  std::set<std::string> all;
  for (std::size_t at = text.find(frozen); at != text.npos; at = text.find(frozen, at + 1)) {
    all.emplace(data::word_at(text, at + frozen.size()));
  }
  EXPECT_GT(all.size(), 50u);
  EXPECT_EQ(listed, all);
}

TEST(OutOfRange, OfCIsAnErrorAndNothingIsWritten) {
  tally_executor where;
  ASSERT_EQ(tally_serial(&where), TALLY_SUCCESS);
  for (const c_row& each : calls::of_c()) {
    SCOPED_TRACE(each.function);
    c_memory m;
    arguments right;
    ASSERT_EQ(each.call(&where, m, right), TALLY_SUCCESS) << tally_last_error();
    const c_memory nothing, want = m;
    for (std::size_t k = 0; k < right.ranges().size(); ++k) {
      const arguments::range& range = right.ranges()[k];
      for (const int number : range.tried()) {
        c_memory written;
        arguments changed(k, number);
        const tally_status status = each.call(&where, written, changed);
        const bool is_struct = range.multiple > 0;
        if (!is_struct && range.has(number)) continue;  // differs from the valid call
        const bool is_right = range.has(number);
        EXPECT_EQ(status == TALLY_SUCCESS, is_right) << tally_last_error();
        EXPECT_TRUE(is_right || status == TALLY_UNSUPPORTED_TYPE ||
                    status == TALLY_INVALID_ARGUMENT)
            << tally_status_name(status) << ": " << tally_last_error();
        EXPECT_EQ(std::memcmp(written.out, (is_right ? want : nothing).out, sizeof m.out), 0);
        ASSERT_FALSE(testing::Test::HasFailure())
            << (is_struct ? "struct " : "int ") << k << " is " << number;
      }
    }
  }
}

TEST(OutOfRange, WhatThoseOfCAreThatCantFail) {
  for (const int none : {-1, TALLY_COMPLEX128 + 1, 77, 255, 256, 256 + 8, INT_MAX, INT_MIN}) {
    EXPECT_STREQ(tally_type_name(none), "unknown");
    EXPECT_EQ(tally_type_size(none), 0u);
    EXPECT_EQ(tally_exact_words(none), 0u);
    EXPECT_EQ(tally_exact_sum_type(none, TALLY_FLOAT64, TALLY_FLOAT64), -1);
    EXPECT_EQ(tally_exact_sum_type(TALLY_FLOAT64, none, TALLY_FLOAT64), -1);
    EXPECT_EQ(tally_exact_sum_type(TALLY_FLOAT64, TALLY_FLOAT64, none), -1);
  }
  for (const int none : {-1, TALLY_UNREADABLE_FILE + 1, 77, 254, 256, 256 + 8, INT_MAX, INT_MIN}) {
    EXPECT_STREQ(tally_status_name(none), "unknown");
  }
}

}  // namespace
