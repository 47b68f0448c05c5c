"""Ids as people type them."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from service.cli.ids import find_id
from service.errors import BadRequest, NotFound
from tests.service.cli.both_transports import Run, both

_IDS = [UUID(f"{first}-0000-7000-8000-000000000000") for first in ("01970a3c", "01970a3d", "22222222")]


def newest(_at_once: int) -> Iterator[UUID]:
    """The ids, newest first."""
    return iter(_IDS)


def test_the_last_is_read_alone() -> None:
    read: list[int] = []
    assert (
        find_id("last", "job", "xetune jobs list", lambda at_once: read.append(at_once) or newest(at_once)) == _IDS[0]
    )
    assert read == [1]


@pytest.mark.parametrize(("said", "place"), [("last", 0), ("2222", 2), ("01970A3D", 1)])
def test_an_id_is_said_by_its_beginning_or_as_the_last(said: str, place: int) -> None:
    assert find_id(said, "job", "xetune jobs list", newest) == _IDS[place]


@pytest.mark.parametrize("length", range(8, 37))
def test_a_beginning_of_any_length_up_to_the_whole_id_is_understood(length: int) -> None:
    whole = str(_IDS[1])
    assert find_id(whole[:length], "job", "xetune jobs list", newest) == _IDS[1]
    assert find_id(_IDS[1].hex, "job", "xetune jobs list", newest) == _IDS[1]
    if length < len(whole):
        with pytest.raises(NotFound, match="has an id that begins with"):
            find_id(f"3{whole[1:length]}", "job", "xetune jobs list", newest)


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ("01970a", BadRequest, "2 ids begin with 01970a"),
        ("3333", NotFound, "`xetune jobs list` lists them"),
        ("222", BadRequest, "at least its first 4 characters"),
        ("no-id", BadRequest, "at least its first 4 characters"),
        ("01970a3c-0000-7000-8000-0000000000000", BadRequest, "expected the id of a job, got '01970a3c"),
    ],
)
def test_what_is_no_single_id_is_refused(said: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        find_id(said, "job", "xetune jobs list", newest)


def test_there_is_no_last_of_nothing() -> None:
    with pytest.raises(NotFound, match="there is no job yet"):
        find_id("last", "job", "xetune jobs list", lambda _: iter(()))


def test_commands_take_short_ids_here_and_at_a_service(one_database: None, run: Run, job: str) -> None:
    whole = run("jobs", "show", job)
    assert whole[0] == 0
    for said in ("last", job[:8]):
        assert both(run, "jobs", "show", said)[0] == whole


@pytest.mark.parametrize("noun", ["jobs", "kernels", "devices", "shapes", "schedules", "keys", "records", "toolchain"])
def test_every_noun_has_list_and_lists_without_it(one_database: None, run: Run, job: str, noun: str) -> None:
    assert run(noun, "list", "--json") == run(noun, "--json")
