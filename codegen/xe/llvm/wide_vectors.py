"""Splitting of wide vectors into vectors of at most 16 elements, the maximum of SPIR-V.

A large 2-D block load leaves its block in private memory, from which MLIR loads it as one wide vector and
slices it. The slices become separate loads. Wide vectors with other uses, such as those that a loop carries,
become several narrow ones.
"""

import re

from codegen.errors import CompileFailed
from codegen.simulate.llvm_ir.instruction_parser import parse_instruction
from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Type,
)
from codegen.simulate.refusal import SimulationRefused
from codegen.xe.llvm.private_memory import PRIVATE_ALIGNMENT
from codegen.xe.llvm.vector_pieces import (
    NARROW,
    Pieces,
    Slice,
    is_wide,
    taken_slice,
)
from codegen.xe.llvm.vector_split import (
    alignment,
    split_instruction,
)

MAX_ELEMENTS = NARROW[0]

_FUNCTION = re.compile(r"^define [^\n]*{$.*?^}$", re.MULTILINE | re.DOTALL)
_WIDE = re.compile(r"<(?:1[7-9]|[2-9]\d|\d{3,}) x ")  # of more than MAX_ELEMENTS
_DECLARATION = re.compile(
    r"^declare [^\n]*@(?P<name>llvm\.[\w.]+\.v(?:1[7-9]|[2-9]\d|\d{3,})[a-z]+\d+)\([^\n]*\n", re.MULTILINE
)
_METADATA = re.compile(r"(?:, ![\w.]+ ![\w.]+)+$")
_ALIGNED = re.compile(rf"^\s+%([\w.$-]+) = alloca [^\n]*, align {PRIVATE_ALIGNMENT}$", re.MULTILINE)
_SLICING = re.compile(r" = (?:shufflevector|extractelement) ")
_NAME = re.compile(r"%[\w.$-]+")


def split_wide_vectors(text: str) -> str:
    """Split every wide vector of a module's functions.

    Raises:
        CompileFailed: a use of a wide vector is not supported.
    """
    if _WIDE.search(text) is None:
        return text
    declared: dict[str, None] = {}
    out = _FUNCTION.sub(lambda m: _split_function(m[0], declared), text)
    new = [line for line in declared if f"@{_callee(line)}(" not in text]
    kept = _DECLARATION.sub(lambda m: m[0] if out.count(f"@{m['name']}(") > 1 else "", out)
    return kept + "".join(f"\n{line}\n" for line in new)


def _callee(declaration: str) -> str:
    return declaration.split(" @")[1].split("(")[0]


def _split_function(text: str, declared: dict[str, None]) -> str:
    lines = text.split("\n")
    wide = {at: _parsed(line) for at, line in enumerate(lines[1:], start=1) if _is_wide(line)}
    if not wide:
        return text
    views = {i.result for i in wide.values() if i.opcode == "bitcast" and not is_wide(i.type)}
    seen = {at: line for at, line in enumerate(lines) if views and at not in wide and views & _names(line)}
    slices = {at: _parsed(line) for at, line in seen.items() if _SLICING.search(line)}
    whole = {name for at, line in seen.items() if at not in slices for name in views & _names(line)}
    function = _Function(wide, views - whole, tuple(slices.values()), frozenset(_ALIGNED.findall(text)))
    replaced = {at: function.lines_of(i) for at, i in wide.items()}
    replaced |= {at: [] for at, i in slices.items() if i.result in function.dropped}
    declared.update(dict.fromkeys(function.pieces.declarations))
    out = lines[:1]
    for at, line in enumerate(lines[1:], start=1):
        out += replaced.get(at, [line])
    split = "\n".join(out)
    return _NAME.sub(lambda m: function.pieces.meaning(m[0]), split) if function.pieces.same else split


def _names(line: str) -> set[str]:
    return {name[1:] for name in _NAME.findall(line)}


def _is_wide(line: str) -> bool:
    return line.startswith("  ") and _WIDE.search(line) is not None


def _parsed(line: str) -> Instruction:
    try:
        return parse_instruction(_METADATA.sub("", line.strip()))
    except SimulationRefused as refused:
        raise CompileFailed("llvm", f"cannot split a wide vector: {refused}") from refused


