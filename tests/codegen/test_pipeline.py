"""Stages, keys, launch and manifest of a compiled kernel, and the cache of them."""

import dataclasses
import json
from pathlib import Path

import pytest

from codegen import (
    Distribution,
    Distributor,
    DType,
    Extent,
    GemmArtifact,
    GemmProblem,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    XeStrategy,
)
from codegen.cache import CompileCache
from codegen.manifest import manifest
from codegen.pipeline import compile_gemm, compile_key
from codegen.target import target_of
from hal import emulated_spec, find
from hal.cpu import probe_cpu

PROBLEM = GemmProblem(200, 136, 72, lda=80)
CONFIG = KernelConfig(
    MatmulConfig(Extent(4, 3, 1), Extent(64, 64, 32), Extent(32, 32, 32), LoopOrder.N_OUTER),
    XeStrategy((2, 2), Prefetch(PrefetchLevels.L1, 2)),
)
B580 = find("b580")


@pytest.fixture(scope="module")
def artifact() -> GemmArtifact:
    return compile_gemm(PROBLEM, CONFIG, B580)


def test_the_stages_come_in_order_and_hold_what_they_say(artifact: GemmArtifact) -> None:
    files = {stage.file_name: stage.data for stage in artifact.stages}
    ours = ["xetile.mlir", "xegpu.mlir", "subgroup.mlir", "lanes.mlir", "llvm.ll", "kernel.spv"]
    assert list(files) == ours
    assert artifact.distribution == Distribution(Distributor.XETUNE, ("fewer-instructions",))
    assert b"xetile.tile_mma" in files["xetile.mlir"]
    assert b"xegpu.dpas" in files["xegpu.mlir"]
    assert b"layout_a = #xegpu.layout<sg_layout = [2, 2]" in files["xegpu.mlir"]
    assert b"matrix_mad_k16" in files["llvm.ll"]
    assert files["kernel.spv"][:4] == b"\x03\x02\x23\x07"
    assert all(stage.elapsed_ms > 0 for stage in artifact.stages)


def test_compiling_again_gives_the_same_bytes(artifact: GemmArtifact) -> None:
    again = compile_gemm(PROBLEM, CONFIG, B580)
    assert [stage.data for stage in again.stages] == [stage.data for stage in artifact.stages]
    assert (again.key, again.content_hash) == (artifact.key, artifact.content_hash)


def test_the_launch_covers_c(artifact: GemmArtifact) -> None:
    launch = artifact.launch
    (step,) = launch.steps
    assert (step.kernel, step.parameters) == ("gemm", (0, 1, 2))
    assert (step.local_size, step.global_size, step.groups) == ((64, 1, 1), (4 * 64, 3, 1), (4, 3, 1))
    assert [(a.name, a.role, a.nbytes) for a in launch.arguments] == [
        ("A", "input", 200 * 80 * 2),
        ("B", "input", 72 * 136 * 2),
        ("C", "output", 200 * 136 * 4),
    ]
    assert launch.build_options == "-cl-intel-256-GRF-per-thread"


def test_the_manifest_says_how_to_launch_any_size_of_it(artifact: GemmArtifact) -> None:
    document = json.loads(json.dumps(manifest(artifact)))
    (step,) = document["steps"]
    assert step["global_size_formula"] == ["64 * ceil(m / 64)", "ceil(n / 64)", "1"]
    assert step["parameters"] == [{"argument": 0}, {"argument": 1}, {"argument": 2}]
    assert document["memory_paths"]["A"] == {"by": "block2d", "because": None}
    assert document["content_hash"] == f"sha256:{artifact.content_hash}"
    assert document["toolchain"].keys() == {"torch-mlir", "llvmlite", "xdsl", "xetune-codegen"}
    assert document["build_options"]["level_zero"] == "-ze-opt-large-register-file"


@pytest.mark.parametrize(
    "change", [{"m": 208}, {"dtype_c": DType.F16}, {"lda": 88}], ids=lambda change: next(iter(change))
)
def test_the_key_hangs_on_the_problem(change: dict[str, object]) -> None:
    target = target_of(B580)
    other = GemmProblem(**({"m": 200, "n": 136, "k": 72, "lda": 80} | change))  # pyright: ignore
    assert compile_key(other, CONFIG, target) != compile_key(PROBLEM, CONFIG, target)


def test_the_key_hangs_on_target_facts_and_not_on_clocks() -> None:
    def key(device: str, **change: object) -> str:
        return compile_key(PROBLEM, CONFIG, target_of(dataclasses.replace(find(device), **change)))

    assert key("b580") == key("b580", clock_mhz=1)
    assert key("b580") != key("max1550")
    assert key("b580") != compile_key(PROBLEM, CONFIG, target_of(emulated_spec(probe_cpu(), B580)))


def test_a_damaged_cache_entry_is_a_miss(artifact: GemmArtifact, tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    assert cache.get(PROBLEM, CONFIG, B580) is None
    cache.put(artifact)
    assert cache.get(PROBLEM, CONFIG, B580) == artifact
    (stored,) = tmp_path.rglob("*.kernel")
    whole = stored.read_bytes()
    for damage in (b"", b"[]", whole[:1000], whole[:-1], whole.replace(b'"spirv"', b'"spirw"', 1), b"\xff\n{}"):
        stored.write_bytes(damage)
        assert cache.get(PROBLEM, CONFIG, B580) is None
    stored.write_bytes(whole)
    assert cache.get(PROBLEM, CONFIG, B580) == artifact


def test_a_cache_write_that_fails_leaves_nothing(
    artifact: GemmArtifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        CompileCache(tmp_path).put(artifact)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
