import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.compile import compile_cpu_gemm, cpu_compile_key
from codegen.cpu.isa import ISA_FACTS
from codegen.cpu.manifest import cpu_manifest
from codegen.cpu.nest.plan import Plan
from codegen.errors import CompileFailed, Refused
from tests.codegen.cpu.run_kernels import cpu_config
from tests.tuner.fakes import cpu_spec

_PROBLEM = GemmProblem(m=45, n=71, k=53, dtype_a=DType.F32, dtype_b=DType.F32)
_CONFIG = cpu_config(Isa.AVX2, block=(8, 32, 16), tile=(4, 16, 4))
_FLAGS = ("avx2", "fma", "f16c", "bmi1", "bmi2")
_WIDE = (
    *_FLAGS, "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_bf16", "avx512_vnni", "avx512vbmi", "avx_vnni",
    "amx_tile", "amx_bf16", "amx_int8",
)  # fmt: skip
_SPEC = replace(cpu_spec(), isa=_FLAGS)


def test_stages_are_named_and_the_object_is_elf() -> None:
    artifact = compile_cpu_gemm(_PROBLEM, _CONFIG, _SPEC)
    files = [(stage.name, stage.file_name) for stage in artifact.stages]
    assert files == [
        ("deep-tiled", "deep-tiled.mlir"),
        ("nest", "nest.ll"),
        ("llvm", "llvm.ll"),
        ("object", "kernel.o"),
        ("header", "kernel.h"),
    ]
    binary = artifact.stage("object").data
    assert binary[:4] == b"\x7fELF"
    assert artifact.launch.binary == binary
    assert artifact.content_hash == hashlib.sha256(binary).hexdigest()
    assert artifact.target == _SPEC.id
    assert artifact.key == cpu_compile_key(_PROBLEM, _CONFIG, _SPEC)
    nest = artifact.stage("nest").data.decode()
    assert nest.index("define internal void @multiply") < nest.index("module asm"), "the pool of threads comes last"


def test_the_launch_takes_the_operands_and_then_scratch() -> None:
    artifact = compile_cpu_gemm(_PROBLEM, _CONFIG, _SPEC)
    launch = artifact.launch
    assert [(a.name, a.role) for a in launch.arguments] == [
        ("A", "input"),
        ("B", "input"),
        ("C", "output"),
        ("workspace", "scratch"),
    ]
    (step,) = launch.steps
    assert step.kernel == f"xetune_gemm_{artifact.key[:12]}"
    assert step.parameters == (0, 1, 2, 3)
    assert (step.global_size, step.local_size, step.once) == ((1, 1, 1), (1, 1, 1), False)
    assert set(launch.isa) == set(_FLAGS)


def test_weights_packed_beforehand_are_a_step_of_their_own() -> None:
    config = cpu_config(Isa.AVX2, (2, 1, 1), (8, 32, 16), (4, 16, 4), a=Packing.BLOCK, b=Packing.BEFOREHAND)
    launch = compile_cpu_gemm(_PROBLEM, config, _SPEC).launch
    pack, multiply = launch.steps
    assert (pack.kernel, pack.once) == (f"{multiply.kernel}_pack_b", True)
    names = [argument.name for argument in launch.arguments]
    assert [names[p] for p in pack.parameters if isinstance(p, int)] == ["B", "packed_B"]
    assert names[3:] == ["workspace", "packed_B"]
    assert launch.arguments[-1].nbytes == 5 * 16 * 53 * 4  # five panels of 16 columns, as deep as K


def test_a_kernel_that_keeps_nothing_needs_no_workspace() -> None:
    config = cpu_config(Isa.AVX2, block=(8, 32, 56), tile=(4, 16, 4), a=Packing.NONE, b=Packing.NONE)
    assert [a.name for a in compile_cpu_gemm(_PROBLEM, config, _SPEC).launch.arguments] == ["A", "B", "C"]


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes_in_another_process() -> None:
    here = compile_cpu_gemm(_PROBLEM, _CONFIG, _SPEC).content_hash
    code = (
        "import tests.codegen.cpu.test_compile_cpu as t; "
        "print(t.compile_cpu_gemm(t._PROBLEM, t._CONFIG, t._SPEC).content_hash)"
    )
    command, root = [sys.executable, "-c", code], Path(__file__).parents[3]
    there = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout.strip()
    assert here == there


