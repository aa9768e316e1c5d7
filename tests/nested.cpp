// Calls of Tally inside a caller's functions within a call of Tally: none waits for another, and
// results are as elsewhere. A deadlock ends the program.
#include "tests/operations.hpp"

#include <tally/tally.h>
#include <tally/tally.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <istream>
#include <streambuf>
#include <thread>

namespace {

/// Ends the program, naming its activity, after too long.
class time_limit {
 public:
  explicit time_limit(unsigned seconds) {
    std::signal(SIGALRM, [](int) {
      for (const char* text : {"no end inside ", outer.load(), ": ", inner.load(), "\n"}) {
        if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
      }
      _exit(1);
    });
    alarm(seconds);
  }
  ~time_limit() {
    alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }
  time_limit(const time_limit&) = delete;
  time_limit& operator=(const time_limit&) = delete;

  static inline std::atomic<const char*> outer = "nothing", inner = "nothing";
};

// --- Calls with functions of the caller's ---------------------------------------------------------

constexpr std::size_t parts = 3, outer_size = parts * tally::order::chunk;

/// Run at most once for each k < parts, perhaps on several threads at once.
using body = std::function<void(std::size_t k)>;

/// Runs the body at the first element of each chunk.
struct at_chunks {
  const body& run;
  template <class T>
  T operator()(T i) const {
    if (static_cast<std::size_t>(i) % tally::order::chunk == 0) {
      run(static_cast<std::size_t>(i) / tally::order::chunk);
    }
    return i;
  }
  template <class T>
  T operator()(T i, T) const {
    return (*this)(i);
  }
};

/// Runs the body where a chunk and where everything is complete.
struct at_totals {
  const body& run;
  std::atomic<std::size_t>& calls;
  double operator()(double a, double b) const {
    const auto sum = static_cast<std::size_t>(a + b);
    if (sum == tally::order::chunk || sum == outer_size) {
      if (const std::size_t k = calls++; k < parts) run(k);
    }
    return a + b;
  }
};

class source : public std::streambuf {
 public:
  explicit source(const body& run) : run_(run) {}

 protected:
  int_type underflow() override {
    if (next_ == parts) return traits_type::eof();
    run_(next_);
    std::string& text = text_[next_++];
    setg(text.data(), text.data(), text.data() + text.size());
    return traits_type::to_int_type(text.front());
  }

 private:
  const body& run_;
  std::size_t next_ = 0;
  std::string text_[parts] = {"%%MatrixMarket matrix coordinate ", "real general\n2 2 1\n",
                              "2 1 0.5\n"};
};

struct outer_call {
  const char* name;
  void (*run)(const tally::executor& where, const body& inside);
  tally::errc thrown = tally::errc::size_mismatch;  ///< error if the body throws that
};

std::vector<double> numbers() {
  std::vector<double> all(outer_size);
  for (std::size_t i = 0; i < outer_size; ++i) all[i] = static_cast<double>(i);
  return all;
}
constexpr double sum_of_numbers = outer_size * (outer_size - 1) / 2.0;

void sum_part(const tally::executor& where, const body& inside) {
  const std::vector<double> x = numbers();
  const tally::interval_field field = {tally::summand::value, tally::as_operand(x), {}};
  double nodes[2] = {};  // of two chunks and of one
  tally::interval_part part;
  part.fields = {&field, 1};
  part.nodes = nodes;
  body of = inside;
  part.context = &of;
  part.when_terms_are_there = [](void* of) {
    for (std::size_t k = 0; k < parts; ++k) (*static_cast<body*>(of))(k);
  };
  const auto total = static_cast<std::int64_t>(outer_size);
  tally::sum_part(where, {tally::summand::value, tally::type::float64, 1, total}, part);
  EXPECT_EQ(nodes[0] + nodes[1], sum_of_numbers);
}

/// Every way to pass functions of one's own. A stream's runs on no executor.
constexpr outer_call outer_calls[] = {
    {"transform",
     [](const tally::executor& where, const body& inside) {
       const std::vector<double> x = numbers();
       std::vector<double> z(outer_size);
       tally::transform(where, x, z, at_chunks{inside});
       EXPECT_EQ(z, x);
     }},
    {"transform of two vectors in place, strided",
     [](const tally::executor& where, const body& inside) {
       const std::vector<double> x = numbers();
       std::vector<double> y(2 * outer_size);
       const auto z = tally::strided(y.data(), outer_size, 2);
       tally::transform(where, x, z, z, at_chunks{inside});
       EXPECT_EQ(y[2 * (outer_size - 1)], x.back());
     }},
    {"transform_reduce",
     [](const tally::executor& where, const body& inside) {
       EXPECT_EQ(tally::transform_reduce(where, numbers(), 0.0, std::plus<>(), at_chunks{inside}),
                 sum_of_numbers);
     }},
    {"transform_reduce of two vectors, its result in memory",
     [](const tally::executor& where, const body& inside) {
       double r = 0;
       tally::transform_reduce(where, numbers(), numbers(), 0.0, std::plus<>(), at_chunks{inside},
                               &r);
       EXPECT_EQ(r, sum_of_numbers);
     }},
    {"transform_reduce, where it reduces",
     [](const tally::executor& where, const body& inside) {
       std::atomic<std::size_t> calls = 0;
       EXPECT_EQ(tally::transform_reduce(where, numbers(), 0.0, at_totals{inside, calls},
                                         [](double) { return 1.0; }),
                 outer_size);
       EXPECT_GE(calls, parts);
     }},
    {"sum_part", sum_part},
    {"read_matrix_market of a stream",
     [](const tally::executor&, const body& inside) {
       source characters(inside);
       std::istream stream(&characters);
       EXPECT_EQ(tally::read_matrix_market(stream).values, std::vector<double>{0.5});
     },
     tally::errc::unreadable_file},
};

// --- The tests ------------------------------------------------------------------------------------

/// One of each backend: threads and instructions don't matter here. openmp has several threads.
std::vector<tally::executor> all_executors() {
  std::vector<tally::executor> all = tally::executors();
  for (tally::executor& each : all) {
    if (each.name() == "openmp") each = tally::openmp({.threads = parts});
  }
  return all;
}

template <class F>
void for_each_outer(const F& f) {
  for (const tally::executor& where : all_executors()) {
    if (data::on_device(where)) continue;
    for (const outer_call& outer : outer_calls) {
      const std::string name = std::string(where.name()) + ", " + outer.name;
      const time_limit limit(120);
      time_limit::outer = name.c_str();
      SCOPED_TRACE("inside " + name);
      f(where, outer);
      time_limit::outer = time_limit::inner = "nothing";
    }
  }
}

/// Each operation on each executor inside each outer call, some concurrently.
void nest(void (*inside)(const std::function<void()>& run)) {
  for (const tally::executor& inner : all_executors()) {
    std::vector<std::unique_ptr<operations::prepared_list>> lists;
    for (std::size_t k = 0; k < parts; ++k) {
      lists.push_back(std::make_unique<operations::prepared_list>(1100, inner));
    }
    const std::size_t count = lists.front()->size();
    ASSERT_GT(count, 0u);
    std::vector<std::vector<std::byte>> expected;
    for (std::size_t i = 0; i < count; ++i) {
      (*lists.front())[i].run();
      expected.push_back((*lists.front())[i].results());
    }
    for_each_outer([&](const tally::executor& where, const outer_call& outer) {
      for (const auto& list : lists) {
        for (std::size_t i = 0; i < count; ++i) (*list)[i].reset();
      }
      outer.run(where, [&](std::size_t k) {
        inside([&] {
          for (std::size_t i = 0; i < count; ++i) {
            time_limit::inner = lists[k]->name(i).c_str();
            (*lists[k])[i].run();
          }
        });
      });
      for (const auto& list : lists) {
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ((*list)[i].results(), expected[i]) << list->name(i) << " on " << inner.name();
        }
      }
    });
  }
}

