"""Order of a panel of A that is multiplied by codes of 4 bits decoded a cache line at a time.

Of 128 elements along K, step s of 32 has elements 4 j + s, j from 0 to 31.
"""

from codegen.cpu.emit.writer import Function, splat
from codegen.cpu.nest.plan import GROUP_BYTES, LINE
from codegen.cpu.pack.packer import Packer

_ELEMENTS = 128
_STEPS = 4
_LOW, _HIGH = 0xFFFF, -0x10000


def write_order_of_lanes(f: Function, p: Packer) -> None:
    """Write the reordering of `%panel`, which holds pairs of consecutive elements of all lines."""
    row, pairs, kind = p.panel_lines * GROUP_BYTES, _ELEMENTS // p.group, f"<{p.panel_lines} x i32>"
    before = f.op(f"alloca [{pairs * row} x i8], align {LINE}")
    with f.loop(0, f.div("%depth", _ELEMENTS)) as chunk:
        here = f.at("%panel", f.mul(chunk.index, pairs * row))
        f.call("void", "llvm.memcpy.p0.p0.i64", [("ptr", before), ("ptr", here), ("i64", pairs * row), ("i1", "false")])
        with f.loop(0, pairs // _STEPS, enters=True) as pair:
            source = f.at(before, f.mul(pair.index, _STEPS * row))
            for half in range(_STEPS // 2):
                x, y = (f.load(kind, f.at(source, (half + n) * row), GROUP_BYTES) for n in (0, 2))
                first = f.op(f"and {kind} {x}, {splat('i32', _LOW)}"), f.op(f"shl {kind} {y}, {splat('i32', 16)}")
                second = f.op(f"lshr {kind} {x}, {splat('i32', 16)}"), f.op(f"and {kind} {y}, {splat('i32', _HIGH)}")
                for step, both in ((2 * half, first), (2 * half + 1, second)):
                    value = f.op(f"or {kind} {both[0]}, {both[1]}")
                    to = f.add(f.mul(pair.index, row), step * pairs // _STEPS * row)
                    f.store(kind, value, f.at(here, to), GROUP_BYTES)
