"""Copies of panels of A and B in the order in which the micro-kernel reads them, padded with zeros.

A panel is made of blocks, each by one of four ways: memory that is contiguous along K becomes lanes by a transposition
of 32-bit groups, memory that is contiguous across K by bringing the elements of a group together; rows of AMX tiles are
the other way round. What a matrix ends in is first brought to a buffer that has room for a whole block, so that nothing
beyond the matrix is read. Weights are decoded on the way; the scales of a panel hold for a span of K.
"""

from collections.abc import Sequence

from codegen.config.cpu import Isa
from codegen.cpu.emit.weights import Weights
from codegen.cpu.emit.writer import (
    Function,
    Module,
    Typed,
    Value,
    mask,
    splat,
)
from codegen.cpu.nest.plan import (
    GROUP_BYTES,
    LINE,
    SUM_BYTES,
)
from codegen.cpu.pack.bf16_parts import parts_across, parts_along
from codegen.cpu.pack.interleave import write_interleaved
from codegen.cpu.pack.order_of_lanes import write_order_of_lanes
from codegen.cpu.pack.packer import PACK_A, PACK_B, PARAMETERS, Packer
from codegen.cpu.pack.scales import (
    of_line,
    padded_depth,
    ready_parameter,
    scale_of_line,
    scales_of_lines,
    span_name,
    table_of,
    write_spans,
)
from codegen.cpu.pack.transpose import write_transposed
from codegen.problem.dtype import DType
from codegen.xe.rules.sizes import ceil_div

_SHIFT = 0x80808080  # 128 more for each of four bytes
_UNSHIFT = 128


def write_packer(module: Module, packer: Packer, *, prefetches: bool) -> None:
    """Write `@name(ptr source, ptr panel, i64 lines, i64 depth)`, which packs one panel.

    `lines` are all that the matrix has from the panel's first on; `depth` is what it has of the K block. Of weights
    with scales there are more parameters: see `write_spans`. It prefetches the next panel, unless `prefetches` is
    false, where rows of memory run across panels.
    """
    p = packer
    if p.scales:
        write_spans(module, p)
    if p.along_k or p.transposes:
        for width in sorted({p.width(strip) for strip in range(ceil_div(p.lines, p.strip))}):
            _write_block(module, p, width)
    _write_stage(module, p)
    given = [*ready_parameter(p), ("i64", "%padded")] if p.scales else []
    with module.function(span_name(p), [*PARAMETERS, *given]) as f:
        buffer = f.op(f"alloca [{p.rows * p.elements * p.unit_bytes} x i8], align {LINE}")
        packed = f.op(f"alloca [{p.lanes * p.group_row_bytes} x i8], align {LINE}")
        for strip in range(ceil_div(p.lines, p.strip)):
            _write_strip(f, p, strip, buffer, packed, prefetches=prefetches)
        if p.plan.shifted and p.name == PACK_B:
            _write_correction(f, p)
        if p.plan.by_lanes and p.name == PACK_A:
            write_order_of_lanes(f, p)


def _write_strip(f: Function, p: Packer, strip: int, buffer: str, packed: str, *, prefetches: bool) -> None:
    """Write whole blocks directly from the matrix, others through a buffer."""
    sb, width = p.unit_bytes, p.width(strip)
    first = strip * p.strip
    source = f.at("%source", first * (p.pitch_bytes if p.along_k else sb))
    panel = f.at("%panel", first * (p.line_bytes if p.by_lines else GROUP_BYTES))
    per_element = p.group_row_bytes // p.group  # bytes of the panel for each element along K
    left = f.sub("%lines", first)
    needed = width if p.along_k else p.read_lines
    enough = f.compare("sge", left, needed)
    blocks = f.mul(f.div("%depth", p.depth), p.depth)
    whole = f.op(f"select i1 {enough}, i64 {blocks}, i64 0")
    with f.loop(0, whole, p.depth) as loop:
        here = f.at(source, p.offset(f, loop.index))
        if prefetches and not p.along_k and p.has_room_for_next:
            _write_prefetch(f, p, width, here)
        _call_block(f, p, strip, here, p.pitch_bytes, f.at(panel, f.mul(loop.index, per_element)))
    there = f.max(f.min(left, p.read_lines), 0)
    padded = "%padded" if p.scales else padded_depth(f, p)
    with f.loop(whole, padded, p.depth) as loop:
        here = f.at(source, p.offset(f, loop.index))
        rest = f.div(f.max(f.min(f.sub("%depth", loop.index), p.depth), 0), p.unit_k)
        rows, elements = (there, rest) if p.along_k else (rest, there)
        stage = [("ptr", here), ("ptr", buffer), ("i64", rows), ("i64", elements)]
        f.call("void", f"{p.name}_stage", stage)
        to = f.at(panel, f.mul(loop.index, per_element))
        if not (p.along_k and p.transposes):
            _call_block(f, p, strip, buffer, p.elements * sb, to)
        else:  # it would fill more groups than the panel has
            _call_block(f, p, strip, buffer, p.elements * sb, packed)
            groups = f.div(f.min(f.sub(padded, loop.index), p.depth), p.group)
            with f.loop(0, f.mul(groups, p.parts), enters=True) as copied:
                offset = f.mul(copied.index, p.panel_lines * GROUP_BYTES)
                kind = f"<{width} x i32>"
                f.store(kind, f.load(kind, f.at(packed, offset), GROUP_BYTES), f.at(to, offset), GROUP_BYTES)


