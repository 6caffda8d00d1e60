"""kvproof fuzz: what it finds, saves and prints, and how it ends; and the plug-in target."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.Namespace()


def kvproof(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([OPTIONS.kvproof, *arguments], capture_output=True, text=True, timeout=120)


class Fuzz(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def planted(self, name: str, layout: str, *more: str) -> tuple[subprocess.CompletedProcess, dict]:
        result = self.folder / "result.json"
        ran = kvproof(
            *("fuzz", "--kernel", f"{OPTIONS.planted}:{name}", "--layout", layout, "--device", "host", "--seed", "1"),
            *("--time", "30s", "--findings", "1", "--minimise", "3s", "--save", str(self.folder / "found")),
            *("--json", str(result), *more),
        )
        return ran, json.loads(result.read_text())

    def test_a_planted_address_defect_is_found_small_and_repeats(self):
        for name, layout in (("offset-uint32", "flashmla"), ("minus-one-by-shift", "indexer"), ("index-int32", "flashmla")):
            with self.subTest(name=name):
                ran, result = self.planted(name, layout)
                self.assertEqual(ran.returncode, 1, ran.stderr)
                (finding,) = result["kernels"][0]["findings"]
                self.assertLessEqual(finding["tokens"], 2)
                self.assertIn("page ", ran.stdout)
                self.assertIn("repeat: ", ran.stdout)
                repeated = kvproof("replay", finding["file"], "--kernel", f"{OPTIONS.planted}:{name}", "--device", "host")
                self.assertEqual(repeated.returncode, 1, repeated.stderr)

    def test_a_crash_is_a_finding_and_the_campaign_goes_on(self):
        ran, result = self.planted("illegal-address", "flashmla", "--executions", "40")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("crashed", ran.stdout)
        self.assertEqual(len(result["kernels"][0]["findings"]), 1)

    def test_a_correct_kernel_holds_and_fills_its_corpus(self):
        corpus = self.folder / "corpus"
        ran = kvproof(
            *("fuzz", "--kernel", "flashmla", "--dialect", "strict", "--device", "host", "--seed", "1", "--jobs", "2"),
            *("--executions", "400", "--time", "60s", "--corpus", str(corpus)),
        )
        self.assertEqual(ran.returncode, 0, ran.stderr + ran.stdout)
        self.assertIn("nothing found", ran.stdout)
        kept = len(list(corpus.iterdir()))
        self.assertGreater(kept, 50)
        again = kvproof(
            *("fuzz", "--kernel", "flashmla", "--dialect", "strict", "--device", "host", "--seed", "1"),
            *("--executions", str(kept), "--time", "60s", "--corpus", str(corpus)),
        )
        self.assertEqual(again.returncode, 0, again.stderr + again.stdout)
        self.assertEqual(len(list(corpus.iterdir())), kept, "the kept calls alone bring no new ones")

    def test_a_finding_is_kept_as_a_regression(self):
        _, result = self.planted("minus-one-by-shift", "flashmla")
        file = result["kernels"][0]["findings"][0]["file"]
        kept = self.folder / "regressions"
        ran = kvproof("fuzz", "--keep", file, "--regressions", str(kept))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue((kept / pathlib.Path(file).name).exists())
        replayed = kvproof("vectors", "check", str(kept), "--device", "host")
        self.assertEqual(replayed.returncode, 0, replayed.stderr + replayed.stdout)

    def test_the_plugin_target_aborts_on_a_planted_kernel_and_not_on_a_right_one(self):
        for name, status in (("interleaved-layout", -signal.SIGABRT), ("right", 0)):
            with self.subTest(name=name):
                kernel = {"KVPROOF_KERNEL": f"{OPTIONS.planted}:{name}"}
                ran = subprocess.run(
                    [OPTIONS.plugin_target, OPTIONS.seeds], capture_output=True, text=True, env={**os.environ, **kernel}
                )
                self.assertEqual(ran.returncode, status, ran.stderr)
                self.assertEqual("wrong bytes" in ran.stderr, status != 0)

    def test_the_seeds_are_of_those_that_the_program_makes(self):
        made = self.folder / "seeds"
        subprocess.run([OPTIONS.make_seeds, str(made)], check=True, capture_output=True)
        committed = pathlib.Path(OPTIONS.seeds).parent
        read = lambda root: {str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()}
        seeds, all_made = read(committed), read(made)
        self.assertEqual({one.split("/")[0] for one in seeds}, {one.split("/")[0] for one in all_made})
        self.assertEqual({one: all_made.get(one) for one in seeds}, seeds)

    def test_no_more_executions_than_asked_for(self):
        report = self.folder / "one.json"
        ran = kvproof(*("fuzz", "--kernel", "flashmla", "--dialect", "strict", "--device", "host", "--executions", "3"),
                      *("--json", str(report)))
        self.assertEqual(json.loads(report.read_text())["kernels"][0]["executions"], 3, ran.stdout + ran.stderr)

    def test_a_place_that_cannot_be_written_is_told_before_all_work(self):
        ran = kvproof("fuzz", "--time", "1h", "--json", str(self.folder / "none" / "r.json"))
        self.assertEqual((ran.returncode, ran.stdout), (3, ""), ran.stderr)
        self.assertIn("r.json: cannot be written", ran.stderr)

    def test_bad_usage_names_the_value(self):
        for arguments, said in (
            (("--corpus", OPTIONS.kvproof), "expected a folder"),
            (("--jobs", "2", "--isolation", "none"), "--jobs 2"),
            (("--seed", "x"), "--seed x"),
            (("--keep", str(self.folder / "none.json")), "none.json"),
            (("--keep", OPTIONS.vectors), "is no finding"),
            (("--corpus", str(pathlib.Path(OPTIONS.kvproof).parent.parent)), "expected calls alone"),
            (("--batch", "0"), "--batch"),
        ):
            with self.subTest(arguments=arguments):
                ran = kvproof("fuzz", *arguments)
                self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
                self.assertIn(said, ran.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kvproof", required=True)
    parser.add_argument("--planted", required=True)
    parser.add_argument("--plugin-target", required=True)
    parser.add_argument("--seeds", required=True)
    parser.add_argument("--make-seeds", required=True)
    parser.add_argument("--vectors", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
