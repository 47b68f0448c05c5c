"""Functions that kernels call."""

import re
from functools import lru_cache

from codegen.simulate.functions.block_io import block_io
from codegen.simulate.functions.block_shape import (
    BlockShape,
    block_shape,
)
from codegen.simulate.functions.call import Call
from codegen.simulate.functions.dpas import (
    MAD_NAME,
    dpas,
)
from codegen.simulate.functions.exchange import EXCHANGE
from codegen.simulate.functions.linear_block_io import (
    LINEAR_NAME,
    linear_block_io,
)
from codegen.simulate.functions.math_functions import math_function
from codegen.simulate.functions.work_items import WORK_ITEM
from codegen.simulate.instructions.reductions import reduce_vector
from codegen.simulate.llvm_ir.mangling import unmangled
from codegen.simulate.values import Array

_INTRINSIC = re.compile(r"llvm\.(?P<name>[a-z0-9]+(?:\.[a-z]+)*?)(?:\.(?:v\d+)?(?:bf|[fip])\d+.*)?")

# Calls without effect in the simulator: a fence orders accesses that execute in order anyway.
_NOTHING = frozenset(
    (
        *("llvm.assume", "llvm.lifetime.start", "llvm.lifetime.end", "llvm.experimental.noalias.scope.decl"),
        *("prefetch", "atomic_work_item_fence", "mem_fence", "read_mem_fence", "write_mem_fence"),
        *("sub_group_barrier", "__spirv_MemoryBarrier", "__spirv_ControlBarrier"),
    )
)
# They give their first argument back. What addresses a prefetch changes nothing either.
_PASSING_ON = frozenset(
    (
        *("llvm.ptr.annotation", "llvm.annotation", "llvm.launder.invariant.group", "llvm.expect"),
        "__builtin_IB_subgroup_createBlock2DAddressPayload",
    )
)
_NAMES = 1024  # of functions, whose meaning is looked up once
_OF_PAYLOADS = ("__builtin_IB_subgroup_setBlock2DAddressPayload", "__builtin_IB_subgroup_block_read_ap_prefetch_")


def call_builtin(call: Call) -> Array | None:
    """Return the result of a call, None if it has none.

    Raises:
        SimulationRefused: a function that is not known, or arguments that its definition excludes.
    """
    symbol = call.instruction.detail
    name, intrinsic = _named(symbol)
    if name in _NOTHING or name.startswith(_OF_PAYLOADS):
        return None
    if name in _PASSING_ON:
        return call.operands[0]
    if name in WORK_ITEM:
        return WORK_ITEM[name](call)
    if (of_subgroup := _of_subgroup(call, name)) is not None:
        return of_subgroup.result
    if name in ("llvm.memcpy", "llvm.memmove", "llvm.memset"):
        _copy(call, fill=name == "llvm.memset")
        return None
    if intrinsic.startswith("vector.reduce."):
        return reduce_vector(call, intrinsic.removeprefix("vector.reduce."))
    if (function := math_function(call, intrinsic)) is not None:
        return function(*call.operands)
    raise call.refuse(f"function {symbol} is not known")


@lru_cache(_NAMES)
def _named(symbol: str) -> tuple[str, str]:
    """Return the name of a function without its types, and that of an intrinsic, else an empty one."""
    m = _INTRINSIC.fullmatch(symbol)
    return (f"llvm.{m['name']}", m["name"]) if m else (unmangled(symbol), "")


class _Done:
    """Result of a function that a whole sub-group runs together."""

    def __init__(self, result: Array | None) -> None:
        self.result = result


def _of_subgroup(call: Call, name: str) -> _Done | None:
    mad, shape, linear = _known(name)
    if mad is None and shape is None and linear is None and name not in EXCHANGE:
        return None
    call.check_whole()
    if mad is not None:
        return _Done(dpas(call, mad["a"], mad["b"], int(mad["k"])))
    if shape is not None:
        block_io(call, shape)
        return _Done(None)
    if linear is not None:
        return _Done(linear_block_io(call, linear["action"], linear["element"] or "ui"))
    return _Done(EXCHANGE[name](call))


@lru_cache(_NAMES)
def _known(name: str) -> tuple[re.Match[str] | None, BlockShape | None, re.Match[str] | None]:
    return MAD_NAME.fullmatch(name), block_shape(name), LINEAR_NAME.fullmatch(name)


def _copy(call: Call, fill: bool) -> None:
    length = call.instruction.operands[2]
    if not length.is_constant:
        raise call.refuse("a copy of a length known only at run time")
    nbytes = int(length.constant[0] or 0)
    if not nbytes:
        return
    if fill:
        values = call.operands[1][..., None].view("u1").repeat(nbytes, axis=-1)
    else:
        values = call.memory.load(call.operands[1], nbytes, call.subgroups, call.where)
    call.memory.store(call.operands[0], values, call.subgroups, call.where)
