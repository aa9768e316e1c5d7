"""NumPy arrays whose own sums are Tally's."""
import numpy

from . import _tally
from ._functions import mean


class ndarray(numpy.ndarray):
    """A NumPy array whose sums, means, dot products and norms are Tally's: numpy.sum(x), x.mean(axis=0), x @ y,
    numpy.add.reduce(x), numpy.linalg.norm(x). What Tally has not, such as where=, is NumPy's.

    Libraries that call numpy.asarray, such as SciPy, see an ordinary array.
    """

    def __array_function__(self, func, types, args, kwargs):
        ours = _functions.get(func)
        if ours is not None:
            result = ours(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        inputs = [_plain(x) for x in inputs]
        result = NotImplemented
        if ufunc is numpy.add and method == "reduce":
            result = _sum(inputs[0], *inputs[1:], out=_plain(out[0]) if out else None, **{"axis": 0, **kwargs})
        elif ufunc is numpy.matmul and method == "__call__" and not kwargs:
            result = _product(*inputs, out=_plain(out[0]) if out else None)
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
        return numpy.mean(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **others)

    def dot(self, other, out=None):
        return numpy.dot(self, other, out)


def asarray(x):
    """A view of x as tally.ndarray."""
    return numpy.asarray(x).view(ndarray)


def _plain(x):
    return x.view(numpy.ndarray) if isinstance(x, ndarray) else x


def _is_read(x):
    return x.dtype.kind in "biufc" and x.dtype.itemsize <= 8 + 8 * (x.dtype.kind == "c")


def _sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    a = numpy.asarray(_plain(a))
    given = initial is not None and initial is not numpy._NoValue or where is not True and where is not numpy._NoValue
    if given or not _is_read(a):
        return NotImplemented
    return _tally.sum(a, axis, dtype=dtype, out=_plain(out), keepdims=keepdims is True)


def _mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    a = numpy.asarray(_plain(a))
    if where is not True and where is not numpy._NoValue or not _is_read(a):
        return NotImplemented
    return mean(a, axis, dtype=dtype, out=_plain(out), keepdims=keepdims is True)


def _product(x, y, out=None):
    x, y = numpy.asarray(_plain(x)), numpy.asarray(_plain(y))
    if (x.ndim, y.ndim) not in ((1, 1), (2, 1), (1, 2)) or not (_is_read(x) and _is_read(y)):
        return NotImplemented
    if y.ndim == 2:
        x, y = y.T, x
    return (_tally.dot if x.ndim == 1 else _tally.multi_dot)(x, y, out=_plain(out))


def _vdot(a, b):
    a, b = (numpy.asarray(_plain(x)).ravel() for x in (a, b))
    return _tally.dot(a, b, conjugate=1) if _is_read(a) and _is_read(b) else NotImplemented


def _norm(x, ord=None, axis=None, keepdims=False):
    x = numpy.asarray(_plain(x))
    of_vectors = ord is None and axis is None or ord == 2 and (x.ndim == 1 or isinstance(axis, int))
    return _tally.nrm2(x, axis, keepdims=keepdims) if of_vectors and _is_read(x) else NotImplemented


_functions = {numpy.sum: _sum, numpy.mean: _mean, numpy.dot: _product, numpy.vdot: _vdot, numpy.linalg.norm: _norm}
