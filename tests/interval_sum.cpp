// Joined sums over parts of a vector have the bits of the whole sum, for any cuts.
#include "tests/data.hpp"

#include "backends/common/order/interval.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <map>
#include <numeric>
#include <set>

namespace {

using data::kind;
using tally::interval_field;
using tally::interval_head;
using tally::interval_shape;
using tally::operand;
using tally::summand;
using tally::type;

constexpr auto chunk = static_cast<std::int64_t>(tally::order::chunk);

constexpr summand all_summands[] = {summand::product, summand::value, summand::magnitude,
                                    summand::square};

struct message {
  explicit message(const interval_shape& shape) : words(tally::interval_bytes(shape) / 8) {
    tally::clear_interval(shape, words.data());
  }
  void* data() { return words.data(); }
  const void* data() const { return words.data(); }
  const tally::interval_head& head() const {
    return *reinterpret_cast<const tally::interval_head*>(words.data());
  }
  std::vector<std::int64_t> words;
};

type number_of(const interval_shape& shape) { return tally::part_of(shape.accumulator); }

using fields_of_part = std::span<const interval_field>;

/// Writes the message of whole chunks.
void sum_interval(const tally::executor& where, const interval_shape& shape, fields_of_part fields,
                  std::int64_t first, message& to) {
  auto* const head = static_cast<interval_head*>(to.data());
  *head = tally::sum_part(where, shape, {.fields = fields, .first = first, .nodes = head + 1});
}

/// Writes the terms of elements of a chunk that is cut there.
void write_terms(const tally::executor& where, const interval_shape& shape, fields_of_part fields,
                 std::int64_t first, void* terms) {
  const bool begins = first % chunk == 0;
  tally::interval_part part{.fields = fields, .first = first};
  (begins ? part.tail : part.head) = terms;
  part.head_stride = part.tail_stride = tally::order::chunk;
  (void)tally::sum_part(where, shape, part);
}

type result_of(const interval_shape& shape) {
  const bool is_real = shape.what == summand::magnitude || shape.what == summand::square;
  return is_real ? number_of(shape) : shape.accumulator;
}

// --- A vector in parts ----------------------------------------------------------------------------

using fields = std::vector<interval_field>;
using executors = std::vector<tally::executor>;

fields slice(const fields& whole, std::int64_t begin, std::int64_t end) {
  fields part = whole;
  for (interval_field& field : part) {
    const auto n = static_cast<std::size_t>(end - begin);
    field.x = field.x.slice(static_cast<std::size_t>(begin), n);
    if (field.what == summand::product) field.y = field.y.slice(static_cast<std::size_t>(begin), n);
  }
  return part;
}

/// Messages of all parts: part p has elements cuts[p] ... cuts[p + 1], on executor p modulo their
/// number.
std::vector<message> messages_of(const executors& where, const interval_shape& shape,
                                 const fields& whole, const std::vector<std::int64_t>& cuts) {
  const std::size_t size = tally::size_of(number_of(shape));
  const std::size_t numbers = shape.fields * shape.numbers();
  std::map<std::int64_t, std::vector<std::byte>> terms;  // terms of incomplete chunks
  const auto on = [&](std::size_t p) -> const tally::executor& { return where[p % where.size()]; };
  const auto send = [&](std::size_t p, std::int64_t begin, std::int64_t end) {
    std::vector<std::byte>& all = terms[begin / chunk];
    all.resize(numbers * tally::order::chunk * size);
    write_terms(on(p), shape, slice(whole, begin, end), begin,
                all.data() + static_cast<std::size_t>(begin % chunk) * size);
  };
  std::vector<message> messages(cuts.size() - 1, message(shape));
  std::vector<std::int64_t> cut_chunk(messages.size(), -1);
  for (std::size_t p = 0; p < messages.size(); ++p) {
    const std::int64_t begin = cuts[p], end = cuts[p + 1];
    const std::int64_t first = std::min(end, (begin + chunk - 1) / chunk * chunk);
    const std::int64_t last = end == shape.total ? end : std::max(first, end / chunk * chunk);
    if (p % 2 == 1) {  // in one call
      const fields part = slice(whole, begin, end);
      const auto place_of = [&](std::int64_t at) {
        std::vector<std::byte>& all = terms[at / chunk];
        all.resize(numbers * tally::order::chunk * size);
        return all.data() + static_cast<std::size_t>(at % chunk) * size;
      };
      tally::interval_part asked;
      asked.fields = part;
      asked.first = begin;
      asked.nodes = reinterpret_cast<char*>(messages[p].data()) + sizeof(tally::interval_head);
      if (begin < first) asked.head = place_of(begin);
      if (last < end) asked.tail = place_of(last);
      asked.head_stride = asked.tail_stride = tally::order::chunk;
      int calls = 0;
      asked.context = &calls;
      asked.when_terms_are_there = [](void* count) { ++*static_cast<int*>(count); };
      const tally::interval_head head = tally::sum_part(on(p), shape, asked);
      std::memcpy(messages[p].data(), &head, sizeof head);
      EXPECT_EQ(calls, 1);
      if (last < end) cut_chunk[p] = last / chunk;
      continue;
    }
    if (begin < first) send(p, begin, first);
    if (first < end) {
      sum_interval(on(p), shape, slice(whole, first, last), first, messages[p]);
      if (last < end) {
        send(p, last, end);
        cut_chunk[p] = last / chunk;
      }
    }
  }
  for (std::size_t p = 0; p < messages.size(); ++p) {
    const std::int64_t c = cut_chunk[p];
    if (c < 0) continue;
    tally::append_chunk(shape, c,
                        static_cast<std::size_t>(std::min(chunk, shape.total - c * chunk)),
                        tally::order::chunk, terms.at(c).data(), messages[p].data());
  }
  return messages;
}

message joined(std::vector<message> messages, std::mt19937_64& random) {
  while (messages.size() > 1) {
    const std::size_t i = random() % (messages.size() - 1);
    tally::append_interval(messages[i].data(), messages[i + 1].data());
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return messages.front();
}

using results = std::vector<std::vector<std::byte>>;

results over_parts(const executors& where, const interval_shape& shape, const fields& whole,
                   const std::vector<std::int64_t>& cuts, tally::conjugate conjugated,
                   std::mt19937_64& random) {
  const std::size_t size = tally::size_of(result_of(shape));
  const message all = joined(messages_of(where, shape, whole, cuts), random);
  std::vector<std::complex<double>> memory(shape.fields);
  tally::finish_interval(shape, all.data(), conjugated, memory.data());
  results made;
  for (std::size_t f = 0; f < shape.fields; ++f) {
    const auto* const from = reinterpret_cast<const std::byte*>(memory.data()) + f * size;
    made.emplace_back(from, from + size);
  }
  return made;
}

/// Computed on the whole vector by the function with these terms.
std::vector<std::byte> of_whole(const interval_shape& shape, const interval_field& field,
                                tally::conjugate conjugated) {
  const type element = result_of(shape);
  std::complex<double> memory;
  if (shape.what == summand::product) {
    tally::dot(tally::serial(), {field.x, field.y, conjugated, {&memory, element}});
  } else {
    const auto what = shape.what == summand::value       ? tally::reduction::sum
                      : shape.what == summand::magnitude ? tally::reduction::asum
                                                         : tally::reduction::nrm2;
    tally::reduce(tally::serial(), {field.x, what, {&memory, element}});
  }
  const auto* const from = reinterpret_cast<const std::byte*>(&memory);
  return {from, from + tally::size_of(element)};
}

// --- Vectors --------------------------------------------------------------------------------------

/// A vector in host memory, and its copy for an executor.
class placed_vector {
 public:
  placed_vector(const tally::executor& where, const std::vector<std::byte>& bytes, type element,
                data::layout l = {})
      : here_(tally::serial(), room(bytes, element, l)), there_(where, room(bytes, element, l)) {
    host = data::place(here_, bytes, element, l);
    device = data::place(there_, bytes, element, l);
  }
  operand host, device;

 private:
  static std::size_t room(const std::vector<std::byte>& bytes, type element, data::layout l) {
    const auto step = static_cast<std::size_t>(std::abs(l.increment));
    return bytes.size() * step + (l.offset + 2) * tally::size_of(element);
  }
  data::buffer here_, there_;
};

std::vector<std::int64_t> random_cuts(std::int64_t n, std::size_t parts, std::mt19937_64& random) {
  std::vector<std::int64_t> cuts = {0, n};
  while (cuts.size() <= parts) {
    cuts.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1)));
  }
  std::ranges::sort(cuts);
  return cuts;
}

