"""LLVM IR of the 2-D block built-ins for a CPU: one work-item moves the block of a whole sub-group.

A block in private memory is element after element, the 16 lanes of each beside one another: so it is row after row.
"""

from codegen.emulate.block_rows import READ_ROW, WRITE_ROW
from codegen.simulator.block_shape import BlockShape
from codegen.simulator.values import LANES


def block_function(name: str, shape: BlockShape) -> str | None:
    """The definition of a block read or write, which calls functions of `block_rows`; None for other layouts."""
    if shape.columns != LANES or shape.nbytes == 1:
        return None
    if shape.action == "write" and not shape.layout:
        return _write(name, shape)
    if shape.action == "read" and shape.layout == "transform" and shape.nbytes == 2:
        return _read_transformed(name, shape)
    if shape.action == "read" and not shape.layout:
        return _read(name, shape)
    return None


def _loop(name: str, rows: int, shape: BlockShape, body: str) -> str:
    """Runs `body` for every `rows` of every block: %row, and %column.x where the block starts."""
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


def _place(row: str) -> str:
    return f"ptr addrspace(1) %base, i32 %width, i32 %height, i32 %pitch, i32 %column.x, i32 {row}"


def _read(name: str, shape: BlockShape) -> str:
    vector = f"<16 x i{shape.bits}>"
    body = f"""\
  %row.y = add i32 %y, %row
  %values = call spir_func {vector} @{READ_ROW}{shape.bits}({_place("%row.y")})
  %to = getelementptr {vector}, ptr %block, i32 %step
  store {vector} %values, ptr %to, align 32"""
    return _loop(name, shape.rows, shape, body)


def _read_transformed(name: str, shape: BlockShape) -> str:
    body = f"""\
  %two.rows = shl i32 %row, 1
  %low.y = add i32 %y, %two.rows
  %high.y = add i32 %low.y, 1
  %low = call spir_func <16 x i16> @{READ_ROW}16({_place("%low.y")})
  %high = call spir_func <16 x i16> @{READ_ROW}16({_place("%high.y")})
  %low.wide = zext <16 x i16> %low to <16 x i32>
  %high.wide = zext <16 x i16> %high to <16 x i32>
  %high.up = shl <16 x i32> %high.wide, splat (i32 16)
  %values = or <16 x i32> %low.wide, %high.up
  %to = getelementptr <16 x i32>, ptr %block, i32 %step
  store <16 x i32> %values, ptr %to, align 64"""
    return _loop(name, shape.rows // 2, shape, body)


def _write(name: str, shape: BlockShape) -> str:
    body = f"""\
  %row.y = add i32 %y, %row
  %from = getelementptr <16 x i{shape.bits}>, ptr %block, i32 %step
  call spir_func void @{WRITE_ROW}{shape.bits}({_place("%row.y")}, ptr %from)"""
    return _loop(name, shape.rows, shape, body)
