// The size from which all threads are faster than one.
#pragma once

namespace bench {

/// Prints a Markdown table: the operands' bytes from which `openmp` is faster than `simd` here, and
/// both times at `automatic()`'s threshold.
void calibrate();

}  // namespace bench
