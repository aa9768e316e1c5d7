#!/usr/bin/env python3
"""Writes the tables of docs/performance.md from the kept results.

usage: page.py [--check]

A table follows a line `<!-- NAME -->` of the page and ends before an empty line. With --check nothing is written: it
names the tables that differ and the README's rows whose figures the page has not, and ends with 1 if there are any.
"""

import math
import re
import statistics
import sys

import report

PAGE = report.ROOT / "docs" / "performance.md"
FOLDERS = {
    "H200": "h200", "H100": "h100", "Zen 4": "zen4-2-cores", "Xeon": "xeon-16-threads",
    "Xeon of two cores": "xeon-2-cores",
}
CPUS = [
    ("Zen 4", "1"), ("Zen 4", "2"), ("Xeon of two cores", "1"), ("Xeon of two cores", "2"), ("Xeon", "1"), ("Xeon", "16"),
]
# Bytes of operands that come from memory, and that lie in a cache, on each of the machines.
MEMORY, CACHES = 2**28, (10**4, 2**25)
DOUBLE, FLOAT, INT32 = "float64xfloat64", "float32xfloat32", "int32xint32"

# Label, then lane, types and n of the summary's lines.
GPU_ROWS = [
    *((f"`dot`, {n}", "dot-cuda", DOUBLE, n) for n in ("2^10", "2^14", "2^20", "2^28")),
    ("`dot`, 2^20, returned to the host", "dot-cuda-to-host", DOUBLE, "2^20"),
    ("`sum`, 2^28", "sum-cuda", DOUBLE, "2^28"),
    ("`iamax`, 2^28", "iamax-cuda", DOUBLE, "2^28"),
    ("`axpy`, 2^28", "axpy-cuda", DOUBLE, "2^28"),
    ("`sigmoid`, 2^28", "sigmoid-cuda", DOUBLE, "2^28"),
    ("`multi_dot`, 16 vectors of 2^24", "multi-dot-cuda", DOUBLE, "2^24"),
    ("`batched_dot`, 10^6 pairs of 32", "batched-dot-cuda", DOUBLE, "32"),
    ("`bincount`, 2^25 `int32` keys, 2^12 bins", "bincount-cuda", INT32, "2^12"),
    ("`bincount`, 2^25 `int32` keys, 2^20 bins", "bincount-cuda", INT32, "2^20"),
    ("`histogram_range`, 2^25 `float`s, 256 bins", "histogram-range-cuda", "float32xint32", "256"),
]
MATRICES = {
    "wiki-Vote": "wiki-Vote", "memplus": "memplus", "bcsstk16": "bcsstk16", "soc-Slashdot0902": "soc-Slashdot0902",
    "R-MAT 2^18": "rmat-18", "R-MAT 2^21": "rmat-21", "16 a row at random, 2^20": "random-20",
    "5-point 2048²": "5-point-2048", "27-point 128³": "27-point-128",
}
CPU_ROWS = [
    ("`dot`, 8", "dot", DOUBLE, "8"),
    ("`dot`, 100", "dot", DOUBLE, "100"),
    ("`dot`, 10^3", "dot", DOUBLE, "1 000"),
    ("`dot`, 10^4", "dot", DOUBLE, "10 000"),
    ("`dot`, 10^6", "dot", DOUBLE, "1 000 000"),
    ("`dot`, 2^26", "dot", DOUBLE, "2^26"),
    ("`dot`, 2^26 `float`s", "dot", FLOAT, "2^26"),
    ("`sum`, 2^26", "sum", DOUBLE, "2^26"),
    ("`max`, 2^26", "max", DOUBLE, "2^26"),
    ("`axpy`, 2^26 `float`s", "axpy", FLOAT, "2^26"),
    ("`relu`, 10^4 `float`s", "relu", FLOAT, "10 000"),
    ("`sigmoid`, 10^4 `float`s", "sigmoid", FLOAT, "10 000"),
    ("`exp`, 10^6 `float`s", "exp", FLOAT, "1 000 000"),
    ("`multi_dot`, 16 of 10^4", "multi-dot", DOUBLE, "10 000"),
    ("`multi_dot`, 16 of 2^22", "multi-dot", DOUBLE, "2^22"),
    ("`batched_dot`, 10^6 pairs of 32", "batched-dot", DOUBLE, "32"),
    ("`bincount`, 2^25 `int32` keys, 2^16 bins", "bincount", INT32, "2^16"),
    ("`spmv`, soc-Slashdot0902", "spmv", DOUBLE, "soc-Slashdot0902"),
    ("`spmv`, R-MAT 2^18", "spmv", DOUBLE, "rmat-18"),
    ("`spmv`, 16 a row at random, 2^18", "spmv", DOUBLE, "random-18"),
    ("`spmv`, 27-point 64³", "spmv", DOUBLE, "27-point-64"),
]
# The lines where another is faster, as MACHINE/LANE/TYPES/N/THREADS: each belongs to the first pattern that it matches.
CPU = "(Zen|Xeon)[^/]*/"
REASONS = [
    ("`dot` of 8 and 100 elements on CPUs", CPU + "dot(-aligned)?/.*/(8|100)/",
     "the call and its checks; the fold of 64 lanes"),
    ("sums, `add`, `axpy`, `relu` in CPUs' caches",
     CPU + r"(dot(-aligned)?|sum|asum|add|axpy|relu)/.*/(1 000|10 000|1 000 000|2\^20)/",
     "the control register, 5 ns; a fold each 1024"),
    ("`dot`, `asum`, `axpy` of 2^26 on CPUs", CPU + r"(dot|sum|asum|axpy)/.*/2\^26/",
     "at 77 to 100 % of the limit; runs differ as much"),
    ("exact `dot` of 2^20 on CPUs", CPU + r"exact/.*/2\^20/", "Dot2, of twice the digits, is not always the nearest"),
    ("`sigmoid` of `float` on CPUs", CPU + "sigmoid/", "at most 0.64 ulp, Eigen 1.9 to 2.4"),
    ("`multi_dot` of 16 vectors on CPUs", CPU + "multi-dot/", "registers hold the sums of two vectors"),
    ("`batched_dot` of pairs of 32 on one Zen 4 core", "Zen 4/batched-dot/.*/1$", "noise: 16.1 ms beside 16.3 in turn"),
    ("histograms on CPUs", CPU + "bincount", "waits for the third cache; the Xeon varies as much"),
    ("`spmv` on CPUs", CPU + "spmv/", "waits for x from the third cache and memory"),
    ("`sigmoid` of 2^20 on GPUs", r"H.00/sigmoid-cuda(-odd)?/.*/2\^20/", "arithmetic: 36 operations in `double`"),
    ("`copy`, `relu` of 2^20 on GPUs", r"H.00/(copy|relu)-cuda/.*/2\^20/", "at 96 % of the limit"),
    ("maps and `max` of 2^28 on GPUs", r"H.00/.*/2\^28/", "at 97 to 100 % of the limit"),
    ("`max` of 2^22 on GPUs", r"H.00/max-cuda/.*/2\^22/", "CUB's value has no index"),
    ("`bincount` of equal bytes on an H200", "H200/bincount-constant-cuda/uint8", "6.5 µs in a later run"),
    ("`spmv`, columns at random, on GPUs", "H.00/spmv-cuda/.*/(random-20|skewed-20|200-to-2000)/",
     "the L2 cache serves 32 bytes for each x"),
]


