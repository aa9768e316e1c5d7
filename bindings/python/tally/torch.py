"""PyTorch: operators for autograd and torch.compile, and a mode in which PyTorch's own sums are Tally's.

tally.sum(tensor) itself is faster and has no gradient; use these under torch.compile, or where gradients are needed.
"""
import torch
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from . import _tally

__all__ = ["dot", "mean", "mv", "nrm2", "sum", "sums"]


def _accumulator(*tensors):
    """Tally's type of a sum of products."""
    types = [x.dtype for x in tensors]
    if not any(t.is_floating_point or t.is_complex for t in types):
        return torch.uint64 if torch.uint64 in types else torch.int64
    real = torch.float64 if torch.float64 in types or torch.complex128 in types else torch.float32
    return real.to_complex() if any(t.is_complex for t in types) else real


def _gradient(x, g):
    """The part of a gradient that a tensor has."""
    return (g if x.is_complex() or not g.is_complex() else g.real).to(x.dtype)


# --- Operators ---

@torch.library.custom_op("tally::dot", mutates_args=())
def _dot(x: torch.Tensor, y: torch.Tensor, exact: bool = False) -> torch.Tensor:
    return _tally.dot(x.detach(), y.detach(), exact=exact)


@_dot.register_fake
def _(x, y, exact=False):
    torch._check(x.dim() == 1 and y.dim() == 1 and x.shape[0] == y.shape[0], lambda: "tally.torch.dot: vectors of one size")
    return x.new_empty((), dtype=_accumulator(x, y))


def _dot_backward(ctx, g):
    x, y = ctx.saved_tensors
    return _gradient(x, g * y.conj()), _gradient(y, g * x.conj()), None


_dot.register_autograd(_dot_backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]))


@torch.library.custom_op("tally::mv", mutates_args=())
def _mv(A: torch.Tensor, x: torch.Tensor, exact: bool = False) -> torch.Tensor:
    return _tally.multi_dot(A.detach(), x.detach(), exact=exact)


@_mv.register_fake
def _(A, x, exact=False):
    torch._check(A.dim() == 2 and x.dim() == 1 and A.shape[1] == x.shape[0], lambda: "tally.torch.mv: rows as long as x")
    return A.new_empty((A.shape[0],), dtype=_accumulator(A, x))


def _mv_backward(ctx, g):
    A, x = ctx.saved_tensors
    of_A = _gradient(A, torch.outer(g, x.conj().to(g.dtype))) if ctx.needs_input_grad[0] else None
    of_x = _gradient(x, _mv(A.mH.to(g.dtype).resolve_conj(), g)) if ctx.needs_input_grad[1] else None
    return of_A, of_x, None


_mv.register_autograd(_mv_backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]))


@torch.library.custom_op("tally::sum", mutates_args=())
def _sum(x: torch.Tensor, dim: list[int], keepdim: bool, exact: bool) -> torch.Tensor:
    return _tally.sum(x.detach(), tuple(dim), keepdims=keepdim, exact=exact)


@_sum.register_fake
def _(x, dim, keepdim, exact):
    return x.new_empty(_reduced(x, dim, keepdim), dtype=_accumulator(x))


@torch.library.custom_op("tally::nrm2", mutates_args=())
def _nrm2(x: torch.Tensor, dim: list[int], keepdim: bool, exact: bool) -> torch.Tensor:
    return _tally.nrm2(x.detach(), tuple(dim), keepdims=keepdim, exact=exact)


@_nrm2.register_fake
def _(x, dim, keepdim, exact):
    real = torch.float32 if _accumulator(x) in (torch.float32, torch.complex64) else torch.float64
    return x.new_empty(_reduced(x, dim, keepdim), dtype=real)


def _reduced(x, dim, keepdim):
    """The shape of a reduction's result."""
    dim = _dims(x, dim) if dim else []
    return [1 if i in dim else n for i, n in enumerate(x.shape) if keepdim or i not in dim]


def _keep(ctx, inputs, output):
    x, dim, ctx.keepdim, _ = inputs
    ctx.dim = _dims(x, dim) if dim else []
    ctx.save_for_backward(x, output)


def _spread(ctx, x, g):
    for i in () if ctx.keepdim else sorted(ctx.dim):
        g = g.unsqueeze(i)
    return g.expand(x.shape)


def _sum_backward(ctx, g):
    x, _ = ctx.saved_tensors
    return _gradient(x, _spread(ctx, x, g)).clone(), None, None, None


def _nrm2_backward(ctx, g):
    x, norm = ctx.saved_tensors
    return _gradient(x, x * _spread(ctx, x, torch.where(norm == 0, 0, g / norm))), None, None, None


_sum.register_autograd(_sum_backward, setup_context=_keep)
_nrm2.register_autograd(_nrm2_backward, setup_context=_keep)


def _dims(x, dim):
    """Axes from 0, checked as by PyTorch; None or none: all. A tensor of no dimensions has axis 0, too."""
    if dim is None or dim == [] or dim == ():
        return list(range(x.dim()))
    d, dims = max(x.dim(), 1), []
    for i in [dim] if isinstance(dim, int) else dim:
        if not -d <= i < d:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-d}, {d - 1}], but got {i})")
        if i % d in dims:
            raise RuntimeError(f"dim {i % d} appears multiple times in the list of dims")
        dims.append(i % d)
    return dims if x.dim() > 0 else []


