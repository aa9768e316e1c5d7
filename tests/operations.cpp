// What holds for every operation: each is on every executor what it is on the first.
#include "tests/operations.hpp"

#include <gtest/gtest.h>

namespace {

class EveryOperation : public data::OnEveryExecutor {};

TEST_P(EveryOperation, HasTheBitsOfSerial) {
  for (const auto m : {operations::magnitude::plain, operations::magnitude::tiny,
                       operations::magnitude::subnormal}) {
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

TALLY_ON_EVERY_EXECUTOR(EveryOperation);

}  // namespace
