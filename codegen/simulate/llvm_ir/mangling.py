"""Names of OpenCL built-ins without what is mangled into them."""

import re

_MANGLED = re.compile(r"_Z(?P<length>\d+)")


def unmangled(symbol: str) -> str:
    """The name of an OpenCL built-in without its parameter types; other symbols as they are."""
    m = _MANGLED.match(symbol)
    return symbol[m.end() : m.end() + int(m["length"])] if m else symbol


def parameter_types(symbol: str) -> str:
    """The parameter types of an OpenCL built-in as they are mangled, empty for other symbols."""
    m = _MANGLED.match(symbol)
    return symbol[m.end() + int(m["length"]) :] if m else ""
