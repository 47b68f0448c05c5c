"""Instructions on values that differ between lanes: scalars as rows, vectors by functions on their arrays."""

from collections import Counter

from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.elements import Form
from codegen.emulate.rows.row_moves import COPY, join, split
from codegen.emulate.rows.rows import (
    Lines,
    computed,
    constant_row,
    row_type,
)
from codegen.emulate.writer import Writer, local_value
from codegen.simulate.llvm_ir.ir import (
    Function,
    Instruction,
    Operand,
)


def apply(w: Writer, i: Instruction, form: Form) -> None:
    """Compute a result element by element."""
    if not i.type.count:
        w.set_row(i, form(w, w.functions, i, [w.row(o) for o in i.operands]))
        return
    parameters = ["ptr %to"]
    arguments = [f"ptr {(target := w.target(i))}"]
    for number, o in enumerate(i.operands):
        if o.is_constant or o.symbol:
            continue
        kind, value = _passed(w, o)
        parameters.append(f"{kind} %p{number}")
        arguments.append(f"{kind} {value}")
    body = _body(w, i, form)
    text = f"""
define internal spir_func void @NAME({", ".join(parameters)}) noinline nounwind {{
entry:
{body}
  ret void
}}
"""
    name = w.functions.unnamed(i.opcode, text)
    w.do(f"call spir_func void @{name}({', '.join(arguments)})")
    w.written(i, target)


def _passed(w: Writer, o: Operand) -> tuple[str, str]:
    """Return the type and value of an argument: an array, a row of all elements, or a uniform value."""
    if w.lanes.differs(o):
        return "ptr", w.whole(o)
    if o.type.element == "ptr":
        return "ptr", w.whole(o)
    return str(o.type), local_value(o)


def _body(w: Writer, i: Instruction, form: Form) -> str:
    lines = Lines("r")
    for at in range(i.type.count):
        rows = [_element(lines, w, o, number, at) for number, o in enumerate(i.operands)]
        lines.store_row(i.type.element, form(lines, w.functions, i, rows), "%to", at)
    return "\n".join(lines.lines)


def _element(lines: Lines, w: Writer, o: Operand, number: int, at: int) -> str:
    at = at if o.type.count else 0
    if o.is_constant:
        return constant_row(o, at)
    if o.symbol:
        return w.row(o)
    if w.lanes.differs(o) or o.type.element == "ptr":
        return lines.load_row(o.type.element, f"%p{number}", at)
    scalar = f"%p{number}"
    if o.type.count:
        scalar = lines.line(f"extractelement {o.type} {scalar}, i64 {at}")
    return lines.splat(o.type.element, scalar)


def single_uses(function: Function) -> frozenset[str]:
    """Return the results of insertelement that only one other insertelement of the same block uses."""
    uses: Counter[str] = Counter()
    inserted: set[str] = set()
    for block in function.blocks:
        here = {i.result for i in block.body if i.opcode == "insertelement"}
        inserted |= {i.operands[0].local for i in block.body if i.opcode == "insertelement"} & here
        for i in (*block.phis, *block.body):
            uses.update(o.local for o in i.operands)
    return frozenset(name for name in inserted if uses[name] == 1)


def insert(w: Writer, i: Instruction, in_place: frozenset[str]) -> None:
    """Replace an element of a vector, in place if nothing else uses it."""
    vector, element, at = i.operands[0], i.operands[1], _constant_index(i, 2)
    if vector.local in in_place and w.lanes.differs(vector) and w.may_alias(i):
        target = w.array(vector.local, vector.type)
        w.alias(i.result, target)
    else:
        target = w.target(i)
        if w.lanes.differs(vector):
            w.copy(target, w.whole(vector), i.type)
        else:
            for other in range(i.type.count):
                if other != at and not (vector.is_constant and vector.constant[other] is None):
                    w.store_row(i.type.element, w.row(vector, other), target, other)
    w.store_row(i.type.element, w.row(element), target, at)
    w.written(i, target)


def extract(w: Writer, i: Instruction) -> None:
    """Return an element of a vector."""
    w.set_row(i, w.row(i.operands[0], _constant_index(i, 1)))


def shuffle(w: Writer, i: Instruction) -> None:
    """Shuffle elements of two vectors; contiguous elements of one vector stay in place."""
    count, mask = i.operands[0].type.count, i.operands[2].constant
    first = mask[0]
    if (
        first is not None
        and all(source is not None and int(source) == int(first) + at for at, source in enumerate(mask))
        and int(first) // count == (int(first) + len(mask) - 1) // count
        and w.lanes.differs(operand := i.operands[int(first) // count])
        and w.may_alias(i)
    ):
        at = int(first) % count
        row = f"<16 x {'i8' if i.type.element == 'i1' else computed(i.type.element)}>"
        w.alias(i.result, w.line(f"getelementptr {row}, ptr {w.whole(operand)}, i64 {at}"))
        return
    target = w.target(i)
    for at, source in enumerate(mask):
        if source is not None:
            which, element = divmod(int(source), count)
            w.store_row(i.type.element, w.row(i.operands[which], element), target, at)
    w.written(i, target)


def bitcast(w: Writer, i: Instruction) -> None:
    """Reinterpret bits as another type, of elements of the same size or of another one."""
    source, to = i.operands[0].type, i.type
    if "i1" in (source.element, to.element):
        raise not_emulated("a reinterpretation of truth values", i.text)
    if not source.count and not to.count:
        if computed(source.element) == computed(to.element):
            w.set_row(i, w.row(i.operands[0]))
        else:
            row = w.row(i.operands[0])
            w.set_row(i, w.line(f"bitcast {row_type(source.element)} {row} to {row_type(to.element)}"))
        return
    array = w.whole(i.operands[0])
    if source.dtype.itemsize == to.dtype.itemsize and w.may_alias(i):
        w.alias(i.result, array)
        return
    target = w.target(i)
    resize(w, target, array, source.dtype.itemsize, to.dtype.itemsize, to.nbytes)
    w.written(i, target)


def resize(w: Writer, to: str, source: str, from_bytes: int, to_bytes: int, nbytes: int) -> None:
    """Copy `nbytes` of each lane from elements of one size to those of another."""
    if from_bytes == to_bytes:
        (name, text), rows = COPY, nbytes
    elif from_bytes < to_bytes:
        (name, text), rows = join(from_bytes * 8, to_bytes * 8), nbytes // to_bytes
    else:
        (name, text), rows = split(from_bytes * 8, to_bytes * 8), nbytes // from_bytes
    w.functions.define(name, text)
    w.do(f"call spir_func void @{name}(ptr {to}, ptr {source}, i32 {rows})")


def _constant_index(i: Instruction, operand: int) -> int:
    constant = i.operands[operand].constant
    if not constant or constant[0] is None:
        raise not_emulated("an element whose place is not constant", i.text)
    return int(constant[0])
