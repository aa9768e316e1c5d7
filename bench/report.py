#!/usr/bin/env python3
"""Makes a table (results.md) and plots of a results.json of tally_bench, in the same folder.

usage: report.py results.json

In the folders that are committed, bench/results/MACHINE, it compresses results.json to results.json.gz, which stands
for it from then on. There it draws only the plots that README.md and docs/ show, and removes all others.

Rows are named LANE/TYPES/SIZE/THREADS/CONTENDER; of a sparse matrix SIZE is its name. All times are
medians. Rows of one group (the same LANE/TYPES/SIZE/THREADS) computed the same product from the same
data in turn, so they may be compared; on a shared machine, nothing else may.
"""

from __future__ import annotations

import collections
import dataclasses
import gzip
import json
import math
import pathlib
import re
import sys

# How many times as fast as its limit a row can be measured by noise: from memory H100s and H200s differ by 4 %.
NOISE = 1.05
ACCURACY = {"float32": 2.0**-23, "float64": 2.0**-52}
# An element-wise function in 16 bits is computed in float32 but rounded to its own type.
OF_ELEMENTS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, **ACCURACY}
OF_TRANSCENDENTAL = (
    "but of `sigmoid`, `exp`, `log` and `tanh` from the value in more digits, in units in the last place (ulp) of the "
    "result's type, where **wrong** is more than 16; "
)
FROM_TWO = {
    "axpy": "axpy, z = αx + y,",
    "waxpby": "w = αx + βy",
    "axpbypcz": "z = αx + βy + γz",
    "add": "Sum of two vectors",
    "mul": "Product of two vectors, element by element,",
    "div": "Quotient of two vectors, element by element,",
    "minimum": "Smaller elements of two vectors",
    "maximum": "Larger elements of two vectors",
    "compare": "Comparison of two vectors",
    "where": "Elements of two vectors by a mask",
    "jacobi-step": "z = x + αy / z",
}
ELEMENTWISE = {
    "copy": "Copy",
    **FROM_TWO,
    "relu": "relu",
    "sigmoid": "Sigmoid",
    "exp": "exp",
    "inv": "Reciprocals",
    "abs": "Magnitudes",
    "sqrt": "Square roots",
    "log": "log",
    "tanh": "tanh",
    "sign": "Signs",
    "scale": "z = αx",
    "add-constant": "z = x + b",
    "clamp": "Elements between two limits",
    "pow": "Cubes",
    "compare-constant": "Comparison with a number",
    "scan": "Prefix sums",
}
FUSED = {
    "waxpby-nrm2": "w = αx + y and its norm",
    "axpy-dot": "y = αx + y and its product with another vector",
}
OF_ONE = {
    "sum": "Sum",
    "asum": "Sum of magnitudes",
    "nrm2": "Euclidean norm",
    "sum-of-squares": "Sum of squares",
    "max-norm": "Largest magnitude",
    "wrms-norm": "Weighted root mean square",
    "max": "Largest element",
    "iamax": "Index of the element of largest magnitude",
}
OF_MANY = {
    "multi-dot": "16 vectors against one",
    "batched-dot": "10^6 dot products of n elements",
}
OF_SEVERAL = {
    "sums": "Sums of 1024 vectors of n elements",
    "sums-columns": "Sums of the 1024 columns of a row-major matrix of n rows",
    "gemv": "A matrix of 1024 rows of n elements times a vector",
    "gemv-columns": "A column-major matrix of 1024 rows and n columns times a vector",
    "multi-axpy": "y plus multiples of 8 vectors",
    "segmented-sum-4": "Sums of segments of 4 doubles on average, of n doubles",
    "segmented-sum-30": "Sums of segments of 30 doubles on average, of n doubles",
    "segmented-sum-1000": "Sums of segments of 1000 doubles on average, of n doubles",
    "scatter-add": "2^21 doubles added to n, all as likely",
    "scatter-add-zipf": "2^21 doubles added to n, the k-th with probability 1 / k",
}
HISTOGRAMS = {
    "bincount": "Histogram of 2^25 keys{}, all bins as likely",
    "bincount-zipf": "Histogram of 2^25 keys{}, bin k with probability 1 / k",
    "bincount-constant": "Histogram of 2^25 equal keys{}",
    "bincount-entropy": "Histogram of 2^25 keys of 256 bins{}, by entropy",
    "histogram-even": "Histogram of 2^25 samples{}, bins of equal width",
    "histogram-range": "Histogram of 2^25 samples{}, bins between given edges",
}
OF_MATRICES = {
    **{f"spmm-{k}": f"Sparse matrix times {k} vectors, in rows of X" for k in (4, 8, 32)},
    "csr-from-coo": "Assembly of a sparse matrix from its entries in random order",
    "diagonal": "Diagonal of a sparse matrix",
    "row-norms": "Sums of magnitudes of a sparse matrix's rows",
    "scale-rows": "Rows of a sparse matrix times factors",
}
ON_BOTH = {**OF_ONE, **ELEMENTWISE, **FUSED, **OF_MANY, **OF_SEVERAL}
ON_DEVICE = " on the CUDA device"
IN_GRAPH = f"{ON_DEVICE}: the device's time in a graph"
LANES = {
    "dot": "Dot product on the host, vectors where malloc puts them",
    "dot-aligned": "Dot product on the host, vectors that start with a page",
    **{lane: f"{what} on the host" for lane, what in ON_BOTH.items()},
    "exact": "Exact dot product on the host",
    "exact-spread": "Exact dot product on the host, exponents spread over 2^±100 (float32: 2^±15)",
    "exact-sum": "Exact sum on the host",
    "exact-sum-spread": "Exact sum on the host, exponents over 2^±100",
    "accuracy": "Error against condition number, 1000 elements",
    **{lane: what.format(" on the host") for lane, what in HISTOGRAMS.items()},
    **{f"{lane}-cuda": what.format(ON_DEVICE) for lane, what in HISTOGRAMS.items()},
    "dot-cuda": f"Dot product{IN_GRAPH}",
    "dot-cuda-to-host": f"Dot product{ON_DEVICE}, returned to the host: the call's time",
    **{f"{lane}-cuda": what + IN_GRAPH for lane, what in ON_BOTH.items()},
    **{
        f"{lane}-cuda-odd": f"{ELEMENTWISE[lane]}{ON_DEVICE}, vectors one element past a page"
        for lane in ("add", "sigmoid")
    },
    "exact-cuda": f"Exact dot product{IN_GRAPH}",
    "exact-cuda-spread": f"Exact dot product{ON_DEVICE}, exponents spread over 2^±100",
    "exact-cuda-sum": f"Exact sum{IN_GRAPH}",
    "host": "Dot product of data in host memory, on the CUDA device, or where it is",
    "spmv": "Sparse matrix times vector on the host",
    "spmv-new-plan": "Sparse matrix times vector on the host, with a plan or handle made anew for every product",
    "spmv-transpose": "The transpose of a sparse matrix times vector on the host, with plans",
    "spmv-transpose-cuda": f"The transpose of a sparse matrix times vector{IN_GRAPH}",
    "spmv-cuda": f"Sparse matrix times vector{IN_GRAPH}",
    **{lane: f"{what} on the host" for lane, what in OF_MATRICES.items()},
    **{f"{lane}-cuda": what + IN_GRAPH for lane, what in OF_MATRICES.items()},
    "csr-from-coo-cuda": f"{OF_MATRICES['csr-from-coo']}{ON_DEVICE}: the call's time",
    "row-norms-cuda": f"{OF_MATRICES['row-norms']}{ON_DEVICE}: the call's time",
    "ladder": "The ladder on the host",
    "ladder-cuda": f"The ladder{IN_GRAPH}",
    "ladder-spmv-cuda": "Sparse matrix times vector by the lanes a row: the device's time in a graph",
}
ON_ALL_THREADS = {
    "dot", "exact", "exact-spread", "exact-sum", "exact-sum-spread", "spmv", "spmv-new-plan", "spmv-transpose",
    *ON_BOTH, *HISTOGRAMS, *OF_MATRICES,
}


