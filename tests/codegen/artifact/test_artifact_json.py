"""A CPU's kernel comes back from the cache as it was; another CPU, or damage, is a miss."""

from dataclasses import replace
from pathlib import Path

from codegen import DType, GemmProblem, Packing
from codegen.backend import compile_kernel
from codegen.workers.cache import CompileCache
from tests.tuner.fakes import cpu_spec
from tuner.space.cpu.heuristic import default_cpu_config

PROBLEM = GemmProblem(24, 96, 40, dtype_a=DType.BF16, dtype_b=DType.BF16, alignment=16)
SPEC = cpu_spec()
CONFIG = default_cpu_config(PROBLEM, SPEC)
BEFOREHAND = replace(CONFIG, strategy=replace(CONFIG.strategy, pack_b=Packing.BEFOREHAND))


def test_a_cpu_kernel_comes_back_from_the_cache(tmp_path: Path) -> None:
    cache, artifact = CompileCache(tmp_path), compile_kernel(PROBLEM, BEFOREHAND, SPEC)
    assert cache.get(PROBLEM, BEFOREHAND, SPEC) is None
    cache.put(artifact, SPEC)
    assert cache.get(PROBLEM, BEFOREHAND, SPEC) == artifact
    assert cache.get(PROBLEM, CONFIG, SPEC) is None
    older = replace(SPEC, isa=tuple(flag for flag in SPEC.isa or () if flag != "avx512_bf16"))
    assert cache.get(PROBLEM, BEFOREHAND, older) is None
    (file,) = tmp_path.rglob("*.kernel")
    file.write_bytes(file.read_bytes()[:-9])
    assert cache.get(PROBLEM, BEFOREHAND, SPEC) is None
