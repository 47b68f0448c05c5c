"""Writer of LLVM IR in which a value that differs between lanes is a row of 16, or an array of rows per element.

A vector, a phi and what other blocks take from a region are arrays; other scalars are rows.
"""

import re

from codegen.emulate.control.lanes import Lanes
from codegen.emulate.rows.row_moves import BLEND, COPY, FILL
from codegen.emulate.rows.rows import (
    Functions,
    Lines,
    computed,
    constant_row,
    kept,
    literal,
    row_type,
)
from codegen.simulate.llvm_ir.ir import (
    Function,
    Instruction,
    Operand,
    Type,
)
from codegen.simulate.values import LANES

SHARED = 3  # the address space of shared local memory
WHOLE = "splat (i8 1)"
_MASK = f"<{LANES} x i8>"


def local(name: str) -> str:
    """Return a local name that does not depend on how many unnamed values precede it."""
    return f"value.{name}" if name.isdigit() else name


def local_value(operand: Operand) -> str:
    """Return the use of a local value."""
    return f"%{local(operand.local)}"


def renamed(i: Instruction) -> str:
    """Return the line of an instruction, with new names and without references to attributes."""
    text = re.sub(r" #\d+$", "", i.text)
    return re.sub(r"%([\w.$-]+)", lambda m: f"%{local(m[1])}", text)


