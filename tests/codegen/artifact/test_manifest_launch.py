"""kernel.json is enough to launch a kernel."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from codegen import (
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmArtifact,
    GemmProblem,
    MatmulConfig,
    SplitK,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.artifact.manifest import manifest
from codegen.artifact.manifest_launch import launch_from_manifest
from hal import find
from tests.tuner.fakes import emulated

STEPS = (EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN), EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW))
PROBLEM = GemmProblem(48, 96, 160, dtype_a=DType.BF16, dtype_b=DType.BF16, batch=2, dynamic=True, epilogue=STEPS)
PLAIN = XeConfig(MatmulConfig(Extent(2, 2, 1), Extent(32, 64, 32), Extent(16, 32, 32)), XeStrategy((2, 2)))
SPLIT = replace(PLAIN, matmul=replace(PLAIN.matmul, threads=Extent(2, 2, 2)))
WIDE = replace(PLAIN.strategy, grf_mode=256)


@cache
def compiled(*, emulates: bool = False) -> GemmArtifact:
    """A kernel of several steps that takes numbers, with 256 registers."""
    strategy = replace(WIDE, split_k=SplitK.PARTIAL_SUMS)
    return compile_gemm(PROBLEM, replace(SPLIT, strategy=strategy), emulated() if emulates else find("b580"))


def said_of(artifact: GemmArtifact) -> dict[str, Any]:
    """Its kernel.json."""
    return json.loads(json.dumps(manifest(artifact)))


@pytest.mark.parametrize("emulates", [False, True])
def test_the_launch_comes_back_from_the_manifest(emulates: bool) -> None:
    artifact = compiled(emulates=emulates)
    launch = launch_from_manifest(said_of(artifact), artifact.launch.binary)
    assert launch == artifact.launch
    assert (len(launch.steps) > 1, bool(launch.build_options)) == (True, not emulates)
    assert any(not isinstance(parameter, int) for step in launch.steps for parameter in step.parameters)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.pop("steps"), "missing steps"),
        (lambda m: m["arguments"].reverse(), "in the order of their index"),
        (lambda m: m["arguments"][0].update(role="owner"), "role: expected one of input, output, inout, scratch"),
        (lambda m: m["steps"][0]["parameters"].append({"scalar": "m"}), "expected an argument, or a scalar and its v"),
        (lambda m: m["steps"][0]["parameters"].append({"argument": 40}), "there is no argument 40"),
        (lambda m: m["steps"][0].update(global_size=[7, 1]), r"steps\[0\].global_size: expected 3 items"),
    ],
)
def test_a_manifest_of_another_form_is_refused(change: Callable[[dict[str, Any]], object], said: str) -> None:
    document = said_of(compiled())
    change(document)
    with pytest.raises(ValueError, match=said):
        launch_from_manifest(document, b"")
