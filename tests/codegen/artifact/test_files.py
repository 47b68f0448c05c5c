"""Files that users name are replaced whole or not at all; devices and pipes stay what they are."""

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codegen.artifact.files import write_atomically, write_named


def test_a_named_file_is_made_or_replaced(tmp_path: Path) -> None:
    for data in (b"first", b"second"):
        write_named(tmp_path / "out", data)
        assert (tmp_path / "out").read_bytes() == data
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_a_link_stays_one_and_its_target_is_written(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to("target")
    for data in (b"made", b"replaced"):
        write_named(link, data)
        assert link.is_symlink()
        assert target.read_bytes() == data


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_named(pipe, b"through")
    reader.join(10)
    assert got == [b"through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "out"])
def test_what_a_file_has_stays_where_output_is_appended_to_it(tmp_path: Path, name: str) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"before\n")
    program = f"from pathlib import Path; from codegen.artifact.files import *; write_named(Path({name!r}), b'after')"
    with file.open("ab") as output:
        run = [sys.executable, "-c", program]
        subprocess.run(run, stdout=output, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(Path.cwd())}, check=True)
    assert file.read_bytes() == b"before\nafter"


def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError) as caught:
        write_named(Path("/dev/full"), b"data")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


def test_an_output_that_is_full_is_named() -> None:
    program = "from pathlib import Path; from codegen.artifact.files import *; write_named(Path('/dev/stdout'), b'new')"
    with Path("/dev/full").open("wb") as output:
        done = subprocess.run([sys.executable, "-c", program], stdout=output, stderr=subprocess.PIPE, check=False)
    assert done.stderr.endswith(b"No space left on device: '/dev/stdout'\n")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="Expected a file, got a folder"):
        write_named(tmp_path, b"")


def test_a_failed_write_names_its_file_and_leaves_it(tmp_path: Path) -> None:
    file = tmp_path / "out"
    write_atomically(file, b"before")
    bounds, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, bounds[1]))
    try:
        with pytest.raises(OSError) as caught:
            write_atomically(file, b"longer than allowed")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, bounds)
        signal.signal(signal.SIGXFSZ, handler)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(file))
    assert file.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]