def has_matrix(lane):
    """Whether a row is of a sparse matrix, which has a name, and n nonzeros."""
    return "spmv" in lane or lane.removesuffix("-cuda") in OF_MATRICES


def is_ladder(lane):
    return lane.startswith("ladder")


def is_elementwise(lane):
    return lane.removesuffix("-odd").removesuffix("-cuda") in ELEMENTWISE


def writes(lane):
    """Whether a vector is written, so that a copy is the limit."""
    return is_elementwise(lane) or lane.removesuffix("-cuda") in FUSED


def reads_one(lane):
    """Whether one vector is read for the one that is written."""
    return is_elementwise(lane) and lane.removesuffix("-odd").removesuffix("-cuda") not in FROM_TWO


def counts(lane):
    """Whether n is a number of bins, or by entropy one of words."""
    return lane.startswith(("bincount", "histogram"))


def by_entropy(lane):
    return "entropy" in lane


def entropy(words):
    """Bits of entropy of a byte that is the conjunction of as many random words."""
    one = 0.5**words
    return -8 * (one * math.log2(one) + (1 - one) * math.log2(1 - one))


@dataclasses.dataclass
class Row:
    lane: str
    types: str
    n: int
    matrix: str  # its name, if there is one
    threads: int  # of the group; `own_threads` is what the contender may use
    name: str
    own_threads: int
    label: str
    position: int
    seconds: float
    fastest: float  # seconds of the fastest repetition
    bytes: float
    agrees: bool | None  # with our serial executor, bit for bit; None for a limit
    error: float | None
    error_ulp: float | None  # of transcendental functions, which have a reference: in units in the last place
    us_in_2021: float | None
    set_up: float | None  # seconds, for what is kept for a matrix
    of_limit: float | None = None  # bytes a second of this / those of the best limit
    beats_limit: float | None = None  # the same where it shows that the limit is none
    of_best_other: float | None = None  # best other contender's time / this
    pays_after: float | None = None  # products in which a set-up is won back

    @property
    def group(self):
        return self.lane, self.types, self.n, self.matrix, self.threads

    @property
    def ours(self):
        """In a lane of the exact grade the default grade is one of the others."""
        exact = self.lane.startswith("exact") or self.lane == "accuracy"
        return self.name.startswith("tally::") and (not exact or self.name.endswith(" exact"))

    @property
    def limit(self):
        return self.name.startswith("limit")

    @property
    def is_in_place(self):
        return "in place" in self.name or "in place" in self.label

    @property
    def is_bound_by_limit(self):
        """In the lane of data in host memory the limit is the bus, which not all go over; and a plan whose columns or
        values stay what they are reads fewer bytes than the matrix has."""
        if self.lane == "host":
            return self.name not in ("tally::simd", "tally::openmp", "tally::cuda, resident")
        return not (has_matrix(self.lane) and ", fixed" in self.name)

    @property
    def wrong(self):
        """Off by more than any order of summation is on random data, or any formula in the type itself."""
        if self.error_ulp is not None:
            return self.error_ulp > 16
        if self.error is None or self.lane == "accuracy":
            return False
        if is_elementwise(self.lane):
            return self.error > 4 * OF_ELEMENTS[self.types.split("x")[0]]
        double = "float64" in self.types or "complex128" in self.types
        return self.error > math.sqrt(self.n) * ACCURACY["float64" if double else "float32"]


