// The limits of the memory of the host: reading the operands' bytes and doing nothing with them
// that takes time; of what writes a vector, reading and writing as many.
#include "bench/limit.hpp"

#include "bench/limit_kernel.hpp"

#include <chrono>
#include <functional>

namespace bench {
namespace {

/// Below so many bytes a call takes longer than its data, so that there is no limit of the memory.
constexpr std::size_t no_limit_below = 1024;
/// Below so many bytes there is one way, the widest loads, which is called without a detour.
constexpr std::size_t one_way_below = std::size_t{1} << 16;

using way = std::function<bool()>;

/// The time of a call among others like it, which leave their data in the caches.
double seconds_of(const way& f) {
  using clock = std::chrono::steady_clock;
  constexpr auto enough = std::chrono::microseconds(200);
  benchmark::DoNotOptimize(f());
  int calls = 0;
  const auto start = clock::now();
  clock::duration elapsed{};
  do {
    benchmark::DoNotOptimize(f());
    ++calls;
    elapsed = clock::now() - start;
  } while (elapsed < enough);
  return std::chrono::duration<double>(elapsed).count() / calls;
}

/// The fastest of some ways, found when it is first called.
way fastest_of(std::vector<way> ways) {
  const on_demand<way> chosen([ways = std::move(ways)] { return fastest(ways, seconds_of); });
  return [chosen] { return chosen()(); };
}

/// Share `part` of `parts` of some bytes; shares begin at the same place of a cache line.
stretch share(const stretch& all, std::size_t part, std::size_t parts) {
  constexpr std::size_t line = 64;
  const std::size_t lines = all.size / line;
  const std::size_t first = lines * part / parts * line;
  const std::size_t last = part + 1 == parts ? all.size : lines * (part + 1) / parts * line;
  return {all.first + first, last - first};
}

stretch bytes_of(const tally::operand& v) {
  return {static_cast<const std::byte*>(v.data), v.size * size_of(v.element)};
}

/// Two streams at once, as dot reads, or four; what x has more than y (the wider type comes first)
/// as many too.
bool read_both(const limit_kernel& k, bool four, const stretch& x, const stretch& y) {
  const auto read = [&](const stretch& a, const stretch& b) {
    if (!four) {
      const stretch two[] = {a, b};
      return k.read_two(two);
    }
    const stretch parts[] = {share(a, 0, 2), share(a, 1, 2), share(b, 0, 2), share(b, 1, 2)};
    return k.read_four(parts);
  };
  const stretch rest = {x.first + y.size, x.size - y.size};
  const bool both = y.size > 0 && read({x.first, y.size}, y);
  return both | (rest.size > 0 && read(share(rest, 0, 2), share(rest, 1, 2)));
}

way read_on(int threads, const limit_kernel& k, bool four, const stretch& x, const stretch& y) {
  if (threads == 1) return [&k, four, x, y] { return read_both(k, four, x, y); };
  return [=, &k, parts = static_cast<std::size_t>(threads)] {
    bool any = false;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(|| : any)
    for (std::size_t part = 0; part < parts; ++part) {
      any = read_both(k, four, share(x, part, parts), share(y, part, parts)) || any;
    }
    return any;
  };
}

way write_on(int threads, const limit_kernel& k, bool streamed, const workload& w) {
  const stretch z = {static_cast<std::byte*>(w.z), w.size() * size_of(w.x.element)};
  return [=, &k, parts = static_cast<std::size_t>(threads)] {
    const auto write = [&](std::size_t part) {
      const stretch to = share(z, part, parts);
      const auto skipped = to.first - z.first;
      const std::byte* const from[] = {static_cast<const std::byte*>(w.x.data) + skipped,
                                       static_cast<const std::byte*>(w.y.data) + skipped};
      k.write(from, inputs_of(w), updates(w.what), streamed, const_cast<std::byte*>(to.first),
              to.size);
    };
    if (threads == 1) {
      write(0);
      return true;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::size_t part = 0; part < parts; ++part) write(part);
    return true;
  };
}

/// The ways that `one(kernel, choice)` makes of the widest two kernels.
template <class One>
std::vector<way> ways_of(const One& one) {
  std::vector<way> ways;
  const auto& kernels = limit_kernels();
  for (std::size_t i = kernels.size() > 1 ? kernels.size() - 2 : 0; i < kernels.size(); ++i) {
    for (const bool choice : {false, true}) ways.push_back(one(*kernels[i], choice));
  }
  return ways;
}

contenders writing(const workload& w) {
  contenders list;
  const auto add = [&](const way& f) {
    list.push_back(on_host("limit: read and write",
                           w.threads == 1 ? "one thread" : std::to_string(w.threads) + " threads",
                           w, f));
  };
  if (w.bytes() < one_way_below) {
    add(write_on(1, *limit_kernels().back(), false, w));
    list.back().threads = 1;
  } else {
    add(fastest_of(ways_of([&](const limit_kernel& k, bool streamed) {
      return write_on(w.threads, k, streamed, w);
    })));
  }
  return list;
}

contenders reading(const workload& w) {
  contenders list;
  const stretch x = bytes_of(w.x), y = bytes_of(w.y_read());
  const auto on = [&](int threads) {
    return fastest_of(
        ways_of([&](const limit_kernel& k, bool four) { return read_on(threads, k, four, x, y); }));
  };
  const limit_kernel& widest = *limit_kernels().back();
  if (x.size + y.size < one_way_below) {
    list.push_back(on_host("limit: read", "one thread", w,
                           [=, &widest] { return read_both(widest, false, x, y); }));
  } else {
    list.push_back(on_host("limit: read", "one thread", w, on(1)));
  }
  list.back().threads = 1;
  if (w.threads > 1) {
    list.push_back(on_host("limit: read (all threads)", std::to_string(w.threads) + " threads", w,
                           on(w.threads)));
  }
  return list;
}

}  // namespace

contenders limit(const workload& w) {
  if (w.bytes() < no_limit_below) return {};
  contenders list = writes(w.what) ? writing(w) : reading(w);
  for (contender& c : list) c.compute = nullptr;  // no product
  return list;
}

}  // namespace bench
