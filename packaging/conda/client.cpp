// The recipe's test: every executor has the same bits.
#include <tally/tally.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> x(10000, 0.1);
  const double expected = tally::dot(tally::serial(), x, x);
  for (const auto& where : tally::executors()) {
    std::printf("%s\n", where.description().c_str());
    if (tally::dot(where, x, x) != expected) return 1;
  }
}
