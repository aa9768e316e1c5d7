"""Sums of whole arrays and along axes: bits, layouts, types."""
import itertools
import math
import pathlib
import re

import numpy
import pytest
from hypothesis import given, settings, strategies

import tally
from contract import doubles, exactly, floats, in_order, same

ml_dtypes = pytest.importorskip("ml_dtypes")
BACKENDS = [*tally.executors(), "automatic", tally.simd(), *([tally.openmp(3)] if "openmp" in tally.executors() else [])]
BACKENDS = [each for each in BACKENDS if each != "cuda"]
TYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", ml_dtypes.bfloat16, "float32", "float64", "complex64",
         "complex128"]


def golden(name):
    """The rows of a table of tests/golden.hpp."""
    text = (pathlib.Path(__file__).parents[3] / "tests" / "golden.hpp").read_text()
    body = re.search(rf" {name}\[\] = \{{(.*?)\n\}};", text, re.S)[1]
    return [[int(number, 0) for number in row.split(",")] for row in re.findall(r"\{([^{}]*)\}", body)]


def bits(value):
    return int(numpy.asarray(value).view(f"u{numpy.asarray(value).dtype.itemsize}"))


@pytest.mark.parametrize("backend", BACKENDS, ids=str)
def test_golden_bits(backend):
    for n, f64, subnormal, f32 in golden("rows"):
        if n > 5000:
            continue
        assert bits(tally.dot(doubles(n, 1), doubles(n, 2), backend=backend)) == f64
        assert bits(tally.dot(doubles(n, 3, -520), doubles(n, 4, -550), backend=backend)) == subnormal
        assert bits(tally.dot(floats(n, 5), floats(n, 6), backend=backend)) == f32
    for n, sum64, asum64, nrm64, far, sum32, asum32, nrm32 in golden("reduction_rows"):
        if n > 5000:
            continue
        x, z = doubles(n, 1), floats(n, 5)
        assert [bits(f(x, backend=backend)) for f in (tally.sum, tally.asum, tally.nrm2)] == [sum64, asum64, nrm64]
        assert [bits(f(z, backend=backend)) for f in (tally.sum, tally.asum, tally.nrm2)] == [sum32, asum32, nrm32]
        assert bits(tally.nrm2(doubles(n, 3, -520), backend=backend)) == far


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1023, 1024, 1025, 5000])
def test_contract(x, y, n):
    a, b = x[:n], y[:n]
    assert same(tally.sum(a), in_order(a, "float64"))
    assert same(tally.dot(a, b), in_order(a * b, "float64"))
    assert same(tally.dot(a.astype("f4"), b.astype("f4")), in_order(a.astype("f4") * b.astype("f4"), "float32"))
    assert same(tally.asum(a), in_order(abs(a), "float64"))


def test_exact(x, y):
    assert same(tally.dot(x[:999], y[:999], exact=True), exactly(x[:999], y[:999]))
    assert tally.sum(x, exact=True) == math.fsum(x)
    order = numpy.random.default_rng(3).permutation(len(x))
    assert same(tally.sum(x[order], exact=True), tally.sum(x, exact=True))
    assert same(tally.nrm2(x, exact=True), tally.exact_sum(x, x).root())
    assert tally.sum([.1] * 10, exact=True) == 1.0


@pytest.mark.parametrize("backend", BACKENDS, ids=str)
def test_backends(x, y, backend):
    assert same(tally.dot(x, y, backend=backend), tally.dot(x, y))
    A = x[:99000].reshape(30, 33, 100)
    for axis in (None, 0, 1, 2, (0, 2)):
        for f in (tally.sum, tally.nrm2, tally.argmax):
            assert same(f(A, axis, backend=backend), f(A, axis))


def values(dtype, n, seed=5):
    random = numpy.random.default_rng(seed)
    if numpy.dtype(dtype).kind == "c":
        return (random.standard_normal(n) + 1j * random.standard_normal(n)).astype(dtype)
    return (random.standard_normal(n) * 3).astype("int64" if numpy.dtype(dtype).kind in "biu" else "float64").astype(dtype)


def accumulator(*types):
    kinds = [numpy.dtype(t) for t in types]
    if all(t.kind in "biu" for t in kinds):
        return "int64"
    wide = any(t in ("float64", "complex128") for t in kinds)
    return ("complex128" if wide else "complex64") if any(t.kind == "c" for t in kinds) else "float64" if wide else "float32"


