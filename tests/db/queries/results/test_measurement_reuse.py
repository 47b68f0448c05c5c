"""Results of the queries on measurements that can be reused."""

from db.queries.results import measurement_reuse
from db.schema.result_key import ResultKey
from db.session import Database
from tests.db import rows
from tests.db.rows import digest


def test_the_key_of_a_kernel_is_that_of_its_first_measured_time(database: Database) -> None:
    with database.write() as session:
        first, second = (rows.add_job(session) for _ in range(2))
        trials = [rows.add_measured(session, job, number, 5.0) for job, number in ((first, 0), (first, 1), (second, 0))]
        keyed = (trials[2], trials[0])  # of one kernel
        for trial in keyed:
            key = ResultKey(trial_id=trial.id, key=digest(f"key {trial.id}"), run=digest("run"), parts={})
            session.add(key)
            session.flush()
        found = measurement_reuse.keys_of_kernels(session, [trial.kernel_id for trial in trials if trial.kernel_id])
        assert trials[0].kernel_id == trials[2].kernel_id != trials[1].kernel_id
        assert {kernel_id: key.trial_id for kernel_id, key in found.items()} == {trials[0].kernel_id: trials[0].id}
        assert measurement_reuse.keys_of_kernels(session, []) == {}
