"""Operands as the disassembler writes them."""

import re
import struct
from functools import lru_cache

import numpy as np

from codegen.xe.machine.operands import (
    DataType,
    Immediate,
    Indirect,
    Operand,
    Region,
    Register,
    RegisterFile,
)

_MODIFIERS = r"(?P<complement>~)?(?P<negate>-)?(?P<absolute>\(abs\))?"
_REGION = r"(?:<(?P<region>[\d;,]+)>)?"
_TYPE = r"(?::(?P<type>\w+))?"
_REGISTER = re.compile(
    rf"{_MODIFIERS}(?P<file>r|acc|a|f|sr|cr|ce|n|tm|tdr|dbg|sp|ip|msg|s)(?P<number>\d+)(?:\.(?:(?P<sub>\d+)|(?P<macro>mme[0-7]|nomme)))?"
    rf"{_REGION}{_TYPE}"
)
_NULL = re.compile(rf"null(?:\.(?P<sub>\d+))?{_REGION}{_TYPE}")
_INDIRECT = re.compile(rf"{_MODIFIERS}r\[a0\.(?P<sub>\d+)(?:,\s*(?P<offset>-?(?:0x)?[\dA-Fa-f]+))?\]{_REGION}{_TYPE}")
_IMMEDIATE = re.compile(r"(?P<value>-?(?:[\d.]|inf|[qs]nan)[\w.+()-]*):(?P<type>\w+)")
_NAN = re.compile(r"(?P<sign>-?)(?P<kind>[qs]nan)\((?P<payload>0x[\dA-Fa-f]+)\)")
_FRACTION_BITS = {DataType.HF: 10, DataType.BF: 7, DataType.F: 23, DataType.DF: 52}


class UnknownOperand(ValueError):
    """Text that is no operand that is known."""


@lru_cache(maxsize=4096)
def operand(text: str) -> Operand:
    """Parse an operand.

    Raises:
        UnknownOperand: it is not known.
    """
    if m := _NULL.fullmatch(text):
        return Register(RegisterFile.NULL, sub=int(m["sub"] or 0), region=_region(m["region"]), type=_type(m["type"]))
    if m := _REGISTER.fullmatch(text):
        return Register(
            RegisterFile(m["file"]),
            int(m["number"]),
            int(m["sub"] or 0),
            _region(m["region"]),
            _type(m["type"]),
            negate=bool(m["negate"]),
            absolute=bool(m["absolute"]),
            complement=bool(m["complement"]),
            macro=m["macro"] or "",
        )
    if m := _INDIRECT.fullmatch(text):
        by_element = _region_by_element(m["region"] or "")
        region, type_ = by_element or _region(m["region"]), _type(m["type"])
        if region is None or type_ is None:
            raise UnknownOperand(f"operand {text} without a region or a type")
        return Indirect(
            int(m["sub"]),
            int(m["offset"] or "0", 0),
            region,
            type_,
            by_element=by_element is not None,
            negate=bool(m["negate"]),
            absolute=bool(m["absolute"]),
            complement=bool(m["complement"]),
        )
    if m := _IMMEDIATE.fullmatch(text):
        type_ = _known(m["type"])
        return Immediate(_bits(m["value"], type_), type_)
    raise UnknownOperand(f"operand {text}")


def _type(text: str | None) -> DataType | None:
    return None if text is None else _known(text)


def _known(text: str) -> DataType:
    if text not in tuple(DataType):
        raise UnknownOperand(f"type {text}")
    return DataType(text)


def _region(text: str | None) -> Region | None:
    """Parse `V;W,H`, `V;H` and `H`: each as the places of elements that it means."""
    if text is None:
        return None
    numbers = [int(number) for number in re.split("[;,]", text)]
    match numbers, text.count(";"):
        case [horizontal], 0:
            return Region(horizontal, 1, 0)
        case [vertical, horizontal], 1:
            if not horizontal:
                return Region(vertical, 1, 0)
            if vertical % horizontal or not vertical:
                raise UnknownOperand(f"region <{text}>")
            return Region(vertical, vertical // horizontal, horizontal)
        case [vertical, width, horizontal], 1:
            return Region(vertical, width, horizontal)
        case _:
            raise UnknownOperand(f"region <{text}>")


def _region_by_element(text: str) -> Region | None:
    """Parse `W,H`: each row of elements begins at an address of its own."""
    numbers = text.split(",")
    return Region(0, int(numbers[0]), int(numbers[1])) if len(numbers) == 2 and ";" not in text else None


def _bits(text: str, type_: DataType) -> int:
    """Return the bits of an immediate; decimal numbers of floating point are printed so that they identify these."""
    mask = (1 << type_.bits) - 1
    if text.startswith(("0x", "-0x")):
        return int(text, 16) & mask
    if not type_.is_float:
        try:
            return int(text) & mask
        except ValueError:
            raise UnknownOperand(f"immediate {text}:{type_}") from None
    fraction = _FRACTION_BITS.get(type_)
    if fraction is None:
        raise UnknownOperand(f"immediate {text}:{type_}")
    if m := _NAN.fullmatch(text):
        exponent = (1 << (type_.bits - 1)) - (1 << fraction)
        quiet = (m["kind"] == "qnan") << (fraction - 1)
        return bool(m["sign"]) << (type_.bits - 1) | exponent | quiet | int(m["payload"], 16)
    try:
        number = float(text)
    except ValueError:
        raise UnknownOperand(f"immediate {text}:{type_}") from None
    match type_:
        case DataType.DF:
            return struct.unpack("<Q", struct.pack("<d", number))[0]
        case DataType.F:
            return int(np.float32(number).view(np.uint32))
        case DataType.HF:
            return int(np.float16(number).view(np.uint16))
        case _:
            return int(np.float32(number).view(np.uint32)) >> 16
