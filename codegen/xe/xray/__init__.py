"""X-ray of GPU code that others compiled: device code inside of files, and a report on each kernel."""

from codegen.xe.xray.gemms import Operation, Recognised
from codegen.xe.xray.images import CodeKind, DeviceImage, images_in
from codegen.xe.xray.kernels import KernelXray, chip_of, kernels_in, xray_kernels
from codegen.xe.xray.refusal import XrayRefused
from codegen.xe.xray.search import Found, Wanted, search

__all__ = [
    "CodeKind",
    "DeviceImage",
    "Found",
    "KernelXray",
    "Operation",
    "Recognised",
    "Wanted",
    "XrayRefused",
    "chip_of",
    "images_in",
    "kernels_in",
    "search",
    "xray_kernels",
]