class case_of {
 public:
  case_of(const tally::executor& where, summand what, type x, type y, type accumulator)
      : where_({where}), shape_{what, accumulator, 0, 0}, x_(x), y_(y) {}

  void add(const std::vector<std::byte>& x, const std::vector<std::byte>& y = {},
           data::layout lx = {}, data::layout ly = {}) {
    const auto keep = [&](const auto& bytes, type element, data::layout l) -> placed_vector& {
      vectors_.push_back(std::make_unique<placed_vector>(where_[0], bytes, element, l));
      return *vectors_.back();
    };
    const placed_vector& px = keep(x, x_, lx);
    interval_field host = {shape_.what, px.host}, device = {shape_.what, px.device};
    if (shape_.what == summand::product) {
      const placed_vector& py = keep(y, y_, ly);
      host.y = py.host, device.y = py.device;
    }
    host_.push_back(host);
    device_.push_back(device);
    shape_.fields = host_.size();
    shape_.total = static_cast<std::int64_t>(px.host.size);
  }

  void run_on(executors where) { where_ = std::move(where); }

  void expect_bits(const std::vector<std::int64_t>& cuts, std::mt19937_64& random,
                   tally::conjugate conjugated = tally::conjugate::none) const {
    const results got = over_parts(where_, shape_, device_, cuts, conjugated, random);
    for (std::size_t f = 0; f < host_.size(); ++f) {
      EXPECT_EQ(got[f], of_whole(shape_, host_[f], conjugated))
          << "field " << f << ", terms " << static_cast<int>(shape_.what) << " of "
          << tally::name(x_) << " and " << tally::name(y_) << " in "
          << tally::name(shape_.accumulator) << ", " << shape_.total << " elements in "
          << cuts.size() - 1 << " parts";
    }
  }

