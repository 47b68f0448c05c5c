"""Options that say a configuration: a file, and single fields over it or over the heuristic's choice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, cast

import typer

from codegen import (
    CpuConfig,
    CpuStrategy,
    GemmProblem,
    InvalidConfig,
    Isa,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    XeStrategy,
)
from codegen.backend import check_kind
from codegen.config.xe import XE_ORDERS
from hal import DeviceSpec, runs_own_code
from service.cli.options.documents import read_json
from service.row_mapping import (
    config_from_json,
    config_to_json,
)
from tuner.space.cpu.refit import (
    refit,
    within,
)
from tuner.space.starts import default_for
from tuner.space.xe.refit import refit_xe

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

_Places = Mapping[str, tuple[str, ...]]
_OF_MATMUL: _Places = {f.name: ("matmul", f.name) for f in fields(MatmulConfig)}
_OF_XE: _Places = {f.name: ("strategy", f.name) for f in fields(XeStrategy) if f.name != "prefetch"} | {
    f"prefetch.{f.name}": ("strategy", "prefetch", f.name) for f in fields(Prefetch)
}
_OF_CPU: _Places = {f.name: ("strategy", f.name) for f in fields(CpuStrategy)}
_CPU_ORDERS = "pmpnpk or pnpmpk, then om, on and ok in any order, then iminik or inimik, all in one word"
_EXTENTS = ("threads", "block", "innermost")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None}


@dataclass(frozen=True, slots=True)
class ConfigOptions:
    """What --config and --set say."""

    file: Path | None
    settings: list[str]

    def read(self, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
        """The configuration they say for a problem.

        What they leave unsaid follows from what they say: with another block and no `threads`, work-groups are as many
        as C then has tiles; without a file, load blocks, sub-groups and blocks fit each other.

        Raises:
            InvalidConfig: names the file or the option, and the field at fault.
            Refused: the heuristic is asked, and the problem or the device is refused; or the file is for another kind
                of device.
        """
        said = _said(self.settings, spec)
        chosen = default_for(problem, _as_said(spec, said)) if self.file is None else _read_file(self.file)
        check_kind(chosen, spec)
        if not said:
            return chosen
        changed = _changed(chosen, said, problem)
        if self.file is not None:
            return changed
        if isinstance(changed, CpuConfig):
            return refit(problem, changed, spec, said)
        return refit_xe(problem, changed, spec, said)


def _as_said(spec: DeviceSpec, said: Mapping[str, object]) -> DeviceSpec:
    """The device that a default is for: of a CPU, with the instructions that were asked for."""
    isa = said.get("isa")
    return within(spec, Isa(isa)) if runs_own_code(spec) and isa in set(Isa) else spec


def _read_file(path: Path) -> KernelConfig:
    document = read_json("--config", path, "a configuration")
    try:
        return config_from_json(document)
    except InvalidConfig as error:
        raise InvalidConfig(f"--config {path}", str(error) if error.field else error.message) from error


def _changed(config: KernelConfig, said: Mapping[str, object], problem: GemmProblem) -> KernelConfig:
    document = config_to_json(config)
    places = _places(for_cpu=isinstance(config, CpuConfig))
    for name, value in said.items():
        *path, last = places[name]
        inner = document
        for part in path:
            inner = cast("dict[str, object]", inner[part])
        inner[last] = value
    if "block" in said and "threads" not in said and not isinstance(config, CpuConfig):
        matmul, block = cast("dict[str, object]", document["matmul"]), cast("dict[str, int]", said["block"])
        split = config.matmul.threads.k
        matmul["threads"] = {"m": -(-problem.m // block["m"]), "n": -(-problem.n // block["n"]), "k": split}
    try:
        return config_from_json(document)
    except InvalidConfig as error:
        raise InvalidConfig("--set", str(error)) from error


def _places(*, for_cpu: bool) -> _Places:
    """Where each field is, by the name that people give it."""
    return {**_OF_MATMUL, **(_OF_CPU if for_cpu else _OF_XE)}


def _said(settings: list[str], spec: DeviceSpec) -> dict[str, object]:
    places = _places(for_cpu=runs_own_code(spec))
    said = dict(_setting(setting, places) for setting in settings)
    if (order := said.get("loop_order", LoopOrder.M_OUTER)) not in [*LoopOrder]:
        kinds = _CPU_ORDERS if runs_own_code(spec) else f"one of {', '.join(XE_ORDERS)}"
        raise InvalidConfig("--set", f"expected loop_order={kinds}; got {str(order)[:60]!r}")
    return said


def _setting(text: str, places: _Places) -> tuple[str, object]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or name not in places:
        raise InvalidConfig("--set", f"expected NAME=VALUE with one of {', '.join(places)}; got {text[:60]!r}")
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
