"""Times beside NumPy, SciPy and PyTorch on one thread, in turn, the least of many: peer, Tally, their ratio.

python bench/python.py [dot sum ...] runs the rows whose names begin so; --seconds for each row.
"""
import argparse
import math
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy  # noqa: E402

import tally  # noqa: E402

random = numpy.random.default_rng(1)


def rows():
    """A name, a peer's call and Tally's."""
    for n in 8, 100, 10**4, 10**6:
        x, y, keys = random.standard_normal(n), random.standard_normal(n), random.integers(0, 256, n)
        listed, f, g = x.tolist(), x.astype("f4"), y.astype("f4")
        yield f"dot float64 {n}", lambda: numpy.dot(x, y), lambda: tally.dot(x, y)
        yield f"dot float32 {n}", lambda: numpy.dot(f, g), lambda: tally.dot(f, g)
        yield f"sum {n}", lambda: numpy.sum(x), lambda: tally.sum(x)
        yield f"norm {n}", lambda: numpy.linalg.norm(x), lambda: tally.nrm2(x)
        yield f"argmax {n}", lambda: numpy.argmax(x), lambda: tally.argmax(x)
        yield f"exact sum, fsum of the array {n}", lambda: math.fsum(x), lambda: tally.sum(x, exact=True)
        yield f"exact sum, fsum of a list {n}", lambda: math.fsum(listed), lambda: tally.sum(x, exact=True)
        yield f"bincount {n}", lambda: numpy.bincount(keys), lambda: tally.bincount(keys)
        yield f"bincount weights {n}", lambda: numpy.bincount(keys, x), lambda: tally.bincount(keys, x)
        yield f"histogram {n}", lambda: numpy.histogram(x, 50), lambda: tally.histogram(x, 50)
    for shape in (1000, 1000), (10, 10**5), (10**5, 10), (100, 100, 100), (10**6, 3):
        A = random.standard_normal(shape)
        F = numpy.asfortranarray(A)
        for axis in range(len(shape)):
            yield f"sum {shape} axis {axis}", lambda: A.sum(axis), lambda: tally.sum(A, axis)
        yield f"sum {shape} Fortran order", lambda: F.sum(), lambda: tally.sum(F)
    try:
        import scipy.sparse
        for n, density in (100, .05), (10**4, .001), (2 * 10**5, 5e-5):
            B = scipy.sparse.random(n, n, density, "csr", rng=random)
            v, m, fixed = random.standard_normal(n), tally.csr(B), tally.csr(B, fixed_columns=True, fixed_values=True)
            yield f"csr {B.nnz}", lambda: B @ v, lambda: m @ v
            yield f"csr {B.nnz}, fixed", lambda: B @ v, lambda: fixed @ v
    except ImportError:
        pass
    try:
        import torch
        torch.set_num_threads(1)
        for n in 8, 100, 10**4, 10**6:
            t, u = torch.from_numpy(random.standard_normal(n)), torch.from_numpy(random.standard_normal(n))
            yield f"torch dot {n}", lambda: torch.dot(t, u), lambda: tally.dot(t, u)
            yield f"torch sum {n}", lambda: t.sum(), lambda: tally.sum(t)
    except ImportError:
        pass


def best(calls, seconds):
    """Nanoseconds of each call."""
    counts, least = [], [math.inf] * len(calls)
    for call in calls:
        call()
        begin = time.perf_counter()
        call()
        counts.append(max(1, int(2e-4 / max(1e-7, time.perf_counter() - begin))))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(calls):
            begin = time.perf_counter_ns()
            for _ in range(counts[i]):
                call()
            least[i] = min(least[i], (time.perf_counter_ns() - begin) / counts[i])
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=0.3)
    chosen = parser.parse_args()
    for name, peer, ours in rows():
        if not chosen.names or any(name.startswith(each) for each in chosen.names):
            theirs, here = best([peer, ours], chosen.seconds)
            print(f"{name:35s} {theirs:12.0f} ns {here:12.0f} ns {theirs / here:8.2f}", flush=True)


if __name__ == "__main__":
    main()