 private:
  executors where_;
  interval_shape shape_;
  type x_, y_;
  std::vector<std::unique_ptr<placed_vector>> vectors_;
  fields host_, device_;
};

template <class X, class Y>
std::set<type> accumulators_of() {
  std::set<type> all = {tally::type_of<tally::dot_widest_t<X, Y>>};
  if (!std::is_integral_v<tally::dot_result_t<X, Y>>) {
    all.insert(tally::type_of<tally::dot_result_t<X, Y>>);
  }
  return all;
}

class IntervalSum : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(IntervalSum, HasTheBitsOfTheWholeForEveryPairOfTypes) {
  std::mt19937_64 random(1);
  constexpr std::size_t n = 4500;
  const tally::conjugate conjugates[] = {tally::conjugate::none, tally::conjugate::x,
                                         tally::conjugate::y};
  int k = 0;
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    data::for_each_type([&]<class Y>(std::type_identity<Y>) {
      for (const type accumulator : accumulators_of<X, Y>()) {
        const kind of = k++ % 4 == 0 ? kind::special : kind::plain;
        case_of c(where(), summand::product, tally::type_of<X>, tally::type_of<Y>, accumulator);
        c.add(data::random_bytes<X>(n, 2, of), data::random_bytes<Y>(n, 3, of));
        c.expect_bits(random_cuts(n, 5, random), random, conjugates[k % 3]);
      }
    });
  });
}

