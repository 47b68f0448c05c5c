"""Kernels for Intel GPUs as plans: on the SYCL queue of torch's current stream."""

import json
import threading
from typing import Any

import torch

from xetune_torch.errors import KernelRefused
from xetune_torch.gemm import Place
from xetune_torch.stores import Answer


class XpuKernel:
    """A kernel of an answer on a GPU: its native binary if the driver takes it, else its SPIR-V. Launches do not wait.

    Raises:
        KernelRefused: the driver refuses it, or there is no dpctl of torch's SYCL runtime.
    """

    threads, prepacked = 1, False

    def __init__(self, place: Place, answer: Answer) -> None:
        self._of_torch, self._lock = place.of_torch, threading.Lock()
        try:
            from xetune_torch.kernels.sycl_kernel import SyclKernel, SyclProgramCompilationError, queue_at
        except ImportError as error:
            message = f"kernels for {place.device} need dpctl: pip install 'xetune[level-zero]' ({error})"
            raise KernelRefused(message) from error
        queue, manifest = self._queue, json.loads(json.dumps(answer.manifest))
        try:
            first = SyclKernel(manifest, answer.binary, queue_at(queue), answer.native)
        except (SyclProgramCompilationError, ValueError) as error:
            raise KernelRefused(f"the driver of {place.device} refused the kernel: {error}") from error
        self._first, self._queue_at = first, queue_at
        self._on: dict[int, Any] = {queue: first}
        self.alignment: int = first.alignment

    def launch(self, *operands: int) -> int:
        """Enqueue the kernel behind what the current stream has."""
        queue = self._queue
        with self._lock:  # the steps of two launches share memory
            kernel = self._on.get(queue)
            if kernel is None:
                kernel = self._on[queue] = self._first.on(self._queue_at(queue))
            kernel.launch(*operands)
        return 0

    def pack(self, *operands: int) -> torch.Tensor:
        """Raise, as no kernel for GPUs takes B packed."""
        raise KernelRefused("kernels for GPUs do not take B packed")

    @property
    def _queue(self) -> int:
        return torch.xpu.current_stream(self._of_torch).sycl_queue
