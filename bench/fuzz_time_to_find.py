#!/usr/bin/env python3
"""Time and executions that `kvproof fuzz` takes to find each planted address defect, guided and unguided.

For each kernel the median over the seeds, with the most tokens that a minimised case has. A line a kernel, as a Markdown
table. Exit status: 0 when guided campaigns found every defect with at most two tokens, 1 when not, 2 for bad usage.
"""

import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


class PlantedDefect(ctypes.Structure):
    """kvproof_planted_defect."""

    _fields_ = [("size", ctypes.c_uint32), ("kind", ctypes.c_uint32), ("name", ctypes.c_char_p)]
    _fields_ += [("defect", ctypes.c_char_p), ("reenacts", ctypes.c_char_p), ("seen_by", ctypes.c_char_p)]
    _fields_ += [("machines", ctypes.c_uint32)]


ADDRESS = 1  # KVPROOF_DEFECT_ADDRESS
HOST = 1 << 0  # KVPROOF_SET(KVPROOF_MEMORY_HOST)


def address_defects(planted: str) -> list[str]:
    """The names of the plug-in's address defects on the host."""
    listing = ctypes.CDLL(planted).kvproof_planted_defects
    listing.restype = ctypes.POINTER(PlantedDefect)
    count = ctypes.c_size_t()
    defects = listing(ctypes.byref(count))
    if count.value and defects[0].size != ctypes.sizeof(PlantedDefect):
        sys.exit(f"{planted}: defects of {defects[0].size} bytes, expected {ctypes.sizeof(PlantedDefect)}")
    chosen = [defects[i] for i in range(count.value)]
    return [one.name.decode() for one in chosen if one.kind == ADDRESS and one.machines & HOST]


def campaign(kvproof: str, kernel: str, layout: str, seed: int, seconds: float, guided: bool, minimise: float, folder: str) -> dict | None:
    """The JSON of one campaign, or None where the defect has no kernel of that layout."""
    path = pathlib.Path(folder) / "result.json"
    path.unlink(missing_ok=True)
    command = [kvproof, "fuzz", "--kernel", kernel, "--layout", layout, "--device", "host", "--time", f"{seconds}s"]
    command += ["--seed", str(seed), "--findings", "1", "--minimise", f"{minimise}s", "--save", folder, "--json", str(path)]
    ran = subprocess.run(command + ([] if guided else ["--unguided"]), capture_output=True, text=True)
    if ran.returncode == 2:
        return None
    if not path.exists():
        sys.exit(f"{' '.join(command)}: status {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(path.read_text())["kernels"][0]


def told(results: list[dict]) -> str:
    """Median executions and seconds, and how many of the campaigns found it."""
    found = [one["findings"][0] for one in results if one["findings"]]
    if not found:
        return "not found"
    executions = statistics.median(one["execution"] for one in found)
    seconds = statistics.median(one["seconds"] for one in found)
    missed = f", {len(found)} of {len(results)}" if len(found) < len(results) else ""
    return f"{executions:g} in {seconds:.2f} s{missed}"


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvproof", default=str(root / "build/cpu/cli/kvproof"))
    parser.add_argument("--planted", default=str(root / "build/cpu/device/planted/planted.so"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--time", type=float, default=20, help="seconds for one campaign")
    parser.add_argument("--minimise", type=float, default=3, help="seconds for making one guided finding small")
    parser.add_argument("--guided-only", action="store_true")
    parser.add_argument("defects", nargs="*", help="these defects only")
    options = parser.parse_args()
    good = True
    print("| kernel | guided: executions in time | unguided | tokens of the smallest case |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for defect in options.defects or address_defects(options.planted):
            for layout in ("flashmla", "indexer"):
                kernel = f"{options.planted}:{defect}"
                runs = {True: [], False: []}
                for guided in (True,) if options.guided_only else (True, False):
                    for seed in range(1, options.seeds + 1):
                        ran = campaign(options.kvproof, kernel, layout, seed, options.time, guided, options.minimise if guided else 0, folder)
                        if ran is None:
                            break
                        runs[guided].append(ran)
                if not runs[True]:
                    continue
                tokens = [one["findings"][0]["tokens"] for one in runs[True] if one["findings"]]
                good = good and len(tokens) == len(runs[True]) and max(tokens) <= 2
                unguided = told(runs[False]) if runs[False] else "not run"
                print(f"| {defect} {layout} | {told(runs[True])} | {unguided} | {max(tokens, default='-')} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
