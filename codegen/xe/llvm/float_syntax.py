"""Constants of floating-point numbers in the syntax of the LLVM that optimises.

The LLVM in MLIR's wheel is newer and prints `f0x3E6D3388`, `+inf`, `-qnan`, `+snan(0x1)`, `+nan(0x12345)` and decimals
that are not exact. The one in llvmlite reads the bits: of a half `0xH3C00`, of a bfloat `0xR3F80`, and those of the
double with the same value of a float.
"""

import re
import struct

import numpy as np

_MARK = re.compile(r"f0x|inf|nan|e\+|e-")  # not from a class of characters: a search for letters is the fastest
_TOKEN = re.compile(
    r"(?P<type>\b(?:half|bfloat|float|double)\b)"
    r"|(?<=[ (,])(?:(?P<bits>f0x[0-9A-F]+)"
    r"|(?P<sign>[+-])(?P<special>inf|qnan|(?P<signals>s?)nan\(0x(?P<payload>[0-9A-F]+)\))"
    r"|(?P<decimal>-?\d+\.\d+e[+-]\d+))(?=[,)>\]\s]|$)"
)
_PARTS = {"half": (5, 10), "bfloat": (8, 7), "float": (8, 23), "double": (11, 52)}
"""Bits of the exponent and of the fraction."""


def in_older_syntax(text: str) -> str:
    """Rewrite the constants of lines that have any."""
    if _MARK.search(text) is None:
        return text
    return "\n".join([_rewritten(line) if _MARK.search(line) else line for line in text.split("\n")])


def _rewritten(line: str) -> str:
    of = ""

    def constant(m: re.Match[str]) -> str:
        nonlocal of
        if m["type"]:
            of = m["type"]  # constants have the type that is named last before them
            return m[0]
        return _literal(of, _bits(m, of)) if of else m[0]

    return _TOKEN.sub(constant, line)


def _bits(m: re.Match[str], of: str) -> int:
    exponent, fraction = _PARTS[of]
    if m["bits"]:
        return int(m["bits"][3:], 16)
    if m["decimal"]:
        return _rounded(float(m["decimal"]), of)
    quiet = 1 << (fraction - 1)
    found = {"inf": 0, "qnan": quiet}.get(m["special"])
    if found is None:
        found = int(m["payload"], 16) | (0 if m["signals"] else quiet)
    return (m["sign"] == "-") << (exponent + fraction) | ((1 << exponent) - 1) << fraction | found


def _rounded(value: float, of: str) -> int:
    if of == "double":
        return int.from_bytes(struct.pack(">d", value))
    if of == "half":
        return int(np.float16(value).view(np.uint16))
    bits = int(np.float32(value).view(np.uint32))
    return bits if of == "float" else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _literal(of: str, bits: int) -> str:
    if of in ("half", "bfloat"):
        return f"0x{'H' if of == 'half' else 'R'}{bits:04X}"
    return f"0x{_as_double(bits) if of == 'float' else bits:016X}"


def _as_double(bits: int) -> int:
    """Return the bits of the double with the value of a float; a NaN keeps its payload."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return sign << 63 | 0x7FF << 52 | fraction << 29
    (value,) = struct.unpack(">f", bits.to_bytes(4))
    return int.from_bytes(struct.pack(">d", value))
