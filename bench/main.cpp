// The comparison: runs the benchmarks, group by group. Candidates of a group compute the same
// product of the same data; they are checked, then measured in repetitions in random order.
#include "bench/calibrate.hpp"
#include "bench/data.hpp"
#include "bench/lane.hpp"
#include "bench/matrices.hpp"
#include "bench/ours.hpp"
#include "bench/results.hpp"
#if TALLY_BENCH_CUDA
#include "bench/device.hpp"
#endif

#include <tally/tally.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <regex>
#include <stdexcept>

namespace bench {
namespace {

struct options {
  bool full = false;
  bool quiet = false;
  bool calibrates = false;
  std::string filter;
  std::vector<std::string> matrices;
  std::string out = "results.json";
  std::uint64_t seed = std::random_device{}();
};

constexpr const char* usage =
    "usage: tally_bench [--quick | --full] [--filter REGEX] [--matrix FILE...] [--out FILE]\n"
    "                   [--seed N] [--quiet]\n"
    "       tally_bench --calibrate\n"
    "Measures and writes FILE (default results.json). Rows are named "
    "LANE/TYPES/SIZE/THREADS/CONTENDER;\n"
    "of a sparse matrix SIZE is its name. --filter keeps those in which REGEX is found. --matrix\n"
    "measures the lanes whose names begin with spmv (with --filter what that keeps), on the "
    "matrices\n"
    "in these Matrix Market files. --calibrate prints from how long on all threads are faster than "
    "one.\n";

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) throw std::invalid_argument(argument + " needs a value");
      return argv[i];
    };
    if (argument == "--quick") {
      o.full = false;
    } else if (argument == "--full") {
      o.full = true;
    } else if (argument == "--quiet") {
      o.quiet = true;
    } else if (argument == "--calibrate") {
      o.calibrates = true;
    } else if (argument == "--filter") {
      o.filter = value();
    } else if (argument == "--matrix") {
      do {
        o.matrices.push_back(value());
      } while (i + 1 < argc && argv[i + 1][0] != '-');
    } else if (argument == "--out") {
      o.out = value();
    } else if (argument == "--seed") {
      o.seed = std::stoull(value());
    } else if (argument == "--help") {
      std::fputs(usage, stdout);
      std::exit(0);
    } else {
      throw std::invalid_argument("no option " + argument);
    }
  }
  if (!o.matrices.empty() && o.filter.empty()) o.filter = "^spmv";
  return o;
}

struct effort {
  int repetitions;
  double seconds;  ///< of each repetition, at least
};
constexpr effort quick_effort = {5, 0.01};
constexpr effort full_effort = {15, 0.03};

/// Above, a candidate has fewer repetitions, at least three: the slowest take a hundred times as
/// long as ours.
constexpr double seconds_of_slow = 0.25;

bool writes(const lane& l) { return writes(l.what); }
bool has_matrix(const lane& l) { return has_matrix(l.what); }
tally::matrix_operation operation_of(const lane& l) {
  return l.transposes ? tally::matrix_operation::transpose : tally::matrix_operation::none;
}

struct group {
  const lane* from;
  types operands;
  std::size_t n;
  int threads;
  std::vector<std::string> names;  ///< of rows that pass the filter

  std::string name() const {
    const std::string size = has_matrix(*from) ? matrix_name(n) : std::to_string(n);
    return std::string(from->name) + '/' + bench::name(operands) + '/' + size + '/' +
           std::to_string(threads);
  }
};

std::vector<const lane*> lanes() {
  std::vector<const lane*> list;
  const auto add = [&](std::initializer_list<std::span<const lane>> sources) {
    for (const auto& source : sources) {
      for (const lane& l : source) list.push_back(&l);
    }
  };
  add({dot_lanes, reduce_lanes, extremum_lanes, transform_lanes, fused_lanes, exact_lanes,
       multi_dot_lanes, several_lanes, histogram_lanes, spmv_lanes, sparse_lanes, ladder_lanes});
#if TALLY_BENCH_CUDA
  if (device_count() > 0) {
    add({device_dot_lanes, device_of_one_lanes, device_transform_lanes, device_fused_lanes,
         device_multi_dot_lanes, device_several_lanes, device_exact_lanes, device_histogram_lanes,
         device_spmv_lanes, device_sparse_lanes, device_ladder_lanes, device_spmv_ladder_lanes,
         host_lanes});
  }
#endif
  return list;
}

bool fits_in_memory(std::size_t bytes) {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return bytes < pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
}

