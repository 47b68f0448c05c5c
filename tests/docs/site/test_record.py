"""A recording of a terminal leaves out the time in which nothing but a clock moves."""

from docs.site.record import LONGEST_PAUSE_S, Line, Style, without_waits


def screen(text: str) -> tuple[Line, ...]:
    """A screen of one line."""
    return (tuple((letter, Style()) for letter in text),)


def test_a_wait_is_cut_and_what_follows_moves_up() -> None:
    waiting = [(0.25 * i, screen(f"trials 0/6 0:00:{i // 4:02d}")) for i in range(81)]
    ended = [(20.25, screen("trials 1/6 0:00:20")), (20.5, screen("done"))]
    found = without_waits([*waiting, *ended])
    times = [at for at, _ in found]
    assert times == sorted(times)
    assert [lines for _, lines in found[-2:]] == [lines for _, lines in ended]
    assert times[-2] <= LONGEST_PAUSE_S + 0.5
    assert times[-1] - times[-2] == 0.25


def test_the_last_screen_is_kept_though_only_its_clock_moved() -> None:
    frames = [(float(i), screen(f"0:00:{i:02d}")) for i in range(9)]
    assert without_waits(frames)[-1][1] == frames[-1][1]
