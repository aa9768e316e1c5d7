// Included first by the C++ headers: a clear error for an older standard.
#pragma once

#if __cplusplus < 202002L
#error \
    "Tally's C++ interface needs C++20 (g++ -std=c++20); the C interface, <tally/tally.h>, does not"
// Missing on purpose: a missing file stops compilers, an #error doesn't.
#include <tally/the_end_of_this_compilation>
#endif
