"""What was another one when a time was taken: driver, compiler, generator or model."""

from collections.abc import Iterator

from codegen.toolchain import toolchain_versions
from db.models import Kernel, Trial
from hal import DeviceSpec
from tuner.model.xe import MODEL_VERSION

_GENERATOR = "xetune-codegen"


def staleness(kernel: Kernel, trial: Trial, spec: DeviceSpec) -> list[str]:
    """Each thing that was another one then than it is here now; empty when the result is valid.

    The driver of a device that is not here is not known, and not compared.
    """
    return [*_driver(trial, spec), *_versions(kernel), *_model(trial)]


def _driver(trial: Trial, spec: DeviceSpec) -> Iterator[str]:
    then = None if trial.measurement is None else trial.measurement.driver
    if then is not None and spec.driver is not None and then != spec.driver:
        yield f"driver {then} then, {spec.driver} now"


def _versions(kernel: Kernel) -> Iterator[str]:
    now = toolchain_versions()
    for name, version in now.items():
        then = kernel.toolchain.get(name)
        if then != version:
            what = "generator" if name == _GENERATOR else f"compiler {name}"
            yield f"{what} {then or 'of no known version'} then, {version} now"


def _model(trial: Trial) -> Iterator[str]:
    predicted = trial.prediction if trial.measurement is None else None
    if predicted is not None and predicted.model_version != MODEL_VERSION:
        yield f"model {predicted.model_version} then, {MODEL_VERSION} now"
