"""Tests of tests/run.py: what it makes of tests that fail, crash, hang, leave, end badly or don't run, and its plan."""
import contextlib
import io
import math
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402

# It speaks as a program of GoogleTest's does. Each test does what its name says. What outlives tests/run writes into a
# pipe, "alive", in the end.
PROGRAM = """\
#!/usr/bin/env python3
import os, sys, time
tests = NAMES
def stay(begun=None):
    with open(os.path.join(os.path.dirname(__file__), "alive"), "w") as alive:
        print(os.getpid(), "has begun", file=alive, flush=True)
        if begun:
            os.write(begun, b"1")
        time.sleep(100)
        print("still there", file=alive, flush=True)
def leave_a_child(apart):
    has, begun = os.pipe()
    if os.fork() == 0:
        if apart:
            os.setsid()
        stay(begun)
        os._exit(0)
    os.read(has, 1)
if "--gtest_list_tests" in sys.argv:
    if "listing_hangs" in tests:
        stay()
    print("A/Suite.\\n" + "".join(f"  {name}/x  # GetParam() = x\\n" for name in tests))
    sys.exit()
chosen = next(a for a in sys.argv if a.startswith("--gtest_filter=")).partition("=")[2].split(":")
failed = False
for name in tests:
    full = f"A/Suite.{name}/x"
    if full not in chosen:
        continue
    print(f"[ RUN      ] {full}", flush=True)
    if "child" in name:
        leave_a_child("apart" in name)
    if name.startswith("crashes"):
        print("about to crash", end="", flush=True)
        os.kill(os.getpid(), 11)
    if name == "leaves":
        os._exit(0)
    if name.startswith("hangs"):
        stay()
    if name == "fails":
        failed = True
        print(f"it is wrong\\n[  FAILED  ] {full}, where GetParam() = x (0 ms)", flush=True)
    elif name.startswith("skips"):
        print(f"[  SKIPPED ] {full} (0 ms)", flush=True)
    else:
        print(f"no newline[       OK ] {full} (0 ms)", flush=True)
print("[==========] all ran.")
if any("leaks" in name for name in chosen):
    print("a leak")
    sys.exit(23)
if any("stays" in name for name in chosen):
    stay()
sys.exit(failed)
"""


class Progress(run.Progress):
    """One that changes under its lock alone, as another thread reads it."""

    def __setattr__(self, name, value):
        if hasattr(self, "last") and not self.lock.locked():
            raise AssertionError(f"{name} is set without the lock")
        super().__setattr__(name, value)


