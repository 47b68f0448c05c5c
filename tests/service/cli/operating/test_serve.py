"""Options and variables that would have no effect are told."""

import pytest

from service.cli.access import own_context
from tests.service.cli.both_transports import Run


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("worker", "--device", "b580", "--name", "lab"), "--name, --device"),
        (("worker", "--nthreads", "4"), "--nthreads"),
        (("serve", "--coordinators", "2"), "--coordinators"),
        (("serve", "--insecure"), "--insecure"),
    ],
)
def test_an_option_of_a_cluster_needs_its_scheduler(run: Run, words: tuple[str, ...], named: str) -> None:
    status, _, error = run(*words)
    assert (status, error.startswith(f"error: {named}: expected with --scheduler, got without")) == (2, True), error


@pytest.mark.usefixtures("one_database")
def test_a_variable_that_is_no_setting_is_told_once_by_a_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XETUNE_PROT", "1")
    own_context._tell_unknown.cache_clear()
    status, _, error = run("jobs")
    assert (status, error) == (0, "warning: unknown setting XETUNE_PROT is ignored; the nearest is XETUNE_PORT\n")
    own_context._tell_unknown.cache_clear()
