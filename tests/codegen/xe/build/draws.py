"""Random legal configurations of random problems, each made of a seed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from codegen import GemmProblem, Refused, XeConfig
from codegen.xe.rules import (
    check_problem,
    refusal,
)
from hal import find
from tests.codegen.xe.build.configs import draw_config
from tests.codegen.xe.build.problems import LONGEST, SHORT, draw_problem

DEVICES = ("b580", "pvc")
_TRIES = 12  # configurations of one problem


@dataclass(frozen=True, slots=True)
class Draw:
    """A problem and a configuration that the rules accept on a device, and what they refused before."""

    seed: int
    device: str
    problem: GemmProblem
    config: XeConfig
    refusals: Counter[str]

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.problem} on {self.device}: {self.config}"


def draw(
    seed: int,
    small: bool = False,
    devices: Sequence[str] = DEVICES,
    few_rows: bool = False,
    of_models: bool = False,
) -> Draw:
    """The legal draw of a seed; of small sizes and tiles it is compiled in a moment.

    With `few_rows`, C has up to 16 of them, and the sub-groups of a work-group multiply parts of K; with `of_models`, B
    is of weights or experts.
    """
    rng, refusals = Random(seed), Counter[str]()
    device = rng.choice(devices)
    while True:
        problem = draw_problem(rng, SHORT if small else LONGEST, few_rows, of_models)
        try:
            on = check_problem(problem, find(device))
        except Refused as refused:
            refusals[refused.rule] += 1
            continue
        for _ in range(_TRIES):
            config = draw_config(rng, on, small, few_rows)
            refused = refusal(on, config)
            if refused is None:
                return Draw(seed, device, problem, config, refusals)
            refusals[refused.rule] += 1
