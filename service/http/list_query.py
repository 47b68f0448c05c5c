"""Pages of lists, and the common filters of jobs and of kernels: problem and device."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from codegen import DType
from codegen.problem.gemm import MAX_DIMENSION

ID_EXAMPLE = "01970a3c-0000-7000-8000-000000000000"
NO_NUL = r"^[^\x00]*$"  # which PostgreSQL refuses
_Sized = Annotated[int | None, Field(ge=1, le=MAX_DIMENSION)]


class PageQuery(BaseModel):
    """One page of a list, newest first."""

    model_config = ConfigDict(extra="forbid")

    before: UUID | None = Field(
        default=None, description="`next_before` of the page before; newest first", examples=[ID_EXAMPLE]
    )
    limit: int = Field(default=50, ge=1, le=200, description="Maximum number in the response", examples=[50])


class ListQuery(PageQuery):
    """Filters of a list; all must match."""

    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=NO_NUL,
        description="Only those for the device of this id, with any driver",
        examples=["b580"],
    )
    m: _Sized = Field(default=None, description="Only problems with this M", examples=[512])
    n: _Sized = Field(default=None, description="Only problems with this N", examples=[384])
    k: _Sized = Field(default=None, description="Only problems with this K", examples=[1024])
    batch: _Sized = Field(default=None, description="Only problems with this batch size", examples=[1])
    dtype_a: DType | None = Field(
        default=None, description="Only problems with this element type of A", examples=["f16"]
    )
    dtype_b: DType | None = Field(
        default=None, description="Only problems with this element type of B", examples=["f16"]
    )
    dtype_c: DType | None = Field(
        default=None, description="Only problems with this element type of C", examples=["f32"]
    )
    dtype_acc: DType | None = Field(
        default=None, description="Only problems with this accumulator type", examples=["f32"]
    )
    quantization: str | None = Field(
        default=None,
        max_length=100,
        pattern=r"^[a-z0-9:=-]*$",
        description="Only problems whose B has these scales and zero points, or the first parts of them; empty: none",
        examples=["128:f16:zero=8"],
    )
