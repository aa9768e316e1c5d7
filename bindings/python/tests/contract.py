"""What results must be: docs/numerics.md transcribed, literally and slowly, and the data of tests/golden.hpp."""
import fractions

import numpy

CHUNK, LANES = 1024, 64
MASK = (1 << 64) - 1


def in_order(terms, accumulator):
    """The sum of terms in the order of version 1."""
    terms = numpy.asarray(terms).astype(accumulator)
    nodes = []
    for begin in range(0, len(terms), CHUNK):
        lanes = numpy.zeros(LANES, accumulator)
        for i in range(begin, min(begin + CHUNK, len(terms)), LANES):
            row = terms[i:min(i + LANES, begin + CHUNK)]
            lanes[:len(row)] += row
        half = LANES // 2
        while half > 0:
            lanes[:half] += lanes[half:2 * half]
            half //= 2
        nodes.append(lanes[0])
    while len(nodes) > 1:
        pairs = [a + b for a, b in zip(nodes[::2], nodes[1::2])]
        nodes = pairs + ([nodes[-1]] if len(nodes) % 2 else [])
    return nodes[0] if nodes else numpy.dtype(accumulator).type(0)


def exactly(*vectors):
    """The exact sum of products, rounded once to float64."""
    total = fractions.Fraction(0)
    for numbers in zip(*vectors):
        term = fractions.Fraction(1)
        for number in numbers:
            term *= fractions.Fraction(float(number))
        total += term
    return numpy.float64(float(total))


def same(a, b):
    """Whether two results have one type, one shape and the same bits."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


class generator:
    def __init__(self, seed):
        self.state = seed

    def __call__(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return self.state >> 11


def doubles(n, seed, lowest=-8, span=8):
    random, bits = generator(seed), []
    for _ in range(n):
        fraction = random() & 0x000fffffffffffff
        exponent = 1023 + lowest + random() % span
        bits.append(fraction | exponent << 52 | (random() & 1) << 63)
    return numpy.array(bits, numpy.uint64).view(numpy.float64)


def floats(n, seed):
    random, bits = generator(seed), []
    for _ in range(n):
        given = random() & 0xffffffff
        bits.append((given & 0x807fffff) | (119 + given % 7) << 23)
    return numpy.array(bits, numpy.uint32).view(numpy.float32)
