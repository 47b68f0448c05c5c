"""Problems of the CPU benchmark: shapes by name, types, and how weights are stored."""

from dataclasses import dataclass

from codegen import DType, GemmProblem

DTYPES = (DType.F32, DType.TF32, DType.F16, DType.BF16, DType.S8)
_OUTPUTS = {
    DType.F32: DType.F32, DType.TF32: DType.F32, DType.F16: DType.F16, DType.BF16: DType.BF16, DType.S8: DType.I32,
}  # fmt: skip
_TOKENS = (1, 16, 128, 1024)
_LAYERS = ((4096, 4096), (14336, 4096), (4096, 14336))  # N and K of a model's linear layers


@dataclass(frozen=True, slots=True)
class Case:
    """A product of [M, K] by weights stored [K, N], or [N, K] if `by_columns`; C is of the type that libraries give."""

    m: int
    n: int
    k: int
    dtype: DType
    by_columns: bool = False

    @property
    def problem(self) -> GemmProblem:
        """The problem that ours is tuned for."""
        return GemmProblem(
            self.m, self.n, self.k,
            dtype_a=self.dtype, dtype_b=self.dtype, dtype_c=_OUTPUTS[self.dtype], transpose_b=self.by_columns,
        )  # fmt: skip

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k

    @property
    def name(self) -> str:
        """As in a table."""
        return f"{self.dtype.value} {self.m}x{self.n}x{self.k}{' [N,K]' if self.by_columns else ''}"


Shape = tuple[int, int, int, bool]

_NAMED: dict[str, tuple[Shape, ...]] = {
    "small": tuple((size, size, size, False) for size in (256, 384, 512, 768, 1024, 2048, 4096)),
    "llm": tuple((m, n, k, nk) for nk in (False, True) for n, k in _LAYERS for m in _TOKENS),
    "ragged": (
        (333, 257, 129, False), (1000, 1001, 999, False), (37, 4099, 1023, False), (4099, 37, 1023, False),
        (129, 2047, 511, True), (7, 1001, 3001, False), (2000, 65, 77, False),
    ),
}  # fmt: skip


def cases(shapes: str, dtypes: str) -> list[Case]:
    """The cases of comma-separated shapes (small, llm, ragged, all, or MxNxK with `t` for weights stored [N, K]).

    Raises:
        ValueError: a shape or a type that is none.
    """
    found = [shape for text in shapes.split(",") for shape in _shapes(text)]
    types = [DType(text) for text in dtypes.split(",")]
    if set(types) - set(DTYPES):
        raise ValueError(f"types are {', '.join(DTYPES)}; got {dtypes}")
    return [Case(m, n, k, dtype, nk) for dtype in types for m, n, k, nk in dict.fromkeys(found)]


def _shapes(text: str) -> tuple[Shape, ...]:
    if text == "all":
        return sum(_NAMED.values(), ())
    if text in _NAMED:
        return _NAMED[text]
    sizes = text.removesuffix("t").split("x")
    if len(sizes) != 3:
        raise ValueError(f"a shape is {', '.join(_NAMED)}, all, or MxNxK; got {text}")
    m, n, k = map(int, sizes)
    return ((m, n, k, text.endswith("t")),)
