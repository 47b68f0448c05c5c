"""Writes the audit log: each event in the transaction of the change that it tells; neither is without the other."""

from enum import StrEnum

from sqlalchemy.orm import Session

from db.queries import audit
from service.api.keys.caller import Caller

_LONGEST_SUBJECT = 200


class Outcome(StrEnum):
    """What became of it. UNCHANGED: it was so before; REFUSED: the key's scope does not include it."""

    DONE = "done"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


def record(session: Session, by: Caller, action: str, subject: object, outcome: Outcome = Outcome.DONE) -> None:
    """Note that someone did `action`, such as job.create, to `subject`, its id."""
    audit.add(
        session,
        actor=by.name,
        key_id=by.key_id,
        action=action,
        subject=str(subject)[:_LONGEST_SUBJECT],
        request_id=by.request_id,
        outcome=outcome.value,
    )
