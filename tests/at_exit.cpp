// C calls that fail and succeed while a thread or the program ends, and a thread's first failure
// without memory.
#include <tally/tally.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TALLY_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TALLY_SANITIZER 1
#endif

// A sanitizer brings its own malloc.
#if defined(__GLIBC__) && !defined(TALLY_SANITIZER)
#define TALLY_OWN_MALLOC 1
namespace {
thread_local bool short_of_memory = false;
}
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* malloc(size_t n) { return short_of_memory ? nullptr : __libc_malloc(n); }
void* calloc(size_t n, size_t each) { return short_of_memory ? nullptr : __libc_calloc(n, each); }
void* realloc(void* p, size_t n) { return short_of_memory ? nullptr : __libc_realloc(p, n); }
}
#endif

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  _exit(1);
}

const double x[] = {1, 2, 3};

/// Two failures, the second message longer, and a success.
void call(const char* when) {
  double result = 42;
  require(tally_dot(nullptr, 3, TALLY_FLOAT64, x, 0, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, &result,
                    nullptr) == TALLY_ZERO_INCREMENT,
          when);
  require(std::strcmp(tally_last_error(), "tally::dot: x has increment 0") == 0, when);
  require(tally_nrm2(nullptr, 3, TALLY_FLOAT64, x, 1, TALLY_INT64, &result, nullptr) ==
              TALLY_UNSUPPORTED_TYPE,
          when);
  require(std::strcmp(tally_last_error(),
                      "tally::nrm2: the result is int64; float64 gives float64") == 0,
          when);
  require(result == 42, when);
  tally_executor where;
  require(tally_simd(&where, TALLY_INSTRUCTIONS_BEST) == TALLY_SUCCESS, when);
  require(tally_dot(&where, 3, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, &result,
                    nullptr) == TALLY_SUCCESS &&
              result == 14,
          when);
}

struct late {
  const char* when;
  ~late() { call(when); }
};

/// Constructed before Tally's first call, so destroyed last.
late of_the_program{"in a static destructor"};

/// A thread's first object, so the last one destroyed.
void in_thread() {
  thread_local late of_the_thread{"in a thread_local destructor"};
  require(of_the_thread.when != nullptr, "it is made");
  call("in a thread");
}

#if defined(TALLY_OWN_MALLOC)
/// An invalid argument is reported as such, or as std::bad_alloc of the message.
void without_memory() {
  double result = 42;
  short_of_memory = true;
  const tally_status status = tally_dot(nullptr, 3, TALLY_FLOAT64, x, 0, TALLY_FLOAT64, x, 1,
                                        TALLY_FLOAT64, &result, nullptr);
  const char* const text = tally_last_error();
  short_of_memory = false;
  require(status == TALLY_OUT_OF_MEMORY && std::strcmp(text, "tally: out of memory") == 0,
          "a failure without memory");
  require(result == 42, "nothing is written");
}
#endif

}  // namespace

int main() {
  require(std::atexit([] { call("in a function of atexit"); }) == 0, "atexit");
  std::thread(in_thread).join();
#if defined(TALLY_OWN_MALLOC)
  std::thread(without_memory).join();
#endif
  in_thread();
}
