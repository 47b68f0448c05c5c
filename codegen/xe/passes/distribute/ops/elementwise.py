"""Element-wise operations: arith, math and the like on vectors, one per block."""

from collections.abc import Sequence

from xdsl.ir import Operation

from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    shape_of,
    stated,
)
from codegen.xe.passes.distribute.work import (
    Work,
    part_type,
    plain_attributes,
)


def is_elementwise(op: Operation) -> bool:
    """True if an operation works element by element."""
    dialect = op.name.partition(".")[0]
    return (dialect in ("arith", "math") and bool(op.operands)) or op.name == "vector.fma"


def _derive(op: Operation, known: Known) -> Layout | None:
    for result in op.results:
        shape = shape_of(result)
        said = stated(op, "layout_result_0", shape) if shape is not None else None
        if said is not None:
            return said
    return next((known[operand] for operand in op.operands if operand in known), None)


def _operands(op: Operation, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    return [layout if shape_of(operand) is not None else None for operand in op.operands]


def _lower(op: Operation, work: Work) -> None:
    layout = work.layout(op.results[0])
    results: list[Operation] = []
    for block in range(len(work.blocks(op.results[0]))):
        operands = [work.parts[o][block] if o in work.parts else o for o in op.operands]
        types = [part_type(result, layout.data) for result in op.results]
        properties, attributes = dict(op.properties), plain_attributes(op)
        results.append(
            work.insert(
                type(op).create(operands=operands, result_types=types, properties=properties, attributes=attributes)
            )
        )
    work.replace(op, *([part.results[i] for part in results] for i in range(len(op.results))))


ELEMENTWISE = Rule(_lower, derive=_derive, operands=_operands, recomputed=True)
