import numpy
import pytest


@pytest.fixture
def random():
    return numpy.random.default_rng(20261126)


@pytest.fixture(scope="session")
def x():
    return numpy.random.default_rng(1).standard_normal(100003)


@pytest.fixture(scope="session")
def y():
    return numpy.random.default_rng(2).standard_normal(100003)
