"""LLVM IR that moves elements of one row of a surface: reads outside give zero, writes outside are dropped.

A row inside of the surface moves as one vector, one at an edge element by element. Nothing outside is touched.
"""

READ_ROW = "xetune_emulated_read_row_"
WRITE_ROW = "xetune_emulated_write_row_"

_ARGUMENTS = "ptr addrspace(1) %base, i32 %width, i32 %height, i32 %pitch, i32 %x, i32 %y"


def read_row(bits: int, columns: int) -> tuple[str, str]:
    """Return the function READ_ROW for this many elements of `bits` bits."""
    nbytes, vector, name = bits // 8, f"<{columns} x i{bits}>", f"{READ_ROW}{bits}x{columns}"
    return (
        name,
        f"""
define internal spir_func {vector} @{name}({_ARGUMENTS}) nounwind {{
entry:
  %scratch = alloca [{columns} x i{bits}], align 64
{_whole(nbytes, columns)}
vector:
  %in.row = getelementptr i8, ptr addrspace(1) %row, i64 %first
  %values = load {vector}, ptr addrspace(1) %in.row, align {nbytes}
  ret {vector} %values
edge:
  store {vector} zeroinitializer, ptr %scratch, align 64
  br i1 %in.rows, label %lanes, label %done
{_lanes(nbytes)}
move:
  %element = getelementptr i8, ptr addrspace(1) %row, i64 %at
  %value = load i{bits}, ptr addrspace(1) %element, align {nbytes}
  %to = getelementptr i{bits}, ptr %scratch, i64 %lane
  store i{bits} %value, ptr %to, align {nbytes}
  br label %joined
{_next_lane(columns)}
done:
  %partial = load {vector}, ptr %scratch, align 64
  ret {vector} %partial
}}
""",
    )


def write_row(bits: int) -> tuple[str, str]:
    """Return the function WRITE_ROW for 16 elements of `bits` bits."""
    nbytes, vector, name = bits // 8, f"<16 x i{bits}>", f"{WRITE_ROW}{bits}"
    return (
        name,
        f"""
define internal spir_func void @{name}({_ARGUMENTS}, ptr %from) nounwind {{
entry:
{_whole(nbytes, 16)}
vector:
  %in.row = getelementptr i8, ptr addrspace(1) %row, i64 %first
  %values = load {vector}, ptr %from, align 16
  store {vector} %values, ptr addrspace(1) %in.row, align {nbytes}
  br label %done
edge:
  br i1 %in.rows, label %lanes, label %done
{_lanes(nbytes)}
move:
  %lane.from = getelementptr i{bits}, ptr %from, i64 %lane
  %value = load i{bits}, ptr %lane.from, align {nbytes}
  %element = getelementptr i8, ptr addrspace(1) %row, i64 %at
  store i{bits} %value, ptr addrspace(1) %element, align {nbytes}
  br label %joined
{_next_lane(16)}
done:
  ret void
}}
""",
    )


def _whole(nbytes: int, columns: int) -> str:
    """Branch to `vector` if all of the row is inside, else to `edge`. A row above is a huge unsigned number."""
    return f"""\
  %in.rows = icmp ult i32 %y, %height
  %y.wide = zext i32 %y to i64
  %x.wide = sext i32 %x to i64
  %pitch.wide = zext i32 %pitch to i64
  %width.wide = zext i32 %width to i64
  %row.start = mul i64 %y.wide, %pitch.wide
  %row = getelementptr i8, ptr addrspace(1) %base, i64 %row.start
  %first = mul i64 %x.wide, {nbytes}
  %end = add i64 %first, {columns * nbytes}
  %from.zero = icmp sge i64 %x.wide, 0
  %to.width = icmp sle i64 %end, %width.wide
  %in.columns = and i1 %from.zero, %to.width
  %whole = and i1 %in.rows, %in.columns
  br i1 %whole, label %vector, label %edge"""


def _lanes(nbytes: int) -> str:
    """Branch to `move` for every lane that is inside: %at is its byte in the row."""
    return f"""\
lanes:
  %lane = phi i64 [ 0, %edge ], [ %lane.next, %joined ]
  %column = add i64 %x.wide, %lane
  %at = mul i64 %column, {nbytes}
  %at.end = add i64 %at, {nbytes}
  %lane.from.zero = icmp sge i64 %at, 0
  %lane.to.width = icmp sle i64 %at.end, %width.wide
  %lane.inside = and i1 %lane.from.zero, %lane.to.width
  br i1 %lane.inside, label %move, label %joined"""


def _next_lane(columns: int) -> str:
    return f"""\
joined:
  %lane.next = add i64 %lane, 1
  %more = icmp ult i64 %lane.next, {columns}
  br i1 %more, label %lanes, label %done"""
