"""Everything else: element-wise functions, histograms, matrices, unrounded sums, operands, errors."""
import copy
import gc
import math
import multiprocessing
import os
import pathlib
import pickle
import re
import sys
import threading

import numpy
import pytest
from hypothesis import given, settings, strategies

import tally
from contract import same


# --- Element-wise functions ---

def test_formulas(x, y):
    a, b, c = x[:3000], y[:3000], x[3000:6000]
    assert same(tally.add(a, b), a + b) and same(tally.sub(a, b), a - b) and same(tally.mul(a, b), a * b)
    assert same(tally.relu(a), numpy.maximum(a, 0)) and numpy.allclose(tally.exp(a), numpy.exp(a), rtol=1e-15)
    assert same(tally.copy(a, dtype="f4"), a.astype("f4")) and same(tally.waxpby(1, a, -1, b), a - b)
    z = c.copy()
    assert tally.axpy(2, a, z) is z and same(z, 2 * a + c)
    assert same(tally.axpby(2.0, a, 0, z), 2 * a) and same(tally.scal(numpy.float32(.5), z), a)
    assert tally.fill(3, z) is z and (z == 3).all()
    assert same(tally.axpbypcz(1, a, 2, b, 0, z), a + 2 * b)


def test_more_formulas(x, y):
    a, b = x[:3000], y[:3000]
    assert same(tally.div(a, b), a / b) and same(tally.inv(b), 1 / b) and same(tally.abs(a), abs(a))
    assert same(tally.sqrt(tally.abs(a)), numpy.sqrt(abs(a))) and same(tally.sign(a), numpy.sign(a))
    assert tally.abs(a.astype("c8")).dtype == "f4" and same(tally.add_constant(a, 2), a + 2)
    assert same(tally.minimum(a, b), numpy.minimum(a, b)) and same(tally.maximum(a, b), numpy.maximum(a, b))
    assert same(tally.clamp(a, -1, 1), numpy.clip(a, -1, 1)) and same(tally.scale(2, a), 2 * a)
    assert same(tally.where(a > 0, a.astype("f4"), b.astype("f4")), numpy.where(a > 0, a, b).astype("f4"))
    assert same(tally.pow(a, 2), a * a) and same(tally.jacobi_step(a, 1, b, b), a + b / b)


def test_elementwise_layouts(random):
    a, b = random.standard_normal((20, 30, 40)), random.standard_normal((20, 30, 40))
    for laid in (a, numpy.asfortranarray(a), a.transpose(1, 0, 2).copy().transpose(1, 0, 2), a[:, ::-1].copy()[:, ::-1],
                 a.astype(">f8")):
        assert same(tally.add(laid, b), a + b)
        out = numpy.zeros((20, 30, 80))[..., ::2]
        assert tally.add(laid, b, out) is out and same(out.copy(), a + b)
    z = a.copy()
    assert same(tally.add(z, z, out=z), a + a)
    assert same(tally.add(numpy.float64(1), numpy.float64(2)), numpy.array(3.))
    assert tally.add(numpy.zeros((3, 0)), numpy.zeros((3, 0))).shape == (3, 0)
    with pytest.raises(ValueError, match="shape"):
        tally.add(a, b[0])
    with pytest.raises(ValueError):
        tally.copy(z[1:, 1:], out=z[:-1, :-1])
    with pytest.raises(ValueError, match="read-only"):
        tally.scal(2, numpy.broadcast_to(z, z.shape))
    with pytest.raises(ValueError, match="written"):
        tally.scal(2, z.astype(">f8"))


@pytest.mark.parametrize("a,b,result", [("i1", "i4", "i4"), ("i1", "u1", "i4"), ("i8", "f4", "f4"), ("f2", "f8", "f8"),
                                        ("f8", "c8", "c16"), ("f4", "c8", "c8"), ("?", "i1", "i1"),
                                        ("i4", "f2", "f4"), ("i8", "f2", "f4"), ("i1", "f2", "f2"), ("u1", "f2", "f2"),
                                        ("i8", "bfloat16", "f4"), ("u1", "bfloat16", "bfloat16")])
def test_new_types(a, b, result):
    pytest.importorskip("ml_dtypes")
    for x, y in ((a, b), (b, a)):
        assert tally.add(numpy.ones(3, x), numpy.ones(3, y)).dtype == result


def test_numbers_beyond_a_new_type():
    for dtype, n in (("i4", 100000), ("i8", 100000), ("i1", 127)):
        assert tally.add(numpy.array([n], dtype), numpy.ones(1, "f2")) == n + 1


