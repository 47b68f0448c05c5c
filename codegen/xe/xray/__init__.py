"""X-ray of GPU code that others compiled: device code inside of files, and a report on each kernel."""

from codegen.xe.xray.images import CodeKind, DeviceImage, images_in
from codegen.xe.xray.kernels import KernelXray, chip_of, kernels_in, xray_kernels
from codegen.xe.xray.refusal import XrayRefused

__all__ = [
    "CodeKind",
    "DeviceImage",
    "KernelXray",
    "XrayRefused",
    "chip_of",
    "images_in",
    "kernels_in",
    "xray_kernels",
]
