"""Scales and zero points of a panel of weights, made ready for a span of K over which they hold.

Ready is, for each line of the panel, f32: the scales of all lines, then their zero points; or, of codes of 4 bits along
K, a table of what the 16 codes are.
"""

from codegen.cpu.emit.elements import stored
from codegen.cpu.emit.weights import TABLE_BYTES, Weights
from codegen.cpu.emit.writer import Function, Module, Typed, Value
from codegen.cpu.nest.plan import GROUP_BYTES, LINE
from codegen.cpu.pack.packer import PARAMETERS, Packer
from codegen.problem.quantization import Quantization

_FLOAT_BYTES = 4


def span_name(p: Packer) -> str:
    """Return the name of the function that packs a panel, or its part over which scales hold."""
    return f"{p.name}_span" if p.scales else p.name


def ready_parameter(p: Packer) -> list[tuple[str, str]]:
    """Return the parameter that holds what is ready, if weights have scales."""
    return [("ptr", "%ready")] if p.scales else []


def padded_depth(f: Function, p: Packer) -> Value:
    """Return the depth of a panel that holds `%depth` elements along K."""
    unit = p.plan.depth_unit
    return f.mul(f.div(f.add("%depth", unit - 1), unit), unit)


def of_line(p: Packer, line: int) -> int:
    """Return the offset in bytes of a line in what is ready."""
    return line * (TABLE_BYTES if p.looks_up else _FLOAT_BYTES)


def table_of(f: Function, p: Packer, ready: str) -> list[str]:
    """Load the table of a line."""
    weights = Weights(f, p.plan)
    each = TABLE_BYTES // weights.table_parts
    return [f.load(weights.table_kind, f.at(ready, part * each), each) for part in range(weights.table_parts)]


def scales_of_lines(f: Function, p: Packer, ready: str) -> tuple[str, str]:
    """Load the scales and zero points of a vector of lines; "" where there are no zero points."""
    kind = Weights(f, p.plan).floats
    scale = f.load(kind, ready, _FLOAT_BYTES)
    return scale, f.load(kind, f.at(ready, p.lines * _FLOAT_BYTES), _FLOAT_BYTES) if p.has_zeros else ""


def scale_of_line(f: Function, p: Packer, ready: str) -> tuple[str, str]:
    """Load the scale and the zero point of one line into all lanes; "" where there is no zero point."""
    elements = Weights(f, p.plan).elements
    scale = elements.same("float", f.load("float", ready, _FLOAT_BYTES))
    if not p.has_zeros:
        return scale, ""
    return scale, elements.same("float", f.load("float", f.at(ready, p.lines * _FLOAT_BYTES), _FLOAT_BYTES))


def scale_parameters(p: Packer) -> list[tuple[str, str]]:
    """Return the parameters of a panel's packer beside those of any operand: scales from the first line on, and K."""
    zeros = [("ptr", "%zeros")] if p.has_zeros else []
    return [("ptr", "%scales"), *zeros, ("i64", "%k")] if p.scales else []


