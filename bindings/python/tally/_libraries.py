"""What is asked of other libraries' arrays beside DLPack: new arrays, copies in another order, the current stream."""
import sys

import numpy


def _library(x):
    return type(x).__module__.partition(".")[0]


def empty(like, shape, dtype):
    """An uninitialised array of the library and device of `like`; None of a library whose arrays can't be written."""
    name = _library(like)
    if name == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if name == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype)
    return None


def from_host(like, x):
    """A NumPy array as one of the library and device of `like`; NumPy's where that library can't be told."""
    if not hasattr(like, "__array_namespace__"):
        return x[()]
    return like.__array_namespace__().asarray(x, device=like.device)


def contiguous(x, axes=None):
    """A C-ordered copy, of the axes in another order."""
    name = _library(x)
    if name == "torch":
        return (x if axes is None else x.permute(axes)).clone(memory_format=sys.modules["torch"].contiguous_format)
    if name in ("numpy", "cupy"):
        return sys.modules[name].ascontiguousarray(x if axes is None else x.transpose(axes))
    space = x.__array_namespace__()
    return space.asarray(x if axes is None else space.permute_dims(x, axes), copy=True)


def stream(x):
    """The address of the stream on which its library works now."""
    if _library(x) == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0


def written(function, result, out):
    """out, which has the result now, converted as by its library."""
    shape = tuple(getattr(out, "shape", ()))
    if shape != tuple(result.shape):
        raise ValueError(f"tally.{function}: out has the shape {shape}, the result {tuple(result.shape)}")
    if isinstance(out, numpy.ndarray):
        numpy.copyto(out, result, casting="same_kind")
    else:
        out[...] = result
    return out


def divided(total, n):
    """total / n, rounded once. PyTorch on a GPU, and JAX, multiply by the reciprocal of a number."""
    name = _library(total)
    if name == "torch":
        return total / total.new_full((), n)
    if name == "numpy":
        return total / (total.dtype.type(n) if total.dtype.kind in "fc" else n)
    return total / n if name == "cupy" else from_host(total, divided(numpy.asarray(total), n))
