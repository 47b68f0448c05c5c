"""Faults planted in stored kernels, each of a kind that a compiler, a pass or a person could introduce.

Verification must find a wrong result for each of them, or refuse the kernel.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.codegen.xe.gemm_fixtures import PREFETCH, RAGGED, GemmFixture


@dataclass(frozen=True, slots=True)
class Fault:
    """A mutation of a fixture's text.

    One that `leaves_buffers` may touch memory outside of them on a device; what one that `is_undefined` gives there
    is up to chance.
    """

    name: str
    fixture: GemmFixture
    plant: Callable[[str], str]
    leaves_buffers: bool = False
    is_undefined: bool = False

    @property
    def shows_on_devices(self) -> bool:
        """Return whether a device may run the kernel and must then compute a wrong result."""
        return not (self.leaves_buffers or self.is_undefined)

    @property
    def ll(self) -> str:
        """The fixture's text with the fault in it."""
        planted = self.plant(self.fixture.ll)
        assert planted != self.fixture.ll, f"fault {self.name} changes nothing: the fixture no longer holds its place"
        return planted


def row_offset(ll: str) -> str:
    """The rows of A are read one too low."""
    lower = "  %lower = add i32 %7, 1\n"
    return ll.replace("  %17 = ", lower + "  %17 = ").replace(
        "%18 = insertelement <2 x i32> %17, i32 %7", "%18 = insertelement <2 x i32> %17, i32 %lower"
    )


def mask_height(ll: str) -> str:
    """The surface of A ends a row too early: its last row is read as zero."""
    return ll.replace("%A, i32 208, i32 40, i32 208", "%A, i32 208, i32 39, i32 208")


def mask_width(ll: str) -> str:
    """The surface of B ends two columns too early."""
    return ll.replace("%B, i32 144, i32 104, i32 144", "%B, i32 140, i32 104, i32 144")


def vnni_order(ll: str) -> str:
    """The two rows of each pair of B are swapped."""
    first, swapped = "%wide23.at0.8i32", "%vnni.swapped"
    swap = (
        f"  %vnni.low = lshr <8 x i32> {first}, splat (i32 16)\n"
        f"  %vnni.high = shl <8 x i32> {first}, splat (i32 16)\n"
        f"  {swapped} = or <8 x i32> %vnni.low, %vnni.high\n"
    )
    head, tail = ll.split("  %28 = ", 1)
    return head + swap + "  %28 = " + tail.replace(f"<8 x i32> {first},", f"<8 x i32> {swapped},")


def layout_swapped(ll: str) -> str:
    """The second half of K and the second eight rows of A are taken for one another."""
    swap = {"ptr %19, i64 16\n": "ptr %19, i64 32\n", "ptr %19, i64 32\n": "ptr %19, i64 16\n"}
    return re.sub(r"ptr %19, i64 (16|32)\n", lambda m: swap[m[0]], ll)


def missing_k_step(ll: str) -> str:
    """The loop over K ends a step too early."""
    return ll.replace("icmp samesign ult i64 %16, 72", "icmp samesign ult i64 %16, 40")


def operands_swapped(ll: str) -> str:
    """A is read where B should be, and B where A should be."""
    swap = {"%A": "%B", "%B": "%A"}
    return re.sub(r"(?<=readonly )%[AB]", lambda m: swap[m[0]], ll)


def wrong_pitch(ll: str) -> str:
    """The rows of B are taken to be 16 bytes longer."""
    return ll.replace("%B, i32 144, i32 104, i32 144", "%B, i32 144, i32 104, i32 160")


def store_offset(ll: str) -> str:
    """The right half of each tile is stored on the left one."""
    return ll.replace("or disjoint i32 %8, 16", "or disjoint i32 %8, 0")


def coordinates_swapped(ll: str) -> str:
    """Row and column of B's blocks are swapped."""
    return ll.replace(
        "%9 = insertelement <2 x i32> poison, i32 %8, i64 0", "%9 = insertelement <2 x i32> poison, i32 %8, i64 1"
    ).replace("insertelement <2 x i32> %9, i32 %11, i64 1", "insertelement <2 x i32> %9, i32 %11, i64 0")


