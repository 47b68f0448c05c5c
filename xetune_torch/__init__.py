"""Tuned kernels of XeTune for PyTorch.

`use` names the store of kernels; `mm`, `linear`, `quantized_linear` and `grouped_mm` compute with what it has, and
`replace_linears` tunes and replaces the linear layers of a model. Needs torch: `pip install 'xetune[torch]'`.
"""

try:
    import torch  # noqa: F401 # pyright: ignore[reportUnusedImport]
except ImportError as error:
    raise ImportError("xetune_torch needs PyTorch: pip install 'xetune[torch]'") from error

import xetune_torch.operators  # noqa: F401 # pyright: ignore[reportUnusedImport]
from xetune_torch.dispatch import DISPATCHER, Choice, Dispatcher, using
from xetune_torch.errors import KernelRefused, StoreFailed, WrongResult, XetuneTorchError
from xetune_torch.functions import grouped_mm, linear, mm, quantized_linear
from xetune_torch.gemm import ACTIVATIONS, Gemm, Weights
from xetune_torch.modules import QuantizedLinear, TunedLinear
from xetune_torch.quantize import Quantized, dequantize, quantize
from xetune_torch.repeats import Outlook
from xetune_torch.replace import Report, replace_linears
from xetune_torch.stores import Answer, FolderStore, LocalStore, ServiceStore, Store

use = DISPATCHER.use
wait = DISPATCHER.wait
freeze = DISPATCHER.freeze

__all__ = [
    "ACTIVATIONS",
    "DISPATCHER",
    "Answer",
    "Choice",
    "Dispatcher",
    "FolderStore",
    "Gemm",
    "KernelRefused",
    "LocalStore",
    "Outlook",
    "Quantized",
    "QuantizedLinear",
    "Report",
    "ServiceStore",
    "Store",
    "StoreFailed",
    "TunedLinear",
    "Weights",
    "WrongResult",
    "XetuneTorchError",
    "dequantize",
    "freeze",
    "grouped_mm",
    "linear",
    "mm",
    "quantize",
    "quantized_linear",
    "replace_linears",
    "use",
    "using",
    "wait",
]
