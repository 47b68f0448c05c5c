"""Kernels of a set on each of its shapes: one that takes sizes is the same binary everywhere, and is compiled once."""

from dataclasses import replace

from codegen import DType, Extent, GemmProblem, MatmulConfig, XeConfig, XeStrategy
from codegen.workers.code_key import with_groups
from codegen.xe.rules import tiles_of
from db.values import new_id
from hal import find
from service.api.shapes.kernels import (
    SetKernel,
    apply_kernels,
    cells_of,
    choose_kernels,
)
from service.api.shapes.state import SetShape
from tuner.session.trial import (
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    Status,
    Trial,
)
from tuner.shapes.allocation import Progress
from tuner.shapes.compare_kernels import Compared

B580 = find("b580")
CONFIG = XeConfig(MatmulConfig(Extent(2, 2, 1), Extent(32, 64, 32), Extent(16, 32, 32)), XeStrategy((2, 2)))
MADE = "ab" * 32


def _problem(m: int, n: int, k: int, *, dynamic: bool = True) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=DType.BF16, dtype_b=DType.BF16, dynamic=dynamic)


FIRST, WIDE, ODD = _problem(64, 96, 128), _problem(40, 200, 136), _problem(48, 100, 72)


def _trial(number: int, problem: GemmProblem, time_us: float) -> Trial:
    proof = Proof(ProofKind.SIMULATOR, 1, 1, 0.0, 0.0)
    outcome = Outcome(
        Status.PREDICTED, proof=proof, prediction=Prediction(time_us, time_us, time_us, "test"), kernel_hash=MADE
    )
    return Trial(number, with_groups(CONFIG, tiles_of(problem, CONFIG)), outcome=outcome)


def _shape(number: int, problem: GemmProblem, time_us: float) -> SetShape:
    return SetShape(number, new_id(), problem, [_trial(0, problem, time_us)], Progress(1.0))


def test_one_code_that_won_on_two_shapes_is_one_kernel() -> None:
    shapes = [_shape(5, FIRST, 9.0), _shape(6, WIDE, 20.0)]
    assert [member for member, _ in choose_kernels(shapes, B580, 0.05)] == [6]
    odd = _shape(7, ODD, 5.0)  # B by lanes there
    assert [member for member, _ in choose_kernels([*shapes, odd], B580, 0.05)] == [6, 7]


def test_the_kernel_that_the_job_of_a_shape_reports_comes_first() -> None:
    default, faster = _trial(0, FIRST, 9.2), _trial(1, FIRST, 9.0)
    other = replace(CONFIG, strategy=replace(CONFIG.strategy, k_unroll=2))
    shape = SetShape(5, new_id(), FIRST, [default, replace(faster, config=other)], Progress(1.0))
    chosen = [config for _, config in choose_kernels([shape], B580, 0.05)]
    assert chosen == [default.config, other]  # within the resolution of the model


def test_a_kernel_that_takes_sizes_is_its_own_binary_on_other_shapes() -> None:
    kernels = [SetKernel(1, FIRST, CONFIG, MADE)]
    there = apply_kernels(kernels, WIDE, B580)
    assert [config.matmul.threads for _, config in there.configs if isinstance(config, XeConfig)] == [Extent(2, 4, 1)]
    nothing_tried = Compared(_trial(0, WIDE, 20.0), None, {})
    (cell,) = cells_of(there, nothing_tried, WIDE, B580, measured=False)
    assert (cell.evidence, cell.content_hash) == ("predicted", MADE)
    odd = apply_kernels(kernels, ODD, B580)
    assert odd.configs == ()
    assert odd.refused[1].startswith("rule one-binary: 48x100x72 ")


def test_kernels_with_sizes_compiled_in_have_no_binary_elsewhere() -> None:
    first, wide = _problem(64, 96, 128, dynamic=False), _problem(40, 200, 136, dynamic=False)
    there = apply_kernels([SetKernel(1, first, CONFIG, MADE)], wide, B580)
    (cell,) = cells_of(there, Compared(_trial(0, wide, 20.0), None, {}), wide, B580, measured=False)
    assert (cell.evidence, cell.content_hash) == ("predicted", None)
