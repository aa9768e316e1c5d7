// A candidate: one way of computing a product, to be checked and measured.
#pragma once

#include "bench/workload.hpp"

#include <benchmark/benchmark.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

struct contender {
  std::string name;   ///< "OpenBLAS", "tally::simd", or for limits "limit: read"
  std::string label;  ///< details: a version, a policy
  std::function<void(void* result)> compute = {};          ///< for the check; null for a limit
  std::function<void(benchmark::State& state)> loop = {};  ///< for the clock
  bool device_clock = false;  ///< the loop reads the device's clock, else the host's wall clock
  int threads = 1;            ///< maximal number
  std::function<void()> set_up = {};  ///< rebuilds what it keeps for a matrix, if anything
  std::size_t bytes = 0;              ///< moved, if other than workload::bytes
  double us_in_2021 = 0;              ///< on the machines of 2021, or 0; see bench/ladder.cpp
};

/// A source leaves out candidates that can't compute the workload.
using contenders = std::vector<contender>;
using source = contenders(const workload& w);

inline contenders sequential(contenders list) {
  for (contender& c : list) c.threads = 1;
  return list;
}

inline contenders& operator+=(contenders& all, contenders more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

/// Created on first use, then shared: candidates are also made for their names alone.
template <class T>
class on_demand {
 public:
  explicit on_demand(std::function<T()> make) : state_(std::make_shared<state>(std::move(make))) {}

  const T& operator()() const {
    if (!state_->value) state_->value = std::make_unique<T>(state_->make());
    return *state_->value;
  }

 private:
  struct state {
    std::function<T()> make;
    std::unique_ptr<T> value = {};
  };
  std::shared_ptr<state> state_;
};

/// Waits until the last candidate's threads sleep, at most 0.3 seconds: idle threads of OpenBLAS,
/// OpenMP and MKL first spin, and would take a core from the next candidate.
void let_others_rest(const void* next);

/// A candidate with its result on the host when `f` returns: the value of f(), or w.z for a void f.
/// `prepare` runs before each call, to set a number of threads for instance.
template <class F, class Prepare>
contender on_host(std::string name, std::string label, const workload& w, F f, Prepare prepare) {
  contender c{.name = std::move(name), .label = std::move(label), .threads = w.threads};
  using result = std::invoke_result_t<F&>;
  constexpr bool writes = std::is_void_v<result>;
  c.compute = [=](void* r) {
    prepare();
    if constexpr (writes) {
      f();
      std::memcpy(r, w.z, w.result_bytes());
    } else {
      *static_cast<result*>(r) = f();
    }
  };
  const auto once = [=] {
    if constexpr (writes) {
      f();
      benchmark::ClobberMemory();
    } else {
      benchmark::DoNotOptimize(f());
    }
  };
  c.loop = [=, identity = std::make_shared<char>(), threads = w.threads](benchmark::State& state) {
    prepare();
    if (threads > 1) {
      let_others_rest(identity.get());
      once();  // wakes its own threads
    }
    for (auto _ : state) once();
  };
  return c;
}

template <class F>
contender on_host(std::string name, std::string label, const workload& w, F f) {
  return on_host(std::move(name), std::move(label), w, std::move(f), [] {});
}

}  // namespace bench
