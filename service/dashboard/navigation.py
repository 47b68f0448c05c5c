"""The pages that every page leads to, in the order of the bar on top."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A link of the bar; `section` is what a page names to have its link marked."""

    section: str
    title: str
    href: str


NAVIGATION = (
    Entry("overview", "Overview", "/"),
    Entry("jobs", "Jobs", "/jobs"),
    Entry("problems", "Problems", "/problems"),
    Entry("kernels", "Kernels", "/kernels"),
    Entry("compare", "Compare", "/compare"),
    Entry("shapes", "Shapes", "/shapes"),
    Entry("devices", "Devices", "/devices"),
    Entry("schedules", "Schedules", "/schedules"),
    Entry("explore", "Explore", "/explore"),
)
