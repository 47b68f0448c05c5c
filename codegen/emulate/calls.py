"""Functions that kernels call: their translations, and whether their results differ between lanes."""

import re
from enum import Enum, auto

from codegen.emulate.refusal import not_emulated
from codegen.simulate.functions.block_shape import block_shape
from codegen.simulate.functions.dpas import MAD_NAME
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.llvm_ir.mangling import unmangled
from codegen.xe.bf16_conversions import FROM_BITS, TO_BITS
from codegen.xe.nbarrier_intrinsics import SIGNAL, WAIT


class Kind(Enum):
    """Translation of a call."""

    GONE = auto()
    SAME = auto()  # gives its first argument back
    BARRIER = auto()
    BYTES = auto()  # sets or copies bytes
    BLOCK = auto()
    DPAS = auto()
    PLACE = auto()
    GROUP = auto()
    SIZE = auto()
    EXCHANGE = auto()
    REDUCTION = auto()
    MATH = auto()


_INTRINSIC = re.compile(r"llvm\.(?P<name>[a-z0-9]+(?:\.[a-z]+)*?)(?:\.(?:v\d+)?(?:bf|[fip])\d+.*)?")
_GONE = re.compile(
    r"llvm\.(assume|lifetime\.(start|end)|experimental\.noalias\.scope\.decl)|sub_group_barrier|prefetch"
    r"|intel_sub_group_2d_block_prefetch_\w+|__spirv_MemoryBarrier"
    r"|__builtin_IB_subgroup_(\w*Block2DAddressPayload\w*|block_read_ap_prefetch_\w*)"
)
_SAME = re.compile(r"llvm\.(ptr\.annotation|annotation|launder\.invariant\.group|expect)")
_SIZES = frozenset(
    (
        *("get_local_size", "get_enqueued_local_size", "get_global_size", "get_global_offset", "get_work_dim"),
        *("get_sub_group_size", "get_max_sub_group_size", "get_num_sub_groups", "get_enqueued_num_sub_groups"),
        "get_sub_group_id",
    )
)
_PLACES = frozenset(("get_sub_group_local_id", "get_local_id", "get_global_id", "get_local_linear_id"))
_GROUPS = frozenset(("get_group_id", "get_num_groups"))
_EXCHANGE = re.compile(r"(intel_)?sub_group_(broadcast|shuffle(_xor)?)|sub_group_shuffle_(up|down)")
_REDUCTION = re.compile(r"sub_group_(reduce|non_uniform_reduce|scan_inclusive)_(add|mul|min|max)")
_BARRIERS = frozenset(("barrier", "work_group_barrier"))
_BYTES = frozenset(("llvm.memset", "llvm.memcpy", "llvm.memmove"))


def name_of(i: Instruction) -> str:
    """Return the name of the called function, without types."""
    m = _INTRINSIC.fullmatch(i.detail)
    return f"llvm.{m['name']}" if m else unmangled(i.detail)


def kind_of(i: Instruction) -> Kind:
    """Return the translation of a call.

    Raises:
        CompileFailed: the function has no form for a CPU.
    """
    name = name_of(i)
    if name in (SIGNAL, WAIT):
        raise not_emulated("a named barrier, as work-items of a CPU meet at that of the work-group alone", i.text)
    named = ((_BARRIERS, Kind.BARRIER), (_PLACES, Kind.PLACE), (_GROUPS, Kind.GROUP), (_SIZES, Kind.SIZE))
    for names, kind in (*named, (_BYTES, Kind.BYTES)):
        if name in names:
            return kind
    patterns = ((_GONE, Kind.GONE), (_SAME, Kind.SAME), (_EXCHANGE, Kind.EXCHANGE), (_REDUCTION, Kind.REDUCTION))
    for pattern, kind in patterns:
        if pattern.fullmatch(name):
            return kind
    if MAD_NAME.fullmatch(name):
        return Kind.DPAS
    if block_shape(name) is not None:
        return Kind.BLOCK
    if i.type.element not in ("void", "ptr") and (name.startswith("llvm.") or name != i.detail):
        return Kind.MATH
    raise not_emulated(f"function {i.detail}", i.text)


def differs(i: Instruction, varying: set[str]) -> bool:
    """True if lanes get different results, where these values differ between them.

    Raises:
        CompileFailed: the function has no form for a CPU.
    """
    kind, name = kind_of(i), name_of(i)
    if kind is Kind.PLACE:
        return not i.operands or not i.operands[0].is_constant or i.operands[0].constant[0] == 0
    if kind is Kind.DPAS or name in (TO_BITS, FROM_BITS):  # a CPU converts rows alone
        return True
    if kind is Kind.EXCHANGE and name.endswith(("broadcast", "shuffle")):
        return i.operands[0].local in varying and i.operands[1].local in varying
    if kind is Kind.EXCHANGE:
        return i.operands[0].local in varying
    if kind is Kind.REDUCTION:
        return "scan" in name
    return kind in (Kind.SAME, Kind.MATH) and any(o.local in varying for o in i.operands)
