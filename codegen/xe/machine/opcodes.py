"""Opcodes by the form of their operands."""

from enum import StrEnum


class Form(StrEnum):
    """Form of an instruction: how its operands are written."""

    NONE = "no operands"
    UNARY = "a destination and one source"
    BINARY = "a destination and two sources"
    TERNARY = "a destination and three sources"
    SEND = "a message"
    BRANCH = "one label"
    BRANCHES = "two labels"
    SYNC = "what is waited for"


_BY_FORM = {
    Form.NONE: "nop illegal",
    Form.UNARY: "mov not rndd rndu rnde rndz fbh fbl cbit bfrev lzd frc",
    Form.BINARY: "add mul and or xor shl shr asr ror rol cmp cmpn sel addc subb mach macl avg bfi1",
    Form.TERNARY: "mad add3 bfe bfi2 csel bfn dp4a dpas dpasw madm",
    Form.SEND: "send sendc",
    Form.BRANCH: "jmpi join endif while",
    Form.BRANCHES: "goto if else break cont halt",
    Form.SYNC: "sync",
}
FORMS = {opcode: form for form, opcodes in _BY_FORM.items() for opcode in opcodes.split()}
"""Form of each opcode; that of math depends on its function."""

MATH = {
    **dict.fromkeys(("inv", "log", "exp", "sqt", "rsqt", "sin", "cos", "rsqtm"), Form.UNARY),
    **dict.fromkeys(("fdiv", "pow", "idiv", "iqot", "irem", "invm"), Form.BINARY),
}
"""Form of each function of math."""

SYNCS = frozenset({"nop", "allrd", "allwr", "bar", "host", "fence", "flush"})
WITH_FUNCTION = frozenset({"math", "sync", "send", "sendc", "bfn", "dpas", "dpasw", "csel", "goto"})
"""Opcodes that may have a function after a dot."""
BRANCH_CONTROL = "b"
"""Function of a goto whose channels go on at its target, while the others wait: the end of a loop."""
