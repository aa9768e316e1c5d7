// Arguments that no caller should give, to every function whose types are erased: a number that is
// no enumerator, and in C a struct's size that no release had. Each is an error with a sentence,
// and nothing is written. A function that is new has to be listed here.
#include "tests/data.hpp"

#include <tally/tally.h>
#include <tally/joined_sum.hpp>
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace {

using tally::executor;

/// How many enumerators there are: 0, 1, ...
template <class E>
constexpr int count_of = 0;
template <>
constexpr int count_of<tally::type> = tally::type_count;
template <>
constexpr int count_of<tally::conjugate> = 3;
template <>
constexpr int count_of<tally::reduction> = 3;
template <>
constexpr int count_of<tally::extreme> = 4;
template <>
constexpr int count_of<tally::elementwise> = 14;
template <>
constexpr int count_of<tally::fused_sum> = 2;
template <>
constexpr int count_of<tally::binning> = 3;
template <>
constexpr int count_of<tally::summand> = 4;
template <>
constexpr int count_of<tally::matrix_operation> = 3;
template <>
constexpr int count_of<tally::reach> = 2;
template <>
constexpr int count_of<tally::instruction_set> = 5;  // and best, which is -1

/// The enumerators of one call, each of which goes through here. One may be replaced.
class enumerators {
 public:
  enumerators() = default;
  enumerators(std::size_t replaced, int by) : replaced_(replaced), by_(by) {}

  template <class E>
  E operator()(E right) {
    static_assert(count_of<E> > 0);
    counts_.push_back(count_of<E>);
    return counts_.size() - 1 == replaced_ ? static_cast<E>(by_) : right;
  }
  tally::scalar factor(double value = 2) {
    tally::scalar made = value;
    made.element = (*this)(made.element);
    return made;
  }
  const std::vector<int>& counts() const { return counts_; }

 private:
  std::vector<int> counts_;
  std::size_t replaced_ = SIZE_MAX;
  int by_ = 0;
};

/// What calls read and write, where an executor's kernels and where the host can.
class memory {
 public:
  static constexpr std::size_t elements = tally::order::chunk;
  explicit memory(const executor& where) : in_(where, bytes), out_(where, bytes) {
    std::vector<double> numbers(elements, 0.5);
    in_.write(numbers.data(), elements * sizeof(double));
    const std::int32_t small[] = {0, 1, 2, 3, 4};
    in_.write(small, sizeof small, indices_at);
    const std::int64_t zeros[8] = {};
    in_.write(zeros, sizeof zeros, zeros_at);
    clear();
  }

  /// n elements of 0.5, read as any type.
  tally::operand x(tally::type t = tally::type::float64, std::size_t n = 4) const {
    return {in_.get(), n, 1, t};
  }
  /// 0, 1, 2, 3, 4; from a later one on.
  tally::operand indices(std::size_t n, tally::type t, std::size_t first = 0) const {
    return {in_.get() + indices_at + 4 * first, n, 1, t};
  }
  const void* zeros() const { return in_.get() + zeros_at; }
  /// Where the executor's kernels write.
  tally::output_operand z(tally::type t, std::size_t n = 4) const { return {out_.get(), n, 1, t}; }
  std::int64_t* words() const { return reinterpret_cast<std::int64_t*>(out_.get()); }
  /// Memory of the host.
  void* host() { return host_.data(); }
  std::int64_t* host_words() { return host_.data(); }
  /// More of it, which calls may write also when they fail.
  void* message() { return message_.data(); }

  void clear() {
    std::ranges::fill(host_, 0);
    const std::vector<std::byte> nothing(bytes);
    out_.write(nothing.data(), bytes);
  }
  bool is_clear() const {
    std::vector<std::byte> there(bytes);
    out_.read(there.data(), bytes);
    return std::ranges::all_of(host_, [](std::int64_t w) { return w == 0; }) &&
           std::ranges::all_of(there, [](std::byte b) { return b == std::byte{}; });
  }

 private:
  static constexpr std::size_t indices_at = elements * sizeof(double), zeros_at = indices_at + 64,
                               bytes = zeros_at + 64;
  data::buffer in_, out_;
  std::vector<std::int64_t> host_ = std::vector<std::int64_t>(512);
  std::vector<std::int64_t> message_ = std::vector<std::int64_t>(512);
};

struct row {
  const char* function;
  void (*call)(const executor&, memory&, enumerators&);
  /// A right call is refused as well, since it needs several devices.
  bool is_refused = false;
};

using tally::type;
constexpr auto f64 = type::float64;
constexpr auto i32 = type::int32;
constexpr auto i64 = type::int64;

tally::csr_operand matrix(memory& m, enumerators& e) {
  return {4,
          4,
          m.indices(4, e(i32)),
          m.indices(4, e(i32)),
          m.x(e(f64)),
          m.indices(4, e(i32), 1),
          e(tally::matrix_operation::none)};
}
tally::interval_shape shape(enumerators& e, tally::summand what = tally::summand::product) {
  return {e(what), e(f64), 1, static_cast<std::int64_t>(memory::elements)};
}
tally::interval_field field(memory& m, enumerators& e, std::size_t n = memory::elements) {
  return {e(tally::summand::product), m.x(e(f64), n), m.x(e(f64), n)};
}
constexpr tally::call_options no_wait = {.grade = {}, .wait = false};

const row rows[] = {
    {"dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::dot(where, {m.x(e(f64)), m.x(e(f64)), e(tally::conjugate::x), {m.host(), e(f64)}});
     }},
    {"dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::dot(where,
                  {m.x(e(f64)), m.x(e(i32)), e(tally::conjugate::y), {m.host(), e(f64), true}});
     }},
    {"multi_dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::multi_dot(where, {{{m.x(e(f64)), 2, 4}, {m.x(e(f64)), 2, 0}, {}},
                                e(tally::conjugate::x),
                                {m.host(), e(f64)}});
     }},
    {"multi_dot",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::operand_pair list[] = {{m.x(e(f64)), m.x(e(i64))}, {m.x(e(f64)), m.x(e(i64))}};
       tally::multi_dot(where,
                        {{{}, {}, list}, e(tally::conjugate::none), {m.host(), e(f64), true}});
     }},
    {"batched_dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::batched_dot(where, {{{m.x(e(f64)), 2, 4}, {m.x(e(f64)), 2, 4}, {}},
                                  e(tally::conjugate::x),
                                  {m.host(), e(f64)}});
     }},
    {"reduce",
     [](const executor& where, memory& m, enumerators& e) {
       tally::reduce(where, {m.x(e(f64)), e(tally::reduction::nrm2), {m.host(), e(f64)}});
     }},
    {"reduce",
     [](const executor& where, memory& m, enumerators& e) {
       tally::reduce(where, {m.x(e(f64)), e(tally::reduction::sum), {m.host(), e(f64), true}});
     }},
    {"find_extremum",
     [](const executor& where, memory& m, enumerators& e) {
       tally::find_extremum(where, {m.x(e(f64)), e(tally::extreme::minmax), m.host()});
     }},
    {"transform",
     [](const executor& where, memory& m, enumerators& e) {
       tally::transform(where,
                        {e(tally::elementwise::fill), e.factor(), {}, {}, {}, m.z(e(f64)), {}});
     }},
    {"transform",
     [](const executor& where, memory& m, enumerators& e) {
       tally::transform(where, {e(tally::elementwise::axpbypcz), e.factor(), e.factor(),
                                m.x(e(f64)), m.x(e(i32)), m.z(e(f64)), e.factor()});
     }},
    {"transform",
     [](const executor& where, memory& m, enumerators& e) {
       tally::transform(where,
                        {e(tally::elementwise::copy), {}, {}, m.x(e(f64)), {}, m.z(e(f64)), {}});
     }},
    {"swap_elements",
     [](const executor& where, memory& m, enumerators& e) {
       tally::swap_elements(where, m.z(e(f64)),
                            {static_cast<double*>(m.z(f64).data) + 8, 4, 1, e(f64)});
     }},
    {"fused",
     [](const executor& where, memory& m, enumerators& e) {
       tally::fused(where, {{e(tally::elementwise::axpby),
                             e.factor(),
                             e.factor(),
                             m.x(e(f64)),
                             m.z(e(f64)),
                             m.z(e(f64)),
                             {}},
                            e(tally::fused_sum::dot),
                            m.x(e(f64)),
                            e(tally::conjugate::x),
                            {m.host(), e(f64)}});
     }},
    {"fused",
     [](const executor& where, memory& m, enumerators& e) {
       tally::fused(where, {{e(tally::elementwise::waxpby),
                             e.factor(),
                             e.factor(),
                             m.x(e(f64)),
                             m.x(e(f64)),
                             m.z(e(f64)),
                             {}},
                            e(tally::fused_sum::nrm2),
                            {},
                            tally::conjugate::none,
                            {m.host(), e(f64)}});
     }},
    {"gather_elements",
     [](const executor& where, memory& m, enumerators& e) {
       tally::gather_elements(where, {m.x(e(f64)), m.indices(4, e(i32)), m.z(e(f64))});
     }},
    {"scatter_elements",
     [](const executor& where, memory& m, enumerators& e) {
       tally::scatter_elements(where, {m.x(e(f64)), m.indices(4, e(i32)), m.z(e(f64))});
     }},
    {"histogram",
     [](const executor& where, memory& m, enumerators& e) {
       tally::histogram_arguments a;
       a.what = e(tally::binning::keys);
       a.x = m.indices(4, e(i32));
       a.counts = m.z(e(i64));
       tally::histogram(where, a);
     }},
    {"histogram",
     [](const executor& where, memory& m, enumerators& e) {
       tally::histogram_arguments a;
       a.what = e(tally::binning::even);
       a.x = m.x(e(f64));
       a.weighted = true;
       a.weights = m.x(e(f64));
       a.lower = e.factor(0);
       a.upper = e.factor(1);
       a.counts = m.z(e(f64));
       tally::histogram(where, a);
     }},
    {"histogram",
     [](const executor& where, memory& m, enumerators& e) {
       static constexpr double edges[] = {0, 0.25, 0.5, 0.75, 1};
       tally::histogram_arguments a;
       a.what = e(tally::binning::edges);
       a.x = m.x(e(f64));
       a.edges = {edges, 5, 1, e(f64)};
       a.counts = m.z(e(i32));
       tally::histogram(where, a);
     }},
    {"histogram_to_host",
     [](const executor& where, memory& m, enumerators& e) {
       tally::histogram_arguments a;
       a.what = e(tally::binning::keys);
       a.x = m.indices(2, e(i32));
       a.weighted = a.words = true;
       a.weights = m.x(e(f64), 2);
       a.counts = {m.host(), 2, 1, e(f64)};
       tally::histogram_to_host(where, a);
     }},
    {"round_words",
     [](const executor& where, memory& m, enumerators& e) {
       tally::round_words(where, {m.words(), e(f64), 1, false, {m.host(), e(f64)}});
     }},
    {"round_words",
     [](const executor& where, memory& m, enumerators& e) {
       tally::round_words(where, {m.words(), e(f64), 1, true, {m.host(), e(f64)}});
     }},
    {"for_each_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::operand x = m.x(e(f64)), y = m.x(e(f64));
       tally::for_each_part(where, "tally::transform_reduce", x, &y, nullptr,
                            {nullptr, [](void*, std::size_t, std::size_t, std::size_t) {}});
     }},
    {"for_each_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::operand x = m.x(e(f64)), y = m.x(e(f64));
       tally::for_each_part(where, "tally::transform", x, &y, m.z(e(f64)),
                            {nullptr, [](void*, std::size_t, std::size_t, std::size_t) {}});
     }},
    {"validate", [](const executor& where, memory& m,
                    enumerators& e) { tally::validate(where, matrix(m, e)); }},
    {"spmv_plan", [](const executor& where, memory& m,
                     enumerators& e) { tally::spmv_plan(where, matrix(m, e)); }},
    {"spmv",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::csr_operand a = matrix(m, e);
       tally::spmv(where, {a, m.x(e(f64)), m.z(e(f64)), e.factor(), e.factor(), nullptr, no_wait,
                           m.x(e(f64))});
     }},
    {"allocate",
     [](const executor& where, memory&, enumerators& e) {
       const tally::reach who = e(tally::reach::kernels);
       tally::deallocate(where, tally::allocate(where, 64, who), who);
     }},
    {"simd",
     [](const executor&, memory&, enumerators& e) {
       tally::simd({.instructions = e(tally::instruction_set::baseline)});
     }},
    {"sum_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e)};
       tally::sum_part(where, shape(e), {.fields = fields, .nodes = m.host()});
     }},
    {"sum_interval",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e)};
       tally::sum_interval(where, shape(e), fields, 0, m.message());
     }},
    {"interval_terms",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e, 4)};
       tally::interval_terms(where, shape(e), fields, 4, m.host());
     }},
    {"append_chunk",
     [](const executor&, memory& m, enumerators& e) {
       enumerators right;
       const std::vector<double> terms(memory::elements, 0.5);
       tally::clear_interval(shape(right), m.message());
       tally::append_chunk(shape(e), 0, terms.size(), terms.size(), terms.data(), m.message());
     }},
    {"finish_interval",
     [](const executor&, memory& m, enumerators& e) {
       enumerators right;
       const std::vector<double> terms(memory::elements, 0.5);
       tally::clear_interval(shape(right), m.message());
       tally::append_chunk(shape(right), 0, terms.size(), terms.size(), terms.data(), m.message());
       tally::finish_interval(shape(e), m.message(), e(tally::conjugate::x), m.host());
     }},
    {"add_exact_sums",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e)};
       tally::add_exact_sums(where, fields, e(tally::conjugate::x), e(f64), m.host_words());
     }},
    {"sum_nodes",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e)};
       tally::sum_nodes(where, shape(e), fields, 0, m.z(f64).data);
     }},
    {"join_nodes",
     [](const executor& where, memory& m, enumerators& e) {
       const std::span steps(static_cast<const tally::join_step*>(m.zeros()), 1);
       auto* const to = static_cast<double*>(m.z(f64).data);
       tally::join_nodes(where, {shape(e), e(tally::conjugate::x), steps, to, to + 8});
     }},
    {"join_words",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::windows through;
       tally::join_words(where, {m.words(), e(f64), 1, false, {m.host(), e(f64)}, &through});
     },
     true},
};

