"""Response to a batch, assembled from rendered answers."""

from collections.abc import Sequence
from operator import attrgetter

import msgspec

from service.api.kernels.lookup.answer_cache import Kept
from service.api.kernels.lookup.batch_schemas import (
    Columns,
    Form,
    PlacedJob,
)

_NOTHING = (None,) * len(Columns._fields)


def render(kept: Sequence[Kept], form: Form, jobs: Sequence[PlacedJob] = ()) -> bytes:
    """Render a BatchOut as JSON; `kept` are the answers in the order of the problems."""
    misses = b",".join(
        b'{"index":%d,"why":%b}' % (index, each.body) for index, each in enumerate(kept) if each.source is None
    )
    answers, columns = b"null", b"null"
    if form is Form.COLUMNS:
        rows = [_NOTHING if each.columns is None else each.columns for each in kept]
        columns = msgspec.json.encode(dict(zip(Columns._fields, zip(*rows, strict=True), strict=True)))
    else:
        whole = (
            map(attrgetter("body"), kept) if not misses else (each.body if each.source else b"null" for each in kept)
        )
        answers = b"[%b]" % b",".join(whole)
    told = b",".join(job.model_dump_json().encode() for job in jobs)
    return b'{"answers":%b,"columns":%b,"misses":[%b],"jobs":[%b]}' % (answers, columns, misses, told)