@pytest.mark.parametrize("value", [2**63, 2**70, -2**63 - 1])
def test_numbers_beyond_int64(value):
    x = numpy.ones(3)
    for call in (lambda: tally.scale(value, x), lambda: tally.pow(x, value), lambda: tally.clamp(x, 0, value),
                 lambda: tally.fill(value, x), lambda: tally.compare(x, "less", value), lambda: tally.sum(x, value),
                 lambda: tally.cuda(stream=2 * value)):
        with pytest.raises(OverflowError):
            call()
    assert same(tally.scale(2**63 - 1, x), numpy.full(3, 2.**63)) and same(tally.scale(-2**63, x), numpy.full(3, -2.**63))


COMPARISONS = {"less": numpy.less, "less_equal": numpy.less_equal, "equal": numpy.equal, "not_equal": numpy.not_equal,
               "greater_equal": numpy.greater_equal, "greater": numpy.greater}


def test_comparisons_are_the_headers():
    header = (pathlib.Path(__file__).parents[3] / "include/tally/tally.h").read_text()
    names = re.findall(r"TALLY_(\w+) = \d", re.search(r"tally_comparison;\nenum \{(.*?)\}", header, re.S)[1])
    assert [name.lower() for name in names] == list(COMPARISONS)


@pytest.mark.parametrize("name", COMPARISONS)
def test_compare(name, random):
    f, a, b = COMPARISONS[name], random.integers(-2, 3, (30, 40)) / 2, random.integers(-2, 3, (30, 40)) / 2
    a[3, 4] = b[5, 6] = a[7, 8] = b[7, 8] = numpy.nan
    for x, y in ((a, b), (numpy.asfortranarray(a), b[::-1].copy()[::-1]), (a.astype("f2"), b), (a, b > 0),
                 (a[:, ::2], b[:, 1::2])):
        assert same(tally.compare(x, name, y), f(x, y))
    for x, y in ((a, .5), (a, numpy.float32(.5)), (a, 1), (a, numpy.array(-1)), (a.astype("f4"), True), (a > 0, 1), (a[0, 0], .5)):
        assert same(tally.compare(x, name, y), f(x, y))
    assert same(tally.compare(a.tolist(), name, b.tolist()), f(a, b)) and same(tally.compare(a, name, b, dtype="f4"), f(a, b).astype("f4"))
    out = numpy.empty((30, 40), "i4")
    assert tally.compare(a, name, b, out) is out and same(out, f(a, b).astype("i4"))
    assert tally.compare(a, name, 0, out=out, backend="serial") is out and same(out, f(a, 0).astype("i4"))


@pytest.mark.parametrize("call,error,text", [
    (lambda a: tally.compare(a, "<", a), ValueError, "'<'.*less, less_equal, equal, not_equal, greater_equal, greater"),
    (lambda a: tally.compare(a, 0, a), ValueError, "less_equal"),
    (lambda a: tally.compare(a, [], a), ValueError, "less_equal"),
    (lambda a: tally.compare(a, "less", a[0]), ValueError, r"tally\.compare: x has the shape"),
    (lambda a: tally.compare(a, "less", a.astype("u8")), TypeError, "uint64"),
    (lambda a: tally.compare(a, "less", numpy.uint64(3)), TypeError, r"tally\.compare: y is no number"),
    (lambda a: tally.compare(a + 1j, "less", a), TypeError, None),
    (lambda a: tally.compare(a, "less", a, dtype="c8"), TypeError, None)])
def test_compare_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(numpy.ones((3, 2)))


# --- Arrays that are written ---

def test_overlapping_elements_are_not_written():
    room = numpy.zeros(200)
    for shape, strides in (((2, 3), (8, 8)), ((3, 2), (8, 16)), ((4, 5), (32, 8)), ((2, 2, 2), (8, 16, 24)), ((2, 3), (-8, 8))):
        z = numpy.lib.stride_tricks.as_strided(room[100:], shape, strides)
        x = numpy.ones(shape)
        for call in (lambda: tally.add(x, x, out=z), lambda: tally.axpy(1, x, z), lambda: tally.scal(2, z), lambda: tally.fill(1, z),
                     lambda: tally.sum(numpy.ones((*shape, 2)), -1, out=z), lambda: tally.max(numpy.ones((*shape, 2)), -1, out=z),
                     lambda: tally.compare(x, "less", x, out=z)):
            with pytest.raises(ValueError, match="can't be written in place: elements share memory"):
                call()
    assert not room.any()
    z = numpy.lib.stride_tricks.as_strided(room, (2, 0, 3), (8, 8, 8))  # no elements
    assert tally.fill(1, z) is z


