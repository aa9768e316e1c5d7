"""NumPy arrays whose own sums are Tally's."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from . import _tally
from ._functions import mean, vdot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ndarray(numpy.ndarray):
    """A NumPy array whose sums, means, dot products and norms are Tally's: numpy.sum(x), x.mean(axis=0), x @ y,
    numpy.add.reduce(x), numpy.linalg.norm(x). What Tally has not, such as where=, is NumPy's.

    Libraries that call numpy.asarray, such as SciPy, see an ordinary array.
    """

    def __array_function__(self, func, types, args, kwargs):
        ours = _functions.get(func)
        result = NotImplemented if ours is None else _tried(ours, *args, **kwargs)
        if result is not NotImplemented:
            return result
        return super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        inputs = [_plain(x) for x in inputs]
        kwargs = {name: _plain(x) for name, x in kwargs.items()}
        result = NotImplemented
        if ufunc is numpy.add and method == "reduce":
            result = _tried(_sum, *inputs, out=_plain(out[0]) if out else None, **{"axis": 0, **kwargs})
        elif ufunc is numpy.matmul and method == "__call__" and not kwargs:
            result = _tried(_product, *inputs, out=_plain(out[0]) if out else None)
        if result is NotImplemented:
            if out:
                kwargs["out"] = tuple(_plain(x) for x in out)
            result = getattr(ufunc, method)(*inputs, **kwargs)
        if out:
            return out[0] if len(out) == 1 else out
        return result.view(ndarray) if type(result) is numpy.ndarray else result

    def sum(self, axis=None, dtype=None, out=None, keepdims=False, **others):
        return numpy.add.reduce(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **others)

    def mean(self, axis=None, dtype=None, out=None, keepdims=False, **others):
        result = _tried(_mean, self, axis, dtype, out, keepdims, **others)
        return super().mean(axis, dtype, out, keepdims, **others) if result is NotImplemented else result

    def dot(self, other, out=None):
        return numpy.dot(self, other, out)


def asarray(x: ArrayLike) -> ndarray:
    """A view of x as tally.ndarray."""
    return numpy.asarray(x).view(ndarray)


def _plain(x):
    return x.view(numpy.ndarray) if isinstance(x, ndarray) else x


def _tried(f, *args, **kwargs):
    """NotImplemented for types and arguments that Tally has not."""
    try:
        return f(*args, **kwargs)
    except TypeError:
        return NotImplemented


def _is_given(x, default):
    return x is not default and x is not numpy._NoValue


def _kept(keepdims):
    return keepdims is not numpy._NoValue and bool(keepdims)


def _sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    if _is_given(initial, None) or _is_given(where, True):
        return NotImplemented
    return _tally.sum(_plain(a), axis, dtype=dtype, out=_plain(out), keepdims=_kept(keepdims))


def _mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    if _is_given(where, True):
        return NotImplemented
    return mean(_plain(a), axis, dtype=dtype, out=_plain(out), keepdims=_kept(keepdims))


def _product(x, y, out=None):
    x, y = numpy.asarray(_plain(x)), numpy.asarray(_plain(y))
    if (x.ndim, y.ndim) not in ((1, 1), (2, 1), (1, 2)):
        return NotImplemented
    if y.ndim == 2:
        x, y = y.T, x
    return (_tally.dot if x.ndim == 1 else _tally.multi_dot)(x, y, out=_plain(out))


def _vdot(a, b):
    return vdot(*(numpy.asarray(_plain(x)).ravel() for x in (a, b)))


def _norm(x, ord=None, axis=None, keepdims=False):
    x = numpy.asarray(_plain(x))
    n = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    is_root = ord is None and (axis is None or n in (1, 2)) or ord == 2 and n == 1 or ord == "fro" and n == 2
    return _tally.nrm2(x, axis, keepdims=bool(keepdims)) if is_root else NotImplemented


_functions = {numpy.sum: _sum, numpy.mean: _mean, numpy.dot: _product, numpy.vdot: _vdot, numpy.linalg.norm: _norm}
