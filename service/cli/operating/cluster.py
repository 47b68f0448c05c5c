"""xetune cluster: the scheduler of many machines, workers as batch jobs, and who gives out work."""

from collections.abc import Callable
from typing import Annotated

import typer
from rich.table import Table

from db.queries import coordinators
from service.cli.backend.stored import stored
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, print_json
from service.cluster.link import check_installed, link_to
from service.logs import configure_logs
from service.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="Many machines: their scheduler, batch jobs, and who gives out work.")

Insecure = Annotated[
    bool, typer.Option("--insecure", help="Allow tcp:// beyond loopback: who reaches it can run any code.")
]


@app.command("scheduler")
def scheduler_command(
    address: Annotated[str, typer.Argument(help="Where to listen: tls://HOST:PORT, or tcp:// on loopback.")] = (
        "tcp://127.0.0.1:8786"
    ),
    insecure: Insecure = False,
) -> None:
    """Start a Dask scheduler, which workers and one coordinator connect to."""
    settings = read_settings()
    configure_logs(settings)
    check_installed()
    from service.cluster.dask.scheduler_process import serve_scheduler

    serve_scheduler(link_to(address, settings, insecure=insecure))


def _batch(system: str) -> Callable[..., None]:
    """The command of one batch system."""

    def command(
        scheduler: Annotated[str, typer.Option(metavar="ADDRESS", help="Dask scheduler: tls://HOST:PORT or tcp://.")],
        workers: Annotated[int, typer.Option(min=1, help="How many jobs, one worker each.")] = 1,
        cores: Annotated[int, typer.Option(min=1, help="CPUs of each, and compilations at one time.")] = 8,
        memory: Annotated[str, typer.Option(help="Memory of each.")] = "32GB",
        walltime: Annotated[str, typer.Option(help="How long each lasts.")] = "04:00:00",
        queue: Annotated[str | None, typer.Option(help="Queue or partition.")] = None,
        account: Annotated[str | None, typer.Option(help="Account to charge.")] = None,
        directive: Annotated[
            list[str] | None, typer.Option(help="A further directive, such as --gres=gpu:1; may be repeated.")
        ] = None,
        prologue: Annotated[list[str] | None, typer.Option(help="A line to run before; may be repeated.")] = None,
        device: Annotated[list[str] | None, typer.Option(help="Offer this device alone; may be repeated.")] = None,
        script: Annotated[bool, typer.Option("--script", help="Print the script and submit nothing.")] = False,
        insecure: Insecure = False,
    ) -> None:
        link = link_to(scheduler, read_settings(), insecure=insecure)
        check_installed()
        from service.cluster.dask.batch import BatchJob, System, job_of, submit

        asked = BatchJob(cores, memory, walltime, queue, account, directive or (), prologue or (), device or ())
        jobs = [job_of(System(system), link, asked, f"xetune-{number}", insecure=insecure) for number in range(workers)]
        if script:
            typer.echo(jobs[0].job_script())
            return
        for job_id in submit(jobs):
            typer.echo(job_id)

    command.__doc__ = f"Start workers as jobs of {_NAMES[system]}; they offer their machines until the job ends."
    return command


_NAMES = {"pbs": "PBS", "slurm": "Slurm"}
for _system in _NAMES:
    app.command(_system)(_batch(_system))


@app.command("show")
def show_command(as_json: AsJson = False) -> None:
    """Who gives out work now, and which devices it reaches."""
    with stored() as store, store.database.read() as session:
        leaders = [
            {"name": row.name, "holder": row.holder, "fence": row.fence, "since": row.since.isoformat()}
            for row in coordinators.live(session)
        ]
        devices = [
            {"device": row.device.slug, "host": row.host, "place": row.place, "driver": row.device.driver}
            for row in coordinators.reached(session)
        ]
    if as_json:
        print_json({"coordinators": leaders, "devices": devices})
        return
    for title, rows in (("Who gives out work", leaders), ("What is reached", devices)):
        table = Table(title=title, title_justify="left", box=None)
        for name in rows[0] if rows else ("nothing",):
            table.add_column(name)
        for row in rows:
            table.add_row(*map(str, row.values()))
        CONSOLE.print(table)
