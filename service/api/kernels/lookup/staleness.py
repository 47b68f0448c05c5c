"""What was another one when a time was taken: driver, compiler, generator or model."""

from collections.abc import Iterator, Mapping

from codegen.artifact.toolchain import toolchain_versions
from db.schema import (
    Kernel,
    Trial,
)
from hal import DeviceSpec
from tuner.model.xe import MODEL_VERSION

_GENERATOR = "xetune-codegen"


def staleness(kernel: Kernel, trial: Trial, spec: DeviceSpec) -> list[str]:
    """Each thing that was another one then than it is here now; empty when the result is valid.

    The driver of a device that is not here is not known, and not compared.
    """
    driver = None if trial.measurement is None else trial.measurement.driver
    predicted = trial.prediction if trial.measurement is None else None
    model = None if predicted is None else predicted.model_version
    return changes(kernel.toolchain, driver, model, spec.driver)


def changes(
    toolchain: Mapping[str, object], driver: str | None, model: str | None, driver_now: str | None
) -> list[str]:
    """Each thing that was another one then than it is here now: of these versions, driver and model's version.

    None of the last ones is not compared: a driver or a model that had no part in the result, or a device that is not
    here.
    """
    return [*_driver(driver, driver_now), *_versions(toolchain), *_model(model)]


def _driver(then: str | None, now: str | None) -> Iterator[str]:
    if then is not None and now is not None and then != now:
        yield f"driver {then} then, {now} now"


def _versions(toolchain: Mapping[str, object]) -> Iterator[str]:
    for name, version in toolchain_versions().items():
        then = toolchain.get(name)
        if then != version:
            what = "generator" if name == _GENERATOR else f"compiler {name}"
            yield f"{what} {then or 'of no known version'} then, {version} now"


def _model(then: str | None) -> Iterator[str]:
    if then is not None and then != MODEL_VERSION:
        yield f"model {then} then, {MODEL_VERSION} now"
