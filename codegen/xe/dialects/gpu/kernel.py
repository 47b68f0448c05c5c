"""The gpu dialect's modules and functions for the device."""

from collections.abc import Sequence
from enum import auto
from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Data, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from codegen.xe.dialects.creation import initialise

_SIZES = ("known_block_size", "known_grid_size")


class AddressSpace(StrEnum):
    """A memory of the device."""

    GLOBAL = auto()
    WORKGROUP = auto()
    PRIVATE = auto()


@irdl_attr_definition
class AddressSpaceAttr(Data[AddressSpace]):
    """`#gpu.address_space<workgroup>`, as the memory space of a memref."""

    name = "gpu.address_space"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AddressSpace:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(AddressSpace)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """End of a kernel, or of a device function with its results."""

    name = "gpu.return"
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue) -> None:
        initialise(self, values)


@irdl_op_definition
class ModuleOp(IRDLOperation):
    """Code for the device: `gpu.module @name { ... }`."""

    name = "gpu.module"
    sym_name = prop_def(StringAttr)
    targets = opt_prop_def(ArrayAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), SymbolTable())

    def __init__(
        self,
        name: str,
        body: Sequence[Operation] | Region,
        attributes: dict[str, Attribute] | None = None,
        *,
        targets: Attribute | None = None,
    ) -> None:
        region = body if isinstance(body, Region) else Region(Block(body))
        initialise(self, (), (), {"sym_name": StringAttr(name), "targets": targets}, attributes, (region,))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        targets = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls(
            name,
            region,
            dict(attributes.data) if attributes is not None else None,
            targets=None if targets is None else ArrayAttr(targets),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.targets is not None:
            printer.print_string(" ")
            printer.print_attribute(self.targets)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A kernel or a device function. Its entry block also takes the `workgroup` and `private` buffers."""

    name = "gpu.func"
    sym_name = attr_def(StringAttr)  # an attribute in MLIR, not a property
    function_type = prop_def(FunctionType)
    kernel = opt_prop_def(UnitAttr)
    known_block_size = opt_prop_def(DenseArrayBase[IntegerType])
    known_grid_size = opt_prop_def(DenseArrayBase[IntegerType])
    workgroup_attributions = opt_prop_def(IntegerAttr[IntegerType])
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        body: Region,
        *,
        kernel: bool = True,
        known_block_size: DenseArrayBase[IntegerType] | tuple[int, int, int] | None = None,
        attributes: dict[str, Attribute] | None = None,
        workgroup: int = 0,
        private: int = 0,
        results: Sequence[Attribute] = (),
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        arguments = body.blocks[0].arg_types
        inputs = arguments[: len(arguments) - workgroup - private]
        given: dict[str, Attribute] = {"function_type": FunctionType.from_lists(inputs, list(results))}
        if kernel:
            given["kernel"] = UnitAttr()
        if isinstance(known_block_size, tuple):
            known_block_size = DenseArrayBase.from_list(i32, known_block_size)
        if known_block_size is not None:
            given["known_block_size"] = known_block_size
        if workgroup:
            given["workgroup_attributions"] = IntegerAttr(workgroup, i64)
        attributes = {"sym_name": StringAttr(name)} | (attributes or {})
        initialise(self, (), (), given | (properties or {}), attributes, (body,))

    @property
    def workgroup_buffers(self) -> Sequence[SSAValue]:
        """The buffers in shared local memory that the function declares."""
        first = len(self.function_type.inputs)
        return self.body.blocks[0].args[first : first + self._workgroup]

    @property
    def _workgroup(self) -> int:
        return 0 if self.workgroup_attributions is None else self.workgroup_attributions.value.data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        dicts: list[DictionaryAttr] = []

        def parse_argument() -> Parser.Argument:
            argument = parser.parse_argument()
            dicts.append(DictionaryAttr(parser.parse_optional_attr_dict()))
            return argument

        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_argument)
        results = _parse_results(parser)
        workgroup = _parse_buffers(parser, "workgroup")
        private = _parse_buffers(parser, "private")
        kernel = parser.parse_optional_keyword("kernel") is not None
        parsed = parser.parse_optional_attr_dict_with_keyword()
        attributes = dict(parsed.data) if parsed is not None else {}
        properties = _take_sizes(parser, attributes)
        if any(d.data for d in dicts):
            properties["arg_attrs"] = ArrayAttr(dicts)
        region = parser.parse_region([*arguments, *workgroup, *private])
        return cls(
            name,
            region,
            kernel=kernel,
            attributes=attributes,
            workgroup=len(workgroup),
            private=len(private),
            results=results,
            properties=properties,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        self._print_signature(printer)
        if self.kernel is not None:
            printer.print_string(" kernel")
        sizes = {key: self.properties[key] for key in _SIZES if key in self.properties}
        printer.print_op_attributes(sizes | self.attributes, reserved_attr_names=("sym_name",), print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def _print_signature(self, printer: Printer) -> None:
        args, first = self.body.blocks[0].args, len(self.function_type.inputs)
        dicts = [DictionaryAttr({})] * first if self.arg_attrs is None else self.arg_attrs.data
        with printer.in_parens():
            printer.print_list(
                list(zip(args[:first], dicts, strict=True)),
                lambda pair: (printer.print_block_argument(pair[0]), printer.print_op_attributes(pair[1].data)),
            )
        if len(self.function_type.outputs):
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.function_type.outputs.data, printer.print_attribute)
        last = first + self._workgroup
        for keyword, buffers in (("workgroup", args[first:last]), ("private", args[last:])):
            if buffers:
                printer.print_string(f" {keyword}")
                with printer.in_parens():
                    printer.print_list(buffers, printer.print_block_argument)

    def verify_(self) -> None:
        inputs, arguments = tuple(self.function_type.inputs), tuple(self.body.blocks[0].arg_types)
        buffers = arguments[len(inputs) :]
        if arguments[: len(inputs)] != inputs:
            raise VerifyException(
                f"gpu.func: expected arguments {list(map(str, inputs))}, got {list(map(str, arguments))}"
            )
        if len(buffers) < self._workgroup or not all(isinstance(b, MemRefType) for b in buffers):
            raise VerifyException(
                f"gpu.func: expected after its arguments the memrefs of {self._workgroup} workgroup buffers "
                f"and of private ones, got {list(map(str, buffers))}"
            )
        if self.kernel is not None and len(self.function_type.outputs):
            raise VerifyException(f"gpu.func: expected a kernel to return nothing, got {self.function_type.outputs}")
        for key in _SIZES:
            size = self.properties.get(key)
            if isinstance(size, DenseArrayBase) and len(size) != 3:
                raise VerifyException(f"gpu.func: expected three entries of {key}, got {len(size)}")


def _parse_results(parser: Parser) -> list[Attribute]:
    if parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


def _parse_buffers(parser: Parser, keyword: str) -> list[Parser.Argument]:
    if parser.parse_optional_keyword(keyword) is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)


def _take_sizes(parser: Parser, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    """Return known sizes as properties; older files prefix their names with `gpu.`."""
    sizes: dict[str, Attribute] = {}
    for key in _SIZES:
        old, new = attributes.pop(f"gpu.{key}", None), attributes.pop(key, None)
        size = new if new is not None else old
        if size is None:
            continue
        if not isa(size, DenseArrayBase[IntegerType]):
            parser.raise_error(f"gpu.func: expected {key} to be an array of integers, got {size}")
        sizes[key] = size
    return sizes
