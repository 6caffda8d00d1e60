"""The example reader and port against a case worked out by hand, and against what must fail."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PORT = pathlib.Path(__file__).resolve().parents[2] / "examples" / "port"
sys.dont_write_bytecode = True
sys.path.insert(0, str(PORT))
import read_vectors  # noqa: E402

STRICT = {
    "name": "strict", "layout": "flashmla", "floor": "amax", "floor_value": "0x38D1B717", "ratio": "divide",
    "scale": "ue8m0", "quantise": "power_of_two", "fnuz_limit": 240, "pad": "keep", "invalid": "outside",
    "division": "floor", "index_width": "bits64", "offset_width": "bits64", "nan": "nan",
    "infinity": "as_largest_bf16", "reciprocal_ulp": 0,
}
ROPE = "".join(f"{i:02x}7f" for i in range(64))  # bf16 NaN payloads and infinity: copied bit for bit


def row(*tiles):
    """A bf16 row: seven tiles of 64 elements as (first element, all others), then the rope."""
    return "".join(first + 63 * other for first, other in tiles) + ROPE


def tile(first, other=None):
    return first + 63 * (other or first)


# bf16, little-endian: 0 0000, 1 3f80, 2 4000, -448 c3e0, 448 43e0, 1.75 3fe0, 2^-133 (subnormal) 0001, NaN ffc0, inf 7f80.
MIXED = row(("803f", "803f"),  # amax 1: 1/448 lies in (2^-9, 2^-8], so the scale is 2^-8 and 1 becomes 256
            ("0000", "0000"),  # nothing: the floor 1e-4 / 448 = 2^-22.1 gives 2^-22
            ("e0c3", "e043"),  # amax 448: ratio 1, scale 2^0, exactly on the edge
            ("e03f", "803f"),  # amax 1.75 = 448 * 2^-8: ratio 2^-8, exactly on the edge; 1.75 * 256 = 448, 1 * 256 = 256
            ("0100", "0000"),  # a subnormal underflows
            ("c0ff", "0000"),  # a NaN has no part in amax, and its code is 7f
            ("807f", "0000"))  # infinity counts as 255 * 2^120: over 448 that lies in (2^119, 2^120]
MIXED_CODES = [tile("78"), tile("00"), tile("fe", "7e"), tile("7e", "78"), tile("00"), tile("7f", "00"), tile("7e", "00")]
MIXED_SCALES = [127 - 8, 127 - 22, 127, 127 - 8, 127 - 22, 127 - 22, 127 + 120]
ONES = row(*[("803f", "803f")] * 7)
TWOS = row(*[("0040", "0040")] * 7)  # twice the scale, the same codes


def hand_made():
    """Two pages of two slots. Slot 1 of page 0: a mixed row; slot 0 of page 1: ones or twos; -1 and 4 are skipped."""
    runs = []

    def run(what, **content):
        at = runs[-1]["offset"] + read_size(runs[-1]) if runs else 0
        runs.append({"offset": at, "what": what, **content})

    run("untouched", poison=576)
    for i, codes in enumerate(MIXED_CODES):
        run(f"codes of page 0 slot 1 tile {i}", bytes=codes)
    run("rope of page 0 slot 1", bytes=ROPE)
    run("untouched", poison=8)
    for i, scale in enumerate(MIXED_SCALES):
        run(f"scale of page 0 slot 1 tile {i}", bytes=f"{scale:02x}")
    run("untouched", poison=1 + 1728 - 1168)
    for i in range(7):
        run(f"codes of page 1 slot 0 tile {i}", bytes=tile("78"))
    run("rope of page 1 slot 0", bytes=ROPE)
    run("untouched", poison=576)
    for i in range(7):
        run(f"scale of page 1 slot 0 tile {i}", any_of=["77", "78"])
    run("untouched", poison=1 + 8 + 1728 - 1168)
    return {
        "format": "kvproof-cases", "version": 1, "generator": "by hand", "flags": {},
        "cases": [{
            "id": "by-hand", "comment": "worked out by hand", "flags": [], "dialect": dict(STRICT),
            "call": {
                "layout": "flashmla", "fp8": "e4m3fn", "input_type": "bf16", "index_type": "int64", "tokens": 5,
                "row_stride": 1024, "pages": 2, "page_size": 2, "page_stride": 1728,
                "input": MIXED + ONES + TWOS + ONES + TWOS, "indices": ["1", "2", "2", "-1", "4"],
            },
            "poison": {"seed": "0x0123456789abcdef", "complement": False},
            "expected": runs,
        }],
    }


def read_size(run):
    return run["poison"] if "poison" in run else len(run.get("bytes") or run["any_of"][0]) // 2


class Reader(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kvproof-port-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def read(self, data, *options):
        path = self.folder / "case.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        return subprocess.run([sys.executable, str(PORT / "read_vectors.py"), str(path), *options], capture_output=True,
                              text=True, check=False)

    def fails(self, data, *options, words):
        done = self.read(data, *options)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(words, done.stdout)

    def port(self, text):
        path = self.folder / "my_port.py"
        path.write_text(f"import sys\nsys.path.insert(0, {str(PORT)!r})\nimport strict_port\n{text}\n", encoding="utf-8")
        return "--port", str(path)

    def test_the_hand_made_case_holds(self):
        done = self.read(hand_made())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "1 cases, 0 wrong, 6912 bytes compared, 0 cases of other dialects left out\n")

    def test_every_changed_expectation_is_seen(self):
        count = len(hand_made()["cases"][0]["expected"])
        for i in range(count):
            data = hand_made()
            run = data["cases"][0]["expected"][i]
            if "poison" in run:
                continue
            kind = "bytes" if "bytes" in run else "any_of"
            run[kind] = ["01" * read_size(run), "02" * read_size(run)] if kind == "any_of" else run[kind][:-2] + "01"
            with self.subTest(run["what"]):
                self.fails(data, words=run["what"])

    def test_a_run_missing_overlapping_or_too_long_is_an_error(self):
        data = hand_made()
        for i in range(len(data["cases"][0]["expected"])):
            changed = copy.deepcopy(data)
            del changed["cases"][0]["expected"][i]
            self.fails(changed, words="ValueError")
        changed = copy.deepcopy(data)
        changed["cases"][0]["expected"][1]["offset"] -= 1
        self.fails(changed, words="a run at offset 575, expected one at 576")
        changed = copy.deepcopy(data)
        changed["cases"][0]["expected"][-1]["poison"] += 1
        self.fails(changed, words="the runs cover")

    def test_an_extra_byte_anywhere_untouched_is_seen(self):
        for at in (0, 575, 1152, 1159, 1167, 1168, 1727, 2304, 2880 + 7, 3455):
            with self.subTest(at):
                text = f"def store(call, dialect, pool):\n    strict_port.store(call, dialect, pool)\n    pool[{at}] = 0xA5"
                self.fails(hand_made(), *self.port(text), words=f"offset {at}: untouched")

    def test_a_row_of_neither_contender_is_seen(self):
        text = "def store(call, dialect, pool):\n    strict_port.store(call, dialect, pool)\n    pool[2880] = 0x79"
        self.fails(hand_made(), *self.port(text), words="expected 0x77 (the nearest of 2 allowed), found 0x79")

    def test_a_port_that_does_nothing_grows_the_pool_or_raises_fails(self):
        self.fails(hand_made(), *self.port("def store(call, dialect, pool):\n    pass"), words="codes of page 0 slot 1 tile 0")
        self.fails(hand_made(), *self.port("def store(call, dialect, pool):\n    pool.append(0)"), words="size of the pool")
        self.fails(hand_made(), *self.port("def store(call, dialect, pool):\n    pool[9999] = 0"), words="IndexError")

    def test_another_dialect_is_an_error_unless_left_out(self):
        data = hand_made()
        other = copy.deepcopy(data["cases"][0])
        other["id"], other["dialect"]["name"] = "other", "deepseek"
        data["cases"].append(other)
        self.fails(data, words="dialect deepseek: this port speaks strict")
        done = self.read(data, "--dialect", "strict")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 cases of other dialects left out", done.stdout)
        self.fails(data, "--dialect", "custom", words="0 cases")

    def test_another_version_is_refused(self):
        data = hand_made()
        data["version"] = 2
        done = self.read(data)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("expected kvproof-cases 1", done.stderr)

    def test_poison_is_that_of_the_header(self):
        # Computed with kvproof/device/poison.h.
        self.assertEqual(read_vectors.poisoned(19, 0x0123456789ABCDEF, False).hex(), "e7d58a15ff1b16e9aad55c4295802fbcb5a97c")
        self.assertEqual(read_vectors.poisoned(19, 0x0123456789ABCDEF, True).hex(), "182a75ea00e4e916552aa3bd6a7fd0434a5683")


if __name__ == "__main__":
    unittest.main()
