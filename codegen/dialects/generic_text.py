"""Modules in MLIR's generic form, for MLIR to read: many times faster than a printer for people."""

from collections.abc import Iterable, Mapping
from io import StringIO
from itertools import count

from xdsl.dialects.builtin import FunctionType, ModuleOp, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from codegen.dialects.printer import ModulePrinter


def generic_text(module: ModuleOp) -> str:
    """The text of a module in generic form; values have numbers for names."""
    writer = _Writer()
    writer.operation(module)
    return "".join(writer.pieces) + "\n"


class _Writer:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._values: dict[SSAValue, str] = {}
        self._blocks: dict[Block, str] = {}
        self._numbers = count()
        self._printer = ModulePrinter(StringIO(), print_generic_format=True)
        self._by_id: dict[int, tuple[Attribute, str]] = {}
        self._by_value: dict[Attribute, str] = {}

    def operation(self, op: Operation) -> None:
        write = self.pieces.append
        if op.results:
            write(f"{', '.join(map(self._name, op.results))} = ")
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        write(f'"{name}"({", ".join([self._values[operand] for operand in op.operands])})')
        if op.successors:
            write(f"[{', '.join(self._block_name(block) for block in op.successors)}]")
        if op.properties:
            write(f" <{{{self._entries(op.properties)}}}>")
        if op.regions:
            write(" (")
            for place, region in enumerate(op.regions):
                write(", " if place else "")
                self._region(region)
            write(")")
        if op.attributes:
            write(f" {{{self._entries(op.attributes)}}}")
        write(f" : ({self._types(op.operands)}) -> {self._result_types(op)}")

    def _region(self, region: Region) -> None:
        self.pieces.append("{\n")
        for place, block in enumerate(region.blocks):
            if place or block.args:
                arguments = ", ".join(f"{self._name(a)}: {self._text(a.type)}" for a in block.args)
                self.pieces.append(f"{self._block_name(block)}({arguments}):\n")
            for op in block.ops:
                self.operation(op)
                self.pieces.append("\n")
        self.pieces.append("}")

    def _name(self, value: SSAValue) -> str:
        self._values[value] = name = f"%{next(self._numbers)}"
        return name

    def _block_name(self, block: Block) -> str:
        return self._blocks.setdefault(block, f"^bb{len(self._blocks)}")

    def _entries(self, attributes: Mapping[str, Attribute]) -> str:
        return ", ".join([f'"{name}" = {self._text(attribute)}' for name, attribute in attributes.items()])

    def _types(self, values: Iterable[SSAValue]) -> str:
        return ", ".join([self._text(value.type) for value in values])

    def _result_types(self, op: Operation) -> str:
        if len(op.results) == 1 and not isinstance(op.results[0].type, FunctionType):
            return self._text(op.results[0].type)
        return f"({self._types(op.results)})"

    def _text(self, attribute: Attribute) -> str:
        known = self._by_id.get(id(attribute))
        if known is not None:
            return known[1]
        text = self._by_value.get(attribute)
        if text is None:
            text = self._by_value[attribute] = self._printer.written_out(attribute)
        self._by_id[id(attribute)] = attribute, text  # kept alive, so that its id stays its own
        return text
