#!/usr/bin/env python3
"""Disassembles the model and fails on any floating-point instruction that computes, converts or compares.

Moves, shuffles and bitwise operations are allowed, whatever register they use. So that a pass means something: objects
planted with floating point must be found, every one of their functions; and every host-and-device function of the headers
must have a caller that is compiled here.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

# x86: scalar and packed SSE and AVX, fused multiply-add, conversions, and all of x87 (its loads and stores convert as well).
X86 = re.compile(
    r"""v?(add|sub|mul|div|sqrt|min|max|rcp|rcp14|rcp28|rsqrt|rsqrt14|rsqrt28|hadd|hsub|addsub|round|dp|range|reduce|scalef|getexp
        |getmant|fixupimm|rndscale|exp2)(ss|sd|ps|pd|sh|ph)
      | v?cmp\w*(ss|sd|ps|pd|sh|ph)
      | v?u?comi(ss|sd|sh)
      | v?cvt\w+
      | vf(n?m|c)\w+
      | v4f\w+
      | vdpbf16ps
      | vfpclass\w+
      | f(?!xsave|xrstor)\w+""",
    re.VERBOSE,
)
# AArch64: everything that starts with f but moves, and the conversions from integers.
AARCH64 = re.compile(r"(f(?!mov|csel)\w+|[su]cvtf|bfcvt\w*|bfdot|bfmmla|bfmlal\w*)")

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\t([a-z]\S*(?: (?!\s)\S+)*)")
PREFIXES = {"rep", "repz", "repnz", "lock", "bnd", "data16", "cs", "ds", "notrack"}


def disassemble(objdump, files):
    """Yields (function, mnemonic) for every instruction."""
    text = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", *files], check=True, capture_output=True, text=True).stdout
    formats = set(re.findall(r"file format (\S+)", text))
    if formats <= {"elf64-x86-64"}:
        floating = X86
    elif formats <= {"elf64-littleaarch64"}:
        floating = AARCH64
    else:
        sys.exit(f"cannot judge file format {', '.join(sorted(formats))}: expected x86-64 or AArch64 objects")
    function = None
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            function = match[1]
        elif match := INSTRUCTION.match(line):
            words = [word for word in match[1].split() if word not in PREFIXES]
            if words:
                yield function, words[0], floating.fullmatch(words[0]) is not None


def uncalled_functions(headers, instantiation):
    """Host-and-device functions that are named nowhere but where they are defined."""
    text = "\n".join(path.read_text() for path in sorted(headers.rglob("*.h"))) + instantiation.read_text()
    text = re.sub(r"//.*", "", text)
    names = set(re.findall(r"KVPROOF_HD\s+[^;{}()]*?\b(\w+)\s*\(", text))
    if len(names) < 40:
        sys.exit(f"found only {len(names)} host-and-device functions in {headers}: has the marker been renamed?")
    return sorted(name for name in names if len(re.findall(rf"\b{name}\b", text)) < 2), len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objdump", required=True)
    parser.add_argument("--headers", required=True, type=pathlib.Path)
    parser.add_argument("--instantiation", required=True, type=pathlib.Path)
    parser.add_argument("--planted", required=True, nargs="+")
    parser.add_argument("--objects", required=True, nargs="+")
    arguments = parser.parse_args()

    planted = set()
    found = set()
    for function, _, floating in disassemble(arguments.objdump, arguments.planted):
        planted.add(function)
        if floating:
            found.add(function)
    if len(planted) < 8 or found != planted:
        sys.exit(f"planted floating point was not found in: {', '.join(sorted(planted - found)) or 'any function'}")

    uncalled, functions_marked = uncalled_functions(arguments.headers, arguments.instantiation)
    if uncalled:
        sys.exit(f"no code here calls {', '.join(uncalled)}: call them in {arguments.instantiation.name}")

    instructions = 0
    functions = collections.Counter()
    offenders = []
    for function, mnemonic, floating in disassemble(arguments.objdump, arguments.objects):
        instructions += 1
        functions[function] += 1
        if floating:
            offenders.append(f"{function}: {mnemonic}")
    for name in ("kvproof::model::encode(", "kvproof::model::decode(", "kvproof::model::encode_row(", "kvproof::model::store(",
                 "kvproof::model::load_row(", "kvproof::instantiate::divide(", "kvproof::instantiate::batch("):
        if not any(function.startswith(name) for function in functions):
            sys.exit(f"{name}...) is not in the objects")
    if len(functions) < 30 or instructions < 2000:
        sys.exit(f"only {len(functions)} functions with {instructions} instructions: is this the model?")
    if offenders:
        sys.exit("floating-point instructions in the model:\n" + "\n".join(offenders))
    print(f"{functions_marked} host-and-device functions; {len(functions)} compiled functions, {instructions} instructions, "
          f"none computes in floating point; planted: {len(found)} of {len(planted)} functions found")


if __name__ == "__main__":
    main()
