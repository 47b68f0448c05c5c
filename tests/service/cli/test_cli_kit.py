"""A kit is written, measures on a machine with numpy and pyopencl alone, and its results come back."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from codegen import DType, GemmProblem, Quantization
from hal.probe.icd import wheel_runtime
from service.cli.exchange import kit, results
from tests.service.cli.both_transports import Run
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import text_of
from tests.tuner.kit.kits import SpirvCompiler, flipped
from tuner.exchange.records import DeviceRecord, ProblemRecord, Record
from tuner.kit.contents import CONTENTS

PROBLEMS = (
    GemmProblem(48, 80, 96),
    GemmProblem(40, 64, 160, dtype_b=DType.U4, quantization=Quantization(32, zeros=True)),
)
EMULATED = ("--device", "opencl-cpu-as-b580")
SITE = Path(np.__file__).parents[1]
NEEDED = ("numpy", "pyopencl", "pytools", "platformdirs", "siphash24", "typing_extensions")
# A Python that has the named folder beside its standard library, and nothing else.
ALONE = """
import runpy, sys
sys.path.append(sys.argv.pop(1))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

pytestmark = pytest.mark.usefixtures("one_database")


def predicted(run: Run, folder: Path) -> None:
    """A job for each problem that predicted two configurations, which a CPU can run too."""
    records: list[Record] = [lines.header(), DeviceRecord(lines.b580())]
    for letter, problem in zip("ab", PROBLEMS, strict=True):
        job = lines.JOB[:-1] + letter
        records += [ProblemRecord(problem.key, problem), replace(lines.job(best=None), id=job, problem=problem.key)]
        for number, config in enumerate(lines.plain(problem)):
            records.append(replace(lines.predicted(number, 30.0 + number, job), config=config))
    file = folder / "predicted.jsonl"
    file.write_bytes(text_of(records))
    assert run("import", str(file))[0] == 0


@pytest.mark.slow
def test_runners_up_are_written_as_a_kit(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "CompilePool", lambda *_: nullcontext(SpirvCompiler()))
    predicted(run, tmp_path)
    file = tmp_path / "kit.pyz"
    status, said, _ = run("--server", "http://testserver", "export", "--runners-up", "--kit", str(file))
    of = r"\d kernels of 2 problems for b580 written to .*kit\.pyz, [01]\.\d MiB; there: `python kit\.pyz`\n"
    assert (status, re.fullmatch(of, said) is not None) == (0, True), said
    with zipfile.ZipFile(file) as archive:
        assert archive.read(CONTENTS).count(b'"record":"candidate"') == 4
    one = ("--m", "48", "--n", "80", "--k", "96", "--limit", "1", "--origin", "a desk", "--device", "b580")
    assert " of 1 problem for b580 " in run("export", "--runners-up", *one, "--kit", str(file))[1]
    with zipfile.ZipFile(file) as archive:
        assert b'"origin":"a desk"' in archive.read(CONTENTS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kit", "x.pyz"), "--kit FILE goes with --runners-up"),
        (("--runners-up", "--kit", "x.pyz", "-o", "y"), "--kit FILE goes with --runners-up, and with no --job"),
        (("--runners-up", "--kit", "x.pyz"), "no configuration is predicted and was not measured, and nothing is wri"),
        (("--runners-up", "--kit", "x.pyz", "--device", "a770"), "no configuration of a770 is predicted and was not"),
        (("--runners-up", "--kit", "x.pyz", "--device", "b581"), "no device is known as 'b581'"),
        (("--runners-up", "--kit", "-"), "--kit expects the name of a file to write, such as kit.pyz, got -"),
    ],
)
def test_a_kit_of_nothing_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, told = run("export", *arguments)
    assert (status, said in told, list(tmp_path.glob("*.pyz"))) == (2, True, []), told


