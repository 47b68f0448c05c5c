"""LLVM IR of the matrix multiply-accumulate for a CPU: one work-item runs the 16 lanes of a sub-group as vectors.

Operands are in private memory, element after element, the 16 lanes of each beside one another. A is so row after
row; B is eight rows of i32, two rows of K in each.
"""

_K = 16
_VECTOR = "<16 x float>"


def dpas_function(name: str, type_: str, rows: int) -> str:
    """`acc + A B` into `%result`, for `rows` rows of "f16_f16" or "bf16_bf16". Sums are in float32, K in order."""
    lines = [f"define internal spir_func void @{name}(ptr %result, ptr %a, ptr %b, ptr %acc) noinline nounwind {{"]
    lines.append("entry:")
    for row in range(rows):
        lines.append(f"  %at.{row} = getelementptr {_VECTOR}, ptr %acc, i64 {row}")
        lines.append(f"  %start.{row} = load {_VECTOR}, ptr %at.{row}, align 64")
    lines += ["  br label %loop", "loop:", "  %pair = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    for row in range(rows):
        lines.append(f"  %sum.{row} = phi {_VECTOR} [ %start.{row}, %entry ], [ %sum.{row}.1, %loop ]")
    lines += [
        "  %b.at = getelementptr <16 x i32>, ptr %b, i64 %pair",
        "  %b.pair = load <16 x i32>, ptr %b.at, align 64",
        "  %k.0 = shl i64 %pair, 1",
        "  %k.1 = or i64 %k.0, 1",
    ]
    for half in (0, 1):
        lines += _b_half(type_, half)
        for row in range(rows):
            lines += _multiply(type_, row, half)
    lines += [
        "  %next = add i64 %pair, 1",
        f"  %more = icmp ult i64 %next, {_K // 2}",
        "  br i1 %more, label %loop, label %done",
        "done:",
    ]
    for row in range(rows):
        lines.append(f"  %to.{row} = getelementptr {_VECTOR}, ptr %result, i64 {row}")
        lines.append(f"  store {_VECTOR} %sum.{row}.1, ptr %to.{row}, align 64")
    return "\n" + "\n".join([*lines, "  ret void", "}", ""])


def _b_half(type_: str, half: int) -> list[str]:
    """The lower or upper 16 bits of a row of B as %b.0 or %b.1."""
    value = f"%b.{half}"
    if type_ == "bf16_bf16":
        high = [
            f"  {value}.bits = and <16 x i32> %b.pair, splat (i32 -65536)",
            f"  {value}.bits = shl <16 x i32> %b.pair, splat (i32 16)",
        ]
        return [high[1 - half], f"  {value} = bitcast <16 x i32> {value}.bits to {_VECTOR}"]
    shifted = [f"  {value}.shifted = lshr <16 x i32> %b.pair, splat (i32 16)"] if half else []
    source = f"{value}.shifted" if half else "%b.pair"
    return [
        *shifted,
        f"  {value}.bits = trunc <16 x i32> {source} to <16 x i16>",
        f"  {value}.half = bitcast <16 x i16> {value}.bits to <16 x half>",
        f"  {value} = fpext <16 x half> {value}.half to {_VECTOR}",
    ]


def _multiply(type_: str, row: int, half: int) -> list[str]:
    """%sum.<row> plus an element of A times a row of B. The product is exact, so fusing changes nothing."""
    at, before = f"%a.{row}.{half}", f"%sum.{row}" + (".0" if half else "")
    if type_ == "bf16_bf16":
        widen = [
            f"  {at}.bits = load i16, ptr {at}.at, align 2",
            f"  {at}.wide = zext i16 {at}.bits to i32",
            f"  {at}.up = shl i32 {at}.wide, 16",
            f"  {at} = bitcast i32 {at}.up to float",
        ]
    else:
        widen = [f"  {at}.half = load half, ptr {at}.at, align 2", f"  {at} = fpext half {at}.half to float"]
    return [
        f"  {at}.row = getelementptr [{_K} x i16], ptr %a, i64 {row}",
        f"  {at}.at = getelementptr i16, ptr {at}.row, i64 %k.{half}",
        *widen,
        f"  {at}.one = insertelement {_VECTOR} poison, float {at}, i64 0",
        f"  {at}.all = shufflevector {_VECTOR} {at}.one, {_VECTOR} poison, <16 x i32> zeroinitializer",
        f"  {at}.product = fmul contract {_VECTOR} {at}.all, %b.{half}",
        f"  %sum.{row}.{half} = fadd contract {_VECTOR} {at}.product, {before}",
    ]
