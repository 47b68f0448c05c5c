"""Writer of the audit log: each event is in the transaction of the change that it records."""

from sqlalchemy.orm import Session

from service.api.audit.schemas import Outcome
from service.api.keys.caller import Caller

_LONGEST_SUBJECT = 200


def record(session: Session, by: Caller, action: str, subject: object, outcome: Outcome = Outcome.DONE) -> None:
    """Record that `by` did `action`, such as job.create, to `subject`, its id."""
    # Imported here: a request that only reads needs no tables of it.
    from db.queries.access import audit

    audit.add(
        session,
        actor=by.name,
        key_id=by.key_id,
        action=action,
        subject=str(subject)[:_LONGEST_SUBJECT],
        request_id=by.request_id,
        outcome=outcome.value,
    )
