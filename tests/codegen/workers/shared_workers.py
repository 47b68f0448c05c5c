"""Compile workers that outlive their pools."""

from collections.abc import Generator

import pytest
from pebble import ProcessPool

from codegen.workers.pool import CompilePool


@pytest.fixture(scope="session")
def started_workers() -> Generator[list[ProcessPool]]:
    """Workers of this process, of which the last are in use."""
    started = list[ProcessPool]()
    yield started
    for pool in started:
        pool.stop()
        pool.join()


@pytest.fixture(autouse=True)
def shared_workers(started_workers: list[ProcessPool]) -> Generator[None]:
    """Let all pools of a test have the worker of the tests before: to start one takes a second of processor time."""
    start = CompilePool._new_pool

    def share(pool: CompilePool) -> ProcessPool:
        if not started_workers or not started_workers[-1].active:
            pool.workers, wanted = 1, pool.workers
            started_workers.append(start(pool))
            pool.workers = wanted
        return started_workers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompilePool, "_new_pool", share)
        patch.setattr(CompilePool, "close", lambda _: None)
        yield