bool takes(const lane& l, const types& t) {
  return l.what == operation::histogram ? contains(histogram_pairs{}, t)
         : is_indexed(l.what)           ? contains(indexed_pairs{}, t)
                                        : contains(pairs{}, t);
}

/// A workload without data.
workload shape_of(const lane& l, const types& t, std::size_t n, int threads) {
  const bool counts = l.what == operation::histogram, adds = l.what == operation::scatter_add;
  const std::size_t size = l.drawn == values::ill_conditioned ? ill_conditioned_size
                           : counts                           ? samples_of_histogram
                           : adds                             ? samples_of_scatter_add
                                                              : n;
  const std::size_t of_y = counts                               ? bins_of(l.drawn, n)
                           : l.what == operation::segmented_sum ? n / l.rows + 1
                                                                : size;
  workload w{{nullptr, size, 1, t.x},
             {nullptr, of_y, 1, t.y},
             t.accumulator,
             threads,
             l.what,
             adds ? n : l.rows,
             l.y_has_rows,
             l.bins};
  w.columns = l.columns;
  w.matrix.operation = operation_of(l);
  return w;
}

std::vector<types> every_types() {
  std::vector<types> list = list_of(pairs{});
  for (const types& t : list_of(histogram_pairs{})) {
    if (!contains(pairs{}, t)) list.push_back(t);
  }
  for (const types& t : list_of(indexed_pairs{})) list.push_back(t);
  return list;
}

/// Candidates are made here without data, for their names.
std::vector<group> plan(const options& o) {
  const std::regex filter(o.filter);
  std::vector<group> groups;
  for (const types& t : every_types()) {  // consecutive groups share contents
    for (const lane* l : lanes()) {
      if (!takes(*l, t)) continue;
      std::vector<int> threads = {1};
      if (l->on_all_threads && all_threads() > 1) threads.push_back(all_threads());
      for (const std::size_t n : l->sizes(t, o.full)) {
        for (const int count : threads) {
          const workload nothing = shape_of(*l, t, n, count);
          if (!fits_in_memory(nothing.bytes())) continue;
          group g{l, t, n, count, {}};
          for (const contender& c : l->ways(nothing, o.full)) {
            const std::string row = g.name() + '/' + c.name;
            if (std::regex_search(row, filter)) g.names.push_back(row);
          }
          if (!g.names.empty()) groups.push_back(std::move(g));
        }
      }
    }
  }
  return groups;
}

struct contents {
  types operands;
  values drawn = values::uniform;
  bool on_device = false;
  std::size_t offset = 0, skipped = 0, rows = 0;
  bool y_has_rows = false;
  bool transposes = false;
  std::optional<std::pair<std::size_t, operation>> matrix = {};

  explicit contents(const group& g)
      : operands(g.operands),
        drawn(g.from->drawn),
        on_device(g.from->on_device),
        offset(g.from->offset),
        skipped(g.from->skipped),
        rows(g.from->rows),
        y_has_rows(g.from->y_has_rows),
        transposes(g.from->transposes) {
    if (has_matrix(*g.from)) matrix.emplace(g.n, g.from->what);
  }
  contents() = default;

  friend bool operator==(const contents&, const contents&) = default;
};

/// Filled once for successive groups of equal contents.
class operands {
 public:
  operands(const std::vector<group>& groups, std::uint64_t seed) : groups_(groups), seed_(seed) {}

  workload on_host(const group& g) {
    if (g.from->drawn == values::ill_conditioned) return ill_conditioned(g);
    if (g.from->what == operation::histogram) return histogram(g);
    if (has_matrix(*g.from)) return sparse(g);
    if (has_several(g.from->what)) return several(g);
    if (const contents wanted(g); wanted != filled_with_) fill(wanted);
    const auto skip = [&](tally::operand v) { return v.slice(g.from->skipped, g.n); };
    workload w{skip(x_.first(x_.size())),
               skip(y_.first(y_.size())),
               g.operands.accumulator,
               g.threads,
               g.from->what,
               g.from->rows,
               g.from->y_has_rows};
    if (writes(*g.from) && !g.from->on_device) w.z = const_cast<void*>(z_.first(0).data);
    return w;
  }

