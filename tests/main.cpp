// main() of the test programs.
#include "tests/data.hpp"

#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__)
/// Prints where undefined behaviour in a test has trapped.
extern "C" const char* __asan_default_options() { return "handle_sigill=1"; }
#endif

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  data::OnEveryExecutor::register_all();
  return RUN_ALL_TESTS();
}
