#!/usr/bin/env python3
"""The sum of one vector, wherever it lies: does it keep its bits? NumPy, PyTorch and Tally beside each other.

usage: layouts.py LIBTALLY [--cuda]

LIBTALLY is a libtally.so; its C interface is called. --cuda adds sums on a GPU, by PyTorch and by Tally. Prints a table
of the values, each with the letter of its bits, and of how many different ones there are. Needs numpy, and torch for
its columns.
"""

import ctypes
import string
import sys

import numpy

try:
    import torch
except ImportError:
    torch = None


class CallOptions(ctypes.Structure):
    """tally_call_options."""

    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.c_int) for name in "grade wait conjugate reserved".split()),
                *((name, ctypes.c_int) for name in "form reserved_too".split()), ("outer", ctypes.c_size_t),
                ("outer_stride", ctypes.c_ssize_t)]


FLOAT32 = 7  # of tally.h
QUEUED = CallOptions(ctypes.sizeof(CallOptions), wait=2)  # TALLY_WAIT_NO
SIZE, BATCH = 3001, 512


class Tally:
    """Sums along the last axis of arrays of floats, by tally.h."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.tally_last_error.restype = ctypes.c_char_p

    def call(self, function, *arguments):
        if function(*arguments) != 0:
            sys.exit(self.c.tally_last_error().decode())

    def executor(self, make, *arguments):
        where = (ctypes.c_uint64 * 8)()
        self.call(getattr(self.c, f"tally_{make}"), where, *arguments)
        return where

    def sums(self, where, address, shape, strides, results):
        k, n = shape
        ldx, incx = (ctypes.c_ssize_t(stride) for stride in strides)
        self.call(self.c.tally_sums, where, ctypes.c_size_t(k), ctypes.c_size_t(n), FLOAT32, ctypes.c_void_p(address),
                  ldx, incx, FLOAT32, ctypes.c_void_p(results), ctypes.byref(QUEUED))

    def of_array(self, where, a):
        results = numpy.empty(a.shape[0], a.dtype)
        self.sums(where, a.ctypes.data, a.shape, [s // a.itemsize for s in a.strides], results.ctypes.data)
        return results[0]

    def of_tensor(self, where, a):
        results = torch.empty(a.shape[0], dtype=a.dtype, device=a.device)
        self.sums(where, a.data_ptr(), a.shape, a.stride(), results.data_ptr())
        torch.cuda.synchronize()
        return results[0].item()


def layouts(row):
    """Arrays whose first row is `row`, by name."""
    batch = numpy.random.default_rng(2).standard_normal((BATCH, row.size), "f4")
    batch[0] = row
    wide = numpy.zeros((BATCH, 2 * row.size), "f4")
    wide[:, ::2] = batch
    return {
        "alone": row[None, :],
        f"in a batch of {BATCH}, C order": batch,
        "the same, Fortran order": numpy.asfortranarray(batch),
        "every second column": wide[:, ::2],
        "columns stored in reverse": numpy.ascontiguousarray(batch[:, ::-1])[:, ::-1],
    }


def on_torch(a, device, threads):
    if any(stride < 0 for stride in a.strides):
        return None
    base = a if a.base is None or a.flags.c_contiguous or a.flags.f_contiguous else a.base
    tensor = torch.from_numpy(numpy.array(base, order="K", copy=True)).to(device)
    tensor = tensor.as_strided(a.shape, [s // a.itemsize for s in a.strides])
    torch.set_num_threads(threads)
    return tensor.sum(dim=1)[0].item(), tensor


def rows_of(tally, with_cuda):
    """Label, and the values by NumPy, PyTorch and Tally."""
    row = numpy.random.default_rng(1).standard_normal(SIZE, "f4")
    executors = {1: tally.executor("openmp", 1), 8: tally.executor("openmp", 8)}
    for name, a in layouts(row).items():
        for threads, where in executors.items():
            by_torch = on_torch(a, "cpu", threads) if torch else None
            by_numpy = a.sum(axis=1)[0] if threads == 1 else None
            yield f"{name}, {threads} thread{'s' * (threads > 1)}", by_numpy, by_torch and by_torch[0], tally.of_array(where, a)
    if not with_cuda:
        return
    where = tally.executor("cuda", -1, None)
    for name, a in layouts(row).items():
        by_torch = on_torch(a, "cuda", 1)
        if by_torch:
            yield f"{name}, on a GPU", None, by_torch[0], tally.of_tensor(where, by_torch[1])


def main():
    arguments = [a for a in sys.argv[1:] if a != "--cuda"]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    seen = [{}, {}, {}]
    print(f"| one row of {SIZE} floats | NumPy | PyTorch | Tally |\n|---|---|---|---|")
    for label, *values in rows_of(Tally(arguments[0]), "--cuda" in sys.argv):
        cells = []
        for letters, value in zip(seen, values):
            letter = "" if value is None else letters.setdefault(float(value), string.ascii_uppercase[len(letters)])
            cells.append(f"{float(value):.9g} {letter}" if letter else "–")
        print(f"| {label} | {' | '.join(cells)} |")
    print(f"| **different values** | {' | '.join(str(len(letters)) for letters in seen)} |")


if __name__ == "__main__":
    main()
