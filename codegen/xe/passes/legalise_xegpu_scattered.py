"""Scattered descriptors to what they stand for: accesses to a base at a vector of offsets."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.index_list import index
from codegen.xe.dialects.upstream.vector_ops import (
    FromElementsOp,
    TransposeOp,
)
from codegen.xe.dialects.xegpu import (
    AtomicRmwOp,
    CreateTdescOp,
    DistributeLayout,
    LoadOp,
    PrefetchOp,
    SliceAttr,
    StoreOp,
    TensorDescType,
    UpdateOffsetOp,
)
from codegen.xe.dialects.xegpu.types import bits
from codegen.xe.passes.fold_offsets import (
    Place,
    Placed,
    as_value,
    fold_places,
)

RESULT_LAYOUT = "layout_result_0"
"""The attribute by which an operation that has no layout of its own says that of its result."""


class PlacedElements(Placed):
    """Scattered descriptors, which create_tdesc makes and update_offset moves."""

    flag = "legalise-xegpu"
    noun = "descriptor"
    makers = "create_tdesc, update_offset"

    def holds(self, type_: Attribute) -> bool:
        return isinstance(type_, TensorDescType) and type_.scatter is not None

    def place(self, op: Operation) -> Place | None:
        return (op.offsets,) if isinstance(op, CreateTdescOp) and op.offsets is not None else None

    def move(self, op: Operation, rank: int) -> tuple[SSAValue, Place] | None:
        return (op.desc, (op.offsets,)) if isinstance(op, UpdateOffsetOp) else None

    def matches(self, one: Operation, other: Operation) -> bool:
        if not isinstance(one, CreateTdescOp) or not isinstance(other, CreateTdescOp):
            return False
        return (one.source, one.result.type) == (other.source, other.result.type)

    def at(self, op: Operation, place: Place) -> Operation:
        (offsets,) = place
        assert isinstance(op, CreateTdescOp)
        assert isinstance(offsets, SSAValue)
        return CreateTdescOp(op.source, offsets, op.result.type)


def legalise_scattered(module: ModuleOp) -> None:
    """Apply the step.

    Raises:
        PassFailedException: an atomic update, or a descriptor of unknown origin.
    """
    for op in tuple(module.walk()):
        if isinstance(op, CreateTdescOp) and op.offsets is None:
            _offsets_to_vector(op)
    fold_places(module.body.block, PlacedElements())
    for op in tuple(module.walk()):
        if isinstance(op, AtomicRmwOp):
            raise PassFailedException(
                "legalise-xegpu: expected no atomic_rmw, as the pinned MLIR has no scattered descriptors "
                "and no other form of it, got one"
            )
        if isinstance(op, LoadOp | StoreOp | PrefetchOp):
            _legalise_access(op)
    for op in tuple(module.walk()):
        if isinstance(op, CreateTdescOp) and not op.result.uses:
            Rewriter.erase_op(op)


def _offsets_to_vector(op: CreateTdescOp) -> None:
    """A list of offsets as a vector."""
    offsets, where = op.offset_list, InsertPoint.before(op)
    vector = VectorType(index, (len(offsets),))
    numbers = [v for v in offsets if isinstance(v, int)]
    new = (
        arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(vector, numbers))
        if len(numbers) == len(offsets)
        else FromElementsOp([as_value(v, where) for v in offsets], vector)
    )
    Rewriter.insert_op(new, where)
    replacement = CreateTdescOp(op.source, new.results[0], op.result.type, op.attributes)
    replacement.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, replacement)


def _legalise_access(op: LoadOp | StoreOp | PrefetchOp) -> None:
    source = op.dest if isinstance(op, StoreOp) else op.source
    desc = source.type
    if not isinstance(desc, TensorDescType):
        return
    create = source.owner
    if not isinstance(create, CreateTdescOp) or create.offsets is None:
        made_by = create.name if isinstance(create, Operation) else "a block argument"
        raise PassFailedException(f"legalise-xegpu: expected a descriptor from create_tdesc, got one from {made_by}")
    assert desc.scatter is not None
    properties = {k: v for k, v in op.properties.items() if k not in {"transpose", "layout"}}
    layout = _layout(op, desc)
    if layout is not None:
        properties["layout"] = layout
    if isinstance(op, PrefetchOp):
        if not isinstance(create.source.type, MemRefType):
            properties["offset_align_byte"] = IntegerAttr(bits(desc.element_type) // 8, i64)
        Rewriter.replace_op(op, PrefetchOp(create.source, create.offsets, properties))
        return
    if desc.scatter.chunk_size > 1:
        properties["chunk_size"] = IntegerAttr(desc.scatter.chunk_size, i64)
    if isinstance(op, LoadOp):
        _replace_load(op, create, create.offsets, properties)
    else:
        _replace_store(op, create, create.offsets, properties)


def _replace_load(op: LoadOp, create: CreateTdescOp, offsets: SSAValue, properties: dict[str, Attribute]) -> None:
    desc = create.result.type
    _verify_whole(op.result.type, desc, op.transpose is not None)
    new = LoadOp(create.source, offsets, op.mask, desc.vector_type, properties)
    new.attributes = op.attributes
    steps: list[Operation] = [new]
    if op.transpose is not None:
        steps.append(_turned(new.result, new.layout))
    steps[-1].results[0].name_hint = op.result.name_hint
    Rewriter.replace_op(op, steps)


def _replace_store(op: StoreOp, create: CreateTdescOp, offsets: SSAValue, properties: dict[str, Attribute]) -> None:
    _verify_whole(op.value.type, create.result.type, op.transpose is not None)
    value = op.value
    if op.transpose is not None:
        turned = TransposeOp(value, (1, 0))
        if "layout" in properties:
            turned.attributes[RESULT_LAYOUT] = properties["layout"]
        Rewriter.insert_op(turned, InsertPoint.before(op))
        value = turned.result
    new = StoreOp(value, create.source, offsets, op.mask, properties)
    new.attributes = op.attributes
    Rewriter.replace_op(op, new)


def _layout(op: LoadOp | StoreOp | PrefetchOp, desc: TensorDescType) -> DistributeLayout | None:
    """The layout of what a descriptor has; an access that turns it may say that of the turned value."""
    if op.layout is None or isinstance(op, PrefetchOp) or op.transpose is None:
        return op.layout or desc.layout
    return _swapped(op.layout)


def _swapped(layout: DistributeLayout) -> DistributeLayout:
    if isinstance(layout, SliceAttr):
        raise PassFailedException(f"legalise-xegpu: expected a layout of chunks that are turned, got {layout}")
    return type(layout)(layout.data.permuted((1, 0)))


def _turned(value: SSAValue, layout: DistributeLayout | None) -> TransposeOp:
    turned = TransposeOp(value, (1, 0))
    if layout is not None:
        turned.attributes[RESULT_LAYOUT] = _swapped(layout)
    return turned


def _verify_whole(value: Attribute, desc: TensorDescType, transposed: bool) -> None:
    shape = desc.get_shape()[::-1] if transposed else desc.get_shape()
    whole = VectorType(desc.element_type, shape)
    if value != whole:
        raise PassFailedException(
            f"legalise-xegpu: expected {whole}, all that the descriptor has, got {value}, what a work-item holds"
        )
