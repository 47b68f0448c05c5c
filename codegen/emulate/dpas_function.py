"""LLVM IR of the matrix multiply-accumulate for a CPU: one work-item runs the 16 lanes of a sub-group as vectors.

Operands are in private memory, element after element, the 16 lanes of each beside one another. A is so row after
row, whatever its registers hold. B is eight rows of registers, with one, two or four rows of K in each.
"""

from dataclasses import dataclass

_REGISTERS = 8


@dataclass(frozen=True, slots=True)
class _Kind:
    """Rows of K in a register of B, the bits of an element, the type of sums, and how a vector of bits is widened."""

    parts: int
    bits: int
    sums: str
    widen: tuple[str, ...]

    @property
    def k(self) -> int:
        return self.parts * _REGISTERS


def _of_bytes(way: str) -> _Kind:
    return _Kind(4, 8, "i32", (f"{way} <16 x i8> %IN to <16 x i32>",))


_KINDS = {
    "f16": _Kind(2, 16, "float", ("bitcast <16 x i16> %IN to <16 x half>", "fpext <16 x half> %IN to <16 x float>")),
    "bf16": _Kind(
        2,
        16,
        "float",
        (
            "zext <16 x i16> %IN to <16 x i32>",
            "shl <16 x i32> %IN, splat (i32 16)",
            "bitcast <16 x i32> %IN to <16 x float>",
        ),
    ),
    # Sign, exponent and 10 bits; the others are not looked at.
    "tf32": _Kind(1, 32, "float", ("and <16 x i32> %IN, splat (i32 -8192)", "bitcast <16 x i32> %IN to <16 x float>")),
    "i8": _of_bytes("sext"),
    "u8": _of_bytes("zext"),
}


def dpas_function(name: str, type_a: str, type_b: str, rows: int) -> str:
    """Return a function that computes `acc + A B` into `%result`, for `rows` rows, accumulated in float32 in K
    order, or in int32.
    """
    a, b = _KINDS[type_a], _KINDS[type_b]
    vector = f"<16 x {a.sums}>"
    lines = [f"define internal spir_func void @{name}(ptr %result, ptr %a, ptr %b, ptr %acc) noinline nounwind {{"]
    lines.append("entry:")
    for row in range(rows):
        lines.append(f"  %at.{row} = getelementptr {vector}, ptr %acc, i64 {row}")
        lines.append(f"  %start.{row} = load {vector}, ptr %at.{row}, align 64")
    lines += ["  br label %loop", "loop:", "  %register = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    for row in range(rows):
        lines.append(f"  %sum.{row} = phi {vector} [ %start.{row}, %entry ], [ %sum.{row}.{b.parts - 1}, %loop ]")
    lines += [
        "  %b.at = getelementptr <16 x i32>, ptr %b, i64 %register",
        "  %b.bits = load <16 x i32>, ptr %b.at, align 64",
        f"  %k = mul i64 %register, {a.parts}",
    ]
    for part in range(b.parts):
        lines += _b_part(b, part)
        for row in range(rows):
            lines += _multiply(a, row, part)
    lines += [
        "  %next = add i64 %register, 1",
        f"  %more = icmp ult i64 %next, {_REGISTERS}",
        "  br i1 %more, label %loop, label %done",
        "done:",
    ]
    for row in range(rows):
        lines.append(f"  %to.{row} = getelementptr {vector}, ptr %result, i64 {row}")
        lines.append(f"  store {vector} %sum.{row}.{b.parts - 1}, ptr %to.{row}, align 64")
    return "\n" + "\n".join([*lines, "  ret void", "}", ""])


def _b_part(kind: _Kind, part: int) -> list[str]:
    """A row of B, the lowest bits of a register first, as %b.<part>."""
    value = f"%b.{part}"
    lines = [f"  {value}.low = lshr <16 x i32> %b.bits, splat (i32 {part * kind.bits})"]
    bits = f"{value}.low"
    if kind.bits < 32:
        lines.append(f"  {value}.bits = trunc <16 x i32> {value}.low to <16 x i{kind.bits}>")
        bits = f"{value}.bits"
    return [*lines, *_widened(kind, bits, value)]


def _widened(kind: _Kind, bits: str, value: str) -> list[str]:
    lines: list[str] = []
    for number, step in enumerate(kind.widen):
        result = value if number == len(kind.widen) - 1 else f"{value}.step{number}"
        lines.append(f"  {result} = {step.replace('%IN', bits)}")
        bits = result
    return lines


def _multiply(kind: _Kind, row: int, part: int) -> list[str]:
    """%sum.<row> plus an element of A times a row of B. Products are exact, so fusing changes nothing."""
    at, before = f"%a.{row}.{part}", f"%sum.{row}" + (f".{part - 1}" if part else "")
    bits, vector = f"<16 x i{kind.bits}>", f"<16 x {kind.sums}>"
    if kind.sums == "i32":
        steps = [
            f"  {at}.product = mul {vector} {at}, %b.{part}",
            f"  %sum.{row}.{part} = add {vector} {at}.product, {before}",
        ]
    else:
        steps = [
            f"  {at}.product = fmul contract {vector} {at}, %b.{part}",
            f"  %sum.{row}.{part} = fadd contract {vector} {at}.product, {before}",
        ]
    return [
        f"  {at}.row = getelementptr [{kind.k} x i{kind.bits}], ptr %a, i64 {row}",
        f"  {at}.column = add i64 %k, {part}",
        f"  {at}.at = getelementptr i{kind.bits}, ptr {at}.row, i64 {at}.column",
        f"  {at}.bits = load i{kind.bits}, ptr {at}.at, align {kind.bits // 8}",
        f"  {at}.one = insertelement {bits} poison, i{kind.bits} {at}.bits, i64 0",
        f"  {at}.all = shufflevector {bits} {at}.one, {bits} poison, <16 x i32> zeroinitializer",
        *_widened(kind, f"{at}.all", at),
        *steps,
    ]
