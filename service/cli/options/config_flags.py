"""Options that name a configuration: --config and --set."""

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Configuration as JSON (default: the heuristic's choice).", exists=True, dir_okay=False
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A field of the configuration, as in block=256x256x32, sg_layout=8x4, prefetch.distance=3 or slm=both; "
        "on a CPU threads=2x1x1, isa=avx2, pack_b=beforehand; may be given often.",
        metavar="NAME=VALUE",
        show_default=False,
    ),
]
