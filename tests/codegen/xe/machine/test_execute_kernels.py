"""Machine code of whole kernels computes what numpy and the interpreter of the source do."""

import time
from collections import Counter
from functools import cache, partial
from random import Random

import numpy as np
import pytest

from codegen import GemmProblem, compile_gemm, compile_module, simulate_module
from codegen.errors import CodegenError, CompileTimedOut
from codegen.simulate import Execute
from codegen.target import target_of
from codegen.xe.isa import Compiled, compile_kernel
from codegen.xe.isa.ocloc import Disassembly
from codegen.xe.machine.execute.launch import read_machine_code, run_machine_code
from hal import find
from tests.codegen.xe.build.coverage import Case, cases
from tests.codegen.xe.build.draws import Draw, draw
from tests.codegen.xe.build.judge import judge as judge_gemm
from tests.codegen.xe.fuzz.draw import draw as draw_kernel
from tests.codegen.xe.fuzz.judge import judge as judge_kernel
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.codegen.xe.isa.recordings import RECORDED, recorded
from tests.codegen.xe.machine.compiled import code_of
from tests.codegen.xe.machine.elf_file import elf_file
from tests.codegen.xe.operations.case import Case as OperationCase
from tests.codegen.xe.operations.catalogue import SAMPLE
from tests.codegen.xe.operations.verdict import judge as judge_operation
from tests.codegen.xe.programs.test_programs import FOLDER, PROGRAMS
from tuner import ProofKind
from tuner.errors import ProofFailed
from tuner.space.xe.heuristic import default_config
from tuner.verify.verify import verify_by_simulation

DEVICES = ("b580", "pvc")
OTHERS = ("a770", "lnl", "arl-h", "ptl")
OF_8_LANES = ("a770", "meteor-lake-h", "arrow-lake-h")
DRAWS, PART = 100, 20
DRAWS_OF_OTHERS = 24
KERNELS = 20
CELLS = 20
_PATIENCE_S = 3.0  # of processor time, of the largest problem


def recorded_code(change: tuple[str, str] = ("", "")) -> Execute:
    """Return a function that runs the recorded code of examples/subgroup_gemm.mlir, with a change of its text."""
    info = (RECORDED / "straight_pvc.ze_info").read_bytes()
    text = recorded("straight_pvc").assembly["gemm"].replace(*change, 1)
    disassembly = Disassembly("", {"gemm": text})
    code = read_machine_code(Compiled(elf_file({".ze_info": info, ".text.gemm": b""}), disassembly, 64))
    return partial(run_machine_code, code)


def multiplied(execute: Execute) -> tuple[np.ndarray, np.ndarray]:
    """Return what the recorded code computes, and what numpy does."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((128, 64), (64, 256)))
    c = np.full((128, 256), np.nan, np.float32)
    report = execute("gemm", (2, 1, 1), (512, 1, 1), [a, b, c])
    assert report.executed == 2
    return c, a.astype(np.float32) @ b.astype(np.float32)


def test_recorded_code_multiplies() -> None:
    got, expected = multiplied(recorded_code())
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "change",
    [
        ("0x03000283 ", "0x03000203 "),  # not interleaved
        ("r113:f        r113:f            r86", "r113:f        r121:f            r86"),
        ("127:w", "119:w"),  # a pitch
    ],
)
def test_other_code_computes_something_else(change: tuple[str, str]) -> None:
    assert change[0] in recorded("straight_pvc").assembly["gemm"]
    got, expected = multiplied(recorded_code(change))
    assert not np.array_equal(got, expected)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("problem", [GemmProblem(96, 128, 64), GemmProblem(51, 77, 83), GemmProblem(512, 512, 256)])
def test_the_default_is_verified_by_its_machine_code(problem: GemmProblem, device: str) -> None:
    spec = find(device)
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    compiled = compile_kernel(real_ocloc(), artifact, target_of(spec)).compiled
    begun_s = time.process_time()
    proof = verify_by_simulation(artifact, compiled=compiled)
    assert (proof.kind, proof.checked) == (ProofKind.MACHINE_CODE, proof.total)
    assert time.process_time() - begun_s < _PATIENCE_S


@pytest.mark.slow
def test_wrong_machine_code_fails_and_what_is_not_known_is_left_to_the_simulator() -> None:
    spec, problem = find("b580"), GemmProblem(96, 128, 64)
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    compiled = compile_kernel(real_ocloc(), artifact, target_of(spec)).compiled
    assert compiled is not None

    def changed(old: str, new: str) -> Compiled:
        text = compiled.disassembly.assembly["gemm"]
        assert old in text
        disassembly = Disassembly(compiled.disassembly.ze_info, {"gemm": text.replace(old, new, 1)})
        return Compiled(compiled.binary, disassembly, compiled.grf_bytes)

    with pytest.raises(ProofFailed):
        verify_by_simulation(artifact, compiled=changed("dpas.8x8", "dpas.8x4"))
    for unknown in ("foo", "ror"):
        proof = verify_by_simulation(artifact, compiled=changed("(W)     or (1|M0)", f"(W)     {unknown} (1|M0)"))
        assert proof.kind is ProofKind.SIMULATOR
        assert f"opcode {unknown}" in str(proof.refusal)


@cache
def legal(device: str) -> list[Case]:
    """A sample of the cells of the coverage that the rules accept."""
    return Random(9).sample([case for case in cases(device) if case.refusal() is None], CELLS)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(CELLS))
@pytest.mark.parametrize("device", [*DEVICES, "a770", "mtl"])
def test_a_cell_of_the_coverage(device: str, number: int) -> None:
    case = legal(device)[number]
    drawn = Draw(0, case.device, case.problem, case.config, Counter())
    assert judge_gemm(drawn, real_ocloc()).fault == "", case.key


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_drawn_gemms(first: int) -> None:
    faults = {}
    for seed in range(first, first + PART):
        drawn = draw(700_000 + seed, small=True)
        if fault := judge_gemm(drawn, real_ocloc(), by_validator=False).fault:
            faults[str(drawn)] = fault
    assert not faults


@pytest.mark.slow
@pytest.mark.parametrize("seed", [212_500_304, 212_500_431])
def test_rings_are_filled_with_the_columns_of_the_tile(seed: int) -> None:
    """Of loads between copies, Intel's compiler lost the column: docs/upstream_faults.md."""
    drawn = draw(seed, small=seed % 3 != 0)
    assert drawn.config.strategy.slm_stages == 3
    assert judge_gemm(drawn, real_ocloc(), by_validator=False).fault == ""


