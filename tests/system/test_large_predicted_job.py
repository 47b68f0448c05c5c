"""A predicted job of a large problem takes little memory and processor time: it draws what its tiles need."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LM_HEAD = "--m 1 --n 128256 --k 4096 --dtype bf16 --layout nt --device b580 --trials 8 --seed 3"
MOST_BYTES, MOST_S = 10**9, 30


@pytest.mark.slow
def test_a_job_of_the_last_layer_of_a_model_draws_what_its_tiles_need(tmp_path: Path) -> None:
    """The weights of 1x128256x4096 are a GB in bf16; all of a job's processes count for the time, each for memory."""
    environment = {**os.environ, "XETUNE_DATA_DIR": str(tmp_path), "XETUNE_DATABASE_URL": ""}
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", "from service.cli.main import main; main()", "tune", *LM_HEAD.split()],
        {**environment, "PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, str(tmp_path / "said"), os.O_WRONLY | os.O_CREAT, 0o600)],
    )
    _, status, used = os.wait4(child, 0)
    said = (tmp_path / "said").read_text()
    assert os.waitstatus_to_exitcode(status) == 0, said
    assert "of 1" in said
    assert used.ru_maxrss * 1024 < MOST_BYTES
    assert used.ru_utime + used.ru_stime < MOST_S