  workload where_wanted(const group& g, workload w) const {
#if TALLY_BENCH_CUDA
    if (g.from->on_device) {
      const std::size_t skipped = g.from->skipped;
      const auto from = [&](const device_memory& m, tally::type element) {
        return static_cast<char*>(m.data()) + skipped * size_of(element);
      };
      w.x.data = from(device_x_, w.x.element), w.y.data = from(device_y_, w.y.element);
      if (writes(*g.from) || w.result_is_z()) w.z = from(device_z_, w.x.element);
      w.matrix.row_offsets.data = device_offsets_.data();
      w.matrix.column_indices.data = device_columns_.data();
      w.matrix.values.data = device_values_.data();
    }
#else
    (void)g;
#endif
    return w;
  }

  /// Before a checked call z is y where it is updated, 0 where samples are added to it; NaN for
  /// matrices and others, so that an unwritten result is wrong.
  static void reset(const group& g, const workload& w) {
    const bool is_updated = updates(w.what);
    if (!is_updated && !has_matrix(*g.from) && !has_several(w.what)) return;
    const int unwritten = w.what == operation::scatter_add ? 0 : 0xff;
    if (!g.from->on_device) {
      if (is_updated) {
        std::memcpy(w.z, w.y.data, w.size() * size_of(w.y.element));
      } else {
        std::memset(w.z, unwritten, w.result_bytes());
      }
      return;
    }
#if TALLY_BENCH_CUDA
    if (is_updated) {
      check(cudaMemcpy(w.z, w.y.data, w.size() * size_of(w.y.element), cudaMemcpyDeviceToDevice),
            "cudaMemcpy");
    } else {
      check(cudaMemset(w.z, unwritten, w.result_bytes()), "cudaMemset");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#endif
  }

 private:
  void fill(const contents& c) {
    std::size_t longest = 0;
    bool written = false;
    for (const group& g : groups_) {
      if (contents(g) != c) continue;
      longest = std::max(longest, g.n + c.skipped);
      written = written || writes(*g.from);
    }
    const std::size_t n = longest * c.rows;
    const std::size_t n_of_y = c.y_has_rows ? n : longest;
    filled_with_ = c;
    make_room();
    x_ = host_vector(c.operands.x, n, seed_, c.offset, c.drawn);
    y_ = host_vector(c.operands.y, n_of_y, seed_ + 1, c.offset, c.drawn);
    if (written && !c.on_device) z_ = host_vector(c.operands.x, n, seed_ + 2, c.offset);
#if TALLY_BENCH_CUDA
    if (c.on_device) {
      device_x_ = device_memory(x_.first(n));
      device_y_ = device_memory(y_.first(n_of_y));
      if (written) device_z_ = device_memory(n * size_of(c.operands.x));
    }
#endif
  }

  void make_room() {
    x_ = {}, y_ = {}, z_ = {};
    pattern_ = {}, values_ = {};
#if TALLY_BENCH_CUDA
    device_x_ = {}, device_y_ = {}, device_z_ = {};
    device_offsets_ = {}, device_columns_ = {}, device_values_ = {};
#endif
  }

  workload sparse(const group& g) {
    const types& t = g.operands;
    if (const contents wanted(g); wanted != filled_with_) {
      filled_with_ = {};
      make_room();
      pattern_ = pattern_of(g.n, seed_);
      values_ = host_vector(t.x, pattern_.nonzeros(), seed_, g.from->offset);
      const std::size_t width = g.from->transposes ? pattern_.rows : pattern_.columns;
      const operation what = g.from->what;
      const bool has_entries = what == operation::assembly;
      const std::size_t of_x = what == operation::scale_rows ? pattern_.rows
                               : what == operation::spmv || what == operation::spmm
                                   ? width * g.from->rows
                                   : 0;
      x_ = host_vector(t.x, of_x, seed_ + 1, g.from->offset);
      std::vector<std::int32_t> row_indices;
      if (has_entries) row_indices = shuffle_entries(pattern_, seed_);
      y_ = host_vector(has_entries ? tally::type::int32 : t.y, row_indices.size(), seed_,
                       g.from->offset);
      std::ranges::copy(row_indices, y_.as<std::int32_t>().begin());
      z_ = host_vector(t.accumulator, matrix_workload(g).results(), seed_ + 2, g.from->offset);
#if TALLY_BENCH_CUDA
      if (g.from->on_device) {
        device_offsets_ = device_memory(tally::as_operand(pattern_.row_offsets));
        device_columns_ = device_memory(tally::as_operand(pattern_.column_indices));
        device_values_ = device_memory(values_.first(values_.size()));
        device_x_ = device_memory(x_.first(x_.size()));
        device_y_ = device_memory(y_.first(y_.size()));
        device_z_ = device_memory(z_.first(z_.size()));
      }
#endif
      filled_with_ = wanted;
    }
    workload w = matrix_workload(g);
    if (!g.from->on_device) w.z = const_cast<void*>(z_.first(0).data);
    return w;
  }

  workload matrix_workload(const group& g) const {
    workload w{x_.first(x_.size()), y_.first(y_.size()), g.operands.accumulator,
               g.threads,           g.from->what,        g.from->rows};
    w.matrix = {pattern_.rows, pattern_.columns, tally::as_operand(pattern_.row_offsets),
                tally::as_operand(pattern_.column_indices), values_.first(values_.size())};
    w.matrix.operation = operation_of(*g.from);
    return w;
  }

  workload several(const group& g) {
    workload w = shape_of(*g.from, g.operands, g.n, g.threads);
    filled_with_ = {};
    make_room();
    const std::size_t vectors = is_indexed(w.what) ? 1 : w.rows;
    x_ = host_vector(w.x.element, vectors * w.x.size, seed_, g.from->offset);
    y_ = host_vector(w.y.element, w.y.size, seed_ + 1, g.from->offset);
    if (w.what == operation::scatter_add) fill_keys(y_, g.from->drawn, g.n, seed_ + 1);
    if (w.what == operation::segmented_sum) fill_offsets(y_, w.x.size, g.from->rows, seed_ + 1);
    z_ = host_vector(w.accumulator, w.results(), seed_ + 2, g.from->offset);
#if TALLY_BENCH_CUDA
    if (g.from->on_device) {
      device_x_ = device_memory(x_.first(x_.size()));
      device_y_ = device_memory(y_.first(y_.size()));
      device_z_ = device_memory(z_.first(z_.size()));
    }
#endif
    w.x.data = x_.first(0).data;
    w.y.data = y_.first(0).data;
    if (!g.from->on_device) w.z = const_cast<void*>(z_.first(0).data);
    return w;
  }

  workload histogram(const group& g) {
    const std::size_t n = samples_of_histogram, bins = bins_of(g.from->drawn, g.n);
    filled_with_ = {};
    make_room();
    x_ = host_vector(g.operands.x, n, seed_, g.from->offset, values::uniform);
    y_ = host_vector(g.operands.y, bins, seed_, g.from->offset, values::uniform);
    if (g.from->drawn != values::uniform) fill_keys(x_, g.from->drawn, g.n, seed_);
#if TALLY_BENCH_CUDA
    if (g.from->on_device) {
      device_x_ = device_memory(x_.first(n));
      device_y_ = device_memory(y_.first(bins));
    }
#endif
    return {x_.first(n),  y_.first(bins), g.operands.accumulator, g.threads,
            g.from->what, g.from->rows,   g.from->y_has_rows,     g.from->bins};
  }

  workload ill_conditioned(const group& g) {
    constexpr std::size_t n = ill_conditioned_size;
    filled_with_ = {};
    x_ = host_vector(g.operands.x, n, seed_, g.from->offset);
    y_ = host_vector(g.operands.y, n, seed_, g.from->offset);
    fill_ill_conditioned(x_, y_, static_cast<int>(g.n), seed_ + g.n);
    return {x_.first(n), y_.first(n), g.operands.accumulator, g.threads};
  }

  const std::vector<group>& groups_;
  std::uint64_t seed_;
  contents filled_with_;
  host_vector x_, y_, z_;
  matrices::pattern pattern_;
  host_vector values_;
#if TALLY_BENCH_CUDA
  device_memory device_x_, device_y_, device_z_;
  device_memory device_offsets_, device_columns_, device_values_;
#endif
};

/// Bytes of an accumulator, or of an element-wise function's elements.
using bits = std::vector<unsigned char>;
bits room_for_result(const workload& w) {
  return bits(std::max(w.result_bytes(), sizeof(std::complex<double>)));
}

struct verdict {
  bool agrees = true;  ///< with our serial executor's bits
  double error = 0;    ///< see reference::error_of, error_of_rows, error_of_elements
  double seconds = 0;  ///< of a call, about
};

/// The worst of several calls: races show rarely, least of all on a busy machine.
verdict check(const group& g, const contender& c, const workload& w, const bits& expected,
              const reference& truth) {
  const bool exists = w.what == operation::max || w.what == operation::max_norm ||
                      w.what == operation::iamax ||
                      w.what == operation::histogram;  // right or wrong
  const int calls = w.size() <= std::size_t{1} << 20 ? 10 : 1;
  verdict v;
  for (int i = 0; i < calls; ++i) {
    bits result = room_for_result(w);
    operands::reset(g, w);
    const auto start = std::chrono::steady_clock::now();
    c.compute(result.data());
    v.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    v.agrees = v.agrees && result == expected;
    const double error =
        exists ? !v.agrees
        : w.what == operation::spmv
            ? truth.error_of_rows(result.data(), expected.data(), w.accumulator)
        : is_transcendental(w.what) ? truth.error_of_elements(result.data(), w.x.element)
        : has_several(w.what) || w.has_matrix()
            ? largest_difference(result.data(), expected.data(), w.results(), w.accumulator)
        : w.is_elementwise() ? largest_difference(result.data(), expected.data(),
                                                  std::min(w.size(), max_checked), w.x.element)
        : is_fused(w.what) || w.what == operation::wrms_norm
            ? largest_difference(result.data(), expected.data(), 1, w.accumulator)
            : truth.error_of(result.data(), w.accumulator);
    v.error = std::max(v.error, error);
  }
  return v;
}

double seconds_of(const std::function<void()>& set_up) {
  set_up();  // one-time initialisation
  std::array<double, 5> seconds;
  for (double& s : seconds) {
    const auto start = std::chrono::steady_clock::now();
    set_up();
    s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

void add(const std::string& row, const contender& c, const workload& w, const verdict& v,
         const effort& e) {
  const double set_up = c.set_up ? seconds_of(c.set_up) : 0;
  auto* const b = benchmark::RegisterBenchmark(row.c_str(), [=](benchmark::State& state) {
    try {
      c.loop(state);
    } catch (const std::exception& failure) {
      return state.SkipWithError(failure.what());
    }
    state.SetLabel(c.label);
    state.counters["n"] = static_cast<double>(w.size());
    state.counters["threads_used"] = c.threads;
    state.counters["bytes"] = static_cast<double>(c.bytes > 0 ? c.bytes : w.bytes());
    if (c.compute) {
      state.counters["agrees"] = v.agrees;
      state.counters[is_transcendental(w.what) ? "error_ulp" : "error"] = v.error;
    }
    if (c.set_up) state.counters["set_up"] = set_up;
    if (c.us_in_2021 > 0) state.counters["us_in_2021"] = c.us_in_2021;
  });
  const int repetitions =
      v.seconds * e.repetitions <= seconds_of_slow
          ? e.repetitions
          : std::min(e.repetitions, std::max(3, static_cast<int>(seconds_of_slow / v.seconds)));
  b->Repetitions(repetitions)->MinTime(e.seconds)->Unit(benchmark::kNanosecond);
  b->ComputeStatistics("min", [](const std::vector<double>& times) {
    return *std::min_element(times.begin(), times.end());
  });
  c.device_clock ? b->UseManualTime() : b->UseRealTime();
}

std::string clock_text(double seconds) {
  char text[32];
  const auto whole = static_cast<int>(seconds + 0.5);
  std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  return text;
}

std::string time_text(double seconds) {
  const auto [scale, unit] = seconds < 1e-6   ? std::pair(1e9, "ns")
                             : seconds < 1e-3 ? std::pair(1e6, "us")
                                              : std::pair(1e3, "ms");
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", seconds * scale, unit);
  return text;
}

/// A line per group: the best of ours against the best of the others.
class progress {
 public:
  progress(const std::vector<group>& groups, const effort& e, bool quiet)
      : effort_(e), quiet_(quiet) {
    for (const group& g : groups) rows_ += g.names.size(), cost_ += cost(g);
  }

  void begin(const group& g) {
    if (!quiet_)
      std::fprintf(stderr, "[%4zu/%zu] %-40s ", rows_done_ + g.names.size(), rows_,
                   g.name().c_str());
  }

  void end(const group& g, const std::map<std::string, double>& medians) {
    rows_done_ += g.names.size();
    cost_done_ += cost(g);
    if (quiet_) return;
    const double elapsed = std::chrono::duration<double>(clock::now() - start_).count();
    std::fprintf(stderr, "%-58s %s, %s left\n", summary(g, medians).c_str(),
                 clock_text(elapsed).c_str(),
                 clock_text(elapsed * (cost_ / cost_done_ - 1)).c_str());
  }

 private:
  using clock = std::chrono::steady_clock;

  /// Rough, for the remaining time alone: reading speed plus overhead.
  double cost(const group& g) const {
    const types& t = g.operands;
    const double bytes_per_second = g.from->on_device ? 1e12 : 5e9;
    const std::size_t n = g.from->what == operation::histogram ? samples_of_histogram : g.n;
    const double call = static_cast<double>(n * (size_of(t.x) + size_of(t.y))) / bytes_per_second;
    return static_cast<double>(g.names.size()) *
           (effort_.repetitions * (effort_.seconds + call + (g.threads > 1 ? 0.04 : 0.0)) + 0.02);
  }

  static std::string summary(const group& g, const std::map<std::string, double>& medians) {
    std::pair<double, std::string> ours, other;
    for (const std::string& row : g.names) {
      const auto found = medians.find(row);
      if (found == medians.end()) continue;
      const std::string who = row.substr(g.name().size() + 1);
      if (who.starts_with("limit")) continue;
      auto& best = who.starts_with("tally::") ? ours : other;
      if (best.second.empty() || found->second < best.first) best = {found->second, who};
    }
    std::string text;
    if (!ours.second.empty()) text += ours.second + " " + time_text(ours.first);
    if (!ours.second.empty() && !other.second.empty()) text += ", ";
    if (!other.second.empty()) text += other.second + " " + time_text(other.first);
    return text;
  }

  effort effort_;
  bool quiet_;
  std::size_t rows_ = 0, rows_done_ = 0;
  double cost_ = 0, cost_done_ = 0;
  clock::time_point start_ = clock::now();
};

void run(const group& g, operands& data, bool full, const effort& e, results& file) {
  const workload host = data.on_host(g);
  const reference truth = reference_of(host, g.from->drawn);
  bits expected = room_for_result(host);
  workload checked = host;
  if (host.is_elementwise()) checked.x.size = checked.y.size = std::min(g.n, max_checked);
  std::vector<std::byte> written(is_fused(host.what) ? g.n * size_of(host.x.element) : 0);
  if (is_fused(host.what)) checked.z = written.data();
  if (updates(host.what)) {
    std::memcpy(host.result_is_z() ? expected.data() : checked.z, host.y.data,
                checked.size() * size_of(host.y.element));
  }
  compute(tally::serial(), checked, expected.data(), true, g.from->exact);

  benchmark::ClearRegisteredBenchmarks();
  const workload w = data.where_wanted(g, host);
  for (const contender& c : g.from->ways(w, full)) {
    const std::string row = g.name() + '/' + c.name;
    if (std::find(g.names.begin(), g.names.end(), row) == g.names.end()) continue;
    try {
      add(row, c, w, c.compute ? check(g, c, w, expected, truth) : verdict{}, e);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "\n%s is left out: %s\n", row.c_str(), failure.what());
    }
  }
  benchmark::RunSpecifiedBenchmarks(&file);
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

void add_context(const options& o) {
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("all_threads", std::to_string(all_threads()));
  benchmark::AddCustomContext("mode", o.full ? "full" : "quick");
  benchmark::AddCustomContext("seed", std::to_string(o.seed));
  benchmark::AddCustomContext("compiler", __VERSION__);
  if (const char* const peers = std::getenv("TALLY_BENCH_PEERS")) {  // bench/run --current
    benchmark::AddCustomContext("peers", peers);
  }
  std::string executors;
  for (const tally::executor& where : tally::executors()) {
    executors += (executors.empty() ? "" : "; ") + where.description();
  }
  benchmark::AddCustomContext("executors", executors);
#if TALLY_BENCH_CUDA
  if (device_count() > 0) benchmark::AddCustomContext("device", device_description());
#endif
}

int main(int argc, char** argv) {
  const options o = parse(argc, argv);
  if (o.calibrates) {
    calibrate();
    return 0;
  }
  if (!o.matrices.empty()) take_matrices(o.matrices);
  std::string program = argv[0], interleaved = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), interleaved.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  add_context(o);

  const std::vector<group> groups = plan(o);
  if (groups.empty())
    throw std::invalid_argument("no row that can be measured here matches " + o.filter);
  const effort e = o.full ? full_effort : quick_effort;
  if (!o.quiet)
    std::fprintf(stderr, "random data of seed %llu\n", static_cast<unsigned long long>(o.seed));
  results file(o.out);
  operands data(groups, o.seed);
  progress line(groups, e, o.quiet);
  for (const group& g : groups) {
    line.begin(g);
    run(g, data, o.full, e, file);
    line.end(g, file.medians());
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::main(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tally_bench: %s\n", failure.what());
    return 1;
  }
}
