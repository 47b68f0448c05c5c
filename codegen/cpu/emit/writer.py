"""Writes LLVM IR as text: functions with loops, conditions and addresses, gathered in a module.

A value is the text of an operand without its type, `%v3` or a constant; whole numbers are Python's, and what is known
of them is computed here. Intrinsics need no declaration: LLVM's parser knows them.
"""

import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Value = str | int
Typed = tuple[str, Value]


class Module:
    """Texts of functions, globals and declarations of one module, each written once."""

    def __init__(self) -> None:
        self._heads: dict[str, None] = {}
        self._functions: list[str] = []
        self._feet: list[str] = []
        self._metadata: list[str] = ["!0 = !{}", '!1 = !{!"llvm.loop.unroll.disable"}']

    @property
    def text(self) -> str:
        """The module."""
        return "\n".join([*self._heads, *self._functions, *self._metadata, *self._feet, ""])

    def head(self, line: str) -> None:
        """Add a line before the functions, once: a global, a type, or the declaration of an external function."""
        self._heads[line] = None

    def foot(self, text: str) -> None:
        """Add text at the end of the module, after all functions."""
        self._feet.append(text)

    def loop_id(self) -> str:
        """Return the metadata of a loop that LLVM must not unroll, because the writer unrolled it."""
        number = len(self._metadata)
        self._metadata.append(f"!{number} = distinct !{{!{number}, !1}}")
        return f"!{number}"

    @contextmanager
    def function(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]] = (),
        result: str = "void",
        linkage: str = "internal",
        *,
        copied: bool = True,
    ) -> Generator["Function"]:
        """Write a function `@name` of (type, `%name`) parameters; without a terminator at its end it returns nothing.

        `linkage` may hold all that stands before the result type, "" for a function that others call; `copied` lets
        LLVM copy the body to where it is called from.
        """
        function = Function(self)
        yield function
        function.close()
        listed = ", ".join(f"{kind} {parameter}" for kind, parameter in parameters)
        begin = " ".join(part for part in ("define", linkage, result) if part)
        # Without the attribute, LLVM makes two halves of vectors of 64 bytes for CPUs that it takes to prefer those.
        attributes = (
            "" if copied else "noinline "
        ) + 'nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512"'
        self._functions.append(f"{begin} @{name}({listed}) {attributes} {{\n{function.text}\n}}")


@dataclass(slots=True)
class Loop:
    """One loop while it is written: `index`, the values that it `carried` into this round, and those that it leaves.

    `results` hold once the loop is closed.
    """

    index: Value
    carried: list[str]
    results: list[str]
    _next: list[Value] = field(default_factory=list[Value])

    def next(self, values: Sequence[Value]) -> None:
        """Set the values carried into the next round."""
        self._next = list(values)

    @property
    def passed_on(self) -> list[Value]:
        """Return the values for the next round: those of `next`, else those of this round."""
        return self._next or list(self.carried)


