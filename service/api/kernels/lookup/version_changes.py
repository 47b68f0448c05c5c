"""Changes of drivers and versions between two times."""

from collections.abc import Iterator, Mapping

from hal.facts.driver_version import is_same_driver


def driver_change(then: str | None, now: str | None) -> Iterator[str]:
    """Yield the change of a driver; None is not compared."""
    if then is not None and now is not None and not is_same_driver(then, now):
        yield f"driver {then} then, {now} now"


def version_changes(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield the changes of versions that both sides state."""
    for name in sorted(then.keys() & now.keys()):
        if then[name] != now[name]:
            yield f"{name} {then[name]} then, {now[name]} now"
