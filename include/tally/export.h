/* Marks the shared library's symbols; all others are hidden. */
#ifndef TALLY_EXPORT
#if defined(__GNUC__)
#define TALLY_EXPORT __attribute__((visibility("default")))
#else
#define TALLY_EXPORT
#endif
#endif
