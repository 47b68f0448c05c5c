"""Compile workers: what ends, hangs or fails in one is a typed failure, and the next compilation works."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import psutil
import pytest

from codegen import (
    CompileCrashed,
    CompileFailed,
    CompileTimedOut,
    Extent,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Refused,
    XeConfig,
    XeStrategy,
)
from codegen.workers.cache import CompileCache
from codegen.workers.pool import CompilePool
from hal import find
from tests.codegen.workers import compilers

PROBLEM = GemmProblem(40, 72, 104)
CONFIG = XeConfig(
    MatmulConfig(Extent(2, 2, 1), Extent(32, 64, 32), Extent(16, 32, 32), LoopOrder.M_OUTER), XeStrategy((2, 2))
)
B580 = find("b580")


@pytest.mark.parametrize(
    ("compiler", "error", "message"),
    [
        (compilers.aborting, CompileCrashed, "SIGABRT"),
        (compilers.exiting, CompileCrashed, "exit status 7"),
        (compilers.hanging, CompileTimedOut, "within 0.5 s"),
        (compilers.failing, CompileFailed, "stage llvm: a diagnostic"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_typed(
    compiler: Callable[..., NoReturn], error: type[CompileFailed], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pebble.common.CONSTS.term_timeout", 0.1
    )  # seconds that a worker has to end when it is asked to
    with CompilePool(1, 0.5, None, compiler) as pool:
        first, second = (pool.compile(PROBLEM, CONFIG, B580) for _ in range(2))
        for compilation in (first, second):  # the second needs a new worker
            with pytest.raises(error, match=message) as caught:
                compilation.result()
            assert type(caught.value) is error


def test_workers_compile_refuse_and_cache(tmp_path: Path) -> None:
    with CompilePool(1, 60.0, tmp_path) as pool:
        pool.wait_until_up()
        assert pool.busy_s == 0.0  # which is no compilation
        artifact = pool.compile(PROBLEM, CONFIG, B580).result()
        refused = dataclasses.replace(CONFIG, strategy=dataclasses.replace(CONFIG.strategy, grf_mode=64))
        with pytest.raises(Refused) as caught:
            pool.compile(PROBLEM, refused, B580).result()
        assert (pool.uses.hits, pool.uses.misses) == (0, 2)
    assert caught.value.rule == "grf-mode"
    assert CompileCache(tmp_path).get(PROBLEM, CONFIG, B580) == artifact
    # From the cache, not compiled again: this compiler cannot.
    with CompilePool(1, 60.0, tmp_path, compilers.failing) as pool:
        assert pool.compile(PROBLEM, CONFIG, B580).result() == artifact
        assert (pool.uses.hits, pool.uses.misses) == (1, 0)


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    with CompilePool(1, 60.0, in_the_way) as pool:
        assert pool.compile(PROBLEM, CONFIG, B580).result().problem == PROBLEM


def test_no_process_outlives_its_pool() -> None:
    with CompilePool(1, 60.0, None) as pool:
        pool.compile(PROBLEM, CONFIG, B580).result()
        processes = psutil.Process().children(recursive=True)
        ours = [process for process in processes if "resource_tracker" not in " ".join(process.cmdline())]
    assert len(ours) >= 2  # a worker and what emits SPIR-V for it
    _, alive = psutil.wait_procs(ours, timeout=10)
    assert not alive


def test_workers_that_all_end_between_compilations_are_replaced() -> None:
    with CompilePool(1, 60.0, None) as pool:
        first = pool.compile(PROBLEM, CONFIG, B580).result()
        for _ in range(2):
            for worker in psutil.Process().children():
                if "spawn_main" in " ".join(worker.cmdline()):
                    worker.kill()
            try:
                again = pool.compile(PROBLEM, CONFIG, B580).result()
            except CompileCrashed:  # it was on its way when the workers ended
                again = pool.compile(PROBLEM, CONFIG, B580).result()
            assert again.content_hash == first.content_hash
