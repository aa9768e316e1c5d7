#!/usr/bin/env python3
"""A dot product and a sum by the libraries of Python that are installed: bits, error, time.

usage: libraries.py [--plot FILE.svg]

Each library adds up one million float64 in four processes: on 1 and 2 threads, with all instructions of the processor and
with few, chosen by the variable that each library has for that. Prints a Markdown table: how many different results there
are, the largest error in units of the last place of the true one, and the least time on one thread.
"""
import argparse
import fractions
import json
import math
import os
import subprocess
import sys
import time

SIZE = 10**6
FEW = {  # the variables that leave instructions out; polars, numexpr, pandas and dask's own have none
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL",
    "OPENBLAS_CORETYPE": "Nehalem", "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2", "ARROW_USER_SIMD_LEVEL": "NONE", "NUMBA_CPU_NAME": "nehalem",
    "NUMBA_CPU_FEATURES": ""}
THREADS = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS NUMBA_NUM_THREADS POLARS_MAX_THREADS".split()


def data():
    """Numbers of many magnitudes, which nearly cancel."""
    import numpy
    random = numpy.random.default_rng(1)
    x = random.standard_normal(SIZE) * numpy.exp2(random.integers(-20, 20, SIZE))
    return numpy.concatenate([x[::2], -x[::2] * (1 + 1e-9 * random.standard_normal(SIZE // 2))]), random.standard_normal(SIZE)


def numpy_calls(x, y, threads):
    import numpy
    return lambda: numpy.sum(x), lambda: numpy.dot(x, y)


def scipy_calls(x, y, threads):
    from scipy.linalg import blas
    import numpy
    ones = numpy.ones_like(x)
    return lambda: blas.ddot(x, ones), lambda: blas.ddot(x, y)


def pandas_calls(x, y, threads):
    import pandas
    u, v = pandas.Series(x), pandas.Series(y)
    return u.sum, lambda: u.dot(v)


def pytorch_calls(x, y, threads):
    import torch
    torch.set_num_threads(threads)
    u, v = torch.from_numpy(x), torch.from_numpy(y)
    return lambda: u.sum(), lambda: torch.dot(u, v)


def jax_calls(x, y, threads):
    import jax
    jax.config.update("jax_enable_x64", True)
    u, v = jax.numpy.asarray(x), jax.numpy.asarray(y)
    total, dot = jax.jit(jax.numpy.sum), jax.jit(jax.numpy.dot)
    return lambda: total(u).block_until_ready(), lambda: dot(u, v).block_until_ready()


def polars_calls(x, y, threads):
    import polars
    u, v = polars.Series(x), polars.Series(y)
    return u.sum, lambda: u.dot(v)


def pyarrow_calls(x, y, threads):
    import pyarrow
    import pyarrow.compute
    pyarrow.set_cpu_count(threads)
    u, v = pyarrow.array(x), pyarrow.array(y)
    return (lambda: pyarrow.compute.sum(u).as_py(),
            lambda: pyarrow.compute.sum(pyarrow.compute.multiply(u, v)).as_py())


def numexpr_calls(x, y, threads):
    import numexpr
    names = {"x": x, "y": y}
    return lambda: numexpr.evaluate("sum(x)", names), lambda: numexpr.evaluate("sum(x * y)", names)


def numba_calls(x, y, threads):
    import numba

    @numba.njit(fastmath=True, parallel=True)
    def total(x):
        s = 0.
        for i in numba.prange(len(x)):
            s += x[i]
        return s

    @numba.njit(fastmath=True, parallel=True)
    def dot(x, y):
        s = 0.
        for i in numba.prange(len(x)):
            s += x[i] * y[i]
        return s

    return lambda: total(x), lambda: dot(x, y)


def dask_calls(x, y, threads):
    import dask
    import dask.array
    dask.config.set(scheduler="threads", num_workers=threads)
    chunks = -(-len(x) // threads)  # a chunk per thread
    u, v = dask.array.from_array(x, chunks), dask.array.from_array(y, chunks)
    return lambda: u.sum().compute(), lambda: u.dot(v).compute()


def fsum_calls(x, y, threads):
    import math
    u, v = x.tolist(), y.tolist()  # sumprod is exact for lists of float alone
    return lambda: math.fsum(u), lambda: math.sumprod(u, v)


def xsum_calls(x, y, threads):
    import xsum

    def added(add, *vectors):
        sum = xsum.xsum_large()
        getattr(sum, add)(*vectors)
        return sum.round()

    return lambda: added("add", x), lambda: added("add_dot", x, y)


def tally_calls(x, y, threads):
    import tally
    where = tally.openmp(threads) if "openmp" in tally.executors() else tally.simd()
    if "XLA_FLAGS" in os.environ:
        where = tally.serial()  # plain loops: no vector instructions but those of the baseline
    return lambda: tally.sum(x, backend=where), lambda: tally.dot(x, y, backend=where)


def exact_calls(x, y, threads):
    import tally
    where = tally.serial() if "XLA_FLAGS" in os.environ else tally.openmp(threads)
    return lambda: tally.sum(x, exact=True, backend=where), lambda: tally.dot(x, y, exact=True, backend=where)


LIBRARIES = {"NumPy": numpy_calls, "SciPy's OpenBLAS": scipy_calls, "pandas": pandas_calls, "PyTorch": pytorch_calls,
             "JAX": jax_calls, "polars": polars_calls, "PyArrow": pyarrow_calls, "numexpr": numexpr_calls,
             "Numba, fastmath": numba_calls, "dask": dask_calls, "`math.fsum`, `sumprod`": fsum_calls, "xsum": xsum_calls,
             "**Tally**": tally_calls, "**Tally, exact**": exact_calls}


def measured(name, threads, seconds):
    """Results as hexadecimal numbers, and the least ms."""
    x, y = data()
    found = []
    for call in LIBRARIES[name](x, y, threads):
        result, least, end = float(call()).hex(), float("inf"), time.perf_counter() + seconds
        while time.perf_counter() < end:
            begin = time.perf_counter()
            call()
            least = min(least, time.perf_counter() - begin)
        found.append([result, 1e3 * least])
    return found


def run(name, threads, variables):
    """One process; only the first of a library's four is timed."""
    seconds = 0.7 if threads == 1 and not variables else 0
    environment = {**os.environ, **variables, **dict.fromkeys(THREADS, str(threads))}
    done = subprocess.run([sys.executable, __file__, "--one", name, str(threads), str(seconds)], env=environment,
                          capture_output=True, text=True)
    if done.returncode != 0:
        if "ModuleNotFoundError" not in done.stderr:
            print(f"{name}, {threads} threads: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def true_results():
    x, y = ([number.as_integer_ratio() for number in vector.tolist()] for vector in data())
    unit = 1 << 2200  # denominators are powers of two, and smaller
    return [fractions.Fraction(sum(n * (unit // d) for n, d in x), unit),
            fractions.Fraction(sum(n * m * (unit // (d * e)) for (n, d), (m, e) in zip(x, y)), unit)]


def ulps(result, true):
    """The error in units of the last place of the true result."""
    import numpy
    return abs(float((fractions.Fraction(float.fromhex(result)) - true) / fractions.Fraction(float(numpy.spacing(abs(float(true)))))))


def rows():
    """Library, and for the sum and the dot product: number of results, error, ms."""
    true = true_results()
    for name in LIBRARIES:
        runs = [run(name, threads, few) for few in ({}, FEW) for threads in (1, 2)]
        if all(runs):
            yield name, [(len({r[i][0] for r in runs}), max(ulps(r[i][0], true[i]) for r in runs), runs[0][i][1]) for i in (0, 1)]


def draw(table, path):
    """An SVG with a row per library: the error, in the marker the number of results, and at the right the time."""
    width, step, top, names = 900, 19, 58, 140
    panel, bottom = (width - names) // 2, top + step * len(table)
    shapes = []

    def text(x, y, content, **style):
        attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
        shapes.append(f'<text x="{x:.0f}" y="{y:.0f}"{attributes}>{content}</text>')

    text(width / 2, 16, "Results on 1 and 2 threads, with all and few of the processor's instructions: their number and error, "
         "and the time on one thread", text_anchor="middle")
    for i, title in enumerate(("sum", "dot product")):
        errors = [math.log10(values[i][1]) for _, values in table]
        low, high = math.floor(min(errors)), math.ceil(max(errors))
        left, right = names + i * panel + 10, names + (i + 1) * panel - 60

        def place(exponent):
            return left + (right - left) * (exponent - low) / (high - low)

        text((left + right) / 2, 38, f"{title} of a million float64", text_anchor="middle", font_weight="bold")
        for exponent in range(low, high + 1, 2 if high - low > 6 else 1):
            shapes.append(f'<path d="M{place(exponent):.0f} {top - 8}V{bottom - 8}" stroke="#ddd"/>')
            text(place(exponent), bottom + 6, f'10<tspan dy="-4" font-size="8">{exponent}</tspan>', text_anchor="middle")
        text((left + right) / 2, bottom + 22, "error, units in the last place", text_anchor="middle")
        for row, (name, values) in enumerate(table):
            count, error, ms = values[i]
            x, y = place(math.log10(error)), top + step * row
            shapes.append(f'<circle cx="{x:.0f}" cy="{y}" r="8" fill="{"#1b7837" if count == 1 else "#c51b7d"}"/>')
            text(x, y + 4, count, text_anchor="middle", fill="white")
            text(right + 54, y + 4, f"{ms:.2g} ms", text_anchor="end")
            if i == 0:
                text(names - 8, y + 4, name.strip("*").replace("`", ""), text_anchor="end",
                     font_weight="bold" if "Tally" in name else "normal")
    height = bottom + 30
    with open(path, "w") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
                  f'font-size="11">\n<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(shapes) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--one", nargs=3, metavar=("LIBRARY", "THREADS", "SECONDS"), help="one process of the measurement")
    chosen = parser.parse_args()
    if chosen.one:
        return print(json.dumps(measured(chosen.one[0], int(chosen.one[1]), float(chosen.one[2]))))
    table = list(rows())
    print("| | sum: results | error, ulp | ms | dot product: results | error, ulp | ms |\n|---|---|---|---|---|---|---|")
    for name, values in table:
        cells = " | ".join(f"{count} | {error:.3g} | {ms:.3g}" for count, error, ms in values)
        print(f"| {name} | {cells} |", flush=True)
    if chosen.plot:
        draw(table, chosen.plot)


if __name__ == "__main__":
    main()
