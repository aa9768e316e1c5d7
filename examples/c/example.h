/* Helpers of these programs: errors end them. */
#ifndef TALLY_EXAMPLES_C_EXAMPLE_H
#define TALLY_EXAMPLES_C_EXAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

/* Ends the program; programs of several ranks replace it. */
static void (*end)(int) = exit;

static inline void fail(const char* why) {
  fprintf(stderr, "%s\n", why);
  end(EXIT_FAILURE);
}

/* Ends the program with the library's message unless a call succeeded. */
static inline void check(tally_status status) {
  if (status != TALLY_SUCCESS) fail(tally_last_error());
}

static inline void* allocated(size_t count, size_t size) {
  void* const memory = count <= SIZE_MAX / size ? malloc(count > 0 ? count * size : 1) : NULL;
  if (memory == NULL) fail("There is no memory left.");
  return memory;
}

/* Fills `all`, of room for 16, with usable executors; returns their number. */
static inline size_t usable_executors(tally_executor* all) {
  const char* names[16];
  int usable[16];
  size_t i, count, found = 0;
  check(tally_executors(16, names, usable, &count));
  for (i = 0; i < count; ++i) {
    if (usable[i]) check(tally_executor_named(&all[found++], names[i]));
  }
  return found;
}

static inline uint64_t bits(double value) {
  uint64_t b;
  memcpy(&b, &value, sizeof b);
  return b;
}

#endif
