// Limits of host memory: reading the operands' bytes; for written vectors, reading and writing as
// many.
#include "bench/limit.hpp"

#include "bench/limit_kernel.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <initializer_list>

namespace bench {
namespace {

/// Bytes below which the call itself takes as long as its data.
constexpr std::size_t min_bytes = std::size_t{1} << 14;
/// Bytes below which there is one method, the widest loads, called directly.
constexpr std::size_t one_way_below = std::size_t{1} << 16;

using way = std::function<bool()>;

/// Returns the seconds of a call; data stay in the caches.
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

/// Returns the fastest method, chosen at the first call.
way fastest_of(std::vector<way> ways) {
  const on_demand<way> chosen([ways = std::move(ways)] { return fastest(ways, seconds_of); });
  return [chosen] { return chosen()(); };
}

/// Parts begin at equal offsets in a cache line.
stretch share(const stretch& all, std::size_t part, std::size_t parts) {
  constexpr std::size_t line = 64;
  const std::size_t lines = all.size / line;
  const std::size_t first = lines * part / parts * line;
  const std::size_t last = part + 1 == parts ? all.size : lines * (part + 1) / parts * line;
  return {all.first + first, last - first};
}

stretch bytes_of(const tally::operand& v, std::size_t rows) {
  return {static_cast<const std::byte*>(v.data), rows * v.size * size_of(v.element)};
}

/// Two streams at once, as dot; four; or block by block.
enum class reads { two, four, blocks };

/// The excess of x over y (the wider type comes first) is read as two or four streams.
bool read_both(const limit_kernel& k, reads how, const stretch& x, const stretch& y) {
  const auto read = [&](const stretch& a, const stretch& b) {
    if (how == reads::four) {
      const stretch four[] = {share(a, 0, 2), share(a, 1, 2), share(b, 0, 2), share(b, 1, 2)};
      return k.read_four(four);
    }
    const stretch two[] = {a, b};
    return k.read_two(two);
  };
  const auto read_one = [&](const stretch& v) { return read(share(v, 0, 2), share(v, 1, 2)); };
  bool any = false;
  if (how == reads::blocks) {
    constexpr std::size_t block = std::size_t{1} << 13;  // two pages
    for (std::size_t i = 0; i < x.size; i += block) {
      for (const stretch& v : {x, y}) {
        if (i < v.size) any |= read_one({v.first + i, std::min(block, v.size - i)});
      }
    }
    return any;
  }
  const stretch rest = {x.first + y.size, x.size - y.size};
  if (y.size > 0) any = read({x.first, y.size}, y);
  return any | (rest.size > 0 && read_one(rest));
}

way read_on(int threads, const limit_kernel& k, reads how, const stretch& x, const stretch& y) {
  if (threads == 1) return [&k, how, x, y] { return read_both(k, how, x, y); };
  return [=, &k, parts = static_cast<std::size_t>(threads)] {
    bool any = false;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(|| : any)
    for (std::size_t part = 0; part < parts; ++part) {
      any = read_both(k, how, share(x, part, parts), share(y, part, parts)) || any;
    }
    return any;
  };
}

/// Number of vectors read beside the written one, and whether that is read too.
struct writer {
  int inputs;
  bool updates;
};

way write_on(int threads, const limit_kernel& k, bool streamed, const writer& what,
             const workload& w) {
  const stretch z = {static_cast<std::byte*>(w.z), w.size() * size_of(w.x.element)};
  return [=, &k, parts = static_cast<std::size_t>(threads)] {
    const auto write = [&](std::size_t part) {
      const stretch to = share(z, part, parts);
      const auto skipped = to.first - z.first;
      const std::byte* const from[] = {static_cast<const std::byte*>(w.x.data) + skipped,
                                       static_cast<const std::byte*>(w.y.data) + skipped};
      k.write(from, what.inputs, what.updates, streamed, const_cast<std::byte*>(to.first), to.size);
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

/// The methods `one(kernel, choice)` for the widest two kernels.
template <class Choice, class One>
std::vector<way> ways_of(std::initializer_list<Choice> choices, const One& one) {
  std::vector<way> ways;
  const auto& kernels = limit_kernels();
  for (std::size_t i = kernels.size() > 1 ? kernels.size() - 2 : 0; i < kernels.size(); ++i) {
    for (const Choice choice : choices) ways.push_back(one(*kernels[i], choice));
  }
  return ways;
}

/// Returns candidates on one thread, and on all where the workload permits; `one_way` is the method
/// for few bytes, `ways` makes those for a number of threads.
contenders on_threads(const std::string& name, const workload& w, const way& one_way,
                      const std::function<std::vector<way>(int threads)>& ways) {
  contenders list = {
      on_host(name, "one thread", w, w.bytes() < one_way_below ? one_way : fastest_of(ways(1)))};
  list.back().threads = 1;
  if (w.threads > 1) {
    list.push_back(on_host(name + " (all threads)", std::to_string(w.threads) + " threads", w,
                           fastest_of(ways(w.threads))));
  }
  return list;
}

contenders writing(const std::string& name, const writer& what, const workload& w) {
  return on_threads(name, w, write_on(1, *limit_kernels().back(), false, what, w),
                    [=](int threads) {
                      return ways_of({false, true}, [=](const limit_kernel& k, bool streamed) {
                        return write_on(threads, k, streamed, what, w);
                      });
                    });
}

contenders reading(const workload& w) {
  const stretch x = bytes_of(w.x, w.rows), y = bytes_of(w.y_read(), w.rows_of_y());
  return on_threads(
      "limit: read", w, read_on(1, *limit_kernels().back(), reads::two, x, y), [=](int threads) {
        return ways_of(
            {reads::two, reads::four, reads::blocks},
            [=](const limit_kernel& k, reads how) { return read_on(threads, k, how, x, y); });
      });
}

}  // namespace

contenders limit(const workload& w) {
  // When only names are asked for, a matrix has no bytes.
  if (w.bytes() > 0 && w.bytes() < min_bytes) return {};
  contenders list;
  if (writes(w.what)) {
    list = writing("limit: read and write", {inputs_of(w), updates(w.what)}, w);
    // BLAS's axpy touches two vectors alone: less memory passes a cache.
    if (w.what == operation::axpy) list += writing("limit: read and write, in place", {1, true}, w);
  } else {
    list = reading(w);
  }
  for (contender& c : list) c.compute = nullptr;  // no product
  return list;
}

contenders limit_of_terms(const workload& terms, source* limit, const char* label) {
  contenders list = limit(terms);
  for (contender& c : list) {
    c.label += label;
    if (c.bytes == 0) c.bytes = terms.bytes();
  }
  return list;
}

}  // namespace bench
