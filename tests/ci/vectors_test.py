"""The golden vectors: each file meets the schema, holds what the schema cannot say, and the example port stores it."""

import argparse
import copy
import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTORS = ROOT / "corpus" / "vectors"
SCHEMA = json.loads((ROOT / "corpus" / "schema" / "case-v1.schema.json").read_text(encoding="utf-8"))
ROW_VALUES = {"flashmla": 512, "indexer": 128}
TOKEN_BYTES = {"flashmla": 584, "indexer": 132}
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


def files():
    return sorted(VECTORS.glob("*.json"))


def errors(data):
    return [f"{e.json_path}: {e.message[:200]}" for e in jsonschema.Draft202012Validator(SCHEMA).iter_errors(data)]


def objects(schema):
    """Every part of the schema that describes an object."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def run_size(run):
    return run["poison"] if "poison" in run else len((run.get("any_of") or [run["bytes"]])[0]) // 2


class Schema(unittest.TestCase):
    def test_is_a_schema_and_closed(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        for part in objects(SCHEMA):
            self.assertIn("additionalProperties", part)
        self.assertGreater(len(list(objects(SCHEMA))), 5)

    def test_refuses_what_is_wrong(self):
        good = json.loads(files()[0].read_text(encoding="utf-8"))
        good["cases"] = good["cases"][:1]
        self.assertEqual(errors(good), [])

        def broken(change):
            data = copy.deepcopy(good)
            change(data, data["cases"][0])
            self.assertNotEqual(errors(data), [], change.__code__.co_firstlineno)

        broken(lambda data, case: data.update(version=2))
        broken(lambda data, case: data.update(more=1))
        broken(lambda data, case: data.update(cases=[]))
        broken(lambda data, case: case.update(more=1))
        broken(lambda data, case: case.update(id="Upper"))
        broken(lambda data, case: case.pop("comment"))
        broken(lambda data, case: case["dialect"].update(floor="median"))
        broken(lambda data, case: case["dialect"].pop("nan"))
        broken(lambda data, case: case["dialect"].update(floor_value=1))
        broken(lambda data, case: case["call"].update(input="AB"))
        broken(lambda data, case: case["call"].update(input="abc"))
        broken(lambda data, case: case["call"].update(indices=[0]))
        broken(lambda data, case: case["call"].update(tokens=-1))
        broken(lambda data, case: case["poison"].update(seed="12"))
        broken(lambda data, case: case["expected"][0].update(bytes="00", poison=1))
        broken(lambda data, case: case["expected"].append({"offset": 0, "what": "nothing"}))
        broken(lambda data, case: case["expected"].append({"offset": 0, "what": "no bytes", "bytes": ""}))


class Files(unittest.TestCase):
    def setUp(self):
        self.assertTrue(files(), f"no vector in {VECTORS}")

    def test_each_meets_the_schema(self):
        for path in files():
            with self.subTest(path.name):
                self.assertEqual(errors(json.loads(path.read_text(encoding="utf-8"))), [])

    def test_each_holds_together(self):
        for path in files():
            data = json.loads(path.read_text(encoding="utf-8"))
            ids = [case["id"] for case in data["cases"]]
            self.assertEqual(len(ids), len(set(ids)), path.name)
            self.assertEqual({flag for case in data["cases"] for flag in case["flags"]}, set(data["flags"]), path.name)
            for case in data["cases"]:
                with self.subTest(case["id"]):
                    self.holds_together(path, case)

    def holds_together(self, path, case):
        call = case["call"]
        row = ROW_VALUES[call["layout"]] * ELEMENT_BYTES[call["input_type"]]
        self.assertEqual(path.stem, f"{call['layout']}-{case['dialect']['name']}")
        self.assertEqual(call["layout"], case["dialect"]["layout"])
        self.assertTrue(case["flags"], "a vector says what it catches")
        self.assertEqual(len(call["indices"]), call["tokens"])
        expected = (call["tokens"] - 1) * call["row_stride"] + row if call["tokens"] else 0
        self.assertEqual(len(call["input"]), 2 * expected)
        self.assertGreaterEqual(call["row_stride"], row)
        self.assertGreaterEqual(call["page_stride"], call["page_size"] * TOKEN_BYTES[call["layout"]])
        at = 0
        for run in case["expected"]:
            self.assertEqual(run["offset"], at)
            self.assertEqual(len({len(text) for text in run.get("any_of", [""])}), 1)
            at += run_size(run)
        self.assertEqual(at, call["pages"] * call["page_stride"])

    def test_the_port_stores_the_strict_ones(self):
        strict = [str(path) for path in files() if path.stem.endswith("-strict")]
        self.assertEqual(len(strict), 2, "one strict file a layout")
        done = subprocess.run([sys.executable, str(ROOT / "examples" / "port" / "read_vectors.py"), *strict],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"^\d+ cases, 0 wrong, \d+ bytes compared, 0 cases of other dialects left out\n$")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--vectors", type=pathlib.Path, default=VECTORS, help="folder of the case files")
    known, rest = parser.parse_known_args()
    VECTORS = known.vectors
    unittest.main(argv=[sys.argv[0], *rest])
