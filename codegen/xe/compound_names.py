"""Names of the calls that stand for compound operations of lanes, until LLVM has optimised.

They end in a number and a signature, since functions of LLVM are not overloaded. That of an exchange is its steps.
"""

_PREFIX = "xetune."
EXCHANGE, LOAD, STORE = (f"{_PREFIX}{kind}." for kind in ("exchange", "load", "store"))
LONGEST = 64
"""Above all numbers of a register within its chunk, and of a bit of a register: two numbers are written as one."""
