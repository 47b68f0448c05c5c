"""A builder that appends operations and folds constants."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue

from codegen.xe.dialects.creation import append, create, for_loop
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import index, integer, splat, vector
from codegen.xe.dialects.upstream.arith_ops import CmpiOp

Inserted = TypeVar("Inserted", bound=Operation)
Value = TypeVar("Value", bound=SSAValue)
Body = Callable[["Writer", SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]


class Writer:
    """The end of a block. Arithmetic on indices folds constants."""

    def __init__(self, block: Block, known: dict[int, SSAValue] | None = None) -> None:
        self._block = block
        self._known = dict(known or {})  # constants that have a value already

    def insert(self, op: Inserted) -> Inserted:
        """Append an operation."""
        append(self._block, op)
        return op

    def value(self, number: Index) -> SSAValue:
        """Return an index as an SSA value."""
        if isinstance(number, SSAValue):
            return number
        if number not in self._known:
            constant = self.insert(create(arith.ConstantOp, (), (index,), {"value": integer(number, index)}))
            self._known[number] = named(constant.result, f"c{number}")
        return self._known[number]

    def splat(self, shape: Sequence[int], element: AnyFloat | IntegerType, number: float) -> SSAValue:
        """Create a vector of equal elements."""
        type_ = vector(element, *shape)
        if isinstance(element, IntegerType):
            held = splat(type_, element.pack((element.get_normalized_value(int(number)),)))
        else:
            held = splat(type_, element.pack((float(number),)))
        return self.insert(create(arith.ConstantOp, (), (type_,), {"value": held})).result

    def add(self, a: Index, b: Index) -> Index:
        """Return a + b."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0 or b == 0:
            return b if a == 0 else a
        return self._computed(arith.AddiOp, a, b)

    def sub(self, a: Index, b: Index) -> Index:
        """Return a - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self._computed(arith.SubiOp, a, b)

    def mul(self, a: Index, b: Index) -> Index:
        """Return a * b."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 1 or b == 1:
            return b if a == 1 else a
        if a == 0 or b == 0:
            return 0
        return self._computed(arith.MuliOp, a, b)

    def div(self, a: Index, b: Index) -> Index:
        """Return a / b rounded down; neither is negative."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return a if b == 1 else self._computed(arith.DivUIOp, a, b)

    def rem(self, a: Index, b: Index) -> Index:
        """Return the remainder of a / b; neither is negative."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return 0 if b == 1 else self._computed(arith.RemUIOp, a, b)

    def ceil_div(self, a: Index, b: int) -> Index:
        """Return a / b rounded up."""
        return a if b == 1 else self.div(self.add(a, b - 1), b)

    def minimum(self, a: Index, b: Index) -> Index:
        """Return the smaller of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self._computed(arith.MinUIOp, a, b)

    def equal(self, a: Index, b: Index) -> SSAValue:
        """Return an i1 value: true if two indices are equal."""
        return self.insert(CmpiOp(self.value(a), self.value(b), "eq")).result

    def less(self, a: Index, b: Index) -> SSAValue:
        """Return an i1 value: true if a < b; neither is negative."""
        return self.insert(CmpiOp(self.value(a), self.value(b), "ult")).result

    def _computed(self, kind: type[Operation], a: Index, b: Index) -> SSAValue:
        return self.insert(create(kind, (self.value(a), self.value(b)), (index,))).results[0]

    def loop(
        self, start: Index, end: Index, step: Index, carried: Sequence[SSAValue], body: Body, name: str
    ) -> Sequence[SSAValue]:
        """Write a loop around `body`, which takes the index and carried values; return the final carried values."""
        block = Block(arg_types=[index, *(value.type for value in carried)])
        counter, *arguments = block.args
        counter.name_hint = name
        for argument, value in zip(arguments, carried, strict=True):
            argument.name_hint = value.name_hint
        bounds = self.value(start), self.value(end), self.value(step)
        inner = Writer(block, self._known)
        inner.insert(create(scf.YieldOp, body(inner, counter, arguments), ()))
        return self.insert(for_loop(bounds, carried, block)).results

    def for_each(self, extent: int, step: int, body: Callable[["Writer", Index], None]) -> None:
        """Write `body` in a loop over the multiples of a step below an extent; without a loop for one."""
        if extent == step:
            body(self, 0)
            return

        def inner(w: Writer, at: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            body(w, at)
            return []

        self.loop(0, extent, step, [], inner, "at")

    def when(self, condition: SSAValue, body: Callable[["Writer"], None]) -> None:
        """Write `body` inside an scf.if on the condition."""
        block = Block()
        inner = Writer(block, self._known)
        body(inner)
        inner.insert(scf.YieldOp())
        self.insert(scf.IfOp(condition, [], Region(block)))


def named(value: Value, name: str | None) -> Value:
    """Set the name hint of a value and return it."""
    value.name_hint = name
    return value
