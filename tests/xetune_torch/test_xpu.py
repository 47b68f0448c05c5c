"""Products on Intel GPUs: which device and driver a store is asked for, and what becomes of its answers.

This torch has no XPU: tensors are those of the CPU, and a kernel on a queue computes by numpy.
"""

import ctypes
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fastapi import FastAPI
from fastapi.testclient import TestClient

import xetune_torch
from codegen import GemmArtifact
from codegen.backend import backend_of
from service.app import create_app
from service.schemas import ProblemBody, to_problem
from service.settings import Settings
from tests.codegen.xe.isa.fake_ocloc import elf, fake_ocloc
from tests.service.api.kernels.test_binaries import OLD, default, stored
from tests.service.rest import Clock, invented_devices
from tests.xetune_torch.serving import served
from xetune_torch import Answer, FolderStore, Gemm, Outlook, ServiceStore
from xetune_torch.gemm import Place, gemm_of
from xetune_torch.xpu import mm_xpu, place_of

A, B = torch.randn(48, 128), torch.randn(128, 96)
B580 = Place("b580", "1.15.39122")


class _Store:
    """Answers with files that only the kernels of these tests read; `asked` is what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Gemm] = []

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        self.asked.append(gemm)
        yield Answer({"sizes": [gemm.m, gemm.n, gemm.k]}, b"spirv", "exact", b"zebin")

    def outlook(self, gemm: Gemm) -> Outlook:
        return Outlook.FINAL

    def tune(self, gemms: Sequence[Gemm], trials: int, seconds: float) -> None: ...


class _Kernel:
    """In place of SyclKernel: computes f32 at once. `made` has the arguments of each, `launched` the queues."""

    made: list[tuple[bytes, int, bytes | None]] = []
    launched: list[int] = []
    alignment = 64

    def __init__(self, manifest: dict[str, list[int]], binary: bytes, queue: int, native: bytes | None = None) -> None:
        self.made.append((binary, queue, native))
        self.sizes, self.queue = manifest["sizes"], queue

    def on(self, queue: int) -> "_Kernel":
        other = object.__new__(_Kernel)
        other.sizes, other.queue = self.sizes, queue
        return other

    def launch(self, *addresses: int) -> None:
        self.launched.append(self.queue)
        m, n, k = self.sizes
        a, b, c = (
            np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_float)), shape)
            for at, shape in zip(addresses, ((m, k), (k, n), (m, n)), strict=True)
        )
        c[:] = a @ b


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The current stream of torch, of a B580."""
    pytest.importorskip("dpctl")
    stream = SimpleNamespace(sycl_queue=7)
    monkeypatch.setattr("torch.xpu.current_stream", lambda _device: stream)
    monkeypatch.setattr("xetune_torch.xpu.place_of", lambda _index: B580)
    monkeypatch.setattr("xetune_torch.kernels.sycl_kernel.queue_at", lambda address: address)
    monkeypatch.setattr("xetune_torch.kernels.sycl_kernel.SyclKernel", _Kernel)
    monkeypatch.setattr(_Kernel, "made", [])
    monkeypatch.setattr(_Kernel, "launched", [])
    return stream


def test_a_store_is_asked_for_the_gpu_and_its_kernel_runs_on_the_stream(queue: SimpleNamespace) -> None:
    store = _Store()
    with xetune_torch.using(store, "always"):
        assert torch.equal(mm_xpu(A, B), torch.mm(A, B))
        assert xetune_torch.wait(60)
        assert [gemm.place for gemm in store.asked] == [B580]
        assert _Kernel.made == [(b"spirv", 7, b"zebin")]
        (choice,) = xetune_torch.DISPATCHER.choices
        assert (choice.source, choice.used, choice.reason) == ("exact", True, None)
        _Kernel.launched.clear()
        assert torch.allclose(mm_xpu(A, B), A @ B, atol=1e-4)
        queue.sycl_queue = 9  # another stream: the same program
        assert torch.allclose(mm_xpu(A, B), A @ B, atol=1e-4)
        assert _Kernel.launched == [7, 9]
        assert len(_Kernel.made) == 1
        unaligned = torch.empty(48 * 128 + 1)[1:].view(48, 128).copy_(A)
        assert torch.equal(mm_xpu(unaligned, B), torch.mm(unaligned, B))
        assert _Kernel.launched == [7, 9]


