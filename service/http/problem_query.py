"""Problems as query parameters."""

from dataclasses import fields
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from codegen import DType, GemmProblem, InvalidProblem
from codegen.problem.epilogue_text import (
    parse_epilogue,
    print_epilogue,
)
from codegen.problem.gate import parse_gate
from codegen.problem.shorthand import LAYOUTS, SHORTHANDS, Asked, types_of
from service.errors import BadRequest, FieldError

_SIZES = ("m", "n", "k")


def to_query(problem: GemmProblem) -> dict[str, str | int | bool | None]:
    """Return all parameters of a problem; None for omitted ones."""
    values = {field.name: getattr(problem, field.name) for field in fields(GemmProblem)}
    texts = {name: "" if values[name] is None else str(values[name]) for name in ("gate", "quantization")}
    return values | texts | {"epilogue": print_epilogue(problem.epilogue)}


class ProblemQuery(BaseModel):
    """Every field of a problem except its sizes. Defaults: row-major, packed, no epilogue."""

    model_config = ConfigDict(extra="forbid")

    dtype: DType = Field(default=DType.F16, description="Element type of A and B", examples=["f16"])
    dtype_a: DType | None = Field(default=None, description="Element type of A, if not dtype", examples=["u8"])
    dtype_b: DType | None = Field(default=None, description="Element type of B, if not dtype", examples=["s8"])
    dtype_c: DType | None = Field(
        default=None, description="Element type of C; default: the accumulator type", examples=["f32"]
    )
    dtype_acc: DType | None = Field(
        default=None, description="Accumulator type; default: i32 for s8 and u8, else f32", examples=["f32"]
    )
    layout: Literal["nn", "nt", "tn", "tt"] | None = Field(
        default=None,
        description="In place of transpose_a and transpose_b: t where A is stored [K, M], or B [N, K]",
        examples=["nt"],
    )
    transpose_a: bool = Field(default=False, description="A is stored [K, M]", examples=[False])
    transpose_b: bool = Field(default=False, description="B is stored [N, K]", examples=[False])
    lda: int | None = Field(default=None, description="Elements between stored rows of A", examples=[1024])
    ldb: int | None = Field(default=None, description="Elements between stored rows of B", examples=[384])
    ldc: int | None = Field(default=None, description="Elements between rows of C", examples=[384])
    batch: int = Field(default=1, description="Number of independent multiplications", examples=[1])
    batch_stride_a: int | None = Field(default=None, description="Elements between matrices A", examples=[524288])
    batch_stride_b: int | None = Field(default=None, description="Elements between matrices B", examples=[0])
    batch_stride_c: int | None = Field(default=None, description="Elements between matrices C", examples=[196608])
    alignment: int = Field(default=64, description="Alignment of all pointers, in bytes", examples=[64])
    dynamic: bool = Field(
        default=False, description="Dynamic shapes: sizes are arguments of the kernel", examples=[False]
    )
    deterministic: bool = Field(default=False, description="Bitwise-reproducible results", examples=[False])
    epilogue: str = Field(
        default="",
        max_length=2000,
        description="Steps of the epilogue in order, in the syntax of the command line",
        examples=["alpha=0.5, bias:column, gelu, add:f16, clip=0..6, reduce:row"],
    )
    gate: str = Field(
        default="",
        max_length=100,
        description="Gate of two products, in the syntax of the command line: B has 2 N columns",
        examples=["silu:interleaved=16"],
    )
    experts: int | None = Field(
        default=None, description="Experts, each with a B for its rows of A and C, sorted by expert", examples=[128]
    )
    quantization: str = Field(
        default="",
        max_length=100,
        description="Scales and zero points of B, in the syntax of the command line: group along K or column, type of "
        "the scales, zero=N or zeros",
        examples=["128:f16:zero=8"],
    )
    quant: str = Field(
        default="",
        max_length=100,
        description=f"Usual quantisation in place of dtype_b and quantization: {', '.join(SHORTHANDS)}, as in "
        "w4a16:64:zeros",
        examples=["w4a16:128"],
    )

    def problem_of(self, m: int, n: int, k: int) -> GemmProblem:
        """Return the problem with these sizes and the parameters.

        Raises:
            InvalidProblem: it contradicts itself; names the field.
        """
        values = {name: getattr(self, name) for name in ProblemQuery.model_fields}
        if (layout := values.pop("layout")) is not None:
            if beside := sorted(self.model_fields_set & {"transpose_a", "transpose_b"}):
                raise InvalidProblem("layout", f"expected no {beside[0]} beside it, got {layout}")
            values["transpose_a"], values["transpose_b"] = LAYOUTS[layout]
        values["epilogue"], values["gate"] = parse_epilogue(self.epilogue), parse_gate(self.gate)
        types = types_of(Asked(**{name: values.pop(name) for name in Asked._fields}))
        return GemmProblem(m, n, k, **values, gate=parse_gate(self.gate), **types._asdict())


class OptionalProblemQuery(ProblemQuery):
    """An optional problem: none without m, n and k."""

    m: int | None = Field(default=None, description="M of a problem, in elements", examples=[512])
    n: int | None = Field(default=None, description="N of a problem, in elements", examples=[384])
    k: int | None = Field(default=None, description="K of a problem, in elements", examples=[1024])

    def problem(self) -> GemmProblem | None:
        """Return the problem, if its sizes are given.

        Raises:
            BadRequest: rule `problem`: some parameters, but not all of m, n and k.
            InvalidProblem: it contradicts itself; names the field.
        """
        if self.m is not None and self.n is not None and self.k is not None:
            return self.problem_of(self.m, self.n, self.k)
        said = self.model_fields_set & {*_SIZES, *ProblemQuery.model_fields}
        if said:
            missing = [name for name in _SIZES if getattr(self, name) is None]
            message = f"expected m, n and k of the problem beside {', '.join(sorted(said))}; {missing[0]} is missing"
            raise BadRequest(message, rule="problem", errors=[FieldError(field=missing[0], message=message)])
        return None
