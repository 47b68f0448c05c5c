"""Demangled names of OpenCL built-ins."""

import re

_MANGLED = re.compile(r"_Z(?P<length>\d+)")


def unmangled(symbol: str) -> str:
    """Return the name of an OpenCL built-in without its parameter types; other symbols unchanged."""
    m = _MANGLED.match(symbol)
    return symbol[m.end() : m.end() + int(m["length"])] if m else symbol


def parameter_types(symbol: str) -> str:
    """Return the mangled parameter types of an OpenCL built-in, empty for other symbols."""
    m = _MANGLED.match(symbol)
    return symbol[m.end() + int(m["length"]) :] if m else ""
