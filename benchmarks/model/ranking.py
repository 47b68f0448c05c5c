"""Ranking configurations at a fixed shape, and constants fitted on oneDNN's catalogue with an architecture left out."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from benchmarks.model import roofline
from benchmarks.model.fitting import fitted
from benchmarks.model.printing import (
    Times,
    print_table,
)
from benchmarks.model.rows import (
    Row,
    Strategy,
    catalogue,
)
from codegen import GemmProblem, XeConfig
from codegen.xe.rules import check_problem
from hal import DeviceSpec, find
from tuner.model.core_clocks import core_clocks, gpu_rates
from tuner.model.xe import CONSTANTS, Constants, columns_of, predict_many
from tuner.model.xe.core import core_time
from tuner.model.xe.device import case_of
from tuner.model.xe.work import work_of

Ranker = Callable[[Sequence[tuple[GemmProblem, XeConfig]], DeviceSpec], Times]

_DEVICES = {"Xe-HPC": "max1550", "Xe2-HPG": "b580"}
_FITTED = ("l2_bytes_per_clk_per_core",)
# oneDNN writes its instructions itself: what our code needs beside multiplies does not hold for it.
_THEIR_CODE = replace(
    CONSTANTS,
    **dict.fromkeys(("sends_staged_a", "sends_staged_b", "sends_copied", "moves_staged_a", "moves_staged_b"), 0.0),
    moves_transposed_a=0.0,
    registers_loaded=0.0,
    registers_loaded_beyond=0.0,
    registers_staged_a=0.0,
    registers_staged_b=0.0,
    registers_copied=0.0,
    registers_at_risk=0.0,
    registers_at_risk_turned=0.0,
)
_TIE = 0.02  # times that differ by less are no pair


def _clocks(strategies: list[Strategy], spec: DeviceSpec, constants: Constants) -> Times:
    """Clocks of an engine for a multiply-add."""
    problem, c = strategies[0].problem, columns_of([s.config for s in strategies])
    on = case_of(problem, spec, constants)
    work = work_of(on, c)
    times = (work.rounds * work.resident + work.left) * work.turns * work.steps
    return core_time(on, c, work).total * on.engines / (times * c.block_m * c.block_n * c.block_k)


def _residuals(constants: Constants, architecture: str) -> Times:
    """Logarithms of predicted over catalogued clocks."""
    return np.concatenate(
        [
            np.log(_clocks(group, find(_DEVICES[of]), constants) / [s.clocks_per_fma for s in group])
            for of, group in catalogue()
            if of == architecture
        ]
    )


def _fit(architecture: str) -> Constants:
    """Constants that fit the catalogue of one architecture."""
    return fitted(_THEIR_CODE, _FITTED, lambda k: float(np.abs(_residuals(k, architecture)).mean()))


def print_catalogue_fits() -> None:
    """Print how far the catalogue's clocks are, with constants fitted on both architectures or on the other one."""
    rows: list[list[object]] = []
    for left_out in _DEVICES:
        for name, constants in (
            ("fitted on both", _THEIR_CODE),
            ("fitted on the other", _fit(next(other for other in _DEVICES if other != left_out))),
        ):
            errors = _residuals(constants, left_out)
            scaled = np.abs(errors - np.median(errors))
            rows.append(
                [
                    left_out,
                    len(errors),
                    name,
                    *(round(getattr(constants, n)) for n in _FITTED),
                    *(f"{np.expm1(q):.0%}" for q in (np.median(scaled), np.quantile(scaled, 0.9))),
                    f"{np.exp(np.median(errors)):.2f}",
                ]
            )
    print_table(
        "Strategies of oneDNN's catalogue: clocks in steady state",
        ("tested on", "strategies", "constants", *_FITTED, "median error", "90 %", "scale"),
        rows,
    )


