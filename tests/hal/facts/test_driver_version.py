"""Driver versions of OpenCL and Level Zero are compared by build."""

import pytest

from hal.facts.driver_version import is_same_driver


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("25.18.33578.15", "1.6.33578+15", True),
        ("24.39.31294", "1.5.31294", True),
        ("26.27.039122", "26.27.39122.14", True),  # of a Debian package, without the hotfix
        ("25.18.33578.15", "1.6.33578+16", False),
        ("25.18.33578.15", "1.6.33579+15", False),
        ("26.27", "26.27", True),
        ("26.27", "26.31", False),
        ("12.8", "12.9", False),
        ("550.54.14", "550.54.15", False),
    ],
)
def test_two_forms_of_one_version_are_the_same_driver(one: str, other: str, same: bool) -> None:
    assert is_same_driver(one, other) is same
    assert is_same_driver(other, one) is same
