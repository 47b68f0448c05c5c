"""Artifact files are whole, named by what they hold, and never half written."""

import errno
import hashlib
import os
import resource
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.artifacts import ArtifactDamaged, ArtifactMissing, ArtifactStore, StorageFull, StorageUnwritable

DATA = b"module {}\n" * 5000
HASH = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    """A store in a folder that is not there yet."""
    return ArtifactStore(tmp_path / "data" / "artifacts")


def files_of(store: ArtifactStore) -> list[Path]:
    """Every file under the store, hidden ones too."""
    return [path for path in store.root.rglob("*") if path.is_file()]


@contextmanager
def largest_file(nbytes: int) -> Generator[None]:
    """Let the system refuse to write files beyond a size, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_bytes_come_back_under_their_hash(store: ArtifactStore) -> None:
    assert store.put(DATA) == HASH
    assert store.get(HASH) == store.read(HASH) == DATA
    assert files_of(store) == [store.path(HASH)]


def test_nothing_is_an_artifact_too(store: ArtifactStore) -> None:
    assert store.get(store.put(b"")) == b""


def test_putting_again_leaves_the_file_alone(store: ArtifactStore) -> None:
    store.put(DATA)
    before = store.path(HASH).stat()
    assert store.put(DATA) == HASH
    after = store.path(HASH).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_many_may_put_the_same_at_once(store: ArtifactStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(store.put, [DATA] * 32)) == {HASH}
    assert files_of(store) == [store.path(HASH)]


def test_missing_bytes_are_told(store: ArtifactStore) -> None:
    assert store.read(HASH) is None
    with pytest.raises(ArtifactMissing, match=HASH):
        store.get(HASH)


def test_damage_is_told_on_reading_and_mended_by_putting(store: ArtifactStore) -> None:
    store.put(DATA)
    store.path(HASH).write_bytes(DATA[:-1])
    for read in (store.get, store.read):
        with pytest.raises(ArtifactDamaged, match=HASH):
            read(HASH)
    store.put(DATA)
    assert store.get(HASH) == DATA


def test_file_that_may_not_grow_leaves_nothing(store: ArtifactStore) -> None:
    with largest_file(1000), pytest.raises(StorageFull, match=f"{len(DATA)} bytes"):
        store.put(DATA)
    assert files_of(store) == []
    assert store.put(DATA) == HASH


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_disk_that_fills_up_at_the_last_moment_leaves_nothing(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store.put(b"before")

    def full(_handle: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFull, match="free some space"):
        store.put(DATA)
    assert len(files_of(store)) == 1
    assert store.read(HASH) is None


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageUnwritable, match="file"):
        ArtifactStore(tmp_path / "file").put(DATA)


@pytest.mark.parametrize("name", ["", "abc", "../../etc/passwd", HASH.upper(), HASH + "/.."])
def test_only_hashes_name_files(store: ArtifactStore, name: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        store.read(name)


def test_a_folder_in_place_of_an_artifact_is_damage(store: ArtifactStore) -> None:
    store.path(HASH).mkdir(parents=True)
    with pytest.raises(ArtifactDamaged, match="cannot be read: Is a directory; delete it"):
        store.get(HASH)
    with pytest.raises(StorageUnwritable):
        store.put(DATA)


def test_no_other_user_may_enter_the_folders_or_read_the_files(store: ArtifactStore) -> None:
    store.put(DATA)
    made = [store.root.parent, store.root, store.path(HASH).parent, store.path(HASH)]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700, 0o700, 0o700, 0o600]