def _write_prefetch(f: Function, p: Packer, width: int, source: str) -> None:
    """Prefetch what the next panel has in place of a block, where rows of memory run across panels.

    The piece of a row that a panel has is too short for the hardware to predict.
    """
    for row in range(p.rows):
        for offset in range(0, width * p.unit_bytes, LINE):
            place = f.at(source, row * p.pitch_bytes + offset + p.lines * p.unit_bytes)
            f.call("void", "llvm.prefetch.p0", [("ptr", place), ("i32", 0), ("i32", 2), ("i32", 1)])


def _call_block(f: Function, p: Packer, strip: int, source: str, pitch: int, panel: str) -> None:
    width = p.width(strip)
    if not (p.along_k or p.transposes):  # less work than a call
        (_write_decoded if p.decodes else _write_lanes)(f, p, width, source, pitch, panel)
        return
    given: list[Typed] = [("ptr", source), ("i64", pitch), ("ptr", panel)]
    if p.scales:
        given.append(("ptr", f.at("%ready", of_line(p, strip * p.strip))))
    f.call("void", f"{p.name}_block_{width}", given)


def _write_block(module: Module, p: Packer, width: int) -> None:
    """Write one whole block of a strip that has `width` lines; `pitch` in bytes."""
    parameters = [("ptr", "%source"), ("i64", "%pitch"), ("ptr", "%panel"), *ready_parameter(p)]
    with module.function(f"{p.name}_block_{width}", parameters) as f:
        if not p.transposes:
            _write_lines(f, p, width)
            return
        if p.along_k:
            along = _decoded_along if p.decodes else _along
            lines = [along(f, p, f.at("%source", f.mul("%pitch", line)), line) for line in range(width)]
            lines += [["zeroinitializer"] * p.parts] * (p.lanes - width)
            distance, stored, count = p.group_row_bytes, width, p.lanes
        else:
            lines = [
                _across(f, p, f.at("%source", f.mul("%pitch", depth * p.group)), "%pitch") for depth in range(p.lanes)
            ]
            distance, stored, count = p.line_bytes, p.lanes, width
        for part, vectors in enumerate(zip(*lines, strict=True)):
            for number, vector in enumerate(write_transposed(f, vectors)[:count]):
                _store(f, p, vector, stored, f.at("%panel", number * distance + part * p.part_bytes))


def _write_lines(f: Function, p: Packer, width: int) -> None:
    """Write 64 bytes of each line."""
    with f.loop(0, width) as line:
        to = f.at("%panel", f.mul(line.index, p.line_bytes))
        for part, vector in enumerate(_along(f, p, f.at("%source", f.mul("%pitch", line.index)), line.index)):
            _store(f, p, vector, p.lanes, f.at(to, part * p.part_bytes))


def _write_lanes(f: Function, p: Packer, width: int, source: str, pitch: Value, panel: str) -> None:
    """Write one group of each line."""
    for first in range(0, width, p.lanes):
        for part, vector in enumerate(_across(f, p, f.at(source, first * p.dtype.nbytes), pitch)):
            to = f.at(panel, first * GROUP_BYTES + part * p.part_bytes)
            _store(f, p, vector, min(p.lanes, width - first), to)


