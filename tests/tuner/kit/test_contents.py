"""A kit that is not as it was written is refused with one message, before anything runs."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import CompileFailed, Refused
from tests.tuner.kit.kits import B580, PROBLEMS, configs, flipped, written
from tuner.errors import InvalidFile, InvalidLine
from tuner.exchange.jsonl import seal
from tuner.kit.contents import Stored, StoredKernels, kernels_of, read_kit


def sealed(lines: bytes) -> bytes:
    """With the end that the changed lines need."""
    return "".join(seal(lines.decode().splitlines(keepends=True)[:-1])).encode()


def cut(lines: bytes) -> bytes:
    """The last line is missing."""
    return b"".join(lines.splitlines(keepends=True)[:-1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (flipped, "kernel: spirv: expected bytes of SHA-256"),
        (lambda lines: sealed(flipped(lines)), "kernel: spirv: expected bytes of SHA-256"),
        (lambda lines: lines.replace(b'"global_size":[16,', b'"global_size":[32,'), "the file was edited or damaged"),
        (cut, "end: expected it, got no more lines: the file was cut"),
    ],
)
def test_a_changed_kit_is_refused(tmp_path: Path, change: Callable[[bytes], bytes], said: str) -> None:
    with pytest.raises(InvalidLine, match=said):
        read_kit(written(tmp_path, change))


def test_a_file_that_is_no_kit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pyz").write_bytes(b"PK no")
    with pytest.raises(InvalidFile, match=r"x\.pyz: expected a measuring kit: .*; copy it again"):
        read_kit(tmp_path / "x.pyz")


def test_a_kernel_that_a_rule_of_the_device_refuses_does_not_run(tmp_path: Path) -> None:
    problem = PROBLEMS[0]
    kernels = StoredKernels(kernels_of(read_kit(written(tmp_path)), problem.key))
    assert kernels.compile(problem, configs(problem)[1], B580).result().config == configs(problem)[1]
    small = replace(B580, max_workgroup_size=1)
    with pytest.raises(Refused, match="workgroup-size"):
        kernels.compile(problem, configs(problem)[1], small).result()


def test_a_kernel_whose_manifest_describes_no_launch_does_not_run(tmp_path: Path) -> None:
    problem = PROBLEMS[0]
    kernel = kernels_of(read_kit(written(tmp_path)), problem.key)[0]
    manifest = json.loads(json.dumps(dict(kernel.manifest)))
    del manifest["subgroup_size"]
    with pytest.raises(CompileFailed, match="missing subgroup_size"):
        Stored(replace(kernel, manifest=manifest), problem, B580).result()
