/* Dot products of float64 values with an int8 mask, in two grades, on every executor, with the same
 * bits. Host data; a workspace brings them to a GPU.
 *
 * dot [ELEMENTS] */
#include "example.h"

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000003;
  const tally_call_options exactly = {.size = sizeof exactly, .grade = TALLY_GRADE_EXACT};
  double* const values = allocated(n, sizeof *values);
  int8_t* const mask = allocated(n, sizeof *mask);
  tally_executor executors[16];
  const size_t count = usable_executors(executors);
  uint64_t expected[2] = {0, 0};
  int differ = 0;

  for (size_t i = 0; i < n; ++i) {
    values[i] = 1.0 / (double)(i + 1);
    mask[i] = (int8_t)(i % 3) - 1;
  }
  for (size_t i = 0; i < count; ++i) {
    tally_workspace* workspace;
    tally_executor where;
    const char* name;
    double sums[2];
    check(tally_workspace_create(&executors[i], NULL, &workspace));
    check(tally_workspace_executor(workspace, &where));
    check(tally_executor_name(&where, &name));
    check(tally_dot(&where, n, TALLY_FLOAT64, values, 1, TALLY_INT8, mask, 1, TALLY_FLOAT64,
                    &sums[0], NULL));
    check(tally_dot(&where, n, TALLY_FLOAT64, values, 1, TALLY_INT8, mask, 1, TALLY_FLOAT64,
                    &sums[1], &exactly));
    tally_workspace_destroy(workspace);
    printf("%-8s default %.17g, exact %.17g\n", name, sums[0], sums[1]);
    for (int g = 0; g < 2; ++g) {
      if (i == 0) expected[g] = bits(sums[g]);
      differ |= bits(sums[g]) != expected[g];
    }
  }
  puts(differ ? "The bits DIFFER." : "The bits are the same.");
  free(mask);
  free(values);
  return differ;
}
