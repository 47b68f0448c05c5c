"""The validator of SPIR-V accepts modules of all kinds: GEMMs, operations, examples, with and without cache hints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.compiler.fresh_workers import each
from codegen import compile_gemm, compile_module
from codegen.xe.llvm.cache_hints import separate_cache_hints
from codegen.xe.spirv import emit_spirv
from hal import find
from tests.codegen.xe.build.coverage import DEVICE, NARROW
from tests.codegen.xe.build.coverage import Case as Cell
from tests.codegen.xe.build.coverage import cases as cells
from tests.codegen.xe.llvm.test_cache_hints import HINTED
from tests.codegen.xe.operations.catalogue import CASES
from tests.codegen.xe.validator import invalid, needs_validator

pytestmark = needs_validator

_PROCESSES = os.cpu_count() or 2
_ROOT = Path(__file__).parents[3]
_GPUS = (DEVICE, "max1550")
_DEVICES = {"cells": DEVICE, "cells for sub-groups of 8": NARROW[0], "cells without DPAS": NARROW[2]}
FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.ll"))


@dataclass(frozen=True, slots=True)
class _Module:
    """Source of a module and its target device."""

    name: str
    source: Cell | str
    device: str


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_stored_kernels_are_valid(file: Path) -> None:
    assert not invalid(emit_spirv(separate_cache_hints(file.read_text())))


def test_hints_for_several_levels_are_valid() -> None:
    assert not invalid(emit_spirv(separate_cache_hints(HINTED)))


@pytest.mark.slow  # many minutes: every module is compiled
@pytest.mark.parametrize("kind", [*_DEVICES, "operations", "examples"])
def test_every_module_is_valid(kind: str) -> None:
    modules = _modules(kind)
    faults = [fault for fault in each(_fault, modules, _PROCESSES) if fault]
    assert not faults, f"{len(faults)} of {len(modules)}: {faults[:3]}"


def _modules(kind: str) -> tuple[_Module, ...]:
    if kind == "operations":
        return tuple(_operations())
    return tuple(_examples() if kind == "examples" else _cells(_DEVICES[kind]))


def _cells(device: str) -> Iterator[_Module]:
    for cell in cells(device):
        if cell.refusal() is None:
            yield _Module(str(cell.key), cell, device)


def _operations() -> Iterator[_Module]:
    for case in CASES:
        device = DEVICE if case.lanes is None else NARROW[0]
        for level, source in case.sources.items():
            yield _Module(f"{case.name} at {level} level", source, device)


def _examples() -> Iterator[_Module]:
    for file in (*(_ROOT / "examples").glob("*.mlir"), *(Path(__file__).parent / "programs").glob("*.mlir")):
        for device in _GPUS:
            yield _Module(f"{file.stem} for {device}", file.read_text(), device)


def _fault(module: _Module) -> str:
    """Return the validator's error for the SPIR-V of a module; empty if it is valid."""
    spec, source = find(module.device), module.source
    artifact = (
        compile_module(source, spec) if isinstance(source, str) else compile_gemm(source.problem, source.config, spec)
    )
    said = invalid(artifact.stage("spirv").data)
    return f"{module.name}: {said}" if said else ""
