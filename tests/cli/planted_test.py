"""One check of the planted kernels that a region tells apart: it finishes, and names the right one for each of them.

That every planted kernel is caught is for the selftest to show.

    python3 planted_test.py --kvproof KVPROOF --planted planted.so [--device host|cuda]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

KVPROOF, KERNELS, DEVICE = "", "", "host"

# Each planted kernel: words of which at least one must stand in a finding's summary or first places.
WORDS = {
    "minus-one-by-shift": ["stray guard before the pool"],
    "minus-one-by-truncation": ["stray guard before the pool"],
    "tail-writer": ["stray tail of page"],
    "pad-writer": ["stray pad of page", "scale of page"],
    "input-writer": ["stray input, byte"],
    "index-over-reader": ["past the end of the indices"],
    "input-over-reader": ["past the end of the input"],
    "endless-loop": ["did not return within"],
    "illegal-address": ["SIGSEGV", "illegal memory access"],
    "abort": ["SIGABRT", "trap", "unspecified launch failure", "illegal instruction"],
    # Offsets wrap in pools of gigabytes; on the host such a pool is address space, and only what is touched comes to be.
    "offset-int32": ["missing code of page", "code 448 missing"],
    "offset-uint32": ["code 448 missing, rope 128 missing, scale 7 missing", "code 128 missing"],
    "scale-plane-uint32": ["scale 7 missing", "scale 4 missing"],
    "rope-view-int32": ["rope 128 missing"],
    "stride-int32": ["code 448 missing", "code 128 missing"],
}


def told_of(kernel):
    return [prop["failure"]["summary"] for prop in kernel["properties"] if "failure" in prop]


class Planted(unittest.TestCase):
    def test_one_run_reports_all_of_them(self):
        with tempfile.TemporaryDirectory(prefix="kvproof-planted-") as folder:
            report = os.path.join(folder, "report.json")
            done = subprocess.run(
                [KVPROOF, "check", "--kernel", KERNELS, "--device", DEVICE, "--cases", "25", "--seed", "1",
                 "--case-timeout", "1s", "--shrink", "100ms", "--json", report, "--save", folder],
                capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, 1, done.stdout[-4000:] + done.stderr)
            with open(report, encoding="utf-8") as file:
                result = json.load(file)
            told = {}
            for kernel in result["kernels"]:
                for prop in kernel["properties"]:
                    if not prop["holds"] and "failure" in prop:
                        failure = prop["failure"]
                        told.setdefault(kernel["name"], []).extend([failure["summary"], *failure["places"][:5]])
                        self.assertTrue(os.path.exists(failure["file"]), failure["file"])
            if DEVICE == "cuda":  # the buffer is searched for in three properties of a kernel and layout, and no more
                for kernel in result["kernels"]:
                    if kernel["name"] in ("index-over-reader", "input-over-reader"):
                        named = [line for line in told_of(kernel) if "with memory there" in line]
                        self.assertEqual(len(named), 3, (kernel["name"], kernel["layout"], named))
            for name, words in WORDS.items():
                with self.subTest(name):
                    text = told.get(name, [])
                    print(f"{name}: {next((line for line in text if any(word in line for word in words)), 'NOT CAUGHT')}")
                    self.assertTrue(any(word in line for word in words for line in text), (name, text[:8]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvproof", required=True)
    parser.add_argument("--planted", required=True)
    parser.add_argument("--device", default="host")
    known, rest = parser.parse_known_args()
    KVPROOF, DEVICE = os.path.abspath(known.kvproof), known.device
    KERNELS = os.path.abspath(known.planted) + ":" + ",".join(WORDS)
    unittest.main(argv=[sys.argv[0], *rest])