@pytest.mark.parametrize("a", TYPES, ids=lambda t: numpy.dtype(t).name)
@pytest.mark.parametrize("b", TYPES, ids=lambda t: numpy.dtype(t).name)
def test_pairs(a, b):
    x, y = values(a, 500, 1), values(b, 500, 2)
    result = tally.dot(x, y)
    assert result.dtype == accumulator(a, b)
    if result.dtype.kind != "c":
        assert same(result, in_order(x.astype(result.dtype) * y.astype(result.dtype), result.dtype))
    true = (x.astype("complex128") * y.astype("complex128")).sum()
    assert abs(complex(result) - true) < 1e-3
    wide = "complex128" if result.dtype.kind == "c" else "float64"
    assert tally.dot(x, y, dtype=wide).dtype == wide


def test_conjugate():
    x, y = values("complex128", 100, 1), values("complex128", 100, 2)
    assert numpy.isclose(tally.vdot(x, y), numpy.vdot(x, y))
    assert same(tally.vdot(x, y), tally.dot(x, y, conjugate=1)) and same(tally.vdot(y, x), tally.dot(x, y, conjugate=2))


@strategies.composite
def arrays(draw):
    """An array of some layout, and a C-ordered copy of its elements."""
    shape = draw(strategies.lists(strategies.sampled_from([0, 1, 2, 3, 5, 8, 33, 70, 130]), max_size=4))
    while math.prod(shape) > 40000:
        shape.pop()
    dtype = numpy.dtype(draw(strategies.sampled_from(["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "f2", "f4", "f8", "c8",
                                                      "c16"])))
    a = values(dtype, math.prod(shape)).reshape(shape)
    plain = a
    order = draw(strategies.permutations(range(len(shape))))
    a = a.transpose(order).copy().transpose(numpy.argsort(order))
    for axis in range(len(shape)):
        layout = draw(strategies.sampled_from(["as it is", "reversed", "sliced", "padded"]))
        where = [slice(None)] * len(shape)
        if layout == "reversed":
            where[axis] = slice(None, None, -1)
            a = a[tuple(where)].copy(order="K")[tuple(where)]
        elif layout == "sliced":
            where[axis] = slice(None, None, 2)
            a = numpy.repeat(a, 2, axis)[tuple(where)]
        elif layout == "padded":
            where[axis] = slice(1, 1 + shape[axis])
            a = numpy.pad(a, [(1, 2) if i == axis else (0, 0) for i in range(len(shape))])[tuple(where)]
    unread = draw(strategies.sampled_from([None, None, "byte order", "alignment", "field"]))
    if unread == "byte order":
        a = a.astype(dtype.newbyteorder())
    elif unread == "alignment" and dtype.itemsize > 1:
        room = numpy.zeros(a.size * dtype.itemsize + 1, "u1")
        moved = room[1:].view(dtype).reshape(a.shape)
        moved[...] = a
        a = moved
    elif unread == "field":
        moved = numpy.zeros(a.shape, [("a", "i1"), ("v", dtype), ("b", "i4")])
        moved["v"] = a
        a = moved["v"]
    assert (a == plain).all()
    axis = draw(strategies.one_of(strategies.none(), strategies.sets(strategies.integers(0, max(0, len(shape) - 1)))
                                  if shape else strategies.just(())))
    return a, plain, axis if axis is None else tuple(axis)


@given(arrays(), strategies.sampled_from(["sum", "asum", "nrm2", "sum exactly", "nrm2 exactly"]))
@settings(max_examples=300, deadline=None)
def test_layouts(drawn, which):
    a, plain, axis = drawn
    f, exact = getattr(tally, which.split()[0]), "exactly" in which
    result = f(a, axis, exact=exact)
    axes = tuple(range(a.ndim)) if axis is None else axis
    kept = [i for i in range(a.ndim) if i not in axes]
    assert result.shape == tuple(a.shape[i] for i in kept)
    rows = plain.transpose(*kept, *sorted(axes)).reshape(result.size, -1) if result.size else []
    for row, value in zip(rows, numpy.ravel(result)):
        assert same(f(row.copy(), exact=exact), value)
    kept = f(a, axis, exact=exact, keepdims=True)
    assert kept.shape == tuple(1 if i in axes else a.shape[i] for i in range(a.ndim))
    out = numpy.empty_like(result)
    assert f(a, axis, exact=exact, out=out) is out or result.ndim == 0
    assert result.ndim == 0 or same(out, result)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4"])
