"""An SQLite file that several machines share is refused before it is damaged."""

from datetime import timedelta
from pathlib import Path

import pytest

from db.queries.cluster import coordinators
from db.session import Database, open_database
from db.values import utc_now
from service.cluster.one_machine import check_one_machine, file_system_of
from service.jobs.worker_names import own_name
from service.settings import InvalidSettings

HERE = own_name()
BOOT = HERE.split("/")[1].partition(":")[0]


@pytest.fixture
def sqlite(sqlite_url: str) -> Database:
    """A migrated database."""
    return open_database(sqlite_url)


@pytest.mark.parametrize("kind", ["nfs4", "lustre", "cifs"])
def test_a_network_file_system_is_refused_by_name(sqlite: Database, kind: str) -> None:
    with pytest.raises(InvalidSettings, match=rf"network file system \({kind}\).*PostgreSQL"):
        check_one_machine(sqlite, lambda _: kind)


@pytest.mark.parametrize(
    ("holder", "refused"),
    [
        (HERE, False),
        (f"container/{BOOT}:pid:[42]/7/1", False),  # of this machine
        (f"{HERE.partition('/')[0]}/{'0' * len(BOOT)}:pid:[1]/7/1", False),  # this machine before it started anew
        (f"node-7/{'0' * len(BOOT)}:pid:[1]/7/1", True),
        ("someone", False),  # nothing is known of it
    ],
    ids=["this process", "a container here", "here before a restart", "another machine", "someone"],
)
def test_one_that_another_machine_works_with_is_refused(sqlite: Database, holder: str, refused: bool) -> None:
    with sqlite.write() as session:
        coordinators.acquire(session, "machine x", holder, 60.0)
    if not refused:
        check_one_machine(sqlite, lambda _: "ext4")
        return
    with pytest.raises(InvalidSettings, match="in use on another machine, node-7, too"):
        check_one_machine(sqlite, lambda _: "ext4")
    with sqlite.write() as session:
        coordinators.acquire(session, "machine x", holder, 60.0, now=utc_now() - timedelta(hours=1))
    check_one_machine(sqlite, lambda _: "ext4")


def test_the_file_system_of_a_folder_is_told(tmp_path: Path) -> None:
    assert file_system_of(Path("/proc/self/status")) == "proc"
    assert file_system_of(tmp_path / "not" / "there") not in (None, "proc")