def kept_as(path):
    """The compressed form of a results.json."""
    return path.with_name(f"{path.name}.gz")


def keep(path):
    """Replaces a results.json by its compressed form: the same bytes for the same results."""
    kept_as(path).write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()


def read(path):
    text = path.read_text() if path.exists() else gzip.decompress(kept_as(path).read_bytes()).decode()
    try:
        data = json.loads(text)
    except json.JSONDecodeError:  # a run that was cut short
        data = json.loads(text.rstrip().rstrip(",") + "]}")
    return data["context"], rows_of(data["benchmarks"])


def rows_of(benchmarks):
    """The rows of Google Benchmark's runs, with what follows from their groups. Runs that were put together have the
    minimum beside the median, as `least`."""
    rows = []
    fastest = {run["run_name"]: run["real_time"] for run in benchmarks if run.get("aggregate_name") == "min"}
    for run in benchmarks:
        if run.get("aggregate_name") != "median" or run.get("error_occurred"):
            continue
        lane, types, size, threads, name = run["run_name"].split("/")[:5]
        scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[run["time_unit"]]
        rows.append(Row(
            lane,
            types,
            int(run["n"] if has_matrix(lane) else size),
            size if has_matrix(lane) else "",
            int(threads),
            name,
            int(run["threads_used"]),
            run.get("label", ""),
            run["family_index"],
            run["real_time"] * scale,
            run.get("least", fastest.get(run["run_name"], run["real_time"])) * scale,
            run["bytes"],
            bool(run["agrees"]) if "agrees" in run else None,
            *(run.get(key) for key in ("error", "error_ulp", "us_in_2021", "set_up")),
        ))
    rows.sort(key=lambda r: (list(LANES).index(r.lane), r.types, r.threads, r.n, r.matrix, r.position))
    for group in groups_of(rows).values():
        set_shares(group)
        other = min(
            (r.seconds for r in group if not r.ours and not r.limit and not r.wrong), default=None
        )
        seconds = {row.name: row.seconds for row in group}
        for row in group:
            without = seconds.get(row.name.split(" plan")[0].removesuffix(" inspector"), 0)
            if row.set_up and without > row.seconds:
                row.pays_after = row.set_up / (without - row.seconds)
            row.of_best_other = other and not row.limit and other / row.seconds or None
    return rows


def limits_for(group, in_place):
    """The limits, perhaps none, of what writes a vector elsewhere, or in place."""
    names = ("limit: read", "limit: the bus")
    if writes(group[0].lane):
        names = ("limit: read and write",)
        if not any(r.name.startswith(names) for r in group) and reads_one(group[0].lane):
            names = ("limit: copy",)
    limits = [r for r in group if r.name.startswith(names)]
    return [r for r in limits if r.is_in_place == in_place] or [r for r in limits if not r.is_in_place]


def set_shares(group):
    """Of a group each row's share of its limit: of what the memory can do, so of the fastest that was seen, be it the
    limit's fastest repetition or a row that beats that by no more than noise. Where a row beats it by more, it was
    measured too low, on a machine at other work, and nobody has a share."""
    for in_place in (False, True):
        limits = limits_for(group, in_place)
        if not limits:
            continue
        bound = [r for r in group if not r.limit and r.is_in_place == in_place and r.is_bound_by_limit]
        limit = max(r.bytes / r.fastest for r in limits)
        best = max((r.bytes / r.seconds for r in bound), default=0)
        if best > NOISE * limit:
            for r in bound:
                if r.bytes / r.seconds > NOISE * limit:
                    r.beats_limit = r.bytes / r.seconds / limit
            continue
        for r in bound + [r for r in limits if r.is_in_place == in_place]:
            r.of_limit = r.bytes / r.seconds / max(limit, best)