def _by_model(pairs: Sequence[tuple[GemmProblem, XeConfig]], spec: DeviceSpec) -> Times:
    return predict_many(pairs[0][0], columns_of([c for _, c in pairs]), spec).time_us


def _by_clocks(constants: Constants) -> Ranker:
    """Clocks of a core with constants of another architecture: what the catalogue states, without memory."""

    def ranked(pairs: Sequence[tuple[GemmProblem, XeConfig]], spec: DeviceSpec) -> Times:
        return _clocks([Strategy(problem, config, 0.0) for problem, config in pairs], spec, constants)

    return ranked


def _by_roofline(pairs: Sequence[tuple[GemmProblem, XeConfig]], spec: DeviceSpec) -> Times:
    return np.array([roofline.predict(p, c, spec).time_us for p, c in pairs])


def _by_heuristic(pairs: Sequence[tuple[GemmProblem, XeConfig]], spec: DeviceSpec) -> Times:
    """Clocks that the heuristic's default minimizes."""
    clocks = [core_clocks(p, c, gpu_rates(check_problem(p, spec))) for p, c in pairs]
    return np.array([c.dpas + c.l1 + c.l2 for c in clocks])


def _judged(
    model: Ranker, groups: Sequence[tuple[DeviceSpec, list[tuple[GemmProblem, XeConfig]], Times]]
) -> list[list[object]]:
    """For each way to rank: pairs ordered right, and how much slower the first choice is than the best."""
    rows: list[list[object]] = []
    rankers = {"model": model, "roofline": _by_roofline, "heuristic": _by_heuristic}
    for name, ranker in rankers.items():
        right, count, regrets = 0.0, 0, list[float]()
        for spec, pairs, measured in groups:
            ranked = ranker(pairs, spec)
            first = measured[np.isclose(ranked, ranked.min(), rtol=1e-6)].mean()
            regrets.append(float(first / measured.min() - 1))
            for i, j in combinations(range(len(measured)), 2):
                if abs(np.log(measured[i] / measured[j])) > _TIE:
                    same = np.isclose(ranked[i], ranked[j], rtol=1e-6)
                    right += 0.5 if same else float((ranked[i] < ranked[j]) == (measured[i] < measured[j]))
                    count += 1
        rows.append([name, f"{right / count:.0%} of {count}", f"{np.mean(regrets):.0%}", f"{max(regrets):.0%}"])
    regrets = [float(np.mean(measured) / measured.min() - 1) for _, _, measured in groups]
    return [*rows, ["random", "50%", f"{np.mean(regrets):.0%}", f"{max(regrets):.0%}"]]


def print_ranking(rows: list[Row]) -> None:
    """Print how well configurations of one shape are ranked, against the roofline, the heuristic and chance."""
    columns = ("ranked by", "correctly ordered pairs (ties half)", "mean regret of the first choice", "worst")
    for architecture in _DEVICES:
        groups = [
            (find(_DEVICES[of]), [(s.problem, s.config) for s in group], np.array([s.clocks_per_fma for s in group]))
            for of, group in catalogue()
            if of == architecture
        ]
        ranker = _by_clocks(_fit(next(other for other in _DEVICES if other != architecture)))
        print_table(
            f"Ranking: catalogue of {architecture}, {len(groups)} kinds of GEMM", columns, _judged(ranker, groups)
        )
    measured = [
        (find(device), [(r.problem, r.config) for r in of if r.config is not None], np.array([r.time_us for r in of]))
        for (device, _), of in by_shape(rows).items()
        if len(of) > 1
    ]
    print_table(f"Ranking: measured, {len(measured)} shapes", columns, _judged(_by_model, measured))


def by_shape(rows: list[Row]) -> dict[tuple[str, GemmProblem], list[Row]]:
    """Rows of one device and problem together."""
    shapes: dict[tuple[str, GemmProblem], list[Row]] = {}
    for row in rows:
        shapes.setdefault((row.device, row.problem), []).append(row)
    return shapes
