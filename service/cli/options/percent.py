"""Shares that options say in percent."""

from service.errors import BadRequest


def read_percent(option: str, text: str) -> float:
    """Return the share of "80%" or "0.8": 0.8.

    Raises:
        BadRequest: it is neither, or not from 0 to 1; names the option.
    """
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise BadRequest(f"{option}: expected 0% to 100%, as in 80%; got {text!r}")
    return value
