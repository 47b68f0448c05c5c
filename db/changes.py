"""What changed since one looked last: keys, and results of problems on devices."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import Change, Device, Problem, ResultChange

_DEVICE = "device "


@dataclass(frozen=True, slots=True)
class News:
    """Stamps by subject as they are now; slugs of devices of which anything changed, and there keys of problems."""

    stamps: Mapping[str, int]
    devices: frozenset[str] = frozenset()
    results: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    subjects: frozenset[str] = frozenset()


def news(session: Session, before: Mapping[str, int]) -> News:
    """What has another stamp than `before`."""
    stamps = dict(session.execute(select(Change.subject, Change.stamp)).all())
    subjects = frozenset(subject for subject, stamp in stamps.items() if before.get(subject) != stamp)
    results: dict[str, set[str]] = {}
    for subject in subjects:
        if not subject.startswith(_DEVICE):
            continue
        device_id = int(subject.removeprefix(_DEVICE))
        slug = session.scalar(select(Device.slug).where(Device.id == device_id))
        if slug is None:
            continue
        changed = select(Problem.key).join(ResultChange, ResultChange.problem_id == Problem.id)
        changed = changed.where(ResultChange.device_id == device_id, ResultChange.stamp > before.get(subject, 0))
        results.setdefault(slug, set()).update(session.scalars(changed))
    told = {slug: frozenset(keys) for slug, keys in results.items()}
    return News(stamps, frozenset(told), told, subjects)
