// Literal, slow element-wise functions, as in <tally/operations/transform.hpp> and
// docs/numerics.md. Shares no code with the library except element types and the computation's
// type.
#pragma once

#include "tests/transcription.hpp"

#include <tally/operations/transform.hpp>

#include <cstddef>
#include <vector>

namespace transcription {

float exp(float x);
double exp(double x);
float sigmoid(float x);
double sigmoid(double x);

/// The largest error of exp or sigmoid of floats in ulp, by double.
double worst_error(tally::elementwise what, const float* x, const float* z, std::size_t n);

/// Factors in the formula's order.
struct factors {
  tally::scalar alpha = 1, beta = 1, gamma = 1;
};

/// The bytes of z after the call; `z` is read by updates, `w` is the third input.
std::vector<std::byte> transform(tally::elementwise what, const factors& f, const elements& x,
                                 const elements& y, const elements& z, const elements& w);
inline std::vector<std::byte> transform(tally::elementwise what, const factors& f,
                                        const elements& x, const elements& y, const elements& z) {
  return transform(what, f, x, y, z, z);
}

}  // namespace transcription
