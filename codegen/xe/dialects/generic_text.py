"""Printer of MLIR's generic form, for MLIR to read: many times faster than the pretty printer."""

# pyright: reportPrivateUsage=false
# xDSL's public views of operands and blocks are objects of their own, which lane code would need by the thousand.

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from itertools import count

from xdsl.dialects.builtin import FunctionType, ModuleOp, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from codegen.xe.dialects.printer import ModulePrinter

_KEPT = 4096  # bounded: constants of kernels may be any number

# Of all modules. By ids of attributes and types, which the values keep alive, so that they are not reused.
_TEXTS: dict[int, tuple[str, Attribute]] = {}
_ENDS: dict[tuple[object, ...], tuple[str, object]] = {}


def generic_text(module: ModuleOp) -> str:
    """Return the text of a module in generic form; values are named by numbers."""
    writer = _Writer()
    writer.operation(module)
    return "".join(writer.pieces) + "\n"


def operation_at(module: ModuleOp, line: int) -> Operation:
    """Return the operation that begins at a line of the generic text of a module, or last before it."""
    writer = _Locator()
    writer.operation(module)
    return max((start for start in writer.starts if start[0] <= line), key=lambda start: start[0])[1]


class _Writer:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._values: dict[int, str] = {}  # by id: the module keeps them alive
        self._blocks: dict[Block, str] = {}
        self._numbers = count()
        self._printer = ModulePrinter(StringIO(), print_generic_format=True)

    def operation(self, op: Operation) -> None:
        write, values, results, operands = self.pieces.append, self._values, op.results, op._operands
        name = op.name
        if name == UnregisteredOp.name:
            assert isinstance(op, UnregisteredOp)
            name = op.op_name.data
        used = ", ".join([values[id(operand)] for operand in operands])
        if results:
            write(f'{", ".join([self._name(result) for result in results])} = "{name}"({used})')
        else:
            write(f'"{name}"({used})')
        if op._successors:
            write(f"[{', '.join(self._block_name(block) for block in op.successors)}]")
        if not op.regions:
            write(self._end(op, operands, results))
            return
        write(self._properties(op))
        write(" (")
        for place, region in enumerate(op.regions):
            write(", " if place else "")
            self._region(region)
        write(f"){self._types_of(op, operands, results)}")

    def _end(self, op: Operation, operands: Sequence[SSAValue], results: Sequence[SSAValue]) -> str:
        """Return the text behind the operands, cached because many operations share it."""
        attributes = (*op.properties.values(), *op.attributes.values())
        types = [value._type for value in (*operands, *results)]
        if attributes:
            key = (len(results), *op.properties, None, *op.attributes, *map(id, attributes), *map(id, types))
        else:
            key = (len(results), *map(id, types))
        known = _ENDS.get(key)
        if known is None:
            text = self._properties(op) + self._types_of(op, operands, results)
            if len(_ENDS) >= _KEPT:
                _ENDS.clear()
            known = _ENDS[key] = text, (attributes, types)
        return known[0]

    def _properties(self, op: Operation) -> str:
        return f" <{{{self._entries(op.properties)}}}>" if op.properties else ""

    def _types_of(self, op: Operation, operands: Sequence[SSAValue], results: Sequence[SSAValue]) -> str:
        attributes = f" {{{self._entries(op.attributes)}}}" if op.attributes else ""
        return f"{attributes} : ({self._types(operands)}) -> {self._result_types(results)}"

    def _region(self, region: Region) -> None:
        self.pieces.append("{\n")
        for place, block in enumerate(region.blocks):
            if place or block.args:
                arguments = ", ".join(f"{self._name(a)}: {self._text(a.type)}" for a in block.args)
                self.pieces.append(f"{self._block_name(block)}({arguments}):\n")
            op = block._first_op
            while op is not None:
                self.operation(op)
                self.pieces.append("\n")
                op = op._next_op
        self.pieces.append("}")

    def _name(self, value: SSAValue) -> str:
        self._values[id(value)] = name = f"%{next(self._numbers)}"
        return name

    def _block_name(self, block: Block) -> str:
        return self._blocks.setdefault(block, f"^bb{len(self._blocks)}")

    def _entries(self, attributes: Mapping[str, Attribute]) -> str:
        return ", ".join([f'"{name}" = {self._text(attribute)}' for name, attribute in attributes.items()])

    def _types(self, values: Iterable[SSAValue]) -> str:
        return ", ".join([self._text(value.type) for value in values])

    def _result_types(self, results: Sequence[SSAValue]) -> str:
        if len(results) == 1 and type(results[0].type) is not FunctionType:
            return self._text(results[0].type)
        return f"({self._types(results)})"

    def _text(self, attribute: Attribute) -> str:
        known = _TEXTS.get(id(attribute))
        if known is None:
            if len(_TEXTS) >= _KEPT:
                _TEXTS.clear()
            known = _TEXTS[id(attribute)] = self._printer.written_out(attribute), attribute
        return known[0]


class _Locator(_Writer):
    """A writer that keeps the line, counted from 1, at which each operation begins."""

    def __init__(self) -> None:
        super().__init__()
        self.starts: list[tuple[int, Operation]] = []
        self._line, self._counted = 1, 0

    def operation(self, op: Operation) -> None:
        self._line += sum(piece.count("\n") for piece in self.pieces[self._counted :])
        self._counted = len(self.pieces)
        self.starts.append((self._line, op))
        super().operation(op)
