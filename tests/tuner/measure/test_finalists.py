"""The winner is decided by interleaved measurements with the default, not by the search's fastest time."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from codegen import CompileFailed, XeConfig
from tests.tuner.fakes import SMALL, FakeCompilation, FakeDevice, artifact_of, binary_of, emulated
from tuner.measure.finalists import compare_finalists
from tuner.measure.interleaved_timing import WINDOWS
from tuner.measure.measure import Bench
from tuner.session.result import Comparison
from tuner.session.trial import (
    Measurement,
    Outcome,
    Proof,
    ProofKind,
    Status,
    Trial,
)
from tuner.space.xe.heuristic import default_config
from tuner.verify.reference import Reference

SPEC = emulated()
DEFAULT = default_config(SMALL, SPEC)


def _config(k: int) -> XeConfig:
    """Return a configuration that differs from the default and from those of other `k`."""
    return replace(DEFAULT, strategy=replace(DEFAULT.strategy, raster_group=2**k))


def _trial(number: int, time_us: float) -> Trial:
    times = Measurement(time_us, time_us, time_us, time_us, 9, "native", "fake 1")
    proof = Proof(ProofKind.DEVICE, 1, 1, 0.0, 1.0)
    config = DEFAULT if number == 0 else _config(number)
    return Trial(number, config, Outcome(Status.MEASURED, proof=proof, measurement=times))


def _bench(time_us: Callable[[bytes], float]) -> Bench:
    device = FakeDevice(SMALL, SPEC)
    device.time_us = time_us
    return Bench(SMALL, SPEC, device, Reference(SMALL, 1))


def _compared(bench: Bench, tried: dict[int, float], left_s: float = 60.0) -> tuple[int, Comparison] | None:
    trials = [_trial(number, time_us) for number, time_us in tried.items()]
    baseline = next(trial for trial in trials if trial.number == 0)
    finalists = sorted(trials, key=lambda trial: tried[trial.number])
    found = compare_finalists(bench, baseline, finalists, lambda config: artifact_of(SMALL, config), left_s)
    return None if found is None else (found[0].number, found[1])


def test_one_that_was_lucky_loses_to_one_that_is_faster() -> None:
    times = {binary_of(DEFAULT): 300.0, binary_of(_config(1)): 97.0, binary_of(_config(2)): 92.0}
    found = _compared(_bench(times.__getitem__), {0: 300, 1: 90, 2: 93})
    assert found is not None
    assert found[0] == 2
    assert found[1].speedup == pytest.approx(300 / 92)
    assert (found[1].remeasured, found[1].windows, found[1].drifted) == (True, WINDOWS, 0)


def test_the_default_wins_when_nothing_beats_it_interleaved() -> None:
    times = {binary_of(DEFAULT): 50.0, binary_of(_config(1)): 51.0}
    found = _compared(_bench(times.__getitem__), {0: 500, 1: 90})
    assert found is not None
    assert found[0] == 0
    assert found[1].speedup == 1.0


def test_a_default_that_seemed_best_is_compared_too() -> None:
    times = {binary_of(DEFAULT): 100.0, binary_of(_config(1)): 80.0}
    found = _compared(_bench(times.__getitem__), {0: 90, 1: 95})
    assert found is not None
    assert found[0] == 1
    assert found[1].speedup == pytest.approx(1.25)


def test_a_drift_is_told() -> None:
    runs: Counter[bytes] = Counter()

    def slowed(binary: bytes) -> float:
        runs[binary] += 1
        slow = runs.total() > 10  # after the first run of each, of five samples
        return (200.0 if binary == binary_of(DEFAULT) else 100.0) * (2.0 if slow else 1.0)

    found = _compared(_bench(slowed), {0: 200, 1: 100})
    assert found is not None
    assert found[1].drifted == 1
    assert found[1].speedup == pytest.approx(2.0)


@pytest.mark.parametrize("left_s", [0.0, -1.0])
def test_without_time_the_trials_own_times_count(left_s: float) -> None:
    found = _compared(_bench(lambda _: 70.0), {0: 300, 1: 90}, left_s)
    assert found == (1, Comparison(300.0, 90.0, remeasured=False))


def test_one_whose_kernel_fails_is_left_out() -> None:
    trials = [_trial(0, 300), _trial(1, 90), _trial(2, 95)]

    def kernel_of(config: object) -> FakeCompilation:
        assert isinstance(config, XeConfig)
        return FakeCompilation(SMALL, config, CompileFailed("llvm", "no") if config == _config(1) else None)

    times = {binary_of(DEFAULT): 300.0, binary_of(_config(2)): 100.0}
    bench = _bench(times.__getitem__)
    found = compare_finalists(bench, trials[0], [trials[1], trials[2]], kernel_of, 60)
    assert found is not None
    assert found[0].number == 2


def test_a_kernel_that_was_not_verified_does_not_win() -> None:
    def verified(number: int, time_us: float, binary: bytes) -> Trial:
        trial = _trial(number, time_us)
        assert trial.outcome is not None
        return replace(trial, outcome=replace(trial.outcome, kernel_hash=hashlib.sha256(binary).hexdigest()))

    first, same = verified(0, 300, binary_of(DEFAULT)), verified(2, 95, binary_of(_config(2)))
    other = verified(1, 90, b"of the version before")
    bench = _bench(lambda binary: {binary_of(DEFAULT): 300.0, binary_of(_config(2)): 100.0}.get(binary, 10.0))
    found = compare_finalists(bench, first, [other, same], lambda config: artifact_of(SMALL, config), 60)
    assert found is not None
    assert found[0].number == 2
