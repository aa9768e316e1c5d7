// Every public header after macros of well-known headers; only the syntax is compiled.
//
// Function-like ones are named as in f2c.h, windows.h and C codes. Of the standard library's
// headers those that Tally's include were included before: another one there is one more that
// breaks behind such macros.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstring>
#include <exception>
#include <functional>
#include <istream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <ranges>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

// I, complex and others (in GNU dialects); major, minor, makedev; B0, B50 …; _B, _E …
#include <complex.h>
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <termios.h>
#if TALLY_HAS_MPI
#include <mpi.h>
#endif
#if TALLY_HAS_NCCL
#include <nccl.h>

#include <fstream>
#include <random>
#endif

// clang-format off
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define abs(x) ((x) >= 0 ? (x) : -(x))
#define dabs(x) (double)abs(x)
#define dmin(a, b) (double)min(a, b)
#define dmax(a, b) (double)max(a, b)
#define bit_test(a, b) ((a) >> (b) & 1)
#define isnan(x) ((x) != (x))
#define square(x) ((x) * (x))
#define sqr(x) ((x) * (x))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#undef I
#define I (__extension__ 1.0iF)
#define PI 3.14159265358979323846
#define TRUE 1
#define FALSE 0
#define IN
#define OUT
#define OPTIONAL
#define VOID void
#define CONST const
#define ERROR 0
#define DELETE 0x00010000L
#define INFINITE 0xffffffff
#define DOMAIN 1
#define OVERFLOW 3
#define UNDERFLOW 4
#define STRICT 1
#define NO_ERROR 0L
#define far
#define near
#define huge
#define small char
#define hyper long long
#define interface struct
#define pascal
#define cdecl
#define Bool int
#define Status int
#define True 1
#define False 0
#define None 0L
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Unsorted 0
#define CurrentTime 0L
#define Complex 0
#define Convex 2
#define ControlMask (1 << 2)
#define KeyPress 2
#define Expose 12
#define nil 0
#define Nil 0
#define YES 1
#define NO 0
#define foreach for
#define forever for (;;)
#define emit
#define signals public
#define slots
#define EMPTY (-1)
#define FREE(p) free(p)
#define DEBUG 1
#define LOG(x) (void)(x)
#define CHECK(x) (void)(x)
#define EXPECT(x) (void)(x)
#define ASSERT(x) (void)(x)
#define HOST 1
#define DEVICE 2
#define VERSION "1.0"
#define PACKAGE "package"
// clang-format on

#include <tally/tally.h>
#include <tally/tally.hpp>
#if TALLY_HAS_MPI
#include <tally/mpi.h>
#include <tally/mpi.hpp>
#endif
#if TALLY_HAS_NCCL
#include <tally/nccl.hpp>
#endif

// Macro names can be written; calls of others need no care.
double uses(const std::vector<double>& x) {
  return (tally::min)(x).value + (tally::max)(tally::serial(), x).value +
         (tally::minmax)(x).max.value + tally::dot(x, x);
}
