// Data that are not nice: every operation of the tests' list, on every executor, with values and
// structures that a kernel may stumble over. Times stand beside those of plain data, byte for byte,
// so that a cliff has a name; what is documented is data here, and all else is a defect.
#include "tests/operations.hpp"

#include <time.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using operations::operation;
using operations::prepared;
using operations::structure;
using operations::values;
using clock = std::chrono::steady_clock;

/// Ratios above this need a figure in the documentation.
constexpr double max_ratio = 8;

struct kind {
  const char* name;
  values elements = values::plain;
  structure shape = structure::even;
};

constexpr kind plain = {"plain"};
constexpr kind kinds[] = {
    {"NaN, 1 of 64", values::nan},
    {"all NaN", values::nans},
    {"inf, 1 of 64", values::infinite},
    {"all inf", values::infinities},
    {"subnormal", values::subnormal},
    {"zeros", values::zero},
    {"huge", values::huge},
    {"tiny", values::tiny},
    {"wide", values::wide},
    {"mixed", values::mixed},
    {"one value", values::one_value},
    {"sorted", values::ascending},
    {"reversed", values::descending},
    {"saturated", values::saturated},
    {"short rows", values::plain, structure::short_rows},
    {"empty rows", values::plain, structure::empty_rows},
    {"one long row", values::plain, structure::one_long_row},
    {"many bins", values::plain, structure::many_bins},
};

/// Ratios that the documentation states: operations, kinds and executors by regular expressions.
struct exception {
  const char* operations;
  const char* kinds;
  double ratio;      ///< the figure
  const char* page;  ///< with its section
  const char* executors = "";
};

/// How many times a figure another run may find.
constexpr double noise = 1.25;

constexpr const char* with_subnormals = "^(subnormal|tiny|mixed)$";
constexpr const char* of_few_terms = "^(short|empty) rows$";
constexpr const char* in_performance = "docs/performance.md#data-that-are-not-nice";
constexpr const char* in_exact = "docs/exact.md#cost";
constexpr const char* in_sparse = "docs/sparse.md#cost";
constexpr const char* in_histogram = "docs/histogram.md#cost";

const exception documented[] = {
    // A processor's arithmetic on subnormal numbers, of which the exact grade needs none.
    {"^(add|sub|mul)_", with_subnormals, 52, in_performance},
    {"^scal_", with_subnormals, 40, in_performance},
    {"^axpy_(?!dot)", with_subnormals, 61, in_performance},
    {"^(axpby_|waxpby_(?!nrm2))", with_subnormals, 61, in_performance},
    {"^(axpbypcz|axypbz)_", with_subnormals, 78, in_performance},
    {"^axpy_dot(?!.*exact)", with_subnormals, 72, in_performance},
    {"^dot(?!.*exact)", with_subnormals, 88, in_performance},
    {"^(multi|batched)_dot(?!.*exact)", with_subnormals, 80, in_performance},
    {"^interval_dot", "^tiny$", 21, in_performance},
    {"^transform_reduce", with_subnormals, 36, in_performance},
    {"^spmv(?!_exact|_transpose)", "^tiny$", 16, in_performance},
    {"^spmv(?!_exact|_transpose)", "^mixed$", 30, in_performance},
    {"^spmv_transpose", "^mixed$", 10, in_performance},
    {"^sigmoid_float16", "^saturated$", 38, in_performance},
    // The same of squares, which may be summed twice: as they are, and scaled.
    {"^nrm2(?!.*exact)", "^(subnormal|tiny|wide)$", 250, in_performance},
    {"^nrm2(?!.*exact)", "^mixed$", 35, in_performance},
    {"^waxpby_nrm2", "^(subnormal|tiny)$", 114, in_performance},
    {"^waxpby_nrm2", "^(mixed|wide)$", 47, in_performance},
    {"^interval_nrm2", "^(subnormal|tiny)$", 302, in_performance},
    {"^interval_nrm2", "^wide$", 147, in_performance},
    {"^interval_nrm2", "^(inf, 1 of 64|all inf|huge|zeros)$", 21, in_performance},
    // Exact sums of terms whose exponents are far apart.
    {"^dot_exact", "^mixed$", 97, in_exact},
    {"^dot_exact", "^(tiny|wide)$", 15, in_exact},
    {"^(multi|batched)_dot.*_exact", "^mixed$", 27, in_exact},
    {"^(multi|batched)_dot.*_exact", "^(tiny|wide)$", 13, in_exact},
    {"^a?sum_exact", "^mixed$", 23, in_exact},
    {"^a?sum_exact", "^(tiny|wide)$", 11, in_exact},
    {"^nrm2_exact", "^mixed$", 31, in_exact},
    {"^nrm2_exact", "^(tiny|wide)$", 36, in_exact},
    {"^axpy_dot_exact", "^mixed$", 43, in_exact},
    {"^axpy_dot_exact", "^(subnormal|tiny)$", 32, in_exact},
    {"^spmv_exact", with_subnormals, 8.3, in_exact},
    // Rows have their cost, and some of the list's factors are subnormal.
    {"^spmv(?!_exact|_transpose|_factors|_four_arrays|_plan)", of_few_terms, 10, in_sparse},
    {"^spmv_(factors|four_arrays|plan)", of_few_terms, 20, in_sparse},
    {"^spmv_exact", of_few_terms, 11, in_sparse},
    // On a GPU one warp sums a long row, and all bins have limbs.
    {"^spmv_exact", "^one long row$", 73, in_sparse, "^cuda$"},
    {"^spmv_four_arrays", "^one long row$", 21, in_sparse, "^cuda$"},
    {"^(bincount|histogram_[a-z]+)_weights", "^many bins$", 63, in_histogram, "^cuda$"},
    {"^histogram_range", "^many bins$", 8.8, in_histogram, "^cuda$"},
};

