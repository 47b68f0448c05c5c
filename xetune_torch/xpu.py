"""Products of tensors on Intel GPUs: `xetune::mm` by kernels of the store, for the device and its driver.

It needs a torch with XPU and the dpctl of the same SYCL runtime. Until there is a kernel, torch computes.
"""

from functools import cache

import torch
from torch import Tensor

from hal.facts.xe import find_by_pci_id
from xetune_torch.dispatch import DISPATCHER, MOST_ENTRIES, Chosen
from xetune_torch.gemm import Place, gemm_of
from xetune_torch.kernels.runners import Mm, mm_runner, torch_mm

_MM: dict[object, Mm] = DISPATCHER.table()  # pyright: ignore[reportAssignmentType]


def mm_xpu(a: Tensor, b: Tensor) -> Tensor:
    """Compute `xetune::mm` on an Intel GPU. Nothing waits: a kernel is enqueued behind what the stream has."""
    key = a.device.index, a.dtype, a.shape, a.stride(), b.dtype, b.shape, b.stride()
    run = _MM.get(key)
    return run(a, b) if run is not None else _first_mm(key, a, b)


@cache
def place_of(index: int) -> Place | None:
    """Return the GPU of torch's number, by its PCI id; None if the table of devices does not have it."""
    properties = torch.xpu.get_device_properties(index)
    row = find_by_pci_id(f"{properties.device_id:04X}")
    return None if row is None else Place(row.id, properties.driver_version, f"xpu:{index}")


def _first_mm(key: object, a: Tensor, b: Tensor) -> Tensor:
    dtype = a.dtype if a.is_floating_point() else torch.int32
    if len(_MM) < MOST_ENTRIES and a.dim() == b.dim() == 2 and a.shape[1] == b.shape[0]:
        _MM[key] = torch_mm
        place = place_of(a.device.index)
        gemm = None if place is None else gemm_of(a, b, dtype, place)
        if gemm is not None:
            size, device = (gemm.m, gemm.n), gemm.place.of_torch

            def install(chosen: Chosen) -> None:
                if chosen.plain is not None:
                    _MM[key] = mm_runner(chosen.plain, size, dtype, device)

            DISPATCHER.ask(gemm, install)
    return torch_mm(a, b)
