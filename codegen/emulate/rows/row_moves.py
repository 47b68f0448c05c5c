"""LLVM IR that copies rows, for all lanes or for some, and that joins or splits elements."""

from codegen.simulate.values import LANES

# Copies rows of 16 bytes. llvm.memcpy would do, but LLVM's SPIR-V target casts its arguments before they are
# defined.
COPY = (
    "xetune_emulated_copy",
    """
define internal spir_func void @xetune_emulated_copy(ptr %to, ptr %from, i32 %rows) noinline nounwind {
entry:
  br label %loop
loop:
  %row = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from.row = getelementptr <16 x i8>, ptr %from, i32 %row
  %to.row = getelementptr <16 x i8>, ptr %to, i32 %row
  %values = load <16 x i8>, ptr %from.row, align 16
  store <16 x i8> %values, ptr %to.row, align 16
  %next = add i32 %row, 1
  %more = icmp ult i32 %next, %rows
  br i1 %more, label %loop, label %done
done:
  ret void
}
""",
)


def _blend(element: str) -> tuple[str, str]:
    name, row = f"xetune_emulated_blend_{element}", f"<{LANES} x {element}>"
    return (
        name,
        f"""
define internal spir_func void @{name}(ptr %to, ptr %from, i32 %rows, <16 x i8> %mask) noinline nounwind {{
entry:
  %chosen = icmp ne <16 x i8> %mask, zeroinitializer
  br label %loop
loop:
  %row = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from.row = getelementptr {row}, ptr %from, i32 %row
  %to.row = getelementptr {row}, ptr %to, i32 %row
  %new = load {row}, ptr %from.row, align 16
  %old = load {row}, ptr %to.row, align 16
  %values = select <16 x i1> %chosen, {row} %new, {row} %old
  store {row} %values, ptr %to.row, align 16
  %next = add i32 %row, 1
  %more = icmp ult i32 %next, %rows
  br i1 %more, label %loop, label %done
done:
  ret void
}}
""",
    )


def _fill(element: str) -> tuple[str, str]:
    name, row = f"xetune_emulated_fill_{element}", f"<{LANES} x {element}>"
    return (
        name,
        f"""
define internal spir_func void @{name}(ptr %to, {row} %values, i32 %rows) noinline nounwind {{
entry:
  br label %loop
loop:
  %row = phi i32 [ 0, %entry ], [ %next, %loop ]
  %to.row = getelementptr {row}, ptr %to, i32 %row
  store {row} %values, ptr %to.row, align 16
  %next = add i32 %row, 1
  %more = icmp ult i32 %next, %rows
  br i1 %more, label %loop, label %done
done:
  ret void
}}
""",
    )


_ELEMENTS = ("i8", "i16", "i32", "i64", "half", "float", "double")
# Copies rows for the lanes of a mask.
BLEND = {element: _blend(element) for element in _ELEMENTS}
# Writes the same row over and over.
FILL = {element: _fill(element) for element in _ELEMENTS}


def join(small: int, large: int) -> tuple[str, str]:
    """Join rows of `small` bits into rows of `large` bits, the lowest first."""
    name, parts = f"xetune_emulated_join_{small}_{large}", large // small
    body: list[str] = []
    for part in range(parts):
        body += [
            f"  %at.{part} = getelementptr <16 x i{small}>, ptr %from.row, i32 {part}",
            f"  %part.{part} = load <16 x i{small}>, ptr %at.{part}, align 16",
            f"  %wide.{part} = zext <16 x i{small}> %part.{part} to <16 x i{large}>",
            f"  %up.{part} = shl <16 x i{large}> %wide.{part}, splat (i{large} {part * small})",
            f"  %sum.{part} = or <16 x i{large}> %up.{part}, {f'%sum.{part - 1}' if part else 'zeroinitializer'}",
        ]
    body.append(f"  store <16 x i{large}> %sum.{parts - 1}, ptr %to.row, align 16")
    return name, _over_rows(name, f"[{parts} x <16 x i{small}>]", f"<16 x i{large}>", body)


def split(large: int, small: int) -> tuple[str, str]:
    """The reverse of `join`."""
    name, parts = f"xetune_emulated_split_{large}_{small}", large // small
    body = [f"  %value = load <16 x i{large}>, ptr %from.row, align 16"]
    for part in range(parts):
        body += [
            f"  %down.{part} = lshr <16 x i{large}> %value, splat (i{large} {part * small})",
            f"  %part.{part} = trunc <16 x i{large}> %down.{part} to <16 x i{small}>",
            f"  %at.{part} = getelementptr <16 x i{small}>, ptr %to.row, i32 {part}",
            f"  store <16 x i{small}> %part.{part}, ptr %at.{part}, align 16",
        ]
    return name, _over_rows(name, f"<16 x i{large}>", f"[{parts} x <16 x i{small}>]", body)


def _over_rows(name: str, from_type: str, to_type: str, body: list[str]) -> str:
    lines = "\n".join(body)
    return f"""
define internal spir_func void @{name}(ptr %to, ptr %from, i32 %rows) noinline nounwind {{
entry:
  br label %loop
loop:
  %row = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from.row = getelementptr {from_type}, ptr %from, i32 %row
  %to.row = getelementptr {to_type}, ptr %to, i32 %row
{lines}
  %next = add i32 %row, 1
  %more = icmp ult i32 %next, %rows
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