struct options {
  std::size_t n = std::size_t{1} << 15;
  std::string filter;
};

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help") {
      std::puts(
          "usage: tally_bench_unkind [--size N] [--filter REGEX]\n"
          "Times every operation on vectors of N elements (default 2^15) of each unkind kind "
          "against "
          "plain ones.\n--filter keeps the rows OPERATION_TYPES/KIND/EXECUTOR in which REGEX is "
          "found.\nIt ends with 1 if a row takes more than 8 times as long and the documentation "
          "has no figure for it,\nor if a call failed.");
      std::exit(0);
    }
    if (i + 1 == argc) throw std::invalid_argument(argument + " is no option, or needs a value");
    const char* const value = argv[++i];
    if (argument == "--size") {
      o.n = std::stoull(value);
    } else if (argument == "--filter") {
      o.filter = value;
    } else {
      throw std::invalid_argument("no option " + argument);
    }
  }
  return o;
}

/// An executor, and whether all kinds are measured on it, or only structures.
struct target {
  std::string name;
  tally::executor where;
  bool has_all_kinds = true;
};

/// The executors of the build that run here; openmp also with more threads than most machines have
/// cores, since the work of some structures may grow with them.
std::vector<target> targets() {
  std::vector<target> list;
  for (const tally::executor& where : tally::executors()) {
    list.push_back({std::string(where.name()), where});
    if (where.name() == "openmp") {
      list.push_back({"openmp, 16 threads", tally::openmp({.threads = 16}), false});
    }
  }
  return list;
}

/// Returns the machine's load in the last minute.
double load() {
  double of_minutes[1] = {};
  return getloadavg(of_minutes, 1) == 1 ? of_minutes[0] : 0;
}

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// The time that this thread had a core.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The least time of a call, among some: outputs start as they were each time, in the cache. Of a
/// long call on one thread it is the time on a core, which others on the machine don't change.
double seconds_of(const operation& what, const tally::executor& where) {
  constexpr double enough = 2e-3, is_long = 1e-4;
  constexpr int min_calls = 3, max_calls = 50;
  const bool is_one_thread = !data::on_device(where) && where.threads() == 1;
  prepared call(what, where);
  double least = 1e30, all = 0;
  for (int i = 0; i < min_calls || (i < max_calls && all < enough); ++i) {
    call.reset();
    const double of_thread = thread_seconds();
    const auto start = clock::now();
    call.run();
#if TALLY_HAS_CUDA
    if (data::on_device(where)) data::check_cuda(cudaDeviceSynchronize());
#endif
    double seconds = seconds_since(start);
    if (is_one_thread && seconds > is_long) seconds = thread_seconds() - of_thread;
    all += seconds;
    least = std::min(least, seconds);
  }
  return least;
}

/// What a call reads and writes.
double bytes_of(const operation& what) {
  std::size_t bytes = 0;
  for (const auto& each : what.inputs) bytes += each.bytes.size();
  for (const auto& each : what.outputs) bytes += each.size();
  return static_cast<double>(bytes);
}

bool is_same(const operation& a, const operation& b) {
  return std::ranges::equal(a.inputs, b.inputs, {}, &operations::input::bytes,
                            &operations::input::bytes) &&
         a.outputs == b.outputs;
}

struct row {
  std::string operation, kind, executor;
  double seconds, plain_seconds, ratio;
};

const exception* documented_for(const row& r) {
  for (const exception& each : documented) {
    if (r.ratio <= noise * each.ratio &&
        std::regex_search(r.operation, std::regex(each.operations)) &&
        std::regex_search(r.kind, std::regex(each.kinds)) &&
        std::regex_search(r.executor, std::regex(each.executors))) {
      return &each;
    }
  }
  return nullptr;
}

/// The operation without its types: the name before the first one.
std::string without_types(const std::string& name) {
  std::size_t end = name.size();
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    end = std::min(end, name.find('_' + std::string(tally::name(tally::type_of<T>))));
  });
  return name.substr(0, end);
}

class measurement {
 public:
  explicit measurement(const options& o)
      : filter_(o.filter),
        plain_(o.n, plain.elements, operations::truth::one, plain.shape),
        n_(o.n) {}

