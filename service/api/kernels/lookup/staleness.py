"""Staleness of a result: changes of driver, compiler, generator or model since its time was taken."""

from collections.abc import Iterator, Mapping

from codegen.artifact.toolchain import toolchain_versions
from db.schema.kernel import Kernel
from db.schema.trial import Trial
from hal import DeviceSpec
from service.api.kernels.lookup.version_changes import driver_change
from tuner.model.xe import MODEL_VERSION, is_current

_GENERATOR = "xetune-codegen"


def staleness(kernel: Kernel, trial: Trial, spec: DeviceSpec) -> list[str]:
    """Return what has changed since then; empty if the result is valid.

    The driver of a device that is not local is unknown, and not compared.
    """
    driver = None if trial.measurement is None else trial.measurement.driver
    predicted = trial.prediction if trial.measurement is None else None
    model = None if predicted is None else predicted.model_version
    return changes(kernel.toolchain, driver, model, spec.driver)


def changes(
    toolchain: Mapping[str, object], driver: str | None, model: str | None, driver_now: str | None
) -> list[str]:
    """Return what has changed since then: compared with the current versions, driver and model version.

    None is not compared: a driver or a model that had no part in the result, or a device that is not local.
    """
    return [*driver_change(driver, driver_now), *_versions(toolchain), *_model(model)]


def _versions(toolchain: Mapping[str, object]) -> Iterator[str]:
    for name, version in toolchain_versions().items():
        then = toolchain.get(name)
        if then != version:
            what = "generator" if name == _GENERATOR else f"compiler {name}"
            yield f"{what} {then or 'of no known version'} then, {version} now"


def _model(then: str | None) -> Iterator[str]:
    if then is not None and not is_current(then):
        yield f"model {then} then, {MODEL_VERSION} now"
