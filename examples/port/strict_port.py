"""The strict dialect in plain Python: both layouts, every input and fp8 type. Written from docs/semantics.md to be read.

Values are Python floats. A binary64 holds every input, every power-of-two multiple and every product of two binary32 exactly,
and a quotient of two binary32 rounded to binary64 and then to binary32 is the correctly rounded one."""

import math
import struct

FLOOR = struct.unpack("<f", bytes.fromhex("17b7d138"))[0]  # 1e-4 as binary32
LARGEST_BF16 = math.ldexp(255, 120)

# Largest value, its code, smallest normal exponent, NaN code.
FP8 = {"e4m3fn": (448.0, 0x7E, -6, 0x7F), "e4m3fnuz": (240.0, 0x7F, -7, 0x80)}

# Values of a row, of which codes, values a tile, bytes of the two planes of a slot.
LAYOUTS = {"flashmla": (512, 448, 64, 576, 8), "indexer": (128, 128, 128, 128, 4)}


def f32(x):
    """One rounding to binary32."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def binary32_bits(row, i, element):
    """Element i as the bits of the binary32 of the same value; NaN payloads keep their upper bits."""
    if element == "fp32":
        return struct.unpack_from("<I", row, 4 * i)[0]
    bits = struct.unpack_from("<H", row, 2 * i)[0]
    if element == "bf16":
        return bits << 16
    if bits & 0x7C00 == 0x7C00:
        return (bits & 0x8000) << 16 | 0x7F800000 | (bits & 0x3FF) << 13
    return struct.unpack("<I", struct.pack("<f", struct.unpack("<e", struct.pack("<H", bits))[0]))[0]


def value(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def magnitude(x):
    """What an element adds to amax: a NaN nothing, an infinity the largest finite bf16."""
    return 0.0 if math.isnan(x) else LARGEST_BF16 if math.isinf(x) else abs(x)


def rope(bits):
    """binary32 bits to bf16 bits, nearest-even. NaN keeps its sign and upper payload and turns quiet."""
    if bits & 0x7FFFFFFF > 0x7F800000:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def encode(y, fp8):
    """Nearest-even, saturating; infinities too."""
    largest, largest_code, smallest, _ = FP8[fp8]
    bounded = min(abs(y), largest)
    exponent = max(math.frexp(bounded)[1] - 1, smallest) if bounded else smallest
    units = round(math.ldexp(bounded, 3 - exponent))  # of an eighth of the binade; round() is half to even
    code = min(((exponent - smallest) << 3) + units, largest_code)
    negative = math.copysign(1.0, y) < 0 and (code != 0 or fp8 == "e4m3fn")  # e4m3fnuz has one zero
    return code | 0x80 if negative else code


def encode_tile(values, layout, fp8):
    """Returns the codes and the scale's bytes."""
    largest, _, _, nan_code = FP8[fp8]
    amax = max([FLOOR] + [magnitude(x) for x in values])
    ratio = f32(amax / largest)
    if layout == "flashmla":
        mantissa, exponent = math.frexp(ratio)
        exponent -= mantissa == 0.5  # ceil(log2(ratio)), exactly
        scale = bytes([exponent + 127])
        scaled = [math.ldexp(x, -exponent) for x in values]
    else:
        scale = struct.pack("<f", ratio)
        scaled = [f32(x * f32(1.0 / ratio)) for x in values]
    return bytes(nan_code if math.isnan(y) else encode(y, fp8) for y in scaled), scale


def store(call, dialect, pool):
    if dialect["name"] != "strict":
        raise ValueError(f"dialect {dialect['name']}: this port speaks strict")
    row_values, code_values, tile, data_bytes, scale_bytes = LAYOUTS[call["layout"]]
    page_size, element = call["page_size"], call["input_type"]
    for token, index in enumerate(call["indices"]):
        if not 0 <= index < call["pages"] * page_size:
            continue
        row = call["input"][token * call["row_stride"] :]
        bits = [binary32_bits(row, i, element) for i in range(row_values)]
        if element == "bf16":
            rope_values = [b >> 16 for b in bits[code_values:]]  # a copy, whatever the bits
        else:
            rope_values = [rope(b) for b in bits[code_values:]]
        data, scales = b"", b""
        for first in range(0, code_values, tile):
            codes, scale = encode_tile([value(b) for b in bits[first : first + tile]], call["layout"], call["fp8"])
            data += codes
            scales += scale
        data += struct.pack(f"<{len(rope_values)}H", *rope_values)
        page, slot = divmod(index, page_size)
        at = page * call["page_stride"] + slot * data_bytes
        pool[at : at + len(data)] = data
        at = page * call["page_stride"] + page_size * data_bytes + slot * scale_bytes
        pool[at : at + len(scales)] = scales  # seven bytes of FlashMLA's eight: the pad byte is left alone
