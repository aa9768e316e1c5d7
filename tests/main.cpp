// main() of the test programs.
#include "tests/data.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  data::OnEveryExecutor::register_all();
  return RUN_ALL_TESTS();
}
