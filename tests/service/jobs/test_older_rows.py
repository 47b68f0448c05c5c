"""Rows of before the vocabulary grew are found and read as what they meant."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from codegen import EpilogueKind, EpilogueStep, GemmProblem, Prefetch, PrefetchLevels, XeConfig, XeStrategy
from codegen.serialization import (
    content_hash,
    to_json,
)
from db.migrate import downgrade, upgrade
from db.schema import (
    Kernel,
    Problem,
    Trial,
)
from db.session import Database, make_engine
from service.row_mapping import (
    config_from_json,
    problem_from_json,
)
from tests.conformance.trial_samples import config
from tests.service import dashboard_rows as rows

Json = dict[str, Any]
GEMM = GemmProblem(48, 96, 64, epilogue=(EpilogueStep(EpilogueKind.ALPHA, 0.5), EpilogueStep(EpilogueKind.RELU)))
CONFIG = XeConfig(config(1).matmul, XeStrategy((4, 2), Prefetch(PrefetchLevels.L1, 3)))


def without(value: Json, *names: str) -> Json:
    """The object without some of its fields."""
    return {name: item for name, item in value.items() if name not in names}


def older_problem() -> Json:
    """The problem as it was stored."""
    stored: Json = to_json(GEMM)  # pyright: ignore[reportAssignmentType]
    steps = [without(step, "dtype", "ld") for step in stored["epilogue"]]
    return without(stored, "deterministic") | {"epilogue": steps}


def older_config() -> Json:
    """The configuration as it was stored."""
    stored: Json = to_json(CONFIG)  # pyright: ignore[reportAssignmentType]
    prefetch = without(stored["strategy"]["prefetch"], "l2_distance", "layout_a", "layout_b", "hints")
    return stored | {"strategy": without(stored["strategy"], "k_unroll") | {"prefetch": prefetch}}


@pytest.fixture
def engine(tmp_path: Path) -> Generator[Engine]:
    """A database of before, with a problem, a trial and a kernel."""
    made = make_engine(f"sqlite:///{tmp_path / 'older.sqlite'}")
    upgrade(made)
    with Database(made).write() as session:
        problem = rows.add_problem(session, problem=GEMM)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        rows.add_measured(session, job, 0, 1500.0, kernel.id)
        rows.add_trial(session, job, 1, "rejected", config={"matmul": 3}, config_hash=rows.sha256("no one's"))
    downgrade(made, "0001")
    with Database(made).write() as session:
        before = older_problem(), content_hash(older_problem())
        session.execute(update(Problem).values(definition=before[0], key=before[1]))
        config_hash = content_hash(older_config())
        session.execute(update(Kernel).values(config=older_config(), config_hash=config_hash))
        session.execute(update(Trial).where(Trial.number == 0).values(config=older_config(), config_hash=config_hash))
    yield made
    made.dispose()


def test_older_rows_read_as_what_they_meant() -> None:
    assert problem_from_json(older_problem()) == GEMM
    assert config_from_json(older_config()) == CONFIG


def test_older_rows_are_found_after_the_migration(engine: Engine) -> None:
    for _ in range(2):
        upgrade(engine)
        with Database(engine).read() as session:
            problem = session.scalars(select(Problem)).one()
            assert (problem.key, problem.definition) == (GEMM.key, to_json(GEMM))
            trial, foreign = session.scalars(select(Trial).order_by(Trial.number))
            for row in (trial, session.scalars(select(Kernel)).one()):
                assert (row.config_hash, row.config) == (CONFIG.key, to_json(CONFIG))
            assert (foreign.config, foreign.config_hash) == ({"matmul": 3}, rows.sha256("no one's"))
        downgrade(engine, "0001")
        with Database(engine).read() as session:
            problem = session.scalars(select(Problem)).one()
            assert (problem.key, problem.definition) == (content_hash(older_problem()), older_problem())
            assert session.scalars(select(Kernel.config_hash)).one() == content_hash(older_config())
