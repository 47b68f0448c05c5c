"""Stored problems and configurations say what the vocabulary has gained, and are found under their new hashes."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

Json = dict[str, Any]
# What was gained, at the values that mean what was before.
_PROBLEM: Json = {"deterministic": False}
_STEP: Json = {"dtype": None, "ld": None}
_STRATEGY: Json = {"k_unroll": 1}
_PREFETCH: Json = {"l2_distance": 0, "layout_a": None, "layout_b": None, "hints": True}
_FORMS = (("problem", "definition", "key"), ("trial", "config", "config_hash"), ("kernel", "config", "config_hash"))


def upgrade() -> None:
    """Add what was gained."""
    _rewrite(lambda stored, gained: gained | stored)


def downgrade() -> None:
    """Take it away, where it holds nothing new."""
    _rewrite(lambda stored, gained: {k: v for k, v in stored.items() if k not in gained or v != gained[k]})


def _rewrite(change: Callable[[Json, Json], Json]) -> None:
    for name, form, key in _FORMS:
        table = sa.table(name, sa.column("id"), sa.column(form, sa.JSON()), sa.column(key, sa.String()))
        rows = op.get_bind().execute(sa.select(table.c.id, table.c[form], table.c[key])).all()
        keys = {row[2] for row in rows}
        for row_id, stored, stored_key in rows:
            changed = _problem(stored, change) if name == "problem" else _config(stored, change)
            # A row whose hash is not that of its form is found by nobody; one whose new hash is taken stays beside it.
            if changed == stored or _hash(stored) != stored_key or _hash(changed) in keys:
                continue
            op.execute(table.update().where(table.c.id == row_id).values({form: changed, key: _hash(changed)}))


def _problem(stored: Json, change: Callable[[Json, Json], Json]) -> Json:
    return change(stored, _PROBLEM) | {"epilogue": [change(step, _STEP) for step in stored.get("epilogue", [])]}


def _config(stored: Json, change: Callable[[Json, Json], Json]) -> Json:
    strategy = stored.get("strategy")
    if not isinstance(strategy, dict) or not isinstance(strategy.get("prefetch"), dict):
        return stored
    prefetch = change(strategy["prefetch"], _PREFETCH)
    return stored | {"strategy": change(strategy, _STRATEGY) | {"prefetch": prefetch}}


def _hash(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
