"""The operations of MLIR's llvm dialect in lane-level code: xDSL's, and those that xDSL lacks."""

from collections.abc import Sequence
from enum import IntEnum

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import (
    FastMathAttr,
    LinkageAttr,
    LLVMFunctionType,
    LLVMPointerType,
    TailCallKind,
    TailCallKindAttr,
)
from xdsl.ir import Attribute, Data, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, SymbolOpInterface

from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.interned import dense, integer, symbol_reference

GLOBAL = LLVMPointerType(IntAttr(1))
"""Pointer into device memory."""
LOCAL = LLVMPointerType(IntAttr(3))
"""Pointer into shared local memory."""

_MONOTONIC = 2


class AtomicBinOp(IntEnum):
    """Operation of llvm.atomicrmw, numbered as in the generic form. Source: MLIR, LLVM dialect, AtomicBinOp."""

    XCHG = 0
    ADD = 1
    SUB = 2
    AND = 3
    NAND = 4
    OR = 5
    XOR = 6
    MAX = 7
    MIN = 8
    UMAX = 9
    UMIN = 10
    FADD = 11
    FSUB = 12
    FMAX = 13
    FMIN = 14


@irdl_op_definition
class AtomicRmwOp(IRDLOperation):
    """Update memory atomically at device scope; the result is the old value."""

    name = "llvm.atomicrmw"
    bin_op = prop_def(IntegerAttr)
    ordering = prop_def(IntegerAttr)
    syncscope = opt_prop_def(StringAttr)
    ptr = operand_def(LLVMPointerType)
    val = operand_def()
    res = result_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, kind: AtomicBinOp, pointer: SSAValue, value: SSAValue) -> None:
        properties = {
            "bin_op": integer(kind, i64),
            "ordering": integer(_MONOTONIC, i64),
            "syncscope": StringAttr("device"),
        }
        initialise(self, (pointer, value), (value.type,), properties)


@irdl_op_definition
class AtomicCmpXchgOp(IRDLOperation):
    """Replace memory atomically if it equals `cmp`; results: the old value, and whether it was replaced."""

    name = "llvm.cmpxchg"
    success_ordering = prop_def(IntegerAttr)
    failure_ordering = prop_def(IntegerAttr)
    syncscope = opt_prop_def(StringAttr)
    ptr = operand_def(LLVMPointerType)
    cmp = operand_def()
    val = operand_def()
    res = result_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, pointer: SSAValue, expected: SSAValue, value: SSAValue, result: Attribute) -> None:
        super().__init__(
            operands=[pointer, expected, value],
            result_types=[result],
            properties={
                "success_ordering": IntegerAttr(_MONOTONIC, i64),
                "failure_ordering": IntegerAttr(_MONOTONIC, i64),
                "syncscope": StringAttr("device"),
            },
        )


@irdl_attr_definition
class CallingConventionAttr(Data[str]):
    """`#llvm.cconv<spir_funccc>`: xDSL's attribute lacks the SPIR-V conventions."""

    name = "llvm.cconv"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_identifier()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class MemoryEffectsAttr(Data[str]):
    """`#llvm.memory_effects<...>`: none, or how a function accesses what its arguments point to, read or write."""

    name = "llvm.memory_effects"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        parser.raise_error("memory effects are only printed")

    def print_parameter(self, printer: Printer) -> None:
        effects = (f"{place} = {self.data if place == _OF_ARGUMENTS else 'none'}" for place in _PLACES)
        printer.print_string(f"<{', '.join(effects)}>")


_OF_ARGUMENTS = "argMem"
_PLACES = ("other", _OF_ARGUMENTS, "inaccessibleMem", "errnoMem", "targetMem0", "targetMem1")
_DEVICE = CallingConventionAttr("spir_funccc")
_CALL = {
    "CConv": _DEVICE,
    "fastmathFlags": FastMathAttr("none"),
    "TailCallKind": TailCallKindAttr(TailCallKind.NONE),
    "op_bundle_sizes": dense(i32, ()),
}
"""Properties that every call of a device function has."""


