"""Compile workers: what ends, hangs or fails in one is a typed failure, and the next compilation works."""

import dataclasses
import multiprocessing
import signal
import time
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
from codegen.backend import compile_kernel
from codegen.workers import pool as pool_module
from codegen.workers.cache import CompileCache
from codegen.workers.fork_server import do_nothing
from codegen.workers.pool import CompilePool
from hal import find
from tests.codegen.workers import compilers

PROBLEM = GemmProblem(40, 72, 104)
CONFIG = XeConfig(
    MatmulConfig(Extent(2, 2, 1), Extent(32, 64, 32), Extent(16, 32, 32), LoopOrder.M_OUTER), XeStrategy((2, 2))
)
B580 = find("b580")


def started() -> set[psutil.Process]:
    """Processes that this one and those that it started have started."""
    processes = psutil.Process().children(recursive=True)
    return {process for process in processes if "resource_tracker" not in " ".join(process.cmdline())}


@pytest.fixture(autouse=True)
def ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that a worker has to end when it is asked to."""
    monkeypatch.setattr("pebble.common.CONSTS.term_timeout", 0.1)


@pytest.mark.parametrize(
    ("compiler", "limit_s", "error", "message"),
    [
        (compilers.aborting, 60.0, CompileCrashed, "SIGABRT"),
        (compilers.exiting, 60.0, CompileCrashed, "exit status 7"),
        (compilers.hanging, 0.2, CompileTimedOut, "within 0.2 s"),
        (compilers.failing, 60.0, CompileFailed, "stage llvm: a diagnostic"),
        (compilers.faulty, 60.0, CompileCrashed, "worker: a NotImplementedError: tiles of 3 rows"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_typed(
    compiler: Callable[..., NoReturn], limit_s: float, error: type[CompileFailed], message: str
) -> None:
    with CompilePool(1, limit_s, None, compiler) as pool:
        first, second = (pool.compile(PROBLEM, CONFIG, B580) for _ in range(2))
        for compilation in (first, second):  # the second needs a new worker
            with pytest.raises(error, match=message) as caught:
                compilation.result()
            assert type(caught.value) is error


def test_workers_get_no_ctrl_c_and_sigterm_from_their_first_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "start_worker", do_nothing)
    held, before = {signal.SIGINT, signal.SIGTERM}, compilers.blocked_signals()
    with CompilePool(1, 60.0, None, compilers.exiting) as pool:
        assert held <= pool._schedule(compilers.blocked_signals).result()
        assert compilers.blocked_signals() == before
        with pytest.raises(CompileCrashed):
            pool.compile(PROBLEM, CONFIG, B580).result()
        assert held <= pool._schedule(compilers.blocked_signals).result()  # of the next worker


def test_workers_end_only_when_their_parent_tells_them() -> None:
    with CompilePool(1, 60.0, None, compilers.exiting) as pool:
        first, second = (pool._schedule(compilers.told_to_end).result() for _ in range(2))
        assert first == second
        begun_s = time.monotonic()
        pool.close()
        assert time.monotonic() - begun_s < 3, "it was killed"  # Pebble's limit
    assert not psutil.pid_exists(first)


def test_a_worker_ends_while_it_works_if_its_parent_is_gone() -> None:
    here, there = multiprocessing.Pipe()
    parent = multiprocessing.get_context("spawn").Process(target=compilers.abandoned, args=(there,))
    parent.start()
    worker = psutil.Process(here.recv())
    parent.join()
    assert parent.exitcode == -signal.SIGKILL
    _, alive = psutil.wait_procs([worker], timeout=30)
    assert not alive or worker.status() == psutil.STATUS_ZOMBIE


@pytest.mark.slow
def test_workers_compile_refuse_cache_and_end_with_their_pool(tmp_path: Path) -> None:
    before = started()
    with CompilePool(1, 60.0, tmp_path) as pool:
        pool.wait_until_up()
        assert pool.busy_s == 0.0  # which is no compilation
        artifact = pool.compile(PROBLEM, CONFIG, B580).result()
        refused = dataclasses.replace(CONFIG, strategy=dataclasses.replace(CONFIG.strategy, grf_mode=64))
        with pytest.raises(Refused) as caught:
            pool.compile(PROBLEM, refused, B580).result()
        assert (pool.uses.hits, pool.uses.misses) == (0, 2)
        assert pool.compile(PROBLEM, CONFIG, B580).result() == artifact
        assert (pool.uses.hits, pool.uses.misses) == (1, 2)
        ours = started() - before
    assert caught.value.rule == "grf-mode"
    assert CompileCache(tmp_path).get(PROBLEM, CONFIG, B580) == artifact
    # From the cache, not compiled again: this compiler cannot.
    assert pool_module._compile(compilers.failing, PROBLEM, CONFIG, B580, tmp_path).artifact == artifact
    assert len(ours) >= 2  # a worker and what emits SPIR-V for it
    _, alive = psutil.wait_procs(list(ours), timeout=10)
    assert not alive


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    made = pool_module._compile(compile_kernel, PROBLEM, CONFIG, B580, in_the_way)
    assert (made.artifact.problem, made.from_cache) == (PROBLEM, False)


@pytest.mark.slow
def test_workers_that_all_end_between_compilations_are_replaced() -> None:
    before = set(multiprocessing.active_children())
    with CompilePool(1, 60.0, None) as pool:
        first = pool.compile(PROBLEM, CONFIG, B580).result()
        workers = set(multiprocessing.active_children()) - before
        assert workers
        for worker in workers:
            worker.kill()
        try:
            again = pool.compile(PROBLEM, CONFIG, B580).result()
        except CompileCrashed:  # it was on its way when the workers ended
            again = pool.compile(PROBLEM, CONFIG, B580).result()
        assert again.content_hash == first.content_hash
