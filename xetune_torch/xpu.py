"""Products of tensors on Intel GPUs, by kernels on the SYCL queue of torch's current stream.

It needs a torch with XPU and the dpctl of the same SYCL runtime.
"""

import json
from typing import Any

import torch
from torch import Tensor

from xetune_torch.gemm import Gemm, gemm_of
from xetune_torch.runners import torch_mm
from xetune_torch.stores import Answer

_answers: dict[Gemm, Answer] = {}
_kernels: dict[tuple[Gemm, int], Any] = {}


def load(gemm: Gemm, answer: Answer) -> None:
    """Have a kernel compute a product of XPU tensors: kernel.json, and kernel.spv as `answer.binary`."""
    _answers[gemm] = answer
    for known in [key for key in _kernels if key[0] == gemm]:
        del _kernels[known]


def mm_xpu(a: Tensor, b: Tensor) -> Tensor:
    """Compute `xetune::mm` on an Intel GPU: by the kernel that was loaded for the product, else by torch.

    Nothing waits: the kernel is enqueued behind what the stream has.
    """
    dtype = a.dtype if a.is_floating_point() else torch.int32
    gemm = gemm_of(a, b, dtype) if _answers else None
    answer = None if gemm is None else _answers.get(gemm)
    if gemm is None or answer is None:
        return torch_mm(a, b)
    kernel = _kernel(gemm, answer, torch.xpu.current_stream(a.device).sycl_queue)
    c = torch.empty((gemm.m, gemm.n), dtype=dtype, device=a.device)
    addresses = a.data_ptr(), b.data_ptr(), c.data_ptr()
    if any(address % kernel.alignment for address in addresses):
        return torch_mm(a, b)
    kernel.launch(*addresses)
    return c


def _kernel(gemm: Gemm, answer: Answer, queue: int) -> Any:
    if (gemm, queue) not in _kernels:
        from xetune_torch.sycl_kernel import SyclKernel, queue_at

        manifest = json.loads(json.dumps(answer.manifest))
        _kernels[gemm, queue] = SyclKernel(manifest, answer.binary, queue_at(queue))
    return _kernels[gemm, queue]
