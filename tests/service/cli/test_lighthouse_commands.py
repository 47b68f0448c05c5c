"""`xetune kernels from-lighthouse` and `to-lighthouse`."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.http.context import Context
from tests.service.api.kernels.test_binaries import PROBLEM, default, stored
from tests.service.cli.both_transports import Run
from tests.tuner.exchange.test_lighthouse import ENTRY, with_
from tuner.exchange.lighthouse import to_parameters

pytestmark = pytest.mark.usefixtures("one_database")


def test_parameters_are_printed_as_configurations_and_refused_by_rule(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "params.json"
    file.write_text(json.dumps([ENTRY, with_(sg_m=8, sg_n=16, load_a_m=8, load_b_n=16)]))
    status, output, _ = run("kernels", "from-lighthouse", str(file), "--device", "b70")
    legal, illegal = json.loads(output)
    assert (status, legal["refused"], legal["notes"]) == (0, None, [])
    assert legal["config"]["strategy"]["sg_layout"] == [4, 4]
    assert "256" in illegal["refused"]  # sub-groups
    file.write_text(json.dumps([ENTRY, {"m": 1}]))
    assert "entry 1: n: expected a whole number" in run("kernels", "from-lighthouse", str(file), "--device", "b70")[2]


@pytest.mark.slow
def test_the_best_kernels_of_a_device_are_written(
    run: Run, client: TestClient, context: Context, tmp_path: Path
) -> None:
    output = tmp_path / "params.json"
    write = ("kernels", "to-lighthouse", "--device", "b580", "-o", str(output))
    assert "no kernel of b580" in run(*write)[2]
    made = default()
    stored(client, context, made)
    assert run(*write)[1] == f"1 problem written to {output}\n"
    assert json.loads(output.read_text()) == [to_parameters(PROBLEM, made.config)]
