"""T4 files as records: what Kernel Tuner writes, and files that are not so."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.peers import peer_folder, run_with_peers
from xetune_client import models
from xetune_client.tuners import InvalidEntry, Stated, t4
from xetune_client.tuners.stated import read_object

STATED = Stated(models.RecordDevice(name="NVIDIA A100", driver="550.54"), {"kernel-tuner": "1.5.0"}, "the lab")
PROBLEM: dict[str, object] = {"n": 4096}


def result(block: int, time_ms: float, **changes: Any) -> dict[str, Any]:
    """Return a result as Kernel Tuner writes it."""
    rate = {"name": "GFLOP/s", "value": 9.0, "unit": ""}
    made = {
        "configuration": {"block_size_x": block},
        "times": {"compilation": 90.0, "runtimes": [time_ms * part for part in (1.2, 0.9, 1.0, 1.1)]},
        "invalidity": "correct",
        "correctness": 1,
        "measurements": [
            rate,
            {"name": "time", "value": time_ms, "unit": "ms"},
        ],
        "objectives": ["time"],
    }
    return made | changes


def file_of(*results: dict[str, Any]) -> dict[str, object]:
    return {"results": list(results), "schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}}


def test_the_fastest_correct_results_become_records() -> None:
    failed = result(512, 0.0, invalidity="compile", measurements=[])
    content = file_of(result(64, 0.5), failed, result(128, 0.25), result(256, 0.3))
    first, second = t4.records(content, "vector_add", PROBLEM, STATED, best=2)
    assert (first.tuner, first.kernel, first.problem) == ("kernel-tuner", "vector_add", PROBLEM)
    assert (first.config, second.config) == ({"block_size_x": 128}, {"block_size_x": 256})
    assert [first.time_us, first.min_us, first.p10_us, first.p90_us] == pytest.approx([250.0, 225.0, 225.0, 300.0])
    assert (first.samples, first.origin, first.versions) == (4, "the lab", {"kernel-tuner": "1.5.0"})


def test_the_unit_of_a_time_is_that_of_its_measurement() -> None:
    content = file_of(result(64, 0.5, measurements=[{"name": "time", "value": 700.0, "unit": "us"}]))
    assert t4.records(content, "k", PROBLEM, STATED)[0].time_us == 700.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"cache": {}}, "expected the results and schema_version"),
        (file_of(), "got none of 0"),
        (file_of(result(64, 0.5, invalidity="timeout")), "got none of 1"),
        (file_of(result(64, 0.5, measurements=[])), "result 0: expected a T4 result with a time"),
        (file_of(result(64, 0.5, objectives=["energy"])), "result 0"),
        (file_of({"configuration": {}}), "result 0"),
    ],
)
def test_what_is_no_t4_file_is_refused(content: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidEntry, match=message):
        t4.records(content, "k", PROBLEM, STATED)


_WRITE = """
import json, sys
from jsonschema import validate
from kernel_tuner import file_utils, util
times = dict.fromkeys(("compile_time", "benchmark_time", "framework_time", "strategy_time", "verification_time"), 1.0)
results = [{"block_size_x": b, "tile": 2, "time": t, "times": [t * 0.9, t * 1.1], **times}
           for b, t in ((64, .5), (128, .25))]
results.append({"block_size_x": 1024, "tile": 4, "time": util.CompilationFailedConfig(),
                "__error__": util.CompilationFailedConfig(), **times})
file_utils.store_output_file(sys.argv[1], results[:2], {"block_size_x": [], "tile": []})
validate(json.load(open(sys.argv[2])), file_utils.output_file_schema("results")[1])
written = json.load(open(sys.argv[1]))
failed = file_utils.get_t4_results(results[2:], {"block_size_x": [], "tile": []})["results"][0]
failed["measurements"] = []  # of a failure, its own encoder writes an object of its own
written["results"].append(failed)
validate(written, file_utils.output_file_schema("results")[1])
json.dump(written, open(sys.argv[1], "w"))
"""


@pytest.mark.slow
def test_a_file_written_and_validated_by_kernel_tuner_becomes_a_record(tmp_path: Path) -> None:
    peer_folder("kernel_tuner")
    example = Path(__file__).resolve().parents[3] / "examples/kernel_tuner_t4.json"
    run_with_peers(_WRITE, tmp_path / "out.json", example)
    (found,) = t4.records(read_object(tmp_path / "out.json"), "vector_add", PROBLEM, STATED)
    assert found.config == {"block_size_x": 128, "tile": 2}
    assert [found.time_us, found.min_us] == pytest.approx([250.0, 225.0])
    assert json.loads(found.model_dump_json())["samples"] == 2
