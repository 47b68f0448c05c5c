"""The operations of MLIR's xevm dialect that lane-level code uses.

MLIR verifies their shapes.
"""

from dataclasses import dataclass
from enum import auto
from functools import cache

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, VectorType, i32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Data, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.str_enum import StrEnum

from codegen.xe.dialects.cache_hint import CachePolicy
from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.interned import integer


class _Word(Data[str]):
    """Base of the attributes that are one word."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_identifier()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class LoadCacheControlAttr(_Word):
    """Cache control of a load or a prefetch: `#xevm.load_cache_control<L1c_L2uc_L3c>`."""

    name = "xevm.load_cache_control"


@irdl_attr_definition
class StoreCacheControlAttr(_Word):
    """Cache control of a store: `#xevm.store_cache_control<L1wb_L2uc_L3wb>`."""

    name = "xevm.store_cache_control"


class AddrSpace(StrEnum):
    """An address space whose accesses a fence orders."""

    GLOBAL = auto()
    SHARED = auto()


class MemScope(StrEnum):
    """Scope in which a fence orders accesses."""

    WORKGROUP = auto()
    DEVICE = auto()


@irdl_attr_definition
class AddrSpaceAttr(_Word):
    """`#xevm.addr_space<global>`."""

    name = "xevm.addr_space"


@irdl_attr_definition
class MemScopeAttr(_Word):
    """`#xevm.mem_scope<device>`."""

    name = "xevm.mem_scope"


@dataclass(frozen=True, slots=True)
class BlockMessage:
    """Shape of a 2-D block message: element bits, block size, adjacent blocks, and rearrangement."""

    bits: int
    rows: int
    columns: int
    count: int = 1
    transpose: bool = False
    transform: bool = False


@irdl_attr_definition
class MmaShapeAttr(Data[tuple[int, int, int]]):
    """`#xevm.mma_shape<m = 8, n = 16, k = 16>`."""

    name = "xevm.mma_shape"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int, int]:
        m, n, k = (int(v) for v in _parse_fields(parser, "mnk"))
        return m, n, k

    def print_parameter(self, printer: Printer) -> None:
        m, n, k = self.data
        printer.print_string(f"<m = {m}, n = {n}, k = {k}>")


@irdl_attr_definition
class MmaTypesAttr(Data[tuple[str, str, str, str]]):
    """`#xevm.mma_types<d = f32, a = f16, b = f16, c = f32>`."""

    name = "xevm.mma_types"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, str, str, str]:
        d, a, b, c = _parse_fields(parser, "dabc")
        return d, a, b, c

    def print_parameter(self, printer: Printer) -> None:
        d, a, b, c = self.data
        printer.print_string(f"<d = {d}, a = {a}, b = {b}, c = {c}>")


def _parse_fields(parser: AttrParser, names: str) -> list[str]:
    values: list[str] = []
    with parser.in_angle_brackets():
        for number, name in enumerate(names):
            if number:
                parser.parse_punctuation(",")
            parser.parse_keyword(name)
            parser.parse_punctuation("=")
            integer = parser.parse_optional_integer()
            values.append(parser.parse_identifier() if integer is None else str(integer))
    return values


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Position of a block message: base pointer; width, height and pitch of the surface in bytes; column and row."""

    pointer: SSAValue
    width: SSAValue
    height: SSAValue
    pitch: SSAValue
    x: SSAValue
    y: SSAValue

    def operands(self) -> list[SSAValue]:
        """Return the operands of a message."""
        return [self.pointer, self.width, self.height, self.pitch, self.x, self.y]


def _shape(message: BlockMessage) -> dict[str, Attribute]:
    numbers = {
        "elem_size_in_bits": message.bits,
        "tile_width": message.columns,
        "tile_height": message.rows,
    }
    return {key: integer(number, i32) for key, number in numbers.items()}


_bool = cache(BoolAttr.from_bool)
_mma_shape = cache(MmaShapeAttr)
_mma_types = cache(MmaTypesAttr)


@irdl_op_definition
class BlockLoad2dOp(IRDLOperation):
    """Read a block; its elements are distributed over the lanes."""

    name = "xevm.blockload2d"
    ptr = operand_def(LLVMPointerType)
    base_width = operand_def(i32)
    base_height = operand_def(i32)
    base_pitch = operand_def(i32)
    x = operand_def(i32)
    y = operand_def(i32)
    elem_size_in_bits = prop_def(IntegerAttr)
    tile_width = prop_def(IntegerAttr)
    tile_height = prop_def(IntegerAttr)
    v_blocks = prop_def(IntegerAttr)
    transpose = prop_def(BoolAttr)
    pack_register = prop_def(BoolAttr)
    cache_control = opt_prop_def(LoadCacheControlAttr)
    res = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self, place: BlockPlace, message: BlockMessage, result: VectorType, cache: LoadCacheControlAttr | None
    ) -> None:
        rest = {
            "v_blocks": integer(message.count, i32),
            "transpose": _bool(message.transpose),
            "pack_register": _bool(message.transform),
            "cache_control": cache,
        }
        initialise(self, place.operands(), (result,), _shape(message) | rest)


