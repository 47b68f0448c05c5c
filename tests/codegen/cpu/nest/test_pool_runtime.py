import ctypes
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from codegen.cpu.nest.pool_runtime import (
    AMX,
    POOL,
)
from tests.codegen.cpu.jit import AVX512, Loaded, load

_P, _I, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64

# Each thread adds its number + 1 to its own place, waits for all, and adds what its neighbour had by then.
_WORK = """
define internal void @work(ptr %arguments, i32 %thread, ptr %pool) {
  %threads = load i32, ptr %arguments, align 4
  %own = getelementptr [16 x i32], ptr %arguments, i32 %thread, i32 1
  %before = load i32, ptr %own, align 4
  %number = add i32 %thread, 1
  %value = add i32 %before, %number
  store i32 %value, ptr %own, align 4
  call void @xetune_pool_barrier(ptr %pool, i32 %threads)
  %following = add i32 %thread, 1
  %neighbour = urem i32 %following, %threads
  %its = getelementptr [16 x i32], ptr %arguments, i32 %neighbour, i32 1
  %seen = load i32, ptr %its, align 4
  %sums = getelementptr [16 x i32], ptr %arguments, i32 %thread, i32 2
  %sum = load i32, ptr %sums, align 4
  %total = add i32 %sum, %seen
  store i32 %total, ptr %sums, align 4
  call void @xetune_pool_barrier(ptr %pool, i32 %threads)
  ret void
}

define void @calls(ptr %pool, ptr %arguments, i32 %threads, i64 %times) {
  br label %call
call:
  %i = phi i64 [ 0, %0 ], [ %next, %call ]
  call void @xetune_pool_run(ptr %pool, i32 %threads, ptr @work, ptr %arguments)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %call, label %done
done:
  ret void
}
"""


@pytest.fixture(scope="module")
def code() -> Loaded:
    return load(POOL + AMX + _WORK, AVX512[:5])


def _create(code: Loaded, threads: int, cpus: object = None) -> int | None:
    return code.entry("xetune_pool_create", _I, _P, result=_P)(threads, cpus)


def _destroy(code: Loaded, pool: int | None) -> None:
    code.entry("xetune_pool_destroy", _P)(pool)


def _tasks() -> list[int]:
    return [int(task.name) for task in Path("/proc/self/task").iterdir()]


def _calls(code: Loaded, pool: int | None, threads: int, times: int) -> None:
    lines = np.zeros((threads, 16), np.int32)
    lines[0, 0] = threads
    code.entry("calls", _P, _P, _I, _L)(pool, lines.ctypes.data, threads, times)
    numbers = np.arange(1, threads + 1)
    assert (lines[:, 1] == numbers * times).all()
    assert (lines[:, 2] == np.roll(numbers, -1) * (times * (times + 1) // 2)).all()


@pytest.mark.parametrize(
    ("size", "threads", "times"),
    [(2, 2, 1000), (7, 7, 300), (5, 3, 300), (4, 1, 50), pytest.param(2, 2, 20000, marks=pytest.mark.slow)],
)
def test_every_thread_runs_every_call_and_waits_at_barriers(code: Loaded, size: int, threads: int, times: int) -> None:
    pool = _create(code, size)
    assert pool
    _calls(code, pool, threads, times)
    _destroy(code, pool)


def test_threads_that_no_call_needed_take_part_in_later_ones(code: Loaded) -> None:
    pool = _create(code, 3)
    for threads in (1, 3, 2, 3, 1, 2, 3):
        _calls(code, pool, threads, 40)
    _destroy(code, pool)


def test_two_pools_work_side_by_side(code: Loaded) -> None:
    pools = [_create(code, 2), _create(code, 3)]
    callers = [threading.Thread(target=_calls, args=(code, pools[i], 2 + i, 200)) for i in (0, 1)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for pool in pools:
        _destroy(code, pool)


def test_a_pool_that_slept_wakes(code: Loaded) -> None:
    pool = _create(code, 2)
    for _ in range(5):
        threading.Event().wait(0.01)
        _calls(code, pool, 2, 1)
    _destroy(code, pool)


def test_destroy_ends_the_threads(code: Loaded) -> None:
    before = len(_tasks())
    pool = _create(code, 6)
    assert len(_tasks()) == before + 5
    _destroy(code, pool)
    assert len(_tasks()) == before


def test_the_caller_is_pinned_until_destroy(code: Loaded) -> None:
    allowed = os.sched_getaffinity(0)
    cpu = max(allowed)
    pool = _create(code, 2, (_I * 2)(cpu, min(allowed)))
    assert os.sched_getaffinity(0) == {cpu}
    _calls(code, pool, 2, 10)
    assert any(os.sched_getaffinity(task) == {min(allowed)} for task in _tasks())
    _destroy(code, pool)
    assert os.sched_getaffinity(0) == allowed


def test_threads_with_a_cpu_each_look_before_they_sleep(code: Loaded) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("needs two CPUs")
    one, other = allowed[:2]
    os.sched_setaffinity(0, {one})  # where the caller may run says nothing of threads that have CPUs of their own
    try:
        for cpus, looks in (((one, other), True), ((one, one), False), (None, False)):
            pool = _create(code, 2, None if cpus is None else (_I * 2)(*cpus))
            assert pool
            assert (ctypes.c_int64.from_address(pool + 8).value > 0) == looks
            _calls(code, pool, 2, 5)
            _destroy(code, pool)
    finally:
        os.sched_setaffinity(0, allowed)


def test_no_pool_of_no_threads(code: Loaded) -> None:
    assert _create(code, 0) is None
    _destroy(code, None)
