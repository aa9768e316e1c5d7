// Nodes of parts, joined in place, have the bits of the whole sum; so have limbs and nodes that go
// through peer buffers, here within one device.
#include "tests/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <random>

namespace {

using tally::interval_field;
using tally::interval_shape;
using tally::operand;
using tally::summand;
using tally::type;

constexpr auto chunk = static_cast<std::int64_t>(tally::order::chunk);

constexpr summand all_summands[] = {summand::product, summand::value, summand::magnitude,
                                    summand::square};

type result_of(const interval_shape& shape) {
  const bool is_real = shape.what == summand::magnitude || shape.what == summand::square;
  return is_real ? tally::part_of(shape.accumulator) : shape.accumulator;
}

void sum_nodes(const tally::executor& where, const interval_shape& shape,
               const std::vector<interval_field>& fields, std::int64_t first, void* nodes) {
  (void)tally::sum_part(where, shape,
                        {.fields = fields, .first = first, .nodes = nodes, .wait = false});
}

struct placed {
  placed(const tally::executor& where, type element, std::int64_t n, std::uint64_t seed,
         data::kind kind)
      : memory(where, static_cast<std::size_t>(n) * tally::size_of(element)),
        all{memory.get(), static_cast<std::size_t>(n), 1, element} {
    const auto bytes = data::random_bytes(element, all.size, seed, kind);
    if (n > 0) tally::copy_bytes(where, bytes.data(), memory.get(), bytes.size());
  }
  tally::buffer memory;
  operand all;
};

std::vector<std::byte> fetched(const tally::executor& where, const void* from, std::size_t bytes) {
  std::vector<std::byte> to(bytes);
  if (bytes > 0) tally::copy_bytes(where, from, to.data(), bytes);
  return to;
}

struct problem {
  problem(const tally::executor& where, summand what, type x, type y, type accumulator,
          std::size_t fields, std::int64_t n, data::kind kind)
      : shape{what, accumulator, fields, n} {
    for (std::size_t f = 0; f < fields; ++f) {
      const operand a = vectors.emplace_back(where, x, n, 2 * f + 1, kind).all;
      const operand b = vectors.emplace_back(where, y, n, 2 * f + 2, kind).all;
      whole.push_back({what, a, what == summand::product ? b : operand{}});
    }
    const type result = result_of(shape);
    const std::size_t size = tally::size_of(result);
    wanted.resize(fields * size);
    for (std::size_t f = 0; f < fields; ++f) {
      const tally::output to = {wanted.data() + f * size, result};
      if (what == summand::product) {
        tally::dot(where, {whole[f].x, whole[f].y, tally::conjugate::x, to});
      } else {
        const auto of = static_cast<tally::reduction>(static_cast<int>(what) - 1);
        tally::reduce(where, {whole[f].x, of, to});
      }
    }
  }

  /// Elements [begin, end) of the fields.
  std::vector<interval_field> part(std::int64_t begin, std::int64_t end) const {
    std::vector<interval_field> fields = whole;
    const auto first = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
    for (interval_field& field : fields) {
      field.x = field.x.slice(first, n);
      if (field.what == summand::product) field.y = field.y.slice(first, n);
    }
    return fields;
  }