/// What calls nothing that could be out of range, or can't fail and is tested below.
const std::set<std::string> others = {
    // no enumerator
    "copy_bytes", "pin", "unpin", "of_numbers", "refuse", "serial", "openmp", "cuda", "kokkos",
    "automatic", "executors", "backend_names", "executor_named", "instruction_sets", "join_steps",
    "count_interval_nodes", "append_interval", "windows_take", "read_matrix_market_sizes",
    // the checks of for_each_part, where there is CUDA
    "launch_sum", "launch_map",
    // TheyCantFail
    "deallocate", "name", "choose", "interval_bytes", "clear_interval", "node_bytes"};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return (std::ostringstream() << file.rdbuf()).str();
}

TEST(OutOfRange, HasEveryFunctionOfTheHeaders) {
  std::set<std::string> listed = others;
  for (const row& each : rows) listed.insert(each.function);
  const std::regex exported(R"(\bTALLY_EXPORT\s[^;{(]*?\b(\w+)\()");
  int functions = 0;
  for (const auto& header : std::filesystem::directory_iterator(TALLY_SOURCES "/src/tally")) {
    if (header.path().extension() != ".hpp") continue;
    const std::string text = text_of(header.path());
    for (std::sregex_iterator it(text.begin(), text.end(), exported), end; it != end; ++it) {
      ++functions;
      EXPECT_TRUE(listed.contains((*it)[1])) << (*it)[1] << " of " << header.path();
    }
  }
  EXPECT_GT(functions, 50);
}

