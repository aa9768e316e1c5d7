"""Functions made of others."""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy

from . import _libraries, _tally

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._tally import Axis, Backend, Number

_COMPARISONS = ("less", "less_equal", "equal", "not_equal", "greater_equal", "greater")  # tally_comparison


def compare(x: ArrayLike, comparison: str, y: Number, out: Any = None, *, dtype: DTypeLike | None = None,
            backend: Backend = None) -> Any:
    """Whether x_i compares with y_i, or with a number y: "less", "less_equal", "equal", "not_equal", "greater_equal" or
    "greater". With a NaN only "not_equal" is true. A new result is of bool."""
    if comparison not in _COMPARISONS:
        raise ValueError(f"tally.compare: the comparison is {comparison!r}, not one of {', '.join(_COMPARISONS)}")
    compared = _tally._compare_constant if numpy.ndim(y) == 0 else _tally._compare
    return compared(x, _COMPARISONS.index(comparison), y, out, dtype=dtype, backend=backend)


def vdot(x: ArrayLike, y: ArrayLike, *, exact: bool = False, dtype: DTypeLike | None = None, out: Any = None,
         backend: Backend = None) -> Any:
    """sum_i conj(x_i) y_i of two vectors, as dot(x, y, conjugate=1)."""
    return _tally.dot(x, y, exact=exact, conjugate=1, dtype=dtype, out=out, backend=backend)


def mean(x: ArrayLike, axis: Axis = None, *, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
         exact: bool = False, backend: Backend = None) -> Any:
    """The sum, divided by the number of its elements and rounded again; of integers in float64."""
    if not hasattr(x, "shape"):
        x = numpy.asarray(x)
    name = _libraries.type_name(x)
    if name == "uint64":  # whose sums are modulo 2^64
        x = _libraries.converted(x, "float64")
    elif dtype is None and name.lstrip("u").startswith(("int", "bool")):
        dtype = "float64"
    total = _tally.sum(x, axis, dtype=dtype, keepdims=keepdims, exact=exact, backend=backend)
    over = range(len(x.shape)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    n = math.prod(x.shape[i] for i in over)
    result = _libraries.divided(total, n)
    return result if out is None else _libraries.written("mean", result, out)


def _flat(x):
    """A vector of all elements, of the array's library."""
    if isinstance(x, numpy.ndarray) or not hasattr(x, "__dlpack__"):
        return _libraries.as_numpy(x).ravel()
    return x if getattr(x, "ndim", 1) == 1 else x.reshape(-1)


def _rounded_as_by(edges, x):
    """x, or where edges are above 2^53 its integers in float64, in which NumPy compares them with these."""
    is_large = edges.ndim == 1 and edges.size > 1 and edges.dtype.kind == "f" and max(-edges[0], edges[-1]) >= 2**53
    return _libraries.converted(x, "float64") if is_large and _libraries.type_name(x) == "int64" else x


def histogram(x: ArrayLike, bins: int | ArrayLike = 10, range: tuple[float, float] | None = None,
              weights: ArrayLike | None = None, *, backend: Backend = None) -> tuple[Any, Any]:
    """numpy.histogram: counts and edges, equal to NumPy's. With weights each bin has the exact sum of its weights,
    rounded once. bins is a number or edges."""
    x = _flat(x)
    weights = None if weights is None else _flat(weights)
    if numpy.ndim(bins) > 0:
        edges = numpy.ascontiguousarray(bins)
        return _tally._histogram(_rounded_as_by(edges, x), edges, weights, backend), edges
    try:
        bins = operator.index(bins)
    except TypeError:
        raise TypeError(f"tally.histogram: bins is {bins!r}, neither a number of bins nor edges") from None
    if bins < 1:
        raise ValueError(f"tally.histogram: bins is {bins}, not positive")
    lower, upper = range if range is not None else _tally.minmax(x) if len(x) else (0, 1)
    lower, upper = (e if isinstance(e, numpy.generic) else float(e) for e in (lower, upper))
    if not (lower <= upper and math.isfinite(lower) and math.isfinite(upper)):
        raise ValueError(f"tally.histogram: the range [{lower}, {upper}] is not finite, or the first number is larger")
    if lower == upper:
        lower, upper = lower - 0.5, upper + 0.5
    dtype = numpy.result_type(lower, upper, x) if isinstance(x, numpy.ndarray) else numpy.dtype(float)  # NumPy's rule
    dtype = dtype if dtype.kind == "f" else numpy.dtype(float)
    with numpy.errstate(all="ignore"):
        edges = numpy.linspace(lower, upper, bins + 1, dtype=dtype)
    if not (edges[:-1] < edges[1:]).all():
        raise ValueError(f"tally.histogram: the range [{lower}, {upper}] has no {bins} bins")
    if dtype.itemsize < 8:
        return _tally._histogram(x, edges, weights, backend), edges
    x = _rounded_as_by(edges, x)
    return _tally._histogram_even(x, float(lower), float(upper), bins, weights, backend), edges
