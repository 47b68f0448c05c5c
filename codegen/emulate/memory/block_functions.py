"""LLVM IR of the 2-D block built-ins for a CPU: one work-item moves the block of a whole sub-group.

A block in private memory is element after element, the 16 lanes of each beside one another: so it is row after row,
but for bytes in rows of 32, of which each lane has two, and for blocks that are transposed.
"""

from codegen.emulate.memory.block_rows import read_row, write_row
from codegen.emulate.rows.rows import Functions
from codegen.simulate.functions.block_shape import BlockShape
from codegen.simulate.values import LANES

_EVEN = f"<{', '.join(f'i32 {2 * lane}' for lane in range(LANES))}>"
_ODD = f"<{', '.join(f'i32 {2 * lane + 1}' for lane in range(LANES))}>"
_LOW = f"<{', '.join(f'i32 {lane // 2 + LANES * (lane % 2)}' for lane in range(LANES))}>"
_HIGH = f"<{', '.join(f'i32 {LANES // 2 + lane // 2 + LANES * (lane % 2)}' for lane in range(LANES))}>"


def block_function(functions: Functions, name: str, shape: BlockShape) -> None:
    """Define a block read or write, and the functions it calls."""
    if shape.action == "write":
        row = functions.define(*write_row(shape.bits))
        text = _write(name, shape, row) if shape.columns == LANES else _write_pairs(name, shape, row)
    else:
        row = functions.define(*read_row(shape.bits, min(shape.columns, LANES)))
        if shape.layout == "transform":
            text = _read_transformed(name, shape, row)
        elif shape.layout == "transpose":
            text = _read_transposed(name, shape, row)
        else:
            text = _read(name, shape, row) if shape.columns <= LANES else _read_pairs(name, shape, row)
    functions.define(name, text)


