#!/usr/bin/env python3
"""The model against ml_dtypes, over every pattern there is.

usage: ml_dtypes_test.py MODEL_LIBRARY

ml_dtypes does not saturate: beyond the largest value it gives NaN. So values are clamped first, which changes no value
that a code can be nearest to. ml_dtypes must be there: without it nothing is shown, and the test fails.
"""

import ctypes
import multiprocessing
import sys
import time

import ml_dtypes
import numpy as np

CHUNK = 1 << 22
ALL = 1 << 32
E4M3FN, E4M3FNUZ = 0, 1


def load(path):
    library = ctypes.CDLL(path)

    def pointer(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    def encode(patterns, kind, limit):
        codes = np.empty(patterns.size, np.uint8)
        library.kvproof_encode(
            pointer(patterns), ctypes.c_int64(patterns.size), ctypes.c_uint32(kind), ctypes.c_int(limit), pointer(codes)
        )
        return codes

    def decode(codes, kind):
        patterns = np.empty(codes.size, np.uint32)
        library.kvproof_decode(pointer(codes), ctypes.c_int64(codes.size), ctypes.c_uint32(kind), pointer(patterns))
        return patterns.view(np.float32)

    def simple(name, given, result):
        out = np.empty(given.size, result)
        getattr(library, name)(pointer(given), ctypes.c_int64(given.size), pointer(out))
        return out

    return encode, decode, simple


def check(what, pattern, found, expected):
    wrong = np.flatnonzero(found != expected)
    if wrong.size:
        i = wrong[0]
        raise SystemExit(f"{what}: {wrong.size} differences, first at {int(pattern[i]):#x}: "
                         f"model {int(found[i]):#x}, ml_dtypes {int(expected[i]):#x}")


def clamped_codes(values, dtype, limit, nan):
    """ml_dtypes' codes of values clamped to the limit, every NaN as the one NaN code."""
    if np.isnan(values[0]):  # chunks do not cross from numbers to NaN but where infinity begins one
        return np.full(values.size, nan, np.uint8)
    codes = np.clip(values, -limit, limit).astype(dtype).view(np.uint8)
    return np.where(np.isnan(values), np.uint8(nan), codes) if np.isnan(values[-1]) else codes


def quieted_bf16(values):
    """ml_dtypes turns every NaN into one; the model keeps sign and upper payload and sets the quiet bit."""
    rounded = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    nan = np.isnan(values)
    if nan.any():
        assert np.isnan(rounded.view(ml_dtypes.bfloat16)[nan].astype(np.float32)).all()
        kept = ((values.view(np.uint32) >> 16) | 0x40).astype(np.uint16)
        rounded = np.where(nan, kept, rounded)
    return rounded


def sweep(path, first, step, counts):
    """Every step-th chunk of the 2^32 patterns."""
    encode, _, simple = load(path)
    compared = {"e4m3fn 448": 0, "e4m3fnuz 240": 0, "bf16": 0}
    base = np.arange(CHUNK, dtype=np.uint32)
    with np.errstate(all="ignore"):
        for start in range(first * CHUNK, ALL, step * CHUNK):
            patterns = base + np.uint32(start)
            values = patterns.view(np.float32)
            check("e4m3fn 448", patterns, encode(patterns, E4M3FN, 448),
                  clamped_codes(values, ml_dtypes.float8_e4m3fn, 448, 0x7F))
            compared["e4m3fn 448"] += patterns.size
            check("e4m3fnuz 240", patterns, encode(patterns, E4M3FNUZ, 240),
                  clamped_codes(values, ml_dtypes.float8_e4m3fnuz, 240, 0x80))
            compared["e4m3fnuz 240"] += patterns.size
            check("bf16", patterns, simple("kvproof_to_bf16", patterns, np.uint16), quieted_bf16(values))
            compared["bf16"] += patterns.size
    counts.put(compared)


def same_values(what, found, expected, count):
    assert found.size == count, (what, found.size)
    both_nan = np.isnan(found) & np.isnan(expected)
    check(what, np.arange(count), np.where(both_nan, 0, found.view(np.uint32)), np.where(both_nan, 0, expected.view(np.uint32)))
    print(f"{what}: {count} compared, equal")


def narrow_types(path):
    """Every code, every bf16, every e8m0 byte."""
    _, decode, simple = load(path)
    codes = np.arange(256, dtype=np.uint8)
    same_values("e4m3fn codes to values", decode(codes, E4M3FN), codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32), 256)
    same_values("e4m3fnuz codes to values", decode(codes, E4M3FNUZ), codes.view(ml_dtypes.float8_e4m3fnuz).astype(np.float32),
                256)
    halves = np.arange(65536, dtype=np.uint16)
    same_values("bf16 to values", simple("kvproof_from_bf16", halves, np.uint32).view(np.float32),
                halves.view(ml_dtypes.bfloat16).astype(np.float32), 65536)
    # Byte 255 is NaN in e8m0, and infinity in the model's helper: readers differ there, and no store writes it.
    same_values("e8m0 bytes to values", simple("kvproof_from_ue8m0", codes, np.uint32).view(np.float32)[:255],
                codes.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)[:255], 255)
    powers = np.ldexp(np.float32(1), np.arange(-126, 128)).astype(np.float32)
    bytes_of_powers = simple("kvproof_to_ue8m0", powers.view(np.uint32), np.uint8)
    check("powers of two to e8m0", powers, bytes_of_powers, powers.astype(ml_dtypes.float8_e8m0fnu).view(np.uint8))
    above = np.nextafter(powers[:-1], np.float32(np.inf))
    check("just above powers of two to e8m0", above, simple("kvproof_to_ue8m0", above.view(np.uint32), np.uint8),
          bytes_of_powers[1:])
    print(f"powers of two to e8m0: {powers.size} compared, equal; one ulp above: {above.size} compared, the next byte")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    path = sys.argv[1]
    begin = time.monotonic()
    narrow_types(path)
    counts = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=sweep, args=(path, first, 2, counts)) for first in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode != 0 for worker in workers):
        raise SystemExit("fp32 sweep failed")
    halves = [counts.get() for _ in workers]
    for what in halves[0]:
        total = sum(half[what] for half in halves)
        if total != 4294967296:
            raise SystemExit(f"fp32 to {what}: {total} compared, expected 4294967296")
        print(f"fp32 to {what}: {total} compared, equal")
    print(f"ml_dtypes {ml_dtypes.__version__}, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
