"""Options that say a configuration: a file, and single fields over it or over the heuristic's choice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, cast

import typer

from codegen import GemmProblem, InvalidConfig, KernelConfig, MatmulConfig, Prefetch, XeStrategy
from hal import DeviceSpec
from service.cli.documents import read_json
from service.convert import config_from_json, config_to_json
from tuner.heuristic import default_config

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
        "may be given often.",
        metavar="NAME=VALUE",
        show_default=False,
    ),
]

_PLACES: Mapping[str, tuple[str, ...]] = (
    {f.name: ("matmul", f.name) for f in fields(MatmulConfig)}
    | {f.name: ("strategy", f.name) for f in fields(XeStrategy) if f.name != "prefetch"}
    | {f"prefetch.{f.name}": ("strategy", "prefetch", f.name) for f in fields(Prefetch)}
)
_EXTENTS = ("threads", "block", "innermost")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None}


@dataclass(frozen=True, slots=True)
class ConfigOptions:
    """What --config and --set say."""

    file: Path | None
    settings: list[str]

    def read(self, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
        """The configuration they say for a problem.

        With another block and no `threads` said, work-groups are as many as C then has tiles.

        Raises:
            InvalidConfig: names the file or the option, and the field at fault.
            Refused: the heuristic is asked, and the problem or the device is refused.
        """
        chosen = default_config(problem, spec) if self.file is None else _read_file(self.file)
        return _changed(chosen, self.settings, problem) if self.settings else chosen


def _read_file(path: Path) -> KernelConfig:
    document = read_json("--config", path, "a configuration")
    try:
        return config_from_json(document)
    except InvalidConfig as error:
        raise InvalidConfig(f"--config {path}", str(error) if error.field else error.message) from error


def _changed(config: KernelConfig, settings: list[str], problem: GemmProblem) -> KernelConfig:
    document = config_to_json(config)
    said = dict(_setting(setting) for setting in settings)
    for name, value in said.items():
        *path, last = _PLACES[name]
        inner = document
        for part in path:
            inner = cast("dict[str, object]", inner[part])
        inner[last] = value
    if "block" in said and "threads" not in said:
        matmul, block = cast("dict[str, object]", document["matmul"]), cast("dict[str, int]", said["block"])
        split = config.matmul.threads.k
        matmul["threads"] = {"m": -(-problem.m // block["m"]), "n": -(-problem.n // block["n"]), "k": split}
    try:
        return config_from_json(document)
    except InvalidConfig as error:
        raise InvalidConfig("--set", str(error)) from error


def _setting(text: str) -> tuple[str, object]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or name not in _PLACES:
        raise InvalidConfig("--set", f"expected NAME=VALUE with one of {', '.join(_PLACES)}; got {text[:60]!r}")
    return name, _value(name, value)


def _value(name: str, text: str) -> object:
    numbers = [int(n) for n in text.split("x")] if re.fullmatch(r"-?\d{1,9}(x\d{1,9})*", text, re.ASCII) else []
    if name in _EXTENTS:
        if len(numbers) != 3 or min(numbers) < 1:
            raise InvalidConfig("--set", f"expected {name}=MxNxK, whole numbers of at least 1; got {text[:60]!r}")
        return dict(zip("mnk", numbers, strict=True))
    if len(numbers) == 1:
        return numbers[0]
    return numbers or _WORDS.get(text, text)
