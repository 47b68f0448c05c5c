"""xetune jobs show and jobs list: what their columns say of measured and predicted times."""

import re

import pytest

from codegen import GemmProblem
from db.queries import jobs
from service.http.context import Context
from tests.service import dashboard_rows as rows
from tests.service.cli.both_transports import Run


@pytest.mark.parametrize(("is_predicted", "heading"), [(True, "time (interval)"), (False, "time (spread)")])
def test_the_range_beside_a_time_is_named(
    one_database: None, run: Run, context: Context, is_predicted: bool, heading: str
) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session, problem=GemmProblem(64, 96, 128))
        job = rows.add_job(session, problem, rows.add_device(session, "b580", None))
        if is_predicted:
            rows.add_predicted(session, job, 0, 80.0)
        else:
            rows.add_measured(session, job, 0, 80.0, rows.add_kernel(session, job, problem).id, "native")
        jobs.update_best(session, job.id)
    status, shown, errors = run("jobs", "show", "last")
    assert status == 0, errors
    assert heading in shown
    listed = run("jobs", "list")[1]
    assert len(re.findall("predicted", listed)) == is_predicted, listed
