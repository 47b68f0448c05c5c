"""Leases of coordinators: one holder of a name at a time, numbered, so that writes of a former holder are refused.

`now` is the caller's clock. If clocks differ, a takeover is early or late; the fence prevents even an early one
from doing work twice.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import Connection, Select, Update, bindparam, delete, select, update
from sqlalchemy.orm import Session, joinedload

from db.errors import FenceLost
from db.queries.insert import insert_missing
from db.schema.cluster import Coordinator, ReachedDevice
from db.values import utc_now


@dataclass(frozen=True, slots=True)
class Fence:
    """The right of one holder to give out work under a name, for one period of its lease."""

    name: str
    holder: str
    number: int


def is_held(
    session: Session,
    name: str,
    holder: str,
    *,
    is_dead: Callable[[str], bool] = lambda _holder: False,
    now: datetime | None = None,
) -> bool:
    """Return whether another holder has the lease, so that trying to acquire it is useless."""
    row = session.get(Coordinator, name)
    return row is not None and not _is_free(row, holder, is_dead, now or utc_now())


def acquire(
    session: Session,
    name: str,
    holder: str,
    lease_s: float,
    *,
    is_dead: Callable[[str], bool] = lambda _holder: False,
    now: datetime | None = None,
) -> Fence | None:
    """Take the lease if it is free: nobody has it, it ran out, or its holder is dead. None while another holder has it.

    The jobs of the previous holder return to the queue; its later writes about them are refused.
    """
    at = now or utc_now()
    until = at + timedelta(seconds=lease_s)
    first = {"name": name, "holder": holder, "fence": 1, "since": at, "expires_at": until}
    if insert_missing(session, Coordinator, first):
        return Fence(name, holder, 1)
    row = session.get_one(Coordinator, name, with_for_update=True, populate_existing=True)
    if not _is_free(row, holder, is_dead, at):
        return None
    # Imported here: a list of devices needs no tables of jobs.
    from db.queries.cluster import leases

    leases.release_all(session, row.holder)
    row.holder, row.fence, row.since, row.expires_at = holder, row.fence + 1, at, until
    session.flush()
    return Fence(name, holder, row.fence)


def check(session: Session | Connection, fence: Fence) -> None:
    """Check that nobody took the lease since, even if it ran out, and lock it until the transaction ends.

    Raises:
        FenceLost: another holder has it, or it was given up.
    """
    if session.scalar(_own_statement(), {"name": fence.name, "number": fence.number, "holder": fence.holder}) is None:
        raise _lost(fence)


def renew(session: Session, fence: Fence, lease_s: float, *, now: datetime | None = None) -> None:
    """Prolong the lease, even one that ran out if nobody took it.

    Raises:
        FenceLost: another has it.
    """
    until = (now or utc_now()) + timedelta(seconds=lease_s)
    if session.scalar(_of(fence).values(expires_at=until).returning(Coordinator.name)) is None:
        raise _lost(fence)


def give_up(session: Session, fence: Fence, *, now: datetime | None = None) -> None:
    """Give up the lease: another holder can take it at once, and later writes under it are refused. No-op if lost."""
    session.execute(_of(fence).values(expires_at=now or utc_now(), fence=fence.number + 1))
    session.execute(delete(ReachedDevice).where(ReachedDevice.coordinator == fence.name))


def live(session: Session, now: datetime | None = None) -> list[Coordinator]:
    """Return the coordinators whose lease has not run out, by name."""
    query = select(Coordinator).where(Coordinator.expires_at > (now or utc_now()))
    return list(session.scalars(query.order_by(Coordinator.name)))


def forget(session: Session, *, name_prefix: str, before: datetime) -> None:
    """Delete the rows of names with that prefix whose lease ran out before that moment."""
    old = select(Coordinator.name).where(
        Coordinator.name.startswith(name_prefix, autoescape=True), Coordinator.expires_at < before
    )
    session.execute(delete(ReachedDevice).where(ReachedDevice.coordinator.in_(old)))
    session.execute(
        delete(Coordinator).where(
            Coordinator.name.startswith(name_prefix, autoescape=True), Coordinator.expires_at < before
        )
    )


def set_reached(
    session: Session, name: str, reached: Iterable[tuple[str, str, int]], now: datetime | None = None
) -> None:
    """Store which devices a coordinator reaches now: executor, host and id of the device's row."""
    session.execute(delete(ReachedDevice).where(ReachedDevice.coordinator == name))
    at = now or utc_now()
    for executor, host, device_id in reached:
        session.add(ReachedDevice(coordinator=name, executor=executor, host=host, device_id=device_id, seen_at=at))
    session.flush()


def reached(session: Session, now: datetime | None = None) -> list[ReachedDevice]:
    """Return the devices that coordinators with a lease reach, with the rows of the devices, by device and executor."""
    holds = select(Coordinator.name).where(Coordinator.expires_at > (now or utc_now()))
    query = select(ReachedDevice).where(ReachedDevice.coordinator.in_(holds)).options(joinedload(ReachedDevice.device))
    return sorted(session.scalars(query), key=lambda row: (row.device.slug, row.executor))


def _is_free(row: Coordinator, holder: str, is_dead: Callable[[str], bool], now: datetime) -> bool:
    return row.expires_at <= now or row.holder == holder or is_dead(row.holder)


def _of(fence: Fence) -> Update:
    """Return the change of the lease of a fence; of a forgotten name, numbers begin again with another holder."""
    own = Coordinator.name == fence.name, Coordinator.fence == fence.number, Coordinator.holder == fence.holder
    return update(Coordinator).where(*own)


@cache
def _own_statement() -> Select[str]:
    own = select(Coordinator.name).where(
        Coordinator.name == bindparam("name"),
        Coordinator.fence == bindparam("number"),
        Coordinator.holder == bindparam("holder"),
    )
    return own.with_for_update(read=True, key_share=True)


def _lost(fence: Fence) -> FenceLost:
    return FenceLost(f"{fence.holder} is not coordinator {fence.name} any more: its lease {fence.number} is over")
