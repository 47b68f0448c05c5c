"""Times of further lookups; without torch the module is read from its file."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xetune_torch import repeats
    from xetune_torch.repeats import Outlook, Repeats
else:
    _FILE = Path(__file__).resolve().parents[2] / "xetune_torch" / "repeats.py"
    _spec = spec_from_file_location("tests_repeats", _FILE)
    repeats = module_from_spec(_spec)
    sys.modules[_spec.name] = repeats
    _spec.loader.exec_module(repeats)
    Outlook, Repeats = repeats.Outlook, repeats.Repeats


def _dues(outlook: "Outlook", count: int) -> list[float]:
    """Return the waits between lookups of one product that all end in the same way."""
    asked: Repeats[str] = Repeats()
    now, waits = 100.0, list[float]()
    for _ in range(count):
        asked.note("a", outlook, now)
        wait = asked.wait_s(now)
        assert wait is not None
        assert wait == 0 or asked.due(now + wait * 0.99) is None
        now += wait
        assert asked.due(now) == "a"
        waits.append(wait)
    return waits


def test_waits_grow_up_to_a_most() -> None:
    assert _dues(Outlook.OPEN, 8) == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert _dues(Outlook.QUEUED, 7) == [1, 2, 4, 8, 16, 30, 30]
    assert _dues(Outlook.FAILED, 9) == [1, 2, 4, 8, 16, 32, 64, 120, 120]
    assert _dues(Outlook.READY, 2) == [0, 0]


def test_a_final_answer_ends_the_lookups() -> None:
    asked: Repeats[str] = Repeats()
    asked.note("a", Outlook.OPEN, 0.0)
    asked.note("a", Outlook.FINAL, 1.0)
    assert asked.wait_s(1.0) is None
    assert asked.due(1e9) is None


def test_another_outlook_begins_with_its_shortest_wait() -> None:
    asked: Repeats[str] = Repeats()
    for now in (0.0, 1.0, 3.0):
        asked.note("a", Outlook.QUEUED, now)
    asked.note("a", Outlook.OPEN, 7.0)
    assert asked.wait_s(7.0) == 60
    asked.note("a", Outlook.QUEUED, 8.0)
    assert asked.wait_s(8.0) == 1


def test_the_product_due_first_comes_first_and_once() -> None:
    asked: Repeats[str] = Repeats()
    asked.note("late", Outlook.OPEN, 10.0)
    asked.note("early", Outlook.OPEN, 0.0)
    assert asked.due(59.0) is None
    assert [asked.due(75.0) for _ in range(3)] == ["early", "late", None]


def test_a_failing_store_is_asked_for_one_product_at_a_time() -> None:
    asked: Repeats[str] = Repeats()
    asked.note("open", Outlook.OPEN, 0.0)
    for key in ("a", "b", "c"):
        asked.note(key, Outlook.FAILED, 59.5)
    assert asked.due(60.4) is None  # nor what was answered before
    assert asked.due(60.5) == "open"
    asked.note("open", Outlook.FAILED, 60.5)
    assert asked.due(62.4) is None
    assert asked.wait_s(60.5) == 2


def test_products_that_failed_are_due_once_the_store_answers() -> None:
    asked: Repeats[str] = Repeats()
    for key in ("a", "b"):
        asked.note(key, Outlook.FAILED, 0.0)
    asked.note("c", Outlook.FINAL, 0.5)
    assert {asked.due(0.5), asked.due(0.5)} == {"a", "b"}
    asked.note("a", Outlook.FAILED, 0.5)
    assert asked.wait_s(0.5) == 1


def test_forgotten_products_are_not_due() -> None:
    asked: Repeats[str] = Repeats()
    asked.note("a", Outlook.FAILED, 0.0)
    asked.clear()
    assert asked.due(1e9) is None
    asked.note("b", Outlook.OPEN, 0.0)
    assert asked.due(60.0) == "b"