@pytest.mark.slow
def test_drawn_gemms_of_other_gpus() -> None:
    draws = [draw(710_000 + seed, small=True, devices=OTHERS) for seed in range(DRAWS_OF_OTHERS)]
    assert {drawn.device for drawn in draws} == set(OTHERS)
    judged = [(drawn, judge_gemm(drawn, real_ocloc(), by_validator=False).fault) for drawn in draws]
    assert not {str(drawn): fault for drawn, fault in judged if fault}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [730_000, 730_048])
def test_sums_with_carry_of_one_column_have_a_condition_and_words(seed: int) -> None:
    drawn = draw(seed, small=True, devices=OF_8_LANES)
    assert judge_gemm(drawn, real_ocloc(), by_validator=False).fault == ""


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "devices"), [(710_014, OTHERS), (720_018, ("ptl",))])
def test_a_kernel_of_ptl_lists_registers_of_messages(seed: int, devices: tuple[str, ...]) -> None:
    drawn, ocloc = draw(seed, small=True, devices=devices), real_ocloc()
    spec = find(drawn.device)
    artifact = compile_gemm(drawn.problem, drawn.config, spec)
    compiled = compile_kernel(ocloc, artifact, target_of(spec)).compiled
    assert compiled is not None
    assert any(i.payload and i.payload.gathered for i in read_machine_code(compiled).listings["gemm"].instructions)
    assert judge_gemm(drawn, ocloc, by_validator=False).fault == ""


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_operations(case: OperationCase, device: str) -> None:
    for level in case.sources:
        assert not judge_operation(
            case, level, find(device), execution=partial(code_of, device=device, ocloc=real_ocloc())
        ).fault


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, device: str) -> None:
    problem, kernel, grid, block = PROGRAMS[name]
    arguments, expected = problem(np.random.default_rng(3), name)
    artifact = compile_module((FOLDER / f"{name}.mlir").read_text(), find(device))
    simulate_module(artifact, kernel, grid, block, arguments, code_of(artifact, device, real_ocloc()))
    np.testing.assert_allclose(
        np.asarray(arguments[-1], np.float64), expected, rtol=4e-3, atol=4e-3
    )  # P is rounded to f16


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
def test_drawn_kernels(device: str) -> None:
    faults, refused, endless = {}, {}, []
    for seed in range(5000, 5000 + KERNELS):
        try:
            if refusal := judge_kernel(draw_kernel(seed), device, partial(code_of, device=device, ocloc=real_ocloc())):
                refused[seed] = refusal
        except CompileTimedOut:  # docs/upstream_faults.md, Intel's compiler
            endless.append(seed)
        except (CodegenError, AssertionError) as error:
            faults[seed] = str(error)
    assert not faults
    assert len(refused) <= KERNELS // 4, refused
    assert len(endless) <= 2, f"Intel's compiler does not end for {endless}"
