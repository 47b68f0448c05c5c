"""Problems of every kind, by what they are about."""

from codegen import Activation, Axis, DType, EpilogueKind, EpilogueStep, Gate, GemmProblem
from codegen.problem.quantization import Quantization

F16, BF16, TF32, F32, S8, U8, I32 = (DType(name) for name in ("f16", "bf16", "tf32", "f32", "s8", "u8", "i32"))


def _of(dtype: DType, m: int, n: int, k: int, layout: str = "nn", **more: object) -> GemmProblem:
    a, b = (side == "t" for side in layout)
    return GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, transpose_a=a, transpose_b=b, **more)  # pyright: ignore[reportArgumentType]


def _step(kind: EpilogueKind, value: float | None = None, axis: Axis | None = None) -> EpilogueStep:
    return EpilogueStep(kind, value=value, axis=axis)


BIAS = _step(EpilogueKind.BIAS, axis=Axis.COLUMN)
GELU = _step(EpilogueKind.GELU)
ALPHA = _step(EpilogueKind.ALPHA, 0.5)
BETA = _step(EpilogueKind.BETA, 2.0)
ROW_SUMS = _step(EpilogueKind.REDUCE, axis=Axis.ROW)
COLUMN_SUMS = _step(EpilogueKind.REDUCE, axis=Axis.COLUMN)

PROBLEMS = {
    "large": _of(F16, 4096, 8192, 2048),
    "small": _of(F16, 24, 40, 56),
    "one row": _of(F16, 1, 4096, 512),
    "one column": _of(F16, 4096, 1, 512),
    "one element": _of(F16, 1, 1, 1),
    "thin": _of(BF16, 8, 16384, 2048, "nt"),
    "tall": _of(BF16, 16384, 512, 1024),
    "ragged": _of(F16, 1000, 1016, 520),
    "odd": _of(BF16, 515, 333, 1027),
    "odd A alone": _of(F16, 96, 160, 75),
    "misaligned": _of(F16, 200, 136, 72, alignment=4),
    "long rows": _of(F16, 200, 136, 72, lda=96, ldb=160, ldc=144),
    "nt": _of(F16, 200, 136, 72, "nt"),
    "tn": _of(BF16, 200, 136, 72, "tn"),
    "tt": _of(F16, 200, 136, 72, "tt"),
    "s8": _of(S8, 512, 384, 1024),
    "u8 nt": _of(U8, 200, 144, 96, "nt"),
    "s8 tn, s8 out": _of(S8, 208, 144, 96, "tn", dtype_c=S8, epilogue=(_step(EpilogueKind.SCALE, 0.01),)),
    "s8 by lanes": _of(S8, 33, 65, 130),
    "tf32": _of(TF32, 512, 384, 96),
    "tf32 tt": _of(TF32, 200, 136, 72, "tt"),
    "f32": _of(F32, 300, 136, 72),
    "f32 tn by lanes": _of(F32, 33, 65, 129, "tn"),
    "batch": _of(F16, 96, 160, 80, batch=3),
    "shared B": _of(BF16, 96, 160, 80, batch=5, batch_stride_b=0),
    "s8 batch with steps": _of(S8, 96, 160, 64, "nt", batch=2, dtype_c=F16, epilogue=(ALPHA, BIAS, GELU)),
    "long K": _of(F16, 64, 32, 65536),
    "long K, deterministic": _of(F16, 64, 48, 32768, deterministic=True),
    "long K, f16 out": _of(F16, 16, 32, 16384, dtype_c=F16, epilogue=(BIAS,)),
    "update": _of(F16, 200, 136, 72, epilogue=(ALPHA, BETA)),
    "sums of rows": _of(F16, 256, 512, 128, epilogue=(GELU, ROW_SUMS)),
    "sums of columns": _of(BF16, 200, 136, 72, epilogue=(COLUMN_SUMS,)),
    "gated": _of(BF16, 200, 144, 96, "nt", gate=Gate(Activation.SILU)),
    "gated, few rows": _of(F16, 4, 4096, 2048, "nt", gate=Gate(Activation.GELU)),
    "gated, interleaved": _of(F16, 1000, 1024, 520, gate=Gate(Activation.SILU, 1)),
    "gated, in long blocks": _of(F16, 512, 768, 1024, gate=Gate(Activation.GELU_TANH, 256)),
    "gated weights": GemmProblem(
        72, 256, 128, dtype_b=DType.U4, quantization=Quantization(32, zero=8), gate=Gate(Activation.SILU, 1)
    ),
    "dynamic": _of(F16, 200, 136, 72, dynamic=True),
    "dynamic s8 nt": _of(S8, 200, 144, 96, "nt", dynamic=True, batch=2),
}
