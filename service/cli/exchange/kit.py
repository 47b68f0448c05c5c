"""xetune export --kit: a measuring kit of runners-up."""

import os
from collections import Counter
from io import BytesIO
from pathlib import Path

from codegen.artifact.files import write_named
from codegen.workers.pool import CompilePool
from hal import resolve_device
from service.api.devices.schemas import DeviceOut
from service.cli.access.opening import Access
from service.cli.access.resource import Asked
from service.cli.exchange.exporting import EXPORT
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_line
from service.cluster.local import COMPILE_TIMEOUT_S
from service.errors import BadRequest, NotFound
from service.settings import read_settings
from tuner.exchange.jsonl import read_lines
from tuner.kit.build import build_kit


def write_kit(access: Access, kit: Path, device: DeviceOut | None, query: Asked) -> None:
    """Compile runners-up on this machine, and write them as a kit.

    Raises:
        NotFound: there are none.
        BadRequest: they are of several devices.
        Refused, CompileFailed: none of them compiles.
    """
    of = None if device is None else device.emulates or device.id
    exchange = read_lines(BytesIO(access.fetch(EXPORT, {"device": of, "runners_up": True, **query}).content))
    if not exchange.candidates:
        raise NotFound(
            f"no configuration{'' if of is None else f' of {of}'} is predicted and was not measured, and nothing is "
            "written; `xetune tune` predicts for a GPU that is not in this machine"
        )
    stand_in = None if device is None or device.emulates is None else resolve_device(device.id).spec
    with CompilePool(os.cpu_count() or 1, COMPILE_TIMEOUT_S, read_settings().cache_dir) as pool:
        try:
            made = build_kit(exchange, pool, stand_in)
        except ValueError as error:
            raise BadRequest(f"{error} with --device") from error
    write_named(kit, made.data)
    print_line(
        f"{counted(made.kernels, 'kernel')} of {counted(made.problems, 'problem')} for {made.device} written to {kit}, "
        f"{len(made.data) / 2**20:.1f} MiB; there: `python {kit.name}`"
    )
    for reason, count in Counter(made.left_out).items():
        print_line(f"{counted(count, 'configuration')} left out: {reason}", ERRORS)
