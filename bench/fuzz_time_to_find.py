#!/usr/bin/env python3
"""Time and executions that `kvproof fuzz` takes to find each planted address defect, guided and unguided.

For each kernel the median over the seeds, with the most tokens that a minimised case has. A line a kernel, as a Markdown
table. Exit status: 0 when guided campaigns found every defect with at most two tokens, 1 when not, 2 for bad usage.
"""

import argparse
import concurrent.futures
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
    _fields_ += [("machines", ctypes.c_uint32), ("by_chance", ctypes.c_uint32)]


ADDRESS = 1  # KVPROOF_DEFECT_ADDRESS
MACHINES = {"host": 1 << 0, "cuda": 1 << 1}  # KVPROOF_SET(KVPROOF_MEMORY_HOST), KVPROOF_SET(KVPROOF_MEMORY_CUDA)


def address_defects(planted: str, device: str) -> list[str]:
    """The names of the plug-in's address defects on a device."""
    listing = ctypes.CDLL(planted).kvproof_planted_defects
    listing.restype = ctypes.POINTER(PlantedDefect)
    count = ctypes.c_size_t()
    defects = listing(ctypes.byref(count))
    if count.value and defects[0].size != ctypes.sizeof(PlantedDefect):
        sys.exit(f"{planted}: defects of {defects[0].size} bytes, expected {ctypes.sizeof(PlantedDefect)}")
    chosen = [defects[i] for i in range(count.value)]
    return [one.name.decode() for one in chosen if one.kind == ADDRESS and one.machines & MACHINES[device]]


def campaign(options: argparse.Namespace, defect: str, layout: str, seed: int, guided: bool) -> dict | None:
    """The JSON of one campaign, or None where the defect has no kernel of that layout."""
    with tempfile.TemporaryDirectory(prefix="kvproof-find-") as folder:
        path = pathlib.Path(folder) / "result.json"
        command = [options.kvproof, "fuzz", "--kernel", f"{options.planted}:{defect}", "--layout", layout, "--seed", str(seed)]
        command += ["--device", options.device, "--time", f"{options.time}s", "--findings", "1", "--save", folder]
        command += ["--minimise", f"{options.minimise if guided else 0}s", "--json", str(path)]
        ran = subprocess.run(command + ([] if guided else ["--unguided"]), capture_output=True, text=True)
        if ran.returncode == 2:
            return None
        if not path.exists():
            sys.exit(f"{' '.join(command)}: status {ran.returncode}: {ran.stderr.strip()}")
        return json.loads(path.read_text())["kernels"][0]


def campaigns(options: argparse.Namespace, defect: str, layout: str, guided: bool) -> list[dict]:
    """A campaign for each seed; none where the defect has no kernel of that layout."""
    ran = []
    for seed in range(1, options.seeds + 1):
        one = campaign(options, defect, layout, seed, guided)
        if one is None:
            return []
        ran.append(one)
    return ran


def told(results: list[dict]) -> str:
    """Median executions and seconds, and how many of the campaigns found it."""
    found = [one["findings"][0] for one in results if one["findings"]]
    if not found:
        return "not found"
    executions = statistics.median(one["execution"] for one in found)
    seconds = statistics.median(one["seconds"] for one in found)
    missed = f", {len(found)} of {len(results)}" if len(found) < len(results) else ""
    return f"{executions:g} in {seconds:.2f} s{missed}"


def row(options: argparse.Namespace, defect: str, layout: str) -> tuple[str, bool]:
    """The table's line for one kernel, empty where there is none, and whether it was found each time, in two tokens."""
    guided = campaigns(options, defect, layout, True)
    if not guided:
        return "", True
    tokens = [one["findings"][0]["tokens"] for one in guided if one["findings"]]
    unguided = "not run" if options.guided_only else told(campaigns(options, defect, layout, False))
    line = f"| {defect} {layout} | {told(guided)} | {unguided} | {max(tokens, default='-')} |"
    return line, len(tokens) == len(guided) and max(tokens) <= 2


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvproof", default=str(root / "build/cpu/cli/kvproof"))
    parser.add_argument("--planted", default=str(root / "build/cpu/device/planted/planted.so"))
    parser.add_argument("--device", choices=MACHINES, default="host")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--time", type=float, default=20, help="seconds for one campaign")
    parser.add_argument("--minimise", type=float, default=3, help="seconds for making one guided finding small")
    parser.add_argument("--jobs", type=int, default=1, help="kernels side by side; their times are then upper bounds")
    parser.add_argument("--guided-only", action="store_true")
    parser.add_argument("defects", nargs="*", help="these defects only")
    options = parser.parse_args()
    kernels = [(defect, layout) for defect in options.defects or address_defects(options.planted, options.device)
               for layout in ("flashmla", "indexer")]
    good = True
    print("| kernel | guided: executions in time | unguided | tokens of the smallest case |\n|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for line, found in pool.map(lambda kernel: row(options, *kernel), kernels):
            good = good and found
            if line:
                print(line, flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