@irdl_op_definition
class BlockStore2dOp(IRDLOperation):
    """Write a block."""

    name = "xevm.blockstore2d"
    ptr = operand_def(LLVMPointerType)
    base_width = operand_def(i32)
    base_height = operand_def(i32)
    base_pitch = operand_def(i32)
    x = operand_def(i32)
    y = operand_def(i32)
    stored_val = operand_def(VectorType)
    elem_size_in_bits = prop_def(IntegerAttr)
    tile_width = prop_def(IntegerAttr)
    tile_height = prop_def(IntegerAttr)
    cache_control = opt_prop_def(StoreCacheControlAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self, place: BlockPlace, message: BlockMessage, value: SSAValue, cache: StoreCacheControlAttr | None
    ) -> None:
        initialise(self, (*place.operands(), value), properties=_shape(message) | {"cache_control": cache})


@irdl_op_definition
class BlockPrefetch2dOp(IRDLOperation):
    """Prefetch a block into caches."""

    name = "xevm.blockprefetch2d"
    ptr = operand_def(LLVMPointerType)
    base_width = operand_def(i32)
    base_height = operand_def(i32)
    base_pitch = operand_def(i32)
    x = operand_def(i32)
    y = operand_def(i32)
    elem_size_in_bits = prop_def(IntegerAttr)
    tile_width = prop_def(IntegerAttr)
    tile_height = prop_def(IntegerAttr)
    v_blocks = prop_def(IntegerAttr)
    cache_control = opt_prop_def(LoadCacheControlAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, place: BlockPlace, message: BlockMessage, cache: LoadCacheControlAttr | None) -> None:
        rest = {"v_blocks": integer(message.count, i32), "cache_control": cache}
        initialise(self, place.operands(), properties=_shape(message) | rest)


@irdl_op_definition
class MmaOp(IRDLOperation):
    """`d = a @ b + c`, one DPAS instruction."""

    name = "xevm.mma"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = operand_def(VectorType)
    shape = prop_def(MmaShapeAttr)
    types = prop_def(MmaTypesAttr)
    d = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(
        self, a: SSAValue, b: SSAValue, c: SSAValue, shape: tuple[int, int, int], types: tuple[str, str, str, str]
    ) -> None:
        initialise(self, (a, b, c), (c.type,), {"shape": _mma_shape(shape), "types": _mma_types(types)})


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Prefetch the data at a pointer into caches."""

    name = "xevm.prefetch"
    ptr = operand_def(LLVMPointerType)
    cache_control = opt_prop_def(LoadCacheControlAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, pointer: SSAValue, cache: LoadCacheControlAttr | None) -> None:
        initialise(self, (pointer,), properties={"cache_control": cache})


@irdl_op_definition
class MemfenceOp(IRDLOperation):
    """Order the accesses to an address space before and after it."""

    name = "xevm.memfence"
    addrspace = prop_def(AddrSpaceAttr)
    scope = prop_def(MemScopeAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, space: AddrSpace, scope: MemScope) -> None:
        super().__init__(properties={"addrspace": AddrSpaceAttr(str(space)), "scope": MemScopeAttr(str(scope))})


_LOAD: dict[CachePolicy | None, str] = {
    CachePolicy.CACHED: "c",
    CachePolicy.UNCACHED: "uc",
    CachePolicy.STREAMING: "s",
}
_STORE: dict[CachePolicy | None, str] = {
    CachePolicy.UNCACHED: "uc",
    CachePolicy.STREAMING: "s",
    CachePolicy.WRITE_BACK: "wb",
    CachePolicy.CACHED: "wb",
    CachePolicy.WRITE_THROUGH: "wt",
}


@cache
def load_cache_control(hints: tuple[CachePolicy | None, ...]) -> LoadCacheControlAttr | None:
    """Return the cache control of a load with hints for L1, L2 and L3; None without hints.

    The devices have two levels: the second uses the hint for L3, or else that for L2.
    """
    if CachePolicy.READ_INVALIDATE in hints:
        return LoadCacheControlAttr("ir")
    near, far = _levels(hints)
    if near is None and far is None:
        return None
    return LoadCacheControlAttr(f"L1{_LOAD.get(near, 'uc')}_L2uc_L3{'c' if far is CachePolicy.CACHED else 'uc'}")


@cache
def store_cache_control(hints: tuple[CachePolicy | None, ...]) -> StoreCacheControlAttr | None:
    """Return the cache control of a store with hints for L1, L2 and L3; None without hints."""
    near, far = _levels(hints)
    if near is None and far is None:
        return None
    second = "uc" if far in (None, CachePolicy.UNCACHED) else "wb"
    return StoreCacheControlAttr(f"L1{_STORE.get(near, 'uc')}_L2uc_L3{second}")


def _levels(hints: tuple[CachePolicy | None, ...]) -> tuple[CachePolicy | None, CachePolicy | None]:
    near, middle, far = hints
    return near, far if far is not None else middle