class OutOfRange : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(OutOfRange, IsAnErrorAndNothingIsWritten) {
  memory m(where());
  for (const row& each : rows) {
    SCOPED_TRACE(each.function);
    enumerators right;
    try {
      each.call(where(), m, right);
      EXPECT_FALSE(each.is_refused);
    } catch (const tally::error& e) {
      EXPECT_TRUE(each.is_refused) << e.what();
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

/// The enumerators and structs of one call of C, each of which goes through here. One may be
/// replaced: an int by another, a struct by one of another size.
class arguments {
 public:
  arguments() = default;
  arguments(std::size_t replaced, int by) : replaced_(replaced), by_(by) {}

  /// An int that may be first ... last.
  int operator()(int right, int last, int first = 0) {
    ranges_.push_back({first, last, right, 0});
    return is_replaced() ? by_ : right;
  }
  int type(int right) { return (*this)(right, TALLY_COMPLEX128); }

  /// A struct. Behind another size nothing of it is there, but zeros behind its last member.
  template <class S>
  const S* of(const S& right, std::size_t first_size) {
    ranges_.push_back({static_cast<int>(first_size), 4096, int{sizeof(S)}, alignof(S)});
    auto& bytes = structs_.emplace_back(4096 / 8 + 1);
    auto* const made = reinterpret_cast<S*>(bytes.data());
    *made = right;
    made->size = sizeof(S);
    if (!is_replaced()) return made;
    made->size = static_cast<std::size_t>(by_);
    if (made->size < sizeof(S)) {
      std::memset(reinterpret_cast<char*>(made) + std::max(made->size, sizeof made->size), 0xff,
                  sizeof(S) - std::max(made->size, sizeof made->size));
    }
    return made;
  }
  const tally_call_options* options(bool has_grade = false, bool has_conjugate = false,
                                    bool has_form = false, bool waits = true) {
    tally_call_options o{};
    o.grade = (*this)(TALLY_GRADE_DEFAULT, has_grade ? TALLY_GRADE_EXACT : 0);
    o.wait = (*this)(waits ? TALLY_WAIT_YES : TALLY_WAIT_NO, TALLY_WAIT_NO);
    o.conjugate = (*this)(TALLY_CONJUGATE_NONE, has_conjugate ? TALLY_CONJUGATE_Y : 0);
    o.reserved = (*this)(0, 0);
    o.form = (*this)(TALLY_RESULT_ROUNDED, has_form ? TALLY_RESULT_WORDS : 0);
    o.reserved_too = (*this)(0, 0);
    return of(o, 24);
  }

  /// What may stand in one place: ints in a range, or of a struct sizes that are multiples.
  struct range {
    int first, last, right;
    std::size_t multiple;

    bool has(int number) const {
      return number >= first && number <= last &&
             (multiple == 0 || static_cast<std::size_t>(number) % multiple == 0);
    }
    std::vector<int> tried() const {
      if (multiple == 0) {
        return {first - 1, last + 1, 77, 255, 256, 256 + right, 65536 + right, INT_MAX, INT_MIN};
      }
      std::vector<int> all;
      for (int size = 0; size < 4200; size += size < 256 || size > 4000 ? 1 : 97) {
        all.push_back(size);
      }
      return all;
    }
  };
  const std::vector<range>& ranges() const { return ranges_; }

 private:
  bool is_replaced() const { return ranges_.size() - 1 == replaced_; }

  std::vector<range> ranges_;
  std::vector<std::vector<std::uint64_t>> structs_;
  std::size_t replaced_ = SIZE_MAX;
  int by_ = 0;
};

/// What calls of C read and write.
struct c_memory {
  double x[8] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  std::int32_t indices[5] = {0, 1, 2, 3, 4};
  double factor = 2, lower = 0, upper = 1;
  alignas(8) std::int64_t out[300] = {};
  double* z() { return reinterpret_cast<double*>(out); }
};

struct c_row {
  const char* function;
  tally_status (*call)(const tally_executor* where, c_memory& m, arguments& a);
};

const tally_csr* c_matrix(c_memory& m, arguments& a) {
  tally_csr made{};
  made.rows = made.columns = made.nonzeros = 4;
  made.row_offsets = m.indices;
  made.column_indices = m.indices;
  made.values = m.x;
  made.offset_type = a.type(TALLY_INT32);
  made.column_type = a.type(TALLY_INT32);
  made.value_type = a.type(TALLY_FLOAT64);
  made.reserved = a(0, 0);
  made.operation = a(TALLY_NO_TRANSPOSE, TALLY_CONJUGATE_TRANSPOSE);
  made.fixed_values = a(0, 1);
  made.fixed_columns = a(0, 1);
  made.reserved_too = a(0, 0);
  return a.of(made, 72);
}
const tally_histogram_options* c_histogram_options(c_memory& m, arguments& a) {
  tally_histogram_options made{};
  made.weights = m.x;
  made.weights_type = a.type(TALLY_FLOAT64);
  made.add = a(0, 1);
  return a.of(made, 48);
}

using reduction_of_c = tally_status(const tally_executor*, std::size_t, tally_type, const void*,
                                    std::ptrdiff_t, tally_type, void*, const tally_call_options*);
template <reduction_of_c& f>
tally_status reduction_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), m.out,
           a.options(true, false, true));
}
using search_of_c = tally_status(const tally_executor*, std::size_t, tally_type, const void*,
                                 std::ptrdiff_t, void*, const tally_call_options*);
