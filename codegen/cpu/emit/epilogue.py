"""Epilogue on the vectors of one tile, from accumulators to C: steps, conversion, store, and partial sums."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codegen.cpu.emit.elements import (
    Elements,
    elements_of,
    stored,
)
from codegen.cpu.emit.vector_math import (
    Floats,
    gelu,
    gelu_tanh,
    sigmoid,
    silu,
    tanh,
)
from codegen.cpu.emit.writer import (
    Function,
    Value,
    f32,
    mask,
)
from codegen.cpu.nest.plan import Plan
from codegen.problem.dtype import DType
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
    EpilogueStep,
)
from codegen.problem.gemm import Operand
from codegen.xe.rules.sizes import ceil_div

_POINTER_BYTES = 8
_C = 2  # its place among the operands
_CURVES: Mapping[EpilogueKind, Callable[[Floats, str], str]] = {
    EpilogueKind.GELU: gelu,
    EpilogueKind.GELU_TANH: gelu_tanh,
    EpilogueKind.SILU: silu,
    EpilogueKind.SIGMOID: sigmoid,
    EpilogueKind.TANH: tanh,
}
_FEW_STEPS = 3


def is_short(plan: Plan) -> bool:
    """Return whether the steps are few enough instructions to be repeated for each row of a tile."""
    steps = plan.problem.epilogue
    if plan.problem.gate is not None:
        return False
    return len(steps) <= _FEW_STEPS and all(s.kind not in (*_CURVES, EpilogueKind.REDUCE) for s in steps)


def keeps_sums(plan: Plan) -> bool:
    """Return whether C stores the accumulators unchanged."""
    p = plan.problem
    return p.gate is None and not p.epilogue and p.dtype_c is (DType.I32 if plan.sums_are_integers else DType.F32)


@dataclass(frozen=True)
class Epilogue:
    """Epilogue of one tile of C, `columns` wide, that begins at `place`: matrix, row and column."""

    f: Function
    plan: Plan
    columns: int
    place: tuple[Value, Value, Value]

    @cached_property
    def _elements(self) -> Elements:
        return elements_of(self.f, self.plan)

    @property
    def floats(self) -> Floats:
        """Vectors of f32 of the instruction set."""
        return self._elements.floats

    @property
    def vectors(self) -> int:
        """Vectors of one row."""
        return ceil_div(self.columns, self.plan.lanes)

    @property
    def c(self) -> str:
        """Address of the tile in C."""
        return self._pointers[None]

    @cached_property
    def sums_along_columns(self) -> tuple[int, ...]:
        """Steps that sum columns: `rows` carries `vectors` sums for each from row to row."""
        steps = self.plan.problem.epilogue
        return tuple(n for n, step in enumerate(steps) if step.kind is EpilogueKind.REDUCE and step.axis is Axis.COLUMN)

    def begin(self) -> None:
        """Write what all rows share; call in a block that dominates them."""
        _ = self._pointers, self._partials

    def row(self, number: Value, sums: Sequence[str], along_columns: Sequence[str]) -> list[str]:
        """Store a row of accumulators to C; return `along_columns`, the column sums so far, with this row added.

        Accumulators of a gate are the vectors of both products, as `Columns.vectors` orders them.
        """
        steps, dtype, elements = self.plan.problem.epilogue, self.plan.problem.dtype_c, self._elements
        gate = self.plan.problem.gate
        if not steps and self.plan.sums_are_integers and gate is None:
            for c, value in enumerate(sums):
                self._store(number, c, elements.of_integers(value, dtype))
            return []
        values = [elements.as_floats(value) for value in sums] if self.plan.sums_are_integers else list(sums)
        if gate is not None:
            first, second = (self._product(number, values) for number in (0, 1))
            active = [self._elementwise(gate.step, x) for x in first]
            values = self._with(self.floats.mul, active, second)
        carried: list[str] = []
        for place, step in enumerate(steps):
            if step.kind is not EpilogueKind.REDUCE:
                values = self._step(place, step, number, values)
            elif step.axis is Axis.ROW:
                self._sum_of_row(place, number, values)
            else:
                before = along_columns[len(carried) : len(carried) + self.vectors]
                carried += [self.floats.add(old, x) for old, x in zip(before, values, strict=True)]
        for c, value in enumerate(values):
            self._store(number, c, elements.of_floats(value, dtype))
        return carried

    def end(self, along_columns: Sequence[str]) -> None:
        """Store the column sums for the reduction over tiles."""
        for place, step in enumerate(self.sums_along_columns):
            for c in range(self.vectors):
                pointer = self.f.at(self._partials[step], c * self.plan.lanes * 4)
                value = along_columns[place * self.vectors + c]
                self._elements.store(value, pointer, DType.F32, self._rest(c))  # what follows is another tile's

    # Steps.

    def _product(self, number: int, values: Sequence[str]) -> list[str]:
        """Return the vectors of one product of a gate, from those of both."""
        lanes, columns = self.plan.lanes, self.plan.columns
        vectors = columns.vectors(self.columns, lanes)
        where = {v.place + n: (at, n) for at, v in enumerate(vectors) for n in range(v.count)}
        found = list[str]()
        for first in range(0, self.columns, lanes):
            inside = range(first, min(first + lanes, self.columns))
            sources = [where[columns.sum_of(number, column)] for column in inside]
            used = list(dict.fromkeys(at for at, _ in sources))
            if len(used) == 1 and [lane for _, lane in sources] == list(range(len(sources))):
                found.append(values[used[0]])
                continue
            kind = self.floats.type
            a, b = (values[at] for at in (used[0], used[-1]))
            turns = [lane + lanes * (at != used[0]) for at, lane in sources]
            turns += [0] * (lanes - len(turns))
            found.append(self.f.op(f"shufflevector {kind} {a}, {kind} {b}, {mask(turns)}"))
        return found

    def _step(self, place: int, step: EpilogueStep, row: Value, values: list[str]) -> list[str]:
        v = self.floats
        match step.kind:
            case EpilogueKind.BIAS:
                return self._with(v.add, values, self._vector(place, step, row))
            case EpilogueKind.SCALE if step.axis is not None:
                return self._with(v.mul, values, self._vector(place, step, row))
            case EpilogueKind.ADD:
                return self._with(v.add, values, self._matrix(place, row))
            case EpilogueKind.MULTIPLY:
                return self._with(v.mul, values, self._matrix(place, row))
            case EpilogueKind.BETA:
                factor = v.constant(_value(step))
                return self._with(v.add, values, [v.mul(old, factor) for old in self._matrix(None, row)])
            case _:
                return [self._elementwise(step, x) for x in values]

    def _elementwise(self, step: EpilogueStep, x: str) -> str:
        v = self.floats
        if step.kind in _CURVES:
            return _CURVES[step.kind](v, x)
        match step.kind:
            case EpilogueKind.ALPHA | EpilogueKind.SCALE:
                return v.mul(x, v.constant(_value(step)))
            case EpilogueKind.RELU:
                return v.at_least(x, 0.0)
            case EpilogueKind.LEAKY_RELU:
                return v.select("ogt", x, v.constant(0.0), x, v.mul(x, v.constant(_value(step))))
            case EpilogueKind.CLIP:
                assert step.high is not None, "the step's own check"
                return v.at_most(v.at_least(x, _value(step)), step.high)
            case _:
                raise AssertionError(f"{step.kind} is no step on elements alone")

    @staticmethod
    def _with(operation: Callable[[str, str], str], a: Sequence[str], b: Sequence[str]) -> list[str]:
        return [operation(x, y) for x, y in zip(a, b, strict=True)]

    def _sum_of_row(self, place: int, row: Value, values: Sequence[str]) -> None:
        v, inside = self.floats, list(values)
        if (count := self._rest(self.vectors - 1)) < v.lanes:
            kept = f"<{v.lanes} x i1> {self._elements.mask(count)}"
            inside[-1] = self.f.op(f"select {kept}, {v.type} {inside[-1]}, {v.type} zeroinitializer")
        while len(inside) > 1:
            inside = [v.add(*pair) if len(pair) == 2 else pair[0] for pair in _pairs(inside)]
        name = f"llvm.vector.reduce.fadd.{v.suffix}"
        total = self.f.op(f"call reassoc float @{name}(float {f32(-0.0)}, {v.type} {inside[0]})")
        self.f.store("float", total, self.f.at(self._partials[place], self.f.mul(row, 4)), 4)

    # Memory.

    @cached_property
    def _operands(self) -> dict[int | None, tuple[int, Operand]]:
        """C by None and operands of steps by the step, each with its index among the arguments."""
        operands = self.plan.problem.operands
        return {o.step: (n, o) for n, o in enumerate(operands) if n == _C or o.step is not None}

    @cached_property
    def _pointers(self) -> dict[int | None, str]:
        """Address of the tile in C and in the operands that steps read."""
        f, (matrix, row, column) = self.f, self.place
        pointers: dict[int | None, str] = {}
        for step, (number, o) in self._operands.items():
            if o.role == "output" and step is not None:
                continue
            offset = f.mul(matrix if self.plan.problem.experts is None or o.experts > 1 else 0, o.batch_stride)
            if "m" in o.axes:
                offset = f.add(offset, f.mul(row, o.pitch))
            if "n" in o.axes:
                offset = f.add(offset, column)
            pointers[step] = f.at(self._argument(number), f.mul(offset, o.dtype.nbytes))
        return pointers

    @cached_property
    def _partials(self) -> dict[int, str]:
        """Address of the tile's partial sums, by step."""
        f, plan, (matrix, row, column) = self.f, self.plan, self.place
        reduces = [n for n, step in enumerate(plan.problem.epilogue) if step.kind is EpilogueKind.REDUCE]
        pointers: dict[int, str] = {}
        for number, step in enumerate(reduces):
            if plan.problem.epilogue[step].axis is Axis.ROW:
                line = f.add(f.mul(matrix, plan.tiles_n), f.div(column, plan.nr))
                offset = f.add(f.mul(line, plan.tiles_m * plan.mr), row)
            else:
                line = f.add(f.mul(matrix, plan.tiles_m), f.div(row, plan.mr))
                offset = f.add(f.mul(line, plan.tiles_n * plan.nr), column)
            pointers[step] = f.at(self._argument(len(plan.problem.operands) + number), f.mul(offset, 4))
        return pointers

    def _argument(self, number: int) -> str:
        return self.f.load("ptr", self.f.at("%arguments", number * _POINTER_BYTES), _POINTER_BYTES)

    def _vector(self, place: int, step: EpilogueStep, row: Value) -> list[str]:
        """Return the operand of a step along an axis: a broadcast scalar for the row, or one element per column."""
        _, o = self._operands[place]
        if step.axis is Axis.COLUMN:
            return [self._loaded(self._pointers[place], c, o.dtype) for c in range(self.vectors)]
        pointer = self.f.at(self._pointers[place], self.f.mul(row, o.dtype.nbytes))
        one = self.f.load(stored(o.dtype), pointer, o.dtype.nbytes)
        same = self._elements.same(stored(o.dtype), one)
        return [self._elements.widened(same, o.dtype)] * self.vectors

    def _matrix(self, place: int | None, row: Value) -> list[str]:
        _, o = self._operands[place]
        pointer = self.f.at(self._pointers[place], self.f.mul(row, o.pitch * o.dtype.nbytes))
        return [self._loaded(pointer, c, o.dtype) for c in range(self.vectors)]

    def _loaded(self, pointer: str, c: int, dtype: DType) -> str:
        """Load vector `c` of a row as f32; nothing beyond the tile's columns is read."""
        pointer = self.f.at(pointer, c * self.plan.lanes * dtype.nbytes)
        return self._elements.widened(self._elements.load(pointer, dtype, self._rest(c)), dtype)

    def _store(self, row: Value, c: int, value: str) -> None:
        _, o = self._operands[None]
        start = self.f.mul(row, o.pitch * o.dtype.nbytes)
        pointer = self.f.at(self._pointers[None], self.f.add(start, c * self.plan.lanes * o.dtype.nbytes))
        self._elements.store(value, pointer, o.dtype, self._rest(c))

    def _rest(self, c: int) -> int:
        """Return the number of columns of vector `c` that are inside."""
        return min(self.plan.lanes, self.columns - c * self.plan.lanes)


def _value(step: EpilogueStep) -> float:
    assert step.value is not None, "the step's own check"
    return step.value


def _pairs(values: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(values[n : n + 2]) for n in range(0, len(values), 2)]
