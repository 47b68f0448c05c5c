"""Options of a GEMM problem, shared by all commands."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast, get_type_hints

import typer

from codegen import DType, GemmProblem, InvalidProblem
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.gate import parse_gate
from codegen.problem.shorthand import SHORTHANDS, Asked, Types, types_of
from service.cli.completing import devices
from tuner.shapes.fields import Base

DeviceName = Annotated[
    str,
    typer.Option(
        "--device", help="auto, cpu, opencl-cpu, or a name that `xetune devices` lists.", autocompletion=devices
    ),
]
DeviceOrFile = Annotated[
    str,
    typer.Option(
        "--device",
        help="A name that `xetune devices` lists, or FILE.json, the output of `xetune devices show NAME --json` "
        "on the machine with the device.",
        autocompletion=devices,
    ),
]
TargetName = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="Xe GPU that a CPU OpenCL device emulates.",
        autocompletion=devices,
    ),
]


class Layout(StrEnum):
    """Storage of A and B: n not transposed, t transposed."""

    NN = "nn"
    NT = "nt"
    TN = "tn"
    TT = "tt"


def _number(flag: str, text: str) -> object:
    return typer.Option(flag, help=text, metavar="NUMBER", show_default=False)


def _read_type(text: str) -> DType:
    try:
        return DType(text)
    except ValueError:
        raise typer.BadParameter(
            f"expected {', '.join(DType)}, or another name of these such as fp16, bfloat16 or int8; got {text!r}"
        ) from None


def _types(incomplete: str) -> list[str]:
    return [name.value for name in DType if name.startswith(incomplete)]


_TYPES_HELP = f"Element type of A and B (default: f16): {', '.join(DType)}; also fp16, bfloat16, int8 and the like."


def _type(*flags: str, text: str) -> object:
    return typer.Option(*flags, help=text, show_default=False, parser=_read_type, metavar="TYPE", autocompletion=_types)


_SAID_ALIKE = (
    *("dtype_acc", "lda", "ldb", "ldc", "batch", "batch_stride_a", "batch_stride_b", "batch_stride_c"),
    *("alignment", "dynamic", "deterministic", "experts"),
)

_OF_ONE_SHAPE = ("m", "n", "k", "lda", "ldb", "ldc", "batch_stride_a", "batch_stride_b", "batch_stride_c")


@dataclass(frozen=True, slots=True)
class ProblemOptions:
    """Values of the options of a problem; None for one that was not given."""

    m: Annotated[int | None, _number("--m", "Rows of C.")] = None
    n: Annotated[int | None, _number("--n", "Columns of C.")] = None
    k: Annotated[int | None, _number("--k", "Inner (reduction) dimension.")] = None
    dtype: Annotated[
        DType | None,
        _type(
            "--dtype",
            text=_TYPES_HELP,
        ),
    ] = None
    dtype_a: Annotated[DType | None, _type("--dtype-a", text="Element type of A (default: --dtype).")] = None
    dtype_b: Annotated[DType | None, _type("--dtype-b", text="Element type of B (default: --dtype).")] = None
    dtype_c: Annotated[
        DType | None, _type("--dtype-c", "--out-dtype", text="Element type of C (default: --dtype-acc).")
    ] = None
    dtype_acc: Annotated[
        DType | None, _type("--dtype-acc", text="Accumulator type (default: i32 for integers, else f32).")
    ] = None
    layout: Annotated[
        Layout | None,
        typer.Option("--layout", help="Storage of A and B; t: transposed (default: nn).", show_default=False),
    ] = None
    lda: Annotated[int | None, _number("--lda", "Row stride of stored A, in elements (default: packed).")] = None
    ldb: Annotated[int | None, _number("--ldb", "Row stride of stored B, in elements (default: packed).")] = None
    ldc: Annotated[int | None, _number("--ldc", "Row stride of C, in elements (default: packed).")] = None
    batch: Annotated[int | None, _number("--batch", "Batch size (default: 1).")] = None
    batch_stride_a: Annotated[
        int | None, _number("--batch-stride-a", "Batch stride of A, in elements (default: packed); 0: shared.")
    ] = None
    batch_stride_b: Annotated[
        int | None, _number("--batch-stride-b", "Batch stride of B, in elements (default: packed); 0: shared.")
    ] = None
    batch_stride_c: Annotated[
        int | None, _number("--batch-stride-c", "Batch stride of C, in elements (default: packed).")
    ] = None
    alignment: Annotated[int | None, _number("--alignment", "Alignment of all pointers, in bytes (default: 64).")] = (
        None
    )
    dynamic: Annotated[bool, typer.Option("--dynamic", help="Dynamic shapes: one kernel for all sizes.")] = False
    deterministic: Annotated[bool, typer.Option("--deterministic", help="Bitwise-reproducible results.")] = False
    epilogue: Annotated[
        str | None,
        typer.Option(
            "--epilogue",
            help='Steps before C is stored, in order: "alpha=0.5, bias:column, gelu, add:f16, clip=0..6, reduce:row".',
            show_default=False,
        ),
    ] = None
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            help="C = ACTIVATION(A @ B1) * (A @ B2), before the epilogue: silu, gelu or gelu_tanh. B is B1, then B2; "
            "with :interleaved their columns alternate, with :interleaved=16 blocks of 16.",
            show_default=False,
        ),
    ] = None
    experts: Annotated[
        int | None,
        _number(
            "--experts", "Experts, each with a B for its rows of A and C, which are sorted by expert; M are all rows."
        ),
    ] = None
    quant: Annotated[
        str | None,
        typer.Option(
            "--quant",
            help=f"Usual quantisation of B, with A's type by --dtype: {', '.join(SHORTHANDS)}. As in w4a16:64:zeros, "
            "with the group along K, the type of scales, zero=N or zeros.",
            show_default=False,
        ),
    ] = None
    quantization: Annotated[
        str | None,
        typer.Option(
            "--quantization",
            help="Scales and zero points of a B of --dtype-b: the group along K or column, the type of scales "
            "(default: A's), and zero=N or zeros: 128:f16:zero=8, 64:zeros, 32:e8m0.",
            show_default=False,
        ),
    ] = None
    problem: Annotated[
        Path | None,
        typer.Option(
            "--problem",
            help="Problem as JSON, in place of these options.",
            show_default=False,
            exists=True,
            dir_okay=False,
        ),
    ] = None

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that were given."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) is not f.default)

    def base(self) -> Base:
        """Return what holds for all shapes of a set, which has sizes of its own.

        Raises:
            InvalidProblem: a size, a distance of rows or matrices, or a whole problem is given.
        """
        if own := [name for name in (*_OF_ONE_SHAPE, "problem") if getattr(self, name) is not None]:
            raise InvalidProblem("--shapes", f"expected no --{own[0].replace('_', '-')}: each shape says its own sizes")
        # Checked here, though each shape may say other types: a fault is of the option, not of a shape.
        found, layout = self._types(), self.layout or Layout.NN
        quant = (self.quant or "").strip()
        return Base(
            dtype_a=self.dtype_a or self.dtype or DType.F16,
            dtype_b=(self.dtype_a or self.dtype or DType.F16) if quant else found.dtype_b,
            dtype_c=self.dtype_c,
            dtype_acc=self.dtype_acc,
            transpose_a=layout.value[0] == "t",
            transpose_b=layout.value[1] == "t",
            batch=1 if self.batch is None else self.batch,
            alignment=64 if self.alignment is None else self.alignment,
            dynamic=self.dynamic,
            deterministic=self.deterministic,
            epilogue=parse_epilogue(self.epilogue or ""),
            gate=parse_gate(self.gate or ""),
            experts=self.experts,
            quantization=None if quant else found.quantization,
            quant=quant,
        )

    def read(self) -> GemmProblem:
        """Return the problem.

        Raises:
            InvalidProblem: a size is missing, or a field cannot be; names it.
        """
        if self.problem is not None:
            if self.given != ("problem",):
                others = ", ".join(f"--{name.replace('_', '-')}" for name in self.given if name != "problem")
                raise InvalidProblem("--problem", f"expected the whole problem in the file, got also {others}")
            return _read_problem(self.problem)
        if self.m is None or self.n is None or self.k is None:
            raise InvalidProblem(
                "sizes", "give M N K or MxNxK, as in 512x384x1024, or --m, --n and --k, or --problem FILE"
            )
        layout = self.layout or Layout.NN
        # What was left out keeps the problem's own default.
        said = {name: value for name in _SAID_ALIKE if (value := getattr(self, name)) is not None}
        return GemmProblem(
            self.m,
            self.n,
            self.k,
            transpose_a=layout.value[0] == "t",
            transpose_b=layout.value[1] == "t",
            gate=parse_gate(self.gate or ""),
            **self._types()._asdict(),
            **said,
        )

    def _types(self) -> Types:
        return types_of(
            Asked(
                self.quant or "",
                self.quantization or "",
                self.dtype or DType.F16,
                self.dtype_a,
                self.dtype_b,
                self.dtype_c,
                parse_epilogue(self.epilogue or ""),
                parse_gate(self.gate or ""),
            )
        )


def _three(sizes: list[str]) -> list[int]:
    """Read "512 384 1024" or "512x384x1024", as problems are printed."""
    if not sizes:
        return []
    numbers = [number for text in sizes for number in text.lower().split("x")]
    if len(numbers) != 3 or not all(number.isascii() and number.isdigit() for number in numbers):
        raise InvalidProblem("sizes", f"expected M N K, or MxNxK as in 512x384x1024, got {' '.join(sizes)}")
    return [int(number) for number in numbers]


_SIZES, _SIZE = "sizes", re.compile(r"[0-9]+(x[0-9]+)*", re.IGNORECASE)
_COMMON = {"m", "n", "k", "dtype", "layout", "batch", "epilogue", "gate", "quant", "problem"}
_PANELS = "Problem", "Problem in detail"
_Sizes = Annotated[
    list[str] | None,
    typer.Argument(help="M, N and K, or MxNxK, in place of --m, --n and --k.", metavar="M N K", show_default=False),
]


def with_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a problem in place of its parameter `problem`, a ProblemOptions.

    It takes the three sizes as arguments too. A first size is taken from an optional argument `file` where no file has
    its name.
    """
    hints, own = get_type_hints(ProblemOptions, include_extras=True), inspect.signature(command)

    def called(**values: object) -> None:
        said = cast("list[str]", values.pop(_SIZES, None) or [])
        file = values.get("file")
        if isinstance(file, Path) and _SIZE.fullmatch(str(file)) and not file.exists():
            values["file"], said = None, [str(file), *said]
        elif isinstance(file, Path) and not file.exists():
            raise typer.BadParameter(f"expected M N K or a file that exists, got {str(file)!r}", param_hint="'[FILE]'")
        sizes = _three(said)
        given = {name: values.pop(name) for name in hints}
        if sizes and (both := [f"--{name}" for name in "mnk" if given[name] is not None]):
            raise InvalidProblem("sizes", f"expected them once, got {' '.join(map(str, sizes))} and {', '.join(both)}")
        given |= dict(zip("mnk", sizes, strict=False))
        options = ProblemOptions(**given)  # pyright: ignore[reportArgumentType]
        command(**values, problem=options)

    for name, hint in hints.items():
        hint.__metadata__[-1].rich_help_panel = _PANELS[name not in _COMMON]
    keyword = inspect.Parameter.KEYWORD_ONLY
    said = [
        inspect.Parameter(f.name, keyword, default=f.default, annotation=hints[f.name]) for f in fields(ProblemOptions)
    ]
    sizes = inspect.Parameter(_SIZES, keyword, default=None, annotation=_Sizes)
    parameters = [] if "file" in own.parameters else [sizes]
    for name, parameter in own.parameters.items():
        parameters += said if name == "problem" else [parameter.replace(kind=keyword)]
        parameters += [sizes] if name == "file" else []  # behind the file
    called.__signature__ = inspect.Signature(parameters)
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    called.__doc__, called.__name__ = command.__doc__, command.__name__
    return called


def _read_problem(path: Path) -> GemmProblem:
    from service.cli.options.documents import read_json
    from service.gemm_json import problem_from_json

    document = read_json("--problem", path, "a problem")
    try:
        return problem_from_json(document)
    except InvalidProblem as error:
        raise InvalidProblem(f"--problem {path}", str(error) if error.field else error.message) from error
