#!/usr/bin/env python3
"""Runs `kvproof check` at its default budget on each planted kernel, one a layout, as a user would on a kernel of his own.

    python3 bench/planted_by_check.py --kvproof KVPROOF --planted planted.so [--device host|cuda] [--jobs N] [--seed N]

Prints a line for each kernel: the verdict, the first property that failed, the seconds and the cases until then. `--fail-fast`
ends a check there, `--shrink 0s` leaves the case as it was found, the seed is given; the rest is as by default.
Exit status: 0 every planted kernel fails its check, 1 one does not, 3 a check could not run.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

FAILS = 1


def layouts_of(options):
    """Of each planted defect, in the catalogue's order: the layouts of its kernel on the device."""
    names = subprocess.run([options.kvproof, "selftest", "--list", "--device", options.device, "--planted", options.planted],
                           capture_output=True, text=True, check=True).stdout.split()
    listed = json.loads(subprocess.run([options.kvproof, "list", "--kernel", options.planted, "--device",
                                        options.device, "--json"], capture_output=True, text=True, check=True).stdout)
    return [(name, kernel["layout"]) for name in names for kernel in listed["kernels"] if kernel["name"] == name]


def check(options, name, layout):
    with tempfile.TemporaryDirectory(prefix="kvproof-planted-") as folder:
        report = os.path.join(folder, "report.json")
        done = subprocess.run([options.kvproof, "check", "--kernel", f"{options.planted}:{name}", "--layout", layout, "--device",
                               options.device, "--fail-fast", "--shrink", "0s", "--seed", str(options.seed), "--save", folder,
                               "--json", report], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if not os.path.exists(report):
            return done.returncode, "", 0.0, 0, done.stderr.strip()
        with open(report, encoding="utf-8") as file:
            result = json.load(file)
    failed = [prop for kernel in result["kernels"] for prop in kernel["properties"] if "failure" in prop]
    return (done.returncode, failed[0]["name"] if failed else "", result["seconds"], result["cases"],
            failed[0]["failure"]["summary"] if failed else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvproof", required=True)
    parser.add_argument("--planted", required=True)
    parser.add_argument("--device", default="host", choices=["host", "cuda"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.kvproof, options.planted = os.path.abspath(options.kvproof), os.path.abspath(options.planted)

    kernels = layouts_of(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda kernel: check(options, *kernel), kernels))
    for (name, layout), (status, prop, seconds, cases, words) in zip(kernels, results):
        verdict = "caught" if status == FAILS else "MISSED"
        print(f"{verdict} {name:<30} {layout:<9} {seconds:7.2f} s {cases:6} cases  {prop}  {words[:100]}")
    caught = sum(status == FAILS for status, *_ in results)
    slowest = max(seconds for _, _, seconds, _, _ in results)
    print(f"{caught} of {len(kernels)} planted kernels of {len({name for name, _ in kernels})} defects fail their check, the "
          f"slowest after {slowest:.1f} s; {options.device}, seed {options.seed}, {options.jobs} at a time")
    return 3 if any(status not in (0, FAILS) for status, *_ in results) else int(caught != len(kernels))


if __name__ == "__main__":
    sys.exit(main())
