"""The command line end to end: what it finds, what it prints, and how it ends."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

KVPROOF = ""
PLUGINS = ""
HOLDS, FAILS, BAD_INPUT, CANNOT_RUN = 0, 1, 2, 3

# Each defect: the property that must fail, and words of its first wrong byte.
DEFECTS = {
    "scale_floor": ("values_exact", "wrong scale of page"),
    "scale_shifted": ("values_exact", "missing scale of page"),
    "tail_written": ("untouched_bytes_stay", "stray tail of page 0, byte 0 of"),
    "rope_shifted": ("rope_copied", "wrong rope of page"),
    "stride_assumed": ("untouched_bytes_stay", "stray tail of page 0, byte 0 of"),
    "minus_one_stored": ("untouched_bytes_stay", "stray guard before the pool"),
}


def plugin(name):
    return os.path.join(PLUGINS, f"plugin_{name}.so")


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kvproof-cli-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_it(self, *arguments, status=HOLDS):
        done = subprocess.run([KVPROOF, *arguments], cwd=self.folder.name, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def complains(self, *arguments, status=BAD_INPUT, words=()):
        """One line on standard error that holds the words, and no stack trace."""
        done = self.run_it(*arguments, status=status)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("kvproof: "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])


class Help(Command):
    def test_every_command_has_help_with_an_example(self):
        for command in ([], ["check"], ["list"], ["prove"], ["replay"], ["vectors"], ["vectors", "make"], ["vectors", "check"]):
            text = self.run_it(*command, "--help").stdout
            self.assertIn("kvproof " + " ".join(command), text)
            self.assertIn("Example", text)

    def test_what_is_not_for_people_is_not_in_the_help(self):
        self.assertNotIn("worker", self.run_it("--help").stdout)

    def test_a_command_that_runs_kernels_says_how(self):
        for command in (["check"], ["prove"], ["replay"], ["vectors", "check"]):
            text = self.run_it(*command, "--help").stdout
            for option in ("--isolation", "--case-timeout", "--memory-limit"):
                self.assertIn(option, text)

    def test_version(self):
        self.assertRegex(self.run_it("--version").stdout, r"^kvproof \d+\.\d+\.\d+\n$")


class Check(Command):
    def test_built_in_kernels_hold_in_every_dialect_they_offer(self):
        self.run_it("check", "--device", "host", "--cases", "25", "--seed", "1", "--json", self.path("r.json"))
        with open(self.path("r.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.assertTrue(result["holds"])
        listed = json.loads(self.run_it("list", "--device", "host", "--json").stdout)["kernels"]
        dialects = json.loads(self.run_it("list", "--dialects", "--json").stdout)["dialects"]
        pairs = {(kernel["layout"], kernel["dialect"]) for kernel in result["kernels"]}
        self.assertEqual(pairs, {(kernel["layout"], kernel["dialect"]) for kernel in listed})
        self.assertEqual(pairs, {(dialect["layout"], dialect["name"]) for dialect in dialects})
        for kernel in result["kernels"]:
            for prop in kernel["properties"]:
                self.assertEqual(prop["cases"], 25, prop)
                self.assertGreater(prop["codes"], 0, prop)
                self.assertEqual(prop["refused"], 0, prop)
                self.assertGreater(prop["exercised"], 0, prop)
                self.assertLessEqual(prop["exercised"], 25, prop)
                self.assertFalse(prop["compared_nothing"], prop)
        self.assertEqual(result["bytes"], sum(p["bytes"] for k in result["kernels"] for p in k["properties"]))

    def test_a_run_says_what_it_compared(self):
        text = self.run_it("check", "--device", "host", "--layout", "flashmla", "--dialect", "strict", "--cases", "25",
                           "--seed", "0x2a", "--verbose", "--json", self.path("r.json")).stdout
        with open(self.path("r.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.assertGreater(result["codes"], 100_000)
        self.assertGreater(result["bytes"], 10_000_000)
        codes = f"{result['codes'] / 1e3:.1f} k" if result["codes"] < 1_000_000 else f"{result['codes'] / 1e6:.1f} M"
        properties = len(result["kernels"][0]["properties"])
        self.assertGreater(properties, 20)
        self.assertIn(f"holds: {properties} of {properties} properties hold over 1 kernel\n", text)
        self.assertIn(f"compared: {25 * properties} cases (0 refused), {codes} codes, {result['bytes'] / 1e6:.1f} MB on host\n", text)
        self.assertIn("seed 0x2a", text)

    def test_the_example_plug_in_holds(self):
        text = self.run_it("check", "--kernel", plugin("example"), "--cases", "100", "--seed", "3").stdout
        self.assertRegex(text, r"holds: (\d\d) of \1 properties hold over 2 kernels\n")

    def test_a_declared_error_is_counted_and_shown_and_an_undeclared_one_fails(self):
        line = r"(?m)^  \S+ ?k? codes explained by the declared error of 1 ulp, e\.g\. code of page \d+ slot .* found 0x"
        done = self.run_it("check", "--kernel", plugin("approximate") + ":declared", "--cases", "200", "--seed", "4",
                           "--json", self.path("r.json"))
        self.assertRegex(done.stdout, line)
        with open(self.path("r.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.assertGreater(result["explained_codes"], 0)
        properties = {entry["name"]: entry for entry in result["kernels"][0]["properties"]}
        self.assertIn("code of page", properties["values_exact"]["explained_example"])
        done = self.run_it("check", "--kernel", plugin("approximate") + ":undeclared", "--cases", "200", "--seed", "4",
                           status=FAILS)
        self.assertNotIn("explained", done.stdout)

    def test_each_defect_is_caught_named_saved_and_repeated(self):
        for defect, (prop, words) in DEFECTS.items():
            with self.subTest(defect):
                self.run_it("check", "--kernel", plugin(defect), "--cases", "200", "--seed", "5", "--json",
                            self.path("d.json"), "--save", self.path(defect), status=FAILS)
                with open(self.path("d.json"), encoding="utf-8") as file:
                    result = json.load(file)
                broken = {p["name"]: p["failure"] for k in result["kernels"] for p in k["properties"] if not p["holds"]}
                self.assertIn(prop, broken)
                self.assertIn(words, broken[prop]["places"][0])
                self.assertEqual(len(broken[prop]["wrong_bytes"]), len(broken[prop]["places"]))
                saved = broken[prop]["file"]
                again = self.run_it("replay", saved, "--kernel", plugin(defect), status=FAILS).stdout
                self.assertIn(words.split(" of ")[0].split(",")[0], again)
                self.run_it("replay", saved, "--kernel", plugin("example"))
                self.run_it("replay", saved, "--device", "host")

    def test_the_printed_command_repeats_the_failure(self):
        text = self.run_it("check", "--kernel", plugin("scale_floor"), "--cases", "100", "--seed", "5", "--save",
                           self.path("a folder"), status=FAILS).stdout
        commands = [line.split("repeat: ", 1)[1] for line in text.splitlines() if "repeat: " in line]
        self.assertTrue(commands)
        for command in commands:
            done = subprocess.run(command, shell=True, cwd=self.folder.name, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, FAILS, done.stdout + done.stderr)

    def test_a_folder_for_findings_that_cannot_be_is_refused_at_once(self):
        with open(self.path("a file"), "w", encoding="utf-8"):
            pass
        for command in (("check", "--cases", "1"), ("prove", "--domain", "positions")):
            with self.subTest(command):
                self.complains(*command, "--device", "host", "--save", self.path("a file/below"), status=CANNOT_RUN,
                               words=("a file/below: no files can be put into such a folder",))

    def test_the_same_seed_gives_the_same_result(self):
        one, two = (self.run_it("check", "--kernel", plugin("rope_shifted"), "--cases", "50", "--seed", "9", "--json",
                                self.path(f"{i}.json"), status=FAILS) for i in (1, 2))
        strip = lambda text: [line for line in text.splitlines() if not line.startswith("seed ")]
        self.assertEqual(strip(one.stdout), strip(two.stdout))

    def test_it_is_quiet_in_a_pipe(self):
        done = self.run_it("check", "--device", "host", "--dialect", "strict", "--cases", "25")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\r", done.stdout)

    def test_kernels_are_named_one_by_one(self):
        for names, kernels in (("indexer", 1), ("indexer,flashmla", 2), ("flashmla,flashmla", 1)):
            out = self.run_it("check", "--kernel", names, "--device", "host", "--dialect", "strict", "--cases", "25").stdout
            self.assertRegex(out, rf"holds: (\d+) of \1 properties hold over {kernels} kernels?\n")

    def test_a_budget_is_kept(self):
        text = self.run_it("check", "--kernel", plugin("example"), "--budget", "500ms").stdout
        seconds = float(text.rsplit(", ", 1)[1].split(" s")[0])
        self.assertLess(seconds, 5)


# Kernels that are right in what they store and refuse the rest: the properties that this leaves untested.
UNTESTED = {
    "one_token": {"tiles_independent", "permuting_tokens_changes_nothing", "split_batch_equals_whole",
                  "strided_input_right_or_refused", "duplicates_end_as_one_contender"},
    "narrow_indices": {"index_types_agree"},
    "small_pools": {"far_rows_land"},
    "valid_indices": {"invalid_indices_follow_the_dialect"},
    "dense_rows": set(),  # a refusal is what the property asks for
}


class Refusals(Command):
    def check(self, kernel, status):
        out = self.run_it("check", "--kernel", f"{plugin('refusing')}:{kernel}", "--layout", "indexer", "--cases", "50",
                          "--seed", "1", "--json", self.path("r.json"), status=status).stdout
        with open(self.path("r.json"), encoding="utf-8") as file:
            return json.load(file), out

    def test_a_promise_that_was_never_tested_does_not_hold(self):
        for kernel, untested in UNTESTED.items():
            with self.subTest(kernel):
                result, out = self.check(kernel, CANNOT_RUN if untested else HOLDS)
                properties = {entry["name"]: entry for entry in result["kernels"][0]["properties"]}
                self.assertEqual({name for name, entry in properties.items() if entry["compared_nothing"]}, untested)
                self.assertEqual({name for name, entry in properties.items() if not entry["holds"]}, untested)
                self.assertEqual({name for name, entry in properties.items() if entry["exercised"] == 0}, untested)
                self.assertEqual((result["holds"], result["compared_nothing"]), (not untested, len(untested)))
                held = f"{len(properties) - len(untested)} of {len(properties)} properties hold over 1 kernel"
                self.assertIn(f"NOTHING COMPARED: {held}, {len(untested)} compared nothing\n" if untested else
                              f"holds: {held}\n", out)
                for name in untested:
                    self.assertRegex(out, rf"(?m)^  {name} +50 cases +0 exercise it .*\n    compared nothing: no case had ")

    def test_a_kernel_that_refuses_everything_has_shown_nothing_at_all(self):
        result, out = self.check("nothing", CANNOT_RUN)
        properties = result["kernels"][0]["properties"]
        self.assertEqual(result["compared_nothing"], len(properties))
        self.assertIn(f"NOTHING COMPARED: 0 of {len(properties)} properties hold", out)
        self.assertIn("refused: whatever it is", out)


# Kernels that are particular about pages: the layout, the page size and stride that they are proved in, those refused before.
PAGES = (
    ("tight_stride", "flashmla", (64, 37_376), [(64, 37_440)]),
    ("padded_stride", "flashmla", (64, 37_440), []),
    ("padded_stride", "indexer", (64, 8_640), [(64, 8_448)]),
    ("aligned_stride", "flashmla", (64, 40_960), [(64, 37_440), (64, 37_376)]),
    ("aligned_stride", "indexer", (64, 12_288), [(64, 8_448), (64, 8_640)]),
    ("large_pages", "flashmla", (256, 149_760), [(64, 37_440), (64, 37_376), (64, 40_960), (64, 73_728)]),
)


class Pages(Command):
    def prove(self, kernel, layout, status=HOLDS):
        out = self.run_it("prove", "--kernel", f"{plugin('refusing')}:{kernel}", "--layout", layout, "--domain", "non-finite",
                          "--json", self.path("r.json"), status=status).stdout
        with open(self.path("r.json"), encoding="utf-8") as file:
            return json.load(file)["kernels"][0]["domains"][0], out

    @staticmethod
    def refused(result):
        return [(one["page_size"], one["page_stride"]) for one in result.get("refused_pages", [])]

    def test_a_kernel_is_proved_in_the_first_pages_that_it_takes(self):
        for kernel, layout, (size, stride), refused in PAGES:
            with self.subTest(kernel=kernel, layout=layout):
                result, out = self.prove(kernel, layout)
                self.assertEqual((result["page_size"], result["page_stride"]), (size, stride))
                self.assertEqual(self.refused(result), refused)
                self.assertEqual((result["pairs"], result["refused_rows"]), ({"flashmla": 67_200, "indexer": 19_200}[layout], 0))
                self.assertIn(f"\n  in pages of {size} tokens, {stride:,} bytes apart; "
                              "int32 and int64 indices in turn; 1,024 rows a call\n", out)
                for size, stride in refused:
                    self.assertIn(f"\n  refused pages of {size} tokens, {stride:,} bytes apart: pages ", out)

    def test_a_page_of_one_token_is_tried_last(self):
        result, _ = self.prove("single_slots", "flashmla")
        self.assertEqual((result["page_size"], result["page_stride"], result["pairs"]), (1, 1_152, 67_200))

    def test_a_kernel_that_takes_no_pages_has_shown_nothing_and_says_why(self):
        result, out = self.prove("nothing", "indexer", status=CANNOT_RUN)
        self.assertEqual((result["pairs"], result["proved"], result["refusal"]), (0, False, "whatever it is"))
        self.assertEqual({size for size, _ in self.refused(result)}, {64, 256, 2, 1})
        self.assertIn("NOTHING COMPARED", out)
        self.assertRegex(out, r"nothing was compared: 19200 rows were refused, in \d+ kinds of pages: whatever it is")


class BadInput(Command):
    def test_usage(self):
        self.complains(words=["--help"])
        self.complains("chekc", words=["chekc", "--help"])
        self.complains("chekc", "--help", words=["chekc", "expected addresses, check, ", " or vectors"])
        self.complains("check", "--budget", "0", words=["--budget", "more than 0"])
        self.complains("check", "--budget", "1e300", words=["--budget", "at most 1000000"])
        self.complains("check", "--kernel", "", words=["--kernel", "empty"])
        self.complains("check", "--budget", "soon", words=["--budget"])
        self.complains("check", "--budget", "-1", words=["--budget"])
        self.complains("check", "--cases", "0", words=["--cases"])
        self.complains("check", "--seed", "1x", "--device", "host", words=["--seed 1x", "expected an integer"])
        self.complains("check", "--device", "tpu", words=["--device", "tpu"])
        self.complains("check", "--layout", "planar", "--device", "host", words=["planar", "flashmla, indexer"])
        self.complains("check", "--dialect", "sglang", "--device", "host", words=["sglang", "sglang-cuda"])
        self.complains("check", "--kernel", "nothing", "--device", "host", words=["nothing", "flashmla, indexer"])
        self.complains("check", "--kernel", "indexer,nothing", "--device", "host", words=["--kernel nothing", "flashmla, indexer"])
        self.complains("list", "--dialects", "--properties", words=["--properties"])

    def test_plug_ins(self):
        self.complains("check", "--kernel", "./missing.so", words=["missing.so"])
        with open(self.path("text.so"), "w", encoding="utf-8") as file:
            file.write("not a library\n")
        self.complains("check", "--kernel", "./text.so", status=CANNOT_RUN, words=["text.so"])
        # The header of a library for another machine (AArch64).
        with open(self.path("arm.so"), "wb") as file:
            file.write(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xb7\x00\x01\x00\x00\x00" + bytes(4096))
        self.complains("check", "--kernel", "./arm.so", status=CANNOT_RUN, words=["arm.so"])
        self.complains("check", "--kernel", plugin("no_symbol"), status=CANNOT_RUN, words=["kvproof_kernels"])
        self.complains("check", "--kernel", plugin("other_version"), status=CANNOT_RUN, words=["version 1"])
        self.complains("check", "--kernel", plugin("contradicts"), words=["expected"])
        self.complains("check", "--kernel", plugin("other_size"), words=["size", "expected"])
        self.complains("check", "--kernel", plugin("no_kernels"), words=["at least one"])
        self.complains("check", "--kernel", plugin("example") + ":other", words=["other", "example"])
        self.complains("check", "--kernel", plugin("example"), "--dialect", "deepseek", words=["deepseek", "strict"])
        self.complains("check", "--kernel", plugin("example"), "--device", "cuda", words=["cuda", "host"])

    def test_cuda_without_a_gpu(self):
        if os.path.exists("/dev/nvidia0"):
            self.run_it("list", "--device", "cuda")
        else:
            self.complains("check", "--device", "cuda", status=CANNOT_RUN, words=["no GPU"])

    def test_case_files(self):
        self.complains("replay", "missing.json", words=["missing.json"])
        self.complains("replay", ".", words=["folder"])
        with open(self.path("bad.json"), "w", encoding="utf-8") as file:
            file.write("{")
        self.complains("replay", "bad.json", words=["bad.json", "not JSON"])
        with open(self.path("huge.json"), "w", encoding="utf-8") as file:
            file.write('{"version": 1e999}')
        self.complains("replay", "huge.json", words=["huge.json", "a number in it is beyond every double"])
        self.run_it("vectors", "make", "--output", "v", "--dialect", "strict")
        with open(self.path("v/flashmla-strict.json"), encoding="utf-8") as file:
            vectors = json.load(file)
        vectors["cases"][0]["call"]["page_stride"] = 7
        with open(self.path("stride.json"), "w", encoding="utf-8") as file:
            json.dump(vectors, file)
        self.complains("replay", "stride.json", words=["stride.json.cases[0].call", "page stride 7", "at least 1168"])
        self.complains("vectors", "check", "missing", words=["missing"])
        os.mkdir(self.path("empty"))
        self.complains("vectors", "check", "empty", words=["no .json file"])
        self.complains("vectors", "make", "--dialect", "none", words=["none"])

    def test_the_address_proof(self):
        out = self.run_it("addresses", "--json", "proof.json").stdout
        with open(self.path("proof.json"), encoding="utf-8") as file:
            proof = json.load(file)
        self.assertTrue(proof["holds"])
        self.assertEqual([query for query in proof["queries"] if query["answer"] != query["expected"]], [])
        self.assertEqual({query["group"] for query in proof["queries"]}, {"lemmas", "flashmla", "indexer", "32 bits"})
        proved, refuted = (sum(query["answer"] == answer for query in proof["queries"]) for answer in ("proved", "refuted"))
        self.assertIn(f"holds: {proved} claims proved, {refuted} refuted, 0 other than expected; {proof['solver']}", out)
        # The smallest index of a packed page of 256 tokens whose row lies past 2^31 bytes.
        smallest = next(query for query in proof["queries"] if "P = 256, S = 149760: rows by int32" in query["claim"])
        self.assertEqual(smallest["values"]["index"], 3_670_784)

    def test_the_address_proof_without_its_solver_or_a_place_for_its_result(self):
        alone = shutil.copy(KVPROOF, self.path("kvproof"))
        done = subprocess.run([alone, "addresses"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (CANNOT_RUN, ""), done.stderr)
        self.assertIn("kvproof_solver.so: expected at ", done.stderr)
        self.complains("addresses", "--json", "missing/proof.json", status=CANNOT_RUN, words=["missing/proof.json"])
        self.complains("addresses", "proof.json", words=["proof.json"])

    def test_a_full_standard_output_is_no_success(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([KVPROOF, "list", "--dialects"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, CANNOT_RUN)
        self.assertIn("standard output", done.stderr)

    def test_a_result_that_cannot_be_written(self):
        self.complains("check", "--kernel", plugin("example"), "--cases", "1", "--json", "/nowhere/r.json",
                       status=CANNOT_RUN, words=["/nowhere/r.json"])


class Vectors(Command):
    def test_made_vectors_hold_and_a_changed_one_is_refused(self):
        self.run_it("vectors", "make", "--output", "v")
        text = self.run_it("vectors", "check", "v", "--device", "host").stdout
        self.assertRegex(text, r"holds: (\d+) of \1 runs hold \(0 refused\)")
        text = self.run_it("vectors", "check", "v", "--kernel", plugin("example")).stdout
        self.assertRegex(text, r"of dialects or types that no chosen kernel speaks")
        self.run_it("vectors", "check", "v", "--kernel", plugin("minus_one_stored"), status=FAILS)
        with open(self.path("v/flashmla-strict.json"), encoding="utf-8") as file:
            text = file.read()
        at = text.index('"bytes": "') + len('"bytes": "')
        with open(self.path("changed.json"), "w", encoding="utf-8") as file:
            file.write(text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1:])
        self.complains("vectors", "check", "changed.json", "--device", "host", words=["not what the model says"])

    def test_nothing_compared_is_no_success(self):
        self.run_it("vectors", "make", "--output", "v", "--dialect", "deepgemm")
        text = self.run_it("vectors", "check", "v", "--kernel", plugin("example"), status=CANNOT_RUN).stdout
        self.assertIn("NOTHING COMPARED", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvproof", required=True)
    parser.add_argument("--plugins", required=True)
    known, rest = parser.parse_known_args()
    KVPROOF, PLUGINS = os.path.abspath(known.kvproof), os.path.abspath(known.plugins)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)
