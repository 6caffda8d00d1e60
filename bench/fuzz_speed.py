#!/usr/bin/env python3
"""Executions a second of the store targets, in the builds with sanitizers and without.

Each target first fuzzes for a while, so that it has calls to change; what is timed begins from those. Other work on the machine
takes time from a process but, short of sharing a core's units, no processor time, so both rates are given. A line a target and
build, as a Markdown table. Exit status: 0 measured, 1 a target failed, 2 bad usage.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

CALL_HEADER_BYTES = 15
CALL_TOKEN_BYTES = 5


def options(root: pathlib.Path, target: str) -> list[str]:
    """What the target's options file has libFuzzer told."""
    lines = (root / "fuzz/options" / f"{target}.options").read_text().splitlines()
    return [f"-{name}={value}" for name, value in (re.findall(r"^([a-z_]+) *= *(.+)$", line)[0] for line in lines if "=" in line)]


def fuzz(command: list[str], runs: int, folders: list[pathlib.Path]) -> int:
    """Executions, of which reading what is kept counts as some."""
    command = command + [f"-runs={runs}", "-seed=1", "-verbosity=0", "-print_final_stats=1"] + [str(folder) for folder in folders]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        print(f"{' '.join(command)}: status {ran.returncode}\n{ran.stderr[-2000:]}", file=sys.stderr)
        sys.exit(1)
    return int(re.search(r"number_of_executed_units: (\d+)", ran.stderr)[1])


def processor_seconds() -> float:
    """Of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(root: pathlib.Path, build: str, target: str, warm: int, runs: int) -> str:
    """A row of the table."""
    program = root / "build" / build / "fuzz" / f"fuzz_{target}"
    if not program.exists():
        print(f"{program}: no such target: expected one that `ci/fuzz --preset {build}` has built", file=sys.stderr)
        sys.exit(2)
    command = [str(program)] + options(root, target)
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder)
        fuzz(command, warm, [kept, root / "corpus/fuzz/calls"])
        tokens = [(call.stat().st_size - CALL_HEADER_BYTES) / CALL_TOKEN_BYTES for call in kept.iterdir()]
        wall, processor = time.monotonic(), processor_seconds()
        executions = fuzz(command, runs, [kept])
        wall, processor = time.monotonic() - wall, processor_seconds() - processor
    mean, most = sum(tokens) / len(tokens), max(tokens)
    return (f"| {target} | {build} | {executions:,} | {executions / processor:,.0f} | {executions / wall:,.0f} "
            f"| {mean:.1f}, at most {most:g} |")


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", nargs="+", choices=["fuzz", "fuzz-fast"], default=["fuzz", "fuzz-fast"])
    parser.add_argument("--warm", type=int, default=100_000, help="executions before what is timed")
    parser.add_argument("--runs", type=int, default=1_000_000, help="executions that are timed")
    args = parser.parse_args()
    if args.warm < 1 or args.runs < 1:
        parser.error("--warm, --runs: expected 1 or more")
    print("| target | build | executions | a second of processor time | a second | tokens of the calls it began with |")
    print("|---|---|---|---|---|---|")
    for build in args.builds:
        for target in ("store_flashmla", "store_indexer"):
            print(measured(root, build, target, args.warm, args.runs), flush=True)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\nLoad of {os.cpu_count()} processors over the last 1, 5 and 15 minutes: {load}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
