"""Option for the machine code of a kernel."""

from typing import Annotated

import typer

Isa = Annotated[
    bool,
    typer.Option("--isa", help="Write and summarize the GPU's instructions (isa.asm, isa.json, pipeline.txt)."),
]