def _loop(name: str, rows: int, shape: BlockShape, body: str) -> str:
    """Write a loop that runs `body` for all `rows` of every block: %row, and %column.x where the block starts."""
    return f"""
define internal spir_func void @{name}(ptr addrspace(1) %base, i32 %width, i32 %height, i32 %pitch, <2 x i32> %at, \
ptr %block) noinline nounwind {{
entry:
  %x = extractelement <2 x i32> %at, i64 0
  %y = extractelement <2 x i32> %at, i64 1
  br label %loop
loop:
  %step = phi i32 [ 0, %entry ], [ %next, %loop ]
  %row = urem i32 %step, {rows}
  %which = udiv i32 %step, {rows}
  %column = mul i32 %which, {shape.columns}
  %column.x = add i32 %x, %column
{body}
  %next = add i32 %step, 1
  %more = icmp ult i32 %next, {rows * shape.count}
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def _place(row: str, column: str = "%column.x") -> str:
    return f"ptr addrspace(1) %base, i32 %width, i32 %height, i32 %pitch, i32 {column}, i32 {row}"


def _read(name: str, shape: BlockShape, function: str) -> str:
    vector = f"<{shape.columns} x i{shape.bits}>"
    # Blocks of narrow rows start at whole registers.
    per_block = -(-shape.rows * shape.columns // LANES) * LANES // shape.columns
    body = f"""\
  %row.y = add i32 %y, %row
  %values = call spir_func {vector} @{function}({_place("%row.y")})
  %block.start = mul i32 %which, {per_block}
  %place = add i32 %block.start, %row
  %to = getelementptr {vector}, ptr %block, i32 %place
  store {vector} %values, ptr %to, align 16"""
    return _loop(name, shape.rows, shape, body)


def _read_pairs(name: str, shape: BlockShape, function: str) -> str:
    """Each lane has two bytes of a row beside one another, as two elements."""
    vector = f"<16 x i{shape.bits}>"
    body = f"""\
  %row.y = add i32 %y, %row
  %column.high = add i32 %column.x, {LANES}
  %low = call spir_func {vector} @{function}({_place("%row.y")})
  %high = call spir_func {vector} @{function}({_place("%row.y", "%column.high")})
  %even = shufflevector {vector} %low, {vector} %high, <16 x i32> {_EVEN}
  %odd = shufflevector {vector} %low, {vector} %high, <16 x i32> {_ODD}
  %to = getelementptr [2 x {vector}], ptr %block, i32 %step
  %to.odd = getelementptr {vector}, ptr %to, i32 1
  store {vector} %even, ptr %to, align 16
  store {vector} %odd, ptr %to.odd, align 16"""
    return _loop(name, shape.rows, shape, body)


def _read_transformed(name: str, shape: BlockShape, function: str) -> str:
    """As many rows as fit go into a register, the first into the lowest bits."""
    parts, vector = 4 // shape.nbytes, f"<16 x i{shape.bits}>"
    body = [f"  %first = mul i32 %row, {parts}"]
    for part in range(parts):
        body += [
            f"  %row.{part} = add i32 %first, {part}",
            f"  %y.{part} = add i32 %y, %row.{part}",
            f"  %part.{part} = call spir_func {vector} @{function}({_place(f'%y.{part}')})",
            f"  %wide.{part} = zext {vector} %part.{part} to <16 x i32>",
            f"  %up.{part} = shl <16 x i32> %wide.{part}, splat (i32 {part * shape.bits})",
            f"  %values.{part} = or <16 x i32> %up.{part}, {f'%values.{part - 1}' if part else 'zeroinitializer'}",
        ]
    body += [
        "  %to = getelementptr <16 x i32>, ptr %block, i32 %step",
        f"  store <16 x i32> %values.{parts - 1}, ptr %to, align 64",
    ]
    return _loop(name, shape.rows // parts, shape, "\n".join(body))


def _read_transposed(name: str, shape: BlockShape, function: str) -> str:
    """Column after column."""
    element, vector = f"i{shape.bits}", f"<{shape.columns} x i{shape.bits}>"
    body = [
        "  %row.y = add i32 %y, %row",
        f"  %values = call spir_func {vector} @{function}({_place('%row.y')})",
        f"  %block.start = mul i32 %which, {shape.rows * shape.columns}",
        "  %start = add i32 %block.start, %row",
    ]
    for column in range(shape.columns):
        body += [
            f"  %value.{column} = extractelement {vector} %values, i64 {column}",
            f"  %place.{column} = add i32 %start, {column * shape.rows}",
            f"  %to.{column} = getelementptr {element}, ptr %block, i32 %place.{column}",
            f"  store {element} %value.{column}, ptr %to.{column}, align {shape.nbytes}",
        ]
    return _loop(name, shape.rows, shape, "\n".join(body))


def _write(name: str, shape: BlockShape, function: str) -> str:
    body = f"""\
  %row.y = add i32 %y, %row
  %from = getelementptr <16 x i{shape.bits}>, ptr %block, i32 %step
  call spir_func void @{function}({_place("%row.y")}, ptr %from)"""
    return _loop(name, shape.rows, shape, body)


def _write_pairs(name: str, shape: BlockShape, function: str) -> str:
    """Write pairs: the reverse of `_read_pairs`."""
    vector = f"<16 x i{shape.bits}>"
    body = f"""\
  %row.y = add i32 %y, %row
  %column.high = add i32 %column.x, {LANES}
  %from = getelementptr [2 x {vector}], ptr %block, i32 %step
  %from.odd = getelementptr {vector}, ptr %from, i32 1
  %even = load {vector}, ptr %from, align 16
  %odd = load {vector}, ptr %from.odd, align 16
  %low = shufflevector {vector} %even, {vector} %odd, <16 x i32> {_LOW}
  %high = shufflevector {vector} %even, {vector} %odd, <16 x i32> {_HIGH}
  store {vector} %low, ptr %from, align 16
  store {vector} %high, ptr %from.odd, align 16
  call spir_func void @{function}({_place("%row.y")}, ptr %from)
  call spir_func void @{function}({_place("%row.y", "%column.high")}, ptr %from.odd)
  store {vector} %even, ptr %from, align 16
  store {vector} %odd, ptr %from.odd, align 16"""
    return _loop(name, shape.rows, shape, body)
