// What holds for every operation: each is on every executor what it is on the first, and a bool is
// what C takes its byte for.
#include "tests/operations.hpp"

#include <gtest/gtest.h>

namespace {

class EveryOperation : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(EveryOperation, HasTheBitsOfSerial) {
  for (const auto m : {operations::values::plain, operations::values::tiny,
                       operations::values::subnormal, operations::values::huge}) {
    for (const std::size_t n : {std::size_t{100}, std::size_t{3000}}) {
      for (const operations::operation& each : operations::list(n, m)) {
        if (!operations::runs(each, where())) continue;
        operations::prepared reference(each, tally::serial()), mine(each, where());
        reference.run();
        mine.run();
        EXPECT_EQ(mine.results(), reference.results())
            << each.name << " of " << n << " " << operations::name(m) << " elements";
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(EveryOperation, TakesAnyByteOfABoolButZeroForTrue) {
  using operations::list;
  for (const std::size_t n : {std::size_t{100}, std::size_t{3000}, std::size_t{20011}}) {
    const list plain(n), any(n, operations::values::plain, operations::truth::any_byte);
    auto of_ones = plain.begin();
    for (const operations::operation& each : any) {
      const operations::operation& ones = *of_ones++;
      bool has_bool = false;
      for (std::size_t k = 0; k < each.inputs.size(); ++k) {
        has_bool = has_bool || each.inputs[k].bytes != ones.inputs[k].bytes;
      }
      if (!has_bool || !operations::runs(each, where())) continue;
      operations::prepared reference(ones, tally::serial()), mine(each, where());
      reference.run();
      mine.run();
      EXPECT_EQ(mine.results(), reference.results()) << each.name << " of " << n << " elements";
    }
  }
}

}  // namespace
