"""One holder of a coordinator's lease at a time; what a former one writes is refused."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event

import pytest

from db.errors import FenceLost
from db.queries.cluster import (
    coordinators,
    leases,
)
from db.queries.cluster.coordinators import Fence
from db.schema.job import Job
from db.session import Database
from tests.db import rows
from tests.db.rows import NOON

LEASE_S = 15.0
LATER = NOON + timedelta(seconds=LEASE_S + 1)


def acquire(database: Database, holder: str, now: datetime = NOON, dead: str = "") -> Fence | None:
    """Ask for the lease in a transaction of its own."""
    with database.write() as session:
        return coordinators.acquire(session, "cluster", holder, LEASE_S, is_dead=lambda name: name == dead, now=now)


def held(database: Database, holder: str, now: datetime = NOON) -> Fence:
    """Take the lease."""
    fence = acquire(database, holder, now)
    assert fence is not None
    return fence


def test_one_has_it_until_it_runs_out_and_the_next_has_a_higher_number(database: Database) -> None:
    first = held(database, "a")
    assert acquire(database, "b", NOON + timedelta(seconds=LEASE_S - 1)) is None
    second = held(database, "b", LATER)
    assert (first.number, second.number) == (1, 2)


def test_a_dead_holder_is_followed_at_once_and_its_jobs_are_back(database: Database) -> None:
    held(database, "a")
    with database.write() as session:
        mine, other = rows.add_job(session, m=16).id, rows.add_job(session, m=32).id
        leases.claim(session, mine, "a", 60.0)
        leases.claim(session, other, "someone", 60.0)
    assert acquire(database, "b", dead="a") is not None
    with database.read() as session:
        assert session.get_one(Job, mine).status == "queued"
        assert session.get_one(Job, other).worker == "someone"


def test_one_that_was_followed_can_neither_write_nor_renew(database: Database) -> None:
    former = held(database, "a")
    present = held(database, "b", LATER)
    for step in (coordinators.check, lambda s, f: coordinators.renew(s, f, LEASE_S, now=LATER)):
        with pytest.raises(FenceLost, match="lease 1 is over"), database.write() as session:
            step(session, former)
    with database.write() as session:
        coordinators.check(session, present)


def test_the_number_of_another_holder_is_no_right(database: Database) -> None:
    present = held(database, "b")
    former = Fence(present.name, "a", present.number)  # of a row that was forgotten since
    for step in (coordinators.check, lambda s, f: coordinators.renew(s, f, LEASE_S, now=LATER)):
        with pytest.raises(FenceLost, match="a is not coordinator cluster"), database.write() as session:
            step(session, former)
    with database.write() as session:
        coordinators.give_up(session, former, now=NOON)
    assert acquire(database, "c") is None


def test_a_lease_that_ran_out_is_renewed_unless_another_took_it(database: Database) -> None:
    fence = held(database, "a")
    with database.write() as session:
        coordinators.check(session, fence)  # of no clock
        coordinators.renew(session, fence, LEASE_S, now=LATER)
    assert acquire(database, "b", LATER) is None


def test_one_that_gives_up_is_followed_at_once(database: Database) -> None:
    fence = held(database, "a")
    with database.write() as session:
        device = rows.add_device(session).id
        coordinators.set_reached(session, "cluster", [("p1", "node", device)], now=NOON)
        coordinators.give_up(session, fence, now=NOON)
        assert coordinators.live(session, NOON) == []
        assert coordinators.reached(session, NOON) == []
    with pytest.raises(FenceLost), database.write() as session:
        coordinators.check(session, fence)
    assert acquire(database, "b", NOON + timedelta(seconds=1)) is not None


def test_of_many_that_ask_at_once_one_gets_it(database: Database) -> None:
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda number: acquire(database, f"h{number}"), range(4)))
    assert sum(fence is not None for fence in got) == 1


def test_who_takes_it_waits_for_a_write_that_was_checked(database: Database) -> None:
    """Else the former one could commit after the new one has begun."""
    fence, checked, goes_on = held(database, "a"), Event(), Event()
    order: list[str] = []

    def write() -> None:
        with database.write() as session:
            coordinators.check(session, fence)
            checked.set()
            assert goes_on.wait(30)
            order.append("former")

    def take() -> None:
        assert acquire(database, "b", LATER) is not None
        order.append("next")

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        assert checked.wait(30)
        taking = pool.submit(take)
        taking_waits = not Event().wait(0.2) and not taking.done()
        goes_on.set()
        writing.result(30)
        taking.result(30)
    assert taking_waits
    assert order == ["former", "next"]


def test_a_write_that_was_checked_does_not_keep_the_holder_from_renewing(database: Database) -> None:
    if database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    fence = held(database, "a")
    with database.write() as writing:
        coordinators.check(writing, fence)
        with database.write() as session:
            coordinators.renew(session, fence, LEASE_S, now=NOON)


def test_what_is_reached_is_told_while_the_lease_holds(database: Database) -> None:
    held(database, "a")
    with database.write() as session:
        b580, b60 = rows.add_device(session, "b580").id, rows.add_device(session, "b60").id
        coordinators.set_reached(session, "cluster", [("p1", "n1", b60)], now=NOON)
        coordinators.set_reached(session, "cluster", [("p2", "n2", b60), ("p1", "n1", b580)], now=NOON)
    with database.read() as session:
        found = [(row.executor, row.host, row.device.slug) for row in coordinators.reached(session, NOON)]
        assert found == [("p1", "n1", "b580"), ("p2", "n2", "b60")]
        assert coordinators.reached(session, LATER) == []


def test_rows_of_machines_that_are_long_gone_are_forgotten(database: Database) -> None:
    with database.write() as session:
        for name in ("machine old", "cluster"):
            coordinators.acquire(session, name, "a", LEASE_S, now=NOON)
        coordinators.acquire(session, "machine new", "b", LEASE_S, now=LATER)
        coordinators.forget(session, name_prefix="machine ", before=LATER)
        assert [row.name for row in coordinators.live(session, NOON)] == ["cluster", "machine new"]
