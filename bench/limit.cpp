// The limits of the memory of the host: reading the operands' bytes and doing nothing with them
// that takes time; of element-wise functions, a copy.
#include "bench/limit.hpp"

#include <cstdint>
#include <cstring>

// One source for every processor; the loader chooses. In cache, wider loads read faster.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define EACH_PROCESSOR [[gnu::target_clones("default", "avx2", "avx512f")]]
#else
#define EACH_PROCESSOR
#endif

namespace bench {
namespace {

/// The bitwise or of n words of `x` and n of `y`: cheaper than any sum, yet nothing that a compiler
/// can leave out. In enough chains that the loads decide the time; the compiler makes vectors of
/// them. What doesn't fill the chains at the end is read along with words that were read before.
EACH_PROCESSOR std::uint64_t read(const std::uint64_t* x, const std::uint64_t* y, std::size_t n) {
  constexpr std::size_t chains = 32;
  std::uint64_t all = 0;
  if (n < chains) {
    for (std::size_t i = 0; i < n; ++i) all |= x[i] | y[i];
    return all;
  }
  std::uint64_t any[chains];
  for (std::size_t k = 0; k < chains; ++k)
    any[k] = x[k] | y[k] | x[n - chains + k] | y[n - chains + k];
  for (std::size_t i = chains; i + chains <= n; i += chains) {
    for (std::size_t k = 0; k < chains; ++k) any[k] |= x[i + k] | y[i + k];
  }
  for (const std::uint64_t one : any) all |= one;
  return all;
}

struct words {
  const std::uint64_t* first;
  std::size_t count;
};

/// Share `part` of `parts` of an operand.
words share(const tally::operand& v, std::size_t part, std::size_t parts) {
  const std::size_t count = v.size * size_of(v.element) / sizeof(std::uint64_t);
  const std::size_t first = count * part / parts, last = count * (part + 1) / parts;
  return {static_cast<const std::uint64_t*>(v.data) + first, last - first};
}

/// Two streams at once, as dot reads; what x has more than y (the wider type comes first) as two
/// too.
std::uint64_t read_both(words x, words y) {
  const std::size_t rest = (x.count - y.count) / 2;
  return read(x.first, y.first, y.count) |
         (rest == 0 ? 0 : read(x.first + y.count, x.first + y.count + rest, rest));
}

std::uint64_t read_on_all_threads(const workload& w) {
  const auto parts = static_cast<std::size_t>(w.threads);
  std::uint64_t all = 0;
#pragma omp parallel for schedule(static) num_threads(w.threads) reduction(| : all)
  for (std::size_t part = 0; part < parts; ++part) {
    all |= read_both(share(w.x, part, parts), share(w.y_read(), part, parts));
  }
  return all;
}

void copy_on_all_threads(const workload& w) {
  const auto parts = static_cast<std::size_t>(w.threads);
#pragma omp parallel for schedule(static) num_threads(w.threads)
  for (std::size_t part = 0; part < parts; ++part) {
    const words from = share(w.x, part, parts);
    const auto skipped = from.first - static_cast<const std::uint64_t*>(w.x.data);
    std::memcpy(static_cast<std::uint64_t*>(w.z) + skipped, from.first,
                from.count * sizeof(std::uint64_t));
  }
}

contenders copies(const workload& w) {
  contenders list;
  list.push_back(on_host("limit: copy",
                         w.threads == 1 ? "one thread" : std::to_string(w.threads) + " threads", w,
                         [=] { copy_on_all_threads(w); }));
  list.back().compute = nullptr;
  list.back().bytes = 2 * w.size() * size_of(w.x.element);
  return list;
}

}  // namespace

contenders limit(const workload& w) {
  if (writes(w.what)) return copies(w);
  contenders list = sequential(
      {on_host("limit: read", "one thread", w,
               [x = share(w.x, 0, 1), y = share(w.y_read(), 0, 1)] { return read_both(x, y); })});
  if (w.threads > 1) {
    list.push_back(on_host("limit: read (all threads)", std::to_string(w.threads) + " threads", w,
                           [=] { return read_on_all_threads(w); }));
  }
  for (contender& c : list) c.compute = nullptr;  // no product
  return list;
}

}  // namespace bench