TEST(NestedCalls, AreWhatTheyAreElsewhere) {
  nest([](const std::function<void()>& run) { run(); });
}

TEST(NestedCalls, MayBeAnotherThreads) {
  nest([](const std::function<void()>& run) { std::thread(run).join(); });
}

TEST(NestedCalls, MayNestFurther) {
  for_each_outer([&](const tally::executor& where, const outer_call& outer) {
    for (const tally::executor& middle : all_executors()) {
      if (data::on_device(middle)) continue;
      for (const outer_call& within : outer_calls) {
        time_limit::inner = within.name;
        std::atomic<int> innermost = 0;
        outer.run(where, [&](std::size_t) {
          within.run(middle, [&](std::size_t) {
            for (const tally::executor& inner : all_executors()) {
              if (data::on_device(inner)) continue;
              EXPECT_EQ(tally::sum(inner, std::vector<int>{1, 2}), 3);
              ++innermost;
            }
          });
        });
        EXPECT_GE(innermost, 9);
      }
    }
  });
}

TEST(NestedCalls, MayThrow) {
  const std::vector<double> x(5), y(6);
  for_each_outer([&](const tally::executor& where, const outer_call& outer) {
    for (const tally::executor& inner : all_executors()) {
      if (data::on_device(inner)) continue;
      for (std::size_t thrower = 0; thrower < parts; ++thrower) {
        try {
          outer.run(where, [&](std::size_t k) {
            if (k == thrower) tally::dot(inner, x, y);
          });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const tally::error& e) {
          EXPECT_EQ(e.code(), outer.thrown) << e.what();
        }
        outer.run(where, [](std::size_t) {});  // no state is left behind
        EXPECT_EQ(tally::dot(inner, x, x), 0);
      }
    }
  });
}

/// Calls other than operations: executors, plans, memory, also from C.
TEST(NestedCalls, MayAskForExecutorsPlansAndMemory) {
  const std::vector<int> offsets = {0, 1}, columns = {0};
  const std::vector<double> values = {2};
  const tally::csr_view a{1, 1, offsets, columns, values};
  for_each_outer([&](const tally::executor& where, const outer_call& outer) {
    std::atomic<int> asked = 0;
    outer.run(where, [&](std::size_t) {
      time_limit::inner = "executors";
      for (const tally::executor& inner : tally::executors()) {
        EXPECT_FALSE(tally::executor_named(inner.name()).description().empty());
        if (data::on_device(inner)) continue;
        EXPECT_FALSE(tally::spmv_plan(inner, a, {.fixed_values = true}).describe().empty());
        tally::buffer memory(inner, 8);
        tally::pin(inner, memory.get(), 8);
        tally::unpin(inner, memory.get());
        tally::copy_bytes(inner, values.data(), memory.get(), 8);
      }
      std::size_t count = 0;
      EXPECT_EQ(tally_executors(0, nullptr, nullptr, &count), TALLY_SUCCESS);
      EXPECT_EQ(count, tally::backend_names().size());
      ++asked;
    });
    EXPECT_EQ(asked, parts);
  });
}

}  // namespace