class Writer(Lines):
    """Collects the lines of one block after another, and the arrays that the kernel needs.

    `mask` are the lanes that run the block, in bytes.
    """

    def __init__(self, function: Function, lanes: Lanes, functions: Functions, offsets: dict[str, int]) -> None:
        super().__init__("emulated.")
        self.lanes, self.functions = lanes, functions
        self.arrays: list[str] = []
        self.mask = WHOLE
        self.shared = f"@xetune_shared_{function.name}"
        self._offsets = offsets
        self._pointers: dict[str, str] = {}
        self._rows: dict[str, str] = {}
        self._splats: dict[tuple[str, int], str] = {}
        phis = {phi.result for block in function.blocks for phi in block.phis}
        self._in_memory = lanes.crossing | phis

    def begin(self, lines: list[str]) -> None:
        """Begin a block, which all lanes run."""
        self.lines, self.mask = lines, WHOLE
        self._splats = {}

    # What values are.

    def scalar(self, operand: Operand) -> str:
        """Return a uniform value, or that of the first lane where all lanes must agree."""
        if operand.symbol:
            return str(self._offsets[operand.symbol] + int(operand.constant[0] or 0))
        if operand.is_constant:
            texts = [literal(number, operand.type) for number in operand.constant]
            element = operand.type.element
            return f"<{', '.join(f'{element} {text}' for text in texts)}>" if operand.type.count else texts[0]
        if not self.lanes.differs(operand):
            return local_value(operand)
        if not operand.type.count:
            return self.line(f"extractelement {row_type(operand.type.element)} {self.row(operand)}, i64 0")
        vector = "poison"
        for at in range(operand.type.count):
            row = self.row(operand, at)
            one = self.line(f"extractelement {row_type(operand.type.element)} {row}, i64 0")
            vector = self.line(f"insertelement {operand.type} {vector}, {operand.type.element} {one}, i64 {at}")
        return vector

    def row(self, operand: Operand, at: int = 0) -> str:
        """Return the 16 lanes of one element of an operand."""
        element = operand.type.element
        if operand.symbol:
            return f"splat ({computed(element)} {self.scalar(operand)})"
        if operand.is_constant:
            return constant_row(operand, at)
        if operand.local in self._rows:
            return self._rows[operand.local]
        if self.lanes.differs(operand):
            return self.load_row(element, self.array(operand.local, operand.type), at)
        if (operand.local, at) not in self._splats:
            scalar = local_value(operand)
            if operand.type.count:
                scalar = self.line(f"extractelement {operand.type} {scalar}, i64 {at}")
            elif element == "ptr" and operand.type.space != SHARED:
                scalar = self.line(f"ptrtoint {operand.type} {scalar} to i64")
            self._splats[operand.local, at] = self.splat(element, scalar)
        return self._splats[operand.local, at]

    def whole(self, operand: Operand) -> str:
        """Return the array of an operand, copying values that are not arrays."""
        if self.lanes.differs(operand) and operand.local not in self._rows:
            return self.array(operand.local, operand.type)
        array = self.new_array(operand.type)
        self.fill(array, operand)
        return array

    def fill(self, array: str, operand: Operand) -> None:
        """Copy a value that is not an array to one."""
        element, count = operand.type.element, operand.type.count or 1
        if count > 2 and operand.is_constant and len(set(operand.constant)) == 1 and element != "i1":
            name = self.functions.define(*FILL[kept(element)])
            self.do(f"call spir_func void @{name}(ptr {array}, {row_type(element)} {self.row(operand)}, i32 {count})")
            return
        for at in range(count):
            self.store_row(element, self.row(operand, at), array, at)

    # Where values go.

    def is_row(self, i: Instruction) -> bool:
        """Return True for a result that is not stored in an array."""
        return not i.type.count and i.result not in self._in_memory

    def set_row(self, i: Instruction, row: str) -> None:
        """Set the value of a scalar result."""
        if self.is_row(i):
            self._rows[i.result] = row
            return
        self.store_row(i.type.element, row, target := self.target(i))
        self.written(i, target)

    def target(self, i: Instruction) -> str:
        """Return the array to write a result to; call `written` after."""
        return self.new_array(i.type) if self._keeps_others(i) else self.array(i.result, i.type)

    def written(self, i: Instruction, target: str) -> None:
        """Commit a result in its target; inactive lanes retain their old value."""
        if self.is_row(i):
            self._rows[i.result] = self.load_row(i.type.element, target)
        elif self._keeps_others(i):
            self.blend(self.array(i.result, i.type), target, i.type, self.mask)

    def alias(self, name: str, pointer: str) -> None:
        """Alias a value to existing memory."""
        self._pointers[name] = pointer

    def may_alias(self, i: Instruction) -> bool:
        """Return True if a result may share the memory of an operand."""
        return not self.is_row(i) and not self._keeps_others(i)

    def array(self, name: str, type_: Type) -> str:
        """The array of a value."""
        if name not in self._pointers:
            self._pointers[name] = self.new_array(type_, f"array.{name}")
        return self._pointers[name]

    def new_array(self, type_: Type, name: str = "") -> str:
        """Memory for a value of a type."""
        pointer = f"%{name}" if name else self.name()
        elements = (type_.count or 1) * LANES
        self.arrays.append(f"  {pointer} = alloca [{elements} x {kept(type_.element)}], align 64")
        return pointer

    def new_bytes(self, pointer: str, nbytes: int) -> None:
        """Memory for a private array of the kernel."""
        self.arrays.append(f"  {pointer} = alloca [{nbytes * LANES} x i8], align 64")

    def copy(self, to: str, source: str, type_: Type) -> None:
        """Copy an array of values of a type."""
        name = self.functions.define(*COPY)
        nbytes = (type_.count or 1) * _row_bytes(type_)
        self.do(f"call spir_func void @{name}(ptr {to}, ptr {source}, i32 {nbytes // LANES})")

    def blend(self, to: str, source: str, type_: Type, mask: str) -> None:
        """Copy an array of values of a type for some lanes."""
        if mask == WHOLE:
            self.copy(to, source, type_)
            return
        name = self.functions.define(*BLEND[kept(type_.element)])
        self.do(f"call spir_func void @{name}(ptr {to}, ptr {source}, i32 {type_.count or 1}, {_MASK} {mask})")

    def _keeps_others(self, i: Instruction) -> bool:
        return self.mask != WHOLE and i.result in self.lanes.crossing


def _row_bytes(type_: Type) -> int:
    return LANES * (1 if type_.element == "i1" else type_.dtype.itemsize)
