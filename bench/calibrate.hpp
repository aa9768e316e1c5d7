// From how long on all threads are faster than one.
#pragma once

namespace bench {

/// Prints, as a table in Markdown, for some operations from how many bytes of operands `openmp` is
/// faster than `simd` here, and what both take at the number from which `automatic()` takes
/// `openmp`.
void calibrate();

}  // namespace bench