class Function:
    """The body of one function."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._lines: list[str] = ["entry:"]
        self._count = 0
        self._block = "entry"
        self._open = True

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines)

    def close(self) -> None:
        """Return, if the function does not yet."""
        if self._open:
            self.end("ret void")

    def emit(self, line: str) -> None:
        """Write one instruction without a result."""
        self._lines.append(f"  {line}")

    def fresh(self, prefix: str = "v") -> str:
        """Return an unused name, without `%`."""
        self._count += 1
        return f"{prefix}{self._count}"

    def op(self, text: str) -> str:
        """Write an instruction; return its result."""
        name = f"%{self.fresh()}"
        self.emit(f"{name} = {text}")
        return name

    def call(self, result: str, name: str, arguments: Sequence[Typed] = ()) -> str:
        """Call `@name`; the value is "" where `result` is void."""
        listed = ", ".join(f"{kind} {value}" for kind, value in arguments)
        text = f"call {result} @{name}({listed})"
        if result == "void":
            self.emit(text)
            return ""
        return self.op(text)

    # Numbers: i64.

    def add(self, a: Value, b: Value) -> Value:
        """a + b."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if 0 in (a, b):
            return b if a == 0 else a
        return self.op(f"add nsw i64 {a}, {b}")

    def sub(self, a: Value, b: Value) -> Value:
        """a - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.op(f"sub nsw i64 {a}, {b}")

    def mul(self, a: Value, b: Value) -> Value:
        """a * b."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 0 in (a, b):
            return 0
        if 1 in (a, b):
            return b if a == 1 else a
        return self.op(f"mul nsw i64 {a}, {b}")

    def div(self, a: Value, b: Value) -> Value:
        """Return a / b of non-negative numbers, rounded down."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return a if b == 1 else self.op(f"udiv i64 {a}, {b}")

    def rem(self, a: Value, b: Value) -> Value:
        """Return the remainder of a / b of non-negative numbers."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return 0 if b == 1 else self.op(f"urem i64 {a}, {b}")

    def min(self, a: Value, b: Value) -> Value:
        """The lesser."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return a if a == b else self.call("i64", "llvm.smin.i64", [("i64", a), ("i64", b)])

    def max(self, a: Value, b: Value) -> Value:
        """The greater."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return a if a == b else self.call("i64", "llvm.smax.i64", [("i64", a), ("i64", b)])

    def compare(self, predicate: str, a: Value, b: Value, kind: str = "i64") -> str:
        """Return an i1; `predicate` is LLVM's: eq, ne, slt, ult and so on."""
        return self.op(f"icmp {predicate} {kind} {a}, {b}")

    # Memory.

    def at(self, pointer: str, offset: Value) -> str:
        """Return the address `offset` bytes after a pointer."""
        return pointer if offset == 0 else self.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def load(self, kind: str, pointer: str, align: int) -> str:
        """Load from memory; `align` in bytes."""
        return self.op(f"load {kind}, ptr {pointer}, align {align}")

    def store(self, kind: str, value: Value, pointer: str, align: int) -> None:
        """Store to memory; `align` in bytes."""
        self.emit(f"store {kind} {value}, ptr {pointer}, align {align}")

    # Control.

    def label(self, name: str) -> None:
        """Begin a block."""
        self._lines.append(f"{name}:")
        self._block, self._open = name, True

    def end(self, terminator: str) -> None:
        """End a block, by a branch or a return."""
        self.emit(terminator)
        self._open = False

    @contextmanager
    def loop(
        self, low: Value, high: Value, step: Value = 1, carried: Sequence[Typed] = (), *, enters: bool = False
    ) -> Generator[Loop]:
        """Loop over low, low + step and so on below `high`; `carried` are types and initial values.

        `enters` promises that there is at least one round.
        """
        name = self.fresh("l")
        before, body, after = self._block, f"{name}.body", f"{name}.after"
        enters = enters or (isinstance(low, int) and isinstance(high, int) and low < high)
        if enters:
            self.end(f"br label %{body}")
        else:
            some = self.compare("slt", low, high)
            self.end(f"br i1 {some}, label %{body}, label %{after}")
        self.label(body)
        place = len(self._lines)
        inside = [f"%{self.fresh('c')}" for _ in carried]
        results = [f"%{self.fresh('r')}" for _ in carried]
        loop = Loop(f"%{name}", inside, results)
        yield loop
        following = self.add(loop.index, step)
        latch = self._block
        again = self.compare("slt", following, high)
        self.end(f"br i1 {again}, label %{body}, label %{after}, !llvm.loop {self.module.loop_id()}")
        nexts = loop.passed_on
        phis = [f"  %{name} = phi i64 [ {low}, %{before} ], [ {following}, %{latch} ]"]
        for (kind, first), value, later in zip(carried, inside, nexts, strict=True):
            phis.append(f"  {value} = phi {kind} [ {first}, %{before} ], [ {later}, %{latch} ]")
        self._lines[place:place] = phis
        self.label(after)
        for (kind, first), result, later in zip(carried, results, nexts, strict=True):
            skipped = "" if enters else f"[ {first}, %{before} ], "
            self.emit(f"{result} = phi {kind} {skipped}[ {later}, %{latch} ]")

    @contextmanager
    def when(self, condition: str) -> Generator[None]:
        """Execute the body of the `with` statement only if an i1 holds."""
        name = self.fresh("w")
        self.end(f"br i1 {condition}, label %{name}.then, label %{name}.after")
        self.label(f"{name}.then")
        yield
        if self._open:
            self.end(f"br label %{name}.after")
        self.label(f"{name}.after")

    def choose(self, number: Value, ways: Sequence[Callable[[], None]]) -> None:
        """Execute the way of that number, which is one of theirs."""
        if len(ways) == 1:
            ways[0]()
            return
        name = self.fresh("s")
        cases = " ".join(f"i64 {n}, label %{name}.{n}" for n in range(1, len(ways)))
        self.end(f"switch i64 {number}, label %{name}.0 [ {cases} ]")
        for n, write in enumerate(ways):
            self.label(f"{name}.{n}")
            write()
            self.end(f"br label %{name}.after")
        self.label(f"{name}.after")

    def either(
        self,
        condition: str,
        kinds: Sequence[str],
        then: Callable[[], Sequence[Value]],
        otherwise: Callable[[], Sequence[Value]],
    ) -> list[str]:
        """Return values of types `kinds` from one of two branches."""
        name = self.fresh("e")
        self.end(f"br i1 {condition}, label %{name}.then, label %{name}.else")
        ways: list[tuple[Sequence[Value], str]] = []
        for way, make in (("then", then), ("else", otherwise)):
            self.label(f"{name}.{way}")
            values = make()
            ways.append((values, self._block))
            self.end(f"br label %{name}.after")
        self.label(f"{name}.after")
        (first, there), (second, here) = ways
        return [
            self.op(f"phi {kind} [ {a}, %{there} ], [ {b}, %{here} ]")
            for kind, a, b in zip(kinds, first, second, strict=True)
        ]


def f32(value: float) -> str:
    """Return a constant of type float: LLVM expects the bits of the equal double."""
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"


def splat(element: str, value: Value) -> str:
    """Return a constant vector with all elements `value`, of type `element`."""
    return f"splat ({element} {value})"


def mask(numbers: Sequence[int]) -> str:
    """Return the last operand of a shufflevector, with its type."""
    return f"<{len(numbers)} x i32> <{', '.join(f'i32 {n}' for n in numbers)}>"