template <search_of_c& f>
tally_status search_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 4, a.type(TALLY_FLOAT64), m.x, 1, m.out, a.options(true));
}
using unary_of_c = tally_status(const tally_executor*, std::size_t, tally_type, const void*,
                                std::ptrdiff_t, tally_type, void*, std::ptrdiff_t,
                                const tally_call_options*);
template <unary_of_c& f>
tally_status unary_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), m.out, 1,
           a.options(false, false, false, false));
}
using binary_of_c = tally_status(const tally_executor*, std::size_t, tally_type, const void*,
                                 std::ptrdiff_t, tally_type, const void*, std::ptrdiff_t,
                                 tally_type, void*, std::ptrdiff_t, const tally_call_options*);
template <binary_of_c& f>
tally_status binary_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), m.x, 1,
           a.type(TALLY_FLOAT64), m.out, 1, a.options(false, false, false, false));
}
using blocks_of_c = tally_status(const tally_executor*, std::size_t, std::size_t, tally_type,
                                 const void*, std::ptrdiff_t, tally_type, const void*,
                                 std::ptrdiff_t, tally_type, void*, const tally_call_options*);
template <blocks_of_c& f>
tally_status blocks_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 2, 4, a.type(TALLY_FLOAT64), m.x, 4, a.type(TALLY_FLOAT64), m.x, 1,
           a.type(TALLY_FLOAT64), m.out, a.options(true, true, true));
}
using rounding_of_c = tally_status(const tally_executor*, std::size_t, tally_type,
                                   const std::int64_t*, tally_type, void*,
                                   const tally_call_options*);