class TestRuns(unittest.TestCase):
    """A root of its own, with a folder of a build's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, run.ROOT = run.ROOT, pathlib.Path(folder.name)
        self.addCleanup(setattr, run, "ROOT", self.root)
        self.folder = run.ROOT / "build" / "here"
        self.folder.mkdir(parents=True)

    def write_program(self, path, text):
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_step(self, step, jobs=2):
        results, out = run.Results(), io.StringIO()
        with contextlib.redirect_stdout(out):
            step.run(Progress(jobs), results, jobs)
        return results, out.getvalue()


class TestPrograms(TestRuns):
    @classmethod
    def setUpClass(cls):
        """What hangs has far longer than a process takes to start on this machine as it is."""
        begin = time.monotonic()
        subprocess.run([sys.executable, "-c", "import os, sys, time"], check=True)
        cls.limit = 2 + math.ceil(20 * (time.monotonic() - begin))

    def write_tests(self, names, seconds=600):
        program = self.folder / "program"
        self.write_program(program, PROGRAM.replace("NAMES", repr(names)))
        (self.folder / "CTestTestfile.cmake").write_text("".join(
            f'add_test(program.{i} "{program}")\n'
            f'set_tests_properties(program.{i} PROPERTIES LABELS shards TIMEOUT {seconds} ENVIRONMENT "A=B")\n'
            for i in range(3)))
        os.mkfifo(self.folder / "alive")

    def run_tests(self, names, jobs=2, wanted="", seconds=600, **more):
        self.write_tests(names, seconds)
        self.alive = os.open(self.folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, self.alive)
        results, out = self.run_step(run.ProgramTests("here", 1, "default", wanted, **more), jobs)
        log = self.folder / "tests.log"
        return results, out, log.read_text() if log.exists() else ""

    def assert_nothing_stayed(self):
        os.set_blocking(self.alive, True)
        written = b"".join(iter(lambda: os.read(self.alive, 1000), b"")).decode()  # until no process has it open
        self.assertIn("has begun", written)
        self.assertNotIn("still there", written)

    def test_counts_every_test_once(self):
        names = [f"t{i}" for i in range(500)] + ["skips"]
        results, _, log = self.run_tests(names, jobs=3)
        self.assertEqual((results.passed, results.failed, results.skipped), (500, 0, 1))
        for name in names:
            self.assertEqual(log.count(f"[ RUN      ] A/Suite.{name}/x\n"), 1, name)

    def test_names_what_fails_and_shows_its_output(self):
        results, out, _ = self.run_tests(["a", "fails", "b"])
        self.assertEqual((results.passed, results.failed, results.skipped), (2, 1, 0))
        self.assertEqual(results.failures, ["here: A/Suite.fails/x"])
        self.assertIn("it is wrong", out)

    def test_goes_on_behind_a_crash(self):
        results, out, log = self.run_tests(["a", "b", "crashes", *(f"t{i}" for i in range(40))], jobs=1)
        self.assertEqual((results.passed, results.failed, results.skipped), (42, 1, 0))
        self.assertEqual(results.failures, ["here: A/Suite.crashes/x"])
        for text in (out, log):
            self.assertIn("about to crash", text)
            self.assertIn("SIGSEGV", text)

    def test_goes_on_behind_an_exit(self):
        results, out, _ = self.run_tests(["leaves", "crashes", "a"], jobs=1)
        self.assertEqual((results.passed, results.failed, results.skipped), (1, 2, 0))
        self.assertIn("ended with 0", out)

    def test_ends_what_hangs(self):
        results, out, _ = self.run_tests(["hangs", "hangs_with_a_child"], seconds=self.limit)
        self.assertEqual((results.passed, results.failed, results.skipped), (0, 2, 0))
        self.assertIn(f"ended after {self.limit} s", out)
        self.assert_nothing_stayed()

    def test_ends_the_children_of_what_has_ended(self):
        results, out, _ = self.run_tests(["crashes_with_a_child", "passes_with_a_child", "a"], jobs=1)
        self.assertEqual((results.passed, results.failed, results.skipped), (2, 1, 0))
        self.assertEqual(results.failures, ["here: A/Suite.crashes_with_a_child/x"])
        self.assertIn("SIGSEGV", out)
        self.assertIn("about to crash", out)
        self.assert_nothing_stayed()

    def test_waits_for_no_child_in_a_session_of_its_own(self):
        results, out, _ = self.run_tests(["crashes_with_a_child_apart", "a"], jobs=1)
        self.assertEqual((results.passed, results.failed, results.skipped), (1, 1, 0))
        self.assertIn("SIGSEGV", out)
        child = int(os.read(self.alive, 1000).split()[0])
        with self.assertRaises(BlockingIOError):  # it is there
            os.read(self.alive, 1000)
        os.kill(child, signal.SIGKILL)

    def test_ends_a_list_that_hangs(self):
        results, out, _ = self.run_tests(["listing_hangs"], seconds=self.limit)
        self.assertEqual((results.passed, results.failed, results.skipped), (0, 1, 0))
        self.assertIn(f"ended after {self.limit} s", out)
        self.assert_nothing_stayed()

    def test_ends_its_processes_when_it_is_ended(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                (self.folder / "alive").unlink(missing_ok=True)
                self.write_tests(["hangs_with_a_child"])
                script = ("import pathlib, signal, sys; sys.path.insert(0, sys.argv[1]); import run\n"
                          "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                          "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
                          "sys.argv, run.ROOT, run.install = ['run'], pathlib.Path(sys.argv[2]), print\n"
                          "run.plan = lambda _: [run.ProgramTests('here', 1, 'default', '')]\n"
                          "run.main()")
                process = subprocess.Popen([sys.executable, "-c", script, self.root / "tests", run.ROOT],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                with open(self.folder / "alive") as alive:
                    for _ in range(2):
                        self.assertIn("has begun", alive.readline())
                    process.send_signal(number)
                    self.assertEqual(alive.read(), "")
                self.assertNotEqual(process.wait(), 0)

    def test_finds_what_lets_a_process_fail_at_its_end(self):
        results, out, _ = self.run_tests([*(f"t{i}" for i in range(40)), "leaks"], jobs=1)
        self.assertEqual((results.passed, results.failed, results.skipped), (40, 1, 0))
        self.assertIn("A/Suite.leaks/x", results.failures[0])
        self.assertIn("a leak", out)

    def test_counts_once_what_skips_and_lets_its_process_fail(self):
        results, _, _ = self.run_tests(["a", "skips_and_leaks"], jobs=1)
        self.assertEqual((results.passed, results.failed, results.skipped), (1, 1, 0))

    def test_ends_what_hangs_at_its_end_once(self):  # both are in one process, the first one
        results, out, _ = self.run_tests(["stays", "stays_too", *(f"t{i}" for i in range(6))], jobs=1,
                                         seconds=self.limit)
        self.assertEqual((results.passed, results.failed, results.skipped), (7, 1, 0))
        self.assertEqual(results.failures, ["here: A/Suite.stays/x, as its process ends"])
        self.assertIn(f"ended after {self.limit} s", out)
        self.assert_nothing_stayed()

    def test_filters(self):
        results, _, _ = self.run_tests(["abc", "abd", "fails"], wanted="ab[cd]/x$")
        self.assertEqual((results.passed, results.failed, results.skipped), (2, 0, 0))

    def test_leaves_out(self):
        results, _, log = self.run_tests(["abc", "abd", "fails"], but="abd|fails")
        self.assertEqual((results.passed, results.failed, results.skipped), (1, 0, 0))
        self.assertNotIn("abd", log)

    def test_a_filter_that_no_test_matches_is_no_failure(self):
        results, _, _ = self.run_tests(["a"], wanted="b")
        self.assertEqual((results.passed, results.failed, results.skipped), (0, 0, 0))

    def test_a_program_that_is_missing_or_lists_no_tests_is_a_failure(self):
        (self.folder / "CTestTestfile.cmake").write_text("".join(
            f'add_test({name}.{i} "{program}")\nset_tests_properties({name}.{i} PROPERTIES LABELS shards TIMEOUT 600)\n'
            for name, program in (("lists_none", "false"), ("empty", "true"), ("missing", "/there/is/none"))
            for i in (1, 2)))
        results, _ = self.run_step(run.ProgramTests("here", 1, "default", ""))
        self.assertEqual(results.failed, 3, results.failures)

    def test_a_build_without_programs_of_tests_is_a_failure(self):
        (self.folder / "CTestTestfile.cmake").write_text("add_test(other true)\n")
        results, _ = self.run_step(run.ProgramTests("here", 1, "default", ""))
        self.assertEqual(results.failures, ["here: tests: there are none"])


class TestOthers(TestRuns):
    CTEST = """\
