"""Runs a port over kvproof case files and compares every byte of the pool. Python's standard library only.

A port is a Python module with a function store(call, dialect, pool). `call` and `dialect` are those of the file, with the
input as bytes and the indices as integers; `pool` is a bytearray to write to. A port raises ValueError for what it does not
speak. docs/case-format.md describes the file."""

import argparse
import importlib.util
import json
import sys

MASK = (1 << 64) - 1


def poisoned(count, seed, complement):
    """The pool before the call: every byte depends on its position alone."""
    pool = bytearray()
    for word in range((count + 7) // 8):
        x = (word * 0x9E3779B97F4A7C15 + seed) & MASK
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
        x ^= x >> 32
        pool += (x ^ MASK if complement else x).to_bytes(8, "little")
    return pool[:count]


def allowed_runs(case, pool):
    """Yields (offset, what, allowed byte strings) for each expected run; the runs must cover the pool exactly."""
    at = 0
    for run in case["expected"]:
        if run["offset"] != at:
            raise ValueError(f"a run at offset {run['offset']}, expected one at {at}")
        if "poison" in run:
            allowed = [bytes(pool[at : at + run["poison"]])]
        else:
            allowed = [bytes.fromhex(text) for text in run.get("any_of") or [run["bytes"]]]
        if len({len(text) for text in allowed}) != 1 or not allowed[0]:
            raise ValueError(f"the run at offset {at}: strings of different lengths, or empty")
        yield at, run["what"], allowed
        at += run.get("poison") or len(allowed[0])
    if at != len(pool):
        raise ValueError(f"the runs cover {at} bytes, the pool has {len(pool)}")


def wrong_bytes(case, port, complement):
    """Runs the port once and returns a line for each wrong byte."""
    call = case["call"]
    pool = poisoned(call["pages"] * call["page_stride"], int(case["poison"]["seed"], 16), complement)
    runs, size = list(allowed_runs(case, pool)), len(pool)
    given = dict(call, input=bytes.fromhex(call["input"]), indices=tuple(int(index) for index in call["indices"]))
    port.store(given, case["dialect"], pool)
    if len(pool) != size:
        return [f"the port changed the size of the pool from {size} to {len(pool)}"]
    lines = []
    for offset, what, allowed in runs:
        found = pool[offset : offset + len(allowed[0])]
        nearest = min(allowed, key=lambda text: sum(a != b for a, b in zip(text, found)))
        choice = f" (the nearest of {len(allowed)} allowed)" if len(allowed) > 1 else ""
        for i, (expected, byte) in enumerate(zip(nearest, found)):
            if expected != byte:
                lines.append(f"offset {offset + i}: {what}, byte {i}: expected 0x{expected:02x}{choice}, found 0x{byte:02x}")
    return lines


def main():
    parser = argparse.ArgumentParser(description="Run a port over kvproof case files and compare every byte.")
    parser.add_argument("files", nargs="+", help="case files")
    parser.add_argument("--port", default=__file__.replace("read_vectors", "strict_port"), help="the port's Python file")
    parser.add_argument("--dialect", help="only the cases of this dialect (default: all; one not spoken is an error)")
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location("port", options.port)
    port = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(port)
    cases = compared = left_out = wrong = 0
    for name in options.files:
        with open(name, encoding="utf-8") as file:
            data = json.load(file)
        if (data["format"], data["version"]) != ("kvproof-cases", 1):
            sys.exit(f"{name}: format {data['format']} {data['version']}, expected kvproof-cases 1")
        for case in data["cases"]:
            if options.dialect not in (None, case["dialect"]["name"]):
                left_out += 1
                continue
            cases += 1
            try:  # under two poisons: a stray write of the poison's own value cannot hide from both
                lines = [line for complement in (False, True) for line in wrong_bytes(case, port, complement)]
            except Exception as error:  # a port may raise anything
                lines = [f"{type(error).__name__}: {error}"]
            compared += 2 * case["call"]["pages"] * case["call"]["page_stride"]
            wrong += 1 if lines else 0
            for line in lines[:3] + [f"{len(lines) - 3} more"][: len(lines) > 3]:
                print(f"{name}: case {case['id']}: {line}")
    print(f"{cases} cases, {wrong} wrong, {compared} bytes compared, {left_out} cases of other dialects left out")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