def test_long_layouts(random, dtype):
    """Arrays of several blocks, which are joined."""
    for shape in (300, 400), (7, 30000), (30000, 7), (2, 3, 20000), (40, 50, 60):
        a = values(dtype, math.prod(shape)).reshape(shape)
        for laid in (numpy.asfortranarray(a), numpy.repeat(a, 2, -1)[..., ::2], a[:, ::-1].copy()[:, ::-1]):
            for f in tally.sum, tally.asum, tally.nrm2:
                assert same(f(laid), f(a.ravel())) and same(f(laid, exact=True), f(a.ravel(), exact=True))
            assert same(tally.sum(laid[:, 1:]), tally.sum(a[:, 1:].ravel()))


def test_infinities_and_nans():
    a = numpy.zeros((200, 400))
    a[3, 7], a[150, 2] = numpy.inf, -numpy.inf
    assert same(tally.sum(numpy.asfortranarray(a)), tally.sum(a)) and numpy.isnan(tally.sum(a))


def test_means(x):
    A = x[:99000].reshape(30, 33, 100)
    assert same(tally.mean(A), tally.sum(A) / 99000) and same(tally.mean(A, 1), tally.sum(A, 1) / 33)
    assert numpy.allclose(tally.mean(A, (0, 2)), A.mean((0, 2)))
    assert tally.mean([1, 2]) == 1.5 and tally.mean(numpy.ones((2**12, 2), "f4"), 0).tolist() == [1, 1]
    assert tally.mean(numpy.array([1, 2], "u8")) == 1.5 and tally.mean(x.astype("f4")).dtype == "float32"
    large = numpy.full(3, 2**62)  # whose sum is no int64
    for dtype in ("<i8", ">i8", "<u8", ">u8"):
        assert tally.mean(large.astype(dtype)) == 2**62
    out = numpy.empty(33)
    assert tally.mean(A, (0, 2), out=out) is out and same(out, tally.mean(A, (0, 2)))
    # The sum has its own type, whatever out is.
    halves = numpy.full((2, 100000), 1, "f2")
    assert tally.mean(halves, 1, out=numpy.zeros(2, "f2")).tolist() == [1, 1]
    large = numpy.full(10, 1e38)
    assert tally.mean(large, out=numpy.zeros((), "f4")) == numpy.float32(1e38)
    narrow = numpy.zeros(33, "f4")
    assert same(tally.mean(A, (0, 2), out=narrow), tally.mean(A, (0, 2)).astype("f4"))
    for wrong, error in ((numpy.zeros(32), ValueError), (numpy.zeros(33, int), TypeError), ([0], ValueError)):
        with pytest.raises(error):
            tally.mean(A, (0, 2), out=wrong)
    assert tally.mean(numpy.array([2**63, 2**63], "u8")) == 2.0**63


def test_norms(x, y):
    a, w = x[:6000].reshape(60, 100), abs(y[:6000]).reshape(60, 100)
    assert same(tally.sum_of_squares(a), tally.dot(x[:6000], x[:6000])) and same(tally.max_norm(a, 0), abs(a).max(0))
    for laid, weights in ((a, w), (numpy.asfortranarray(a), w), (a[::-1].copy()[::-1], numpy.asfortranarray(w))):
        assert same(tally.sum_of_squares(laid), tally.sum_of_squares(a))
        assert same(tally.max_norm(laid), abs(a).max())
        assert same(tally.weighted_nrm2(laid, weights), numpy.sqrt(in_order((a * w).ravel()**2, "float64")))
        assert numpy.isclose(tally.wrms_norm(laid, weights), numpy.sqrt(((a * w)**2).mean()))
        assert same(tally.wrms_norm(laid, weights), tally.wrms_norm(a, w))
    A = x[:6000].reshape(10, 20, 30)[:, ::-1]
    for axis in (None, 0, (0, 2), (0, 1, 2)):  # exact changes no maximum
        assert same(tally.max_norm(A, axis, exact=True), abs(A).max(axis)) and same(tally.max_norm(A, axis), abs(A).max(axis))
    mask = (a > 0).astype("i1")
    assert numpy.isclose(tally.wrms_norm_mask(a, w, mask), numpy.sqrt(((a * w)[a > 0]**2).sum() / a.size))
    with pytest.raises(ValueError, match="x has the shape .60, 100., w .100,."):
        tally.wrms_norm(a, w[0])


