"""Needs of modules are those that they declare, and the missing ones are named."""

import ctypes
import struct

import pytest

from hal.opencl.offer import spirv_offer
from hal.spirv.needs import BLOCK_IO, PRODUCTS, SpirvNeeds, SpirvOffer, spirv_needs
from tests.hal.spirv_modules import spirv_module

NEEDS = SpirvNeeds("1.4", ("SPV_A", "SPV_INTEL_cache_controls"), ("Int64", "CacheControlsINTEL"), (BLOCK_IO,))
EVERYTHING = SpirvOffer(
    frozenset({"1.0", "1.4"}), frozenset({BLOCK_IO}), frozenset({"SPV_A"}), frozenset({"Int64", "Int8"})
)


def test_a_module_needs_what_it_declares_and_opencls_extensions_for_it() -> None:
    needs = spirv_needs(spirv_module(capabilities=(10, 6, 6115, 9999), extensions=("SPV_INTEL_bfloat16_conversion",)))
    assert needs == SpirvNeeds(
        "1.4",
        ("SPV_INTEL_bfloat16_conversion",),
        ("Kernel", "Float64", "BFloat16ConversionINTEL", "capability 9999"),
        ("cl_intel_bfloat16_conversions", "cl_khr_fp64"),
    )


def test_imported_functions_need_the_extensions_that_have_them() -> None:
    read, product = "intel_sub_group_2d_block_read_16b_8r16x1c", "intel_sub_group_tf32_tf32_matrix_mad_k8"
    assert spirv_needs(spirv_module(imports=(read,))).opencl_extensions == (BLOCK_IO,)
    assert spirv_needs(spirv_module(imports=(read, product))).opencl_extensions == (
        BLOCK_IO,
        PRODUCTS,
        f"{PRODUCTS}_tf32",
    )
    assert spirv_needs(spirv_module(exports=(read, product))).opencl_extensions == ()


@pytest.mark.parametrize("data", [b"", b"\x7fELF" * 5, spirv_module()[:-4]])
def test_what_is_no_module_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"expected|instruction"):
        spirv_needs(data)


def test_hints_are_no_need() -> None:
    assert EVERYTHING.lacks(NEEDS) == ()


@pytest.mark.parametrize(
    ("offer", "lacks"),
    [
        (SpirvOffer(frozenset({"1.0"}), frozenset({BLOCK_IO})), ("SPIR-V 1.4",)),
        (SpirvOffer(None, frozenset()), (BLOCK_IO,)),
        (
            SpirvOffer(frozenset({"1.2"}), frozenset(), frozenset(), frozenset({"Kernel"})),
            ("SPIR-V 1.4", BLOCK_IO, "SPV_A", "Int64"),
        ),
        (SpirvOffer(None, frozenset({BLOCK_IO}), None, None), ()),
    ],
    ids=["an old version", "no block messages", "nothing", "a driver that does not tell"],
)
def test_all_that_a_driver_lacks_is_named(offer: SpirvOffer, lacks: tuple[str, ...]) -> None:
    assert offer.lacks(NEEDS) == lacks


def test_a_driver_is_asked() -> None:
    name = ctypes.create_string_buffer(b"SPV_A")
    answers = {
        0x1030: f"{BLOCK_IO} cl_khr_fp16\0".encode(),
        0x105B: b"SPIR-V_1.4 SPIR-V_1.0 \0",
        0x12BA: struct.pack("Q", ctypes.addressof(name)),
        0x12BB: struct.pack("2I", 11, 39),
    }
    told = spirv_offer(answers.get)
    assert told == SpirvOffer(
        frozenset({"1.4", "1.0"}),
        frozenset({BLOCK_IO, "cl_khr_fp16"}),
        frozenset({"SPV_A"}),
        frozenset({"Int64", "Int8"}),
    )
    silent = spirv_offer({0x1030: b"cl_khr_fp16\0"}.get)
    assert silent == SpirvOffer(None, frozenset({"cl_khr_fp16"}))
