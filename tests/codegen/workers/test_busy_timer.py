"""Seconds in which something was under way are counted once, however much overlapped."""

from codegen.workers.busy_timer import Busy


def test_what_overlaps_counts_once_and_gaps_do_not() -> None:
    now_s = 100.0
    busy = Busy(lambda: now_s)
    seen: list[float] = []
    for step in "b..b.e.e..b.":  # a second a dot: two that overlap, a gap, one that goes on
        if step == ".":
            now_s += 1
        else:
            busy.begin() if step == "b" else busy.end()
        seen.append(busy.seconds)
    assert seen == [0, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4, 5]
    busy.end()
    now_s += 50
    assert busy.seconds == 5
