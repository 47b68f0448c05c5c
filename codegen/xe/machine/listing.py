"""Parser of the disassembler's text: one line for each instruction or label.

What is not known is refused with its line. The offsets of the instructions, 8 bytes for a compacted one and 16 for
others, are compared with the labels, which are named by theirs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.xe.machine.annotations import UnknownAnnotation, annotations
from codegen.xe.machine.descriptors import UnknownDescriptor, decode, register_counts
from codegen.xe.machine.gathers import gathered
from codegen.xe.machine.instruction import FlagModifier, Instruction, Listing, Payload, Predicate, Token
from codegen.xe.machine.messages import Message, SharedFunction
from codegen.xe.machine.opcodes import BRANCH_CONTROL, FORMS, MATH, SYNCS, WITH_FUNCTION, Form
from codegen.xe.machine.operand_text import UnknownOperand, operand
from codegen.xe.machine.operands import Immediate, Operand, Register, RegisterFile
from codegen.xe.machine.refusal import MachineCodeRefused

_NATIVE_BYTES, _COMPACTED_BYTES = 16, 8
_LABEL = re.compile(r"L(?P<offset>\d+):\s*")
_LINE = re.compile(
    r"\s*(?:\((?P<predicate>[^)]*)\))?\s*"
    r"(?P<opcode>[a-z]\w*)(?P<function>(?:\.\w+)*)"
    r"(?:\s+\((?P<size>\d+)\|M(?P<channel>\d+)\))?"
    r"(?:\s+\((?P<condition>\w+)\)f(?P<flag>\d)\.(?P<flag_sub>\d))?"
    r"(?P<operands>[^{]*?)\s*"
    r"(?:\{(?P<annotations>[^}]*)\})?\s*"
)
_PREDICATE = re.compile(r"(?P<inverse>~?)f(?P<number>\d)\.(?P<sub>\d)(?:\.(?P<group>(?:any|all)(?:\d+h|v)?))?")
_COUNTED = re.compile(r"(?P<register>\w+):(?P<count>\d+)")
_EXTENDED = re.compile(r"(?:(?P<bits>0x[\dA-Fa-f]+):?)?(?:a0\.(?P<register>\d+))?")
_GATHERED = re.compile(r"r\[(s0\.\d+)\]")
_TOKENS = re.compile(r"\(\$\d+(?:,\$\d+)*\)")
_MACRO_MATH = (("math", "invm"), ("math", "rsqtm"))
_CONDITIONS = frozenset({"eq", "ne", "gt", "ge", "lt", "le", "ov", "un", "ze", "nz", "eo"})


class _Unknown(ValueError):
    """Something in a line that is not known."""


@dataclass(slots=True)
class _Line:
    """A parsed line, with the names of the labels that it may branch to."""

    instruction: Instruction
    labels: tuple[str, ...]


def parse_listing(kernel: str, text: str) -> Listing:
    """Parse the instructions of a kernel, without those that follow its code as padding.

    Raises:
        MachineCodeRefused: something is not known; with the line and its number.
    """
    lines: list[_Line] = []
    labels: dict[str, int] = {}
    offset = 0
    for number, line in enumerate(text.splitlines(), 1):
        shown = line.strip()
        if not shown or shown.startswith("//"):
            continue
        if m := _LABEL.fullmatch(shown):
            if int(m["offset"]) != offset:
                raise MachineCodeRefused(f"{number}: {shown}", f"the instructions before it take {offset} bytes")
            labels[shown.removesuffix(":")] = len(lines)
            continue
        try:
            lines.append(_line(number, shown, offset))
        except (_Unknown, UnknownOperand, UnknownAnnotation, UnknownDescriptor) as error:
            raise MachineCodeRefused(f"{number}: {shown}", f"not known: {error}") from error
        compacted = "Compacted" in lines[-1].instruction.options
        offset += _COMPACTED_BYTES if compacted else _NATIVE_BYTES
    while lines and lines[-1].instruction.opcode == "illegal":
        lines.pop()
    return Listing(kernel, tuple(gathered(list(_resolved(lines, labels)), frozenset(labels.values()))), labels)


def _resolved(lines: list[_Line], labels: Mapping[str, int]) -> Iterator[Instruction]:
    for line in lines:
        i = line.instruction
        for label in line.labels:
            if label not in labels:
                raise MachineCodeRefused(f"{i.line}: {i.text}", f"expected a label {label} in the listing, got none")
        yield replace(i, targets=tuple(labels[label] for label in line.labels))


def _line(number: int, shown: str, offset: int) -> _Line:
    code, _, note = shown.partition("//")
    m = _LINE.fullmatch(code)
    if m is None:
        raise _Unknown("the form of the line")
    opcode, function = m["opcode"], m["function"].removeprefix(".")
    form = _form(opcode, function)
    distance, tokens, options = annotations(m["annotations"] or "")
    no_mask, predicate = _predicate(m["predicate"])
    condition = m["condition"]
    if condition is not None and condition not in _CONDITIONS:
        raise _Unknown(f"condition {condition}")
    given = m["operands"].split()
    saturate = bool(given) and given[0].startswith("(sat)")
    if saturate:
        given[0] = given[0].removeprefix("(sat)")
    i = Instruction(
        line=number,
        text=shown,
        offset=offset,
        opcode=opcode,
        function=function,
        size=int(m["size"] or 1),
        channel=int(m["channel"] or 0),
        no_mask=no_mask,
        predicate=predicate,
        modifier=None if condition is None else FlagModifier(condition, int(m["flag"]), int(m["flag_sub"])),
        saturate=saturate,
        destination=None,
        sources=(),
        targets=(),
        message=None,
        payload=None,
        distance=distance,
        tokens=tokens,
        options=options,
        note=note.strip(),
    )
    match form:
        case Form.SEND:
            message, payload = _message(function, given)
            return _Line(replace(i, message=message, payload=payload), ())
        case Form.BRANCH | Form.BRANCHES:
            return _Line(i, _labels(form, given))
        case Form.SYNC:
            waited, sources = _sync(given)
            return _Line(replace(i, tokens=(*tokens, *waited), sources=sources), ())
        case _:
            destination, sources = _operands(form, given)
            macros = any(isinstance(o, Register) and o.macro for o in (destination, *sources))
            if macros and opcode != "madm" and (opcode, function) not in _MACRO_MATH:
                raise _Unknown(f"operands of madm in {opcode}")
            return _Line(replace(i, destination=destination, sources=sources), ())


def _form(opcode: str, function: str) -> Form:
    if opcode == "math":
        if function not in MATH:
            raise _Unknown(f"math.{function}")
        return MATH[function]
    if opcode not in FORMS:
        raise _Unknown(f"opcode {opcode}")
    known = {"sync": SYNCS, "goto": ("", BRANCH_CONTROL)}.get(opcode)
    if (function and opcode not in WITH_FUNCTION) or (known is not None and function not in known):
        raise _Unknown(f"{opcode}.{function}")
    return FORMS[opcode]


def _predicate(text: str | None) -> tuple[bool, Predicate | None]:
    """Return whether the mask is off, and the predicate: of `W`, `W&~f0.1`, `f0.0.any16h`."""
    if not text:
        return False, None
    no_mask, rest = text == "W" or text.startswith("W&"), text.removeprefix("W").removeprefix("&")
    if not rest:
        return no_mask, None
    m = _PREDICATE.fullmatch(rest)
    if m is None:
        raise _Unknown(f"predicate {text}")
    return no_mask, Predicate(int(m["number"]), int(m["sub"]), bool(m["inverse"]), m["group"] or "")


def _operands(form: Form, given: list[str]) -> tuple[Operand | None, tuple[Operand, ...]]:
    count = {Form.NONE: 0, Form.UNARY: 2, Form.BINARY: 3, Form.TERNARY: 4}[form]
    if len(given) != count:
        raise _Unknown(f"{len(given)} operands, expected {form}")
    parsed = [operand(text) for text in given]
    if parsed and isinstance(parsed[0], Immediate):
        raise _Unknown(f"destination {given[0]}")
    return (parsed[0], tuple(parsed[1:])) if parsed else (None, ())


def _labels(form: Form, given: list[str]) -> tuple[str, ...]:
    if len(given) != (1 if form is Form.BRANCH else 2) or not all(re.fullmatch(r"L\d+", text) for text in given):
        raise _Unknown(f"targets {' '.join(given)}, expected {form}")
    return tuple(given)


def _sync(given: list[str]) -> tuple[tuple[Token, ...], tuple[Operand, ...]]:
    (text,) = given if len(given) == 1 else ("",)
    if _TOKENS.fullmatch(text):
        return annotations(text[1:-1])[1], ()
    if re.fullmatch(r"0x[\dA-Fa-f]+", text):
        text += ":ud"
    return (), (operand(text),)


def _message(function: str, given: list[str]) -> tuple[Message, Payload]:
    if function not in tuple(SharedFunction):
        raise _Unknown(f"shared function {function}")
    if len(given) == 4 and _GATHERED.fullmatch(given[1]):
        given = [*given[:2], "null:0", *given[2:]]
    if len(given) != 5:
        raise _Unknown(f"{len(given)} operands of a message, expected 5")
    destination, address, data, extended, descriptor = given
    e, counted = _EXTENDED.fullmatch(extended), _COUNTED.fullmatch(data)
    if e is None or counted is None or not re.fullmatch(r"0x[\dA-Fa-f]+", descriptor):
        raise _Unknown(f"descriptors {extended} {descriptor} with data {data}")
    word, handle = int(descriptor, 16), e["register"]
    message = decode(SharedFunction(function), word, int(e["bits"] or "0", 16), None if handle is None else int(handle))
    destination_count, address_count = register_counts(word)
    return message, Payload(
        *(_whole(destination), destination_count),
        *(_address(address), address_count),
        *(_whole(counted["register"]), int(counted["count"])),
    )


def _address(text: str) -> Register:
    """Return the register of addresses; of a message whose registers s0 lists, s0 with the byte of the first."""
    m = _GATHERED.fullmatch(text)
    register = operand(m[1]) if m else None
    return register if isinstance(register, Register) else _whole(text)


def _whole(text: str) -> Register:
    register = operand(text)
    if not isinstance(register, Register) or register.file not in (RegisterFile.GRF, RegisterFile.NULL):
        raise _Unknown(f"operand {text} of a message")
    return register
