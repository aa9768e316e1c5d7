"""Runs a program of Python with Tally's BLAS in front of that of NumPy and SciPy.

python -m tally.blas script.py [ARGUMENT...]; also -c CODE or -m MODULE, as python itself takes them. TALLY_BLAS_GRADE,
TALLY_BLAS_EXECUTOR and TALLY_BLAS_VERBOSE in the environment are the settings; docs/blas.md has more. Programs that
the script starts run likewise.
"""
import os
import pathlib
import re
import sys


def library():
    """Returns the path of libtally_blas.so: the package's, or that of the installation whose library the package uses."""
    folders = [pathlib.Path(__file__).parent]
    import tally  # noqa: F401, which loads libtally.so, if that is one
    with open("/proc/self/maps") as maps:
        folders += [pathlib.Path(path).parent for path in re.findall(r"(/.*/libtally\.so[.\d]*)$", maps.read(), re.M)]
    for folder in folders:
        for path in (folder / "libtally_blas.so", folder / "bindings" / "blas" / "libtally_blas.so"):
            if path.exists():
                return str(path)
    raise FileNotFoundError(f"libtally_blas.so is in none of {', '.join(map(str, folders))}: the library was built "
                            "with TALLY_BUILD_BLAS=OFF")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: python -m tally.blas script.py [ARGUMENT...]")
    first = [library(), *filter(None, [os.environ.get("LD_PRELOAD")])]
    os.execve(sys.executable, [sys.executable, *sys.argv[1:]], os.environ | {"LD_PRELOAD": ":".join(first)})


if __name__ == "__main__":
    main()
