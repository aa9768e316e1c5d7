// What the headers of the C++ interface include first: an older standard gets one sentence from
// them.
#pragma once

#if __cplusplus < 202002L
#error \
    "Tally's C++ interface needs C++20 (g++ -std=c++20); the C interface, <tally/tally.h>, does not"
// Compilers go on after an error, but not without a file: this one is missing on purpose.
#include <tally/the_end_of_this_compilation>
#endif
