"""Jobs that an import queued, and devices of an export."""

from service.api.exchange.schemas import ImportOut
from service.cli.access.chosen_server import server
from service.cli.access.opening import Access
from service.cli.devices.resources import device_of
from service.cli.printing.counted import counted
from service.cli.printing.output import print_json, print_line
from service.errors import NotFound
from xetune_client.errors import NotFound as Missing


def device_id(access: Access, name: str) -> str:
    """Return the id of a device by any of its names; a name that is none now may be in results."""
    try:
        return access.read(device_of(name)).id
    except (NotFound, Missing):
        return name


def tell_queued(done: ImportOut, *, as_json: bool) -> None:
    """Print the jobs that measure what a file lists."""
    if as_json:
        print_json({"queued": [str(job) for job in done.queued], "configurations": done.configurations})
        return
    for job in done.queued:
        print_line(f"job {job} is queued: `xetune jobs show {job}`")
    by = "a worker; `xetune jobs resume ID` runs a job here" if server() is None else "the service's workers"
    print_line(f"{counted(done.configurations, 'configuration')} to be measured by {by}")
