"""Sums, products and other memory-bound kernels whose bits depend on values and their order alone: not on the memory
layout, the axis, the threads, the processor or the device. docs/python.md describes the package."""
import copyreg as _copyreg

from . import _tally
from ._tally import *  # noqa: F403
from ._exact_sum import exact_sum as exact_sum
from ._functions import compare as compare, histogram as histogram, mean as mean, vdot as vdot
from ._ndarray import asarray as asarray, ndarray as ndarray
from ._sparse import csr as csr

_copyreg.pickle(type(_tally.sum), lambda f: f.__qualname__)  # by name, as Python's own functions