class _Function:
    """The wide instructions of a function, and the number of pieces of their values.

    `views` are narrow vectors that cover a whole wide one and are only used by `slices`. `dropped` are slices
    that became separate loads.
    """

    def __init__(
        self, wide: dict[int, Instruction], views: set[str], slices: tuple[Instruction, ...], aligned: frozenset[str]
    ) -> None:
        self.dropped: set[str] = set()
        self._views = {name: [i for i in slices if i.operands[0].local == name] for name in views}
        for i in slices:
            if taken_slice(i) is None:
                self._views.pop(i.operands[0].local, None)
            self._views.pop(i.operands[1].local, None)
        self._defined = {i.result: i for i in wide.values() if i.result and is_wide(i.type)}
        taken = {i.result: taken_slice(i) for i in wide.values()}
        self._slices = {name: s for name, s in taken.items() if s is not None and s.source in self._defined}
        webs = self._webs(wide)
        self._sliced_loads: dict[str, str] = {}  # a wide value that is only sliced -> its load
        self.pieces = Pieces(self._counts(wide, webs), aligned)
        self._loads: dict[str, dict[tuple[int, Type], str]] = {}
        self._take_slices_from_loads(wide, webs)

    def lines_of(self, i: Instruction) -> list[str]:
        """Return the lines that replace an instruction."""
        if i.result in self._loads:
            return self._narrow_loads(i)
        taken = self._slices.get(i.result)
        if i.result in self._sliced_loads or (taken is not None and taken.source in self._sliced_loads):
            return []
        return [f"  {line}" for line in split_instruction(i, self.pieces)]

    def _webs(self, wide: dict[int, Instruction]) -> dict[str, str]:
        """Return a representative for each wide value; the same for values that must be split alike."""
        parent = {name: name for name in self._defined}

        def root(name: str) -> str:
            while parent[name] != name:
                name = parent[name]
            return name

        for i in wide.values():
            if i.result not in self._defined or i.opcode in ("shufflevector", "load"):
                continue
            for operand in i.operands:
                if operand.local in parent:
                    parent[root(operand.local)] = root(i.result)
        return {name: root(name) for name in parent}

    def _counts(self, wide: dict[int, Instruction], webs: dict[str, str]) -> dict[str, int]:
        """Return the number of pieces of each wide value: the fewest that slice boundaries allow."""
        out: dict[str, int] = {}
        for web in set(webs.values()):
            types = [self._defined[name].type for name in webs if webs[name] == web]
            types += [
                o.type for i in wide.values() if webs.get(i.result) == web for o in i.operands if _splits(i, o.type)
            ]
            types += [i.type for i in wide.values() if i.opcode == "bitcast" and webs.get(i.operands[0].local) == web]
            slices = [(s, self._defined[s.source].type.count) for s in self._slices.values() if webs[s.source] == web]
            possible = [n for n in range(2, max(t.count for t in types) + 1) if _divides(n, types)]
            if not possible:
                raise CompileFailed(
                    "llvm", f"cannot split vectors of {sorted({t.count for t in types})} elements alike"
                )
            fitting = [n for n in possible if all(_at_borders(s, total // n) for s, total in slices)]
            out |= {name: (fitting or possible)[0] for name in webs if webs[name] == web}
        return out

    def _take_slices_from_loads(self, wide: dict[int, Instruction], webs: dict[str, str]) -> None:
        """Replace slices by separate loads in webs of one load that is only sliced and bitcast."""
        used = [(o.local, i) for i in wide.values() for o in i.operands if o.local in self._defined]
        for web in set(webs.values()):
            names = [name for name in webs if webs[name] == web]
            loads = [name for name in names if self._defined[name].opcode == "load"]
            others = {self._defined[name].opcode for name in names if name not in loads}
            users = [i for name, i in used if webs[name] == web and i.result not in names]
            if len(loads) != 1 or others - {"bitcast"} or any(i.result not in self._slices for i in users):
                continue
            self._sliced_loads |= dict.fromkeys(names, loads[0])
            narrow = self._loads[loads[0]] = {}
            for i in users:
                parts = self._views.get(i.result, [i])
                self.dropped.update(part.result for part in parts)
                for part in parts:
                    self._take(part, narrow, loads[0])

    def _take(self, i: Instruction, narrow: dict[tuple[int, Type], str], load: str) -> None:
        taken = taken_slice(i)
        assert taken is not None
        offset, type_ = taken.first * i.operands[0].type.dtype.itemsize, i.type
        name = f"wide{load}.at{offset}.{type_.count or 's'}{type_.element}"
        self.pieces.call(i.result, f"%{narrow.setdefault((offset, type_), name)}")

    def _narrow_loads(self, load: Instruction) -> list[str]:
        out: list[str] = []
        pointer = load.operands[0]
        for (offset, type_), value in self._loads[load.result].items():
            out.append(f"  %{value}.p = getelementptr inbounds i8, {pointer.type} %{pointer.local}, i64 {offset}")
            place = alignment(load, self.pieces, offset)
            out.append(f"  %{value} = load {type_}, {pointer.type} %{value}.p, {place}")
        return out


def _splits(i: Instruction, type_: Type) -> bool:
    """True for an operand that is split like the result."""
    return i.opcode == "bitcast" or (is_wide(type_) and i.opcode != "shufflevector")


def _divides(pieces: int, types: list[Type]) -> bool:
    return all(t.count % pieces == 0 and t.count // pieces in NARROW for t in types)


def _at_borders(s: Slice, elements: int) -> bool:
    return s.count == 0 or (s.first % elements == 0 and s.count % elements == 0)
