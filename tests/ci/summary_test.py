"""The last line of ci/test: counted from ctest's results, and never a success that ran nothing."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).resolve().parents[2] / "ci" / "summary.py"


def case(name, status, skipped=None):
    inside = f'<skipped message="{skipped}"/>' if skipped else ""
    return f'<testcase name="{name}" classname="{name}" time="0" status="{status}">{inside}</testcase>'


class Summary(unittest.TestCase):
    def summary(self, *cases, text=None):
        with tempfile.TemporaryDirectory(prefix="kvproof-summary-") as folder:
            path = pathlib.Path(folder) / "results.xml"
            path.write_text(text if text is not None else f'<testsuite name="x">{"".join(cases)}</testsuite>', encoding="utf-8")
            done = subprocess.run([sys.executable, str(SUMMARY), str(path)], capture_output=True, text=True, check=False)
        return done.stdout.splitlines(), done.returncode

    def ends(self, cases, line, status):
        lines, code = self.summary(*cases)
        self.assertEqual((lines[-1], code), (line, status), lines)
        return lines

    def test_all_passed(self):
        self.ends([case("a", "run"), case("b", "run")], "2 passed, 0 failed", 0)

    def test_a_failure_is_named(self):
        self.assertIn("failed: b", self.ends([case("a", "run"), case("b", "fail")], "1 passed, 1 failed", 1))

    def test_skips_are_visible(self):
        lines = self.ends([case("a", "run"), case("b", "notrun", "SKIP_RETURN_CODE=77"), case("c", "disabled"),
                           case("d", "notrun", "SKIP_REGULAR_EXPRESSION_MATCHED")], "1 passed, 0 failed, 3 skipped", 0)
        self.assertIn("skipped: d", lines)

    def test_a_test_that_could_not_start_has_failed(self):
        self.ends([case("a", "run"), case("b", "notrun", "Unable to find executable"),
                   case("c", "notrun", "Fixture dependency failed")], "1 passed, 2 failed", 1)

    def test_nothing_run_is_no_success(self):
        self.ends([], "0 passed, 0 failed", 1)
        self.ends([case("a", "notrun", "SKIP_RETURN_CODE=77")], "0 passed, 0 failed, 1 skipped", 1)

    def test_results_that_cannot_be_read_are_no_success(self):
        lines, code = self.summary(text="<testsuite")
        self.assertEqual((lines[-1], code), ("0 passed, 0 failed", 1))


if __name__ == "__main__":
    unittest.main()
