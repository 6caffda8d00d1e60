"""kvproof prove on the host: whole domains with exact counts, shards that make a whole, and wrong kernels named.

    python3 prove_test.py --kvproof KVPROOF --planted planted.so --plugins FOLDER
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

KVPROOF, PLANTED, PLUGINS = "", "", ""
PROVED, WRONG, BAD_INPUT, CANNOT_RUN = 0, 1, 2, 3

AMAXES, SIGNS = 32_640, 2  # finite bf16 magnitudes that are an amax
ROPE_PATTERNS, ROPE_PLACES = 65_536, 64
INDEXER_PAIRS = 532_701_120  # of an amax and an x of its sign


class Prove(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kvproof-prove-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def prove(self, *arguments, status=PROVED):
        report = os.path.join(self.folder, "report.json")
        done = subprocess.run([KVPROOF, "prove", "--device", "host", *arguments, "--json", report], cwd=self.folder,
                              capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        with open(report, encoding="utf-8") as file:
            return json.load(file), done.stdout

    def refused(self, *arguments, words):
        done = subprocess.run([KVPROOF, "prove", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), done.stderr)
        self.assertIn(words, done.stderr)

    @staticmethod
    def pairs(result):
        return {(kernel["layout"], one["domain"]): one["pairs"] for kernel in result["kernels"] for one in kernel["domains"]}


class Whole(Prove):
    def test_both_production_kernels_over_every_pair(self):
        result, out = self.prove("--dialect", "strict", "--fp8", "e4m3fn")
        print(out)
        pairs = self.pairs(result)
        self.assertEqual(pairs["flashmla", "scales"], AMAXES * SIGNS * 448)
        self.assertEqual(pairs["indexer", "scales"], AMAXES * SIGNS * 128)
        self.assertEqual(pairs["flashmla", "rope"], ROPE_PATTERNS * ROPE_PLACES)
        self.assertEqual(pairs["indexer", "codes"], INDEXER_PAIRS * SIGNS)
        self.assertEqual(pairs["flashmla", "pairs"], INDEXER_PAIRS * SIGNS)  # the same x under the same amax
        self.assertEqual(set(pairs), {(layout, domain) for layout in ("flashmla", "indexer")
                                      for domain in ("scales", "codes", "rope", "non-finite", "positions",
                                                     "pairs")} - {("indexer", "rope"), ("indexer", "pairs")})
        self.assertEqual(result["pairs"], sum(pairs.values()))
        self.assertEqual(result["pairs"], result["domain_pairs"])


class Parts(Prove):
    def test_shards_make_the_whole(self):
        chosen = ("--dialect", "strict", "--layout", "flashmla", "--fp8", "e4m3fn", "--domain", "codes,rope")
        whole, _ = self.prove(*chosen)
        self.assertGreater(whole["pairs"], 0)
        parts = [self.prove(*chosen, "--shard", f"{i}/3")[0] for i in (1, 2, 3)]
        for key, pairs in self.pairs(whole).items():
            self.assertEqual(sum(self.pairs(part)[key] for part in parts), pairs, key)

    def test_every_input_and_fp8_type_is_proved(self):
        result, _ = self.prove("--dialect", "strict", "--domain", "codes", "--input", "all", "--shard", "1/256")
        types = {(one["input"], one["fp8"]) for kernel in result["kernels"] for one in kernel["domains"]}
        self.assertEqual(types, {(a, b) for a in ("bf16", "fp16", "fp32") for b in ("e4m3fn", "e4m3fnuz")})

    def test_a_shard_without_a_row_has_shown_nothing(self):
        result, out = self.prove("--dialect", "strict", "--layout", "indexer", "--domain", "non-finite", "--fp8", "e4m3fn",
                                 "--shard", "1000000/1000000", status=CANNOT_RUN)
        self.assertIn("no row", out)
        self.assertIn("NOTHING COMPARED", out)
        self.assertEqual((result["holds"], result["pairs"]), (False, 0))

    def test_index_types_are_taken_in_turn_or_each_by_itself(self):
        chosen = ("--dialect", "strict", "--layout", "indexer", "--domain", "positions", "--fp8", "e4m3fn")
        for index, types, words in (((), ["turns"], "int32 and int64 indices in turn"),
                                    (("--index", "int64"), ["int64"], "int64 indices"),
                                    (("--index", "all"), ["int32", "int64"], "int32 indices")):
            with self.subTest(index):
                result, out = self.prove(*chosen, *index)
                self.assertEqual([one["index"] for one in result["kernels"][0]["domains"]], types)
                self.assertIn(words, out)

    def test_what_a_declared_error_explains_is_counted(self):
        kernel = os.path.join(PLUGINS, "plugin_approximate.so") + ":declared"
        result, out = self.prove("--kernel", kernel, "--domain", "codes", "--shard", "60/100")
        self.assertGreater(result["explained"], 0)
        self.assertIn("codes explained by the declared error of 1 ulp, as ", out)

    def test_a_wrong_code_is_named_and_its_row_repeats(self):
        kernel = PLANTED + ":code-half-up"
        result, out = self.prove("--kernel", kernel, "--layout", "flashmla", "--domain", "codes", "--fp8", "e4m3fn",
                                 status=WRONG)
        self.assertLess(result["pairs"], result["domain_pairs"])
        failure = result["kernels"][0]["domains"][0]["failure"]
        self.assertRegex(failure["summary"], r"^amax 0x[0-9a-f]{4} \(.*\), x 0x[0-9a-f]{4} \(.*\): code 0x[0-9a-f]{2}, "
                                             r"expected 0x[0-9a-f]{2}, at tile \d element \d+; input bf16, e4m3fn$")
        self.assertIn(failure["summary"], out)
        again = subprocess.run([KVPROOF, "replay", failure["file"], "--kernel", kernel], cwd=self.folder, capture_output=True,
                               text=True, timeout=60, check=False)
        self.assertEqual(again.returncode, WRONG, again.stdout + again.stderr)
        right = subprocess.run([KVPROOF, "replay", failure["file"], "--device", "host"], cwd=self.folder, capture_output=True,
                               text=True, timeout=60, check=False)
        self.assertEqual(right.returncode, PROVED, right.stdout + right.stderr)

    def test_each_domain_fails_on_a_kernel_that_is_wrong_in_it(self):
        for domain, defect in (("scales", "scale-floor-for-ceil"), ("codes", "code-saturates-at-256"),
                               ("rope", "rope-nan-quieted"), ("non-finite", "nan-saturates"),
                               ("positions", "last-vector-swapped")):
            with self.subTest(domain):
                result, _ = self.prove("--kernel", f"{PLANTED}:{defect}", "--layout", "flashmla", "--domain", domain,
                                       "--fp8", "e4m3fn", status=WRONG)
                self.assertIn("failure", result["kernels"][0]["domains"][0])

    def test_a_kernel_that_does_not_come_back_is_a_verdict(self):
        _, out = self.prove("--kernel", PLANTED + ":abort", "--layout", "indexer", "--domain", "non-finite", status=WRONG)
        self.assertIn("the kernel aborted: SIGABRT", out)

    def test_bad_arguments(self):
        for arguments, words in ((("--shard", "3/2"), "--shard 3/2: expected i/n"),
                                 (("--shard", "one"), "--shard one: expected i/n"),
                                 (("--domain", "fish"), "--domain fish: expected scales, codes, rope"),
                                 (("--domain", "rope", "--layout", "indexer"), "no chosen kernel has such a domain"),
                                 (("--input", "int8"), "int8"), (("--fp8", "e5m2"), "e5m2"), (("--jobs", "0"), "--jobs"),
                                 (("--kernel", "nobody"), "nobody")):
            with self.subTest(arguments):
                self.refused(*arguments, words=words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kvproof", required=True)
    parser.add_argument("--planted", required=True)
    parser.add_argument("--plugins", required=True)
    options, rest = parser.parse_known_args()
    KVPROOF, PLANTED, PLUGINS = (os.path.abspath(path) for path in (options.kvproof, options.planted, options.plugins))
    unittest.main(argv=[sys.argv[0], *rest])