template <rounding_of_c& f>
tally_status rounding_call(const tally_executor* where, c_memory& m, arguments& a) {
  static constexpr std::int64_t words[137] = {1};
  return f(where, 1, a.type(TALLY_FLOAT64), words, a.type(TALLY_FLOAT64), m.out, a.options());
}
using indexing_of_c = tally_status(const tally_executor*, tally_type, std::size_t, const void*,
                                   std::ptrdiff_t, tally_type, const void*, std::size_t, void*,
                                   std::ptrdiff_t, const tally_call_options*);
template <indexing_of_c& f>
tally_status indexing_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, a.type(TALLY_FLOAT64), 4, m.x, 1, a.type(TALLY_INT32), m.indices, 4, m.out, 1,
           a.options(false, false, false, false));
}

const c_row c_rows[] = {
    {"tally_dot",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_dot(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), m.x, 1,
                        a.type(TALLY_FLOAT64), m.out, a.options(true, true, true));
     }},
    {"tally_sum", reduction_call<tally_sum>},
    {"tally_asum", reduction_call<tally_asum>},
    {"tally_nrm2", reduction_call<tally_nrm2>},
    {"tally_multi_dot", blocks_call<tally_multi_dot>},
    {"tally_batched_dot", blocks_call<tally_batched_dot>},
    {"tally_multi_dot_list",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       const std::size_t n[] = {4};
       const void* const x[] = {m.x};
       const std::ptrdiff_t inc[] = {1};
       return tally_multi_dot_list(where, 1, n, a.type(TALLY_FLOAT64), x, inc,
                                   a.type(TALLY_FLOAT64), x, inc, a.type(TALLY_FLOAT64), m.out,
                                   a.options(true, true, true));
     }},
    {"tally_merge_words",
     [](const tally_executor*, c_memory& m, arguments& a) {
       static constexpr std::int64_t words[137] = {1};
       return tally_merge_words(1, a.type(TALLY_FLOAT64), words, m.out);
     }},
    {"tally_round_words", rounding_call<tally_round_words>},
    {"tally_round_root_words", rounding_call<tally_round_root_words>},
    {"tally_min", search_call<tally_min>},
    {"tally_max", search_call<tally_max>},
    {"tally_minmax", search_call<tally_minmax>},
    {"tally_iamax",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_iamax(where, 4, a.type(TALLY_FLOAT64), m.x, 1, m.out, a.options(true));
     }},
    {"tally_copy", unary_call<tally_copy>},
    {"tally_relu", unary_call<tally_relu>},
    {"tally_sigmoid", unary_call<tally_sigmoid>},
    {"tally_exp", unary_call<tally_exp>},
    {"tally_add", binary_call<tally_add>},
    {"tally_sub", binary_call<tally_sub>},
    {"tally_mul", binary_call<tally_mul>},
    {"tally_fill",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_fill(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.out,
                         1, a.options(false, false, false, false));
     }},
    {"tally_swap",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_swap(where, 4, a.type(TALLY_FLOAT64), m.out, 1, m.out + 8, 1,
                         a.options(false, false, false, false));
     }},
    {"tally_gather", indexing_call<tally_gather>},
    {"tally_scatter", indexing_call<tally_scatter>},
    {"tally_scal",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_scal(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.out,
                         1, a.options(false, false, false, false));
     }},
    {"tally_axpy",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_axpy(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x, 1,
                         a.type(TALLY_FLOAT64), m.out, 1, a.options(false, false, false, false));
     }},
    {"tally_axpby",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_axpby(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x, 1,
                          a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.out, 1,
                          a.options(false, false, false, false));
     }},
    {"tally_waxpby",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_waxpby(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x,
                           1, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x, 1,
                           a.type(TALLY_FLOAT64), m.out, 1, a.options(false, false, false, false));
     }},
    {"tally_axpbypcz",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_axpbypcz(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x,
                             1, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x, 1,
                             a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.out, 1,
                             a.options(false, false, false, false));
     }},
    {"tally_axypbz",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_axypbz(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x,
                           1, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), &m.factor,
                           a.type(TALLY_FLOAT64), m.out, 1, a.options(false, false, false, false));
     }},
    {"tally_axpy_dot",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_axpy_dot(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x,
                             1, a.type(TALLY_FLOAT64), m.out, 1, a.type(TALLY_FLOAT64), m.x, 1,
                             a.type(TALLY_FLOAT64), m.out + 8, a.options(true, true));
     }},
    {"tally_waxpby_nrm2",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_waxpby_nrm2(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64),
                                m.x, 1, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64),
                                m.x, 1, a.type(TALLY_FLOAT64), m.out, 1, a.type(TALLY_FLOAT64),
                                m.out + 8, a.options(true));
     }},
    {"tally_bincount",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_bincount(where, 4, a.type(TALLY_INT32), m.indices, 1, 4, a.type(TALLY_FLOAT64),
                             m.out, c_histogram_options(m, a));
     }},
    {"tally_histogram_even",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_histogram_even(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64),
                                   &m.lower, &m.upper, 4, a.type(TALLY_FLOAT64), m.out,
                                   c_histogram_options(m, a));
     }},
    {"tally_histogram_range",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_histogram_range(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_INT32),
                                    m.indices, 4, a.type(TALLY_FLOAT64), m.out,
                                    c_histogram_options(m, a));
     }},
    {"tally_validate", [](const tally_executor* where, c_memory& m,
                          arguments& a) { return tally_validate(where, c_matrix(m, a)); }},
    {"tally_spmv_plan_create",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       tally_spmv_plan* plan = nullptr;
       const tally_status status = tally_spmv_plan_create(where, c_matrix(m, a), &plan);
       EXPECT_EQ(plan == nullptr, status != TALLY_SUCCESS);
       tally_spmv_plan_destroy(plan);
       return status;
     }},
    {"tally_spmv",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_spmv(where, nullptr, a.type(TALLY_FLOAT64), &m.factor, c_matrix(m, a),
                         a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), &m.factor,
                         a.type(TALLY_FLOAT64), m.out, 1, a.options(true, false, false, false));
     }},
    {"tally_spmv_apart",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_spmv_apart(where, nullptr, a.type(TALLY_FLOAT64), &m.factor, c_matrix(m, a),
                               a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), &m.factor,
                               a.type(TALLY_FLOAT64), m.x, 1, m.out, 1,
                               a.options(true, false, false, false));
     }},
    {"tally_simd",
     [](const tally_executor*, c_memory& m, arguments& a) {
       tally_executor made;
       const tally_status status = tally_simd(
           &made, a(TALLY_INSTRUCTIONS_BASELINE, TALLY_INSTRUCTIONS_NEON, TALLY_INSTRUCTIONS_BEST));
       m.out[0] = status == TALLY_SUCCESS;
       return status;
     }},
    {"tally_openmp",
     [](const tally_executor*, c_memory& m, arguments& a) {
       tally_executor made;
       const int threads = a(2, tally::openmp_options::most_threads);
#if TALLY_HAS_OPENMP
       const tally_status status = tally_openmp(&made, threads);
#else
       const tally_status status = threads < 0 || threads > tally::openmp_options::most_threads
                                       ? TALLY_INVALID_ARGUMENT
                                       : tally_serial(&made);
#endif
       m.out[0] = status == TALLY_SUCCESS;
       return status;
     }},
    {"tally_workspace_create",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       tally_workspace_options options{};
       options.threads = a(1, tally::workspace_options::most_threads);
       options.reserved = a(0, 0);
       tally_workspace* made = nullptr;
       const tally_status status = tally_workspace_create(where, a.of(options, 24), &made);
       m.out[0] = made != nullptr;
       tally_workspace_destroy(made);
       return status;
     }},
};

/// What has no enumerator and no struct, or can't fail and is tested below.
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
  for (const c_row& each : c_rows) listed.insert(each.function);
  std::istringstream functions(text_of(TALLY_SOURCES "/tests/install/functions"));
  std::set<std::string> all;
  for (std::string function; functions >> function;) all.insert(function);
  EXPECT_GT(all.size(), 50u);
  EXPECT_EQ(listed, all);
}

TEST(OutOfRange, OfCIsAnErrorAndNothingIsWritten) {
  tally_executor where;
  ASSERT_EQ(tally_serial(&where), TALLY_SUCCESS);
  for (const c_row& each : c_rows) {
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
        if (!is_struct && range.has(number)) continue;  // another call
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
