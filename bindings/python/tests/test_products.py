"""Products of matrices and of rows, sums of segments: bits, layouts, what is refused."""
import numpy
import pytest

import tally
from contract import same

BACKENDS = [each for each in tally.executors() if each != "cuda"]
LAYOUTS = {"C": lambda A: A, "Fortran": numpy.asfortranarray, "reversed": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
           "sliced": lambda A: numpy.repeat(numpy.repeat(A, 2, 0), 3, 1)[::2, ::3],
           "byte order": lambda A: A.astype(A.dtype.newbyteorder())}


def matrix(random, dtype, *shape):
    A = random.standard_normal(shape)
    return (A + 1j * random.standard_normal(shape)).astype(dtype) if numpy.dtype(dtype).kind == "c" else (9 * A).astype(dtype)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "f2"])
def test_batched_dot(random, dtype, layout, backend):
    x, y = matrix(random, dtype, 13, 300), matrix(random, "f8", 13, 300)
    expected = numpy.array([tally.dot(a, b, backend=backend) for a, b in zip(x, y)])
    laid = LAYOUTS[layout]
    for a, b in ((laid(x), y), (x, laid(y)), (laid(x), laid(y))):
        assert same(tally.batched_dot(a, b, backend=backend), expected)
        assert same(tally.batched_dot(a, b, exact=True)[3], tally.dot(x[3], y[3], exact=True))
    deep = tally.batched_dot(laid(x).T.reshape(300, 13, 1).transpose(2, 1, 0), y[None], backend=backend)
    assert deep.shape == (1, 13) and same(deep[0], expected)
    out = numpy.zeros(26, expected.dtype)[::2]
    assert tally.batched_dot(laid(x), y, out=out) is out and same(out, expected)


def test_batched_dot_of_few(random):
    x = matrix(random, "c8", 4, 5, 6)
    assert same(tally.batched_dot(x, x, conjugate=1)[2, 3], tally.vdot(x[2, 3], x[2, 3]))
    assert same(tally.batched_dot(x[0, 0], x[0, 1]), tally.dot(x[0, 0], x[0, 1]))
    assert same(tally.batched_dot(x[:, :0], x[:, :0]), numpy.zeros((4, 0), "c8"))
    assert same(tally.batched_dot(x[..., :0], x[..., :0]), numpy.zeros((4, 5), "c8"))
    assert same(tally.batched_dot([[1, 2], [3, 4]], [[5, 6], [7, 8]]), numpy.array([17, 53]))
    assert same(tally.batched_dot(numpy.full((1, 2), 2**63, "u8"), [[1, 0]]), numpy.array([2**63], "u8"))
    for a, b in ((x, x[0]), (x, x[:3]), (numpy.float64(1), numpy.float64(1))):
        with pytest.raises(ValueError, match="shape|dimension"):
            tally.batched_dot(a, b)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
def test_gemv(random, dtype, layout, backend):
    A, x, y = matrix(random, dtype, 30, 41), matrix(random, "f8", 41), matrix(random, "f8", 30)
    laid, product = LAYOUTS[layout](A), numpy.array([tally.dot(row, x, backend=backend) for row in A])
    assert same(tally.gemv(1, laid, x, backend=backend), product)
    assert same(tally.gemv(2, laid[:, ::-1], x[::-1], backend=backend)[4], 2 * tally.dot(A[4, ::-1], x[::-1]))
    assert same(tally.gemv(-1, laid.T, y, backend=backend)[7], -tally.dot(A[:, 7], y))
    assert same(tally.gemv(1, laid, x, exact=True)[5], tally.dot(A[5], x, exact=True))
    z = y.astype(product.dtype)
    expected = .5 * product + 3 * z
    for out in (z.copy(), numpy.repeat(z, 2)[::2], z[::-1].copy()[::-1]):
        assert tally.gemv(.5, laid, x, 3, out, backend=backend) is out and same(out, expected)
    out = numpy.full(30, numpy.nan, product.dtype)
    assert same(tally.gemv(1, laid, x, 0, out), product)  # y is not read
    conjugated = tally.gemv(1, laid, x, conjugate=True, backend=backend)
    assert same(conjugated[8], tally.dot(A[8], x, conjugate=1))
    assert same(tally.gemv(1, laid.T, y, conjugate=True)[9], tally.dot(A[:, 9], y, conjugate=1))


