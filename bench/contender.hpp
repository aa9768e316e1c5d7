// A contender: one way of computing one product, ours or another library's, ready to be checked and
// measured.
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
  std::string name;   ///< "OpenBLAS"; ours are "tally::simd", measured limits "limit: read"
  std::string label;  ///< what is behind the name: a version, a policy
  std::function<void(void* result)> compute = {};          ///< for the check; null for a limit
  std::function<void(benchmark::State& state)> loop = {};  ///< for the clock
  bool device_clock =
      false;        ///< the loop reads the device's clock; else the host's wall clock is read
  int threads = 1;  ///< that it uses, or may use
  std::function<void()> set_up = {};  ///< makes again what it keeps for a matrix; null for nothing
  std::size_t bytes = 0;              ///< that it moves, where these aren't workload::bytes
  double us_in_2021 =
      0;  ///< of the machines of 2021, where there is a figure; see bench/ladder.cpp
};

/// All ways for one product; a source of some of them. What it can't compute, it leaves out.
using contenders = std::vector<contender>;
using source = contenders(const workload& w);

/// Marks ways that use one thread, however many they may.
inline contenders sequential(contenders list) {
  for (contender& c : list) c.threads = 1;
  return list;
}

inline contenders& operator+=(contenders& all, contenders more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

/// Something that is made when it is first asked for, and then shared: contenders are also made for
/// their names alone.
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

/// Waits until the threads of the last contender sleep, 0.3 seconds at most. Those of OpenBLAS,
/// OpenMP and MKL first wait for more work by spinning, OpenBLAS's for 2^28 clock cycles, which are
/// 0.1 seconds. They would take a core from the next contender, whose threads would share another.
void let_others_rest(const void* next);

/// A contender that runs from the host and has its result when `f` returns: the value of f(), or of
/// an f that returns nothing what it wrote to w.z. `prepare` is called first each time, to set a
/// number of threads, say.
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
