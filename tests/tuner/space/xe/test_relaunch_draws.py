"""Drawn dynamic kernels at drawn sizes that are not theirs, those first that the search leaves out."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from codegen import GemmProblem, Refused, XeConfig, compile_gemm
from codegen.xe.rules import (
    check_problem,
    refusal,
)
from hal import DeviceSpec, find
from tests.codegen.xe.build.configs import draw_config
from tests.codegen.xe.build.problems import draw_problem, other_sizes
from tuner.space.xe.relaunch import code_of, relaunched
from tuner.verify.verify import verify_by_simulation

_TRIES = 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(7000, 7040))
def test_a_drawn_binary_is_right_at_other_sizes(seed: int) -> None:
    rng, spec = Random(seed), find(("b580", "pvc")[seed % 2])
    problem, there = next(_relaunched(rng, spec))
    proof = verify_by_simulation(compile_gemm(problem, there, spec), seed)
    assert proof.checked == proof.total


def _relaunched(rng: Random, spec: DeviceSpec) -> Iterator[tuple[GemmProblem, XeConfig]]:
    """Problems with the configuration of a kernel of other sizes: without end."""
    while True:
        source = replace(draw_problem(rng, 60), dynamic=True)
        try:
            on = check_problem(source, spec)
        except Refused:
            continue
        drawn = (draw_config(rng, on, small=True) for _ in range(_TRIES))
        config = next((config for config in drawn if refusal(on, config) is None), None)
        code = None if config is None else code_of(config, source, spec)
        if config is None or code is None:
            continue
        found: list[tuple[bool, GemmProblem, XeConfig]] = []
        for problem in (other_sizes(rng, source) for _ in range(_TRIES)):
            try:
                there = relaunched(config, code, problem, spec)
            except Refused:
                continue
            found.append((refusal(check_problem(problem, spec), there) is None, problem, there))
        if found:
            _, problem, there = min(found, key=lambda each: each[0])
            yield problem, there
