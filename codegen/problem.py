"""What is to be computed: C[M, N] = epilogue(op(A)[M, K] @ op(B)[K, N]), possibly batched."""

from dataclasses import dataclass
from enum import StrEnum

from codegen.canonical import content_hash
from codegen.epilogue import EpilogueStep
from codegen.errors import InvalidProblem

MAX_DIMENSION = 2**24


class DType(StrEnum):
    """Element types."""

    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"  # f32 in memory
    F32 = "f32"
    S8 = "s8"
    U8 = "u8"
    I32 = "i32"

    @property
    def nbytes(self) -> int:
        """Bytes of one element in memory."""
        return {"f16": 2, "bf16": 2, "s8": 1, "u8": 1}.get(self.value, 4)


@dataclass(frozen=True, slots=True)
class GemmProblem:
    """A GEMM, whole: its canonical form is the key of everything stored about it.

    A is stored [M, K] ([K, M] if `transpose_a`), B [K, N] ([N, K] if `transpose_b`), C [M, N]; rows are
    contiguous, `lda`, `ldb` and `ldc` elements apart (default: tight), matrices of a batch
    `batch_stride_*` elements apart (default: tight; 0 broadcasts an input). `alignment` is what all
    pointers are aligned to, in bytes. `dynamic` asks for one kernel that takes M, N and K as arguments.

    Raises:
        InvalidProblem: a size, stride or type that contradicts itself; names the field.
    """

    m: int
    n: int
    k: int
    batch: int = 1
    dtype_a: DType = DType.F16
    dtype_b: DType = DType.F16
    dtype_c: DType = DType.F32
    dtype_acc: DType = DType.F32
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
    epilogue: tuple[EpilogueStep, ...] = ()

    def __post_init__(self) -> None:
        for name in ("m", "n", "k", "batch", "alignment"):
            _check_size(name, getattr(self, name))
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

    @property
    def row_a(self) -> int:
        """Length of a stored row of A, in elements."""
        return self.m if self.transpose_a else self.k

    @property
    def row_b(self) -> int:
        """Length of a stored row of B, in elements."""
        return self.k if self.transpose_b else self.n

    @property
    def rows_a(self) -> int:
        """Stored rows of A."""
        return self.k if self.transpose_a else self.m

    @property
    def rows_b(self) -> int:
        """Stored rows of B."""
        return self.n if self.transpose_b else self.k

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
    def flops(self) -> int:
        """Floating-point operations of the multiply: two for each multiply-add."""
        return 2 * self.batch * self.m * self.n * self.k

    @property
    def key(self) -> str:
        """Content hash of the canonical form."""
        return content_hash(self)

    def __str__(self) -> str:
        layout = f"{'T' if self.transpose_a else 'N'}{'T' if self.transpose_b else 'N'}"
        batch = f"{self.batch}x " if self.batch > 1 else ""
        return f"{batch}{self.m}x{self.n}x{self.k} {self.dtype_a.value}->{self.dtype_c.value} {layout}"


def _check_size(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidProblem(name, f"expected a whole number, got {value!r}")
    if not 1 <= value <= MAX_DIMENSION:
        raise InvalidProblem(name, f"expected 1 to {MAX_DIMENSION}, got {value}")


def _default(problem: GemmProblem, name: str, tight: int) -> int:
    if getattr(problem, name) is None:
        object.__setattr__(problem, name, tight)
    return getattr(problem, name)
