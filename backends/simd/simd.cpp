#include "backends/simd/simd.hpp"

namespace tally::backends::simd {

constinit const backend instance;

std::string backend::describe(const executor& where) const {
  return std::string(tally::name(where.instructions()));
}

}  // namespace tally::backends::simd
