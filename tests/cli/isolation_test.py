"""Kernels that crash, hang, exit or spoil their process: each is a verdict, and nothing is left behind."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

KVPROOF = ""
PLUGINS = ""
HOLDS, FAILS, BAD_INPUT, CANNOT_RUN = 0, 1, 2, 3
TAG = "KVPROOF_TEST_RUN"

# Each kernel of plugin_misbehaving that must fail, and how its verdict begins.
VERDICTS = {
    "writes-null": "the kernel crashed: SIGSEGV (Segmentation fault), write at address 0x0, through a null pointer",
    "reads-null": "the kernel crashed: SIGSEGV (Segmentation fault), read at address 0x0, through a null pointer",
    "aborts": "the kernel aborted: SIGABRT",
    "exits-0": "the kernel called exit(0)",
    "exits-3": "the kernel called exit(3)",
    "loops": "the kernel did not return within",
    "leaves-a-process-and-loops": "the kernel did not return within",
    "throws": "the kernel threw: no such tile",
    "throws-7": "the kernel threw: an exception of an unknown type",
    "bad-alloc": "the kernel ran out of memory: std::bad_alloc",
    "takes-all-memory": "the kernel ran out of memory: it took more than 512 MiB",
    "closes-all": "the kernel closed its channel to kvproof",
    "ends-its-group": "the kernel was ended: SIGTERM (Terminated)",
    "writes-to-descriptors": "the kernel wrote to a file descriptor that is not its own",
    "overflows-the-stack": "the kernel crashed: SIGSEGV (Segmentation fault), write at address",
    "says-why": "the kernel aborted: SIGABRT",
    "far-indices-unguarded": "the kernel crashed: SIGSEGV (Segmentation fault), ",
}
STRAY = r"\d+ wrong bytes: [a-z ]+ \d+ stray(, [a-z ]+ \d+ stray)*$"
RIGHT = {"right", "floods", "sleeps", "closes-standard", "leaves-a-process"}


def plugin(name):
    return os.path.join(PLUGINS, f"plugin_{name}.so")


def processes_with(tag):
    """Live processes that inherited the tag from a run of the command."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if f"{TAG}={tag}".encode() in file.read():
                    found.append(int(process))
        except OSError:
            pass
    return found


