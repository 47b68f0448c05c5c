"""GEMM problem: C[M, N] = epilogue(op(A)[M, K] @ op(B)[K, N]), possibly batched, with a gate of two products, or with
a B for each expert.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from codegen.errors import InvalidProblem
from codegen.problem.dtype import WEIGHTS, DType
from codegen.problem.epilogue import (
    MAX_STEPS,
    Axis,
    EpilogueKind,
    EpilogueStep,
)
from codegen.problem.epilogue_text import print_epilogue
from codegen.problem.experts import spread_rows
from codegen.problem.gate import Gate
from codegen.problem.quantization import Quantization
from codegen.serialization import content_hash

__all__ = ["DType", "GemmProblem", "Operand"]

MAX_DIMENSION = 2**24
MAX_EXPERTS = 2**12
GATED_AXIS = "2 * n"
"""Axis of B along which both products of a gate have their columns."""
GROUP_AXIS = "group"
"""Axis of groups along K that share a scale."""
_DERIVED = cast("DType", None)
_C = 2  # its place among the operands
SCALE_B, ZERO_B = "B_scale", "B_zero"
"""Names of the operands that quantise B."""
OFFSETS = "offsets"
"""The operand of the first row of each expert, and the end of the last."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A matrix or vector in memory: what a launch passes a pointer to. Lengths in elements.

    `axes` are what rows and columns run along: "m", "n", "k", "2 * n" of a gated B, "group" of a quantised B, or "" of
    a vector's other one, "expert" of the offsets.
    `batch_stride` lies between the matrices of a batch or of the experts, 0 if all share one. `step` is the place in
    the epilogue; `experts` those that have a matrix each.
    """

    name: str
    role: Literal["input", "output", "inout"]
    dtype: DType
    axes: tuple[str, str]
    rows: int
    columns: int
    pitch: int
    batch_stride: int
    step: int | None = None
    experts: int = 1

    @property
    def is_vector(self) -> bool:
        """Return whether it always has one row or one column."""
        return "" in self.axes

    def elements(self, batch: int) -> int:
        """Elements from the first to past the last row, of all matrices."""
        return (self.matrices(batch) - 1) * self.batch_stride + self.rows * self.pitch

    def matrices(self, batch: int) -> int:
        """Return the matrices in memory: one if all share it."""
        return batch * self.experts if self.batch_stride else 1

    def nbytes(self, batch: int) -> int:
        """Bytes of all matrices."""
        return self.elements(batch) * self.dtype.nbytes


@dataclass(frozen=True, slots=True)
class GemmProblem:
    """Complete GEMM problem: its canonical form is the key of everything stored about it.

    A is stored [M, K] ([K, M] if `transpose_a`), B [K, N] ([N, K] if `transpose_b`), C [M, N]; rows are
    contiguous, `lda`, `ldb` and `ldc` elements apart (default: tight), matrices of a batch
    `batch_stride_*` elements apart (default: tight; 0 broadcasts an input). `alignment` is what all
    pointers are aligned to, in bytes. `dynamic` asks for one kernel that takes M, N, K and the distances of rows and
    matrices as arguments; those given here are what it is tuned for. `deterministic` asks for the same bits every time.
    Sums are i32 of integers, else f32; C is stored as summed if `dtype_c` is left out. With a `gate`, B has 2 N columns
    (rows if transposed), and what the epilogue takes is activation(A @ B1) * (A @ B2), in f32.
    A B of a type of `WEIGHTS` is converted to A's type, f16 or bf16, exactly or as its `quantization` says; of 4-bit
    types, rows, columns and distances of B count words of eight elements along K.
    With `experts`, rows of A and C are sorted by expert, and a launch gives the `offsets` of each one's rows, i32
    [experts + 1]; each has a B, `batch_stride_b` apart, with scales and zero points, and vectors of columns in the
    epilogue. M is the number of all rows that it is tuned for.

    Raises:
        InvalidProblem: a size, stride or type that contradicts itself; names the field.
    """

    m: int
    n: int
    k: int
    batch: int = 1
    dtype_a: DType = DType.F16
    dtype_b: DType = DType.F16
    dtype_c: DType = _DERIVED
    dtype_acc: DType = _DERIVED
    transpose_a: bool = False
    transpose_b: bool = False
    lda: int | None = None
    ldb: int | None = None
    ldc: int | None = None
    batch_stride_a: int | None = None
    batch_stride_b: int | None = None
    batch_stride_c: int | None = None
    alignment: int = 64
    dynamic: bool = False
    deterministic: bool = False
    epilogue: tuple[EpilogueStep, ...] = ()
    gate: Gate | None = None
    quantization: Quantization | None = None
    experts: int | None = None

    def __post_init__(self) -> None:
        if self.dtype_acc is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "dtype_acc", DType.I32 if self.dtype_a.is_integer else DType.F32)
        if self.dtype_c is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "dtype_c", self.dtype_acc)
        for name in ("m", "n", "k", "batch", "alignment"):
            _check_size(name, getattr(self, name))
        self._check_weights()
        if self.alignment & (self.alignment - 1):
            raise InvalidProblem("alignment", f"expected a power of two in bytes, got {self.alignment}")
        for name, row in (("lda", self.row_a), ("ldb", self.row_b), ("ldc", self.n)):
            pitch = _default(self, name, row)
            _check_size(name, pitch)
            if pitch < row:
                raise InvalidProblem(name, f"expected at least the row length {row}, got {pitch}")
        for name, tight in (
            ("batch_stride_a", self.rows_a * self.pitch_a),
            ("batch_stride_b", self.rows_b * self.pitch_b),
            ("batch_stride_c", self.m * self.pitch_c),
        ):
            stride = _default(self, name, tight)
            shared_input = stride == 0 and name != "batch_stride_c"
            if isinstance(stride, bool) or not isinstance(stride, int) or (stride < tight and not shared_input):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidProblem(name, f"expected at least the matrix size {tight}, got {stride!r}")
            if stride > MAX_DIMENSION**2:
                raise InvalidProblem(name, f"expected at most {MAX_DIMENSION**2}, got {stride}")
        self._check_experts()
        if self.gate is not None and self.n % (self.gate.interleave or 1):
            raise InvalidProblem("gate", f"expected N of whole blocks of {self.gate.interleave} columns, got {self.n}")
        if len(self.epilogue) > MAX_STEPS:
            raise InvalidProblem("epilogue", f"expected at most {MAX_STEPS} steps, got {len(self.epilogue)}")
        for step in self.epilogue:
            if step.ld is not None and not self.n <= step.ld <= MAX_DIMENSION:
                raise InvalidProblem(
                    "epilogue", f"{step.kind.value}: expected ld of N {self.n} to {MAX_DIMENSION}, got {step.ld}"
                )

    @property
    def products(self) -> int:
        """Products that an element of C is made of: two if gated."""
        return 1 if self.gate is None else 2

    @property
    def columns_b(self) -> int:
        """Columns of op(B): N for each product."""
        return self.n * self.products

    @property
    def row_a(self) -> int:
        """Length of a stored row of A, in elements."""
        return self.m if self.transpose_a else self.k

    @property
    def row_b(self) -> int:
        """Length of a stored row of B, in elements."""
        return self._stored_k if self.transpose_b else self.columns_b

    @property
    def rows_a(self) -> int:
        """Stored rows of A."""
        return self.k if self.transpose_a else self.m

    @property
    def rows_b(self) -> int:
        """Stored rows of B."""
        return self.columns_b if self.transpose_b else self._stored_k

    @property
    def has_weights(self) -> bool:
        """Return whether B is converted to A's type before it is multiplied."""
        return self.dtype_a in (DType.F16, DType.BF16) and self.dtype_b in WEIGHTS

    @property
    def bytes_b(self) -> float:
        """Bytes of memory that an element of B takes, with its part of scales and zero points."""
        q, bits = self.quantization, self.dtype_b.bits
        if q is None:
            return bits / 8
        return (bits + (q.scale.bits + bits * q.zeros) / (q.group or self.k)) / 8

    @property
    def _stored_k(self) -> int:
        return self.k // self.dtype_b.packed

    def _check_weights(self) -> None:
        if self.k % self.dtype_b.packed:
            expected = f"a multiple of {self.dtype_b.packed} for {self.dtype_b.value}"
            raise InvalidProblem("k", f"expected {expected}, got {self.k}")
        if self.quantization is not None:
            self.quantization.check(self.dtype_a, self.dtype_b)

    def _check_experts(self) -> None:
        if self.experts is None:
            return
        if isinstance(self.experts, bool) or not 1 <= self.experts <= MAX_EXPERTS:
            raise InvalidProblem("experts", f"expected 1 to {MAX_EXPERTS}, got {self.experts!r}")
        if self.batch > 1:
            raise InvalidProblem("experts", f"expected no batch beside {self.experts} experts, got {self.batch}")
        if self.batch_stride_b == 0:
            raise InvalidProblem("batch_stride_b", "expected a matrix for each expert, got 0")

    @property
    def rows_of_experts(self) -> tuple[int, ...]:
        """Rows of each expert, M together, that the problem is tuned for; M if there are no experts."""
        return (self.m,) if self.experts is None else spread_rows(self.m, self.experts)

    @property
    def read_experts(self) -> int:
        """Experts with rows."""
        return sum(rows > 0 for rows in self.rows_of_experts)

    def accessed_bytes(self, operand: Operand) -> int:
        """Return the bytes of all distinct matrices that a launch accesses: those of experts with rows."""
        matrices = self.read_experts if operand.experts > 1 else operand.matrices(self.batch)
        return operand.rows * operand.columns * operand.dtype.nbytes * matrices

    @property
    def pitch_a(self) -> int:
        """Elements between the rows of A."""
        assert self.lda is not None
        return self.lda

    @property
    def pitch_b(self) -> int:
        """Elements between the rows of B."""
        assert self.ldb is not None
        return self.ldb

    @property
    def pitch_c(self) -> int:
        """Elements between the rows of C."""
        assert self.ldc is not None
        return self.ldc

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Pointers of a launch, in order: A, B, C, scales and zero points of B, offsets of experts, operands of the
        epilogue.
        """
        strides = self.batch_stride_a, self.batch_stride_b, self.batch_stride_c
        assert None not in strides
        a, b, c = cast("tuple[int, int, int]", strides)
        axes_a = ("k", "m") if self.transpose_a else ("m", "k")
        along_n, experts = "n" if self.gate is None else GATED_AXIS, self.experts or 1
        axes_b = (along_n, "k") if self.transpose_b else ("k", along_n)
        updates = any(step.kind is EpilogueKind.BETA for step in self.epilogue)
        return (
            Operand("A", "input", self.dtype_a, axes_a, self.rows_a, self.row_a, self.pitch_a, a),
            Operand("B", "input", self.dtype_b, axes_b, self.rows_b, self.row_b, self.pitch_b, b, experts=experts),
            Operand("C", "inout" if updates else "output", self.dtype_c, ("m", "n"), self.m, self.n, self.pitch_c, c),
            *self._scales(),
            *self._offsets(),
            *self._epilogue_operands(),
        )

    @property
    def c(self) -> Operand:
        """C in memory."""
        return self.operands[_C]

    def _scales(self) -> Iterator[Operand]:
        if self.quantization is None:
            return
        rows, columns = self.quantization.groups(self.k), self.columns_b
        along = (GROUP_AXIS, "n" if self.gate is None else "2 * n")
        shared = self.batch > 1 and self.batch_stride_b == 0
        found = [(SCALE_B, self.quantization.scale)]
        if self.quantization.zeros:
            found.append((ZERO_B, self.dtype_b))
        for name, dtype in found:
            stored = -(-rows // dtype.packed)
            stride, experts = 0 if shared else stored * columns, self.experts or 1
            yield Operand(name, "input", dtype, along, stored, columns, columns, stride, experts=experts)

    def _offsets(self) -> Iterator[Operand]:
        if self.experts is not None:
            ends = self.experts + 1
            yield Operand(OFFSETS, "input", DType.I32, ("", "expert"), 1, ends, ends, 0)

    def _epilogue_operands(self) -> Iterator[Operand]:
        named: Counter[str] = Counter()
        for place, step in enumerate(self.epilogue):
            if not (step.is_matrix or step.axis is not None):
                continue
            named[step.kind] += 1
            name = f"{step.kind.value}{named[step.kind]}" if named[step.kind] > 1 else step.kind.value
            dtype, reduced = step.dtype or DType.F32, step.kind is EpilogueKind.REDUCE
            if step.axis is None:
                ld = step.ld or self.n
                yield Operand(name, "input", dtype, ("m", "n"), self.m, self.n, ld, self.m * ld, place)
                continue
            rows, columns, axes = (self.m, 1, ("m", "")) if step.axis is Axis.ROW else (1, self.n, ("", "n"))
            of_experts = (self.experts or 1) if step.axis is Axis.COLUMN and not reduced else 1
            stride, role = rows * columns if reduced or of_experts > 1 else 0, "output" if reduced else "input"
            yield Operand(name, role, dtype, axes, rows, columns, columns, stride, place, of_experts)

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of all products."""
        return self.batch * self.m * self.columns_b * self.k

    @property
    def flops(self) -> int:
        """Floating-point operations of the products: two for each multiply-add."""
        return 2 * self.multiply_adds

    @property
    def key(self) -> str:
        """Content hash of the canonical form."""
        return content_hash(self)

    def __str__(self) -> str:
        layout = f"{'T' if self.transpose_a else 'N'}{'T' if self.transpose_b else 'N'}"
        batch = f"{self.batch}x " if self.batch > 1 else ""
        inputs = self.dtype_a.value if self.dtype_a is self.dtype_b else f"{self.dtype_a.value},{self.dtype_b.value}"
        asked = "".join(f" {name}" for name in ("dynamic", "deterministic") if getattr(self, name))
        if self.quantization is not None:
            inputs = f"{inputs}:{self.quantization}"
        gate = f" gate {self.gate}" if self.gate is not None else ""
        gate = f" of {self.experts} experts{gate}" if self.experts is not None else gate
        steps = f" + {print_epilogue(self.epilogue)}" if self.epilogue else ""
        return f"{batch}{self.m}x{self.n}x{self.k} {inputs}->{self.dtype_c.value} {layout}{gate}{asked}{steps}"


def _check_size(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidProblem(name, f"expected a whole number, got {value!r}")
    if not 1 <= value <= MAX_DIMENSION:
        raise InvalidProblem(name, f"expected 1 to {MAX_DIMENSION}, got {value}")


def _default(problem: GemmProblem, name: str, tight: int) -> int:
    if getattr(problem, name) is None:
        object.__setattr__(problem, name, tight)
    return getattr(problem, name)