@irdl_op_definition
class DeviceFuncOp(IRDLOperation):
    """Declaration of a device function that computes a value and has no memory effects, or has effects and no value.

    `convergent`: all work-items of a sub-group take part. `accesses`: it only reads or writes what arguments point to.
    """

    name = "llvm.func"
    sym_name = prop_def(StringAttr)
    function_type = prop_def(LLVMFunctionType)
    linkage = prop_def(LinkageAttr)
    CConv = prop_def(CallingConventionAttr)
    convergent = opt_prop_def(UnitAttr)
    no_unwind = opt_prop_def(UnitAttr)
    will_return = opt_prop_def(UnitAttr)
    memory_effects = opt_prop_def(MemoryEffectsAttr)
    body = region_def()
    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        symbol: str,
        arguments: Sequence[Attribute],
        result: Attribute | None,
        *,
        convergent: bool = False,
        accesses: str | None = None,
    ) -> None:
        effects = accesses or (None if result is None else "none")
        super().__init__(
            properties={
                "sym_name": StringAttr(symbol),
                "function_type": LLVMFunctionType(arguments, result),
                "linkage": LinkageAttr("external"),
                "CConv": _DEVICE,
                "convergent": UnitAttr() if convergent else None,
                "no_unwind": UnitAttr(),
                "will_return": None if effects is None else UnitAttr(),
                "memory_effects": None if effects is None else MemoryEffectsAttr(effects),
            },
            regions=[Region()],
        )


@irdl_op_definition
class DeviceCallOp(IRDLOperation):
    """Call of a device function."""

    name = "llvm.call"
    args = var_operand_def()
    op_bundle_operands = var_operand_def()
    callee = prop_def(SymbolRefAttr)
    CConv = prop_def(CallingConventionAttr)
    fastmathFlags = prop_def(FastMathAttr)
    TailCallKind = prop_def(TailCallKindAttr)
    op_bundle_sizes = prop_def(DenseArrayBase)
    returned = opt_result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, symbol: str, arguments: Sequence[SSAValue], result: Attribute | None) -> None:
        properties = {
            "callee": symbol_reference(symbol),
            "operandSegmentSizes": dense(i32, (len(arguments), 0)),
            **_CALL,
        }
        initialise(self, arguments, () if result is None else (result,), properties)


class ShuffleCallOp(DeviceCallOp):
    """Call of Intel's built-in by which the lanes of a sub-group exchange vectors; gpu.shuffle takes scalars alone."""


class ExchangeOp(DeviceCallOp):
    """Compound: lanes exchange bits of the lane with bits of the register, among registers of chunks.

    Operands: the register of each place, the chunks, and for each step which lanes have the bit, and the two bits.
    """


class LoadEachOp(DeviceCallOp):
    """Compound: loads of the elements of a chunk, each at its own pointer.

    Operands: a pointer, and chunks of offsets.
    """

    @property
    def ptr(self) -> SSAValue:
        """Return the pointer that offsets are from."""
        return self.operands[0]

    @property
    def offsets(self) -> Sequence[SSAValue]:
        """Return chunks of offsets in elements; those of a register are added."""
        return tuple(self.operands)[1:]


class StoreEachOp(DeviceCallOp):
    """Compound: stores of the elements of a chunk, each at its own pointer, where all conditions are true.

    Operands: the chunk, a pointer, chunks of offsets, and conditions, each of one register or of all.
    """

    @property
    def ptr(self) -> SSAValue:
        """Return the pointer that offsets are from."""
        return self.operands[1]

    @property
    def offsets(self) -> Sequence[SSAValue]:
        """Return chunks of offsets in elements; those of a register are added."""
        return [operand for operand in tuple(self.operands)[2:] if not _is_condition(operand.type)]


def _is_condition(type_: Attribute) -> bool:
    return (type_.element_type if isinstance(type_, VectorType) else type_) == i1