def test_issues_of_others():
    """numpy#13240, numpy's float32 sums along the first axis."""
    a = numpy.random.default_rng(4).random((1000, 7))
    assert all(same(tally.sum(a, axis=0)[j], tally.sum(a[:, j])) for j in range(7))
    assert tally.mean(numpy.ones((2**25, 2), "f4"), 0).tolist() == [1, 1]


def test_multi_dot(x, y):
    A = x[:90000].reshape(300, 300)
    for laid in (A, numpy.asfortranarray(A), A[::-1, ::-1].copy()[::-1, ::-1], numpy.repeat(A, 2, 1)[:, ::2]):
        result = tally.multi_dot(laid, y[:300])
        assert all(same(result[j], tally.dot(A[j], y[:300])) for j in (0, 7, 299))
        exact = tally.multi_dot(laid, y[:600][::2], exact=True)
        assert same(exact[9], tally.dot(A[9], y[:600:2], exact=True))


def test_integers():
    assert tally.sum(numpy.arange(10, dtype="u2")) == 45 and tally.sum(numpy.full(10, 127, "i1")) == 1270
    big = numpy.array([2**63, 2**63 - 1], "u8")
    assert same(tally.sum(big), numpy.uint64(2**64 - 1)) and same(tally.dot(big, big), numpy.dot(big, big))
    assert same(tally.sum(big.reshape(2, 1), 0), numpy.array([2**64 - 1], "u8"))
    assert same(tally.dot(numpy.full(9, 2**31 - 1, "i4"), numpy.full(9, 2, "i4")), numpy.int64(18 * (2**31 - 1)))
    for f in (tally.nrm2, tally.asum, tally.max, lambda x: tally.dot(x, [.5, .5]), lambda x: tally.sum(x, dtype="f8")):
        with pytest.raises(TypeError, match="uint64"):
            f(big)


def test_extrema(x):
    a = numpy.array([1., 5, numpy.nan, 7, numpy.nan])
    assert numpy.isnan(tally.max(a)) and tally.argmax(a) == 2 and tally.argmin(numpy.array([1, 5, 1])) == 0
    A = x[:9000].reshape(30, 3, 100)
    for laid in (A, numpy.asfortranarray(A), A[:, ::-1]):
        for axis in (None, 0, 1, -1):
            assert same(tally.max(laid, axis), laid.max(axis)) and same(tally.min(laid, axis), laid.min(axis))
            assert same(tally.argmax(laid, axis), laid.argmax(axis)) and same(tally.argmin(laid, axis), laid.argmin(axis))
    assert tally.max(A, (0, 2), keepdims=True).shape == (1, 3, 1)
    low, high = tally.minmax(A, 0)
    assert same(low, A.min(0)) and same(high, A.max(0))
    assert tally.iamax(numpy.array([1, -9, 9])) == 1 and tally.iamax(numpy.array([1, 2 - 2j, 3])) == 1
    assert tally.iamax(numpy.zeros(0)) == -1
    for shape in itertools.product((0, 1, 2, 3), repeat=3):
        for laid in (numpy.ones(shape), numpy.ones(shape[::-1]).T, numpy.ones((9, 9, 9))[:shape[0], :shape[1], ::3][..., :shape[2]]):
            for axis in ((0, 1), (0, 2), (1, 2), (2,), None):
                over = (0, 1, 2) if axis is None else axis
                reduced = math.prod(laid.shape[i] for i in over)
                expected = numpy.ones(laid.shape).sum(over)
                assert same(tally.sum(laid, axis), expected)
                assert same(tally.iamax(laid, axis), numpy.full_like(expected, -1 if reduced == 0 else 0, "i8")[()])
                if reduced > 0:
                    assert same(tally.max(laid, axis), numpy.ones_like(expected)[()])
                elif expected.size > 0:
                    with pytest.raises(ValueError, match="0 elements"):
                        tally.max(laid, axis)
    assert tally.max(x.astype(ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    with pytest.raises(ValueError):
        tally.max(numpy.zeros(0))


def test_scans(x):
    y = tally.inclusive_scan(x[:3000])
    assert same(y[2000], tally.sum(x[:2001])) and same(tally.exclusive_scan(x[:3000])[1:], y[:-1])