  void run(const kind& k) {
    const auto is_wanted = [&](const operation& what, const target& on) {
      return (on.has_all_kinds || k.shape != plain.shape) &&
             std::regex_search(what.name + '/' + k.name + '/' + on.name, filter_);
    };
    const auto is_any_wanted = [&](const target& on) {
      return std::ranges::any_of(plain_,
                                 [&](const operation& what) { return is_wanted(what, on); });
    };
    if (std::ranges::none_of(targets_, is_any_wanted)) return;
    const operations::list all(n_, k.elements, operations::truth::one, k.shape);
    std::size_t index = 0;
    for (const target& on : targets_) {
      std::fprintf(stderr, "%-14s %-20s %5zu rows, %.0f s\n", k.name, on.name.c_str(), rows_.size(),
                   seconds_since(start_));
      auto of_plain = plain_.begin();
      for (const operation& each : all) {
        const operation& nice = *of_plain++;
        double& known = plain_seconds_.try_emplace({index, &nice}, 1e30).first->second;
        if (is_same(each, nice) || !operations::runs(each, on.where)) continue;
        if (!is_wanted(each, on)) continue;
        try {
          row r = {each.name, k.name, on.name, 1e30, 0, 0};
          const auto measure = [&](bool is_plain_known) {
            if (!is_plain_known) known = std::min(known, seconds_of(nice, on.where));
            r.seconds = std::min(r.seconds, seconds_of(each, on.where));
            r.plain_seconds = known;
            r.ratio = bytes_of(nice) / bytes_of(each) * r.seconds / known;
          };
          measure(known < 1e30);
          // Perhaps neither was alone on the machine: again as long as that helps, and more often
          // before it is called a defect.
          constexpr int max_useless = 10;
          for (int useless = 0;
               r.ratio > max_ratio / 2 &&
               useless < (r.ratio <= max_ratio || documented_for(r) ? 1 : max_useless);) {
            const double before = r.ratio;
            measure(false);
            useless += r.ratio >= 0.9 * before;
          }
          rows_.push_back(r);
        } catch (const std::exception& failure) {
          std::fprintf(stderr, "%s, %s, %s: %s\n", each.name.c_str(), k.name, on.name.c_str(),
                       failure.what());
          ++failed_;
        }
      }
      ++index;
    }
  }

  /// Prints the tables, and returns whether all calls ran and no row above the limit lacks its
  /// figure in the documentation.
  bool print() const {
    if (rows_.empty() && failed_ == 0) throw std::invalid_argument("no row is left by --filter");
    std::map<std::string, std::map<std::string, row>> worst;
    std::size_t undocumented = 0;
    std::vector<row> slow;
    for (const row& r : rows_) {
      row& w = worst[without_types(r.operation)][r.kind];
      if (w.ratio < r.ratio || w.kind.empty()) w = r;
      if (r.ratio > max_ratio) slow.push_back(r), undocumented += !documented_for(r);
    }
    std::printf(
        "The time of a call over that of plain data, byte for byte: the worst of all types "
        "and executors. The load at the start was %.1f: from 1 on, rows of several threads are "
        "noise.\n\n| operation |",
        load_);
    for (const kind& k : kinds) std::printf(" %s |", k.name);
    std::printf("\n| --- |");
    for (std::size_t i = 0; i < std::size(kinds); ++i) std::printf(" --- |");
    for (const auto& [name, of_kinds] : worst) {
      std::printf("\n| %s |", name.c_str());
      for (const kind& k : kinds) {
        const auto found = of_kinds.find(k.name);
        if (found == of_kinds.end()) {
          std::printf("  |");
        } else {
          const double ratio = found->second.ratio;
          std::printf(ratio > max_ratio ? " **%.0f** |" : " %.1f |", ratio);
        }
      }
    }
    std::printf("\n\n%zu of %zu rows are above %g, %zu of them not documented.\n", slow.size(),
                rows_.size(), max_ratio, undocumented);
    const bool is_good = undocumented == 0 && failed_ == 0;
    if (slow.empty()) return is_good;
    std::ranges::sort(slow, std::greater(), &row::ratio);
    std::printf(
        "\n| operation | kind | executor | time | plain | ratio | |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (const row& r : slow) {
      const exception* const found = documented_for(r);
      std::printf("| %s | %s | %s | %.0f ns | %.0f ns | %.1f | %s |\n", r.operation.c_str(),
                  r.kind.c_str(), r.executor.c_str(), r.seconds * 1e9, r.plain_seconds * 1e9,
                  r.ratio, found ? found->page : "**defect**");
    }
    return is_good;
  }

 private:
  std::regex filter_;
  operations::list plain_;
  std::size_t n_;
  std::vector<target> targets_ = targets();
  /// Seconds by executor and operation.
  std::map<std::pair<std::size_t, const operation*>, double> plain_seconds_;
  std::vector<row> rows_;
  std::size_t failed_ = 0;  ///< calls that threw
  clock::time_point start_ = clock::now();
  double load_ = load();
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const options o = parse(argc, argv);
    measurement all(o);
    for (const kind& each : kinds) all.run(each);
    return all.print() ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tally_bench_unkind: %s\n", failure.what());
    return 2;
  }
}
