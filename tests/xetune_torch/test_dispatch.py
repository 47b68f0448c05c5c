"""The dispatcher never waits, takes only kernels that are right, and falls back to torch."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
import torch

import xetune_torch
from tests.xetune_torch.compiling import CompilingStore, by_kernel
from xetune_torch import Answer, FolderStore, Gemm, LocalStore, StoreFailed
from xetune_torch.gemm import gemm_of

A, B = torch.randn(48, 128), torch.randn(128, 96)


class _Slow(CompilingStore):
    """Answers only when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = threading.Event()

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        assert self.may.wait(60)
        yield from super().find(gemm, constant_b=constant_b)


def _choices() -> list[tuple[str | None, bool]]:
    return [(choice.source, choice.used) for choice in xetune_torch.DISPATCHER.choices]


def test_a_call_does_not_wait_for_an_answer() -> None:
    store = _Slow()
    with xetune_torch.using(store, "always"):
        assert torch.equal(xetune_torch.mm(A, B), torch.mm(A, B))
        assert not xetune_torch.wait(0.05)
        assert _choices() == []
        store.may.set()
        assert xetune_torch.wait(60)
        assert _choices() == [("default", True)]


def test_a_shape_is_asked_for_once(store: CompilingStore) -> None:
    for _ in range(5):
        xetune_torch.mm(A, B)
    by_kernel(lambda: xetune_torch.mm(A, B))
    assert len(store.asked) == 1


class _Other(CompilingStore):
    """Answers with the kernel of another product: B stored otherwise."""

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        from dataclasses import replace

        yield from super().find(replace(gemm, transpose_b=True, ldb=gemm.k), constant_b=constant_b)


class _Failing(CompilingStore):
    """Does not answer."""

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        raise StoreFailed("the service is away")
        yield


class _Broken(CompilingStore):
    """Answers with something that is no kernel."""

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        for answer in super().find(gemm):
            yield Answer(answer.manifest, b"\x7fELF" + answer.binary[4:200], "broken")


class _Foreign(CompilingStore):
    """Answers with a kernel for another CPU."""

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        for answer in super().find(gemm):
            yield Answer({**answer.manifest, "needs": ["avx1024"]}, answer.binary, "foreign")


@pytest.mark.parametrize(
    ("store", "reason"),
    [
        (_Other(), "times its bound"),
        (_Failing(), "the service is away"),
        (_Broken(), "cannot be linked"),
        (_Foreign(), "avx1024"),
    ],
)
def test_what_is_no_answer_leaves_torch(store: CompilingStore, reason: str) -> None:
    with xetune_torch.using(store, "always"):
        xetune_torch.mm(A, B)
        assert xetune_torch.wait(60)
        (choice,) = xetune_torch.DISPATCHER.choices
        assert not choice.used
        assert reason in (choice.reason or "")
        assert torch.equal(xetune_torch.mm(A, B), torch.mm(A, B))


def test_threads_of_torch_bound_those_of_kernels() -> None:
    before = torch.get_num_threads()
    with xetune_torch.using(CompilingStore(cores=2), "always"):
        torch.set_num_threads(1)
        try:
            a, b = torch.randn(256, 512), torch.randn(512, 384)
            xetune_torch.mm(a, b)
            assert xetune_torch.wait(60)
            assert "torch on 1" in (xetune_torch.DISPATCHER.choices[0].reason or "")
        finally:
            torch.set_num_threads(before)


@pytest.mark.parametrize("rows", [96, 40, 130])
def test_a_kernel_for_other_rows_serves_until_there_is_one(rows: int) -> None:
    class Once(CompilingStore):
        def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
            if gemm.m == 48:
                yield from super().find(gemm)

    with xetune_torch.using(Once(), "always"):
        by_kernel(lambda: xetune_torch.mm(A, B))
        a = torch.randn(rows, 128)
        c = by_kernel(lambda: xetune_torch.mm(a, B))
        assert _choices()[-1] == ("nearest rows", True)
        assert torch.allclose(c, a @ B, atol=1e-4)


def test_frozen_weights_are_packed_once_and_changed_ones_are_not_used(store: CompilingStore) -> None:
    x, weight = torch.randn(24, 128).bfloat16(), torch.nn.Parameter(torch.randn(96, 128).bfloat16())
    xetune_torch.freeze(weight)
    with torch.no_grad():
        by_kernel(partial(xetune_torch.linear, x, weight))
        assert xetune_torch.wait(60)
        frozen = xetune_torch.DISPATCHER.frozen[weight.data_ptr()]
        assert len(frozen.packs) == 1
        y = xetune_torch.linear(x, weight)
        assert torch.allclose(y.float(), (x.float() @ weight.float().t()), rtol=1e-2, atol=1e-2)
        weight.mul_(2)
        assert torch.allclose(xetune_torch.linear(x, weight).float(), 2 * y.float(), rtol=1e-2, atol=1e-2)
    del frozen, weight
    assert not xetune_torch.DISPATCHER.frozen


