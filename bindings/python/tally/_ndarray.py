"""NumPy arrays whose own sums are Tally's."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from . import _libraries, _tally
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
        return super().__array_function__(func, types, args, kwargs) if result is NotImplemented else result

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        inputs = [_plain(x) for x in inputs]
        kwargs = {name: _plain(x) for name, x in kwargs.items()}
        result = NotImplemented
        if ufunc is numpy.add and method == "reduce":
            result = _tried(_sum, *inputs, out=out[0] if out else None, **{"axis": 0, **kwargs})
        elif ufunc is numpy.matmul and method == "__call__" and not kwargs:
            result = _tried(_product, *inputs, out=out[0] if out else None)
        if result is not NotImplemented:
            return result
        if out:
            kwargs["out"] = tuple(_plain(x) for x in out)
        result = getattr(ufunc, method)(*inputs, **kwargs)
        if isinstance(result, tuple):
            return tuple(_given(x, y) for x, y in zip(result, out or (None,) * len(result)))
        return _given(result, out[0] if out else None)

    def sum(self, axis=None, dtype=None, out=None, keepdims=False, **others):
        return numpy.add.reduce(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **others)

    def mean(self, axis=None, dtype=None, out=None, keepdims=False, **others):
        result = _tried(_mean, self, axis, dtype, out, keepdims, **others)
        return super().mean(axis, dtype, out, keepdims, **others) if result is NotImplemented else result

    def dot(self, other, out=None):
        return numpy.dot(self, other, out)


def asarray(x: ArrayLike) -> ndarray:
    """A view of x as tally.ndarray."""
    return _libraries.as_numpy(x).view(ndarray)


def _plain(x):
    return x.view(numpy.ndarray) if isinstance(x, ndarray) else x


def _given(result, out=None):
    """The caller's out, which has the result, or a new array as one of Tally's."""
    if out is not None:
        return out
    return result.view(ndarray) if type(result) is numpy.ndarray else result


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
    return _given(_tally.sum(_plain(a), axis, dtype=dtype, out=_plain(out), keepdims=_kept(keepdims)), out)


def _mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    if _is_given(where, True):
        return NotImplemented
    return _given(mean(_plain(a), axis, dtype=dtype, out=_plain(out), keepdims=_kept(keepdims)), out)


def _product(x, y, out=None):
    x, y = _libraries.as_numpy(x), _libraries.as_numpy(y)
    if (x.ndim, y.ndim) not in ((1, 1), (2, 1), (1, 2)):
        return NotImplemented
    if y.ndim == 2:
        x, y = y.T, x
    return _given((_tally.dot if x.ndim == 1 else _tally.multi_dot)(x, y, out=_plain(out)), out)


def _vdot(a, b):
    return vdot(*(_libraries.as_numpy(x).ravel() for x in (a, b)))


def _norm(x, ord=None, axis=None, keepdims=False):
    x = _libraries.as_numpy(x)
    n = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    is_root = ord is None and (axis is None or n in (1, 2)) or ord == 2 and n == 1 or ord == "fro" and n == 2
    return _given(_tally.nrm2(x, axis, keepdims=bool(keepdims))) if is_root else NotImplemented


_functions = {numpy.sum: _sum, numpy.mean: _mean, numpy.dot: _product, numpy.vdot: _vdot, numpy.linalg.norm: _norm}
