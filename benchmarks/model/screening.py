"""Configurations of one shape that sycl-tla screened on a B70: errors, order, regret, and constants fitted on a half.

Constants of the model were fitted on this table, so its first table is no test. The second one is: constants are fitted
on a random half of the configurations, and judged on the other.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.model.fitting import fitted
from benchmarks.model.printing import Times, percent, print_table, spearman
from benchmarks.model.rows import Row, screened
from codegen import GemmProblem
from hal import find
from tuner.model.resolution import RESOLUTION
from tuner.model.xe import Columns, Constants, Predictions, columns_of, predict_many
from tuner.model.xe.constants import constants_of

_EQUAL = 1e-9  # logarithms of predicted times that differ only by summation order
_SAME = 1.01  # measured times of one configuration in the two screenings differ by as much
_SPEC = find("b70")
_FITTED = ("l2_bytes_per_clk_per_core", "near_clks", "far_clks", "cached", "kept_in_l1")
_UNFITTED = {"l2_bytes_per_clk_per_core": 35.0, "near_clks": 250.0, "far_clks": 850.0, "cached": 0.7, "kept_in_l1": 1.0}
"""Values before the table was known: those of the catalogue and assumptions."""
# sycl-tla loads all operands of a K step before it multiplies them; ours are loaded in parts.
_WHOLE_STEPS = {
    "registers_loaded": 1.0,
    "registers_loaded_beyond": 0.0,
    "registers_at_risk": 0.0,
    "registers_at_risk_turned": 0.0,
    "scratch_bytes_per_clk_per_core": 20.0,
}
_SPLITS = 4


@dataclass(frozen=True, slots=True)
class Screening:
    """Configurations of one layout, their measured times, and whether the tile may spill in sycl-tla's code."""

    problem: GemmProblem
    columns: Columns
    measured: Times
    spills: "np.typing.NDArray[np.bool_]"

    def predicted(self, constants: Constants) -> Predictions:
        """Return the predictions with these constants; L1 keeps no more than all."""
        possible = replace(constants, kept_in_l1=min(1.0, constants.kept_in_l1))
        return predict_many(self.problem, self.columns, _SPEC, possible)


def print_screening(folder: Path) -> None:
    """Print accuracy, constants fitted on halves, and the order of pairs by predicted ratio."""
    of_layout = {layout: _screening(rows) for layout, rows in screened(folder).items()}
    _accuracy(of_layout)
    _halves(of_layout)
    _resolution(of_layout)


def may_spill(rows: list[Row]) -> "np.typing.NDArray[np.bool_]":
    """Tiles of a sub-group whose sums and operands of a K step need more than its registers, all loaded at once."""
    needed = [
        (c.sg_m * c.sg_n * 4 + (c.sg_m + c.sg_n) * c.matmul.block.k * 2) / 64
        for c in (row.config for row in rows)
        if c is not None
    ]
    return np.array(needed) > 256


def _screening(rows: list[Row]) -> Screening:
    columns = columns_of([row.config for row in rows if row.config is not None])
    return Screening(rows[0].problem, columns, np.array([row.time_us for row in rows]), may_spill(rows))


def _accuracy(of_layout: dict[str, Screening]) -> None:
    ours = constants_of(_SPEC)
    table: list[list[object]] = []
    for layout, s in of_layout.items():
        everything = np.full(len(s.measured), True)
        for name, those, constants in (
            ("all, as our code", everything, ours),
            ("all, as code that loads whole K steps", everything, replace(ours, **_WHOLE_STEPS)),
            ("without tiles that spill there", ~s.spills, ours),
        ):
            p, us = s.predicted(constants), s.measured[those]
            inside = np.mean((p.low_us[those] <= us) & (us <= p.high_us[those]))
            table.append([f"{layout}, {name}", *_judged(p.time_us[those], us), f"{inside:.0%}"])
    print_table("Configurations of one shape on a B70", ("configurations", *_JUDGED, "in the interval"), table)


def _halves(of_layout: dict[str, Screening]) -> None:
    start = replace(constants_of(_SPEC), **_UNFITTED)
    rng = np.random.default_rng(0)
    table: list[list[object]] = []
    for split in range(_SPLITS):
        halves = {layout: rng.random(len(s.measured)) < 0.5 for layout, s in of_layout.items()}

        def loss(constants: Constants, halves: "dict[str, np.typing.NDArray[np.bool_]]" = halves) -> float:
            errors = [
                np.log(s.predicted(constants).time_us / s.measured)[halves[layout] & ~s.spills]
                for layout, s in of_layout.items()
            ]
            return float(np.abs(np.concatenate(errors)).mean())

        found = fitted(start, _FITTED, loss)
        values = ", ".join(f"{getattr(found, name):.3g}" for name in _FITTED)
        for layout, s in of_layout.items():
            those = ~halves[layout] & ~s.spills
            for name, constants in (("before", start), (values, found)):
                judged = _judged(s.predicted(constants).time_us[those], s.measured[those])
                table.append([f"{split + 1}, {layout}", name, *judged])
    columns = ("half judged", ", ".join(_FITTED), *_JUDGED)
    print_table("The same without tiles that spill, constants fitted on the other half", columns, table)


_JUDGED = ("number", "scale", "median error", "90 %", "Spearman", "regret", "best of five")


def _judged(predicted: Times, measured: Times) -> list[object]:
    errors, order = np.log(predicted / measured), np.argsort(predicted)
    return [
        len(errors),
        float(np.exp(np.median(errors))),
        *(percent(np.abs(errors), share) for share in (0.5, 0.9)),
        spearman(predicted, measured),
        *(f"{measured[order[:count]].min() / measured.min() - 1:.1%}" for count in (1, 5)),
    ]


def _resolution(of_layout: dict[str, Screening]) -> None:
    """Share of pairs without tiles that spill that are ordered correctly, by predicted ratio."""
    gains, right = list[Times](), list[Times]()
    for s in of_layout.values():
        measured = np.log(s.measured[~s.spills])
        predicted = np.log(s.predicted(constants_of(_SPEC)).time_us[~s.spills])
        i, j = np.triu_indices(len(measured), 1)
        gain, gained = predicted[j] - predicted[i], measured[j] - measured[i]
        counts = (np.abs(gain) > _EQUAL) & (np.abs(gained) > np.log(_SAME))
        gains.append(np.exp(np.abs(gain[counts])))
        right.append((gain * gained > 0)[counts].astype(np.float64))
    gain, ordered = np.concatenate(gains), np.concatenate(right)
    table: list[list[object]] = []
    for low, high in pairwise((1.0, 1.03, RESOLUTION, 1.1, 1.2, 1.3, 1.5, 2.0, np.inf)):
        those = (low <= gain) & (gain < high)
        table.append([f"{low:.2f} to {high:.2f}", int(those.sum()), f"{ordered[those].mean():.0%}"])
    print_table("Resolution: pairs of these by predicted ratio", ("ratio", "pairs", "ordered correctly"), table)
