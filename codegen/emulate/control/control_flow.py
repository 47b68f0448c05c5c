"""Control flow and phis of a rewritten kernel.

A phi of a value that differs between lanes is an array; its next value is stored in a second array first, as its old
value may be needed after the branch. In a region, each lane stores the number of its next block.
"""

import re

from codegen.emulate.control.lanes import Lanes, from_region
from codegen.emulate.control.regions import RETURN, Region
from codegen.emulate.memory.shared_memory import is_shared, shared_phi
from codegen.emulate.rows.rows import row_type
from codegen.emulate.writer import WHOLE, Writer, local, renamed
from codegen.simulate.llvm_ir.ir import (
    Block,
    Function,
    Instruction,
    Operand,
)

_NUMBERS = row_type("i32")
_OUT = 2**20  # the number of a region's exit: after all of its blocks
_ANY = (
    "xetune_emulated_any",
    """
define internal spir_func i1 @xetune_emulated_any(<16 x i8> %mask) noinline nounwind {
entry:
  %halves = bitcast <16 x i8> %mask to <2 x i64>
  %low = extractelement <2 x i64> %halves, i64 0
  %high = extractelement <2 x i64> %halves, i64 1
  %all = or i64 %low, %high
  %any = icmp ne i64 %all, 0
  ret i1 %any
}
""",
)
_LEAST = (
    "xetune_emulated_least",
    """
define internal spir_func i32 @xetune_emulated_least(ptr %numbers) noinline nounwind {
entry:
  br label %loop
loop:
  %lane = phi i32 [ 0, %entry ], [ %next, %loop ]
  %least = phi i32 [ 2147483647, %entry ], [ %lower, %loop ]
  %at = getelementptr i32, ptr %numbers, i32 %lane
  %number = load i32, ptr %at, align 4
  %is.lower = icmp ult i32 %number, %least
  %lower = select i1 %is.lower, i32 %number, i32 %least
  %next = add i32 %lane, 1
  %more = icmp ult i32 %next, 16
  br i1 %more, label %loop, label %done
done:
  ret i32 %lower
}
""",
)


