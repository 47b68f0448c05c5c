"""Makes a set of shapes in the database of this machine, and runs it in this process with a progress bar."""

from uuid import UUID

import typer

from db.errors import DatabaseError
from db.queries import shape_sets
from db.schema.base import utc_now
from hal import list_devices
from service.api.audit.log import (
    Outcome,
    record,
)
from service.api.devices.quarantine import check_free
from service.api.devices.service import DeviceDirectory
from service.api.keys.caller import COMMAND_LINE
from service.api.shapes import service
from service.api.shapes.requests import (
    submit,
    understand,
)
from service.api.shapes.running import (
    SetProgress,
    SetRunner,
)
from service.api.toolchain.offline import (
    OfflineCompiler,
    find_ocloc,
)
from service.artifacts import StorageError
from service.cli.backend.sets import SetAsked
from service.cli.backend.stored import Stored
from service.cli.printing.progress import INTERRUPTED, bar, stopping, tell
from service.jobs.tuning import Tuning
from service.jobs.worker_names import (
    is_dead,
    own_name,
)


def create_set(store: Stored, asked: SetAsked) -> tuple[UUID, str, bool]:
    """The set, its device in words, and whether it is new; this process has it from its first moment."""
    directory = DeviceDirectory(list_devices, store.settings.devices_ttl_s)
    request = understand(
        asked.source,
        asked.shapes,
        asked.device,
        asked.target,
        (asked.trials, asked.seconds),
        asked.seed,
        asked.within,
        directory,
        store.settings,
        asked.search,
    )
    with store.database.write() as session:
        set_id, is_new = submit(session, request, store.settings.max_active_jobs)
        # Had before a worker sees it; who has it already, if it is not new, is told when it runs.
        shape_sets.claim(session, set_id, own_name(), store.settings.lease_s, is_dead, utc_now())
        record(session, COMMAND_LINE, "shapes.create", set_id, Outcome.DONE if is_new else Outcome.UNCHANGED)
    return set_id, f"{request.device.id} ({request.device.name})", is_new


def work_on_set(store: Stored, set_id: UUID, quiet: bool) -> bool:
    """Return when a set is over, or when Ctrl-C stopped it after its present trials; whether it is over.

    Raises:
        typer.Exit: Ctrl-C twice; what was finished is stored.
    """
    with store.database.read() as session:
        if (wanted := service.read_set(session, set_id)).status == "active":
            check_free(session, wanted.device)
    with bar(quiet) as progress:
        task = progress.add_task("starting", total=None)

        def show(now: SetProgress) -> None:
            progress.update(task, description=now.doing, completed=now.done, total=now.total)

        tuning = Tuning(
            store.database,
            store.artifacts,
            store.settings.cache_dir,
            native_for=OfflineCompiler(find_ocloc(store.settings)),
            on_wait=lambda message: tell(f"set of shapes {set_id} {message}"),
        )
        runner = SetRunner(tuning, store.settings, set_id, show)
        with stopping(runner.stop):
            try:
                is_over = runner.run()
            except (DatabaseError, StorageError):
                tell(f"what was finished is stored; {_goes_on(set_id)}")
                raise
            except KeyboardInterrupt:
                tell(f"stopped at once; what was finished is stored; {_goes_on(set_id)}")
                raise typer.Exit(INTERRUPTED) from None
    return is_over


def _goes_on(set_id: UUID) -> str:
    return f"`xetune shapes resume {set_id}` goes on"
