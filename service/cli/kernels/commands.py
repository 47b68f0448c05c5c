"""xetune kernels: stored kernels, the best for one problem, and programs that run a kernel."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from service.api.hostcode.languages import Language
from service.api.kernels.tune import Tune
from service.cli.access.opening import open_access
from service.cli.completing import devices
from service.cli.default_command import FirstByDefault
from service.cli.devices.drivers import asking_drivers
from service.cli.exchange.lighthouse import from_lighthouse_command, to_lighthouse_command
from service.cli.ids import HELP, find_kernel
from service.cli.options.output import AsJson
from service.cli.options.problem import ProblemOptions, TargetName, with_problem
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, print_json, print_line

_STORED = ("exact", "stale")
_HEAD, _RUNNERS = 12, ("python ", "g++ ", "icpx ")
Limit = Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of kernels.")]
Every = Annotated[bool, typer.Option("--all", help="List also kernels that won no job.")]
KernelId = Annotated[str, typer.Argument(metavar="KERNEL", help=f"Id of the kernel: {HELP}")]

app = typer.Typer(
    cls=FirstByDefault,
    help="List, show and recommend kernels, write programs that run them.",
    no_args_is_help=False,
)


@app.command("find")
@with_problem
def kernels_command(
    problem: ProblemOptions,
    device: Annotated[
        str | None, typer.Option(help="Only kernels tuned on this device.", autocompletion=devices)
    ] = None,
    target: TargetName = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to copy the files of the best kernel to.")
    ] = None,
    limit: Limit = 20,
    every: Every = False,
    tune: Annotated[
        Tune,
        typer.Option(help="Queue a job if no result for the problem is stored, or also if it is stale."),
    ] = Tune.NEVER,
    driver: Annotated[
        str | None,
        typer.Option(help="Driver of the caller: native binaries for it come first, others say what changed."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the kernels that won a job, newest first, or look up the kernel for a problem (--m, --n, --k) with its
    confidence.
    """
    if not problem.given:
        list_command(device, limit, every, as_json)
        return
    with asking_drivers() as probes:
        # Imported here, while the drivers answer.
        from service.api.kernels.schemas import LookupBody
        from service.cli.kernels.kernel_lists import elsewhere, files_of, lookup_of, naming_others, show
        from service.schemas import to_body

        asked = to_body(problem.read())
        body = LookupBody(problem=asked, device=device or "auto", target=target, tune=tune, driver=driver)
        with open_access(probes) as access:
            with naming_others(access, body.problem):
                found = access.do(lookup_of(body)).answer
            others = [] if found.source.value in _STORED or as_json else elsewhere(access, body.problem)
            show(found, files_of(access, found.kernel, output), as_json, output, others)


@app.command("list")
def list_command(
    device: Annotated[
        str | None, typer.Option(help="Only kernels tuned on this device.", autocompletion=devices)
    ] = None,
    limit: Limit = 20,
    every: Every = False,
    as_json: AsJson = False,
) -> None:
    """List stored kernels, newest first: those that won a job, or all."""
    from service.cli.kernels.kernel_lists import print_newest

    with open_access() as access:
        print_newest(access, device, limit, every=every, as_json=as_json)


@app.command("show")
def show_command(kernel: KernelId, as_json: AsJson = False) -> None:
    """Show a kernel: its configuration, time, verification, code, origin and files."""
    from service.cli.kernels.kernel_facts import print_kernel

    with open_access() as access:
        print_kernel(access, find_kernel(access, kernel), as_json=as_json)


