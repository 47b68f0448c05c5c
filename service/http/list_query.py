"""What lists of jobs and of kernels have in common: they are of problems on devices, in pages."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from codegen import DType
from codegen.problem.gemm import MAX_DIMENSION

ID_EXAMPLE = "01970a3c-0000-7000-8000-000000000000"
_Sized = Annotated[int | None, Field(ge=1, le=MAX_DIMENSION)]


class ListQuery(BaseModel):
    """Which of them a list holds; all that is given must hold."""

    model_config = ConfigDict(extra="forbid")

    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",  # PostgreSQL has no NUL
        description="Only those for the device of this id, whatever its driver",
        examples=["b580"],
    )
    m: _Sized = Field(default=None, description="Only problems of so many rows of C", examples=[512])
    n: _Sized = Field(default=None, description="Only problems of so many columns of C", examples=[384])
    k: _Sized = Field(default=None, description="Only problems with sums of this length", examples=[1024])
    batch: _Sized = Field(default=None, description="Only problems of so many multiplications", examples=[1])
    dtype_a: DType | None = Field(default=None, description="Only problems with A of this type", examples=["f16"])
    dtype_b: DType | None = Field(default=None, description="Only problems with B of this type", examples=["f16"])
    dtype_c: DType | None = Field(default=None, description="Only problems with C of this type", examples=["f32"])
    dtype_acc: DType | None = Field(default=None, description="Only problems with sums of this type", examples=["f32"])
    before: UUID | None = Field(
        default=None, description="`next_before` of the page before; the newest come first", examples=[ID_EXAMPLE]
    )
    limit: int = Field(default=50, ge=1, le=200, description="Most of them in the answer", examples=[50])