def write_spans(module: Module, p: Packer) -> None:
    """Write `@name(ptr source, ptr panel, i64 lines, i64 depth, ptr scales, [ptr zeros,] i64 k)`.

    It packs a panel whose first element along K is number `k` of the matrix, one group of K after another.
    """
    quantization = p.plan.problem.quantization
    assert quantization is not None, "weights have scales"
    with module.function(p.name, [*PARAMETERS, *scale_parameters(p)]) as f:
        raw = f.op(f"alloca [{p.lines * _FLOAT_BYTES} x i8], align {LINE}")
        ready = f.op(f"alloca [{p.lines * (TABLE_BYTES if p.looks_up else 2 * _FLOAT_BYTES)} x i8], align {LINE}")
        floats = f.op(f"alloca [{p.lines * 2 * _FLOAT_BYTES} x i8], align {LINE}") if p.looks_up else ready
        if quantization.group is None:
            _write_ready(f, p, quantization, 0, raw, floats, ready)
            f.call("void", span_name(p), [*PARAMETERS, ("ptr", ready), ("i64", padded_depth(f, p))])
            return
        group = quantization.group
        first, end = f.div("%k", group), f.div(f.add(f.add("%k", "%depth"), group - 1), group)
        with f.loop(first, end, enters=True) as loop:
            _write_ready(f, p, quantization, loop.index, raw, floats, ready)
            start = f.sub(f.mul(loop.index, group), "%k")
            low, high = f.max(start, 0), f.min(f.add(start, group), "%depth")
            source = f.at("%source", p.offset(f, low))
            panel = f.at("%panel", f.mul(f.div(low, p.group), p.panel_lines * GROUP_BYTES))
            span: list[Typed] = [("ptr", source), ("ptr", panel), ("i64", "%lines"), ("i64", f.sub(high, low))]
            # Only the last span is padded: groups need not be whole units.
            ends = f.compare("eq", high, "%depth")
            rest = f.sub(padded_depth(f, p), low)
            padded = f.op(f"select i1 {ends}, i64 {rest}, i64 {f.sub(high, low)}")
            f.call("void", span_name(p), [*span, ("ptr", ready), ("i64", padded)])


def _write_ready(f: Function, p: Packer, q: Quantization, group: Value, raw: str, floats: str, ready: str) -> None:
    """Convert the scales and zero points of all lines in a group."""
    weights, columns = Weights(f, p.plan), p.plan.problem.columns_b
    kinds = [("%scales", q.scale.nbytes, stored(q.scale), f.mul(group, columns), 0)]
    if p.has_zeros:
        dtype = p.dtype
        row = f.mul(f.div(group, dtype.packed), columns)
        kinds.append(("%zeros", dtype.nbytes, f"i{8 * dtype.nbytes}", row, p.lines * _FLOAT_BYTES))
    for pointer, nbytes, kind, row, to in kinds:
        here = f.at(pointer, f.mul(row, nbytes))
        vector = f"<{p.lanes} x {kind}>"
        for first in range(0, p.lines, p.lanes):
            source = _readable(f, p, f.at(here, first * nbytes), raw, nbytes, first)
            loaded = f.load(vector, source, nbytes)
            value = weights.zero(loaded, group) if to else weights.scale(loaded, q.scale)
            f.store(weights.floats, value, f.at(floats, to + first * _FLOAT_BYTES), _FLOAT_BYTES)
    if p.looks_up:
        _write_tables(f, p, floats, ready)


def _readable(f: Function, p: Packer, source: str, raw: str, nbytes: int, first: int) -> str:
    """Return an address from which a whole vector can be read: a copy where the matrix ends before."""
    left = f.sub("%lines", first)
    enough = f.compare("sge", left, p.lanes)
    kind = f"i{8 * nbytes}"
    with f.when(f.op(f"xor i1 {enough}, true")):
        f.store(f"<{p.lanes} x {kind}>", "zeroinitializer", raw, nbytes)
        with f.loop(0, left) as line:
            offset = f.mul(line.index, nbytes)
            f.store(kind, f.load(kind, f.at(source, offset), nbytes), f.at(raw, offset), nbytes)
    return f.op(f"select i1 {enough}, ptr {source}, ptr {raw}")


def _write_tables(f: Function, p: Packer, floats: str, ready: str) -> None:
    weights = Weights(f, p.plan)
    with f.loop(0, p.lines) as line:
        scale, zero = scale_of_line(f, p, f.at(floats, f.mul(line.index, _FLOAT_BYTES)))
        for part, table in enumerate(weights.table(scale, zero)):
            place = f.add(f.mul(line.index, TABLE_BYTES), part * TABLE_BYTES // weights.table_parts)
            f.store(weights.table_kind, table, f.at(ready, place), TABLE_BYTES // weights.table_parts)
