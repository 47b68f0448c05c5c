"""The policy of a command for pydantic's models."""

import subprocess
import sys

_DEFERRED = """
from service.cli.model_policy import build_models_when_used
build_models_when_used()
from service.api.jobs.schemas import JobPage
print(JobPage.__pydantic_complete__)
print(JobPage.model_validate_json('{"jobs": [], "next_before": null}'), JobPage.__pydantic_complete__)
"""


def test_models_are_built_when_they_are_first_used() -> None:
    run = [sys.executable, "-W", "error", "-c", _DEFERRED]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["False", "jobs=[] next_before=None True"]
