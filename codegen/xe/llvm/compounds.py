"""Compound operations of lanes, written out as instructions once LLVM has optimised.

A compound is a call that stands for the same few instructions on each register of a chunk: an exchange of bits between
lanes and registers, or loads or stores of single elements. LLVM would look at each of them for as long as at any other,
and cannot improve them. Intel's compiler gets scalar instructions: it keeps all registers of a vector together, and
spills.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from codegen.errors import CompileFailed
from codegen.xe.compound_names import EXCHANGE, LOAD, RADIX, STORE

_ANY = rf"(?:{'|'.join(map(re.escape, (EXCHANGE, LOAD, STORE)))})"
_FUNCTION = re.compile(r"^define [^\n]*{$.*?^}$", re.MULTILINE | re.DOTALL)
_DECLARED = re.compile(rf"^(?:; Function Attrs: [^\n]*\n)?declare [^\n]*@{_ANY}[^\n]*\n\n?", re.MULTILINE)
_CALL = re.compile(
    rf"  (?:(?P<result>%\S+) = )?[a-z ]*call [^@]*?(?P<type><[^>]*>|\w+) @(?P<kind>{_ANY})(?P<number>\d+)[\w.]*"
    r"\((?P<arguments>.*)\)[^)]*"
)
_CALLED = re.compile(rf"@{_ANY}")
_NAME = re.compile(r"(%[\w.$-]+)")
_LABEL = re.compile(r"([\w.$-]+):")
_UNNAMED = re.compile(r" %\d+[,)]")
_INCOMING = re.compile(r", %([\w.$-]+) \]")
_VECTOR = re.compile(r"<(?P<length>\d+) x (?P<element>[^>]+)>")
_PARENTHESES = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_VALUE = (
    r"(?:%[\w.$-]+|@[\w.$-]+|zeroinitializer|poison|undef|<[^>]*>"
    rf"|splat {_PARENTHESES}|\w+ (?:[a-z]+ )*{_PARENTHESES}|[\w.+-]+)"
)
_ARGUMENT = re.compile(
    r"(?P<type><[^>]*>|ptr(?: addrspace\(\d+\))?|\w+) "
    rf"(?:align \d+ |[a-z_]+(?:{_PARENTHESES})? )*?(?P<value>{_VALUE})(?:, |$)"
)
_SHUFFLE = re.compile(
    rf"  (?P<result>%\S+) = shufflevector (?P<type><\d+ x [^>]+>) (?P<one>{_VALUE}), "
    rf"<\d+ x [^>]+> (?P<other>{_VALUE}), "
    r"<(?P<count>\d+) x i32> (?P<mask>zeroinitializer|poison|<[^>]*>)"
)
_INSERT = re.compile(
    rf"  %\S+ = insertelement (?P<type><\d+ x [^>]+>) (?P<into>{_VALUE}), \S+ (?P<scalar>\S+), i\d+ (?P<at>\d+)"
)
_EXTRACT = re.compile(r"  (?P<result>%\S+) = extractelement <\d+ x [^>]+> (?P<of>%\S+), i\d+ (?P<at>\d+)")
_CAST = re.compile(
    r"  (?P<result>%\S+) = bitcast <(?:2|4|8|16) x i32> (?P<of>%\S+) to "
    r"<(?P<count>\d+) x (?P<element>i8|i16|half)>"
)
_PARTS = re.compile(r"  %\S+ = (?:shufflevector|insertelement|extractelement) ")
_MANGLED = {"i32": "i", "float": "f", "i64": "l", "double": "d"}
_BITS = {"half": 16, "float": 32, "double": 64}
_WORD = 32
_KEPT = 256  # constants
_UNKNOWN = ("poison", "undef")


def expand_compounds(text: str) -> str:
    """Write out the compounds of a module.

    Raises:
        CompileFailed: LLVM gave a call a form that is not expected.
    """
    if _CALLED.search(text) is None:
        return text
    needed: dict[str, str] = {}
    text = _FUNCTION.sub(lambda m: _Function(m[0], needed).expanded() if _CALLED.search(m[0]) else m[0], text)
    text = _DECLARED.sub("", text)
    declared = "\n".join(line for line in text.split("\n") if line.startswith("declare "))
    return text + "".join(f"\n{line}\n" for name, line in needed.items() if f" @{name}(" not in declared)


class _Function:
    """A function while its compounds are written out. `needed` are declarations of the functions it calls, by name.

    The registers of a compound's result are known by their names, also where chunks of them are shuffled: such chunks
    are joined only for the instructions that use them whole.
    """

    def __init__(self, text: str, needed: dict[str, str]) -> None:
        self._lines, self._needed = text.split("\n"), needed
        self._names = [_NAME.findall(line) for line in self._lines]
        self._calls = {at: _call(line) for at, line in enumerate(self._lines) if _CALLED.search(line) is not None}
        self._made = {self._names[at][0]: at for at, line in enumerate(self._lines) if _PARTS.match(line)}
        self._known: dict[str, list[str]] = {}
        self._same: dict[str, str] = {}
        self._last_labels: dict[str, str] = {}
        self._label = str(len(_UNNAMED.findall(self._lines[0])))
        self._of_block: dict[str, str] = {}
        self._sources: dict[str, Mapping[int, tuple[str, str, int]] | None] = {}
        self._used = set[str]()
        self._out: list[tuple[str, int]] = []
        self._number = 0

    def expanded(self) -> str:
        """Return the text of the function without compounds."""
        shuffles = self._shuffles_of_results()
        casts = self._casts_of_results(shuffles)
        whole = self._used_whole(shuffles, casts)
        for at, line in enumerate(self._lines):
            if (call := self._calls.get(at)) is not None:
                self._expand(call, whole)
            elif (found := shuffles.get(at)) is not None:
                self._known[found["result"]] = [self._register(*place) for place in _places(found)]
                if found["result"] in whole:
                    self._join(found["result"], _joined_type(found), self._known[found["result"]])
            elif (cast := casts.get(at)) is not None:
                self._cast(cast)
            elif (taken := self._taken(at)) is not None:
                self._same[taken["result"]] = self._known[taken["of"]][int(taken["at"])]
            else:
                if (label := _LABEL.match(line)) is not None:
                    self._label = label[1]
                    self._of_block.clear()
                self._out.append((line, at))
        return "\n".join(reversed(list(self._kept())))

    def _shuffles_of_results(self) -> dict[int, re.Match[str]]:
        """Return the shuffles of results of compounds, by line."""
        results = {call["result"] for call in self._calls.values()}
        shuffles: dict[int, re.Match[str]] = {}
        for name, at in self._made.items():
            if not results.isdisjoint(self._names[at]) and (found := _SHUFFLE.fullmatch(self._lines[at])) is not None:
                shuffles[at] = found
                results.add(name)
        return shuffles

    def _casts_of_results(self, shuffles: Mapping[int, re.Match[str]]) -> dict[int, re.Match[str]]:
        """Return the casts of words that compounds, or shuffles of their results, give to smaller elements, by line."""
        results = {found["result"] for found in (*self._calls.values(), *shuffles.values())}
        found = ((at, _CAST.fullmatch(line)) for at, line in enumerate(self._lines) if " = bitcast <" in line)
        return {at: cast for at, cast in found if cast is not None and cast["of"] in results}

    def _used_whole(self, shuffles: Mapping[int, re.Match[str]], casts: Mapping[int, re.Match[str]]) -> set[str]:
        """Return results of compounds, and shuffles of them, that other instructions use whole."""
        results = {found["result"] for found in (*self._calls.values(), *shuffles.values())}
        whole = set[str]()
        for at, names in enumerate(self._names):
            if results.isdisjoint(names) or at in self._calls or at in shuffles or at in casts:
                continue
            if _EXTRACT.fullmatch(self._lines[at]) is None:
                whole.update(names)
        return whole & results

    def _taken(self, at: int) -> re.Match[str] | None:
        """Return an extraction of a known register."""
        names = self._names[at]
        return _EXTRACT.fullmatch(self._lines[at]) if len(names) == 2 and names[1] in self._known else None

    def _kept(self) -> Iterator[str]:
        """Yield the lines, the last first, without those that take or join parts of vectors which nothing uses now."""
        for line, at in self._out:
            if at >= 0 and " = phi " in line:  # it may use what follows it
                self._used.update(map(self._meaning, self._names[at][1:]))
        for line, at in reversed(self._out):
            if at < 0:
                yield line
                continue
            names = self._names[at]
            if names and names[0] not in self._used and self._made.get(names[0]) == at:
                continue
            self._used.update(map(self._meaning, names))
            if not self._same.keys().isdisjoint(names):
                line = "".join([self._meaning(part) for part in _NAME.split(line)])
            yield self._with_last_labels(line) if " = phi " in line else line

    # Registers.

    def _register(self, type_: str, value: str, at: int) -> str:
        """Return a register of a value: a name or a constant."""
        if value in self._known:
            return self._known[value][at]
        if not type_.startswith("<") or value in _UNKNOWN:
            return self._use(value)
        if not value.startswith("%"):
            return _numbers(type_, value)[at]
        joined = self._joined(value)
        if joined is None or (source := joined.get(at)) is None:
            return self._line(f"extractelement {type_} {self._use(value)}, i64 {at}")
        return self._register(*source)

    def _joined(self, value: str) -> Mapping[int, tuple[str, str, int]] | None:
        """Return of what the registers of a vector are: the type, a value, and the register there; None if unknown."""
        if value not in self._sources:
            line = self._lines[self._made[value]] if value in self._made else ""
            found: dict[int, tuple[str, str, int]] | None = None
            if (inserted := _INSERT.fullmatch(line)) is not None:
                type_, into = inserted["type"], inserted["into"]
                before = self._joined(into)
                found = {at: (type_, into, at) for at in range(_length(type_))} if before is None else {**before}
                found[int(inserted["at"])] = _element(type_), inserted["scalar"], 0
            elif (shuffled := _SHUFFLE.fullmatch(line)) is not None:
                found = dict(enumerate(_places(shuffled)))
            self._sources[value] = found
        return self._sources[value]

    def _use(self, value: str) -> str:
        """Return what a value is now, and note that it is used."""
        value = self._meaning(value)
        self._used.add(value)
        return value

    def _line(self, text: str) -> str:
        """Append an instruction without effects, once in a block; return the name of its result."""
        if text not in self._of_block:
            self._of_block[text] = name = self._new()
            self._add(f"  {name} = {text}")
        return self._of_block[text]

    def _add(self, *lines: str) -> None:
        self._out += [(line, -1) for line in lines]

    def _new(self) -> str:
        self._number += 1
        return f"%lane.{self._number}"

    def _join(self, result: str, type_: str, registers: Sequence[str]) -> None:
        """Insert registers into a vector."""
        element = _element(type_)
        before = "poison"
        for at, register in enumerate(registers):
            name = result if at == len(registers) - 1 else self._new()
            self._add(f"  {name} = insertelement {type_} {before}, {element} {register}, i64 {at}")
            before = name

    def _cast(self, cast: re.Match[str]) -> None:
        """Take words as smaller elements one by one: Intel's compiler would keep the words together, and spill."""
        element, words = cast["element"], self._known[cast["of"]]
        length = int(cast["count"]) // len(words)
        parts = [self._line(f"bitcast i32 {word} to <{length} x {element}>") for word in words]
        while len(parts) > 1:
            type_, mask = f"<{length} x {element}>", ", ".join(f"i32 {at}" for at in range(2 * length))
            pairs = zip(parts[::2], parts[1::2], strict=True)
            joins = [f"shufflevector {type_} {a}, {type_} {b}, <{2 * length} x i32> <{mask}>" for a, b in pairs]
            parts, length = [self._line(join) for join in joins], 2 * length
        self._same[cast["result"]] = parts[0]

    def _meaning(self, name: str) -> str:
        while name in self._same:
            name = self._same[name]
        return name

    def _with_last_labels(self, line: str) -> str:
        """Return a phi from the last of the blocks that a block was split into."""
        return _INCOMING.sub(lambda m: f", %{self._last_labels.get(m[1], m[1])} ]", line)

    # Compounds.

    def _expand(self, call: re.Match[str], whole: set[str]) -> None:
        arguments = _arguments(call["arguments"])
        if call["kind"] == STORE:
            self._store(arguments)
            return
        type_ = call["type"]
        if call["kind"] == EXCHANGE:
            registers = self._exchange(int(call["number"]), arguments)
        else:
            registers = self._load(type_, arguments)
        if not type_.startswith("<"):
            self._same[call["result"]] = registers[0]
            return
        self._known[call["result"]] = registers
        if call["result"] in whole:
            self._join(call["result"], type_, registers)

    def _exchange(self, steps: int, arguments: Sequence[tuple[str, str]]) -> list[str]:
        """Exchange, step by step, a bit of the lane with one of the register, among registers of chunks.

        Upper lanes give the elements of low registers, and get those of high ones that lower lanes give.
        """
        places, *chunks = arguments[: -2 * steps]
        element = _element(chunks[0][0])
        numbers = (int(self._register(*places, at)) for at in range(_length(places[0])))
        held = [self._register(*chunks[number // RADIX], number % RADIX) for number in numbers]
        for (_, upper), (_, bits) in zip(arguments[-2 * steps :: 2], arguments[1 - 2 * steps :: 2], strict=True):
            upper, (lane_bit, register_bit) = self._use(upper), divmod(int(bits), RADIX)
            for low in range(len(held)):
                if (high := low | 1 << register_bit) == low:
                    continue
                a, b = held[low], held[high]
                sent = self._line(f"select i1 {upper}, {element} {a}, {element} {b}")
                got = self._shuffled(element, sent, 1 << lane_bit)
                held[low] = self._line(f"select i1 {upper}, {element} {got}, {element} {a}")
                held[high] = self._line(f"select i1 {upper}, {element} {b}, {element} {got}")
        return held

    def _shuffled(self, element: str, scalar: str, lane_bits: int) -> str:
        bits = _bits(element)
        if bits >= _WORD:
            return self._line(f"call spir_func {element} {self._callee(element)}({element} {scalar}, i32 {lane_bits})")
        if element == "half":
            scalar = self._line(f"bitcast half {scalar} to i16")
        wide = self._line(f"zext i{bits} {scalar} to i32")
        got = self._line(f"call spir_func i32 {self._callee('i32')}(i32 {wide}, i32 {lane_bits})")
        narrow = self._line(f"trunc i32 {got} to i{bits}")
        return self._line(f"bitcast i16 {narrow} to half") if element == "half" else narrow

    def _callee(self, element: str) -> str:
        name = f"_Z21sub_group_shuffle_xor{_MANGLED[element]}j"
        self._needed[name] = f"declare spir_func {element} @{name}({element}, i32) convergent nounwind willreturn"
        return f"@{name}"

    def _load(self, type_: str, arguments: Sequence[tuple[str, str]]) -> list[str]:
        element, (pointer, *offsets) = _element(type_), arguments
        out: list[str] = []
        for at in range(_length(type_)):
            place = self._pointer(element, pointer, offsets, at)
            out.append(self._new())
            self._add(f"  {out[-1]} = load {element}, {pointer[0]} {place}, align {_nbytes(element)}")
        return out

    def _store(self, arguments: Sequence[tuple[str, str]]) -> None:
        """Store registers; one branch for successive ones with the same conditions."""
        chunk, pointer, *others = arguments
        offsets = [other for other in others if _element(other[0]) != "i1"]
        conditions = others[len(offsets) :]
        element = _element(chunk[0])
        inside = [[self._register(*condition, at) for condition in conditions] for at in range(_length(chunk[0]))]
        for common, some in groupby(range(len(inside)), key=inside.__getitem__):
            after = self._branch(common)
            for at in some:
                place, value = self._pointer(element, pointer, offsets, at), self._register(*chunk, at)
                self._add(f"  store {element} {value}, {pointer[0]} {place}, align {_nbytes(element)}")
            if after:
                self._add(f"  br label %{after}", "", f"{after}:")
                self._of_block.clear()

    def _branch(self, conditions: Sequence[str]) -> str:
        """Begin a block that runs where all conditions are true; return the label of the block behind it, if any."""
        if not conditions:
            return ""
        condition = conditions[0]
        for other in conditions[1:]:
            condition = self._line(f"and i1 {condition}, {other}")
        here, after = self._new()[1:], self._new()[1:]
        self._add(f"  br i1 {condition}, label %{here}, label %{after}", "", f"{here}:")
        self._last_labels[self._label] = after
        self._of_block.clear()
        return after

    def _pointer(self, element: str, start: tuple[str, str], offsets: Sequence[tuple[str, str]], at: int) -> str:
        type_, place = start[0], self._use(start[1])
        for chunk in offsets:
            offset = self._register(*chunk, at)
            if offset not in ("0", *_UNKNOWN):
                place = self._line(f"getelementptr {element}, {type_} {place}, i64 {offset}")
        return place


def _call(line: str) -> re.Match[str]:
    found = _CALL.fullmatch(line)
    if found is None:
        raise CompileFailed("llvm", f"expected a call of a compound, got {line.strip()[:120]}")
    return found


def _arguments(text: str) -> list[tuple[str, str]]:
    """Return the type and the value of each argument of a call."""
    found = list(_ARGUMENT.finditer(text))
    if "".join([argument[0] for argument in found]) != text:
        raise CompileFailed("llvm", f"expected arguments of a compound, got {text[:120]}")
    return [(argument["type"], argument["value"]) for argument in found]


def _places(shuffle: re.Match[str]) -> list[tuple[str, str, int]]:
    """Return the type, the operand and the place there of each element of a shuffle."""
    length, count, mask = _length(shuffle["type"]), int(shuffle["count"]), shuffle["mask"]
    if not mask.startswith("<"):
        numbers = [0 if mask == "zeroinitializer" else None] * count
    else:
        numbers = [int(n) if (n := entry.split(" ")[-1]).isdigit() else None for entry in mask[1:-1].split(", ")]
    sides = shuffle["one"], shuffle["other"]
    return [
        (shuffle["type"], "poison", 0) if n is None else (shuffle["type"], sides[n // length], n % length)
        for n in numbers
    ]


@lru_cache(_KEPT)
def _numbers(type_: str, value: str) -> Sequence[str]:
    """Return the elements of a constant vector."""
    length, element = _length(type_), _element(type_)
    if value == "zeroinitializer":
        return ("0" if element.startswith("i") else "0xH0000" if element == "half" else "0.0",) * length
    if value.startswith("splat ("):
        return (value[:-1].split(" ")[-1],) * length
    return tuple(entry.split(" ")[-1] for entry in value[1:-1].split(", "))


def _joined_type(shuffle: re.Match[str]) -> str:
    return f"<{shuffle['count']} x {_element(shuffle['type'])}>"


def _element(type_: str) -> str:
    found = _VECTOR.fullmatch(type_)
    return type_ if found is None else found["element"]


def _length(type_: str) -> int:
    found = _VECTOR.fullmatch(type_)
    return 1 if found is None else int(found["length"])


def _bits(element: str) -> int:
    return _BITS.get(element) or int(element[1:])


def _nbytes(element: str) -> int:
    return max(1, _bits(element) // 8)