@strategies.composite
def views(draw):
    """A view of distinct elements, as NumPy makes them."""
    shape = draw(strategies.lists(strategies.integers(0, 6), min_size=1, max_size=5))
    z = numpy.zeros(shape, order=draw(strategies.sampled_from("CF")))
    for _ in range(draw(strategies.integers(0, 6))):
        step = draw(strategies.sampled_from(["slice", "transpose", "diagonal", "field", "split", "new axis", "index"]))
        axis = draw(strategies.integers(0, z.ndim - 1)) if z.ndim else 0
        if step == "slice" and z.ndim:
            where = slice(draw(strategies.integers(-6, 6)), draw(strategies.none() | strategies.integers(-6, 6)),
                          draw(strategies.sampled_from([1, 2, 3, 4, 5, -1, -2, -3])))
            z = z[(slice(None),) * axis + (where,)]
        elif step == "transpose":
            z = z.transpose(draw(strategies.permutations(range(z.ndim))))
        elif step == "diagonal" and z.ndim > 1:
            other = draw(strategies.sampled_from([i for i in range(z.ndim) if i != axis]))
            z = z.diagonal(draw(strategies.integers(-2, 2)), axis, other)
            z.flags.writeable = z.base.flags.writeable
        elif step == "field":
            z = z.astype("c16").imag
        elif step == "split" and z.ndim and z.shape[axis] % 2 == 0:
            z = z.reshape(*z.shape[:axis], 2, z.shape[axis] // 2, *z.shape[axis + 1:])
        elif step == "new axis":
            z = numpy.expand_dims(z, axis)
        elif step == "index" and z.ndim and z.shape[axis]:
            z = z[(slice(None),) * axis + (slice(0, 1),)]
    return z


@given(views())
@settings(max_examples=500, deadline=None)
def test_views_are_written(z):
    z.flags.writeable = True
    assert tally.fill(3, z) is z and (z == 3).all()
    assert tally.copy(numpy.arange(z.size, dtype="f8").reshape(z.shape), out=z) is z
    assert numpy.array_equal(numpy.ravel(z), numpy.arange(z.size))


def test_gather(random):
    x = random.standard_normal(100)
    at = random.permutation(100)[:40]
    assert same(tally.gather(x[::-1], at), x[::-1][at])
    z, expected = numpy.zeros(100), numpy.zeros(100)
    expected[at] = x[:40]
    assert tally.scatter(x[:40], at, z) is z and same(z, expected)
    assert same(tally.scatter_add(numpy.array([1e100, 1, -1e100]), numpy.array([1, 1, 1]), numpy.zeros(2)),
                numpy.array([0, 1.]))
    for f in (lambda: tally.gather(x, numpy.array([100])), lambda: tally.scatter(x[:1], numpy.array([-1]), z)):
        with pytest.raises(IndexError):
            f()


# --- Histograms ---

def test_bincount(random):
    keys, weights = random.integers(0, 700, 100000), random.standard_normal(100000)
    for k in (keys, keys.astype("i4"), keys.astype("u2"), keys[::-2]):
        assert same(tally.bincount(k), numpy.bincount(k))
    assert same(tally.bincount(keys, minlength=1000), numpy.bincount(keys, minlength=1000))
    assert same(tally.bincount(numpy.zeros(0, int)), numpy.bincount(numpy.zeros(0, int)))
    sums, order = tally.bincount(keys, weights), random.permutation(100000)
    assert sums[5] == math.fsum(weights[keys == 5]) and same(sums, tally.bincount(keys[order], weights[order]))
    for bad, error in ((numpy.array([-1]), IndexError), (numpy.array([2**31 - 1]), IndexError), (numpy.zeros(2), TypeError),
                       (numpy.zeros((2, 2), int), ValueError)):
        with pytest.raises(error):
            tally.bincount(bad)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4"])
def test_weights(random, dtype):
    """Integers and halves count as float64."""
    keys, w = random.integers(0, 9, 200), (random.integers(0, 100, 200) % 50).astype(dtype)
    expected = numpy.array([w[keys == k].sum(dtype="f8") for k in range(9)], "f4" if dtype == "f4" else "f8")
    for weights in (w, w.tolist() if dtype != "f4" else w, numpy.repeat(w, 2)[::2]):
        assert same(tally.bincount(keys, weights), expected)
        assert same(tally.histogram(keys.reshape(20, 10), 9, weights=numpy.reshape(weights, (20, 10)))[0], expected)
    with pytest.raises(TypeError, match="weights"):
        tally.bincount(keys, w + 1j)


def test_histogram_ranges(random):
    """Counts and edges have NumPy's types and numbers, whatever the range's."""
    for _ in range(300):
        dtype, kinds = random.choice(["f2", "f4", "f8", "i4"]), random.choice([float, "f2", "f4", "f8"], 2)
        x = (random.standard_normal(int(random.integers(1, 200))) * 50).astype(dtype)
        bounds = sorted(random.standard_normal(2) * 50)
        lower, upper = (bound if kind is float else numpy.dtype(kind).type(bound) for bound, kind in zip(bounds, kinds))
        for pair in ((lower, upper), (numpy.float64(x.min()), numpy.float64(x.max()))):
            bins = int(random.integers(1, 40))
            try:
                peer = numpy.histogram(x, bins, range=pair)
            except ValueError:  # too many bins
                with pytest.raises(ValueError, match="bins"):
                    tally.histogram(x, bins, range=pair)
                continue
            result = tally.histogram(x, bins, range=pair)
            assert same(result[0], peer[0]) and same(result[1], peer[1])
    with pytest.raises(ValueError, match="bins"):
        tally.histogram(numpy.array([1e308, -1e308]))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u1", "?"])
def test_histogram(random, dtype):
    for _ in range(20):
        n, bins = int(random.integers(1, 3000)), int(random.integers(1, 60))
        x = (random.standard_normal(n) * 50).astype(dtype) if dtype != "u1" else random.integers(0, 200, n).astype("u1")
        counts, edges = tally.histogram(x, bins)
        peer, peers_edges = numpy.histogram(x.astype("u1") if dtype == "?" else x, bins)
        assert same(counts, peer) and (edges == peers_edges).all()
        counts, edges = tally.histogram(x, bins, range=(-20, 20))
        assert same(counts, numpy.histogram(x.astype("u1") if dtype == "?" else x, bins, range=(-20, 20))[0])


def test_histogram_of_large_integers(random):
    """NumPy rounds them to the edges' type: none falls out of the range of all."""
    for dtype in ("i8", ">i8"):
        for bits in range(50, 63):
            x = random.integers(-2**bits, 2**bits, 200).astype(dtype)
            for bins in (1, 7, numpy.linspace(-2.**bits, 2.**bits, 9), numpy.arange(-3, 4) * 2**(bits - 2)):
                assert same(tally.histogram(x, bins)[0], numpy.histogram(x, bins)[0])
            limits = (int(x[0]) - 2**40, int(x[0]) + 2**40)
            assert same(tally.histogram(x, 5, limits)[0], numpy.histogram(x, 5, limits)[0])


def test_histogram_of_edges(random):
    x, w = random.standard_normal((30, 40)), random.standard_normal((30, 40))
    edges = numpy.sort(random.standard_normal(20))
    assert same(tally.histogram(x, edges)[0], numpy.histogram(x, edges)[0])
    assert same(tally.histogram(x, edges.tolist())[0], numpy.histogram(x, edges)[0])
    sums = tally.histogram(x, edges, weights=w)[0]
    assert sums[3] == math.fsum(w[(x >= edges[3]) & (x < edges[4])])
    for bad in ({"bins": 0}, {"range": (1, 0)}, {"range": (0, math.nan)}, {"bins": [2, 1]}):
        with pytest.raises(ValueError):
            tally.histogram(x, **bad)


# --- Sparse matrices ---

def test_csr(random):
    sparse = pytest.importorskip("scipy.sparse")
    A = sparse.random(500, 300, .1, "csr", rng=random)
    x, y = random.standard_normal(300), random.standard_normal(500)
    m = tally.csr(A)
    assert numpy.allclose(m @ x, A @ x) and numpy.allclose(y @ m, y @ A) and numpy.allclose(m.T @ y, A.T @ y)
    for other in (tally.csr(A, plan=False, backend="serial"), tally.csr(A, fixed_columns=True, fixed_values=True),
                  tally.csr(A.tocoo()), tally.csr((A.data, A.indices, A.indptr), A.shape), tally.csr(sparse.csr_array(A))):
        assert same(other @ x, m @ x) and same(other.T @ y, m.T @ y)
        assert same(other.dot(x, exact=True), m.dot(x, exact=True))
    assert m.shape == (500, 300) and m.T.shape == (300, 500) and m.T.T.shape == m.shape and m.plan
    out = numpy.empty(500)
    assert m.dot(x, out=out) is out and same(out, m @ x)
    assert (m @ x.astype("c16")).dtype == "c16"
    with pytest.raises(ValueError, match="a row of A has 300 elements, x has 500"):
        m @ y
    broken = A.copy()
    broken.indices[3] = 400
    with pytest.raises(ValueError):
        tally.csr(broken)
    expected = A @ x
    del A
    gc.collect()
    assert numpy.allclose(m @ x, expected)


# --- Unrounded sums ---

def test_exact_sum(x, y):
    a, b = tally.exact_sum(x[:5000]), tally.exact_sum(x[5000:])
    assert a + b == tally.exact_sum(x) == sum([a, b]) and same((a + b).round(), tally.sum(x, exact=True))
    assert same(tally.exact_sum(x, y).round(), tally.dot(x, y, exact=True))
    assert same(tally.exact_sum(x.reshape(-1, 1)[::-1]).round(), tally.sum(x, exact=True))
    assert same(tally.exact_sum(numpy.asfortranarray(x[:99000].reshape(300, 330))[:, 1:]).round(),
                tally.sum(x[:99000].reshape(300, 330)[:, 1:], exact=True))
    c = pickle.loads(pickle.dumps(a))
    c += b
    assert tally.exact_sum(x[:5000], dtype=">f8") == a and tally.exact_sum(dtype=">f4").dtype == "f4"
    d = b.copy()
    d += d
    assert d == b + b == b.copy().merge(b) and d.round() == 2 * b.round()
    assert c == a + b and c != a and c.words.dtype == "i8" and c.words.size == 137
    words = a.words + b.words  # as MPI adds them
    assert tally.exact_sum.from_words(words) == c
    a.words[:] += b.words
    assert a == c
    small = tally.exact_sum(x.astype("f4"), dtype="f4")
    assert small.words.size == 23 and same(small.round(), tally.sum(x.astype("f4"), exact=True))
    z = tally.exact_sum(x + 1j * y, dtype="c16")
    assert same(z.round(), tally.sum(x + 1j * y, exact=True)) and complex(z) == z.round()
    assert float(tally.exact_sum([.1] * 10)) == 1.0 and math.isnan(tally.exact_sum([-4.]).root())
    for bad, error in ((lambda: a.merge(small), TypeError), (lambda: tally.exact_sum(dtype="i4"), TypeError),
                       (lambda: tally.exact_sum.from_words([1, 2]), ValueError), (lambda: hash(a), TypeError),
                       (lambda: tally.exact_sum.from_words([1.5] * 137), TypeError), (lambda: a.merge(3), TypeError),
                       (lambda: a.merge(a.words), TypeError), (lambda: tally.exact_sum(y=x), TypeError),
                       (lambda: small.add(x), TypeError), (lambda: a + 1, TypeError)):
        with pytest.raises(error):
            bad()


# --- Operands ---

def test_operands(x):
    a = x[:3000]
    expected = tally.sum(a)
    read_only = a.copy()
    read_only.setflags(write=False)

    class interface:
        __array_interface__ = a.__array_interface__

    class array:
        def __array__(self, dtype=None, copy=None):
            return a

    class capsule:
        def __dlpack__(self, **options):
            return a.__dlpack__(**options)

        def __dlpack_device__(self):
            return a.__dlpack_device__()

    class subclass(numpy.ndarray):
        pass

    for other in (read_only, interface(), array(), capsule(), memoryview(a), a.tolist(), tuple(a), a.view(subclass)):
        assert same(tally.sum(other), expected)
    assert same(tally.sum(numpy.float64(3)), numpy.float64(3)) and same(tally.sum(2), numpy.int64(2))
    for value in (0.1, 1 + 2j):
        assert same(tally.sum(numpy.broadcast_to(value, 5000)), tally.sum(numpy.full(5000, value)))
    assert same(tally.dot(numpy.broadcast_to(.1, 3000), a), tally.dot(numpy.full(3000, .1), a))


def test_masked_arrays():
    """No function drops a mask in silence."""
    for shape in ((2,), (1, 2), (2, 1)):
        x = numpy.ma.array([1., 2.], mask=[0, 1]).reshape(shape)
        for call in (tally.sum, tally.asarray, tally.histogram, lambda x: tally.histogram(x.data, weights=x), tally.exact_sum,
                     lambda x: tally.add(x, x), lambda x: tally.bincount([0, 1], x), tally.mean):
            with pytest.raises(TypeError, match=r"x\.compressed\(\)"):
                call(x)
        a = tally.asarray(x.data)
        assert numpy.dot(a.T, x).shape == numpy.dot(x.data.T, x).shape


def test_choices():
    """keepdims and exact are whatever Python takes for true or false, as by NumPy."""
    a = numpy.ones((2, 3))
    for true, false in ((True, False), (1, 0), (numpy.True_, numpy.False_), ("a", "")):
        for f in (tally.sum, tally.mean, tally.nrm2, tally.max, tally.argmin, tally.iamax, lambda x, **o: tally.minmax(x, **o)[0]):
            assert numpy.shape(f(a, keepdims=true)) == (1, 1) and numpy.shape(f(a, keepdims=false)) == ()
        for f in (tally.sum, lambda x, **o: tally.dot(x[0], x[0], **o), lambda x, **o: tally.multi_dot(x, x[0], **o)):
            assert same(f(a, exact=true), f(a, exact=True)) and same(f(a, exact=false), f(a))
    with pytest.raises(TypeError):
        tally.sum(a, keepdims=numpy.ones(2))


@pytest.mark.parametrize("name", sorted(name for name, value in vars(tally).items() if not name.startswith("_") and callable(value)))
def test_functions_are_pickled(name):
    value = getattr(tally, name)
    assert pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value


def test_executors_are_pickled(x):
    for where in (tally.serial(), tally.simd(), tally.openmp(), tally.openmp(3)):
        copied = pickle.loads(pickle.dumps(where))
        assert copied.name == where.name and copied.__reduce__() == where.__reduce__() and same(tally.sum(x, backend=copied), tally.sum(x))
    assert tally.openmp(3).__reduce__() == (tally.openmp, (3,))


def test_processes(x):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(tally.sum, [x, x[:99]]) == [tally.sum(x), tally.sum(x[:99])]


def test_pandas(x):
    pandas = pytest.importorskip("pandas")
    assert same(tally.sum(pandas.Series(x)), tally.sum(x)) and same(tally.dot(pandas.Series(x), x), tally.dot(x, x))


def test_ndarray(random):
    A = random.standard_normal((200, 300))
    a = tally.asarray(A)
    assert same(numpy.sum(a), tally.sum(A)) and same(a.sum(axis=0), tally.sum(A, 0)) and same(a.sum(0), tally.sum(A, 0))
    assert same(numpy.add.reduce(a, axis=1), tally.sum(A, 1)) and same(a.mean(), tally.mean(A))
    assert same(numpy.mean(a, axis=0, keepdims=True), tally.mean(A, 0, keepdims=True))
    assert same(a @ a[0], tally.multi_dot(A, A[0])) and same(A[:, 0] @ a, tally.multi_dot(A.T, A[:, 0]))
    assert same(numpy.dot(a[0], a[1]), tally.dot(A[0], A[1])) and same(a[0].dot(a[1]), tally.dot(A[0], A[1]))
    assert same(numpy.linalg.norm(a), tally.nrm2(A)) and same(numpy.linalg.norm(a, 2, axis=1), tally.nrm2(A, 1))
    assert same(numpy.vdot(a, a), tally.dot(A.ravel(), A.ravel()))
    b = a * 2 + 1
    assert type(b) is tally.ndarray and same(numpy.sum(b), tally.sum(A * 2 + 1))
    assert same(numpy.asarray(a @ a.T), A @ A.T) and numpy.allclose(numpy.std(a), A.std())  # NumPy's
    assert same(numpy.sum(a, where=a > 0), numpy.sum(A, where=A > 0)) and same(numpy.add(a, a, out=numpy.zeros(A.shape), where=a > 0), numpy.where(A > 0, A + A, 0))
    assert same(numpy.sum(a, where=A > 0), numpy.sum(A, where=A > 0)) and same(a.sum(initial=3.0), A.sum(initial=3.0))
    out = numpy.empty(300)
    assert numpy.sum(a, axis=0, out=out) is out and same(out, tally.sum(A, 0))
    b = a.copy()
    b += 1
    assert type(b) is tally.ndarray and same(numpy.asarray(b), A + 1)


def test_ndarray_results(random):
    """Arrays that are made are Tally's, by functions, methods and operators; out= is the caller's own object."""
    a, v = tally.asarray(random.standard_normal((3, 4))), random.standard_normal(4)
    calls = (lambda **o: numpy.sum(a, axis=0, **o), lambda **o: a.sum(axis=0, **o), lambda **o: numpy.mean(a, axis=0, **o),
             lambda **o: a.mean(axis=0, **o), lambda **o: numpy.add.reduce(a, **o), lambda **o: numpy.dot(a.T, a[:, 0], **o),
             lambda **o: a.T.dot(a[:, 0], **o), lambda **o: numpy.matmul(a.T, a[:, 0], **o), lambda **o: numpy.add(a[0], v, **o),
             lambda **o: numpy.sum(a, axis=0, where=a > 0, **o), lambda **o: numpy.max(a, axis=0, **o))
    for call in calls:
        made = call()
        assert type(made) is tally.ndarray
        for out in (numpy.zeros(4), tally.asarray(numpy.zeros(4))):
            assert call(out=out) is out and same(out, made)
    assert type(numpy.linalg.norm(a, axis=0)) is tally.ndarray and type(numpy.sum(a)) is numpy.float64
    assert same(numpy.mean(a, axis=0) @ v, tally.dot(tally.mean(numpy.asarray(a), 0), v))
    room = numpy.zeros((3, 4))
    first, second = numpy.divmod(a, 2, out=(room, None))
    assert first is room and type(second) is tally.ndarray and same(second, numpy.asarray(a) % 2)


@pytest.mark.parametrize("kept", [0, 1, False, True, numpy.False_, numpy.True_, numpy._NoValue])
def test_ndarray_keepdims(random, kept):
    A = random.standard_normal((4, 5))
    a, keepdims = tally.asarray(A), kept is not numpy._NoValue and bool(kept)
    for axis in (None, 0, 1, (0, 1)):
        total, norm = tally.sum(A, axis, keepdims=keepdims), tally.nrm2(A, axis, keepdims=keepdims)
        assert same(numpy.sum(a, axis=axis, keepdims=kept), total) and same(a.sum(axis=axis, keepdims=kept), total)
        assert same(numpy.mean(a, axis=axis, keepdims=kept), tally.mean(A, axis, keepdims=keepdims))
        assert same(a.mean(axis=axis, keepdims=kept), tally.mean(A, axis, keepdims=keepdims))
        if kept is not numpy._NoValue:
            assert same(numpy.add.reduce(a, axis=axis, keepdims=kept), total)
            assert same(numpy.linalg.norm(a, axis=axis, keepdims=kept), norm)


def test_ndarray_norms(random):
    """Roots of sums of squares are Tally's; other norms, and errors, NumPy's."""
    for shape in (7,), (4, 5), (4, 5, 6):
        A = random.standard_normal(shape)
        a, d = tally.asarray(A), len(shape)
        for ord in (None, 2, 2.0, 1, 0, 3, numpy.inf, -numpy.inf, "fro", "nuc", "other"):
            for axis in (None, *range(-d, d), numpy.int64(0), d, (0,), (0, 1), (1, 0), (-1, 0), (0, 0), (0, 1, 2), ()):
                n = d if axis is None else len(axis) if isinstance(axis, tuple) else 1
                try:
                    peer = numpy.linalg.norm(A, ord, axis)
                except Exception as e:
                    with pytest.raises(type(e)):
                        numpy.linalg.norm(a, ord, axis)
                    continue
                result = numpy.linalg.norm(a, ord, axis)
                assert numpy.allclose(result, peer) and result.shape == peer.shape
                if ord is None or ord == 2 and n == 1 or ord == "fro":
                    assert same(result, tally.nrm2(A, axis))
                else:
                    assert same(result, peer)


def test_ndarray_leaves_the_rest_to_numpy(random):
    """Types that Tally has not, of elements or of results."""
    A = random.standard_normal((4, 5))
    for dtype in ("u8", "O", "g", "G", "m8[s]"):
        with numpy.errstate(all="ignore"):
            B = (abs(A) * 9).astype("i8").astype(dtype)
        b = tally.asarray(B)
        assert numpy.array_equal(numpy.sum(b, axis=0), B.sum(axis=0)) and numpy.array_equal(numpy.mean(b), B.mean())
        if dtype != "m8[s]":
            assert numpy.array_equal(b @ A[0], B @ A[0]) and numpy.array_equal(numpy.dot(b[0], A[0]), numpy.dot(B[0], A[0]))
            assert numpy.array_equal(numpy.vdot(b, A), numpy.vdot(B, A))
        if dtype in "u8 g":
            assert same(numpy.linalg.norm(b), numpy.linalg.norm(B))
            assert same(numpy.sum(b, dtype="f8"), numpy.sum(B, dtype="f8"))
    a = tally.asarray(A)
    assert same(numpy.sum(a, dtype="f4"), numpy.sum(A, dtype="f4")) and same(a.mean(dtype="f4"), A.mean(dtype="f4"))
    assert same(a.mean(where=A > 0), A.mean(where=A > 0)) and same(numpy.mean(a, 0, where=A > 0), numpy.mean(A, 0, where=A > 0))
    assert same(a.astype("i8").sum(dtype="i4"), A.astype("i8").sum(dtype="i4"))
    with pytest.raises(TypeError):
        numpy.sum(a, other=1)


# --- Errors ---

@pytest.mark.parametrize("call,error,text", [
    (lambda: tally.sum(numpy.array(["a"])), TypeError, "no operation reads"),
    (lambda: tally.sum(numpy.array([object()])), TypeError, "no operation reads"),
    (lambda: tally.sum(numpy.zeros(3, numpy.longdouble)), TypeError, "no operation reads"),
    (lambda: tally.sum(numpy.zeros(3, "M8[s]")), TypeError, "no operation reads"),
    (lambda: tally.sum(numpy.zeros(3, "V3")), TypeError, "no operation reads"),
    (lambda: tally.sum(numpy.ma.array([1., 2.], mask=[0, 1])), TypeError, r"x\.compressed\(\)"),
    (lambda: tally.sum({}), TypeError, "no operation reads"),
    (lambda: tally.dot(numpy.zeros(3), numpy.zeros(4)), ValueError, "tally.dot: x has 3 elements, y has 4"),
    (lambda: tally.dot(numpy.zeros((3, 1)), numpy.zeros(3)), ValueError, "x has 2 dimensions"),
    (lambda: tally.dot(3., 3.), ValueError, "x has 0 dimensions"),
    (lambda: tally.dot(numpy.zeros(3), numpy.zeros(3), dtype="float32"), TypeError, None),
    (lambda: tally.sum(numpy.zeros(3), dtype="S1"), TypeError, None),
    (lambda: tally.sum(numpy.zeros(3), 1), numpy.exceptions.AxisError, None),
    (lambda: tally.sum(numpy.zeros((3, 3)), (0, 0)), ValueError, "twice"),
    (lambda: tally.sum(numpy.zeros(3), 0.5), TypeError, None),
    (lambda: tally.sum(numpy.zeros(3), backend="abacus"), RuntimeError, "there is no backend abacus"),
    (lambda: tally.sum(numpy.zeros(3), backend=3), TypeError, "backend"),
    (lambda: tally.sum(numpy.zeros((3, 3)), 0, out=numpy.zeros(4)), ValueError, "another shape"),
    (lambda: tally.sum(numpy.zeros((3, 3)), 0, out=[0, 0, 0]), TypeError, "out is no array"),
    (lambda: tally.dot(numpy.zeros(3), numpy.zeros(3), conjugate=7), ValueError, "conjugate"),
    (lambda: tally.multi_dot(numpy.zeros(3), numpy.zeros(3)), ValueError, "A has 1 dimensions"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_cuda_without_a_device():
    if "cuda" in tally.executors():
        pytest.skip("there is a device")
    with pytest.raises(RuntimeError):
        tally.cuda()
    with pytest.raises(RuntimeError):
        tally.sum([1.], backend="cuda")


def test_a_failed_call_writes_nothing():
    out = numpy.full(3, 7.)
    with pytest.raises(ValueError):
        tally.add(numpy.zeros(3), numpy.zeros(4), out=out)
    assert (out == 7).all()


def test_executors():
    names = tally.executors()
    assert names[:2] == ["serial", "simd"] and repr(tally.serial()) == "<tally.executor serial>"
    assert tally.simd().name == "simd" and tally.order_version() == 1 and tally.version().count(".") == 2


@pytest.mark.parametrize("error,text,call", [
    (TypeError, "bins is 'auto'", lambda x: tally.histogram(x, "auto")), (TypeError, "bins is 3.5", lambda x: tally.histogram(x, 3.5)),
    (ValueError, "bins is 0, not positive", lambda x: tally.histogram(x, 0)),
    (ValueError, "bins is -1, not positive", lambda x: tally.histogram(x, -1)),
    (TypeError, "tally.csr: A is of type ndarray", lambda x: tally.csr(x)),
    (ValueError, "has not two numbers", lambda x: tally.csr((x[:1], [0], [0, 1]), (1, 1, 1)))])
def test_texts_of_errors(x, error, text, call):
    with pytest.raises(error, match=text):
        call(x)


def test_empty_lists(x):
    """Indices and keys that are none: an empty list is an array of float64."""
    assert same(tally.gather(x, []), x[:0]) and same(tally.bincount([]), numpy.bincount([]))
    assert same(tally.bincount([], minlength=3), numpy.bincount([], minlength=3))
    assert same(tally.scatter_add([], [], numpy.ones(2)), numpy.ones(2))


# --- Processes and threads ---

def test_threads(x, y):
    found, dot = [], tally.dot(x, y)
    threads = [threading.Thread(target=lambda: found.extend(tally.dot(x, y) for _ in range(50))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 400 and set(found) == {dot}


def test_the_lock_is_released(random):
    long, turns, stop = random.standard_normal(10_000_000), [], threading.Event()

    def count():
        n = 0
        while not stop.is_set():
            n += 1
        turns.append(n)

    thread = threading.Thread(target=count)
    thread.start()
    for _ in range(5):
        tally.sum(long, exact=True, backend="simd")
    stop.set()
    thread.join()
    assert turns[0] > 1000


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork(x):
    expected = tally.sum(x)
    if "openmp" in tally.executors():
        tally.sum(x, backend=tally.openmp(3))
    child = os.fork()
    if child == 0:
        os._exit(0 if same(tally.sum(x), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_no_leaks(x):
    """References of operands, results and names, and memory."""
    a, out, A = x[:8].copy(), numpy.empty(3), x[:12].reshape(4, 3)[:, ::-1]
    counted = [a, out, A, "simd", None]

    def calls():
        tally.dot(a, a, backend="simd")
        tally.sum(A, 0, out=out)
        tally.sum(A.T)
        tally.add(A, A)
        tally.exact_sum(a).words
        tally.histogram(a, 3)
        try:
            tally.dot(a, x)
        except ValueError:
            pass

    calls()
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(1000):
        calls()
    after = [sys.getrefcount(each) for each in counted]
    assert all(abs(a - b) < 10 for a, b in zip(before, after))
