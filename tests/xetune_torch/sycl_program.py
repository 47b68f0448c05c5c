"""Runs a kernel on a SYCL queue that is known by its address: a program of its own, without torch.

    python -m tests.xetune_torch.sycl_program FOLDER SELECTOR

FOLDER has kernel.json, kernel.spv, a.npy and b.npy; c.npy is written. kernel.zebin is used if it is there.
"""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import dpctl
import dpctl.memory
import numpy as np

HERE = Path(__file__).parents[2] / "xetune_torch"


def main() -> None:
    """Launch once, and write what C holds then."""
    package = ModuleType("xetune_torch")  # without its own imports, of torch
    package.__path__ = [str(HERE)]
    sys.modules["xetune_torch"] = package
    sycl = importlib.import_module("xetune_torch.kernels.sycl_kernel")
    folder, selector = Path(sys.argv[1]), sys.argv[2]
    owner = dpctl.SyclQueue(selector, property="in_order")  # as torch has one
    queue = sycl.queue_at(owner.addressof_ref())
    manifest, spirv = json.loads((folder / "kernel.json").read_text()), (folder / "kernel.spv").read_bytes()
    native = folder / "kernel.zebin"
    kernel = sycl.SyclKernel(manifest, spirv, queue, native.read_bytes() if native.exists() else None)
    kernel = kernel.on(sycl.queue_at(owner.addressof_ref()))
    a, b = np.load(folder / "a.npy"), np.load(folder / "b.npy")
    c = np.full((a.shape[0], b.shape[1]), np.nan, np.float32)
    memory = [dpctl.memory.MemoryUSMDevice(each.nbytes, alignment=64, queue=owner) for each in (a, b, c)]
    for usm, each in zip(memory, (a, b, c), strict=True):
        usm.copy_from_host(each.reshape(-1).view(np.uint8))
    kernel.launch(*(usm._pointer for usm in memory))
    owner.wait()
    memory[2].copy_to_host(c.reshape(-1).view(np.uint8))
    np.save(folder / "c.npy", c)
    print(f"launched {'natively ' * kernel.is_native}on {queue.sycl_device.name}: {queue == owner}")


if __name__ == "__main__":
    main()
