"""The simulated driver accepts doctor's kernels for each family, as the table of the page says."""

import re
from pathlib import Path

import pytest

from codegen.workers.pool import CompilePool
from hal import SimulatedDevice, find
from hal.driver.simulated_gpus import SIMULATED_GPUS, SimulatedGpu
from hal.probe.findings import State
from tests.hal.driver.real_driver import real_driver
from tuner.measure.kernel_checks import ACCEPT, by_acceptor, check_kernels

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "driver.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("gpu", SIMULATED_GPUS, ids=lambda gpu: gpu.row)
def test_the_driver_accepts_each_kernel(gpu: SimulatedGpu, tmp_path: Path) -> None:
    with CompilePool(2, 60.0, tmp_path) as pool, SimulatedDevice(real_driver(), gpu) as device:
        found = [kernel.finding for kernel in check_kernels(find(gpu.row), by_acceptor(device, pool), ACCEPT)]
    assert [finding.found for finding in found if finding.state is not State.OK] == []
    spilled = [re.search(r", (\d+) bytes spilled$", finding.found) for finding in found]
    cells = " | ".join("0" if match is None else match[1] for match in spilled)
    assert f"| {gpu.row} | {cells} |" in PAGE
