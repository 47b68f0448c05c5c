"""Options that say a GEMM problem, and the problem they mean."""

from typing import Annotated

import typer

from codegen import DType, GemmProblem

M = Annotated[int, typer.Option("--m", help="Rows of C.", metavar="M")]
N = Annotated[int, typer.Option("--n", help="Columns of C.", metavar="N")]
K = Annotated[int, typer.Option("--k", help="Length of the sums.", metavar="K")]
OptionalM = Annotated[int | None, typer.Option("--m", help="Rows of C.", metavar="M")]
OptionalN = Annotated[int | None, typer.Option("--n", help="Columns of C.", metavar="N")]
OptionalK = Annotated[int | None, typer.Option("--k", help="Length of the sums.", metavar="K")]
InputType = Annotated[DType, typer.Option("--dtype", help="Element type of A and B.")]
OutputType = Annotated[DType, typer.Option("--out-dtype", help="Element type of C.")]
LeadingA = Annotated[int | None, typer.Option("--lda", help="Elements between rows of A (default: K).", metavar="LDA")]
LeadingB = Annotated[int | None, typer.Option("--ldb", help="Elements between rows of B (default: N).", metavar="LDB")]
LeadingC = Annotated[int | None, typer.Option("--ldc", help="Elements between rows of C (default: N).", metavar="LDC")]
DeviceName = Annotated[str, typer.Option("--device", help="auto, opencl-cpu, or a name that `xetune devices` lists.")]
TargetName = Annotated[
    str | None,
    typer.Option("--target", help="Xe GPU whose kernels a CPU OpenCL device runs with emulated built-ins."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def plain_gemm(
    m: int, n: int, k: int, dtype: DType, out: DType, lda: int | None, ldb: int | None, ldc: int | None
) -> GemmProblem:
    """The row-major GEMM that the options say.

    Raises:
        InvalidProblem: a size or leading dimension that cannot be.
    """
    return GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, dtype_c=out, lda=lda, ldb=ldb, ldc=ldc)
