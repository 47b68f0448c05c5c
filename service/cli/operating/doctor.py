"""xetune doctor: whether this machine is ready, for what, and what to do."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated

import typer

from hal import list_devices
from hal.driver.installed import installed_driver
from hal.probe.findings import Finding
from hal.probe.probe import probe_drivers
from service.cli.completing import devices
from service.cli.options.problem import AsJson
from service.cli.printing.output import ERRORS, print_json, print_line
from service.cluster.local import LocalExecutor
from service.doctor.hardware import hardware
from service.doctor.kernels import chosen, kernels
from service.doctor.report import Report, heading, lines, summary
from service.doctor.software import software
from service.settings import Settings, read_settings


def doctor_command(
    device: Annotated[
        list[str] | None,
        typer.Option(help="Check kernels on this device; may be repeated (default: all here).", autocompletion=devices),
    ] = None,
    run: Annotated[bool, typer.Option("--kernels/--no-kernels", help="Compile, run and verify small kernels.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check GPUs, permissions, drivers, packages, the database, the disk, and small kernels on each device.

    The exit status is 1 if there is a fault.
    """
    found: list[Finding] = []
    if not as_json:
        print_line(heading())
    for finding in _findings(read_settings(), device or (), run=run):
        found.append(finding)
        if not as_json:
            for line in lines(finding):
                print_line(line)
    report = Report(tuple(found))
    if as_json:
        print_json(report.to_json())
    else:
        for line in summary(report):
            print_line(line)
    if not report.is_ready:
        raise typer.Exit(1)


def _findings(settings: Settings, names: Sequence[str], *, run: bool) -> Iterator[Finding]:
    probes, driver = probe_drivers(), installed_driver(settings.driver_dir)
    checked = chosen(list_devices(probes, driver), names, driver)
    yield from hardware(probes)
    yield from software(settings)
    if run:
        told = partial(print_line, console=ERRORS)
        yield from kernels(checked, LocalExecutor(), settings.cache_dir, settings.database_url, told)
