"""Names of the calls that stand for compound operations of lanes, until LLVM has optimised.

They end in a number and a signature, since functions of LLVM are not overloaded. That of an exchange is its steps.
"""

_PREFIX = "xetune."
EXCHANGE, LOAD, STORE = (f"{_PREFIX}{kind}." for kind in ("exchange", "load", "store"))
RADIX = 64
"""Two numbers, such as a chunk and a register of it, are written as one: the first times this, plus the second."""
