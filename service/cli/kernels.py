"""xetune kernels: what is stored, or the best for one problem."""

from typing import Annotated

import typer
from rich.table import Table

from codegen import DType, InvalidProblem
from db import kernels
from hal import resolve_device
from service.cli.evidence import shown_gflops, shown_kind, shown_proof_short, shown_time
from service.cli.output import CONSOLE, print_json
from service.cli.problem import AsJson, InputType, OutputType, TargetName, plain_gemm
from service.cli.results import artifact_paths
from service.cli.stored import Stored, stored
from service.kernels import service
from service.kernels.schemas import KernelOut
from service.schemas import to_problem

_Size = Annotated[int | None, typer.Option(help="With the other two: the best kernel for this problem.")]


def kernels_command(
    m: _Size = None,
    n: _Size = None,
    k: _Size = None,
    dtype: InputType = DType.F16,
    out_dtype: OutputType = DType.F32,
    device: Annotated[str | None, typer.Option(help="Only kernels tuned on this device.")] = None,
    target: TargetName = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most kernels shown.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List stored kernels, newest first, or show the best one for a problem (--m, --n, --k)."""
    with stored() as store:
        if m is None and n is None and k is None:
            _list(store, device, limit, as_json)
        elif m is None or n is None or k is None:
            raise InvalidProblem("sizes", "give --m, --n and --k, or none of them")
        else:
            problem = plain_gemm(m, n, k, dtype, out_dtype, None, None, None)
            with store.database.read() as session:
                kernel = service.look_up(session, problem, resolve_device(device or "auto", target))
            _show(store, kernel, as_json)


def _list(store: Stored, device: str | None, limit: int, as_json: bool) -> None:
    with store.database.read() as session:
        rows = kernels.list_page(session, limit=limit, device=device)
        best = kernels.evidence(session, [row.id for row in rows])
        listed = [service.describe(row, best.get(row.id)) for row in rows]
    if as_json:
        print_json({"kernels": [kernel.model_dump(mode="json") for kernel in listed]})
    elif not listed:
        CONSOLE.print("No kernels yet. Tune a problem: xetune tune --m 512 --n 384 --k 1024 --dtype f16")
    else:
        CONSOLE.print(_table(listed))


def _table(listed: list[KernelOut]) -> Table:
    table = Table("kernel", "problem", "device", "time (spread)", "GFLOP/s", "time is", "numbers")
    for kernel in listed:
        table.add_row(
            str(kernel.id),
            str(to_problem(kernel.problem)),
            kernel.device,
            shown_time(kernel.evidence.time),
            shown_gflops(kernel.tflops),
            shown_kind(kernel.evidence.time),
            shown_proof_short(kernel.evidence),
        )
    return table


def _show(store: Stored, kernel: KernelOut, as_json: bool) -> None:
    files = artifact_paths(kernel, store.artifacts)
    if as_json:
        print_json(kernel.model_dump(mode="json") | {"files": files})
        return
    CONSOLE.print(_table([kernel]))
    for name, path in files.items():
        CONSOLE.print(f"  {name:13} {path}", highlight=False, soft_wrap=True)
