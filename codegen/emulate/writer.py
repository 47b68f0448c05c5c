"""Writes LLVM IR in which a value that differs between lanes is an array: element after element, 16 lanes each."""

import re
import struct

import numpy as np

from codegen.emulate.lanes import Lanes
from codegen.emulate.refusal import not_emulated
from codegen.simulator.ir import Instruction, Number, Operand, Type
from codegen.simulator.values import LANES

# Copies rows of 16 bytes. llvm.memcpy would do, but LLVM's SPIR-V target casts its arguments before they are
# defined.
COPY_FUNCTION = """
define internal spir_func void @xetune_emulated_copy(ptr %to, ptr %from, i32 %rows) noinline nounwind {
entry:
  br label %loop
loop:
  %row = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from.row = getelementptr <16 x i8>, ptr %from, i32 %row
  %to.row = getelementptr <16 x i8>, ptr %to, i32 %row
  %values = load <16 x i8>, ptr %from.row, align 16
  store <16 x i8> %values, ptr %to.row, align 16
  %next = add i32 %row, 1
  %more = icmp ult i32 %next, %rows
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""

# Types that memory or the CPU does not have: truth values take a byte, bfloat is handled as its bits.
_KEPT_AS = {"i1": "i8", "bfloat": "i16"}


def local(name: str) -> str:
    """A local name that does not depend on how many unnamed values come before it."""
    return f"value.{name}" if name.isdigit() else name


def local_value(operand: Operand) -> str:
    """The use of a local value."""
    return f"%{local(operand.local)}"


def renamed(i: Instruction) -> str:
    """The line of an instruction, with our names and without references to attributes."""
    text = re.sub(r" #\d+$", "", i.text)
    return re.sub(r"%([\w.$-]+)", lambda m: f"%{local(m[1])}", text)


def row_type(element: str) -> str:
    """The type of the 16 lanes of an element while it is computed with."""
    return f"<{LANES} x {'i16' if element == 'bfloat' else element}>"


class Writer:
    """Collects the lines of one block after another, and the arrays that the kernel needs."""

    def __init__(self, lanes: Lanes) -> None:
        self.lines: list[str] = []
        self.arrays: list[str] = []
        self._lanes = lanes
        self._pointers: dict[str, str] = {}
        self._temporaries = 0

    def array(self, name: str, type_: Type) -> str:
        """The array of a value."""
        if name not in self._pointers:
            self._pointers[name] = self._new_array(f"array.{name}", type_)
        return self._pointers[name]

    def alias(self, name: str, pointer: str) -> None:
        """Let a value be in memory that is already there."""
        self._pointers[name] = pointer

    def private_array(self, name: str, type_: Type) -> None:
        """The kernel's own private array `name`, 16 times as large."""
        self._new_array(local(name), type_)

    def whole(self, operand: Operand) -> str:
        """The array of an operand; one that is the same in all lanes is copied to one."""
        if self._lanes.differs(operand):
            return self.array(operand.local, operand.type)
        name = self._name()
        for at in range(operand.type.count or 1):
            self.put(name, operand.type, at, self.row(operand, at))
        return self.array(name, operand.type)

    def row(self, operand: Operand, at: int) -> str:
        """The 16 lanes of one element of an operand."""
        type_ = operand.type
        if operand.is_constant:
            number = operand.constant[at]
            return "poison" if number is None else f"splat ({_scalar(type_.element)} {_literal(number, type_)})"
        if not self._lanes.differs(operand):
            return self._splat(operand, at)
        kept = self.line(f"load {_kept_row(type_)}, ptr {self._row_pointer(operand.local, type_, at)}, align 16")
        return self.line(f"trunc {_kept_row(type_)} {kept} to {row_type('i1')}") if type_.element == "i1" else kept

    def put(self, name: str, type_: Type, at: int, row: str) -> None:
        """Set the 16 lanes of one element of a value."""
        if type_.element == "i1":
            row = self.line(f"zext {row_type('i1')} {row} to {_kept_row(type_)}")
        self.lines.append(f"  store {_kept_row(type_)} {row}, ptr {self._row_pointer(name, type_, at)}, align 16")

    def copy(self, to: str, source: str, type_: Type) -> None:
        """Copy an array of values of a type."""
        self.lines.append(f"  call spir_func void @xetune_emulated_copy(ptr {to}, ptr {source}, i32 {type_.nbytes})")

    def uniform(self, operand: Operand, i: Instruction) -> str:
        """An operand as it is, which must be the same in all lanes."""
        if self._lanes.differs(operand):
            raise not_emulated("an argument that differs between lanes", i.text)
        if not operand.is_constant:
            return local_value(operand)
        literals = ["poison" if n is None else _literal(n, operand.type) for n in operand.constant]
        if not operand.type.count:
            return literals[0]
        return "<" + ", ".join(f"{operand.type.element} {literal}" for literal in literals) + ">"

    def line(self, text: str) -> str:
        """Add a line; the name of its result."""
        name = f"%{self._name()}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _splat(self, operand: Operand, at: int) -> str:
        type_, scalar = operand.type, local_value(operand)
        if type_.element == "bfloat":
            raise not_emulated("a bfloat that is the same in all lanes", scalar)
        if type_.count:
            scalar = self.line(f"extractelement {type_} {scalar}, i64 {at}")
        row = row_type(type_.element)
        one = self.line(f"insertelement {row} poison, {type_.element} {scalar}, i64 0")
        return self.line(f"shufflevector {row} {one}, {row} poison, <{LANES} x i32> zeroinitializer")

    def _row_pointer(self, name: str, type_: Type, at: int) -> str:
        return self.line(f"getelementptr {_kept_row(type_)}, ptr {self.array(name, type_)}, i64 {at}")

    def _new_array(self, name: str, type_: Type) -> str:
        elements = (type_.count or 1) * LANES
        self.arrays.append(f"  %{name} = alloca [{elements} x {_kept(type_)}], align 64")
        return f"%{name}"

    def _name(self) -> str:
        self._temporaries += 1
        return f"emulated.{self._temporaries}"


def _kept(type_: Type) -> str:
    return _KEPT_AS.get(type_.element, type_.element)


def _kept_row(type_: Type) -> str:
    return f"<{LANES} x {_kept(type_)}>"


def _scalar(element: str) -> str:
    return "i16" if element == "bfloat" else element


def _literal(number: Number, type_: Type) -> str:
    if type_.dtype.kind != "f":
        return str(int(number))
    if type_.element == "half":
        return f"0xH{int(np.float16(number).view(np.uint16)):04X}"
    return f"0x{struct.unpack('>Q', struct.pack('>d', number))[0]:016X}"
