"""Reversal of bits, which LLVM recognises in shifts of sub-group ids, and SPIR-V has no scalar form of for kernels.

The integers around it may have any width, such as i11; here they have one that SPIR-V has.
"""

import re

_CALL = re.compile(
    r"^  (?P<out>%[\w.]+) = (?:tail )?call (?:range\([^)]*\) )?i(?P<width>\d+) @llvm\.bitreverse\.i\d+"
    r"\((?:noundef )?i\d+ (?P<of>%[\w.]+)\).*$",
    re.MULTILINE,
)
_DECLARATION = re.compile(r"^declare .*@llvm\.bitreverse\.i\d+.*\n", re.MULTILINE)
_WIDTHS = (8, 16, 32, 64)


def expand_bit_reversals(text: str) -> str:
    """Write each reversal as shifts; between truncation and extension, integers of odd widths become wider."""
    found = _CALL.search(text)
    while found is not None:
        width = int(found["width"])
        wide = next(w for w in _WIDTHS if w >= width)
        if wide != width:
            text = _widened(text, found["of"], found["out"], width, wide)
        text = text.replace(found[0], _shifts(found["out"], found["of"], width, wide), 1)
        found = _CALL.search(text)
    return _DECLARATION.sub("", text)


def _widened(text: str, of: str, out: str, width: int, wide: int) -> str:
    """Widen the truncation before a reversal and the extensions after it."""
    cut = re.compile(rf"^  {re.escape(of)} = trunc (?:nuw |nsw )*i(\d+) (\S+) to i{width}$", re.MULTILINE)
    text = cut.sub(
        lambda m: (
            f"  {of}.whole = {'add' if int(m[1]) == wide else 'trunc'} i{m[1]} {m[2]}"
            f"{', 0' if int(m[1]) == wide else f' to i{wide}'}\n  {of} = and i{wide} {of}.whole, {(1 << width) - 1}"
        ),
        text,
    )
    grown = re.compile(rf"= zext (?:nneg )?i{width} {re.escape(out)} to i(\d+)")
    return grown.sub(
        lambda m: f"= or i{wide} {out}, 0" if int(m[1]) == wide else f"= zext i{wide} {out} to i{m[1]}", text
    )


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
