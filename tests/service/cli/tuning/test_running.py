"""Progress of a job in the terminal."""

import pytest

from service.cli.tuning.running import _State  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(("done", "total", "shown"), [(3, 20, (3, 20)), (20, 20, (20, 20)), (31, 20, (31, 31))])
def test_progress_never_passes_its_total(done: int, total: int, shown: tuple[int, int]) -> None:
    assert _State("b580", is_running=True, is_over=False, done=done, total=total, text="").bar == shown
