/* Conjugate gradients on the 5-point Laplacian of N x N points, b all ones, on every executor. The
 * hash is of the bits of all iterates, as printed by the C++ example: cg --grid N.
 *
 * spmv [N [HASH]]   fails unless the hash is that one */
#include <math.h>

#include "example.h"

enum { F64 = TALLY_FLOAT64 };

static void* placed(const tally_executor* where, const void* data, size_t bytes) {
  void* memory;
  check(tally_device_alloc(where, bytes, &memory));
  check(tally_device_copy(where, memory, data, bytes));
  return memory;
}

/* 4 on the diagonal, -1 for each neighbour. */
static tally_csr laplacian(int n) {
  static const int neighbours[5][2] = {{-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}};
  const size_t rows = (size_t)n * (size_t)n;
  int32_t* const offsets = allocated(rows + 1, sizeof *offsets);
  int32_t* const columns = allocated(5 * rows, sizeof *columns);
  double* const values = allocated(5 * rows, sizeof *values);
  int32_t terms = 0;
  offsets[0] = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < 5; ++k) {
        const int r = i + neighbours[k][0], c = j + neighbours[k][1];
        if (r < 0 || r == n || c < 0 || c == n) continue;
        columns[terms] = r * n + c;
        values[terms++] = k == 2 ? 4 : -1;
      }
      offsets[i * n + j + 1] = terms;
    }
  }
  return (tally_csr){.size = sizeof(tally_csr),
                     .rows = rows,
                     .columns = rows,
                     .nonzeros = (size_t)terms,
                     .row_offsets = offsets,
                     .column_indices = columns,
                     .values = values,
                     .offset_type = TALLY_INT32,
                     .column_type = TALLY_INT32,
                     .value_type = F64,
                     .fixed_values = 1};
}

/* Solves; returns the hash of all iterates. */
static uint64_t solve(const tally_executor* where, const tally_csr* a) {
  const size_t n = a->rows, bytes = n * sizeof(double);
  const double one = 1, minus_one = -1;
  double* const iterate = allocated(n, sizeof *iterate);
  tally_csr m = *a;
  tally_spmv_plan* plan;
  uint64_t hash = 0xcbf29ce484222325;
  double rr, norm;
  double *x, *r, *p, *q;
  int k = 0;

  m.row_offsets = placed(where, a->row_offsets, (n + 1) * sizeof(int32_t));
  m.column_indices = placed(where, a->column_indices, a->nonzeros * sizeof(int32_t));
  m.values = placed(where, a->values, a->nonzeros * sizeof(double));
  check(tally_spmv_plan_create(where, &m, &plan));
  memset(iterate, 0, bytes);
  x = placed(where, iterate, bytes);
  r = placed(where, iterate, bytes);
  p = placed(where, iterate, bytes);
  q = placed(where, iterate, bytes);
  check(tally_fill(where, n, F64, &one, F64, r, 1, NULL));
  check(tally_fill(where, n, F64, &one, F64, p, 1, NULL));
  check(tally_dot(where, n, F64, r, 1, F64, r, 1, F64, &rr, NULL));
  norm = sqrt(rr);
  while (!(sqrt(rr) / norm <= 1e-10) && k < 10000) {
    double alpha, back, beta, pq, next;
    check(tally_spmv(where, plan, F64, &one, &m, F64, p, 1, 0, NULL, F64, q, 1, NULL));
    check(tally_dot(where, n, F64, p, 1, F64, q, 1, F64, &pq, NULL));
    alpha = rr / pq;
    back = minus_one * alpha;
    check(tally_axpy(where, n, F64, &alpha, F64, p, 1, F64, x, 1, NULL));
    check(tally_axpy(where, n, F64, &back, F64, q, 1, F64, r, 1, NULL));
    check(tally_dot(where, n, F64, r, 1, F64, r, 1, F64, &next, NULL));
    beta = next / rr;
    check(tally_axpby(where, n, F64, &one, F64, r, 1, F64, &beta, F64, p, 1, NULL));
    rr = next;
    ++k;
    check(tally_device_copy(where, iterate, x, bytes));
    for (size_t i = 0; i < n; ++i) hash = (hash ^ bits(iterate[i])) * 0x100000001b3;
  }
  tally_spmv_plan_destroy(plan);
  check(tally_device_free(where, q));
  check(tally_device_free(where, p));
  check(tally_device_free(where, r));
  check(tally_device_free(where, x));
  check(tally_device_free(where, (void*)m.values));
  check(tally_device_free(where, (void*)m.column_indices));
  check(tally_device_free(where, (void*)m.row_offsets));
  free(iterate);
  printf("%d iterations, %016llx\n", k, (unsigned long long)hash);
  return hash;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 60;
  uint64_t expected = argc > 2 ? strtoull(argv[2], NULL, 16) : 0;
  tally_executor executors[16];
  const size_t count = usable_executors(executors);
  tally_csr a;
  int differ = 0;

  if (n < 1 || n > 20000) {
    fputs("N is 1 to 20000.\n", stderr);
    return EXIT_FAILURE;
  }
  a = laplacian(n);
  for (size_t i = 0; i < count; ++i) {
    const char* name;
    uint64_t hash;
    check(tally_executor_name(&executors[i], &name));
    printf("%-8s ", name);
    hash = solve(&executors[i], &a);
    if (i == 0 && argc <= 2) expected = hash;
    differ |= hash != expected;
  }
  puts(differ ? "The hashes DIFFER." : "All iterates have equal bits.");
  free((void*)a.row_offsets);
  free((void*)a.column_indices);
  free((void*)a.values);
  return differ;
}
