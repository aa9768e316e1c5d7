// Properties of every operation: each executor agrees with the first, and any nonzero byte of a
// bool is true.
#include "tests/operations.hpp"

#include <gtest/gtest.h>

namespace {

using operations::structure;
using operations::values;

class EveryOperation : public data::OnEveryExecutor {
 protected:
  void expect_bits_of_serial(std::size_t n, values v, structure s = structure::mixed) const {
    for (const operations::operation& each : operations::list(n, v, operations::truth::one, s)) {
      if (!operations::runs(each, where())) continue;
      operations::prepared reference(each, tally::serial()), mine(each, where());
      reference.run();
      mine.run();
      EXPECT_EQ(mine.results(), reference.results())
          << each.name << " of " << n << " " << operations::name(v) << " elements, structure "
          << static_cast<int>(s);
    }
  }
};

TEST_ON_EVERY_EXECUTOR(EveryOperation, HasTheBitsOfSerial) {
  for (const values v : {values::plain, values::tiny, values::subnormal, values::huge}) {
    for (const std::size_t n : {std::size_t{100}, std::size_t{3000}}) expect_bits_of_serial(n, v);
  }
}

TEST_ON_EVERY_EXECUTOR(EveryOperation, HasTheBitsOfSerialOnDataThatAreNotNice) {
  for (const values v : {values::wide, values::mixed, values::nan, values::nans, values::infinite,
                         values::infinities, values::zero, values::saturated, values::one_value,
                         values::ascending, values::descending}) {
    expect_bits_of_serial(100, v);
  }
  for (const structure s : {structure::even, structure::short_rows, structure::empty_rows,
                            structure::one_long_row, structure::many_bins}) {
    expect_bits_of_serial(300, values::plain, s);
  }
}

TEST_ON_EVERY_EXECUTOR(EveryOperation, TakesAnyByteOfABoolButZeroForTrue) {
  using operations::list;
  for (const std::size_t n : {std::size_t{100}, std::size_t{3000}, std::size_t{20011}}) {
    const list plain(n), any(n, values::plain, operations::truth::any_byte);
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
