// Literal, slow element-wise functions, as <tally/transform.hpp> and docs/numerics.md define them.
// Shares no code with the library except the element types and the computation's type.
#pragma once

#include "tests/transcription.hpp"

#include <tally/transform.hpp>

#include <cstddef>
#include <vector>

namespace transcription {

/// exp and sigmoid of any number.
float exp(float x);
double exp(double x);
float sigmoid(float x);
double sigmoid(double x);

/// The largest error of exp or sigmoid of floats in ulp, by double.
double worst_error(tally::elementwise what, const float* x, const float* z, std::size_t n);

/// In the formula's order.
struct factors {
  tally::scalar alpha = 1, beta = 1, gamma = 1;
};

/// The bytes of z after the call, for `z` before it, which counts where it is read.
std::vector<std::byte> transform(tally::elementwise what, const factors& f, const elements& x,
                                 const elements& y, const elements& z);

}  // namespace transcription