def test_gemv_refuses(random):
    A, x = matrix(random, "f8", 4, 3), matrix(random, "f8", 3)
    kept = A.copy()
    for error, call in ((ValueError, lambda: tally.gemv(1, A, x[:2])), (ValueError, lambda: tally.gemv(1, A[0], x)),
                        (ValueError, lambda: tally.gemv(1, A, x, 0, numpy.zeros(3))),
                        (ValueError, lambda: tally.gemv(1, A, x, 1, A[:, 0])),
                        (TypeError, lambda: tally.gemv(1, A.astype("i4"), x.astype("i4"))),
                        (TypeError, lambda: tally.gemv(1, A, x, 0, numpy.zeros(4, "i8"))),
                        (TypeError, lambda: tally.gemv(1, A.astype("u8"), x)),
                        (TypeError, lambda: tally.gemv(1, A, x, 0, [0, 0, 0, 0]))):
        with pytest.raises(error):
            call()
    assert same(A, kept)
    assert tally.gemv(1, A[:0], x).shape == (0,) and same(tally.gemv(1, A[:, :0], x[:0]), numpy.zeros(4))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_multi_axpy(random, layout):
    X, alpha, y = matrix(random, "f8", 7, 500), matrix(random, "f8", 7), matrix(random, "f8", 500)
    expected = tally.axpby(alpha[0], X[0], 2, y.copy())
    for j in range(1, 7):
        tally.axpy(alpha[j], X[j], expected)
    for factors in (alpha, alpha.tolist(), numpy.repeat(alpha, 2)[::2]):
        out = y.copy()
        assert tally.multi_axpy(factors, LAYOUTS[layout](X), 2, out) is out and same(out, expected)
    reversed = y[::-1].copy()[::-1]
    assert same(tally.multi_axpy(alpha, LAYOUTS[layout](X), 2, reversed), expected)
    for bad in (lambda: tally.multi_axpy(alpha[:6], X, 1, y), lambda: tally.multi_axpy(alpha, X, 1, y[:9]),
                lambda: tally.multi_axpy(alpha, X, 1, X[0])):
        with pytest.raises(ValueError):
            bad()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_segmented_sum(random, dtype, backend):
    sparse = pytest.importorskip("scipy.sparse")
    x = matrix(random, dtype, 3000)
    offsets = numpy.sort(numpy.r_[0, 0, random.integers(0, 3000, 50), 3000, 3000])
    expected = tally.csr((x, numpy.zeros(3000, "i8"), offsets), (len(offsets) - 1, 1), plan=False) @ numpy.ones(1, x.real.dtype)
    for o in (offsets, offsets.astype("i4")):
        assert same(tally.segmented_sum(x, o, backend=backend), expected)
        assert same(tally.segmented_sum(numpy.repeat(x, 2)[::2], o, backend=backend), expected)
        assert same(tally.segmented_sum(x[::-1].copy()[::-1].astype(x.dtype.newbyteorder()), o, backend=backend), expected)
    exact = tally.segmented_sum(x, offsets, exact=True, backend=backend)
    assert all(same(exact[j], tally.sum(x[offsets[j]:offsets[j + 1]], exact=True)) for j in range(len(exact)))
    assert sparse and tally.segmented_sum(x[:0], [0]).shape == (0,) and same(tally.segmented_sum([1., 2], [0, 2]), numpy.array([3.]))


@pytest.mark.parametrize("offsets", [[], [1, 4], [0, 3], [0, 3, 2, 4], [0, 5], [0, 2**40, 4], [-1, 4], [0., 4.]])
def test_offsets_are_checked(offsets):
    with pytest.raises((ValueError, TypeError), match="offset|segments"):
        tally.segmented_sum(numpy.ones(4), offsets)


@pytest.mark.parametrize("plan", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sparse_times_columns(random, layout, plan):
    sparse = pytest.importorskip("scipy.sparse")
    A = sparse.random(200, 120, .1, "csr", rng=random)
    m = tally.csr(A, plan=plan)
    for k in (0, 1, 2, 5, 16, 33):
        X, Y = matrix(random, "f8", 120, k), matrix(random, "f8", 200, k)
        products, transposed = m @ LAYOUTS[layout](X), m.T @ LAYOUTS[layout](Y)
        assert products.shape == (200, k) and transposed.shape == (120, k)
        assert numpy.allclose(products, A @ X) and numpy.allclose(transposed, A.T @ Y)
        rows = LAYOUTS[layout](Y.T.copy()) @ m
        assert rows.flags.c_contiguous and same(rows, transposed.T.copy())
        for j in range(k):
            assert same(products[:, j].copy(), m @ X[:, j]) and same(transposed[:, j].copy(), Y[:, j] @ m)
        exact = m.dot(LAYOUTS[layout](X), exact=True)
        assert k == 0 or same(exact[:, -1].copy(), m.dot(X[:, -1], exact=True))
        out = numpy.zeros((200, k), order="F")
        assert m.dot(X, out=out) is out and same(out.copy(), products)
    column = numpy.ones(120)  # steps of a dimension of one element are of no account
    for X in (column[:, None], numpy.lib.stride_tricks.as_strided(column, (120, 1), (8, 0))):
        assert same((m @ X).ravel(), m @ column)
    one = tally.csr((numpy.ones(200), numpy.zeros(200, "i8"), numpy.arange(201)), (200, 1), plan=plan)
    X = numpy.lib.stride_tricks.as_strided(numpy.arange(3.), (1, 3), (0, 8))
    assert same(one @ X, one @ X.copy())
    for bad in (numpy.ones((119, 2)), numpy.ones(119), numpy.ones((120, 1, 1)), numpy.float64(1)):
        with pytest.raises(ValueError):
            m @ bad