@pytest.mark.parametrize("arguments", [("--runners-up", "--kit", "x.pyz"), ("--runners-up",), ()])
def test_a_driver_that_executes_nothing_is_refused_before_devices_are_listed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    # Where it is installed, it is among the devices that a service lists.
    monkeypatch.setattr(results, "open_access", lambda: pytest.fail("a service was asked"))
    monkeypatch.chdir(tmp_path)
    status, out, told = run("export", *arguments, "--device", "simulated-driver-a770")
    assert (status, out, list(tmp_path.glob("*.pyz"))) == (2, "", [])
    assert "executes none, so it has no results and no times: name the GPU itself, a770;" in told


@pytest.mark.opencl
@pytest.mark.slow
def test_a_kit_measures_with_numpy_and_pyopencl_alone_and_its_results_come_back(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicted(run, tmp_path)
    file = tmp_path / "kit.pyz"
    status, told, said = run("export", "--runners-up", *EMULATED, "--kit", str(file))
    assert (status, " kernels of 2 problems for opencl-cpu-as-b580 written to " in told) == (0, True), said
    machine = Machine(tmp_path / "elsewhere")
    done = machine.run(file, "--origin", "a stranger's desk")
    assert done.returncode == 0, done.stderr
    measured = re.findall(r"us \(.* samples.*, \d+ of \d+ tiles verified", done.stdout)
    assert len(measured) >= 5

    monkeypatch.setenv("XETUNE_DATABASE_URL", f"sqlite:///{tmp_path / 'fresh.sqlite'}")
    status, told, said = run("import", str(machine.results))
    assert (status, f"{len(measured)} trials of 2 jobs with " in told) == (0, True), said
    jobs = json.loads(run("jobs", "--json")[1])["jobs"]
    assert {(job["device"], job["origin"], job["kind"]) for job in jobs} == {
        ("opencl-cpu-as-b580", "a stranger's desk", "import")
    }
    for job in jobs:
        best = json.loads(run("jobs", "show", job["id"], "--json")[1])["best"]
        time, proof = best["evidence"]["time"], best["evidence"]["proof"]
        assert (best["status"], time["kind"], time["label"]) == ("measured", "measured", "DPAS emulated")
        assert 0 < time["low"] <= time["value"] <= time["high"]
        assert (proof["kind"], proof["checked"]) == ("opencl_cpu", proof["total"])

    edited = tmp_path / "edited.jsonl"
    edited.write_bytes(re.sub(rb'"median_us":[0-9.e-]+', b'"median_us":1.5', machine.results.read_bytes(), count=1))
    status, _, said = run("import", str(edited))
    assert (status, "nothing of the file is imported" in said) == (2, True)
    changed(file, partial(flipped, name=b"emulated"))
    done = machine.run(file, "--output", "again.jsonl")
    assert (done.returncode, "kernel: emulated: expected bytes of SHA-256" in done.stderr) == (2, True), done.stderr


def changed(file: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the lines of a kit."""
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive, zipfile.ZipFile(file, "w") as made:
        for name in archive.namelist():
            data = archive.read(name)
            made.writestr(name, change(data) if name == CONTENTS else data)


class Machine:
    """A folder of a machine whose Python has what a kit needs, and no more."""

    def __init__(self, folder: Path) -> None:
        self.results, self._site = folder / "found.jsonl", folder / "site"
        self._site.mkdir(parents=True)
        for name in (path.name for path in SITE.iterdir()):
            if name.partition(".")[0].partition("-")[0] in NEEDED:
                (self._site / name).symlink_to(SITE / name)

    def run(self, kit: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a kit there."""
        python = [os.path.realpath(sys.executable), "-I", "-S", "-c", ALONE, str(self._site)]
        environment = {"PATH": os.environ["PATH"], "OCL_ICD_VENDORS": wheel_runtime() or ""}
        return subprocess.run(
            [*python, str(kit), *arguments], cwd=self.results.parent, env=environment, capture_output=True, text=True
        )
