"""xetune opt: passes over the text of a module."""

from pathlib import Path
from typing import Annotated

import typer


def opt_command(
    file: Annotated[str, typer.Argument(help="Module to read: XeTile or XeGPU; - is standard input.")] = "-",
    passes: Annotated[
        list[str] | None,
        typer.Option("--pass", help="Pass to apply (repeatable).", metavar="NAME[{OPTION=VALUE ...}]"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write (default: standard output).", dir_okay=False)
    ] = None,
    generic: Annotated[bool, typer.Option("--generic", help="Print MLIR's generic form.")] = False,
    verify_only: Annotated[bool, typer.Option("--verify-only", help="Verify only; print nothing but errors.")] = False,
    split: Annotated[
        bool, typer.Option("--split-input-file", help="Process the parts between // ----- lines separately.")
    ] = False,
    device_only: Annotated[
        bool, typer.Option("--device-only", help="Skip host functions without parsing them; keep only gpu.modules.")
    ] = False,
    list_passes: Annotated[bool, typer.Option("--list-passes", help="List XeTune's passes and their options.")] = False,
) -> None:
    """Parse and verify a module, apply passes, print it. An error names line and column; exit status 2.

    Example: xetune opt examples/gemm_prefetch.mlir --pass fold-tile-offsets --pass "lower-xetile{load-a=32,16}"

    xDSL's own passes (canonicalize, cse, dce and others) are available by name, too.
    """
    import sys

    from codegen import CompileFailed
    from codegen.artifact.files import write_named
    from codegen.xe.opt import OptFailed, read_passes, run_passes
    from service.cli.compiler.modules import read_source, read_stdin
    from service.cli.compiler.passes import print_passes

    if list_passes:
        print_passes()
        return
    chosen = read_passes(passes or ())
    if output is not None and not output.parent.is_dir():
        raise OptFailed(f"-o {output}: expected a folder that exists, got {output.parent}")
    try:
        source, name = (read_stdin(), "<stdin>") if file == "-" else (read_source(Path(file)), file)
    except CompileFailed as error:
        raise OptFailed(error.message) from error
    result = run_passes(source, chosen, name=name, generic=generic, split=split, device_only=device_only)
    if output is not None:
        write_named(output, result.encode())
    elif not verify_only:
        sys.stdout.write(result)
