"""A child process answers, raises, is ended in time, and leaves nothing behind."""

import atexit
import errno
import gc
import os
import signal
import time

import pytest

from hal import DeviceCrashed, DeviceTimedOut
from hal.process.child import Child


def test_it_answers_and_raises_what_the_function_raises() -> None:
    with Child() as child:
        assert child.call(30, divmod, 17, 5) == (3, 2)
        with pytest.raises(ValueError, match="invalid literal"):
            child.call(30, int, "x")
        assert child.call(30, os.getpid) == child.pid
        assert child.call(30, os.getpgrp) == child.pid
    assert not child.alive


def test_it_collects_garbage_from_its_first_answer_on() -> None:
    with Child() as child:
        assert child.call(30, gc.isenabled) is False
        assert child.call(30, gc.isenabled) is True


def test_it_ends_without_exit_handlers_which_may_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Child, "kill", lambda _: pytest.fail("it had to be killed"))
    with Child() as child:
        child.call(30, atexit.register, time.sleep, 60)
    assert not child.alive


def test_its_death_is_told_with_its_last_words() -> None:
    with Child() as child, pytest.raises(DeviceCrashed, match="was ended by SIGABRT"):
        child.call(30, os.abort)
    with (
        Child() as child,
        pytest.raises(DeviceCrashed, match=r"ended with exit code 1; it printed: .*KeyError: 'absent'"),
    ):
        child.call(30, {}.__getitem__, "absent")


def test_a_late_answer_is_not_taken_for_the_next_one() -> None:
    with Child() as child:
        assert child.call(30, abs, -1) == 1
        with pytest.raises(DeviceTimedOut, match=r"within 0\.1 s"):
            child.call(0.1, time.sleep, 1)
        assert not child.alive
        with pytest.raises(DeviceCrashed, match="was ended by SIGTERM"):
            child.call(30, abs, -2)


def test_a_child_that_ignores_the_request_to_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hal.process.child._GRACE_S", 0.1)
    with Child() as child:
        child.call(30, signal.signal, signal.SIGTERM, signal.SIG_IGN)
        with pytest.raises(DeviceTimedOut):
            child.call(0.1, time.sleep, 60)
        assert not child.alive


def test_it_is_killed_where_no_descriptor_of_a_process_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("hal.process.child._GRACE_S", 0.1)
    monkeypatch.setattr(os, "pidfd_open", refused)
    with Child() as child:
        child.call(30, signal.signal, signal.SIGTERM, signal.SIG_IGN)
        child.kill()
        assert not child.alive


def test_its_death_within_an_answer_is_told_as_one_before_it() -> None:
    half = "import os, sys; os.write(int(sys.argv[1]), (1000).to_bytes(4, 'big') + b'half'); os._exit(3)"
    with Child() as child, pytest.raises(DeviceCrashed, match="ended with exit code 3"):
        child.call(30, exec, half)