def test_the_key_tells_instruction_sets_apart_that_code_uses() -> None:
    vnni, wide = replace(_SPEC, isa=(*_FLAGS, "avx_vnni")), replace(_SPEC, isa=_WIDE)
    for spec in (vnni, wide):
        assert cpu_compile_key(_PROBLEM, _CONFIG, spec) == cpu_compile_key(_PROBLEM, _CONFIG, _SPEC)
    integers = replace(_PROBLEM, dtype_a=DType.S8, dtype_b=DType.U8, dtype_acc=DType.I32, dtype_c=DType.I32)
    assert cpu_compile_key(integers, _CONFIG, vnni) != cpu_compile_key(integers, _CONFIG, _SPEC)


@pytest.mark.parametrize(
    ("isa", "a", "c", "used"),
    [
        (Isa.AVX512, DType.F32, DType.F32, ()),
        (Isa.AVX512, DType.F32, DType.BF16, ("avx512_bf16",)),
        (Isa.AVX512, DType.BF16, DType.F32, ("avx512_bf16",)),
        (Isa.AVX512_F32, DType.BF16, DType.F32, ()),
        (Isa.AVX512, DType.S8, DType.I32, ("avx512_vnni", "avx512vbmi")),
        (Isa.AVX512, DType.F16, DType.U8, ("avx512vbmi",)),
        (Isa.AVX2, DType.BF16, DType.BF16, ()),
        (Isa.AVX2, DType.S8, DType.I32, ("avx_vnni",)),
        (Isa.AMX, DType.BF16, DType.F32, ("amx_bf16",)),
        (Isa.AMX, DType.BF16, DType.BF16, ("avx512_bf16", "amx_bf16")),
        (Isa.AMX, DType.S8, DType.I32, ("avx512vbmi", "amx_int8")),
    ],
)
def test_a_kernel_needs_what_its_types_use(isa: Isa, a: DType, c: DType, used: tuple[str, ...]) -> None:
    problem = GemmProblem(m=45, n=71, k=128, dtype_a=a, dtype_b=a, dtype_c=c)
    tile = (16, 16, 64 // a.nbytes) if isa is Isa.AMX else (4, 16, 4)
    config = cpu_config(isa, block=(16, 32, 64), tile=tile)
    launch = compile_cpu_gemm(problem, config, replace(_SPEC, isa=_WIDE)).launch
    assert launch.isa == (*_FLAGS, *(flag for flag in ISA_FACTS[isa].flags if flag not in _FLAGS), *used)


@pytest.mark.parametrize("dtype_c", [DType.F32, DType.BF16])
@pytest.mark.parametrize(
    ("isa", "elements"),
    [(Isa.AVX2, "f32"), (Isa.AVX512_F32, "f32"), (Isa.AVX512, "bf16"), (Isa.AMX, "bf16")],
)
def test_the_manifest_tells_the_packed_elements_whatever_the_code_needs(
    isa: Isa, elements: str, dtype_c: DType
) -> None:
    problem = GemmProblem(45, 71, 128, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=dtype_c)
    config = cpu_config(isa, block=(16, 32, 64), tile=(16, 16, 32) if isa is Isa.AMX else (4, 16, 4))
    manifest = cpu_manifest(compile_cpu_gemm(problem, config, replace(_SPEC, isa=_WIDE)))
    packing = cast("dict[str, dict[str, object]]", manifest["packing"])
    assert [packing[name]["elements"] for name in "AB"] == [elements, elements]


def test_what_a_rule_refuses_is_not_compiled() -> None:
    with pytest.raises(Refused, match="isa"):
        compile_cpu_gemm(_PROBLEM, cpu_config(Isa.AVX512, block=(8, 32, 16), tile=(4, 16, 4)), _SPEC)


def test_a_stage_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(plan: Plan, name: str) -> str:
        return "define void @f() { ret i32 }"

    monkeypatch.setattr("codegen.cpu.compile.kernel_module", wrong)
    with pytest.raises(CompileFailed, match="stage llvm"):
        compile_cpu_gemm(_PROBLEM, _CONFIG, _SPEC)