TEST_ON_EVERY_EXECUTOR(IntervalSum, HasTheBitsOfTheWholeForEverySummand) {
  std::mt19937_64 random(2);
  constexpr std::size_t n = 9000;
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    for (const type accumulator : accumulators_of<X, X>()) {
      for (const summand what : all_summands) {
        for (const kind of : {kind::plain, kind::wide, kind::special}) {
          case_of c(where(), what, tally::type_of<X>, tally::type_of<X>, accumulator);
          c.add(data::random_bytes<X>(n, 4, of), data::random_bytes<X>(n, 5, of));
          c.add(data::random_bytes<X>(n, 6, of), data::random_bytes<X>(n, 7, of));
          c.expect_bits(random_cuts(n, 4, random), random);
        }
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(IntervalSum, TakesEveryStride) {
  std::mt19937_64 random(3);
  constexpr std::size_t n = 5000;
  const data::layout layouts[] = {{0, 1}, {1, 1}, {3, -1}, {0, 3}, {2, -2}};
  for (const summand what : all_summands) {
    for (const auto& lx : layouts) {
      for (const auto& ly : layouts) {
        case_of real(where(), what, type::float64, type::float64, type::float64);
        real.add(data::random_bytes<double>(n, 8, kind::plain),
                 data::random_bytes<double>(n, 9, kind::plain), lx, ly);
        real.expect_bits(random_cuts(n, 4, random), random);
        case_of complex(where(), what, type::complex64, type::complex64, type::complex64);
        complex.add(data::random_bytes<std::complex<float>>(n, 8, kind::plain),
                    data::random_bytes<std::complex<float>>(n, 9, kind::plain), lx, ly);
        complex.expect_bits(random_cuts(n, 4, random), random, tally::conjugate::x);
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(IntervalSum, HasTheBitsOfTheWholeWhereverItIsCut) {
  std::mt19937_64 random(4);
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{700}, chunk - 1,
                               chunk, chunk + 1, 40 * chunk + 37, 64 * chunk}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<std::vector<std::int64_t>> ways = {{0, n},                 // one part
                                                   {0, 0, 0, 0, n},        // everything in the last
                                                   {0, n, n, n},           // and in the first
                                                   {0, n / 2, n / 2, n}};  // an empty one between
    for (const std::int64_t step : {std::int64_t{7}, chunk, 3 * chunk, 8 * chunk}) {
      if (n / step > 1000 && step == 7 && n != 40 * chunk + 37) continue;
      std::vector<std::int64_t> cuts;
      for (std::int64_t at = 0; at < n; at += step) cuts.push_back(at);
      cuts.push_back(n);
      if (cuts.size() > 1) ways.push_back(cuts);
    }
    for (const std::size_t parts : {2, 3, 7, 30}) ways.push_back(random_cuts(n, parts, random));
    for (const summand what : all_summands) {
      case_of c(where(), what, type::float64, type::float64, type::float64);
      c.add(data::random_bytes<double>(size, 10, kind::plain),
            data::random_bytes<double>(size, 11, kind::plain));
      for (const auto& cuts : ways) c.expect_bits(cuts, random);
    }
  }
}

// In some fields the sum of squares leaves its range.
TEST_ON_EVERY_BACKEND(IntervalSum, RescalesFieldsAlone) {
  std::mt19937_64 random(5);
  constexpr std::size_t n = 70 * 1024 + 5;
  const auto vector = [&]<class X>(std::type_identity<X>, int exponent) {
    using R = tally::real_t<X>;
    auto elements = data::elements_of<X>(data::random_bytes<X>(n, random(), kind::plain));
    for (X& element : elements) element *= std::ldexp(R(1), exponent);
    return data::bytes_of(elements);
  };
  const auto norms = [&]<class X>(std::type_identity<X> x) {
    using R = tally::real_t<X>;
    constexpr int top = std::numeric_limits<R>::max_exponent - 3;
    constexpr int bottom = std::numeric_limits<R>::min_exponent - 5;
    const type element = tally::type_of<X>;
    for (const auto& exponents :
         {std::vector<int>{0, top, bottom, top / 2}, std::vector<int>{bottom},
          std::vector<int>{top}, std::vector<int>{bottom, bottom, 3}}) {
      case_of c(where(), summand::square, element, element, element);
      for (const int exponent : exponents) c.add(vector(x, exponent));
      c.add(data::bytes_of(std::vector<X>(n)));  // zeros
      c.expect_bits(random_cuts(n, 5, random), random);
      c.expect_bits({0, static_cast<std::int64_t>(n)}, random);
    }
  };
  norms(std::type_identity<double>());
  norms(std::type_identity<float>());
  norms(std::type_identity<std::complex<double>>());
  norms(std::type_identity<std::complex<float>>());
}

TEST(IntervalSums, PartsMayRunOnAnyExecutors) {
  std::mt19937_64 random(6);
  executors all;
  for (const tally::executor& each : tally::executors()) {
    if (!data::on_device(each)) all.push_back(each);
  }
  all.push_back(tally::automatic());
  constexpr std::int64_t n = 300 * chunk + 11;
  for (const summand what : all_summands) {
    case_of c(tally::serial(), what, type::float32, type::float64, type::float64);
    c.run_on(all);
    c.add(data::random_bytes<float>(n, 12, kind::plain),
          data::random_bytes<double>(n, 13, kind::plain));
    c.expect_bits(random_cuts(n, 20, random), random);
  }
}

// --- The monoid -----------------------------------------------------------------------------------

/// Very many parts, each of 0 to 3 chunks, with terms anywhere in a pool.
class many_parts {
 public:
  many_parts(std::size_t parts, std::uint64_t seed) : pool_(8192) {
    std::mt19937_64 random(seed);
    for (double& term : pool_) term = std::uniform_real_distribution<double>(-1, 1)(random);
    first_.push_back(0);
    for (std::size_t p = 0; p < parts; ++p) {
      first_.push_back(first_.back() + static_cast<std::int64_t>(random() % 4));
    }
    shape_.what = summand::value;
    shape_.total = first_.back() * chunk;
  }
  const interval_shape& shape() const { return shape_; }
  std::size_t size() const { return first_.size() - 1; }
  std::span<const double> terms_of(std::int64_t c) const {
    const auto at = static_cast<std::uint64_t>(c) * 7919 % (pool_.size() - tally::order::chunk);
    return std::span(pool_).subspan(at, tally::order::chunk);
  }

  void write(std::size_t p, message& m) const {
    tally::clear_interval(shape_, m.data());
    for (std::int64_t c = first_[p]; c < first_[p + 1]; ++c) {
      tally::append_chunk(shape_, c, tally::order::chunk, tally::order::chunk, terms_of(c).data(),
                          m.data());
    }
  }
  /// Bracketed at random.
  void write(std::size_t first, std::size_t last, std::mt19937_64& random, message& m) const {
    if (last - first == 1) return write(first, m);
    const std::size_t middle = first + 1 + random() % (last - first - 1);
    write(first, middle, random, m);
    message right(shape_);
    write(middle, last, random, right);
    tally::append_interval(m.data(), right.data());
  }
  double finished(const message& m) const {
    double sum = 0;
    tally::finish_interval(shape_, m.data(), tally::conjugate::none, &sum);
    return sum;
  }
  double expected() const {
    tally::order::tree<double> chunks;
    for (std::int64_t c = 0; c < first_.back(); ++c) {
      chunks.add(tally::sum(tally::simd(), terms_of(c)));
    }
    return chunks.total();
  }

 private:
  std::vector<double> pool_;
  std::vector<std::int64_t> first_;  // chunks
  interval_shape shape_;
};

TEST(IntervalSums, AMillionPartsJoinInAnyOrder) {
  const many_parts all(1'000'000, 7);
  const auto expected = data::bits(all.expected());
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::mt19937_64 random(seed);
    message m(all.shape());
    all.write(0, all.size(), random, m);
    EXPECT_EQ(data::bits(all.finished(m)), expected);
  }
  message from_left(all.shape()), from_right(all.shape()), next(all.shape());
  for (std::size_t p = 0; p < all.size(); ++p) {
    all.write(p, next);
    tally::append_interval(from_left.data(), next.data());
  }
  EXPECT_EQ(data::bits(all.finished(from_left)), expected);
  for (std::size_t p = all.size(); p-- > 0;) {
    all.write(p, next);
    tally::append_interval(next.data(), from_right.data());
    std::swap(next, from_right);
  }
  EXPECT_EQ(data::bits(all.finished(from_right)), expected);
}

TEST(IntervalSums, NodesAreTheLargestAndAsManyAsCounted) {
  using namespace tally::backends;
  for (std::int64_t chunks = 1; chunks <= 130; ++chunks) {
    std::int64_t most = 0;
    for (std::int64_t a = 0; a <= chunks; ++a) {
      for (std::int64_t b = a; b <= chunks; ++b) {
        std::int64_t at = a, count = 0;
        for_each_node(a, b, [&](const interval_node& node) {
          EXPECT_EQ(node.first, at);
          EXPECT_EQ(node.first % node.chunks, 0);
          const std::int64_t parent = node.first / (2 * node.chunks) * (2 * node.chunks);
          EXPECT_FALSE(a <= parent && parent + 2 * node.chunks <= b) << a << " to " << b;
          at = node.last();
          ++count;
        });
        EXPECT_EQ(at, b);
        EXPECT_EQ(count, count_nodes(a, b)) << a << " to " << b;
        most = std::max(most, count);
      }
    }
    EXPECT_LE(most, max_nodes(chunks));
    // Powers of two reach the bound.
    if ((chunks & (chunks - 1)) == 0) {
      EXPECT_EQ(most, max_nodes(chunks));
    }
  }
}

// Every interval of chunks fits into the message, and any two adjacent ones join.
TEST(IntervalSums, AnyTwoIntervalsJoinIfAdjacent) {
  constexpr std::int64_t chunks = 21;
  interval_shape shape;
  shape.what = summand::value;
  shape.total = chunks * chunk - 9;
  std::vector<double> x(static_cast<std::size_t>(shape.total));
  std::iota(x.begin(), x.end(), 0.1);
  const auto write = [&](std::int64_t first, std::int64_t last, message& m) {
    const auto begin = static_cast<std::size_t>(std::min(first * chunk, shape.total));
    const auto end = static_cast<std::size_t>(std::min(last * chunk, shape.total));
    const interval_field field = {summand::value,
                                  tally::as_operand(std::span(x).subspan(begin, end - begin))};
    sum_interval(tally::simd(), shape, {&field, 1}, static_cast<std::int64_t>(begin), m);
  };
  const auto n = static_cast<std::ptrdiff_t>(tally::interval_bytes(shape) / 8);
  for (std::int64_t a = 0; a <= chunks; ++a) {
    for (std::int64_t b = a; b <= chunks; ++b) {
      for (std::int64_t c = b; c <= chunks; ++c) {
        message left(shape), right(shape), both(shape);
        for (message* m : {&left, &right, &both}) m->words.push_back(0x5a5a);
        write(a, b, left);
        write(b, c, right);
        write(a, c, both);
        tally::append_interval(left.data(), right.data());
        constexpr std::ptrdiff_t head = sizeof(tally::interval_head) / 8;
        const std::ptrdiff_t held = head + tally::backends::count_nodes(a, c);
        EXPECT_TRUE(std::equal(left.words.begin(), left.words.begin() + held, both.words.begin()))
            << a << " to " << b << " to " << c;
        for (message* m : {&left, &right, &both}) EXPECT_EQ(m->words[n], 0x5a5a);
      }
    }
  }
}

TEST(IntervalSums, MessagesHaveTheBytesThatAreDocumented) {
  const auto bytes = [](summand what, type accumulator, std::size_t fields, std::int64_t total) {
    return tally::interval_bytes({what, accumulator, fields, total});
  };
  EXPECT_EQ(sizeof(tally::interval_head), 32u);
  EXPECT_EQ(bytes(summand::product, type::float64, 1, 0), 32u);
  EXPECT_EQ(bytes(summand::product, type::float64, 1, 1), 40u);
  EXPECT_EQ(bytes(summand::product, type::float64, 1, 1024), 40u);
  EXPECT_EQ(bytes(summand::product, type::float64, 1, 2048), 40u);
  EXPECT_EQ(bytes(summand::product, type::float64, 1, 2049), 48u);
  EXPECT_EQ(bytes(summand::product, type::float32, 1, 1), 40u);
  EXPECT_EQ(bytes(summand::product, type::float64, 1, 1'000'000'000), 336u);
  EXPECT_EQ(bytes(summand::product, type::float64, 1, 1'000'000'000'000'000), 656u);
  EXPECT_EQ(bytes(summand::product, type::complex128, 1, 1'000'000'000'000'000), 2528u);
  EXPECT_EQ(bytes(summand::square, type::complex64, 3, 1'000'000'000), 1856u);
  EXPECT_EQ(bytes(summand::square, type::float64, 1, 1'000'000'000), 640u);
  EXPECT_EQ(bytes(summand::value, type::float64, 1, std::numeric_limits<std::int64_t>::max()),
            32u + 8 * 104);
}

TEST(IntervalSums, AGapAndTheLowestFailureAreKept) {
  const many_parts all(9, 8);
  const auto make = [&](std::size_t first, std::size_t last, std::int32_t failed = 0) {
    std::mt19937_64 random(1);
    message m(all.shape());
    all.write(first, last, random, m);
    reinterpret_cast<tally::interval_head*>(m.words.data())->failed = failed;
    return m;
  };
  message a = make(0, 3), b = make(3, 6), c = make(6, 9);
  ASSERT_LT(b.head().first, b.head().last);
  message skipped = a;
  tally::append_interval(skipped.data(), c.data());
  EXPECT_EQ(skipped.head().gap, 1);
  message swapped = b;
  tally::append_interval(swapped.data(), a.data());
  EXPECT_EQ(swapped.head().gap, 1);
  EXPECT_EQ(swapped.head().first, b.head().first);
  tally::append_interval(a.data(), swapped.data());
  EXPECT_EQ(a.head().gap, 1);
  data::expect_error(tally::errc::invalid_argument,
                     "tally::finish_interval: the message is that of chunks 0 to " +
                         std::to_string(a.head().last) + ", with a gap, of " +
                         std::to_string(c.head().last),
                     [&] { (void)all.finished(a); });

  message first = make(0, 3, 7), second = make(3, 6, 4), third = make(6, 9, 5);
  tally::append_interval(second.data(), third.data());
  EXPECT_EQ(second.head().failed, 4);
  tally::append_interval(first.data(), second.data());
  EXPECT_EQ(first.head().failed, 4);
  message none = make(0, 3);
  tally::append_interval(none.data(), second.data());
  EXPECT_EQ(none.head().failed, 4);
  EXPECT_EQ(none.head().gap, 0);
}

// --- Wrong arguments ------------------------------------------------------------------------------

class IntervalErrors : public testing::Test {
 protected:
  static constexpr std::size_t n = 3 * 1024 + 100;
  std::vector<double> x_ = std::vector<double>(n, 0.5), y_ = x_;
  std::vector<float> floats_ = std::vector<float>(n, 0.5f);
  interval_shape shape_{summand::product, type::float64, 1, static_cast<std::int64_t>(n)};
  message message_{shape_};

  interval_field field(std::size_t first = 0, std::size_t count = n) const {
    return {summand::product, tally::as_operand(std::span(x_).subspan(first, count)),
            tally::as_operand(std::span(y_).subspan(first, count))};
  }
  void expect_sum_error(tally::errc code, const std::string& text, const interval_field& field,
                        std::int64_t first = 0) {
    const std::vector<std::int64_t> before(message_.words.size(), 0x5a5a5a5a);
    message_.words = before;
    data::expect_error(code, "tally::sum_part: " + text, [&] {
      sum_interval(tally::serial(), shape_, {&field, 1}, first, message_);
    });
    EXPECT_EQ(message_.words, before);
  }
};

using tally::errc;

TEST_F(IntervalErrors, OfFields) {
  expect_sum_error(errc::invalid_argument,
                   "the interval has 3172 elements from 1024 on, the whole vector has 3172",
                   field(), 1024);
  expect_sum_error(errc::invalid_argument,
                   "the interval has 1024 elements from -1024 on, the whole vector has 3172",
                   field(0, 1024), -1024);

  interval_field wrong = field();
  wrong.x.data = nullptr;
  expect_sum_error(errc::null_pointer, "x of field 0 is null and should point at 3172 elements",
                   wrong);
  wrong = field();
  wrong.y.size = 7;
  expect_sum_error(errc::size_mismatch, "y of field 0 has 7 elements, x of field 0 has 3172",
                   wrong);
  wrong = field();
  wrong.y.increment = 0;
  expect_sum_error(errc::zero_increment, "y of field 0 has increment 0", wrong);
  wrong = field();
  wrong.x.element = static_cast<type>(77);
  expect_sum_error(errc::unsupported_type, "x of field 0 has element type 77; there are 11", wrong);
  wrong = field();
  wrong.what = summand::value;
  expect_sum_error(errc::invalid_argument, "field 0 has other terms than the shape", wrong);
}

TEST_F(IntervalErrors, OfShapes) {
  shape_.accumulator = type::float32;
  expect_sum_error(errc::unsupported_type, "the accumulator is float32; float64 gives float64",
                   field());
  shape_.accumulator = type::complex128;
  message_.words.resize(1000);
  expect_sum_error(errc::unsupported_type, "the accumulator is complex128; float64 gives float64",
                   field());
  interval_field others = {summand::value, tally::as_operand(floats_)};
  shape_.what = summand::value;
  expect_sum_error(errc::unsupported_type,
                   "the accumulator is complex128; float32 gives float32 or float64", others);
  shape_.what = summand::product;
  shape_.accumulator = type::int64;
  expect_sum_error(errc::unsupported_type,
                   "the accumulator is int64; it can be float32, float64, complex64 or complex128",
                   field());
  shape_.accumulator = static_cast<type>(99);
  expect_sum_error(errc::unsupported_type, "the accumulator has element type 99; there are 11",
                   field());
  shape_.accumulator = type::float64;
  shape_.what = static_cast<summand>(9);
  EXPECT_THROW(tally::append_chunk(shape_, 0, 1024, 1024, x_.data(), message_.data()),
               tally::error);
  shape_.what = summand::product;
  shape_.total = -1;
  EXPECT_THROW(tally::append_chunk(shape_, 0, 1024, 1024, x_.data(), message_.data()),
               tally::error);
}

TEST_F(IntervalErrors, OfSeveralFields) {
  shape_.fields = 2;
  message_ = message(shape_);
  interval_field two[] = {field(), field()};
  const auto sum = [&] { sum_interval(tally::serial(), shape_, two, 0, message_); };
  sum();
  EXPECT_EQ(message_.head().last, 4);
  two[1].y = tally::as_operand(floats_);
  const std::vector<std::int64_t> before = message_.words;
  data::expect_error(errc::unsupported_type,
                     "tally::sum_part: y of field 1 is float32, of field 0 it is float64", sum);
  EXPECT_EQ(message_.words, before);
  two[1] = field(0, 1024);
  data::expect_error(errc::size_mismatch,
                     "tally::sum_part: x of field 1 has 1024 elements, x of field 0 has 3172", sum);
  shape_.fields = 3;
  message_ = message(shape_);
  data::expect_error(errc::size_mismatch, "tally::sum_part: there are 2 fields, the shape has 3",
                     sum);
}

TEST_F(IntervalErrors, OfAddresses) {
  const auto sum_to = [&](const interval_field& of, void* nodes) {
    return [&, nodes] {
      (void)tally::sum_part(tally::serial(), shape_, {.fields = {&of, 1}, .nodes = nodes});
    };
  };
  const interval_field whole = field();
  data::expect_error(errc::null_pointer,
                     "tally::sum_part: nodes is null and should point at 1 element",
                     sum_to(whole, nullptr));
  data::expect_error(
      errc::misaligned,
      "tally::sum_part: nodes is not a multiple of 8 bytes, the alignment of float64",
      sum_to(whole, reinterpret_cast<char*>(message_.words.data()) + 4));
  data::expect_error(errc::null_pointer,
                     "tally::append_chunk: the message is null and should point at 6 elements",
                     [&] { tally::append_chunk(shape_, 0, 1024, 1024, x_.data(), nullptr); });
  data::expect_error(
      errc::misaligned,
      "tally::append_chunk: the message is not a multiple of 8 bytes, the alignment of int64", [&] {
        tally::append_chunk(shape_, 0, 1024, 1024, x_.data(),
                            reinterpret_cast<char*>(message_.words.data()) + 4);
      });
  std::vector<double> all(2000);
  interval_field some = {summand::product, tally::as_operand(std::span(all).first(1024)),
                         tally::as_operand(std::span(all).first(1024))};
  data::expect_error(errc::overlap, "tally::sum_part: nodes overlaps x of field 0",
                     sum_to(some, all.data() + 1020));
}

TEST_F(IntervalErrors, OfParts) {
  const interval_field some = field(0, 1000);
  std::vector<double> terms(1024);
  tally::interval_part part;
  part.fields = {&some, 1};
  part.first = 1000;
  part.head = part.tail = terms.data();
  part.head_stride = part.tail_stride = 1024;
  const auto expect = [&](errc code, const std::string& text) {
    int calls = 0;
    part.context = &calls;
    part.when_terms_are_there = [](void* count) { ++*static_cast<int*>(count); };
    data::expect_error(code, "tally::sum_part: " + text,
                       [&] { (void)tally::sum_part(tally::serial(), shape_, part); });
    EXPECT_EQ(calls, 0);
  };
  const interval_head head = tally::sum_part(tally::serial(), shape_, part);  // 24 and 976 terms
  EXPECT_EQ(head.first, head.last);
  EXPECT_EQ(terms[975], 0.25);
  EXPECT_EQ(terms[976], 0);
  part.tail_stride = 975;
  expect(errc::invalid_argument,
         "tail has 976 terms, with stride 975; there can be at most the stride");
  part.tail_stride = 1024;
  part.head = nullptr;
  expect(errc::null_pointer, "head is null and should point at 24 elements");
  part.head = terms.data();
  part.tail = x_.data() + 10;
  expect(errc::overlap, "tail overlaps x of field 0");
  part.tail = terms.data();
  part.first = 2500;
  expect(errc::invalid_argument,
         "the interval has 1000 elements from 2500 on, the whole vector has 3172");
  part.first = 2048;
  const interval_field most = field(0, 1124);
  part.fields = {&most, 1};
  expect(errc::null_pointer, "nodes is null and should point at 1 element");
  part.first = 1000;
  part.fields = {&some, 1};
  part.when_terms_are_there = [](void*) { throw std::runtime_error("thrown"); };
  EXPECT_THROW((void)tally::sum_part(tally::serial(), shape_, part), std::runtime_error);
}

TEST_F(IntervalErrors, OfTerms) {
  std::vector<double> terms(2048);
  const auto get = [&](std::size_t count, std::size_t stride, double* to) {
    const interval_field part = field(0, count);
    (void)tally::sum_part(tally::serial(), shape_,
                          {.fields = {&part, 1}, .tail = to, .tail_stride = stride});
  };
  get(1023, 1023, terms.data());
  EXPECT_EQ(terms[1022], 0.25);
  EXPECT_EQ(terms[1023], 0);
  get(0, 0, nullptr);
  data::expect_error(errc::invalid_argument,
                     "tally::sum_part: tail has 10 terms, with stride 9; there can be at most the "
                     "stride",
                     [&] { get(10, 9, terms.data()); });
  data::expect_error(errc::null_pointer,
                     "tally::sum_part: tail is null and should point at 10 elements",
                     [&] { get(10, 10, nullptr); });

  const auto append = [&](std::int64_t c, std::size_t count, std::size_t stride, const double* from,
                          message& m) {
    tally::append_chunk(shape_, c, count, stride, from, m.data());
  };
  data::expect_error(
      errc::invalid_argument,
      "tally::append_chunk: there are 1000 terms, with stride 1024; chunk 1 has 1024",
      [&] { append(1, 1000, 1024, terms.data(), message_); });
  data::expect_error(errc::invalid_argument,
                     "tally::append_chunk: there are 100 terms, with stride 99; chunk 3 has 100",
                     [&] { append(3, 100, 99, terms.data(), message_); });
  data::expect_error(errc::invalid_argument,
                     "tally::append_chunk: there is no chunk 4 of 3172 elements",
                     [&] { append(4, 1024, 1024, terms.data(), message_); });
  data::expect_error(errc::null_pointer,
                     "tally::append_chunk: terms is null and should point at 1024 elements",
                     [&] { append(1, 1024, 1024, nullptr, message_); });
  append(1, 1024, 1024, terms.data(), message_);
  append(2, 1024, 1024, terms.data(), message_);
  EXPECT_EQ(message_.head().last, 3);
  append(2, 1024, 1024, terms.data(), message_);
  EXPECT_EQ(message_.head().gap, 1);

  interval_shape other = shape_;
  other.accumulator = type::float32;
  message of_other(other);
  data::expect_error(errc::invalid_argument,
                     "tally::append_chunk: the message is not of this shape: it is that of chunks "
                     "0 to 0, of 1 fields in float32",
                     [&] { append(1, 1024, 1024, terms.data(), of_other); });
}

TEST_F(IntervalErrors, OfResults) {
  const interval_field part = field(0, 2048), whole = field();
  double sum = 0;
  const auto finish = [&] {
    tally::finish_interval(shape_, message_.data(), tally::conjugate::none, &sum);
  };
  sum_interval(tally::serial(), shape_, {&part, 1}, 0, message_);
  data::expect_error(errc::invalid_argument,
                     "tally::finish_interval: the message is that of chunks 0 to 2 of 4", finish);
  sum_interval(tally::serial(), shape_, {&whole, 1}, 0, message_);
  finish();
  EXPECT_EQ(sum, tally::dot(x_, y_));
  data::expect_error(
      errc::null_pointer, "tally::finish_interval: results is null and should point at 1 element",
      [&] { tally::finish_interval(shape_, message_.data(), tally::conjugate::none, nullptr); });
  shape_.what = summand::value;
  data::expect_error(errc::invalid_argument,
                     "tally::finish_interval: the message is not of this shape: it is that of "
                     "chunks 0 to 4, of 1 fields in float64",
                     finish);
}

}  // namespace