def accumulation_missing(ll: str) -> str:
    """One product starts from zero, not from the sum before it."""
    return ll.replace("<8 x float> %28)", "<8 x float> zeroinitializer)")


def accumulator_not_carried(ll: str) -> str:
    """One part of the sum starts anew with every step of K."""
    return ll.replace("[ zeroinitializer, %0 ], [ %45, %10 ]", "[ zeroinitializer, %0 ], [ zeroinitializer, %10 ]")


def group_dimension(ll: str) -> str:
    """The row of a work-group comes from its place along x."""
    return ll.replace("get_group_idj(i32 1)", "get_group_idj(i32 0)")


def subgroup_ignored(ll: str) -> str:
    """All sub-groups compute the first one's tile."""
    return ll.replace("%5 = and i32 %4, 16", "%5 = and i32 %4, 0")


def offset_not_advanced(ll: str) -> str:
    """B's blocks stay at the first step of K."""
    return ll.replace("insertelement <2 x i32> %9, i32 %11, i64 1", "insertelement <2 x i32> %9, i32 0, i64 1")


def rounding_truncated(ll: str) -> str:
    """float is cut to bf16, not rounded."""
    return re.sub(
        r"  (%\d+) = call spir_func <8 x i16> @_Z27__spirv_ConvertFToBF16INTELDv8_f\(<8 x float> (%\d+)\).*",
        lambda m: (
            f"  %cut{m[1][1:]}.bits = bitcast <8 x float> {m[2]} to <8 x i32>\n"
            f"  %cut{m[1][1:]}.up = lshr <8 x i32> %cut{m[1][1:]}.bits, splat (i32 16)\n"
            f"  {m[1]} = trunc <8 x i32> %cut{m[1][1:]}.up to <8 x i16>"
        ),
        ll,
    )


def wrong_dtype(ll: str) -> str:
    """bf16 operands are multiplied as half."""
    return ll.replace("_Z40intel_sub_group_bf16_bf16_matrix_mad", "_Z38intel_sub_group_f16_f16_matrix_mad")


def accumulator_undefined(ll: str) -> str:
    """One part of the sum starts from private memory that nothing wrote."""
    start = "  %garbage.p = alloca [8 x float], align 64\n  %garbage = load <8 x float>, ptr %garbage.p, align 32\n"
    head, tail = ll.split("  br label %10\n", 1)
    return head + start + "  br label %10\n" + tail.replace("[ zeroinitializer, %0 ]", "[ %garbage, %0 ]", 1)


FAULTS = (
    Fault("row_offset", RAGGED, row_offset),
    Fault("mask_height", RAGGED, mask_height),
    Fault("mask_width", RAGGED, mask_width),
    Fault("vnni_order", RAGGED, vnni_order),
    Fault("layout_swapped", RAGGED, layout_swapped),
    Fault("missing_k_step", RAGGED, missing_k_step),
    Fault("operands_swapped", RAGGED, operands_swapped, leaves_buffers=True),
    Fault("wrong_pitch", RAGGED, wrong_pitch, leaves_buffers=True),
    Fault("store_offset", RAGGED, store_offset),
    Fault("coordinates_swapped", RAGGED, coordinates_swapped),
    Fault("accumulation_missing", RAGGED, accumulation_missing),
    Fault("accumulator_not_carried", RAGGED, accumulator_not_carried),
    Fault("group_dimension", RAGGED, group_dimension),
    Fault("subgroup_ignored", RAGGED, subgroup_ignored),
    Fault("offset_not_advanced", RAGGED, offset_not_advanced),
    Fault("rounding_truncated", PREFETCH, rounding_truncated),
    Fault("wrong_dtype", PREFETCH, wrong_dtype),
    Fault("accumulator_undefined", RAGGED, accumulator_undefined, is_undefined=True),
)
