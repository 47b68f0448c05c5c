"""xetune devices: what can run here and the Intel GPUs that are known, as tables or JSON; `show` for one of them."""

from typing import Annotated

import typer

from service.cli import completing
from service.cli.access.opening import open_access
from service.cli.default_command import FirstByDefault
from service.cli.devices.drivers import asking_drivers
from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, print_json

devices_app = typer.Typer(cls=FirstByDefault, help="List the devices of this machine and the known Intel GPUs.")


@devices_app.command("list")
def devices_command(as_json: AsJson = False) -> None:
    """List the devices of this machine and the known Intel GPUs."""
    with asking_drivers() as probes, open_access(probes) as access:
        from service.cli.devices.resources import DEVICES

        told = access.read(DEVICES)
    from service.cli.devices.tables import devices_json, print_quarantined, render_devices
    from service.cli.options.device_file import listed_of

    if as_json:
        quarantined = [one.model_dump(mode="json") for one in told.quarantined]
        print_json({"devices": devices_json(told.devices), "quarantined": quarantined})
    else:
        for part in render_devices([listed_of(device) for device in told.devices]):
            CONSOLE.print(part)
        print_quarantined(told.quarantined)


@devices_app.command("release")
def release_command(
    device: Annotated[str, typer.Argument(help="Id of the quarantined device.")],
    host: Annotated[str | None, typer.Option(help="Host to release it on (default: all).")] = None,
) -> None:
    """Release a quarantined device."""
    from service.cli.devices.resources import release_of

    with open_access() as access:
        access.remove(release_of(device, host))
    CONSOLE.print(f"{device} is released", highlight=False)


@devices_app.command("show")
def show_command(
    device: Annotated[
        str,
        typer.Argument(
            help="Id, alias, PCI id or IP version; auto; cpu; opencl-cpu.", autocompletion=completing.devices
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show all facts of a device with their sources, and the missing ones."""
    with asking_drivers() as probes, open_access(probes) as access:
        from service.cli.devices.accuracy import accuracy_lines
        from service.cli.devices.one import render_device
        from service.cli.devices.resources import QUARANTINED, accuracy_of, device_of
        from service.cli.devices.tables import devices_json, print_quarantined
        from service.cli.options.device_file import listed_of

        told = access.read(device_of(device))
        kept = [one for one in access.read(QUARANTINED).quarantined if one.device == told.id]
        accuracy = access.read(accuracy_of(told.id))
    if as_json:
        (document,) = devices_json([told])
        print_json({"devices": [document | {"accuracy": accuracy.model_dump(mode="json")["models"]}]})
        return
    CONSOLE.print(render_device(told, listed_of(told)))
    print_quarantined(kept)
    for line in accuracy_lines(accuracy):
        CONSOLE.print(line, highlight=False, soft_wrap=True)