@app.command("files")
def files_command(
    kernel: KernelId,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder to copy them to.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the files of a kernel: every stage of its compilation; or copy them."""
    from service.cli.kernels.kernel_lists import files_of, kernel_of, print_artifacts
    from service.cli.printing.evidence import shown_files

    with open_access() as access:
        found = access.read(kernel_of(find_kernel(access, kernel)))
        files = files_of(access, found, output)
    if as_json:
        print_json({"files": files})
    elif output is None:
        print_artifacts(found)
    else:
        for line in shown_files(files):
            print_line(line)


@app.command("host-code")
def host_code_command(
    kernel: KernelId,
    language: Annotated[
        Language, typer.Argument(help="API: the first four for GPU kernels, the others for CPU kernels.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to write the program and the kernel's files to.")
    ] = None,
) -> None:
    """Print a complete program that runs a kernel, verifies its results and prints its time, or write it with
    the files.
    """
    import sys

    if output is not None and output.suffix == (suffix := Path(language.file_name).suffix):
        raise typer.BadParameter(
            f"expected a folder, for the program and the kernel's files, got {output}; for the program alone leave -o "
            f"out and write `> {output.with_suffix(suffix).name}`",
            param_hint="--output",
        )
    from codegen.artifact.files import write_atomically
    from service.cli.kernels.kernel_lists import copy_files, host_code_of, kernel_of

    with open_access() as access:
        kernel_id = find_kernel(access, kernel)
        program = access.fetch(host_code_of(kernel_id, language)).content
        text = program.decode()
        if output is None:
            sys.stdout.write(text)
            return
        paths = copy_files(access, access.read(kernel_of(kernel_id)), output)
    write_atomically(output / language.file_name, program)
    for path in (*paths.values(), str(output / language.file_name)):
        CONSOLE.print(path, highlight=False, soft_wrap=True)
    if (command := _run_by(text)) is not None:
        print_line(f"next: cd {shlex.quote(str(output))} && {command}")


def _run_by(program: str) -> str | None:
    """Return the command that builds and runs a program, as its first comment states it."""
    lines = (line.removeprefix("//").strip() for line in program.splitlines()[:_HEAD])
    return next((line for line in lines if line.startswith(_RUNNERS)), None)


@app.command("withdraw")
def withdraw_command(
    kernel: KernelId,
    reason: Annotated[str, typer.Option(help="Why it is not to be served; stored with the kernel.")],
) -> None:
    """Withdraw a kernel: it stays stored, and no lookup serves it."""
    from service.cli.kernels.actions import withdrawal_of

    with open_access() as access:
        found = access.do(withdrawal_of(kernel_id := find_kernel(access, kernel), reason)).answer
    CONSOLE.print(f"kernel {kernel_id} is withdrawn: {found.withdrawn}", highlight=False, soft_wrap=True, markup=False)
    CONSOLE.print(f"undo: xetune kernels restore {kernel_id}", highlight=False, soft_wrap=True)


@app.command("restore")
def restore_command(kernel: KernelId) -> None:
    """Serve a withdrawn kernel again."""
    from service.cli.kernels.actions import restoration_of

    with open_access() as access:
        access.remove(restoration_of(kernel_id := find_kernel(access, kernel)))
    CONSOLE.print(f"kernel {kernel_id} is served again", highlight=False, soft_wrap=True)


@app.command("binaries")
def binaries_command(
    kernel: KernelId,
    build: Annotated[
        bool, typer.Option("--build", help="Build the one for the driver of the installed offline compiler first.")
    ] = False,
    driver: Annotated[str | None, typer.Option(help="Driver that they are compared with.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the native binaries of a kernel, or build one: a runtime with the same driver need not compile."""
    from service.cli.kernels.binaries import binaries_of, build_of, print_binaries

    with open_access() as access:
        kernel_id = find_kernel(access, kernel)
        if build:
            access.do(build_of(kernel_id))
        found = access.read(binaries_of(kernel_id), {"driver": driver}).binaries
    if as_json:
        print_json({"binaries": [binary.model_dump(mode="json") for binary in found]})
        return
    print_binaries(found)


@app.command("rebuild-binaries")
def rebuild_command(
    most: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of kernels.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Queue jobs that rebuild stale native binaries for the driver of the installed offline compiler."""
    from service.cli.kernels.binaries import rebuild_of

    with open_access() as access:
        done = access.do(rebuild_of(most)).answer
    if as_json:
        print_json(done.model_dump(mode="json"))
        return
    CONSOLE.print(f"{counted(len(done.jobs), 'job')} queued for driver {done.driver}, {done.left} left")


app.command("to-lighthouse")(to_lighthouse_command)
app.command("from-lighthouse")(from_lighthouse_command)
