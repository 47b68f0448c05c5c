"""xetune kernels to-lighthouse and from-lighthouse: schedule parameters of lighthouse's XeGPU matmul."""

from pathlib import Path
from typing import Annotated, cast

import typer

from service.cli.access.opening import open_access
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_json, print_line


def to_lighthouse_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")],
    device: Annotated[str, typer.Option(help="Only kernels tuned on this device.")],
) -> None:
    """Write the best kernel of each problem as parameters of lighthouse's matmul schedule."""
    import json

    from codegen.artifact.files import write_named
    from service.cli.exchange.parameters import best
    from service.errors import NotFound
    from tuner.errors import InvalidFile
    from tuner.exchange.lighthouse import Parameters, to_parameters

    with open_access() as access:
        found = best(access, device)
    entries: list[Parameters] = []
    for problem, config in found.values():
        try:
            entries.append(to_parameters(problem, config))
        except InvalidFile as error:
            print_line(f"{problem}: left out: {error}", ERRORS)
    if not entries:
        raise NotFound(f"no kernel of {device} is one of lighthouse's matmuls: 16-bit inputs, row-major, with prefetch")
    write_named(output, (json.dumps(entries, indent=4) + "\n").encode())
    print_line(f"{counted(len(entries), 'problem')} written to {output}")


def from_lighthouse_command(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Parameters, such as matmul_params.json.")],
    device: Annotated[str, typer.Option(help="Id of the GPU that the configurations must be legal for.")],
    dtype: Annotated[str, typer.Option(help="Element type of A and B.")] = "f16",
) -> None:
    """Print lighthouse's parameters as configurations, for `xetune compile --config`, and which are legal here."""
    import json

    from codegen.backend import check_kernel
    from codegen.errors import CodegenError
    from hal import find
    from service.errors import BadRequest
    from service.gemm_json import config_to_json
    from service.schemas import ProblemBody, to_problem
    from tuner.errors import InvalidFile
    from tuner.exchange.documents import strict_object
    from tuner.exchange.lighthouse import from_parameters

    try:
        content: object = json.loads(file.read_bytes(), object_pairs_hook=strict_object)
    except ValueError as error:
        raise BadRequest(f"{file}: expected JSON: {error}") from error
    if not isinstance(content, list):
        raise BadRequest(f"{file}: expected a list of parameters, got {type(content).__name__}")
    spec, told = find(device), list[dict[str, object]]()
    for number, entry in enumerate(cast("list[dict[str, object]]", content)):
        try:
            made = from_parameters(entry)
        except InvalidFile as error:
            raise BadRequest(f"{file}: entry {number}: {error}") from error
        m, n, k = made.size
        body = ProblemBody.model_validate({"m": m, "n": n, "k": k, "dtype_a": dtype, "dtype_b": dtype})
        refused = None
        try:
            check_kernel(to_problem(body), made.config, spec)
        except CodegenError as error:
            refused = str(error)
        told.append(
            {
                "problem": {"m": m, "n": n, "k": k, "dtype": dtype},
                "config": config_to_json(made.config),
                "notes": list(made.notes),
                "refused": refused,
            }
        )
    print_json(told)
