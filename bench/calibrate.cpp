#include "bench/calibrate.hpp"

#include "bench/data.hpp"
#include "bench/ours.hpp"
#include "src/automatic.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t min_bytes = std::size_t{1} << 14, max_bytes = std::size_t{1} << 24;
/// Idle OpenMP threads first spin, GCC's for milliseconds; after this pause they sleep.
constexpr auto pause = std::chrono::milliseconds(30);

struct calibrated {
  const char* name;
  types operands;
  operation what;
  bool exact = false;
};

constexpr calibrated list[] = {
    {"dot, double", types_of(pair<double, double>{}), operation::dot},
    {"dot, float", types_of(pair<float, float>{}), operation::dot},
    {"sum, double", types_of(pair<double, double>{}), operation::sum},
    {"max, double", types_of(pair<double, double>{}), operation::max},
    {"axpy, double", types_of(pair<double, double>{}), operation::axpy},
    {"sigmoid, float", types_of(pair<float, float>{}), operation::sigmoid},
    {"exact dot, double", types_of(pair<double, double>{}), operation::dot, true},
};

class calls {
 public:
  explicit calls(const calibrated& c) : c_(c), bytes_of_element_(with(1).bytes()) {
    const std::size_t n = max_bytes / bytes_of_element_;
    x_ = host_vector(c.operands.x, n, 1, 16);
    y_ = host_vector(c.operands.y, n, 2, 16);
    if (writes(c.what)) z_ = host_vector(c.operands.x, n, 3, 16);
  }

  void once(const tally::executor& where, std::size_t bytes) const {
    workload w = with(bytes / bytes_of_element_);
    w.x.data = x_.first(1).data, w.y.data = y_.first(1).data;
    alignas(16) unsigned char sum[16];
    compute(where, w, writes(c_.what) ? const_cast<void*>(z_.first(1).data) : sum, true, c_.exact);
  }

 private:
  workload with(std::size_t n) const {
    const types& t = c_.operands;
    return {{nullptr, n, 1, t.x}, {nullptr, n, 1, t.y}, t.accumulator, 1, c_.what};
  }

  calibrated c_;
  std::size_t bytes_of_element_;
  host_vector x_, y_, z_;
};

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// The minimum of several turns.
double seconds_in_turn(const calls& c, const tally::executor& where, std::size_t bytes) {
  constexpr double turn = 5e-4;
  std::this_thread::sleep_for(pause);  // until the other executor's threads sleep
  c.once(where, bytes);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) {
    const auto start = clock::now();
    int count = 0;
    double elapsed = 0;
    do {
      c.once(where, bytes);
      ++count;
      elapsed = seconds_since(start);
    } while (elapsed < turn);
    least = std::min(least, elapsed / count);
  }
  return least;
}

double seconds_after_pause(const calls& c, const tally::executor& where, std::size_t bytes) {
  std::vector<double> seconds(3);
  for (double& s : seconds) {
    std::this_thread::sleep_for(pause);
    const auto start = clock::now();
    c.once(where, bytes);
    s = seconds_since(start);
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

using measure = double(const calls& c, const tally::executor& where, std::size_t bytes);

/// Returns the bytes, at least `from`, above which `openmp` is faster: where it first is at two
/// sizes, one twice the other, interpolated; empty if there are none.
std::optional<double> crossover(const calls& c, std::size_t from, measure* seconds) {
  const auto gain = [&](std::size_t bytes) {
    return std::log2(seconds(c, tally::simd(), bytes) / seconds(c, tally::openmp(), bytes));
  };
  double before = 0, last = -1;
  for (std::size_t bytes = from; bytes <= max_bytes; bytes *= 2) {
    const double now = gain(bytes);
    if (last > 0 && now > 0) {
      const double step = bytes / 2 == from ? 0 : last / (last - before);
      return static_cast<double>(bytes / 2) / std::exp2(step);
    }
    before = last, last = now;
  }
  return {};
}

std::string bytes_text(std::optional<double> bytes) {
  if (!bytes) return "none up to 16 MiB";
  char text[32];
  const bool many = *bytes >= 1 << 20;
  std::snprintf(text, sizeof text, many ? "%.1f MiB" : "%.0f KiB",
                *bytes / (many ? 1 << 20 : 1024));
  return text;
}

}  // namespace

void calibrate() {
  const std::size_t threshold = tally::openmp_from_bytes;
  if (all_threads() == 1) {
    std::puts("There is one thread here, so automatic() takes simd.");
    return;
  }
  std::printf(
      "%s. automatic() takes openmp from %s of operands on; here it is faster from:\n\n"
      "| operation | while its threads spin | after a pause | at %s: simd | openmp | after a "
      "pause: simd | openmp |\n| --- | --- | --- | --- | --- | --- | --- |\n",
      tally::openmp().description().c_str(), bytes_text(static_cast<double>(threshold)).c_str(),
      bytes_text(static_cast<double>(threshold)).c_str());
  for (const calibrated& each : list) {
    const calls c(each);
    const std::optional<double> spinning = crossover(c, min_bytes, seconds_in_turn);
    // Sleeping threads pay later than spinning ones.
    const auto from = static_cast<std::size_t>(spinning.value_or(max_bytes / 2));
    const std::optional<double> resting =
        crossover(c, std::max(min_bytes, std::bit_floor(from)), seconds_after_pause);
    std::printf("| %s | %s | %s |", each.name, bytes_text(spinning).c_str(),
                bytes_text(resting).c_str());
    for (measure* const seconds : {seconds_in_turn, seconds_after_pause}) {
      for (const tally::executor& where : {tally::simd(), tally::openmp()})
        std::printf(" %.3g us |", seconds(c, where, threshold) * 1e6);
    }
    std::puts("");
    std::fflush(stdout);
  }
  std::puts(
      "\nA program whose vectors lie between these numbers and automatic()'s names the executor: "
      "tally::simd()\nbelow its own number, tally::openmp() from there on. The bits are the same.");
}

}  // namespace bench
