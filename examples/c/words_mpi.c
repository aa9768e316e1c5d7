/* One sum over MPI ranks, with elements in any distribution: each rank adds its part to the limbs
 * of an exact sum, one MPI_Allreduce adds the limbs as integers, and they are rounded once: the
 * bits are one process's. (<tally/mpi.h> has a function for this; here are its steps.)
 *
 * mpiexec -n RANKS words_mpi [ELEMENTS] */
#include <mpi.h>

#include "example.h"

static double element(size_t i) {
  return (i % 2 == 0 ? 1e16 : -1e16) / (double)(i / 2 + 1) + 1.0 / (double)(i + 3);
}

static int64_t* no_words(size_t* count) {
  *count = tally_exact_words(TALLY_FLOAT64);
  int64_t* const words = allocated(*count, sizeof *words);
  memset(words, 0, *count * sizeof *words);
  return words;
}

/* Adds the squares of elements. */
static void add(const double* x, size_t n, int64_t* words) {
  const tally_call_options as_words = {.size = sizeof as_words, .form = TALLY_RESULT_WORDS};
  check(tally_dot(NULL, n, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, words,
                  &as_words));
}

/* One that ended alone would leave the others waiting. */
static void end_ranks(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100003;
  double sum, whole;
  int rank, ranks;
  size_t count, own = 0;
  MPI_Init(&argc, &argv);
  end = end_ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* This rank has the elements i with i mod ranks == rank. */
  double* const x = allocated(n, sizeof *x);
  for (size_t i = (size_t)rank; i < n; i += (size_t)ranks) x[own++] = element(i);
  int64_t* const words = no_words(&count);
  add(x, own, words);
  MPI_Allreduce(MPI_IN_PLACE, words, (int)count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  check(tally_round_words(NULL, 1, TALLY_FLOAT64, words, TALLY_FLOAT64, &sum, NULL));

  /* All elements on one rank, in order. */
  const tally_call_options exactly = {.size = sizeof exactly, .grade = TALLY_GRADE_EXACT};
  for (size_t i = 0; i < n; ++i) x[i] = element(i);
  check(tally_dot(NULL, n, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, &whole,
                  &exactly));

  const int differ = bits(sum) != bits(whole);
  if (rank == 0 || differ) {
    printf("rank %d of %d: %.17g over ranks, %.17g in one process: the bits %s\n", rank, ranks, sum,
           whole, differ ? "DIFFER" : "are the same");
  }
  free(words);
  free(x);
  MPI_Finalize();
  return differ;
}
