"""Tests of tests/run.py: what it makes of programs whose tests fail, crash, hang, leave or end badly."""
import contextlib
import io
import os
import pathlib
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402

# It speaks as a program of GoogleTest's does. Each test does what its name says.
PROGRAM = """\
#!/usr/bin/env python3
import os, sys, time
tests = NAMES
if "--gtest_list_tests" in sys.argv:
    print("A/Suite.\\n" + "".join(f"  {name}/x  # GetParam() = x\\n" for name in tests))
    sys.exit()
chosen = next(a for a in sys.argv if a.startswith("--gtest_filter=")).partition("=")[2].split(":")
failed = False
for name in tests:
    full = f"A/Suite.{name}/x"
    if full not in chosen:
        continue
    print(f"[ RUN      ] {full}", flush=True)
    if name == "crashes":
        print("about to crash", end="", flush=True)
        os.kill(os.getpid(), 11)
    if name == "leaves":
        os._exit(0)
    if name == "hangs":
        time.sleep(100)
    if name == "fails":
        failed = True
        print(f"it is wrong\\n[  FAILED  ] {full}, where GetParam() = x (0 ms)", flush=True)
    elif name == "skips":
        print(f"[  SKIPPED ] {full} (0 ms)", flush=True)
    else:
        print(f"no newline[       OK ] {full} (0 ms)", flush=True)
print("[==========] all ran.")
if any("leaks" in name for name in chosen):
    print("a leak")
    sys.exit(23)
sys.exit(failed)
"""


class TestPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, run.ROOT = run.ROOT, pathlib.Path(folder.name)
        self.addCleanup(setattr, run, "ROOT", self.root)

    def run_tests(self, names, jobs=2, wanted="", seconds=600):
        folder = run.ROOT / "build" / "here"
        folder.mkdir(parents=True)
        program = folder / "program"
        program.write_text(PROGRAM.replace("NAMES", repr(names)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (folder / "CTestTestfile.cmake").write_text("".join(
            f'add_test(program.{i} "{program}")\n'
            f'set_tests_properties(program.{i} PROPERTIES LABELS shards TIMEOUT {seconds} ENVIRONMENT "A=B")\n'
            for i in range(3)))
        results, out = run.Results(), io.StringIO()
        with contextlib.redirect_stdout(out):
            run.ProgramTests("here", 1, "default", wanted).run(run.Progress(jobs), results, jobs)
        return results, out.getvalue(), (folder / "tests.log").read_text()

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
        results, out, _ = self.run_tests(["hangs"], seconds=2)
        self.assertEqual((results.passed, results.failed, results.skipped), (0, 1, 0))
        self.assertIn("ended after 2 s", out)

    def test_finds_what_lets_a_process_fail_at_its_end(self):
        results, out, _ = self.run_tests([*(f"t{i}" for i in range(40)), "leaks"], jobs=1)
        self.assertEqual((results.passed, results.failed, results.skipped), (40, 1, 0))
        self.assertIn("A/Suite.leaks/x", results.failures[0])
        self.assertIn("a leak", out)

    def test_filters(self):
        results, _, _ = self.run_tests(["abc", "abd", "fails"], wanted="ab[cd]/x$")
        self.assertEqual((results.passed, results.failed, results.skipped), (2, 0, 0))

    def test_a_program_that_is_missing_or_lists_no_tests_is_a_failure(self):
        folder = run.ROOT / "build" / "here"
        folder.mkdir(parents=True)
        (folder / "CTestTestfile.cmake").write_text("".join(
            f'add_test({name}.{i} "{program}")\nset_tests_properties({name}.{i} PROPERTIES LABELS shards TIMEOUT 600)\n'
            for name, program in (("lists_none", "false"), ("missing", "/there/is/none")) for i in (1, 2)))
        results = run.Results()
        with contextlib.redirect_stdout(io.StringIO()):
            run.ProgramTests("here", 1, "default", "").run(run.Progress(1), results, 1)
        self.assertEqual(results.failed, 2, results.failures)


if __name__ == "__main__":
    os.environ.pop("TALLY_TESTS", None)
    unittest.main()
