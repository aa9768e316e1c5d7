"""What an editor and help() show: every public function has a docstring and types, the compiled ones in a stub."""
import ast
import inspect
import pathlib

import pytest

import tally
import tally._tally

FOLDER = pathlib.Path(tally.__file__).parent
PUBLIC = {name: value for name, value in vars(tally).items() if not name.startswith("_") and not inspect.ismodule(value)}
COMPILED = {name for name in vars(tally._tally) if not name.startswith("_")}


def declared():
    """Functions and classes of the stub and of the package's sources, by name."""
    for path in [FOLDER / "_tally.pyi", *FOLDER.glob("_*.py")]:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield node.name, node


DECLARED = dict(declared())


def has_types(function):
    arguments = [*function.args.args, *function.args.kwonlyargs]
    return all(each.arg in ("self", "cls") or each.annotation and ast.unparse(each.annotation) != "object" for each in arguments) \
        and (function.name == "__init__" or function.returns is not None)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public(name):
    value, node = PUBLIC[name], DECLARED[name]
    assert len(inspect.getdoc(value) or "") > 10
    if isinstance(node, ast.FunctionDef):
        assert has_types(node)
    elif value is not tally.ndarray:  # whose methods are NumPy's
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and (not member.name.startswith("_") or member.name == "__init__"):
                assert has_types(member), member.name
                assert member.name == "__init__" or inspect.getdoc(getattr(value, member.name)), member.name


def test_all_is_public():
    assert (FOLDER / "py.typed").exists() and COMPILED <= set(PUBLIC) and not {"numpy", "math", "sys"} & set(PUBLIC)
