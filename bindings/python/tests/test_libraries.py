"""One result from the arrays of every library, on the host and on a GPU; streams and graphs."""
import hashlib
import itertools

import numpy
import pytest

import tally
from contract import same

N = 1 << 20
HAS_GPU = "cuda" in tally.executors()
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="there is no GPU, or no CUDA in this build")


def libraries():
    """Functions that make an array of a NumPy array, and a NumPy array of an array, by name."""
    yield "NumPy", numpy.asarray, numpy.asarray
    try:
        import torch
        yield "PyTorch, CPU", torch.from_numpy, lambda x: x.numpy()
        if HAS_GPU and torch.cuda.is_available():
            yield "PyTorch, GPU", lambda x: torch.from_numpy(x).cuda(), lambda x: x.cpu().numpy()
    except ImportError:
        pass
    try:
        import jax
        for device in jax.devices("cpu") + (jax.devices("gpu")[:1] if HAS_GPU else []):
            yield f"JAX, {device.platform}", lambda x, on=device: jax.device_put(x, on), numpy.asarray
    except (ImportError, RuntimeError):
        pass
    if HAS_GPU:
        try:
            import cupy
            yield "CuPy", cupy.asarray, cupy.asnumpy
        except ImportError:
            pass


LIBRARIES = list(libraries())


@pytest.mark.parametrize("name,made,read", LIBRARIES, ids=[name for name, _, _ in LIBRARIES])
def test_one_hash(name, made, read):
    x = numpy.random.default_rng(3).standard_normal(N).astype("f4")
    A = x.reshape(1024, 1024)
    calls = (lambda x, A: tally.sum(x), lambda x, A: tally.dot(x, x), lambda x, A: tally.nrm2(x),
             lambda x, A: tally.sum(x, exact=True), lambda x, A: tally.sum(A, 0), lambda x, A: tally.mean(A[:, :1000], 1), lambda x, A: tally.mean(x[:1001]),
             lambda x, A: tally.sum(A.T), lambda x, A: tally.max(A, 0), lambda x, A: tally.multi_dot(A.T, A[0]),
             lambda x, A: tally.sum(A, 1, keepdims=True), lambda x, A: tally.exact_sum(x).round())
    for call in calls:
        result = call(made(x), made(A))
        host = call(x, A)
        if call is not calls[-1] and name != "NumPy":
            assert isinstance(result, type(made(x)))
            result = read(result)
        digests = {hashlib.sha256(numpy.ascontiguousarray(each)).hexdigest() for each in (result, host)}
        assert len(digests) == 1 and same(result, host)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_types_of_jax():
    """Without jax_enable_x64, which is the default, an array has no type of 64 bits: no number changes in silence."""
    jax = pytest.importorskip("jax")
    x64, device = jax.config.jax_enable_x64, jax.config.jax_default_device
    try:
        jax.config.update("jax_default_device", jax.devices("cpu")[0])
        ones = jax.numpy.ones(3, "float32")
        jax.config.update("jax_enable_x64", False)
        for call in (lambda: tally.sum(jax.numpy.full(10, 2**30, "int32")), lambda: tally.sum(ones, dtype="float64"),
                     lambda: tally.mean(jax.numpy.arange(3)), lambda: tally.bincount(jax.numpy.arange(3), jax.numpy.arange(3))):
            with pytest.raises(TypeError, match="enable jax_enable_x64"):
                call()
        assert tally.sum(jax.numpy.full(10, 2**20, "int32")) == 10 * 2**20 and tally.bincount(jax.numpy.arange(3)).tolist() == [1, 1, 1]
        assert tally.argmax(ones) == 0 and tally.sum(ones, dtype="float32") == tally.sum(jax.numpy.ones(3, "int16")) == 3
        jax.config.update("jax_enable_x64", True)
        total = tally.sum(jax.numpy.full(10, 2**30, "int32"))
        assert total.dtype == "int64" and total == 10 * 2**30 and tally.sum(ones, dtype="float64").dtype == "float64"
        for dtype in ("int16", "uint16", "uint32"):
            assert tally.sum(jax.numpy.full(3, 40000 if dtype[0] == "u" else -5, dtype)) == (120000 if dtype[0] == "u" else -15)
    finally:
        jax.config.update("jax_enable_x64", x64)
        jax.config.update("jax_default_device", device)


def test_types_of_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    for dtype in ("int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"):
        assert tally.sum(pyarrow.array([1, 2, 3], dtype)) == 6
    assert same(tally.bincount(pyarrow.array([0, 1]), pyarrow.array([1, 2])), numpy.array([1., 2]))


@needs_gpu
def test_streams_of_pytorch():
    torch = pytest.importorskip("torch")
    x = torch.randn(1 << 22, device="cuda")
    expected, stream = tally.sum(x.cpu()), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for i in range(20):
            z = x * 2.0**i
            assert torch.equal((tally.sum(z) * 2.0**-i).cpu(), expected)
            out = torch.empty((), device="cuda")
            tally.sum(z, out=out)
            z.zero_()  # in the stream, after the sum
            assert torch.equal((out * 2.0**-i).cpu(), expected)
    torch.cuda.synchronize()
    where = tally.cuda(stream=stream.cuda_stream)
    result = tally.sum(x, backend=where)
    stream.synchronize()
    assert torch.equal(result.cpu(), expected) and torch.equal(tally.sum(x, backend="cuda").cpu(), expected)
    with pytest.raises(ValueError):
        tally.sum(numpy.zeros(9), backend=tally.cuda())


@needs_gpu
def test_graphs_of_pytorch():
    torch = pytest.importorskip("torch")
    x, out = torch.randn(1000, 1000, device="cuda"), torch.empty(1000, device="cuda")
    tally.sum(x, 0, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tally.sum(x, 0, out=out)
        total = tally.sum(out)
    for _ in range(3):
        x.normal_()
        graph.replay()
        torch.cuda.synchronize()
        assert same(out.cpu().numpy(), tally.sum(x.cpu().numpy(), 0)) and same(total.cpu().numpy(),
                                                                            tally.sum(out.cpu().numpy()))


@needs_gpu
def test_streams_of_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.random.default_rng(1).standard_normal(1 << 22)
    expected = tally.sum(cupy.asnumpy(x))
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True):
        for i in range(20):
            z = x * 2.0**i
            result = tally.sum(z)
            z.fill(0)
            assert float(result * 2.0**-i) == expected
    out = cupy.empty(3)
    assert tally.sum(x[:12].reshape(4, 3), 0, out=out) is out
    assert same(cupy.asnumpy(tally.add(x, x)), 2 * cupy.asnumpy(x))
    assert same(cupy.asnumpy(tally.sum(x[::-2])), tally.sum(cupy.asnumpy(x)[::-2]))


@needs_gpu
def test_cuda_array_interface():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(3000, dtype="f8").reshape(3, 1000)

    class interface:
        __cuda_array_interface__ = x[:, ::2].__cuda_array_interface__

    cupy.cuda.Device().synchronize()
    assert same(tally.sum(interface(), 1), tally.sum(cupy.asnumpy(x)[:, ::2], 1))


@needs_gpu
def test_operands_of_two_libraries():
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    x = torch.arange(1000, dtype=torch.float64, device="cuda")
    torch.cuda.synchronize()
    assert float(tally.dot(x, cupy.asarray(numpy.ones(1000)))) == 499500
    for a, b in itertools.permutations((x, numpy.ones(1000))):
        with pytest.raises(ValueError, match="host memory"):
            tally.dot(a, b)