class Machine:
    def __init__(self, folder):
        _, self.rows = report.read(report.ROOT / "bench" / "results" / folder / "results.json")
        self.groups = report.groups_of(self.rows).values()
        self.lines = {line[:4]: line for line in report.summary(self.rows)}
        self.slower, self.compared = report.where_another_is_faster(self.lines.values())

    def line(self, lane, types, n, threads="1"):
        """The time of ours, of the best other and their ratio, empty where not measured."""
        line = self.lines.get((lane, types, n, threads))
        if not line or not line.ratio:
            return "", "", ""
        return line.time, line.other_time, line.ratio if float(line.ratio) < 10 else f"{float(line.ratio):.1f}"

    def matrix(self, matrix, name):
        """The time of the fastest row of a matrix whose name begins so."""
        rows = [r for r in self.rows if (r.lane, r.types, r.matrix) == ("spmv-cuda", DOUBLE, matrix)]
        return report.time_text(min(r.seconds for r in rows if re.fullmatch(name, r.name)))

    def shares(self, low, high):
        """The median and the least of the shares of the limit that ours has, of vectors of low to high bytes."""
        shares = [
            row.of_limit for group in self.groups
            if (row := report.best(group, lambda r: r.ours)) and row.of_limit and low <= row.bytes < high
            and re.sub("-cuda(-odd)?$", "", row.lane) in ("dot", "dot-aligned", *report.ON_BOTH)
        ]
        return f"{statistics.median(shares):.0%} ({min(shares):.0%})"

    def exact(self, *sizes):
        """The time of exact dot products of plain numbers over the default grade's, empty where not measured."""
        ratios = [
            report.best(group, lambda r: r.ours).seconds
            / report.best(group, lambda r: not r.ours and r.name.startswith("tally::")).seconds
            for group in self.groups if group[0].lane in ("exact", "exact-cuda") and group[0].n in sizes
        ]
        return span(ratios) if ratios else ""


