"""Findings of all checks of this machine."""

from collections.abc import Iterator, Sequence
from functools import partial

from hal import list_devices
from hal.driver.installed import installed_driver
from hal.probe.findings import Finding
from hal.probe.probe import probe_drivers
from service.cli.printing.output import ERRORS, print_line
from service.cluster.local import LocalExecutor
from service.doctor.hardware import hardware
from service.doctor.kernels import chosen, kernels
from service.doctor.software import software
from service.settings import Settings


def findings(settings: Settings, names: Sequence[str], *, run: bool) -> Iterator[Finding]:
    """Yield the findings about hardware, software and, with `run`, small kernels."""
    probes, driver = probe_drivers(), installed_driver(settings.driver_dir)
    checked = chosen(list_devices(probes, driver), names, driver)
    yield from hardware(probes)
    yield from software(settings)
    if run:
        told = partial(print_line, console=ERRORS)
        yield from kernels(checked, LocalExecutor(), settings.cache_dir, settings.database_url, told)