def test_frozen_weights_are_packed_though_another_of_their_shape_came_first(store: CompilingStore) -> None:
    x, other, weight = torch.randn(24, 128), torch.randn(96, 128), torch.randn(96, 128)
    xetune_torch.freeze(weight)
    by_kernel(partial(xetune_torch.linear, x, other))
    want = torch.nn.functional.linear(x, weight)
    for _ in range(2):
        assert torch.allclose(xetune_torch.linear(x, weight), want, atol=1e-4)
        assert xetune_torch.wait(60)
    assert len(xetune_torch.DISPATCHER.frozen[weight.data_ptr()].packs) == 1
    assert torch.allclose(xetune_torch.linear(x, other), torch.nn.functional.linear(x, other), atol=1e-4)


@pytest.mark.parametrize("cores", [1, 2])
def test_threads_of_python_compute_at_once(cores: int) -> None:
    with xetune_torch.using(CompilingStore(cores), "always"):
        shapes = [(256, 512, 384), (40, 128, 96)]
        given = [(torch.randn(m, k), torch.randn(k, n)) for m, k, n in shapes]
        for a, b in given:
            by_kernel(lambda a=a, b=b: xetune_torch.mm(a, b))
        want = [xetune_torch.mm(a, b) for a, b in given]

        def work(number: int) -> bool:
            a, b = given[number % 2]
            return all(torch.equal(xetune_torch.mm(a, b), want[number % 2]) for _ in range(20))

        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(work, range(12)))


def test_without_a_store_torch_computes() -> None:
    with xetune_torch.using(None):
        assert torch.equal(xetune_torch.mm(A, B), torch.mm(A, B))
        assert xetune_torch.wait(0)


def test_a_slower_kernel_is_not_used(store: CompilingStore, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([(2e-3, 1e-3), (1e-3, 2e-3)])
    monkeypatch.setattr("xetune_torch.dispatch.time_in_turns", lambda *_: next(times))
    xetune_torch.use(store, "faster")
    for columns in (32, 64):
        xetune_torch.mm(A, torch.randn(128, columns))
    assert xetune_torch.wait(60)
    assert _choices() == [("default", False), ("default", True)]


def test_a_folder_of_kernels_is_a_store(tmp_path: Path) -> None:
    (gemm,) = (gemm_of(A, B, torch.float32),)
    assert gemm is not None
    (made,) = CompilingStore().find(gemm)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "kernel.json").write_text(json.dumps(made.manifest))
    (tmp_path / "one" / "kernel.o").write_bytes(made.binary)
    folder = FolderStore(tmp_path)
    (found,) = folder.find(gemm)
    assert (found.binary, found.source) == (made.binary, "exact")
    assert list(folder.find(gemm.with_rows(47))) == []
    with pytest.raises(StoreFailed, match="does not tune"):
        folder.tune([gemm], 1, 1.0)
    with xetune_torch.using(folder, "always"):
        assert torch.allclose(by_kernel(lambda: xetune_torch.mm(A, B)), A @ B, atol=1e-4)


def test_a_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match=r"expected a folder of kernels, got '.*kernel-s', which is none"):
        FolderStore(tmp_path / "kernel-s")


def test_a_service_of_this_machine_that_ended_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []

    class Process:
        """Ends when it is told to."""

        code: int | None = None

        def poll(self) -> int | None:
            return self.code

        def terminate(self) -> None:
            self.code = 0

        def wait(self, timeout: float | None = None) -> None:
            assert self.code is not None

    processes: list[Process] = []

    def start(store: LocalStore, *command: str) -> None:
        started.append(command)
        processes.append(Process())
        store._processes.append(processes[-1])  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(LocalStore, "_start", start)
    monkeypatch.setattr(LocalStore, "_wait", lambda _store, _url: None)
    store, gemm = LocalStore(), gemm_of(A, B, torch.float32)
    assert gemm is not None
    for _ in range(2):
        store.outlook(gemm)
    assert len(started) == 1
    processes[0].code = 1
    store.outlook(gemm)
    assert started == [("serve", "--no-worker")] * 2
    store.close()


def test_a_service_that_does_not_start_is_a_failed_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XETUNE_DATABASE_URL", "nonsense://")
    store, gemm = LocalStore(), gemm_of(A, B, torch.float32)
    assert gemm is not None
    with pytest.raises(StoreFailed, match=r"did not start: it ended with 2: .*nonsense:// is not supported"):
        next(store.find(gemm))
