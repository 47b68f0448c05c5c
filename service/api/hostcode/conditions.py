"""Conditions under which a driver offers an extension of OpenCL, in the terms of the APIs that do not use its names.

An extension without a condition is not checked: it is part of that API (sub-groups and their sizes), or the API has no
query for it (DPAS of tf32).
"""

from collections.abc import Iterable, Mapping

from hal.spirv.needs import BLOCK_IO, FP64, PRODUCTS

# `listed` are the names of the driver's extensions. Old drivers do not answer all queries of Intel's extensions.
# Source: Level Zero specification 1.11, ze_device_module_flag_t; level_zero/ze_intel_gpu.h of the compute runtime.
LEVEL_ZERO = {
    BLOCK_IO: 'listed.count("ZE_intel_experimental_device_block_array_properties") == 0 || (blocks.flags & 3) == 3',
    PRODUCTS: 'listed.count("ZE_intel_experimental_device_module_dp_properties") == 0 || (products.flags & 2) != 0',
    FP64: "(module.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0",
    "cl_khr_fp16": "(module.flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0",
    "cl_khr_int64_base_atomics": "(module.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) != 0",
    "cl_ext_float_atomics": "(atomics.fp32Flags & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD) != 0",
    "cl_intel_bfloat16_conversions": 'listed.count("ZE_extension_bfloat16_conversions") != 0',
}

# For a device of SYCL's Level Zero backend; `listed` are the OpenCL names that SYCL derives for it.
SYCL = {
    BLOCK_IO: "device.get_info<sycl::ext::intel::esimd::info::device::has_2d_block_io_support>()",
    PRODUCTS: "device.has(sycl::aspect::ext_intel_matrix)",
    FP64: "device.has(sycl::aspect::fp64)",
    "cl_khr_fp16": "device.has(sycl::aspect::fp16)",
    "cl_khr_int64_base_atomics": "device.has(sycl::aspect::atomic64)",
    "cl_intel_bfloat16_conversions": 'listed.count("cl_intel_bfloat16_conversions") != 0',
}


def conditions(extensions: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the conditions of those extensions that have one, by name."""
    return {name: known[name] for name in extensions if name in known}
