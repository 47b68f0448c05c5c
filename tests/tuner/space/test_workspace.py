"""The second objective of a search: memory beyond the operands is what the kernels themselves say."""

from dataclasses import replace

from codegen import DType, Extent, GemmProblem, KernelConfig, SlmOperands, SplitK
from codegen.cpu.compile import compile_cpu_gemm
from hal import DeviceSpec, find
from tests.tuner.fakes import cpu_spec
from tuner.backend import tuning_of
from tuner.search.method import Method
from tuner.search.problem_search import search_for
from tuner.space.cpu.space import cpu_space
from tuner.space.xe.heuristic import default_config

PROBLEM = GemmProblem(24, 48, 56, dtype_a=DType.BF16, dtype_b=DType.BF16)


def _needed(config: KernelConfig, spec: DeviceSpec, problem: GemmProblem = PROBLEM) -> int:
    return tuning_of(config).workspace_bytes(problem, config, spec)


def test_of_a_gpu_it_is_partial_sums_and_what_a_work_group_stages() -> None:
    plain = default_config(PROBLEM, find("b580"))
    plain = replace(plain, strategy=replace(plain.strategy, slm=SlmOperands.NONE, slm_stages=0, split_k=SplitK.NONE))
    assert _needed(plain, find("b580")) == 0
    block = plain.matmul.block
    staged = replace(plain, strategy=replace(plain.strategy, slm=SlmOperands.A, slm_stages=3))
    assert _needed(staged, find("b580")) == 3 * block.m * block.k * 2
    threads = plain.matmul.threads
    split = replace(
        plain,
        matmul=replace(plain.matmul, threads=Extent(threads.m, threads.n, 4)),
        strategy=replace(plain.strategy, split_k=SplitK.PARTIAL_SUMS),
    )
    assert _needed(split, find("b580")) == 4 * 24 * 48 * 4
    parts = replace(plain, strategy=replace(plain.strategy, k_subgroups=4))
    assert _needed(parts, find("b580")) == 4 * block.m * block.n * 4


def test_of_a_cpu_it_is_the_workspace_that_its_kernels_ask_for() -> None:
    space = cpu_space(PROBLEM, cpu_spec())
    needs = [_needed(space.config(row), cpu_spec()) for row in range(0, len(space), 99)]
    for row in (99 * needs.index(min(needs)), 99 * needs.index(max(needs))):
        launch = compile_cpu_gemm(PROBLEM, space.config(row), cpu_spec()).launch
        asked = sum(argument.nbytes for argument in launch.arguments if argument.name == "workspace")
        assert _needed(space.config(row), cpu_spec()) == asked
    assert min(needs) < max(needs)


def test_a_search_for_both_finds_configurations_that_need_less() -> None:
    problem = replace(PROBLEM, dtype_a=DType.F32, dtype_b=DType.F32)
    search = search_for(problem, cpu_spec(), 1, measured=True, method=Method.NSGA2)
    needed: list[int] = []
    for _ in range(60):
        proposal = search.ask()
        assert proposal is not None
        search.tell(proposal.config, 10.0)  # all as fast: memory alone decides
        needed.append(_needed(proposal.config, cpu_spec(), problem))
    assert sum(needed[40:]) < sum(needed[:20])