def _write_decoded(f: Function, p: Packer, width: int, source: str, pitch: Value, panel: str) -> None:
    """Write the groups of each line that one or two rows of codes hold."""
    weights = Weights(f, p.plan)
    for first in range(0, width, p.lanes):
        scale, zero = scales_of_lines(f, p, f.at("%ready", of_line(p, first))) if p.scales else ("", "")
        here = f.at(source, first * p.unit_bytes)
        rows = [f.load(f"<{p.lanes} x {p.bits}>", f.at(here, f.mul(pitch, row)), p.unit_bytes) for row in range(p.rows)]
        values = weights.nibbles(rows[0]) if p.unit_k > 1 else [weights.of_bytes(row) for row in rows]
        for number in range(p.depth // p.group):
            vector = weights.across(values[number * p.group : (number + 1) * p.group], scale, zero)
            if p.plan.element_bytes == SUM_BYTES:
                vector = f.op(f"bitcast {weights.floats} {vector} to {p.vector}")
            to = f.at(panel, number * p.panel_lines * GROUP_BYTES + first * GROUP_BYTES)
            _store(f, p, vector, min(p.lanes, width - first), to)


def _decoded_along(f: Function, p: Packer, pointer: str, line: int) -> list[str]:
    """Load the codes of consecutive groups of a line and decode them."""
    weights = Weights(f, p.plan)
    if p.looks_up:
        table = table_of(f, p, f.at("%ready", of_line(p, line))) if p.scales else weights.table("", "")
        found = weights.looked_up(pointer, table)
    else:
        scale, zero = scale_of_line(f, p, f.at("%ready", of_line(p, line))) if p.scales else ("", "")
        found = weights.along(pointer, scale, zero)
    return [f.op(f"bitcast {weights.floats} {found} to {p.vector}") if p.plan.element_bytes == SUM_BYTES else found]


def _along(f: Function, p: Packer, pointer: str, _: Value) -> list[str]:
    """Load a vector of consecutive groups, one for each part."""
    if p.parts > 1:
        return parts_along(f, p, pointer)
    count, wide = p.lanes * p.group, f"i{8 * p.plan.element_bytes}"
    loaded = f.load(f"<{count} x {p.bits}>", pointer, p.dtype.nbytes)
    packed = _converted(f, p, loaded, count, wide)
    return [_shifted(f, p, packed if wide == "i32" else f.op(f"bitcast <{count} x {wide}> {packed} to {p.vector}"))]


def _across(f: Function, p: Packer, source: str, pitch: Value) -> list[str]:
    """Load a vector of groups whose elements lie in consecutive rows, one for each part."""
    if p.parts > 1:
        return parts_across(f, p, source, pitch)
    wide = f"i{8 * p.plan.element_bytes}"
    if p.group == GROUP_BYTES and p.bits == wide:
        kind = f"<{p.lanes} x {p.bits}>"
        rows = [f.load(kind, f.at(source, f.mul(pitch, number)), 1) for number in range(p.group)]
        return [_shifted(f, p, write_interleaved(f, p.plan.isa, rows))]
    joined = ""
    for number in range(p.group):
        row = f.at(source, f.mul(pitch, number))
        packed = _converted(f, p, f.load(f"<{p.lanes} x {p.bits}>", row, p.dtype.nbytes), p.lanes, wide)
        if wide != "i32":
            packed = f.op(f"zext <{p.lanes} x {wide}> {packed} to {p.vector}")
        if number:
            packed = f.op(f"shl {p.vector} {packed}, {splat('i32', number * 8 * p.plan.element_bytes)}")
        joined = f.op(f"or {p.vector} {joined}, {packed}") if number else packed
    return [_shifted(f, p, joined)]


def _converted(f: Function, p: Packer, loaded: str, count: int, wide: str) -> str:
    """Convert the bits of elements in memory to those of packed elements."""
    if p.bits == wide:
        return loaded
    kind, to = f"<{count} x {p.bits}>", f"<{count} x {wide}>"
    match p.dtype:
        case DType.F16:
            halves = f.op(f"bitcast {kind} {loaded} to <{count} x half>")
            floats = f.op(f"fpext <{count} x half> {halves} to <{count} x float>")
            return f.op(f"bitcast <{count} x float> {floats} to {to}")
        case DType.BF16:
            return f.op(f"shl {to} {f.op(f'zext {kind} {loaded} to {to}')}, {splat('i32', 16)}")
        case _:
            return f.op(f"{'sext' if p.dtype is DType.S8 else 'zext'} {kind} {loaded} to {to}")


def _shifted(f: Function, p: Packer, vector: str) -> str:
    """Convert signed bytes of A to unsigned ones, 128 larger."""
    if not (p.plan.shifted and p.name == PACK_A):
        return vector
    return f.op(f"xor {p.vector} {vector}, {splat('i32', _SHIFT - 2**32)}")


def _store(f: Function, p: Packer, vector: str, count: int, pointer: str) -> None:
    """Store the first `count` groups in pieces, which is faster than masked stores."""
    if count == p.lanes:
        f.store(p.vector, vector, pointer, GROUP_BYTES)
        return
    first = 0
    while first < count:
        piece = 1 << ((count - first).bit_length() - 1)
        chosen = mask(range(first, first + piece))
        part = f.op(f"shufflevector {p.vector} {vector}, {p.vector} poison, {chosen}")
        f.store(f"<{piece} x i32>", part, f.at(pointer, first * GROUP_BYTES), GROUP_BYTES)
        first += piece


def _write_stage(module: Module, p: Packer) -> None:
    """Copy the available part of a block to a buffer of whole rows, padded with zeros."""
    sb, kind = p.unit_bytes, f"<{p.elements} x {p.bits}>"
    parameters = [("ptr", "%source"), ("ptr", "%buffer"), ("i64", "%rows"), ("i64", "%elements")]
    with module.function(f"{p.name}_stage", parameters) as f, f.loop(0, p.rows) as row:
        to = f.at("%buffer", f.mul(row.index, p.elements * sb))
        f.store(kind, "zeroinitializer", to, sb)
        with f.when(f.compare("slt", row.index, "%rows")):
            source = f.at("%source", f.mul(row.index, p.pitch_bytes))
            if p.plan.isa is Isa.AVX2:  # masks for 32-bit elements alone
                with f.loop(0, "%elements") as element:
                    offset = f.mul(element.index, sb)
                    f.store(p.bits, f.load(p.bits, f.at(source, offset), sb), f.at(to, offset), sb)
            else:
                f.store(kind, _masked_load(f, p, source), to, sb)


def _masked_load(f: Function, p: Packer, source: str) -> str:
    """Load the first `%elements` of a row, fewer than 128."""
    count, sb = p.elements, p.unit_bytes
    bytes_, bits = f"<{count} x i8>", f"<{count} x i1>"
    some = f.op("trunc i64 %elements to i8")
    one = f.op(f"insertelement {bytes_} poison, i8 {some}, i64 0")
    all_ = f.op(f"shufflevector {bytes_} {one}, {bytes_} poison, <{count} x i32> zeroinitializer")
    numbers = ", ".join(f"i8 {number}" for number in range(count))
    chosen = f.op(f"icmp ult {bytes_} <{numbers}>, {all_}")
    kind = f"<{count} x {p.bits}>"
    listed = [(f"ptr align {sb}", source), (bits, chosen), (kind, "zeroinitializer")]
    return f.call(kind, f"llvm.masked.load.v{count}{p.bits}.p0", listed)


def _write_correction(f: Function, p: Packer) -> None:
    """Write 128 times the column sums after the panel: the correction for the shifted A."""
    groups = f.div(f.add("%depth", p.group - 1), p.group)
    after = f.mul(groups, p.panel_lines * GROUP_BYTES)
    for first in range(0, p.lines, p.lanes):
        with f.loop(0, groups, carried=[(p.vector, "zeroinitializer")], enters=True) as loop:
            offset = f.add(f.mul(loop.index, p.panel_lines * GROUP_BYTES), first * GROUP_BYTES)
            four = f.load(p.vector, f.at("%panel", offset), GROUP_BYTES)
            loop.next([_added(f, p, loop.carried[0], _bytes(f, p, four))])
        total = f.op(f"mul {p.vector} {loop.results[0]}, {splat('i32', _UNSHIFT)}")
        f.store(p.vector, total, f.at("%panel", f.add(after, first * SUM_BYTES)), SUM_BYTES)


def _bytes(f: Function, p: Packer, four: str) -> list[str]:
    """Return the four signed bytes of each group."""
    high = splat("i32", 24)
    lows = [f.op(f"shl {p.vector} {four}, {splat('i32', 24 - 8 * number)}") for number in range(3)]
    return [f.op(f"ashr {p.vector} {vector}, {high}") for vector in (*lows, four)]


def _added(f: Function, p: Packer, total: Value, terms: Sequence[str]) -> str:
    for term in terms:
        total = f.op(f"add {p.vector} {total}, {term}")
    return str(total)
