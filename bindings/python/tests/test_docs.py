"""The blocks of docs/python.md run, one after another; those that import what is not installed don't."""
import pathlib
import re

import pytest

import numpy

import tally

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
names = {}


def test_every_function_is_named():
    public = {name for name, value in vars(tally).items() if not name.startswith("_") and callable(value)}
    assert public <= set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", PAGE.read_text()))))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_block(block):
    for module in re.findall(r"^(?:import|from) (\w+)", block, re.M):
        pytest.importorskip(module)
    if not names:
        random = numpy.random.default_rng(1)
        names.update(x=random.standard_normal(1000), y=random.standard_normal(1000), A=random.standard_normal((1000, 1000)))
    exec(compile(block, str(PAGE), "exec"), names)