def test_a_kernel_that_the_driver_refuses_or_that_is_wrong_is_not_used(
    queue: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpctl.program import SyclProgramCompilationError

    def refuses(*_arguments: object) -> None:
        raise SyclProgramCompilationError("no such chip")

    monkeypatch.setattr("xetune_torch.kernels.sycl_kernel.SyclKernel", refuses)
    with xetune_torch.using(_Store(), "always"):
        mm_xpu(A, B)
        assert xetune_torch.wait(60)
        (choice,) = xetune_torch.DISPATCHER.choices
        assert choice.reason == "the driver of b580 refused the kernel: no such chip"
    monkeypatch.setattr("xetune_torch.kernels.sycl_kernel.SyclKernel", _Kernel)
    monkeypatch.setattr(_Kernel, "launch", lambda *_: None)
    with xetune_torch.using(_Store(), "always"):
        mm_xpu(A, B)
        assert xetune_torch.wait(60)
        (choice,) = xetune_torch.DISPATCHER.choices
        assert "times its bound" in (choice.reason or "")
        assert torch.equal(mm_xpu(A, B), torch.mm(A, B))


@pytest.mark.parametrize(("device_id", "row"), [(0xE20B, "b580"), (0x56A0, "a770"), (0x0001, None)])
def test_a_gpu_is_known_by_its_pci_id(monkeypatch: pytest.MonkeyPatch, device_id: int, row: str | None) -> None:
    properties = SimpleNamespace(device_id=device_id, driver_version="1.15.39122")
    monkeypatch.setattr("torch.xpu.get_device_properties", lambda _index: properties)
    found = place_of.__wrapped__(3)
    assert found == (None if row is None else Place(row, "1.15.39122", "xpu:3"))


@pytest.fixture
def app(tmp_path: Path, migrated_file: Path) -> Generator[FastAPI]:
    """A service that has a kernel for the B580."""
    file = tmp_path / "x.sqlite"
    file.write_bytes(migrated_file.read_bytes())
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{file}", scheduler=False, allowed_hosts="*")
    made = create_app(settings, invented_devices, Clock())
    yield made
    made.state.context.database.close()


def _made() -> GemmArtifact:
    gemm = gemm_of(torch.randn(96, 128), torch.randn(128, 64), torch.float32, B580)
    assert gemm is not None
    return default(to_problem(ProblemBody.model_validate_json(gemm.body.model_dump_json())))


@contextmanager
def _store(app: FastAPI) -> Generator[ServiceStore]:
    with served(app) as port:
        store = ServiceStore(f"http://127.0.0.1:{port}")
        yield store
        store.close()


def test_a_service_answers_with_the_binary_of_the_driver_else_with_spirv(app: FastAPI, tmp_path: Path) -> None:
    context, made = app.state.context, _made()
    (tmp_path / "zebin").write_bytes(elf())
    context.settings.ocloc_dir.mkdir(parents=True)
    fake_ocloc(
        context.settings.ocloc_dir, version=OLD, compile=f"mkdir binary; cp {tmp_path / 'zebin'} binary/kernel_bmg.bin"
    )
    client = TestClient(app)
    kernel = stored(client, context, made)
    a, b = torch.randn(96, 128), torch.randn(128, 64)

    def answer(place: Place) -> Answer:
        gemm = gemm_of(a, b, torch.float32, place)
        assert gemm is not None
        (found,) = store.find(gemm)
        assert found.binary == made.launch.binary
        return found

    with _store(app) as store:
        assert answer(B580).native is None
        assert client.post(f"/v1/kernels/{kernel}/binaries").status_code == 201
        assert answer(B580).native == elf()
        assert answer(Place("b580", "1.15.40000")).native is None
        assert answer(Place("b580", None)).native is None


def test_a_folder_has_kernels_of_a_gpu_beside_those_of_cpus(tmp_path: Path) -> None:
    made = _made()
    manifest = dict(backend_of(made.config).manifest(made))
    (tmp_path / "kernel.json").write_text(json.dumps(manifest))
    (tmp_path / "kernel.spv").write_bytes(made.launch.binary)
    store, a, b = FolderStore(tmp_path), torch.randn(96, 128), torch.randn(128, 64)
    for place, number in ((B580, 1), (Place("a770", "1.15.39122"), 0), (Place(), 0)):
        gemm = gemm_of(a, b, torch.float32, place)
        assert gemm is not None
        found = list(store.find(gemm))
        assert [answer.binary for answer in found] == [made.launch.binary] * number
