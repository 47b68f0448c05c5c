"""Times as text, in a readable unit."""


def shown_us(time_us: float, unit_of_us: float | None = None) -> str:
    """Return a time in ms from 1 ms on, else in us; with `unit_of_us` in the unit of that time."""
    scale, unit = unit_of(time_us if unit_of_us is None else unit_of_us)
    return f"{digits(time_us * scale)} {unit}"


def unit_of(time_us: float) -> tuple[float, str]:
    """Return the unit of a time, and what it is of a microsecond."""
    return (1e-3, "ms") if time_us >= 1000 else (1.0, "us")


def digits(number: float) -> str:
    """Return a number with four digits at least, without an exponent."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"
