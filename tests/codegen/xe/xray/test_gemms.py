"""The problem of a kernel of others, from its name and code; what neither tells is said."""

import pytest

from codegen import DType, GemmProblem
from codegen.xe.machine import parse_listing
from codegen.xe.xray import Operation
from codegen.xe.xray.demangle import demangled
from codegen.xe.xray.gemms import recognise
from tests.codegen.xe.isa.recordings import recorded

_WHOLE = recorded("straight_pvc").assembly["gemm"]
STRAIGHT = _WHOLE[: _WHOLE.index("L1288:")]
GROUPED = "MoE::GemmName<cutlass::half_t, {b}, cutlass::half_t, cutlass::half_t, (char)82, (char){layout}, MoE::m_16>"
DPAS = "(W)     dpas.8x8 (16|M0)         r10:{acc}          r10:{acc}     r26:{b}          r58.0:{a}    {{Atomic}}\n"


def test_a_name_in_cpp_is_read_where_it_is_mangled() -> None:
    name = "_ZTSN3MoE12GemmCuteNameIN7cutlass6half_tEhS2_Lc82ELc67EEE"
    assert demangled(name) == "MoE::GemmCuteName<cutlass::half_t, unsigned char, cutlass::half_t, (char)82, (char)67>"
    assert [demangled(other) for other in ("gemm", "_Zgarbage")] == ["gemm", "_Zgarbage"]


def test_code_alone_tells_types_and_layouts_of_operands_that_blocks_bring() -> None:
    listing = parse_listing("gemm", STRAIGHT)
    found = recognise("gemm", STRAIGHT, listing)
    assert found is not None
    assert (found.operation, found.multiplied) == (Operation.GEMM, (DType.F16, DType.F16, DType.F32))
    assert (found.dtype_a, found.dtype_b, found.transpose_a, found.transpose_b) == ("f16", "f16", False, False)
    assert found.unknown == ("M, N and K: arguments of the launch", "type of C: taken as f32")
    assert found.problem(96, 64, 32) == GemmProblem(96, 64, 32)
    nameless = recognise("k", STRAIGHT, listing)
    assert nameless is not None
    assert (nameless.problem(96, 64, 32), nameless.unknown[0][:9]) == (None, "operation")


def test_a_template_tells_types_and_layouts() -> None:
    code = DPAS.format(acc="f", a="hf", b="hf")
    found = recognise(GROUPED.format(b="cutlass::half_t", layout=67), code, None)
    assert found is not None
    assert (found.operation, found.unknown) == (Operation.GROUPED_GEMM, ("M, N and K: arguments of the launch",))
    expected = GemmProblem(96, 64, 32, dtype_c=DType.F16, transpose_b=True)
    assert found.problem(96, 64, 32) == expected


@pytest.mark.parametrize(
    ("name", "types", "missing"),
    [
        (GROUPED.format(b="unsigned char", layout=67), ("f", "hf", "hf"), "B: of a type that our GEMMs do not have"),
        (GROUPED.format(b="cutlass::float_e4m3_t", layout=82), ("f", "hf", "hf"), "B: of a type that our GEMMs do"),
        (GROUPED.format(b="signed char", layout=82), ("f", "hf", "hf"), "B: s8 in memory, converted to f16"),
        ("plain_gemm", ("f", "bf", "bf"), "type of A in memory: it comes to DPAS through other instructions, as bf16"),
        ("XeFMHAFwdKernel", ("f", "bf", "bf"), "no GEMM: attention"),
        ("conv1d", ("d", "b", "ub"), "no GEMM: convolution"),
    ],
)
def test_a_problem_that_ours_is_not_is_not_compared(name: str, types: tuple[str, str, str], missing: str) -> None:
    acc, a, b = types
    found = recognise(name, DPAS.format(acc=acc, a=a, b=b), None)
    assert found is not None
    assert found.problem(96, 64, 32) is None
    assert any(fact.startswith(missing) for fact in found.unknown), found.unknown


def test_without_dpas_or_with_types_that_are_not_known_there_is_no_problem() -> None:
    assert recognise("gemm", "mov (16|M0) r1.0<1>:f r2.0<1;1,0>:f\n", None) is None
    assert recognise("gemm", DPAS.format(acc="f", a="bf8", b="bf8"), None) is None