  interval_shape shape;
  std::vector<placed> vectors;
  std::vector<interval_field> whole;
  std::vector<std::byte> wanted;
};

std::vector<std::int64_t> cuts_of(std::int64_t n, std::size_t parts, std::mt19937_64& random) {
  const std::int64_t chunks = (n + chunk - 1) / chunk;
  std::vector<std::int64_t> cuts = {0, chunks};
  while (cuts.size() <= parts) {
    cuts.push_back(static_cast<std::int64_t>(random() % (static_cast<std::uint64_t>(chunks) + 1)));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

void expect_joined(const tally::executor& where, const problem& p, std::size_t parts,
                   std::mt19937_64& random) {
  const std::vector<std::int64_t> cuts = cuts_of(p.shape.total, parts, random);
  const std::size_t bytes = tally::node_bytes(p.shape);
  std::vector<tally::node_interval> intervals;
  std::int32_t nodes = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    intervals.push_back({cuts[i], cuts[i + 1], nodes});
    nodes += static_cast<std::int32_t>(tally::count_interval_nodes(cuts[i], cuts[i + 1]));
  }
  const tally::buffer all(where, static_cast<std::size_t>(nodes) * bytes);
  for (std::size_t i = parts; i-- > 0;) {  // in any order
    const std::int64_t first = std::min(cuts[i] * chunk, p.shape.total);
    const auto fields = p.part(first, std::min(cuts[i + 1] * chunk, p.shape.total));
    sum_nodes(
        where, p.shape, fields, first,
        static_cast<std::byte*>(all.get()) + static_cast<std::size_t>(intervals[i].place) * bytes);
  }
  const auto steps = tally::join_steps(intervals);
  const tally::buffer placed_steps(where, steps.size() * sizeof(tally::join_step));
  if (!steps.empty()) {
    tally::copy_bytes(where, steps.data(), placed_steps.get(), placed_steps.bytes());
  }
  const tally::buffer results(where, p.wanted.size());
  tally::join_arguments a;
  a.shape = p.shape;
  a.conjugated = tally::conjugate::x;
  a.steps = {static_cast<const tally::join_step*>(placed_steps.get()), steps.size()};
  a.nodes = all.get();
  a.results = results.get();
  tally::join_nodes(where, a);
  EXPECT_EQ(fetched(where, results.get(), p.wanted.size()), p.wanted)
      << static_cast<int>(p.shape.what) << " of " << tally::name(p.whole[0].x.element) << ", "
      << p.shape.total << " elements, " << parts << " parts";
}

class JoinedSum : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(JoinedSum, HasTheBitsOfOneSum) {
  struct types {
    type x, y, accumulator;
  };
  constexpr types all[] = {
      {type::float64, type::float64, type::float64},
      {type::float32, type::float32, type::float32},
      {type::float32, type::float64, type::float64},
      {type::complex128, type::complex128, type::complex128},
      {type::complex64, type::complex64, type::complex64},
      {type::bfloat16, type::bfloat16, type::float32},
  };
  std::mt19937_64 random(1);
  for (const types& t : all) {
    for (const summand what : all_summands) {
      if (what != summand::product && t.x != t.y) continue;
      for (const std::int64_t n : {0, 1, 1024, 5000, 300001}) {
        const data::kind kind = n == 5000 ? data::kind::wide : data::kind::plain;
        const problem p(where(), what, t.x, t.y, t.accumulator, n == 5000 ? 3 : 1, n, kind);
        for (const std::size_t parts : {1, 2, 7}) expect_joined(where(), p, parts, random);
      }
    }
  }
  const problem mixed(where(), summand::product, type::complex64, type::float32, type::complex64, 2,
                      9000, data::kind::wide);
  expect_joined(where(), mixed, 3, random);
}

TEST(JoinSteps, AreThoseOfTheTree) {
  const tally::node_interval whole[] = {{0, 7, 0}};
  std::vector<tally::join_step> steps = tally::join_steps(whole);
  ASSERT_EQ(steps.size(), 3U);  // 4, 2 and 1 chunks
  EXPECT_EQ(steps[0].additions, 0);
  EXPECT_EQ(steps[1].additions, 0);
  EXPECT_EQ(steps[2].additions, 2);
  const tally::node_interval apart[] = {{0, 3, 4}, {3, 3, 0}, {3, 4, 0}};
  steps = tally::join_steps(apart);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].node, 4);
  EXPECT_EQ(steps[1].node, 5);
  EXPECT_EQ(steps[2].node, 0);
  EXPECT_EQ(steps[2].additions, 2);
  const tally::node_interval gap[] = {{0, 1, 0}, {2, 3, 1}};
  EXPECT_THROW(tally::join_steps(gap), tally::error);
  EXPECT_TRUE(tally::join_steps({}).empty());
}

TEST_ON_EVERY_EXECUTOR(JoinedSum, Refuses) {
  const problem p(where(), summand::product, type::float64, type::float64, type::float64, 1, 3000,
                  data::kind::plain);
  const tally::buffer memory(where(), 4096);
  const auto fails = [&](tally::errc code, const auto& call) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
    }
  };
  fails(tally::errc::invalid_argument,
        [&] { sum_nodes(where(), p.shape, p.part(1, 1025), 1, memory.get()); });
  fails(tally::errc::null_pointer, [&] { sum_nodes(where(), p.shape, p.whole, 0, nullptr); });
  fails(tally::errc::size_mismatch, [&] {
    sum_nodes(where(), {summand::product, type::float64, 2, 3000}, p.whole, 0, memory.get());
  });
  fails(tally::errc::overlap,
        [&] { sum_nodes(where(), p.shape, p.whole, 0, const_cast<void*>(p.whole[0].x.data)); });
  tally::join_arguments join;
  join.shape = p.shape;
  join.nodes = memory.get();
  fails(tally::errc::null_pointer, [&] { tally::join_nodes(where(), join); });
  join.results = memory.get();
  tally::windows through;
  join.through = &through;
  fails(tally::errc::invalid_argument, [&] { tally::join_nodes(where(), join); });
  through.ranks = 2;
  fails(tally::errc::invalid_argument, [&] { tally::join_nodes(where(), join); });
  join.nodes_per_rank = 1;
  join.shape.fields = tally::windows::max_sums + 1;
  fails(tally::errc::invalid_argument, [&] { tally::join_nodes(where(), join); });
  tally::join_words_arguments words;
  words.words = static_cast<std::int64_t*>(memory.get());
  words.result = {memory.get(), type::float64};
  fails(tally::errc::null_pointer, [&] { tally::join_words(where(), words); });
}

