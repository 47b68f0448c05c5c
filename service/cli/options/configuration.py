"""Options for a configuration: a file, and single fields that override it or the heuristic's choice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import cast, get_type_hints

from codegen import (
    GemmProblem,
    InvalidConfig,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
)
from codegen.backend import AnyBackend, backend_for, check_kind
from hal import DeviceSpec
from service.cli.options.documents import read_json
from service.gemm_json import config_from_json, config_to_json
from tuner.backend import tuning_for

_Places = Mapping[str, tuple[str, ...]]
_EXTENTS = ("threads", "block", "innermost")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None}


@dataclass(frozen=True, slots=True)
class ConfigOptions:
    """Values of --config and --set."""

    file: Path | None
    settings: list[str]

    def read(self, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
        """Return the configuration for a problem.

        What they leave unsaid follows from what they say: with another block and no `threads`, work-groups
        are as many as C then has tiles; without a file, load blocks, sub-groups and blocks fit each other.

        Raises:
            InvalidConfig: names the file or the option, and the field at fault.
            Refused: the heuristic is asked, and the problem or the device is refused; or the file is for
            another kind
                of device.
        """
        backend, tuning = backend_for(spec), tuning_for(spec)
        said = _said(self.settings, backend)
        chosen = tuning.default(problem, tuning.restrict(spec, said)) if self.file is None else _read_file(self.file)
        check_kind(chosen, spec)
        if not said:
            return chosen
        changed = tuning.match_threads(problem, _changed(chosen, said, backend), said)
        return changed if self.file is not None else tuning.refit(problem, changed, spec, said)


def _read_file(path: Path) -> KernelConfig:
    document = read_json("--config", path, "a configuration")
    try:
        return config_from_json(document)
    except InvalidConfig as error:
        raise InvalidConfig(f"--config {path}", str(error) if error.field else error.message) from error


def _changed(config: KernelConfig, said: Mapping[str, object], backend: AnyBackend) -> KernelConfig:
    document, places = config_to_json(config), _places(backend)
    for name, value in said.items():
        *path, last = places[name]
        inner = document
        for part in path:
            inner = cast("dict[str, object]", inner[part])
        inner[last] = value
    try:
        return config_from_json(document)
    except InvalidConfig as error:
        raise InvalidConfig("--set", str(error)) from error


def _places(backend: AnyBackend) -> _Places:
    """Return the path of each field in the JSON of a configuration, by its option name."""
    places = {f.name: ("matmul", f.name) for f in fields(MatmulConfig)}
    for name, hint in get_type_hints(get_type_hints(backend.config)["strategy"]).items():
        if is_dataclass(hint):
            places |= {f"{name}.{f.name}": ("strategy", name, f.name) for f in fields(hint)}
        else:
            places[name] = ("strategy", name)
    return places


def _said(settings: list[str], backend: AnyBackend) -> dict[str, object]:
    places = _places(backend)
    said = dict(_setting(setting, places) for setting in settings)
    if (order := said.get("loop_order", LoopOrder.M_OUTER)) not in [*LoopOrder]:
        raise InvalidConfig("--set", f"expected loop_order={backend.loop_orders}; got {str(order)[:60]!r}")
    return said


def _setting(text: str, places: _Places) -> tuple[str, object]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or name not in places:
        near = get_close_matches(name, places, 1) if equals else []
        hint = f": did you mean {near[0]}?" if near else ""
        raise InvalidConfig("--set", f"expected NAME=VALUE with one of {', '.join(places)}; got {text[:60]!r}{hint}")
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
