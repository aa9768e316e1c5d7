"""Sums that are not rounded yet."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from . import _tally

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._tally import Backend


class exact_sum:
    """The exact sum of all that was added: int64 words, which parts of a sum add up to in any order.

    exact_sum(x) begins with the elements of x, exact_sum(x, y) with their products. dtype is float64, of any operands;
    float32, with fewer words, of all but doubles; or complex128, complex64.
    """
    __slots__ = ("_words", "dtype")
    __hash__ = None

    def __init__(self, x: ArrayLike | None = None, y: ArrayLike | None = None, *, dtype: DTypeLike = "float64"):
        self.dtype = numpy.dtype(dtype).newbyteorder("=")
        self._words = numpy.zeros(_tally._exact_words(self.dtype), numpy.int64)
        if y is not None:
            if x is None:
                raise TypeError("tally.exact_sum: y is given, x is not")
            self.add_products(x, y)
        elif x is not None:
            self.add(x)

    @classmethod
    def from_words(cls, words: ArrayLike, dtype: DTypeLike = "float64") -> exact_sum:
        """The sum of these words, such as the sum of the words of several sums."""
        made = cls(dtype=dtype)
        _tally._merge_words(made._words, made.dtype, numpy.asarray(words).astype(numpy.int64, casting="same_kind"))
        return made

    @property
    def words(self) -> numpy.ndarray:
        """The words themselves, in normal form: equal sums have equal words. They may be added to, as by MPI."""
        _tally._merge_words(self._words, self.dtype)
        return self._words

    def add(self, x: ArrayLike, *, backend: Backend = None) -> exact_sum:
        """Adds all elements."""
        _tally._add_sum(self._words, self.dtype, x, backend)
        return self

    def add_products(self, x: ArrayLike, y: ArrayLike, *, conjugate: int = 0, backend: Backend = None) -> exact_sum:
        """Adds the dot product of two vectors."""
        _tally._add_products(self._words, self.dtype, x, y, conjugate, backend)
        return self

    def merge(self, other: exact_sum) -> exact_sum:
        """Adds another sum of this type."""
        if not isinstance(other, exact_sum):
            raise TypeError(f"tally.exact_sum: an object of type {type(other).__name__} is no exact_sum")
        if self.dtype != other.dtype:
            raise TypeError(f"tally.exact_sum: one sum is of {self.dtype}, the other of {other.dtype}")
        others = other._words.copy() if other is self else other._words
        _tally._merge_words(self._words, self.dtype, others)
        return self

    def round(self, dtype: DTypeLike | None = None) -> Any:
        """The nearest number of a type: float32, float64 or a complex one."""
        return _tally._round_words(self._words, self.dtype, self.dtype if dtype is None else dtype)

    def root(self, dtype: DTypeLike | None = None) -> Any:
        """The nearest number to the square root, as of nrm2."""
        return _tally._round_words(self._words, self.dtype, self.dtype if dtype is None else dtype, True)

    def copy(self) -> exact_sum:
        """An independent copy."""
        return exact_sum.from_words(self._words, self.dtype)

    __copy__ = copy
    __iadd__ = merge

    def __deepcopy__(self, memo):
        return self.copy()

    def __add__(self, other: exact_sum) -> exact_sum:
        return self.copy().merge(other) if isinstance(other, exact_sum) else NotImplemented

    def __radd__(self, other: int) -> exact_sum:  # the built-in sum begins with 0
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other):
        if not isinstance(other, exact_sum) or self.dtype != other.dtype:
            return NotImplemented
        return bool((self.words == other.words).all())

    def __float__(self) -> float:
        return float(self.round())

    def __complex__(self) -> complex:
        return complex(self.round())

    def __reduce__(self):
        return exact_sum.from_words, (self.words.copy(), self.dtype.name)

    def __repr__(self):
        return f"<tally.exact_sum of {self.dtype}: {self.round()}>"
