"""tools/dev/count_results.py must see every kind of failure; these logs and reports are made up by hand."""

import json
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/dev/count_results.py"

PASSED = '<testcase name="A" classname="S" status="run" result="completed"/>'
FAILED = ('<testcase name="B" classname="S" status="run" result="completed">'
          '<failure message="short">b_test.cc:7 expected 1, got 2</failure><failure message="second"/></testcase>')
SKIPPED = ('<testcase name="C" classname="S" status="run" result="skipped">'
           '<skipped message="c_test.cc:9&#x0A;no namespaces here&#x0A;"/></testcase>')
DISABLED = '<testcase name="DISABLED_D" classname="S" status="notrun" result="suppressed"/>'
RUNNING = "[==========] Running 3 tests from 1 test suite.\n[ RUN      ] S.A\n"


class Counting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = []

    def add(self, name, result="OK", code=0, report=None, stdout="", stderr=""):
        """One entry of Meson's log; `report` is what lies between the report's <testsuite> tags."""
        path = self.folder / f"{len(self.log)}.xml"
        if report is not None:
            path.write_text('<?xml version="1.0"?><testsuites name="AllTests"><testsuite name="S">' + report +
                            "</testsuite></testsuites>")
        entry = {"name": f"tombolo:unit / {name}", "result": result, "returncode": code, "stderr": stderr,
                 "stdout": f"report: {path}\n{stdout}"}
        self.log.append(json.dumps(entry))

    def count(self, *arguments):
        """Runs the script; returns (exit code, last line, everything)."""
        log = self.folder / "testlog.json"
        log.write_text("\n".join(self.log))
        done = subprocess.run([SCRIPT, log, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()[-1], done.stdout

    def test_cases_and_plain_tests_add_up(self):
        self.add("gtest", report=PASSED * 3)
        self.add("lint")
        self.assertEqual(self.count()[:2], (0, "4 passed, 0 failed"))

    def test_a_failing_case_is_one_failure_and_shows_why(self):
        self.add("gtest", "FAIL", 1, report=PASSED * 2 + FAILED)
        code, last, output = self.count()
        self.assertEqual((code, last), (1, "2 passed, 1 failed"))
        self.assertIn("FAILED gtest: S.B\n  b_test.cc:7 expected 1, got 2\n", output)

    def test_a_failing_case_counts_even_if_the_exit_code_hides_it(self):
        self.add("gtest", "OK", 0, report=PASSED + FAILED)
        self.assertEqual(self.count()[:2], (1, "1 passed, 1 failed"))

    def test_a_failure_outside_every_case_counts(self):
        self.add("gtest", "FAIL", 1, report=PASSED + '<failure message="set-up broke"/>')
        self.assertEqual(self.count()[:2], (1, "1 passed, 1 failed"))

    def test_a_crash_counts_and_shows_its_output(self):
        self.add("gtest", "FAIL", -11, stdout=RUNNING, stderr="AddressSanitizer: heap-use-after-free")
        code, last, output = self.count()
        self.assertEqual((code, last), (1, "0 passed, 1 failed"))
        self.assertIn("ended by signal 11", output)
        self.assertIn("AddressSanitizer: heap-use-after-free", output)

    def test_a_bad_exit_behind_good_cases_counts(self):
        """As a leak report does, which comes after the last case."""
        self.add("gtest", "FAIL", 23, report=PASSED * 2, stderr="LeakSanitizer: detected memory leaks")
        code, last, output = self.count()
        self.assertEqual((code, last), (1, "2 passed, 1 failed"))
        self.assertIn("detected memory leaks", output)

    def test_a_time_out_counts(self):
        self.add("gtest", "TIMEOUT", -15, stdout=RUNNING)
        self.add("script", "TIMEOUT", -15)
        code, last, output = self.count()
        self.assertEqual((code, last), (1, "0 passed, 2 failed"))
        self.assertIn("ran out of time", output)

    def test_every_other_bad_result_counts(self):
        for result in ("FAIL", "ERROR", "INTERRUPT", "UNEXPECTEDPASS", "A RESULT OF A LATER MESON"):
            self.add(result, result, 1)
        self.assertEqual(self.count()[:2], (1, "0 passed, 5 failed"))

    def test_a_program_that_leaves_early_with_exit_code_0_counts(self):
        self.add("gtest", "OK", 0, stdout=RUNNING)
        self.assertEqual(self.count()[:2], (1, "0 passed, 1 failed"))

    def test_a_program_without_cases_counts(self):
        self.add("gtest", "OK", 0, report="")
        self.assertEqual(self.count()[:2], (1, "0 passed, 1 failed"))

    def test_a_torn_report_counts(self):
        self.add("gtest", "OK", 0, report=PASSED)
        (self.folder / "0.xml").write_text("<testsuites><testcase")
        self.assertEqual(self.count()[:2], (1, "0 passed, 1 failed"))

    def test_a_test_that_must_fail_passes_by_failing(self):
        self.add("canary", "EXPECTEDFAIL", 1, report=FAILED)
        self.assertEqual(self.count()[:2], (0, "1 passed, 0 failed"))

    def test_skips_have_reasons(self):
        self.add("gtest", report=PASSED + SKIPPED + DISABLED)
        self.add("script", "SKIP", 77, stdout="no such device\n")
        code, last, output = self.count("--skipped", "leak check=no ptrace")
        self.assertEqual((code, last), (0, "1 passed, 0 failed, 4 skipped"))
        for line in ("skipped gtest: S.C: no namespaces here", "skipped gtest: S.DISABLED_D: disabled in the source",
                     "skipped script: no such device", "skipped leak check: no ptrace"):
            self.assertIn(line + "\n", output)

    def test_only_allowed_skips_are_accepted(self):
        self.add("gtest", report=PASSED + SKIPPED)
        self.add("script", "SKIP", 77, stdout="no such device\n")
        self.assertEqual(self.count("--allow-skips", "gtest: S.*,script")[:2], (0, "1 passed, 0 failed, 2 skipped"))
        self.assertEqual(self.count("--allow-skips", "script")[:2], (1, "1 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.count("--allow-skips", "")[:2], (1, "1 passed, 2 failed"))

    def test_nothing_ran_is_not_success(self):
        self.assertEqual(self.count()[:2], (1, "0 passed, 0 failed"))
        self.add("gtest", report=SKIPPED)
        self.assertEqual(self.count()[:2], (1, "0 passed, 0 failed, 1 skipped"))
        done = subprocess.run([SCRIPT, self.folder / "no-log"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
