"""Queries on windows of maintenance."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from db.schema import MaintenanceWindow


def add(session: Session, window: MaintenanceWindow) -> None:
    """Add a window.

    Raises:
        sqlalchemy.exc.IntegrityError: the name is taken.
    """
    session.add(window)
    session.flush()


def get(session: Session, window_id: UUID) -> MaintenanceWindow | None:
    """One window."""
    return session.get(MaintenanceWindow, window_id)


def by_name(session: Session, name: str) -> MaintenanceWindow | None:
    """The window of that name."""
    return session.scalars(select(MaintenanceWindow).where(MaintenanceWindow.name == name)).first()


def list_all(session: Session) -> list[MaintenanceWindow]:
    """All windows by name."""
    return list(session.scalars(select(MaintenanceWindow).order_by(MaintenanceWindow.name)))


def possible(session: Session, now: datetime) -> list[MaintenanceWindow]:
    """Windows that may be open now: those that come again, and those that begin once and whose time it is."""
    once = (MaintenanceWindow.starts_at <= now) & (MaintenanceWindow.ends_at > now)
    return list(session.scalars(select(MaintenanceWindow).where(or_(MaintenanceWindow.cron.is_not(None), once))))


def delete(session: Session, window: MaintenanceWindow) -> None:
    """Remove a window; what waited for its end goes on."""
    session.delete(window)
    session.flush()