def groups_of(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    return groups


# --- Text -----------------------------------------------------------------------------------------


def time_text(seconds):
    for unit, scale in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 1000:
            break
    return (
        f"{seconds * scale:.3g} {unit}"
        if seconds * scale < 100
        else f"{seconds * scale:.0f} {unit}"
    )


def power_of_two(n):
    """k for n = 2^k that is written so, else None."""
    power = n.bit_length() - 1
    return power if n == 2**power and power >= 10 else None


def size_text(n):
    return f"{n:,}".replace(",", " ") if power_of_two(n) is None else f"2^{power_of_two(n)}"


def number(value, form):
    return "" if value is None else format(value, form)


def error_text(row):
    return number(row.error, ".1e") if row.error_ulp is None else f"{row.error_ulp:.3g} ulp"


def threads_text(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def n_text(row):
    if has_matrix(row.lane):
        return row.matrix
    if row.lane == "accuracy":
        return f"10^{row.n}"
    return f"{entropy(row.n):.2f} bits" if by_entropy(row.lane) else size_text(row.n)


def n_name(lane):
    if lane == "accuracy":
        return "condition"
    if has_matrix(lane):
        return "matrix"
    return "entropy" if by_entropy(lane) else "bins" if counts(lane) else "n"


def types_text(lane, types):
    if counts(lane) or has_matrix(lane) or writes(lane):
        return types.split("x")[0]
    return types.replace("x", " × ", 1).replace("=", " in ")


def heading(lane, types, threads):
    return f"{LANES[lane]}, {types_text(lane, types)}" + (
        f", {threads_text(threads)}" if lane in ON_ALL_THREADS else ""
    )


def best(rows, chosen):
    return min((r for r in rows if chosen(r)), key=lambda r: r.seconds, default=None)


SUMMARY = (
    "lane", "types", "n", "threads", "best of ours", "time", "GB/s", "of the limit", "best other", "time", "other / ours"
)
Line = collections.namedtuple("Line", "lane types n threads ours time speed share other other_time ratio")


def summary(rows):
    """Ours against the best of the others, a line a group, as text."""
    for group in groups_of(rows).values():
        ours = best(group, lambda r: r.ours)
        if group[0].lane == "accuracy" or ours is None:
            continue
        other = best(group, lambda r: not r.ours and not r.limit and not r.wrong)
        yield Line(
            ours.lane,
            ours.types,
            n_text(ours),
            str(ours.threads),
            ours.name,
            time_text(ours.seconds),
            f"{ours.bytes / ours.seconds / 1e9:.4g}",
            number(ours.of_limit, ".0%"),
            other.name if other else "",
            time_text(other.seconds) if other else "",
            number(ours.of_best_other, ".2f"),
        )


def where_another_is_faster(lines):
    """Of the summary's lines those where a peer is faster, the slowest first; and how many have a peer. The default
    grade is none of the exact one's."""
    compared = [line for line in lines if line.other and not line.other.startswith("tally::")]
    return sorted((x for x in compared if float(x.ratio) < 1), key=lambda x: float(x.ratio)), len(compared)


def beaten_limits(rows):
    """The limits that were measured too low: the row that shows it, a line a group."""
    lines = []
    for group in groups_of(rows).values():
        row = max((r for r in group if r.beats_limit), key=lambda r: r.beats_limit, default=None)
        if row:
            lines.append((row.lane, row.types, n_text(row), row.threads, row.name, f"{row.beats_limit:.2f}"))
    return ("lane", "types", "n", "threads", "faster", "times the limit"), lines


def executor_text(lane, times):
    """`times`: by size, the seconds of each executor. The last change of the fastest one counts."""
    sizes = sorted(times)
    best_at = [min(times[size], key=times[size].get) for size in sizes]
    last = best_at[-1]
    k = max((i + 1 for i, name in enumerate(best_at) if name != last), default=0)
    rest = [seconds for name, seconds in times[sizes[-1]].items() if name != last]
    gain = min(rest) / times[sizes[-1]][last] if rest else 1
    gain = f", {gain:.2g} times as fast at {size_text(sizes[-1])}" if gain >= 1.05 else ""
    what = "nonzeros" if has_matrix(lane) else "bins" if counts(lane) else "elements"
    if k == 0:
        return f"{last}{gain and f'{gain} {what}'}"
    first = best_at[k - 1]
    start = sizes[k]
    before, after = (
        math.log(at[first] / at[last]) if first in at and last in at else 0
        for at in (times[sizes[k - 1]], times[start])
    )
    if before < 0 < after:  # along the ratio between two sizes
        start = round(float(f"{sizes[k - 1] * (start / sizes[k - 1]) ** (-before / (after - before)):.2g}"))
    return f"{first}; from {size_text(start)} {what} on {last}{gain}"


def executors(rows):
    """Which of our executors to take from which size on, a line an operation."""
    times = collections.defaultdict(lambda: collections.defaultdict(dict))
    for row in rows:
        name = re.match(r"tally::(\w+)", row.name)
        if row.lane in ON_ALL_THREADS and row.ours and not by_entropy(row.lane) and name[1] != "automatic":
            of_size = times[row.lane, row.types][row.n]
            of_size[name[1]] = min(row.seconds, of_size.get(name[1], math.inf))
    return [
        (f"{lane}, {types_text(lane, types)}", executor_text(lane, of_sizes))
        for (lane, types), of_sizes in times.items()
        if len({name for of_size in of_sizes.values() for name in of_size}) > 1
    ]


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for line in lines:
        yield "| " + " | ".join(str(cell) for cell in line) + " |"


def plain(head, lines):
    widths = [max(len(str(line[k])) for line in [head, *lines]) for k in range(len(head))]
    for line in [head, *lines]:
        yield "  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip()


def markdown(context, rows, plots):
    yield "# Tally's comparison"
    yield ""
    for key in ("date", "processor", "all_threads", "device", "executors", "peers", "compiler", "mode", "seed"):
        if key in context:
            yield f"- {key.replace('_', ' ')}: {context[key]}"
    yield ""
    yield (
        "Times are medians of repetitions in random order, the contenders of a group in turn on the same "
        "data, uniform in [-1, 1) where nothing else is said. GB/s counts the operands' bytes once, of "
        "histograms those of the samples, of sparse matrices values, columns, offsets and both vectors. The "
        "limit is a kernel that only reads them, measured at the same size, its fastest repetition; of what writes a "
        "vector one that reads and writes as many, of what updates one in place one that does; of sparse "
        "matrices one that reads values and columns, of which a plan may have "
        f"to read less. Where a row is faster than that by up to {NOISE - 1:.0%}, the noise of the limit's own "
        "measurement, its time is the limit, of the others' shares, too. Other / ours above 1: ours is faster. "
        "Bits: whether the result is, bit for bit, that of `tally::serial`. Error: against the sum with twice the digits of "
        "a double, divided by Σ|x·y|; **wrong** is more than any order of additions explains. Of element-wise "
        "functions: the largest difference of an element from that of `tally::serial`, over the largest element; "
        f"{OF_TRANSCENDENTAL if any(row.error_ulp is not None for row in rows) else ''}of "
        "sparse matrices over Σ|a·x| of its row. Set-up: what is made once for a matrix (a plan, cuSPARSE's buffer and "
        "preprocessing), on the host's clock, in times of the product, and the number of products after which it pays, "
        "against the same library's without it."
    )
    yield ""
    yield "## Ours against the best of the others"
    yield ""
    lines = list(summary(rows))
    yield from table(SUMMARY, lines)
    slower, compared = where_another_is_faster(lines)
    yield ""
    yield "## Where another is faster"
    yield ""
    yield f"In {len(slower)} of the {compared} lines above."
    if slower:
        yield ""
        yield from table(SUMMARY, slower)
    head, lines = beaten_limits(rows)
    if lines:
        yield ""
        yield "## Limits that are none"
        yield ""
        yield (
            "Measured too low, as a row of the same group shows: the machine had other work then, or an earlier version "
            "measured in another way. No share of them is stated."
        )
        yield ""
        yield from table(head, lines)
    lines = executors(rows)
    if lines:
        yield ""
        yield "## Which executor"
        yield ""
        yield from table(("operation", "fastest"), lines)
    for plot in plots:
        yield ""
        yield f"![{plot.stem}]({plot.name})"
    sections = collections.defaultdict(list)
    for row in rows:
        sections[row.lane, row.types, row.threads].append(row)
    for (lane, types, threads), section in sections.items():
        heads, cells = zip(*columns_of(lane))
        section.sort(key=lambda r: (r.n, r.matrix, r.position if is_ladder(r.lane) else r.seconds))
        yield ""
        yield f"## {heading(lane, types, threads)}"
        yield ""
        yield from table(heads, ([cell(row) for cell in cells] for row in section))


def columns_of(lane):
    """The columns of a lane's table: each a head and the text of a row."""
    yield n_name(lane), n_text
    if has_matrix(lane):
        yield "nonzeros", lambda r: size_text(r.n)
        yield "MB", lambda r: f"{r.bytes / 1e6:.3g}"
    yield "", lambda r: f"**{r.name}**" if r.ours else r.name
    yield "threads", lambda r: r.own_threads
    yield "time", lambda r: time_text(r.seconds)
    yield "GB/s", lambda r: f"{r.bytes / r.seconds / 1e9:.4g}"
    yield "of the limit", lambda r: number(r.of_limit, ".0%")
    yield "best other / this", lambda r: number(r.of_best_other, ".2f")
    if has_matrix(lane):
        yield "set-up", lambda r: number(r.set_up and r.set_up / r.seconds, ".3g")
        yield "pays after", lambda r: number(r.pays_after, ".0f")
    yield "bits", lambda r: {True: "same", False: "other", None: ""}[r.agrees]
    yield "error", lambda r: ("**wrong** " if r.wrong else "") + error_text(r)
    yield "what", lambda r: r.label
    if is_ladder(lane):
        yield "in 2021", lambda r: f"{r.us_in_2021:g} µs" if r.us_in_2021 else ""


# --- Plots ----------------------------------------------------------------------------------------

OURS = {
    "simd": "#0b5fce",
    "openmp": "#7a1fd0",
    "automatic": "#00a0a8",
    "cuda": "#00a0a8",
    "workspace": "#d01f8a",
    "kokkos": "#d01f8a",
    "serial": "#7fb2ee",
}
OTHERS = [
    "#d95f0e", "#2f8f3a", "#b8860b", "#8c564b", "#c44e52", "#6b8e23", "#708090", "#e377c2", "#556b2f", "#cd853f"
]
MARKERS = "osD^vPX<>p*"  # one more than colors, so that the next peers, too, look different


def style_of(name, names):
    """One color an executor of ours, the exact grade red, and a marker a variant; a color each for the others."""
    if name.startswith("limit"):
        style = "-." if name == "limit: a thread's copy" else "--" if "in place" in name else ":"
        return dict(color="black", linestyle=style, linewidth=1.6, marker="", zorder=5)
    if name.startswith("tally::"):
        executor, variant = re.match(r"tally::(\w+)(.*)", name).groups()
        same = sorted({n for n in names if re.match(rf"tally::{executor}\b", n)}, key=len)
        return dict(
            color="#b0002a" if variant == " exact" else OURS[executor],
            linewidth=2.4 if name == same[0] else 1.5,
            marker=MARKERS[same.index(name) % len(MARKERS)],
            markersize=5.5,
            zorder=4,
        )
    k = [n for n in names if not n.startswith(("tally::", "limit"))].index(name)
    return dict(
        color=OTHERS[k % len(OTHERS)],
        linewidth=1.2,
        marker=MARKERS[k % len(MARKERS)],
        markersize=4.5,
        alpha=0.9,
        zorder=3,
    )


def spaced(sizes):
    """Without those that would print over their neighbour: 1 000 000 beside 2^20."""
    kept = []
    for n in sorted(sizes, reverse=True):
        if not kept or math.log2(kept[-1] / n) > 0.5:
            kept.append(n)
    return sorted(kept)


def size_axis(axis, sizes):
    axis.set_xscale("log", base=2)
    texts = [
        size_text(n) if power_of_two(n) is None else f"$2^{{{power_of_two(n)}}}$" for n in sizes
    ]
    axis.set_xticks(sizes, texts, rotation=50, ha="right", fontsize=9)
    axis.minorticks_off()
    axis.grid(True, which="major", color="#dddddd", linewidth=0.6)


@dataclasses.dataclass
class Panel:
    """What is drawn in one pair of axes: a line a contender, of points (x, y)."""

    heading: str
    what: str  # a key of QUANTITIES
    y_name: str
    lines: dict


@dataclasses.dataclass
class Plot:
    path: pathlib.Path
    title: str
    x_name: str
    panels: list  # rows of panels
    rungs: list  # of the ladder, instead of panels

    @property
    def is_of_matrices(self):
        return self.x_name == "matrix"


# What panels show: whether on a logarithmic scale, and where a line marks all of the limit, or equal times.
QUANTITIES = {
    "time": (True, None),
    "share": (False, 100),
    "ratio": (True, 1),
    "speed": (True, None),
    "error": (True, None),
}


def panel(heading_text, rows, what, y_name, x, value):
    lines = collections.defaultdict(list)
    for row in sorted(rows, key=lambda r: r.n):
        if value(row):
            lines[row.name].append((x(row), value(row)))
    return Panel(heading_text, what, y_name, dict(lines))


def times(columns, x):
    return [panel(text, rows, "time", "time of a call", x, lambda r: r.seconds) for text, rows in columns]


def comparison(columns, x):
    """A row of panels of shares of the limit; of ratios where it lacks a limit for most places, or, of matrices, where
    plans read fewer bytes than it counts; or none."""
    lane = columns[0][1][0].lane
    limit = "bus's" if lane == "host" else "read and write" if writes(lane) else "read"
    choices = [
        ("share", f"% of the {limit} limit at this size", lambda r: not r.limit and r.of_limit and 100 * r.of_limit),
        ("ratio", "best other's time / this", lambda r: r.of_best_other),
    ]
    for what, y_name, value in reversed(choices) if has_matrix(lane) else choices:
        panels = [panel(text, rows, what, y_name, x, value) for text, rows in columns]
        shown = [len({point[0] for line in p.lines.values() for point in line}) for p in panels]
        if all(2 * n >= len({x(r) for r in rows}) for n, (_, rows) in zip(shown, columns)):
            return [panels]
    return []


def plots_of(context, rows, folder):
    """Every plot that there are rows for, as data."""
    lanes = collections.defaultdict(list)
    for row in rows:
        lanes[row.lane, row.types].append(row)
    for (lane, types), all_rows in lanes.items():
        machine = (
            context.get("device", "GPU").split(",")[0]
            if "cuda" in lane or lane == "host"
            else f"{context.get('processor', '')}, {threads_text(int(context.get('all_threads', 1)))}"
        )
        title = f"{heading(lane, types, 1).replace(', 1 thread', '')}\n{machine}"
        path = folder / f"{lane}-{types.replace('=', '-in-')}.png"
        if is_ladder(lane):
            first = all_rows[0]
            size = size_text(first.n)
            what = f"{first.matrix}: {size} nonzeros" if has_matrix(lane) else f"{size} elements"
            rungs = sorted((r for r in all_rows if not r.limit), key=lambda r: r.position)
            yield Plot(path, f"{title}, {what}", "", [], rungs)
            continue
        if len({r.n for r in all_rows}) < 3:
            continue
        sizes = spaced({r.n for r in all_rows})
        threads = sorted({r.threads for r in all_rows})
        threads = [t for t in threads if len({r.n for r in all_rows if r.threads == t}) > 1]
        columns = [
            (threads_text(t) if len(threads) > 1 else "", [r for r in all_rows if r.threads == t]) for t in threads
        ]
        if lane == "accuracy":
            x_name = "condition number"
            panels = [[
                panel(
                    "", all_rows, "error", "relative error (2 or more at the top)", lambda r: 10.0**r.n,
                    lambda r: min(max(r.error, 2.0**-54), 2.0),
                )
            ]]
        elif has_matrix(lane):
            x_name = "matrix"
            panels = comparison(columns, lambda r: r.matrix) or [times(columns, lambda r: r.matrix)]
        elif by_entropy(lane):
            x_name = "entropy of a key in bits"
            panels = [[
                panel(text, rows, "speed", "GB/s", lambda r: entropy(r.n), lambda r: r.bytes / r.seconds / 1e9)
                for text, rows in columns
            ]]
        else:
            x_name = "bins" if counts(lane) else "elements"
            columns = [(text, [r for r in rows if r.n in sizes]) for text, rows in columns]
            panels = [
                times(columns, lambda r: r.n),
                *comparison([("", rows) for _, rows in columns], lambda r: r.n),
            ]
        yield Plot(path, title, x_name, panels, [])


def draw_panel(axis, p, plot, places, names, handles):
    is_log, mark = QUANTITIES[p.what]
    for name in sorted(p.lines, key=lambda name: (name.startswith("limit"), not name.startswith("tally::"))):
        xs, ys = zip(*p.lines[name])
        style = style_of(name, names)
        if plot.is_of_matrices:
            xs, ys, style = ys, [places.index(x) for x in xs], {**style, "linestyle": ""}
        (handles[name],) = axis.plot(xs, ys, **style)
    axis.set_title(p.heading, fontsize=11)
    axis.grid(True, which="major", color="#dddddd", linewidth=0.6)
    along, across = (axis.yaxis, axis.axhline) if not plot.is_of_matrices else (axis.xaxis, axis.axvline)
    if mark:
        across(mark, **style_of("limit", names))
    (axis.set_xscale if plot.is_of_matrices else axis.set_yscale)("log" if is_log else "linear")
    if p.what == "time":
        along.set_major_formatter(lambda value, _: time_text(value))
    if p.what == "ratio":
        along.set_major_formatter(lambda value, _: f"{value:g}")
    if p.what == "share":
        (axis.set_xlim if plot.is_of_matrices else axis.set_ylim)(0, 110)
    if plot.x_name in ("elements", "bins"):
        size_axis(axis, places)
    elif plot.x_name == "condition number":
        axis.set_xscale("log")


def draw(pyplot, plot):
    if plot.rungs:
        return draw_ladder(pyplot, plot.title, plot.rungs, plot.path)
    all_panels = [p for row in plot.panels for p in row]
    names = list(dict.fromkeys(name for p in all_panels for name in p.lines))
    places = list(dict.fromkeys(x for p in all_panels for line in p.lines.values() for x, _ in line))
    places = places if plot.is_of_matrices else sorted(places)
    columns = len(plot.panels[0])
    figure, axes = pyplot.subplots(
        len(plot.panels),
        columns,
        squeeze=False,
        sharex=False if plot.is_of_matrices else "col",
        sharey="row",
        figsize=(
            2.0 + 5.2 * max(columns, 1.3),
            1.6 + 0.34 * len(places) if plot.is_of_matrices else 0.6 + 3.9 * len(plot.panels),
        ),
    )
    handles = {}
    for panels, of_row in zip(plot.panels, axes):
        for p, axis in zip(panels, of_row):
            draw_panel(axis, p, plot, places, names, handles)
        if not plot.is_of_matrices:
            of_row[0].set_ylabel(panels[0].y_name)
    for p, axis in zip(plot.panels[-1], axes[-1]):
        axis.set_xlabel(p.y_name if plot.is_of_matrices else plot.x_name)
    if plot.is_of_matrices:
        axes[0][0].set_yticks(range(len(places)), places, fontsize=10)
        axes[0][0].invert_yaxis()
    figure.tight_layout()
    title = figure.text(0.01, 1.0, plot.title, fontsize=13, va="bottom")
    order = sorted(handles, key=lambda name: (name.startswith("limit"), not name.startswith("tally::")))
    box = figure.legend(
        [handles[name] for name in order],
        order,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        fontsize=9.5,
    )
    figure.savefig(plot.path, dpi=130, bbox_inches="tight", bbox_extra_artists=[box, title])
    pyplot.close(figure)


def draw_ladder(pyplot, title, rows, path):
    old = any(r.us_in_2021 for r in rows)
    figure, axis = pyplot.subplots(figsize=(8.0, 1.2 + 0.38 * len(rows)))
    column = axis.get_yaxis_transform()  # x from 0 to 1 over the width, y by rung
    red, dark = "#c9302c", "#222222"

    def write(x, k, text, color=dark, **style):
        axis.text(x, k, text, transform=column, va="center", fontsize=9.5, color=color, **style)

    for k, row in enumerate(rows):
        color = red if row.wrong else "#0b5fce" if row.ours else "#9aa7b5"
        hatch = "///" if row.wrong else None
        axis.barh(k, row.seconds, color=color, height=0.66, hatch=hatch, edgecolor="white", zorder=2)
        of_text = red if row.wrong else dark
        write(1.03, k, time_text(row.seconds), of_text, fontweight="bold" if row.ours else None)
        write(1.17, k, "WRONG" if row.wrong else "ours" if row.agrees else "other", of_text)
        if row.us_in_2021:
            then = row.us_in_2021 * 1e-6
            axis.plot(then, k, marker="D", color=dark, markeredgecolor="white", markersize=6, linestyle="", zorder=3)
            write(1.30, k, time_text(then))
    for x, text in ((1.03, "time"), (1.17, "bits"), (1.30, "◆ 2021" if old else "")):
        write(x, -0.95, text, "#777777")
    axis.set_yticks(range(len(rows)), [r.name for r in rows], fontsize=10)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xscale("log")
    values = [r.seconds for r in rows] + [r.us_in_2021 * 1e-6 for r in rows if r.us_in_2021]
    axis.set_xlim(min(values) / 2, max(values) * 1.3)
    axis.xaxis.set_major_formatter(lambda value, _: time_text(value))
    axis.grid(True, axis="x", color="#dddddd", linewidth=0.6, zorder=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("time of one product")
    axis.text(0.0, -1.5, title, transform=column, fontsize=12, va="bottom")
    figure.savefig(path, dpi=130, bbox_inches="tight")
    pyplot.close(figure)


ROOT = pathlib.Path(__file__).resolve().parent.parent


def shown_in_documents():
    """The plots, as paths, that README.md and the pages of docs/ show."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"!\[[^]]*\]\(([^)]+\.png)\)", page.read_text()):
            yield (page.parent / target).resolve()


def plot(context, rows, folder, kept=None):
    """Draws every plot, or of these the kept ones, and returns their paths."""
    try:
        import matplotlib
    except ImportError:
        what = "matplotlib is not installed (Debian: python3-matplotlib)."
        if kept:
            sys.exit(f"Nothing written: {what}")
        print(f"No plots: {what}")
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"font.family": "DejaVu Sans", "axes.edgecolor": "#888888"})
    plots = [p for p in plots_of(context, rows, folder) if kept is None or p.path in kept]
    for each in plots:
        draw(pyplot, each)
    return [each.path for each in plots]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1].removesuffix(".gz")).resolve()
    committed = path.parent.parent == ROOT / "bench" / "results"
    kept = set(shown_in_documents()) if committed else None
    context, rows = read(path)
    plots = plot(context, rows, path.parent, kept)
    if kept is not None:
        if path.exists():
            keep(path)
        for old in set(path.parent.glob("*.png")) - set(plots):
            old.unlink()
    text = "\n".join(markdown(context, rows, plots)) + "\n"
    (path.parent / "results.md").write_text(text)
    lines = list(summary(rows))
    print("\n".join(plain(SUMMARY, lines)))
    slower, compared = where_another_is_faster(lines)
    print(f"\nAnother is faster in {len(slower)} of {compared} lines.")
    lines = executors(rows)
    if lines:
        print("\nThe fastest executor, by these times (--calibrate measures it closer):\n")
        print("\n".join(plain(lines[0], lines[1:])))
    print(f"\n{path.parent}: {(path if path.exists() else kept_as(path)).name}, results.md, {len(plots)} plots")


if __name__ == "__main__":
    main()
