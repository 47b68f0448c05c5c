"""Runs a kernel on a SYCL queue that is known by its address: a program of its own, without torch.

    python -m tests.xetune_torch.sycl_program FOLDER SELECTOR

FOLDER has kernel.json, kernel.spv, a.npy and b.npy; c.npy is written.
"""

import importlib.util
import json
import sys
from pathlib import Path

import dpctl
import dpctl.memory
import numpy as np

HERE = Path(__file__).parents[2] / "xetune_torch" / "sycl_kernel.py"


def main() -> None:
    """Launch once, and write what C holds then."""
    found = importlib.util.spec_from_file_location("sycl_kernel", HERE)
    assert found is not None
    assert found.loader is not None
    sycl = importlib.util.module_from_spec(found)
    found.loader.exec_module(sycl)
    folder, selector = Path(sys.argv[1]), sys.argv[2]
    owner = dpctl.SyclQueue(selector, property="in_order")  # as torch has one
    queue = sycl.queue_at(owner.addressof_ref())
    kernel = sycl.SyclKernel(
        json.loads((folder / "kernel.json").read_text()), (folder / "kernel.spv").read_bytes(), queue
    )
    a, b = np.load(folder / "a.npy"), np.load(folder / "b.npy")
    c = np.full((a.shape[0], b.shape[1]), np.nan, np.float32)
    memory = [dpctl.memory.MemoryUSMDevice(each.nbytes, alignment=64, queue=owner) for each in (a, b, c)]
    for usm, each in zip(memory, (a, b, c), strict=True):
        usm.copy_from_host(each.reshape(-1).view(np.uint8))
    kernel.launch(*(usm._pointer for usm in memory))
    owner.wait()
    memory[2].copy_to_host(c.reshape(-1).view(np.uint8))
    np.save(folder / "c.npy", c)
    print(f"launched on {queue.sycl_device.name}: {queue == owner}")


if __name__ == "__main__":
    main()
