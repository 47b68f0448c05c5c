"""TPE over a known space samples what Optuna's TPE samples."""

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState, create_trial

from tuner.search.samplers.known_space_tpe import KnownSpaceTpe

CHOICES = {"block_m": (8, 16, 32), "block_n": (16, 32, 64, 128), "order": ("m", "n"), "stages": tuple(range(11))}
SPACE: dict[str, BaseDistribution] = {name: CategoricalDistribution(values) for name, values in CHOICES.items()}


class GivenSpace(TPESampler):
    """Optuna's, with the space given."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return dict(sorted(SPACE.items()))


def drawn(sampler: TPESampler, study: Study) -> dict[str, object]:
    """Return what a sampler proposes next."""
    trial = study.ask()
    stored = study.get_trials(deepcopy=False)[-1]
    sampled = sampler.sample_relative(study, stored, sampler.infer_relative_search_space(study, stored))
    study.tell(trial, state=TrialState.FAIL)
    return sampled


@pytest.mark.parametrize("ended", [8, 9, 30, 120])
def test_samples_are_those_of_optuna(ended: int) -> None:
    study, known = optuna.create_study(), dict[int, list[int]]()
    for number in range(ended):
        params = {name: values[number * 7 % 13 % len(values)] for name, values in CHOICES.items()}
        state = TrialState.PRUNED if number % 5 == 4 else TrialState.COMPLETE
        value = None if state is TrialState.PRUNED else float(number * 37 % 101)
        study.add_trial(create_trial(state=state, value=value, params=params, distributions=SPACE))
    for seed in range(20):
        own = drawn(KnownSpaceTpe(SPACE, seed, known), study)
        assert own == drawn(GivenSpace(seed=seed, n_startup_trials=8), study)
        assert own
    assert len(known) == ended
