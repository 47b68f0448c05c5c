"""xetune doctor: whether this machine is ready, for what, and what to do."""

from typing import Annotated

import typer

from service.cli.completing import devices
from service.cli.options.output import AsJson
from service.cli.printing.output import print_json, print_wrapped

_AFTER_STATE = " " * 9


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
    from hal.probe.findings import Finding
    from service.cli.operating.findings import findings
    from service.doctor.report import Report, heading, lines, summary
    from service.settings import read_settings

    found: list[Finding] = []
    if not as_json:
        print_wrapped(heading())
    for finding in findings(read_settings(), device or (), run=run):
        found.append(finding)
        if not as_json:
            for line in lines(finding):
                print_wrapped(line, indent=_AFTER_STATE)
    report = Report(tuple(found))
    if as_json:
        print_json(report.to_json())
    else:
        for line in summary(report):
            print_wrapped(line)
    if not report.is_ready:
        raise typer.Exit(1)
