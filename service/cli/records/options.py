"""Options that state device, driver and versions of records."""

from typing import Annotated

import typer

DeviceOption = Annotated[
    str, typer.Option(help="PCI id (8086:E211), id or name of the device; auto: that of this machine, or of the files.")
]
DriverOption = Annotated[str | None, typer.Option(help="Version of its driver (default: as probed, if it is here).")]
VersionOption = Annotated[list[str] | None, typer.Option(help="A version as name=version, such as triton=3.9.0.")]
OriginOption = Annotated[str | None, typer.Option(help="Where the results come from.")]


def read_versions(said: list[str] | None) -> dict[str, str]:
    """Return the versions of options.

    Raises:
        BadRequest: one is not name=version.
    """
    from service.errors import BadRequest

    pairs = [each.partition("=") for each in said or ()]
    for name, equals, version in pairs:
        if not (name and equals and version):
            raise BadRequest(f"--version: expected name=version, such as triton=3.9.0, got {name + equals + version!r}")
    return {name: version for name, _, version in pairs}