class Isolation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kvproof-isolation-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tag = uuid.uuid4().hex
        self.addCleanup(self.nothing_is_left)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *arguments):
        return subprocess.Popen([KVPROOF, *arguments], cwd=self.folder, env={**os.environ, TAG: self.tag}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_it(self, *arguments, status=HOLDS, within=120):
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=within)
        finally:
            process.kill()
        self.assertEqual(process.returncode, status, f"{arguments}\n{out}\n{err}")
        return out, err

    def nothing_is_left(self, patience=2.0):
        end = time.monotonic() + patience
        while processes_with(self.tag):
            self.assertLess(time.monotonic(), end, f"processes left: {processes_with(self.tag)}")
            time.sleep(0.01)

    def test_one_run_reports_every_kernel_and_passes_the_right_ones(self):
        shared = set(os.listdir("/dev/shm"))
        out, err = self.run_it("check", "--kernel", plugin("misbehaving"), "--cases", "60", "--seed", "1", "--shrink", "150ms",
                               "--case-timeout", "2s", "--memory-limit", "512MB", "--json", "r.json", status=FAILS)
        self.nothing_is_left(patience=0.5)
        self.assertEqual(set(os.listdir("/dev/shm")), shared)
        self.assertEqual(err, "")
        with open(self.path("r.json"), encoding="utf-8") as file:
            kernels = {kernel["name"]: kernel for kernel in json.load(file)["kernels"]}
        self.assertEqual(set(kernels), set(VERDICTS) | RIGHT)
        for name in RIGHT:
            for prop in kernels[name]["properties"]:
                self.assertTrue(prop["holds"], (name, prop))
                self.assertEqual(prop["cases"], 60)
        for name, begins in VERDICTS.items():
            failures = [prop["failure"] for prop in kernels[name]["properties"] if "failure" in prop]
            self.assertTrue(failures, name)
            for failure in failures:
                # Far indices lead into the guards too, and where their address wraps into the pool: memory that is there.
                self.assertTrue(failure["summary"].startswith(begins) or
                                name == "far-indices-unguarded" and re.match(STRAY, failure["summary"]),
                                (name, failure["summary"]))
            self.assertIn(failures[0]["summary"], out)
            if name not in ("far-indices-unguarded", "loops", "leaves-a-process-and-loops"):
                self.assertEqual(len(failures), len(kernels[name]["properties"]), name)
        self.assertIn("where the stack overflows", kernels["overflows-the-stack"]["properties"][0]["failure"]["summary"])
        self.assertIn("it printed: tile 3 has no owner", kernels["says-why"]["properties"][0]["failure"]["places"])

    def test_a_crash_is_shrunk_saved_and_repeated(self):
        out, _ = self.run_it("check", "--kernel", plugin("misbehaving") + ":writes-null", "--cases", "60", "--seed", "2",
                             "--case-timeout", "9.5s", "--json", "r.json", status=FAILS)
        with open(self.path("r.json"), encoding="utf-8") as file:
            failure = json.load(file)["kernels"][0]["properties"][0]["failure"]
        self.assertTrue(failure["call"].startswith("3 tokens"), failure["call"])
        self.assertIn("--case-timeout 9.5s", out)  # what repeats it has the same limits
        again, _ = self.run_it("replay", failure["file"], "--kernel", plugin("misbehaving") + ":writes-null", status=FAILS)
        self.assertIn(failure["summary"], again)
        self.run_it("replay", failure["file"], "--kernel", plugin("example"))
        self.assertIn("repeat: ", out)

    def test_a_kernel_that_does_not_return_is_left_after_the_limit(self):
        start = time.monotonic()
        out, _ = self.run_it("check", "--kernel", plugin("misbehaving") + ":loops", "--cases", "20", "--seed", "3",
                             "--case-timeout", "1s", "--shrink", "0s", "--json", "r.json", status=FAILS)
        self.assertIn("the kernel did not return within 1 s", out)
        self.assertLess(time.monotonic() - start, 20)
        with open(self.path("r.json"), encoding="utf-8") as file:
            results = json.load(file)["kernels"][0]["properties"]
        hung = [prop["name"] for prop in results if "failure" in prop]
        not_asked = [prop["name"] for prop in results if "not_asked" in prop]
        self.assertEqual(len(hung), 3)
        self.assertGreater(len(not_asked), 10)
        self.assertEqual([prop["name"] for prop in results if prop["holds"]],
                         [prop["name"] for prop in results if prop["name"] not in hung + not_asked])
        self.assertIn(f"{not_asked[0]} not asked: the kernel did not return in 3 properties before", out)

    def test_a_plug_in_that_cannot_be_loaded(self):
        for name, words in {"load_crashes": "crashed: SIGSEGV", "load_exits": "called exit(0)",
                            "load_hangs": "did not return within 3 s"}.items():
            for command in (["check"], ["list"]):
                with self.subTest(name, command=command):
                    _, err = self.run_it(*command, "--kernel", plugin(name), "--case-timeout", "1s", status=CANNOT_RUN)
                    self.assertEqual(len(err.splitlines()), 1, err)
                    self.assertIn(words, err)
                    self.assertIn(plugin(name), err)
                    self.assertIn("it printed: looking for an accelerator", err)

    def test_vectors_go_on_after_a_crash(self):
        self.run_it("vectors", "make", "--output", "v", "--dialect", "strict", "--layout", "indexer")
        out, _ = self.run_it("vectors", "check", "v", "--kernel", plugin("misbehaving") + ":aborts", status=FAILS)
        self.assertIn("the kernel aborted: SIGABRT", out)
        hold, runs = map(int, re.search(r"FAILS: (\d+) of (\d+) runs hold", out).groups())
        self.assertGreater(hold, 0)
        self.assertGreater(runs, hold)

    def a_signal_ends_all(self, number, kernel, processes):
        process = self.start("check", "--kernel", f"{plugin('misbehaving')}:{kernel}", "--case-timeout", "60s")
        end = time.monotonic() + 20
        while len(processes_with(self.tag)) < processes:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, -number)
        self.nothing_is_left()

    def test_signals_end_the_children_too(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                self.a_signal_ends_all(number, "loops", 2)

    def test_what_a_kernel_left_behind_ends_with_the_command(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.a_signal_ends_all(number, "leaves-a-process-and-loops", 3)

    def test_without_isolation_a_crash_ends_the_command(self):
        self.run_it("check", "--kernel", plugin("misbehaving") + ":writes-null", "--cases", "60", "--isolation", "none",
                    status=-signal.SIGSEGV)
        self.run_it("check", "--kernel", plugin("misbehaving") + ":right", "--cases", "20", "--isolation", "none")

    def test_limits_are_checked(self):
        for option, value in (("--case-timeout", "0s"), ("--memory-limit", "1B"), ("--isolation", "some"), ("--shrink", "-1s")):
            with self.subTest(option):
                _, err = self.run_it("check", option, value, status=BAD_INPUT)
                self.assertIn(option, err)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvproof", required=True)
    parser.add_argument("--plugins", required=True)
    known, rest = parser.parse_known_args()
    KVPROOF, PLUGINS = os.path.abspath(known.kvproof), os.path.abspath(known.plugins)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)
