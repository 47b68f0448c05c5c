"""What is left: operands of dpas in words, numbers of barriers, and what the pinned MLIR would drop in silence."""

from math import prod

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, VectorType
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.cache_hint import (
    HINTS,
    CachePolicy,
    XeGPUCacheHint,
)
from codegen.xe.dialects.upstream.vector_ops import ShapeCastOp
from codegen.xe.dialects.xegpu import (
    AllocNbarrierOp,
    DpasOp,
    LoadNdOp,
    PrefetchNdOp,
    PrefetchOp,
    StoreNdOp,
    StoreOp,
)
from codegen.xe.dialects.xegpu.barrier import constant
from codegen.xe.dialects.xegpu.types import TensorDescType
from codegen.xe.dialects.xegpu.verify import (
    shape_of,
    short,
)


def legalise_values(module: ModuleOp) -> None:
    """Apply the step.

    Raises:
        PassFailedException: something that the pinned MLIR has no form for.
    """
    for op in tuple(module.walk()):
        if isinstance(op, DpasOp):
            _legalise_dpas(op)
        elif isinstance(op, LoadNdOp):
            _legalise_load(op)
        elif isinstance(op, AllocNbarrierOp):
            _legalise_alloc(op)
        elif isinstance(op, StoreNdOp | StoreOp):
            _drop_streaming(op)
            if isinstance(op, StoreNdOp):
                _verify_whole(op, op.value)
        if isinstance(op, StoreNdOp | StoreOp | PrefetchNdOp | PrefetchOp | LoadNdOp):
            op.attributes.pop("memory_space", None)  # the base says it


def _legalise_dpas(op: DpasOp) -> None:
    """A in words as the plain matrix it is; B may stay in words."""
    a, b, d = _shape(op.a), _shape(op.b), _shape(op.d)
    if len(a) == len(b) == len(d) == 2 and (a[1], a[0], b[1]) != (b[0], *d):
        units = f"{op.a.type}, {op.b.type}"
        raise PassFailedException(f"legalise-xegpu: expected dpas of whole matrices, got units of a work-item {units}")
    shape = _shape(op.a)
    if len(shape) != 3:
        return
    assert isinstance(op.a.type, VectorType)
    plain = ShapeCastOp(op.a, VectorType(op.a.type.element_type, (shape[0], shape[1] * shape[2])))
    Rewriter.insert_op(plain, InsertPoint.before(op))
    op.operands[0] = plain.result


def _legalise_load(op: LoadNdOp) -> None:
    padding = op.attributes.pop("padding", None)
    if isinstance(padding, FloatAttr | IntegerAttr) and padding.value.data != 0:
        raise PassFailedException(f"legalise-xegpu: expected padding 0, as the pinned MLIR pads, got {padding}")
    if op.transpose_bit_width is not None:
        raise PassFailedException("legalise-xegpu: expected transpose without transpose_bit_width, got one with it")
    _verify_whole(op, op.result)


def _verify_whole(op: LoadNdOp | StoreNdOp, value: SSAValue) -> None:
    """What a work-item holds is a vector of one dimension in MLIR, not the units of the RFC."""
    assert isinstance(op.desc.type, TensorDescType)
    if len(_shape(value)) == 2 and prod(_shape(value)) < prod(op.desc.type.get_shape()):
        units = f"units of a work-item {value.type}"
        raise PassFailedException(f"legalise-xegpu: expected {short(op)} of a whole block or a vector, got {units}")


def _shape(value: SSAValue) -> tuple[int, ...]:
    return shape_of(value.type)


def _legalise_alloc(op: AllocNbarrierOp) -> None:
    if op.count is None:
        return
    number = constant(op.count)
    if number is None:
        raise PassFailedException("legalise-xegpu: expected a known number of barriers in alloc_nbarrier, got a value")
    Rewriter.replace_op(op, AllocNbarrierOp(number, op.attributes))


def _drop_streaming(op: StoreNdOp | StoreOp) -> None:
    """The pinned MLIR has no streaming stores; a hint changes nothing but time."""
    for key in HINTS:
        hint = op.properties.get(key)
        if isinstance(hint, XeGPUCacheHint) and hint.data is CachePolicy.STREAMING:
            del op.properties[key]