#if TALLY_HAS_CUDA

/// Parts on streams of one device, as if on several.
class parts_of_one_device {
 public:
  /// @param calls  earlier calls, by the peer buffers' count.
  explicit parts_of_one_device(int parts, std::uint32_t calls = 0) {
    const tally::executor device = tally::cuda();
    std::vector<std::uint64_t*> all;
    for (int r = 0; r < parts; ++r) {
      const std::size_t bytes = tally::windows::bytes(parts);
      memory_.emplace_back(device, bytes);
      std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
      std::fill_n(words.begin(), tally::windows::max_sums, calls);
      tally::copy_bytes(device, words.data(), memory_.back().get(), bytes);
      all.push_back(static_cast<std::uint64_t*>(memory_.back().get()));
    }
    for (int r = 0; r < parts; ++r) {
      tally::windows w;
      w.rank = r;
      w.ranks = parts;
      std::copy(all.begin(), all.end(), w.of);
      windows_.push_back(w);
      cudaStream_t stream = nullptr;
      EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      streams_.push_back(stream);
      where_.push_back(tally::cuda({.device = device.device(), .stream = stream}));
    }
  }
  ~parts_of_one_device() {
    for (cudaStream_t stream : streams_) {
      (void)cudaStreamSynchronize(stream);
      (void)cudaStreamDestroy(stream);
    }
  }
  parts_of_one_device(const parts_of_one_device&) = delete;
  parts_of_one_device& operator=(const parts_of_one_device&) = delete;

  const tally::executor& where(std::size_t r) const { return where_[r]; }
  const tally::windows& through(std::size_t r) const { return windows_[r]; }
  void wait() const {
    for (cudaStream_t stream : streams_) ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }

 private:
  std::vector<tally::buffer> memory_;
  std::vector<tally::windows> windows_;
  std::vector<cudaStream_t> streams_;
  std::vector<tally::executor> where_;
};

TEST(Windows, TakeNodes) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "there is no GPU";
  for (const std::size_t parts : {1, 2, 5, 8}) {
    const parts_of_one_device all(static_cast<int>(parts));
    const tally::executor device = tally::cuda();
    std::mt19937_64 random(parts);
    for (int turn = 0; turn < 20; ++turn) {
      const std::int64_t n = turn % 2 == 0 ? 50000 : 300001;
      const summand what = all_summands[turn % 4];
      const type element = turn % 3 == 0 ? type::complex128 : type::float64;
      const problem p(device, what, element, element, element, turn % 5 == 0 ? 3 : 1, n,
                      data::kind::wide);
      const std::vector<std::int64_t> cuts = cuts_of(n, parts, random);
      std::int64_t max_nodes = 1;
      for (std::size_t r = 0; r < parts; ++r) {
        max_nodes = std::max(max_nodes, tally::count_interval_nodes(cuts[r], cuts[r + 1]));
      }
      const auto slots = static_cast<std::int32_t>(max_nodes);
      std::vector<tally::node_interval> intervals;
      for (std::size_t r = 0; r < parts; ++r) {
        intervals.push_back({cuts[r], cuts[r + 1], static_cast<std::int32_t>(r) * slots});
      }
      const auto steps = tally::join_steps(intervals);
      const tally::buffer placed_steps(device, steps.size() * sizeof(tally::join_step));
      tally::copy_bytes(device, steps.data(), placed_steps.get(), placed_steps.bytes());
      const std::size_t bytes = tally::node_bytes(p.shape) * static_cast<std::size_t>(slots);
      std::vector<tally::buffer> nodes, results;
      for (std::size_t r = 0; r < parts; ++r) {
        nodes.emplace_back(device, bytes);
        results.emplace_back(device, p.wanted.size());
      }
      for (std::size_t r = 0; r < parts; ++r) {
        const std::int64_t first = std::min(cuts[r] * chunk, n);
        const auto fields = p.part(first, std::min(cuts[r + 1] * chunk, n));
        sum_nodes(all.where(r), p.shape, fields, first, nodes[r].get());
      }
      all.wait();  // waiting kernels may keep CUDA from loading another one
      for (std::size_t r = 0; r < parts; ++r) {
        tally::join_arguments a;
        a.shape = p.shape;
        a.conjugated = tally::conjugate::x;
        a.steps = {static_cast<const tally::join_step*>(placed_steps.get()), steps.size()};
        a.nodes = nodes[r].get();
        a.results = results[r].get();
        a.through = &all.through(r);
        a.nodes_per_rank = slots;
        tally::join_nodes(all.where(r), a);
      }
      all.wait();
      for (const tally::buffer& result : results) {
        EXPECT_EQ(fetched(device, result.get(), p.wanted.size()), p.wanted) << "turn " << turn;
      }
    }
  }
}