class Paths:
    """Begins and ends the blocks of one kernel."""

    def __init__(self, writer: Writer, function: Function) -> None:
        self._w, self._lanes = writer, writer.lanes
        self._blocks = {block.label: block for block in function.blocks}
        self._at_once = {name for block in function.blocks for name in _written_at_once(block, function, self._lanes)}
        self._masks: dict[str, str] = {}
        for region in self._lanes.regions:
            writer.arrays.append(f"  {_next(region)} = alloca {_NUMBERS}, align 64")

    def enter(self, block: Block) -> list[str]:
        """Write the first lines of a block; the writer's mask becomes that of its lanes."""
        w = self._w
        w.begin([f"{local(block.label)}:"])
        region = self._lanes.region_of(block.label)
        if region is not None and region.is_simple:
            w.mask = self._masks[region.source]
        elif region is not None:
            going = w.line(f"load {_NUMBERS}, ptr {_next(region)}, align 64")
            here = w.line(f"icmp eq {_NUMBERS} {going}, splat (i32 {_number(region, block.label)})")
            w.mask = w.line(f"zext {row_type('i1')} {here} to {row_type('i8')}")
        for phi in block.phis:
            if phi.result not in self._lanes.varying:
                w.lines.append(self._same_phi(phi, block))
        for phi in block.phis:
            if phi.result in self._lanes.varying and phi.result not in self._at_once:
                w.blend(w.array(phi.result, phi.type), w.array(f"{phi.result}.next", phi.type), phi.type, w.mask)
        return w.lines

    def leave(self, block: Block) -> None:
        """Write the phi inputs of the successors, and the branch."""
        last = block.body[-1]
        region = self._lanes.region_of(block.label) or self._lanes.region_after(block.label)
        if region is not None and (block.label in region.blocks or self._parts(last)):
            self._leave_apart(block, region)
            return
        for target in dict.fromkeys(last.labels):
            self._give(block, target, WHOLE)
        text = renamed(last)
        if region is not None:
            self._go(region, self._edges(last))
            for target in region.blocks:
                text = re.sub(rf"label %{re.escape(local(target))}(?![\w.$-])", f"label %{_dispatcher(region)}", text)
        self._w.lines.append(f"  {text}")

    def _leave_apart(self, block: Block, region: Region) -> None:
        """Write a branch that may diverge."""
        w, last = self._w, block.body[-1]
        if region.is_simple and block.label in region.blocks:
            self._give(block, region.exit, w.mask)
            w.do(f"br label %{local(region.exit)}")
            return
        edges = self._edges(last)
        for target, chosen in edges:
            if any(phi.result in self._lanes.varying for phi in self._phis(target)):
                self._give(block, target, self._bytes(chosen))
        if region.is_simple:
            self._go_together(region, dict(edges)[region.blocks[0]])
            return
        self._go(region, edges)
        w.do(f"br label %{_dispatcher(region)}")

    def _parts(self, last: Instruction) -> bool:
        return any(self._lanes.differs(o) for o in last.operands)

    def _phis(self, label: str) -> tuple[Instruction, ...]:
        return () if label == RETURN else self._blocks[label].phis

    def _bytes(self, truth: str) -> str:
        return self._w.line(f"zext {row_type('i1')} {truth} to {row_type('i8')}")

    def _go_together(self, region: Region, chosen: str) -> None:
        """Branch to the one block of a region if any lane takes it, or past it."""
        w = self._w
        self._masks[region.source] = mask = self._bytes(chosen)
        name = w.functions.define(*_ANY)
        some = w.line(f"call spir_func i1 @{name}({row_type('i8')} {mask})")
        w.do(f"br i1 {some}, label %{local(region.blocks[0])}, label %{local(region.exit)}")

    def dispatchers(self) -> list[str]:
        """Write the blocks between two blocks of a region that dispatch its lanes."""
        lines: list[str] = []
        for number, region in enumerate(r for r in self._lanes.regions if not r.is_simple):
            self._w.functions.define(*_LEAST)
            cases = " ".join(f"i32 {at}, label %{local(label)}" for at, label in enumerate(region.blocks))
            leaving = "emulated.return" if region.exit == RETURN else local(region.exit)
            lines += [
                f"{_dispatcher(region)}:",
                f"  %emulated.least.{number} = call spir_func i32 @{_LEAST[0]}(ptr {_next(region)})",
                f"  switch i32 %emulated.least.{number}, label %{leaving} [ {cases} ]",
            ]
        if any(region.exit == RETURN for region in self._lanes.regions):
            lines += ["emulated.return:", "  ret void"]
        return lines

    def _same_phi(self, phi: Instruction, block: Block) -> str:
        """Write a phi that is uniform; lanes that leave a region come from its dispatcher."""
        pairs = list(zip(phi.operands, phi.labels, strict=True))
        for region in self._lanes.regions:
            if region.exit == block.label and not region.is_simple and (values := from_region(phi, region)):
                inside = set(region.blocks)
                if self._parts(self._blocks[region.source].body[-1]):
                    inside.add(region.source)
                pairs = [(o, label) for o, label in pairs if label not in inside]
                pairs.append((values[0], _dispatcher(region)))
        if is_shared(phi):
            return shared_phi(self._w, phi, pairs)
        values = ", ".join(f"[ {self._w.scalar(o)}, %{_label(label)} ]" for o, label in pairs)
        return f"  %{local(phi.result)} = phi {phi.type} {values}"

    def _give(self, block: Block, target: str, mask: str) -> None:
        """Store the next values of a block's phis, for the lanes of a mask."""
        w = self._w
        for phi in self._phis(target):
            if phi.result not in self._lanes.varying:
                continue
            value: Operand = phi.operands[phi.labels.index(block.label)]
            name = phi.result if phi.result in self._at_once else f"{phi.result}.next"
            if value.is_constant and all(number is None for number in value.constant):
                continue
            if mask == WHOLE:
                self._copy(w.array(name, phi.type), value)
            else:
                w.blend(w.array(name, phi.type), w.whole(value), phi.type, mask)

    def _copy(self, to: str, value: Operand) -> None:
        w = self._w
        if value.type.count and w.lanes.differs(value):
            if (source := w.whole(value)) != to:
                w.copy(to, source, value.type)
            return
        w.fill(to, value)

    def _edges(self, last: Instruction) -> list[tuple[str, str]]:
        """Return the targets of a branch, each with the mask of its lanes."""
        w, truth = self._w, row_type("i1")
        running = "splat (i1 true)"
        if w.mask != WHOLE:
            running = w.line(f"icmp ne {row_type('i8')} {w.mask}, zeroinitializer")
        if not last.operands:
            return [(last.labels[0] if last.labels else RETURN, running)]
        if last.opcode == "br":
            taken = first = w.row(last.operands[0])
            if w.mask != WHOLE:
                first = w.line(f"and {truth} {running}, {taken}")
            return [(last.labels[0], first), (last.labels[1], w.line(f"xor {truth} {running}, {first}"))]
        value, type_ = w.row(last.operands[0]), row_type(last.operands[0].type.element)
        edges: dict[str, str] = {}

        def add(label: str, chosen: str) -> None:
            edges[label] = chosen if label not in edges else w.line(f"or {truth} {edges[label]}, {chosen}")

        for case, label in zip(last.operands[1:], last.labels[1:], strict=True):
            equal = w.line(f"icmp eq {type_} {value}, {w.row(case)}")
            add(label, w.line(f"and {truth} {running}, {equal}"))
            other = w.line(f"xor {truth} {equal}, splat (i1 true)")
            running = w.line(f"and {truth} {running}, {other}")
        add(last.labels[0], running)
        return list(edges.items())

    def _go(self, region: Region, edges: list[tuple[str, str]]) -> None:
        w = self._w
        going = w.line(f"load {_NUMBERS}, ptr {_next(region)}, align 64")
        for target, chosen in edges:
            number = f"splat (i32 {_number(region, target)})"
            going = w.line(f"select {row_type('i1')} {chosen}, {_NUMBERS} {number}, {_NUMBERS} {going}")
        w.do(f"store {_NUMBERS} {going}, ptr {_next(region)}, align 64")


def _written_at_once(block: Block, function: Function, lanes: Lanes) -> set[str]:
    """Return the phis whose old values are dead once a block that leads to theirs ends."""
    if lanes.region_of(block.label) or any(region.exit == block.label for region in lanes.regions):
        return set()
    if any(lanes.region_of(label) for phi in block.phis for label in phi.labels):
        return set()
    phis = {phi.result for phi in block.phis if phi.result in lanes.varying}
    elsewhere = {
        o.local for other in function.blocks for i in other.body for o in i.operands if other.label != block.label
    }
    elsewhere |= {o.local for i in block.body if i.opcode in ("bitcast", "shufflevector") for o in i.operands}
    elsewhere |= {o.local for other in function.blocks for phi in other.phis for o in phi.operands}
    return phis - elsewhere


def _number(region: Region, label: str) -> int:
    return region.blocks.index(label) if label in region.blocks else _OUT


def _label(label: str) -> str:
    return label if label.startswith("emulated.") else local(label)


def _next(region: Region) -> str:
    return f"%emulated.going.{region.source}"


def _dispatcher(region: Region) -> str:
    return f"emulated.turn.{region.source}"