add_test(passes "true")
add_test(fails "sh" "-c" "echo it is wrong; exit 1")
add_test(skips "sh" "-c" "echo there is none; exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(skips_in_googletest "echo" "[  SKIPPED ] a")
set_tests_properties(skips_in_googletest PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
add_test(is_missing "/there/is/none")
add_test(setup "false")
set_tests_properties(setup PROPERTIES FIXTURES_SETUP installed)
add_test(needs_setup "true")
set_tests_properties(needs_setup PROPERTIES FIXTURES_REQUIRED installed)
add_test(lacks_a_file "true")
set_tests_properties(lacks_a_file PROPERTIES REQUIRED_FILES /there/is/none)
add_test(shard "false")
set_tests_properties(shard PROPERTIES LABELS shards)
"""

    def run_tests(self, wanted=lambda name, labels: True, **more):
        (self.folder / "CTestTestfile.cmake").write_text(self.CTEST)
        return self.run_step(run.OtherTests("here", 1, "default", more.pop("filter", ""), wanted, **more))

    def test_only_what_skips_itself_is_skipped(self):
        results, out = self.run_tests()
        self.assertEqual((results.passed, results.failed, results.skipped), (1, 5, 2), results.failures)
        self.assertEqual(set(results.failures), {f"here: {name}" for name in (
            "fails", "is_missing", "setup", "needs_setup", "lacks_a_file")})
        for text in ("it is wrong", "Unable to find executable", "Failed test dependencies: setup"):
            self.assertIn(text, out)

    def test_filters_and_leaves_out(self):
        results, _ = self.run_tests(filter="^(passes|skips|is_missing)$", but="missing")
        self.assertEqual((results.passed, results.failed, results.skipped), (1, 0, 1))

    def test_a_step_without_tests_is_a_failure_and_a_filter_is_none(self):
        results, _ = self.run_tests(lambda name, labels: "fuzz" in labels)
        self.assertEqual(results.failures, ["here: other tests: there are none"])
        results, _ = self.run_tests(filter="there_is_none")
        self.assertEqual(results.failures, [])


class TestBuilds(TestRuns):
    def test_says_how_far_it_is_under_the_lock(self):
        tools = run.ROOT / "tools"
        tools.mkdir()
        self.write_program(tools / "cmake", "#!/bin/sh\n")
        self.write_program(tools / "ninja", "#!/bin/sh\n"
                           'case "$*" in *commands*) echo "c++ -o a.o" ;; *) echo "[1/2] CXX a.o" ;; esac\n')
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{tools}:{os.environ['PATH']}"}):
            results, _ = self.run_step(run.Build("here", 1, []))
        self.assertEqual(results.failed, 0)


class TestPlan(unittest.TestCase):
    def plan(self, *arguments, gpu=False):
        with unittest.mock.patch.multiple(run, from_pypi=lambda *_: [], gpu_there=lambda: gpu, fast_compile=lambda: []), \
                unittest.mock.patch.object(sys, "argv", ["tests/run", *arguments]):
            return run.plan(run.options())

    def installed(self, *arguments):
        names = []
        with unittest.mock.patch.object(run, "packages", lambda how, *more: names.extend(more)), \
                unittest.mock.patch.object(sys, "argv", ["tests/run", *arguments]):
            run.install(run.options())
        return names

    def test_full_leaves_out_nothing_but_the_slowest_of_emulators_and_sanitizers(self):
        left_out = {
            "aarch64": r"HundredMillion|/openmp_[17]",
            "asan": r"HundredMillion|/openmp_[17]|(Long|PastTheCaches|WhereverItIs)/serial|PastTheCaches/openmp"
                    r"|(Exact.*|Long|PastTheCaches|WhereverItIs|FarElements)/(simd_baseline|simd_SSE4|openmp_2|kokkos)"}
        left_out["tsan"] = left_out["asan"]
        suites = ("Exact.Bands", "Reduce.Long", "Transform.PastTheCaches", "Extremum.WhereverItIs", "Spmv.FarElements",
                  "Exact.HundredMillionEqualTerms", "Stack.EveryOperationTakesAtMost48KiB", "Huge.CountsBeyondTwoToThe32")
        executors = ("serial", "simd_baseline", "simd_SSE4", "simd_AVX2", "simd_chosen", "openmp_1", "openmp_2",
                     "openmp_3", "openmp_7", "kokkos", "cuda")
        quick = {"static", "fuzz", "ppc64le", "riscv64", "s390x"}
        found = set()
        for step in self.plan("--full"):
            if not isinstance(step, (run.ProgramTests, run.OtherTests)) or step.preset in quick:
                continue
            if getattr(step, "cpu", ""):  # once more, for another processor
                continue
            found.add((step.preset, type(step).__name__))
            self.assertEqual(step.choice, "full", step)
            for name in (f"Executors/{suite}/{executor}" for suite in suites for executor in executors):
                expected = step.preset in left_out and re.search(left_out[step.preset], name)
                self.assertEqual(bool(re.search(step.but, name)), bool(expected), f"{step}: {name}")
        self.assertEqual(found, {(preset, kind) for preset in ("release", "clang", "aarch64", "asan", "tsan")
                                 for kind in ("ProgramTests", "OtherTests")})

    def test_full_has_a_fresh_system(self):
        with unittest.mock.patch.object(run, "ROOT", pathlib.Path("/there/is/none")):
            self.assertIn("distribution debian:13", map(str, self.plan("--full")))
            self.assertIn("hip", map(str, self.plan("--full")))

    def test_plans_need_no_program(self):
        with unittest.mock.patch.dict(os.environ, {"PATH": ""}):
            self.assertTrue(self.plan("--full"))

    def test_emulates_each_processor_with_few_tests_or_all(self):
        for name in run.PROCESSORS:
            build, few = self.plan("--quick", "--emulate", name)[-3:-1]
            self.assertEqual((build.preset, build.targets, few.programs),
                             (name, ["tally_quick_tests", "tally_cg"], "^tally_quick"))
            build, tests = self.plan("--quick", "--emulate", f"{name}:all")[-3:-1]
            self.assertEqual((build.preset, build.targets, tests.choice), (name, [], "default"))

    def test_without_full_sanitizers_alone_leave_out_what_is_long(self):
        for step in self.plan("--emulate", "aarch64:all", "--sanitize", "address", "--sanitize", "thread", "--clang"):
            for name in "Executors/Exact.HundredMillionEqualTerms/openmp_1", "Executors/Dot.Long/openmp_3":
                found = re.search(getattr(step, "but", "(?!)"), name)
                self.assertEqual(bool(found), getattr(step, "preset", "") in ("asan", "tsan") and hasattr(step, "but"), step)
            self.assertIsNone(re.search(getattr(step, "but", "(?!)"), "Executors/Dot.EverySize/openmp_3"))

    def test_without_a_gpu_kernels_are_for_the_tests_alone_and_the_help_says_so(self):
        for gpu in (False, True):
            self.assertEqual("-DCMAKE_CUDA_ARCHITECTURES=90-virtual" in self.plan(gpu=gpu)[0].options, not gpu)
        self.assertIn("without optimisation, for the tests alone", " ".join(run.DESCRIPTION.split()))

    def test_installs_what_tests_would_be_left_out_without(self):
        self.assertIn("libeigen3-dev", self.installed())
        self.assertNotIn("debootstrap:debootstrap", self.installed())
        self.assertIn("debootstrap:debootstrap", self.installed("--full"))


LOGGED = run.logged


class TestDistributions(TestRuns):
    def test_a_system_that_cannot_be_made_here_is_skipped(self):
        step = run.InRoot("distribution", 3600, ("debian:13",))
        for user, tool in ((1000, "/usr/sbin/debootstrap"), (0, None)):
            with unittest.mock.patch.object(os, "geteuid", lambda: user), \
                    unittest.mock.patch.object(run.shutil, "which", lambda _: tool):
                results, out = self.run_step(step)
            self.assertEqual((results.passed, results.failed, results.skipped), (0, 0, 1))
            self.assertIn("distribution debian:13: skipped; it needs root and debootstrap", out)

    def test_counts_as_one_test(self):
        with unittest.mock.patch.object(os, "geteuid", lambda: 0), \
                unittest.mock.patch.object(run.shutil, "which", lambda _: "/usr/sbin/debootstrap"):
            for status, counts in ((0, (1, 0, 0)), (1, (0, 1, 0))):
                command = ["sh", "-c", f"echo it ran; exit {status}"]
                with unittest.mock.patch.object(run, "logged", lambda _, log: LOGGED(command, log)):
                    results, out = self.run_step(run.InRoot("distribution", 3600, ("debian:13",)))
                self.assertEqual("it ran" in out, status != 0)
                self.assertEqual((results.passed, results.failed, results.skipped), counts)


if __name__ == "__main__":
    os.environ.pop("TALLY_TESTS", None)
    unittest.main()
