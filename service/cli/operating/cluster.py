"""xetune cluster: the scheduler of many machines, and the active coordinator."""

from contextlib import closing
from typing import Annotated

import typer

from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, print_json, print_line, text_table

app = typer.Typer(no_args_is_help=True, help="Run on many machines: scheduler and coordinator.")
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Allow tcp:// beyond loopback, where any client can run any code.")
]


@app.command("scheduler")
def scheduler_command(
    address: Annotated[str, typer.Argument(help="Address to listen on: tls://HOST:PORT, or tcp:// on loopback.")] = (
        "tcp://127.0.0.1:8786"
    ),
    insecure: Insecure = False,
) -> None:
    """Start a Dask scheduler, to which workers and one coordinator connect."""
    from service.cluster.link import check_installed, link_to
    from service.settings import read_settings
    from service.telemetry.logs import configure_logs

    settings = read_settings()
    configure_logs(settings)
    check_installed()
    from service.cluster.dask.scheduler_process import serve_scheduler

    serve_scheduler(link_to(address, settings, insecure=insecure))


@app.command("show")
def show_command(as_json: AsJson = False) -> None:
    """Show the active coordinator, and the devices that it reaches."""
    from db.migrate import prepare
    from db.queries.cluster import coordinators
    from service.settings import read_settings

    database = prepare(read_settings().database_url, create=True)
    with closing(database), database.read() as session:
        leaders = coordinators.live(session)
        devices = [
            {"device": row.device.slug, "host": row.host, "executor": row.executor, "driver": row.device.driver}
            for row in coordinators.reached(session)
        ]
    if as_json:
        running = [
            {"name": row.name, "holder": row.holder, "fence": row.fence, "since": f"{row.since:%Y-%m-%dT%H:%M:%SZ}"}
            for row in leaders
        ]
        print_json({"coordinators": running, "devices": devices})
        return
    if not leaders:
        print_line("no coordinator runs; `xetune serve` or `xetune coordinator` starts one")
    for row in leaders:
        # The name of one that serves a single machine ends with its holder.
        print_line(f"coordinator {row.name.removesuffix(f' {row.holder}')}")
        print_line(f"  holder {row.holder}")
        print_line(f"  fence  {row.fence}, since {row.since:%Y-%m-%d %H:%M} UTC")
    if not devices:
        print_line("it reaches no devices of other machines" if leaders else "no devices are reached")
        return
    table = text_table("device", "host, executor", "driver")
    for each in devices:
        table.add_row(each["device"], f"{each['host']}\n{each['executor']}", each["driver"])
    CONSOLE.print(table)
