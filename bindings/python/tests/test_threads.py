"""Many threads in the package at once, also where CPython has no global lock."""
import sys
import sysconfig
import threading

import numpy
import pytest

import tally
from contract import same


def at_once(count, f):
    """The results of f(i) on threads that begin together, or an exception."""
    begin, found = threading.Barrier(count), [None] * count

    def run(i):
        try:
            begin.wait()
            found[i] = f(i)
        except Exception as e:
            found[i] = e

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in found:
        if isinstance(each, Exception):
            raise each
    return found


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this CPython has a global lock")
def test_no_global_lock():
    assert not sys._is_gil_enabled()


def test_calls_at_once(x, y):
    A = x[:9000].reshape(30, 300)
    calls = [lambda: tally.dot(x[:100], y[:100]), lambda: tally.sum(x), lambda: tally.sum(A.T, 0), lambda: tally.sum(A.T),
             lambda: tally.argmax(A, 1), lambda: tally.exp(A[:, ::2]), lambda: tally.sum(x[::-1], exact=True),
             lambda: tally.histogram(x, 7)[0], lambda: tally.bincount([1, 2, 1]), lambda: tally.gemv(1, A, y[:300]),
             lambda: tally.exact_sum(x[:5000]).round(), lambda: tally.dot(x[:9].tolist(), y[:9].astype(">f8"))]
    expected = [call() for call in calls]

    def run(i):
        for k in range(40):
            at = (i + k) % len(calls)
            assert same(calls[at](), expected[at])

    at_once(8, run)


def test_one_matrix_on_many_threads(random):
    sparse = pytest.importorskip("scipy.sparse")
    A = tally.csr(sparse.random(400, 400, .1, "csr", rng=random))
    x = random.standard_normal(400)
    expected = A @ x
    assert all(same(each, expected) for each in at_once(8, lambda i: [A @ x for _ in range(50)][-1]))


def test_libraries_at_once(x):
    """Arrays of two libraries in turn: what is known of a type is kept."""
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(x)
    expected = tally.sum(x)

    class exported:
        """DLPack by a method alone."""
        __dlpack__, __dlpack_device__ = x.__dlpack__, x.__dlpack_device__

    def run(i):
        for k in range(100):
            assert float(tally.sum(t if (i + k) % 2 else exported())) == expected

    at_once(8, run)


def test_errors_at_once():
    """Texts of errors are each thread's own."""
    def run(i):
        for n in range(100):
            with pytest.raises(ValueError, match=f"x has {i + 2} elements, y has 1"):
                tally.dot(numpy.ones(i + 2), numpy.ones(1))

    at_once(8, run)
