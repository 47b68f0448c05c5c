"""Reversal of bits, which LLVM recognises in shifts of sub-group ids, and SPIR-V has no scalar form of for kernels.

The integers around it may have any width, such as i11; here they have one that SPIR-V has.
"""

import re

from codegen.errors import CompileFailed

_CALL = re.compile(
    r"^  (?P<out>%[\w.]+) = (?:tail )?call (?:range\([^)]*\) )?i(?P<width>\d+) @llvm\.bitreverse\.i\d+"
    r"\((?:noundef )?i\d+ (?P<of>%[\w.]+)\).*$",
    re.MULTILINE,
)
_DECLARATION = re.compile(r"^declare .*@llvm\.bitreverse\.i\d+.*\n", re.MULTILINE)
_WIDTHS = (8, 16, 32, 64)
_BITWISE = r"and|or(?: disjoint)?|xor|lshr(?: exact)?|udiv(?: exact)?|urem|icmp (?:eq|ne|u[gl][te])"
"""Instructions whose results, on operands with zeros in the new bits, have zeros there, too."""


def expand_bit_reversals(text: str) -> str:
    """Write each reversal as shifts; integers of odd widths around it become wider, with zeros in the new bits.

    Raises:
        CompileFailed: an instruction on integers of an odd width is not supported.
    """
    if "@llvm.bitreverse." not in text:
        return text
    found = _CALL.search(text)
    while found is not None:
        width = int(found["width"])
        wide = next(w for w in _WIDTHS if w >= width)
        if wide != width:
            text = _widened(text, width, wide)
        text = text.replace(found[0], _shifts(found["out"], found["of"], width, wide), 1)
        found = _CALL.search(text)
    return _DECLARATION.sub("", text)


def _widened(text: str, width: int, wide: int) -> str:
    """Widen all instructions on integers of a width but the reversals themselves."""
    line = re.compile(rf"^  (?!.*@llvm\.bitreverse)(?P<text>.*\bi{width}\b.*)$", re.MULTILINE)
    return line.sub(lambda m: "\n".join(f"  {new}" for new in _widen(m["text"], width, wide)), text)


def _widen(line: str, width: int, wide: int) -> list[str]:
    mask = (1 << width) - 1
    if m := re.fullmatch(rf"(\S+) = trunc (?:nuw |nsw )*i(\d+) (\S+) to i{width}", line):
        out, start, of = m.groups()
        cut = f"add i{wide} {of}, 0" if int(start) == wide else f"trunc i{start} {of} to i{wide}"
        return [f"{out}.whole = {cut}", f"{out} = and i{wide} {out}.whole, {_signed(mask, wide)}"]
    if m := re.fullmatch(rf"(\S+) = zext (?:nneg )?i{width} (\S+) to i(\d+)", line):
        out, of, end = m.groups()
        return [f"{out} = or i{wide} {of}, 0" if int(end) == wide else f"{out} = zext i{wide} {of} to i{end}"]
    if m := re.fullmatch(rf"(\S+) = ({_BITWISE}) i{width} (\S+), (\S+)", line):
        out, head, *operands = m.groups()
        return [f"{out} = {head} i{wide} {', '.join(_operand(o, mask, wide) for o in operands)}"]
    if m := re.fullmatch(rf"(\S+) = (add|sub|mul|shl) (?:nuw |nsw )*i{width} (\S+), (\S+)", line):
        out, head, *operands = m.groups()
        sides = ", ".join(_operand(o, mask, wide) for o in operands)
        return [f"{out}.whole = {head} i{wide} {sides}", f"{out} = and i{wide} {out}.whole, {_signed(mask, wide)}"]
    raise CompileFailed("llvm", f"expected arithmetic around a reversal of {width} bits, got {line}")


def _operand(text: str, mask: int, wide: int) -> str:
    """Return a value, or a constant with zeros in the new bits."""
    return text if text.startswith("%") else str(_signed(int(text) & mask, wide))


def _shifts(out: str, of: str, width: int, wide: int) -> str:
    """Return the instructions that swap neighbouring bits, then pairs, fours, and so on."""
    lines, now, step = list[str](), of, 1
    while step < wide:
        mask = sum(((1 << step) - 1) << at for at in range(0, wide, 2 * step))
        high, low, moved, name = (f"{out}.{part}{step}" for part in ("high", "low", "moved", "swap"))
        lines += [
            f"  {high} = lshr i{wide} {now}, {step}",
            f"  {low}.odd = and i{wide} {high}, {_signed(mask, wide)}",
            f"  {low} = and i{wide} {now}, {_signed(mask, wide)}",
            f"  {moved} = shl i{wide} {low}, {step}",
            f"  {name} = or i{wide} {low}.odd, {moved}",
        ]
        now, step = name, 2 * step
    return "\n".join([*lines, f"  {out} = lshr i{wide} {now}, {wide - width}"])


def _signed(number: int, width: int) -> int:
    return number - (1 << width) if number >> (width - 1) else number
