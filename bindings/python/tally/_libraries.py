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


def as_numpy(x):
    """numpy.asarray, which drops the mask of a masked array: those are refused."""
    if isinstance(x, numpy.ma.MaskedArray):
        raise TypeError("tally: a masked array; pass x.compressed(), or x.filled(0) for a sum")
    return numpy.asarray(x)


def from_host(like, x):
    """A NumPy array as one of the library and device of `like`; NumPy's where that library can't be told.

    JAX has no types of 64 bits unless they are enabled: its integers are of 32 bits then, if all numbers fit.
    """
    if not hasattr(like, "__array_namespace__"):
        return x[()]
    made = like.__array_namespace__().asarray(x, device=like.device)
    held = type_name(made)
    if held != x.dtype.name and not (x.dtype.kind in "iu" and (x.astype(held) == x).all()):
        _refuse_64_bits(x.dtype)
    return made


def contiguous(x, axes=None):
    """A C-ordered copy, of the axes in another order."""
    name = _library(x)
    if name == "torch":
        return (x if axes is None else x.permute(axes)).clone(memory_format=sys.modules["torch"].contiguous_format)
    if name in ("numpy", "cupy"):
        return sys.modules[name].ascontiguousarray(x if axes is None else x.transpose(axes))
    space = x.__array_namespace__()
    return space.asarray(x if axes is None else space.permute_dims(x, axes), copy=True)


def converted(x, dtype):
    """A copy with elements of this type; NumPy's of what only speaks DLPack, such as PyArrow's arrays."""
    if _library(x) == "torch":
        return x.to(getattr(sys.modules["torch"], dtype))
    made = (x if hasattr(x, "astype") else numpy.from_dlpack(x)).astype(dtype)
    if type_name(made) != dtype:
        _refuse_64_bits(dtype)
    return made


def readable(x):
    """A copy whose elements Tally reads in place: C-ordered, and of no type that it has not."""
    if not hasattr(x, "dtype"):
        return numpy.from_dlpack(x)
    wider = _wider.get(type_name(x))
    return contiguous(x) if wider is None else converted(x, wider)


_wider = {"int16": "int32", "uint16": "int32", "uint32": "int64"}


def type_name(x):
    """The name of the elements' type, without the library and the byte order; of an object without one nothing."""
    dtype = getattr(x, "dtype", "")
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


def refuse_tensor(x, error):
    """Raises for a tensor of PyTorch that has no address for each of its elements."""
    if x.is_nested:
        raise TypeError("tally: a nested tensor; pass each of x.unbind()")
    if str(x.layout) != "torch.strided":
        raise TypeError(f"tally: a tensor of layout {x.layout}; pass x.to_dense()")
    if x.is_quantized:
        raise TypeError("tally: a quantized tensor; pass x.dequantize()")
    try:
        has_elements = x.data_ptr() != 0
    except RuntimeError:
        has_elements = False
    if has_elements:
        raise TypeError(f"tally: a tensor that PyTorch does not share: {error}") from error
    raise TypeError("tally: a tensor without elements in memory, such as meta tensors and those inside torch.compile or "
                    "torch.func; tally.torch has operators for torch.compile") from error


def _refuse_64_bits(dtype):
    raise TypeError(f"tally: this library has no arrays of {dtype}; for JAX's, enable jax_enable_x64")


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