// Parts 1 and 2 are empty and needed by no result: calls follow without waiting, and none may
// overtake. The number of calls passes the largest tag.
TEST(Windows, WaitForPartsWithoutNodes) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "there is no GPU";
  constexpr std::size_t parts = 3, calls = 300;
  const parts_of_one_device all(parts, 0xffffff00);
  const tally::executor device = tally::cuda();
  const std::vector<tally::node_interval> intervals = {{0, 1, 0}};
  const auto steps = tally::join_steps(intervals);
  const tally::buffer placed_steps(device, steps.size() * sizeof(tally::join_step));
  tally::copy_bytes(device, steps.data(), placed_steps.get(), placed_steps.bytes());
  const interval_shape shape{summand::value, type::float64, 1, 1};
  std::vector<double> numbers(calls);
  for (std::size_t i = 0; i < calls; ++i) numbers[i] = static_cast<double>(i) + 1;
  const tally::buffer nodes(device, calls * sizeof(double));
  tally::copy_bytes(device, numbers.data(), nodes.get(), nodes.bytes());
  std::vector<tally::buffer> results;
  for (std::size_t r = 0; r < parts; ++r) results.emplace_back(device, calls * sizeof(double));
  for (std::size_t call = 0; call < calls; ++call) {
    for (std::size_t r = 0; r < parts; ++r) {
      tally::join_arguments a;
      a.shape = shape;
      a.steps = {static_cast<const tally::join_step*>(placed_steps.get()), steps.size()};
      a.nodes = static_cast<const double*>(nodes.get()) + (r == 0 ? call : 0);
      a.results = static_cast<double*>(results[r].get()) + call;
      a.through = &all.through(r);
      a.nodes_per_rank = 1;
      tally::join_nodes(all.where(r), a);
    }
  }
  all.wait();
  for (const tally::buffer& result : results) {
    std::vector<double> got(calls);
    tally::copy_bytes(device, result.get(), got.data(), result.bytes());
    EXPECT_EQ(got, numbers);
  }
}

TEST(Windows, TakeWords) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "there is no GPU";
  for (const std::size_t parts : {1, 3, 8}) {
    const parts_of_one_device all(static_cast<int>(parts));
    const tally::executor device = tally::cuda();
    const std::int64_t n = 20000;
    const problem p(device, summand::product, type::float64, type::float64, type::float64, 1, n,
                    data::kind::wide);
    double wanted = 0;
    tally::dot(device, {p.whole[0].x,
                        p.whole[0].y,
                        tally::conjugate::none,
                        {&wanted, type::float64},
                        {.grade = tally::exact}});
    constexpr std::size_t words = tally::exact_words(type::float64);
    const std::vector<std::int64_t> zeros(words);
    std::vector<tally::buffer> sums, results;
    for (std::size_t r = 0; r < parts; ++r) {
      sums.emplace_back(device, words * sizeof(std::int64_t));
      tally::copy_bytes(device, zeros.data(), sums[r].get(), sums[r].bytes());
      results.emplace_back(device, sizeof(double));
    }
    for (int turn = 0; turn < 10; ++turn) {  // each leaves the limbs zero
      for (std::size_t r = 0; r < parts; ++r) {
        const auto first = n * static_cast<std::int64_t>(r) / static_cast<std::int64_t>(parts);
        const auto last = n * static_cast<std::int64_t>(r + 1) / static_cast<std::int64_t>(parts);
        const auto fields = p.part(first, last);
        tally::dot(all.where(r), {fields[0].x,
                                  fields[0].y,
                                  tally::conjugate::none,
                                  {sums[r].get(), type::float64, true},
                                  {.wait = false}});
      }
      all.wait();
      for (std::size_t r = 0; r < parts; ++r) {
        tally::join_words(all.where(r), {static_cast<std::int64_t*>(sums[r].get()),
                                         type::float64,
                                         1,
                                         false,
                                         {results[r].get(), type::float64},
                                         &all.through(r)});
      }
      all.wait();
      for (const tally::buffer& result : results) {
        double got = 0;
        tally::copy_bytes(device, result.get(), &got, sizeof got);
        EXPECT_EQ(data::bits(got), data::bits(wanted));
      }
    }
  }
}

#endif

}  // namespace