def span(values):
    """The least to the largest."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def tables():
    """The tables by their names: a head and lines."""
    machines = {name: Machine(folder) for name, folder in FOLDERS.items()}
    yield "machines", ("", *machines), [
        ("rows with another library", *(m.compared for m in machines.values())),
        ("another is faster", *(len(m.slower) for m in machines.values())),
        ("vectors in memory: share of the limit", *(m.shares(MEMORY, math.inf) for m in machines.values())),
        ("vectors in caches", *(m.shares(*CACHES) for m in machines.values())),
        ("exact `dot` over the default, 2^26, 2^28", *(m.exact(2**26, 2**28) for m in machines.values())),
        ("2^20", *(m.exact(2**20) for m in machines.values())),
    ]
    gpus = [machines["H200"], machines["H100"]]
    yield "gpus", ("", "H200", "H100"), [
        (label, *(f"{ours} ({other})" if ours else "" for ours, other, _ in (m.line(*row) for m in gpus)))
        for label, *row in GPU_ROWS
    ]
    fixed, peer = "tally::cuda plan, fixed columns", "cuSPARSE.*"
    yield "matrices", (
        "", "H100: no plan", "plan", "`fixed_columns`", "cuSPARSE", "H200: `fixed_columns`", "cuSPARSE"
    ), [
        (label, *(gpus[1].matrix(name, row) for row in ("tally::cuda", "tally::cuda plan", fixed, peer)),
         *(gpus[0].matrix(name, row) for row in (fixed, peer)))
        for label, name in MATRICES.items()
    ]
    yield "cpus", ("", "Zen 4, 1 thread", "2", "Xeon of two cores, 1", "2", "Xeon, 1 thread", "16"), [
        (label, *(f"**{ratio}**" if ratio and float(ratio) < 1 else ratio for ratio in (
            machines[name].line(*row, threads)[2] for name, threads in CPUS)))
        for label, *row in CPU_ROWS
    ]
    ratios = {what: [] for what, _, _ in REASONS}
    for name, machine in machines.items():
        for line in machine.slower:
            key = "/".join((name, *line[:4]))
            what = next((what for what, pattern, _ in REASONS if re.match(pattern, key)), None)
            if what is None:
                sys.exit(f"page.py: another is faster in {key}, and REASONS has nothing about it.")
            ratios[what].append(float(line.ratio))
    yield "slower", ("what", "rows", "ratio", "why"), [
        (what, len(ratios[what]), span(ratios[what]), why) for what, _, why in REASONS if ratios[what]
    ]


def main(check):
    page = PAGE.read_text()
    failures = []
    for name, head, lines in tables():
        text = "\n".join(report.table(head, lines))
        made, count = re.subn(f"(?<=<!-- {name} -->\n).*?(?=\n\n|\n\Z)", lambda _: text, page, flags=re.S)
        if count != 1:
            sys.exit(f"{PAGE}: no place for the table {name}")
        if made != page:
            failures.append(f"docs/performance.md: the table {name} is not that of bench/page.py.")
        page = made
    if not check:
        PAGE.write_text(page)
        return 0
    _, _, readme = (report.ROOT / "README.md").read_text().partition("\n| | Tally | best other |\n")
    for line in readme.partition("\n\n")[0].splitlines()[1:]:
        label, ours, other = line.strip("| ").split(" | ")
        if f"{ours} ({other})" not in page and f"{ours} | {other}" not in page:
            failures.append(f"README.md: docs/performance.md has no {ours} beside {other}, {label}.")
    print("\n".join(failures), end="\n" * bool(failures), file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main("--check" in sys.argv))
