"""Windows of maintenance: made, listed, changed, removed."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.queries import maintenance
from db.schema import MaintenanceWindow
from db.session import Database
from service.api.devices.elsewhere import device_elsewhere
from service.api.devices.service import DeviceDirectory
from service.api.maintenance.closed import open_until
from service.api.maintenance.schemas import (
    WindowBody,
    WindowList,
    WindowOut,
)
from service.api.schedules.cron import (
    next_due,
    parse_cron,
)
from service.errors import BadRequest, Conflict, FieldError, NotFound


def check(body: WindowBody, now: datetime) -> None:
    """Return when a window can be meant.

    Raises:
        BadRequest: rule `window`, `cron` or `timezone`.
    """
    recurs = body.cron is not None and body.duration_s is not None
    once = body.starts_at is not None and body.ends_at is not None
    stray = (body.starts_at or body.ends_at) if recurs else (body.cron or body.timezone or body.duration_s)
    if recurs == once or stray is not None:
        raise _bad("cron", "expected either cron and duration_s (and timezone), or starts_at and ends_at")
    if recurs:
        assert body.cron is not None
        if next_due(parse_cron(body.cron, body.timezone or "UTC"), now) is None:
            raise _bad("cron", f"{body.cron!r} never comes due; name a day that exists")
        return
    assert body.starts_at is not None
    assert body.ends_at is not None
    if body.ends_at <= body.starts_at or body.ends_at <= now:
        least = max(body.starts_at, now)
        raise _bad("ends_at", f"expected an end after {least.isoformat()}, got {body.ends_at.isoformat()}")


def known_device(name: str, directory: DeviceDirectory, database: Database) -> str:
    """The id of the device that a window means: here, in the table, or one that the database was told of.

    Raises:
        BadRequest: rule `unknown-device`.
    """
    try:
        return directory.resolve(name, None).spec.id
    except BadRequest:
        with database.read() as session:
            known = device_elsewhere(session, name.strip().lower())
        if known is None:
            raise
        return known.spec.id


def create(session: Session, body: WindowBody, now: datetime, device: str | None = None) -> WindowOut:
    """Add a window that passed `check`; `device` is the id of what the body names, where it was looked up.

    Raises:
        Conflict: the name is taken.
    """
    window = MaintenanceWindow(created_at=now)
    _fill(window, body, device)
    if maintenance.by_name(session, body.name) is not None:
        raise _taken(body.name)
    try:
        maintenance.add(session, window)
    except IntegrityError as error:  # another request took the name since
        raise _taken(body.name) from error
    return describe(window, now)


def replace(session: Session, window_id: UUID, body: WindowBody, now: datetime, device: str | None) -> WindowOut:
    """Make a window another one that passed `check`; one that is open and would not be ends at once.

    Raises:
        NotFound: there is none.
        Conflict: the name is another's.
    """
    window = _existing(session, window_id)
    if (other := maintenance.by_name(session, body.name)) is not None and other.id != window_id:
        raise _taken(body.name)
    _fill(window, body, device)
    try:
        session.flush()
    except IntegrityError as error:  # another request took the name since
        raise _taken(body.name) from error
    return describe(window, now)


def list_windows(session: Session, now: datetime) -> WindowList:
    """Every window, by name."""
    return WindowList(windows=[describe(window, now) for window in maintenance.list_all(session)])


def read_window(session: Session, window_id: UUID, now: datetime) -> WindowOut:
    """One window.

    Raises:
        NotFound: there is none.
    """
    return describe(_existing(session, window_id), now)


def find(session: Session, text: str) -> UUID:
    """The window of that name or id.

    Raises:
        NotFound: there is none.
    """
    for window in maintenance.list_all(session):
        if text in (window.name, str(window.id)):
            return window.id
    raise NotFound(f"no window of maintenance {text!r}; `xetune maintenance` lists those that exist")


def delete(session: Session, window_id: UUID) -> None:
    """Remove a window; one that is open ends.

    Raises:
        NotFound: there is none.
    """
    maintenance.delete(session, _existing(session, window_id))


def describe(window: MaintenanceWindow, now: datetime) -> WindowOut:
    """A window as the wire says it."""
    return WindowOut(
        id=window.id,
        name=window.name,
        device=window.device,
        cron=window.cron,
        timezone=window.timezone,
        duration_s=window.duration_s,
        starts_at=window.starts_at,
        ends_at=window.ends_at,
        open_until=open_until(window, now),
        opens_at=_opens_at(window, now),
        created_at=window.created_at,
    )


def _fill(window: MaintenanceWindow, body: WindowBody, device: str | None) -> None:
    window.name, window.device = body.name, device or body.device
    window.cron, window.duration_s = body.cron, body.duration_s
    window.timezone = None if body.cron is None else body.timezone or "UTC"
    window.starts_at, window.ends_at = body.starts_at, body.ends_at


def _opens_at(window: MaintenanceWindow, now: datetime) -> datetime | None:
    if window.cron is None:
        return window.starts_at if window.starts_at is not None and window.starts_at > now else None
    try:
        return next_due(parse_cron(window.cron, window.timezone or "UTC"), now)
    except BadRequest:  # a zone that this machine does not know any more
        return None


def _existing(session: Session, window_id: UUID) -> MaintenanceWindow:
    window = maintenance.get(session, window_id)
    if window is None:
        raise NotFound(f"window {window_id} does not exist; GET /v1/maintenance lists those that do")
    return window


def _bad(field: str, message: str) -> BadRequest:
    return BadRequest(f"{field}: {message}", rule="window", errors=[FieldError(field=f"body.{field}", message=message)])


def _taken(name: str) -> Conflict:
    return Conflict(f"a window named {name!r} exists; choose another name or delete it", rule="unique-name")
