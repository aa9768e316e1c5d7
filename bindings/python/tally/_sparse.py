"""Sparse matrices."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from . import _tally

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._tally import Backend


class csr:
    """A sparse matrix in compressed rows, whose arrays it keeps: A is one of SciPy's, or (data, indices, indptr), of
    which the last two are int32 or int64, with shape=. It is checked, and analysed for repeated products (plan=False:
    not). fixed_columns and fixed_values promise that indices, or data too, won't change; products are then faster.
    """
    __array_ufunc__ = None  # ndarray @ csr calls __rmatmul__

    def __init__(self, A: Any, shape: tuple[int, int] | None = None, *, fixed_columns: bool = False,
                 fixed_values: bool = False, plan: bool = True, backend: Backend = None):
        if isinstance(A, tuple):
            data, indices, indptr = A
            if shape is None:
                raise TypeError("tally.csr: a matrix of three arrays needs its shape")
        elif not hasattr(A, "tocsr"):
            raise TypeError(f"tally.csr: A is of type {type(A).__name__}; it may be one of SciPy's sparse matrices or "
                            "(data, indices, indptr)")
        else:
            if A.format != "csr":
                A = A.tocsr()
            data, indices, indptr, shape = A.data, A.indices, A.indptr, A.shape
        self.shape = tuple(map(operator.index, shape))
        if len(self.shape) != 2:
            raise ValueError(f"tally.csr: the shape {self.shape} has not two numbers")
        self._transposed = False
        self._matrix = _tally._csr(*self.shape, indptr, indices, data, fixed_columns, fixed_values, plan, backend)

    @property
    def T(self) -> csr:
        """The transpose, of the same arrays."""
        other = object.__new__(csr)
        other.shape, other._matrix, other._transposed = self.shape[::-1], self._matrix, not self._transposed
        return other

    @property
    def plan(self) -> str:
        """How rows are summed, and why; empty without a plan."""
        return self._matrix.plan

    def dot(self, x: ArrayLike, *, exact: bool = False, out: Any = None) -> Any:
        """A x, in the order of the rows' terms; exact: each element's sum is rounded once. x is a vector, or an array of
        two dimensions, whose columns' products have the bits of each alone."""
        return self._matrix.times(x, self._transposed, exact, out, 0)

    def __matmul__(self, x: ArrayLike) -> Any:
        return self.dot(x)

    def __rmatmul__(self, x: ArrayLike) -> Any:
        return self._matrix.times(x, not self._transposed, False, None, 1)

    def __repr__(self):
        return f"<tally.csr of shape {self.shape}>"