def _sum_over(x, dim, keepdim, exact=False):
    return _sum(x, _dims(x, dim), keepdim, exact)


def _mean_over(x, dim, keepdim, exact=False, sum_over=_sum_over):
    n = 1
    for i in _dims(x, dim):
        n *= x.shape[i]
    x = x if x.is_floating_point() or x.is_complex() else x.double()
    total = sum_over(x, dim, keepdim, exact=exact)
    return total / total.new_full((), n)  # on a GPU PyTorch multiplies by the reciprocal of a number


def _nrm2_over(x, dim, keepdim, exact=False):
    return _nrm2(x, _dims(x, dim), keepdim, exact)


def _with_tangent(f, tangent, operands, *others):
    """f(*operands, *others). If operands have tangents, of forward-mode gradients, it has tangent(result, values,
    tangents): PyTorch's custom operators have none."""
    parts = [forward_ad.unpack_dual(x) for x in operands]
    if all(part.tangent is None for part in parts):
        return f(*operands, *others)
    values = [part.primal for part in parts]
    tangents = [torch.zeros_like(x) if part.tangent is None else part.tangent for x, part in zip(values, parts)]
    result = f(*values, *others)
    return forward_ad.make_dual(result, tangent(result, values, tangents).to(result.dtype))


def dot(x, y, exact=False):
    """sum_i x_i y_i of two vectors."""
    return _with_tangent(_dot, lambda _, v, t: _dot(t[0], v[1], exact) + _dot(v[0], t[1], exact), (x, y), exact)


def mv(A, x, exact=False):
    """The dot product of each row of A with x."""
    return _with_tangent(_mv, lambda _, v, t: _mv(t[0], v[1], exact) + _mv(v[0], t[1], exact), (A, x), exact)


def sum(x, dim=None, keepdim=False, *, exact=False):
    """The sum of all elements, or over dimensions, in Tally's accumulator."""
    return _with_tangent(_sum_over, lambda _, v, t: _sum_over(t[0], dim, keepdim, exact), (x,), dim, keepdim, exact)


def mean(x, dim=None, keepdim=False, *, exact=False):
    """The sum, divided by the number of its elements and rounded again; of integers in float64."""
    return _mean_over(x, dim, keepdim, exact, sum)


def nrm2(x, dim=None, keepdim=False, *, exact=False):
    """The root of the sum of squares."""
    def tangent(norm, v, t):
        products = (v[0].conj() * t[0]).real if v[0].is_complex() else v[0] * t[0]
        return torch.where(norm == 0, 0, _sum_over(products, dim, keepdim, exact) / norm)

    return _with_tangent(_nrm2_over, tangent, (x,), dim, keepdim, exact)


# --- The mode ---

class sums(TorchDispatchMode):
    """with tally.torch.sums(): torch.sum, mean, dot, mv and vector_norm (of order 2) of floating-point and complex tensors
    are Tally's, rounded to the type that PyTorch has, unless dtype is one of integers. A row's result then depends on that
    row alone, not on the batch, the threads or the device. It works below autograd, so gradients are as always."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ours = _mode.get(func)
        if ours is not None and _is_read(args[0]):
            result = ours(*args, **(kwargs or {}))
            if result is not None:
                return result
        return func(*args, **(kwargs or {}))


def _is_read(x):
    """Whether x has floating-point or complex elements in memory. Sparse tensors have none, nor have zero tangents."""
    return isinstance(x, torch.Tensor) and x.layout is torch.strided and (x.is_floating_point() or x.is_complex()) \
        and x.device.type in ("cpu", "cuda") and not x._is_zerotensor()


def _rounded(f, x, dim, keepdim, dtype):
    """f(x) in the type that PyTorch's has. None, that is PyTorch's own, for sums of elements converted to integers."""
    dtype = dtype or x.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        return None
    return f(x.to(dtype) if dtype in (torch.float64, torch.complex128) else x, dim, keepdim).to(dtype)


def _vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    if ord != 2 or dtype is not None and (x.is_complex() != dtype.is_complex or torch.promote_types(x.dtype, dtype) != dtype):
        return None  # an error
    x = x if dtype is None else x.to(dtype)
    return _nrm2_over(x, dim, keepdim).to(x.dtype.to_real())


def _product(f):
    return lambda x, y: f(x, y).to(x.dtype) if x.dtype == y.dtype and _is_read(y) else None


_aten = torch.ops.aten
_mode = {
    _aten.sum.default: lambda x, *, dtype=None: _rounded(_sum_over, x, None, False, dtype),
    _aten.sum.dim_IntList: lambda x, dim, keepdim=False, *, dtype=None: _rounded(_sum_over, x, dim, keepdim, dtype),
    _aten.mean.default: lambda x, *, dtype=None: _rounded(_mean_over, x, None, False, dtype),
    _aten.mean.dim: lambda x, dim, keepdim=False, *, dtype=None: _rounded(_mean_over, x, dim, keepdim, dtype),
    _aten.linalg_vector_norm.default: _vector_norm,
    _aten.dot.default: _product(_dot),
    _aten.mv.default: _product(_mv),
}
