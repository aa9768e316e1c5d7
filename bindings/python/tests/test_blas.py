"""python -m tally.blas, in processes of its own: NumPy's products have tally.dot's bits."""
import os
import re
import subprocess
import sys

import pytest

from tally import blas

PROGRAM = """
import sys
import numpy, tally
x, y = (numpy.random.default_rng(i).standard_normal(100003) for i in (1, 2))
print((x @ y).hex(), sys.argv[1:])
assert x @ y == tally.dot(x, y), "x @ y"
assert x[::2] @ y[::2] == tally.dot(x[::2], y[::2]), "strided"
assert x.astype("f4") @ y.astype("f4") == tally.dot(x.astype("f4"), y.astype("f4")), "float32"
assert numpy.vdot(x + 1j * y, y - 1j * x) == tally.vdot(x + 1j * y, y - 1j * x), "vdot"
A = x[:90000].reshape(300, 300)
for matrix in A, A.T, numpy.asfortranarray(A):
    assert (matrix @ y[:300] == [tally.dot(row, y[:300]) for row in matrix]).all(), "A @ v"
"""


def run(arguments, **variables):
    return subprocess.run([sys.executable, "-m", "tally.blas", *arguments], env=os.environ | variables,
                          capture_output=True, text=True)


@pytest.fixture(scope="module", autouse=True)
def has_library():
    try:
        blas.library()
    except FileNotFoundError as failure:
        pytest.skip(str(failure))


def test_same_bits(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    results = [run([script, "a", "b"], OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads) for threads in "12"]
    assert [each.stderr for each in results] == ["", ""]
    assert results[0].returncode == 0 and results[0].stdout == results[1].stdout
    assert "['a', 'b']" in results[0].stdout


def test_settings():
    program = "import numpy; x = numpy.array([2.0**60, -2.0**60, 3]); print(x @ numpy.ones(3))"
    assert run(["-c", program]).stdout == "0.0\n"
    assert run(["-c", program], TALLY_BLAS_GRADE="exact").stdout == "3.0\n"
    assert re.search(r"numpy.*: dot \d+ \(\d+ elements\)", run(["-c", program], TALLY_BLAS_VERBOSE="1").stderr)


def test_usage():
    result = run([])
    assert result.returncode != 0 and "usage" in result.stderr
