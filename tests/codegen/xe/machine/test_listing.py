"""Lines of listings are read into their parts, and what is not known is refused by name."""

import re

import pytest

from codegen.xe.machine import Instruction, MachineCodeRefused, parse_listing
from codegen.xe.machine.instruction import Distance, FlagModifier, Pipe, Predicate, Token, TokenUse
from codegen.xe.machine.messages import (
    Access,
    AddressModel,
    Cache,
    DataSize,
    FenceMessage,
    GatewayMessage,
    GatewayOperation,
    MemoryMessage,
    OwordMessage,
    ScratchMessage,
    SharedFunction,
)
from codegen.xe.machine.operands import DataType, Immediate, Indirect, Region, Register, RegisterFile
from tests.codegen.xe.isa.recordings import RECORDED, recorded
from tests.codegen.xe.machine.message_notes import note_of


def one(line: str) -> Instruction:
    (instruction,) = parse_listing("k", line).instructions
    return instruction


def message(line: str) -> MemoryMessage:
    found = one(line).message
    assert isinstance(found, MemoryMessage)
    return found


def test_an_instruction_has_mask_predicate_condition_operands_and_scoreboard() -> None:
    i = one(
        "(W&~f0.1) cmp (8|M16)  (lt)f1.0   r3.2<2>:d  -r1.4<2;1,0>:uw   (abs)acc7.0<8;8,1>:d  {Compacted,I@3,$24.src}"
    )
    assert (i.opcode, i.size, i.channel, i.no_mask) == ("cmp", 8, 16, True)
    assert i.predicate == Predicate(0, 1, inverse=True)
    assert i.modifier == FlagModifier("lt", 1, 0)
    assert i.destination == Register(RegisterFile.GRF, 3, 2, Region(2, 1, 0), DataType.D)
    assert i.sources == (
        Register(RegisterFile.GRF, 1, 4, Region(2, 1, 0), DataType.UW, negate=True),
        Register(RegisterFile.ACCUMULATOR, 7, 0, Region(8, 8, 1), DataType.D, absolute=True),
    )
    assert i.distance == Distance(Pipe.INTEGER, 3)
    assert i.tokens == (Token(24, TokenUse.SOURCE),)
    assert i.options == ("Compacted",)


@pytest.mark.parametrize(
    ("text", "places"),
    [("<0;1,0>", (0, 0, 0, 0)), ("<1;1,0>", (0, 1, 2, 3)), ("<4;2,1>", (0, 1, 4, 5)), ("<4;1,0>", (0, 4, 8, 12))],
)
def test_a_region_gives_the_places_of_elements(text: str, places: tuple[int, ...]) -> None:
    (source,) = one(f"mov (4|M0)  r1.0<1>:f  r2.0{text}:f").sources
    assert isinstance(source, Register)
    assert source.region is not None
    assert source.region.places(4) == places


def test_three_sources_have_regions_of_two_numbers_and_of_one() -> None:
    i = one("mad (16|M0)  acc0.0<1>:f  r11.0<1;0>:f  r34.0<4;2>:f  r10.0<0>:f  {A@6}")
    regions = [source.region for source in i.sources if isinstance(source, Register)]
    assert regions == [Region(1, 1, 0), Region(4, 2, 2), Region(0, 1, 0)]


def test_registers_at_addresses() -> None:
    by_element, by_region = (
        one("mov (16|M0) r1.0<1>:w r[a0.0,-32]<1,0>:w"),
        one("mov (8|M0) r1.0<1>:w r[a0.2]<8;8,1>:w"),
    )
    assert by_element.sources == (Indirect(0, -32, Region(0, 1, 0), DataType.W, by_element=True),)
    assert by_region.sources == (Indirect(2, 0, Region(8, 8, 1), DataType.W),)


def test_operands_of_divisions_by_steps_have_extra_bits() -> None:
    i = one("(W&~f2.0) madm (8|M0)  r8.mme1:df  r75.nomme:df  -r5.nomme:df  r7.mme0:df  {M@1}")
    assert [operand.macro for operand in (i.destination, *i.sources) if isinstance(operand, Register)] == [
        *("mme1", "nomme", "nomme", "mme0")
    ]
    j = one("(W)  math.invm (8|M0) (eo)f2.0  r7.mme0:df  r5.nomme<1;1,0>:df  r6.nomme<1;1,0>:df {A@1}")
    assert j.modifier == FlagModifier("eo", 2, 0)


def test_the_goto_of_a_loop_parks_the_others_at_the_next_instruction() -> None:
    loop, _ = parse_listing("k", "L0:\n(f1.0) goto.b (32|M0)  L16  L0\nL16:\njoin (32|M0) L32\nL32:").instructions
    assert (loop.function, loop.targets, loop.parks_at) == ("b", (1, 0), 1)


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("-1:w", 0xFFFF),
        ("0xF0700000000:uq", 0xF0700000000),
        ("0x76543210:v", 0x76543210),
        ("1.442695e+00:f", 0x3FB8AA3B),
        ("-105.0:f", 0xC2D20000),
        ("1.02977e-40:f", 0x11F0F),
        ("-inf:hf", 0xFC00),
        ("-qnan(0x1FF):hf", 0xFFFF),
        ("snan(0x1):f", 0x7F800001),
        ("0xBF317200:f", 0xBF317200),
        ("0.5:df", 0x3FE0000000000000),
    ],
)
def test_an_immediate_is_its_bits(text: str, bits: int) -> None:
    (source,) = one(f"mov (1|M0) r1.0<1>:ud {text}").sources
    assert isinstance(source, Immediate)
    assert source.bits == bits


def test_a_block_message_is_decoded_with_its_registers() -> None:
    i = one("send.ugm (1|M0)  r17  r25  null:0  0x8000000  0x02848403  {I@5,$0}")
    assert i.message == MemoryMessage(
        *(SharedFunction.UGM, Access.LOAD_BLOCK_2D, DataSize(32, 32), 1),
        transposed=True,
        vnni=False,
        address_bits=64,
        model=AddressModel.FLAT,
        surface=None,
        offset=0,
        offset_2d=(0, 32),
        caches=(Cache.UNCACHED, Cache.CACHED),
    )
    assert i.payload is not None
    assert (i.payload.destination.name, i.payload.destination_count) == ("r17", 8)
    assert (i.payload.address.name, i.payload.address_count) == ("r25", 1)
    assert (i.payload.data.name, i.payload.data_count) == ("null", 0)
    assert i.tokens == (Token(0, TokenUse.SET),)


def test_addresses_in_surfaces_and_their_offsets() -> None:
    spilled = message("(W) send.ugm (1|M0) null r66 r72:4 0x91200000:a0.2 0x4200F504 {$1}")
    assert (spilled.model, spilled.surface, spilled.offset) == (AddressModel.SURFACE, 2, -0xDDC0)
    assert (spilled.vector, spilled.transposed, spilled.access) == (64, True, Access.STORE)
    lanes = message("send.ugm (8|M0) r22 r10 null:0 a0.0 0x22884500 {ExBSO,$1}")
    assert (lanes.model, lanes.surface, lanes.vector) == (AddressModel.BINDLESS, 0, 8)
    arguments = message("(W) send.ugm (1|M0) r1 r255 null:0 0xFF000000 0x6218C500 {$0}")
    assert (arguments.model, arguments.surface) == (AddressModel.BINDING_TABLE, 255)
    local = message("send.slm (16|M0) r1 r2 null:0 0x80000 0x02302500 {$0}")
    assert (local.offset, local.vector, local.caches) == (0x80, 3, (Cache.DEFAULT, Cache.DEFAULT))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("send.gtwy (1|M0) null r255 null:0 0x0 0x02000004 {$0}", GatewayMessage(GatewayOperation.BARRIER)),
        ("send.ugm (1|M0) r1 r0 null:0 0x0 0x0210001F {$0}", FenceMessage(SharedFunction.UGM, "group", "none")),
        ("send.dc0 (16|M0) r1 r0 null:0 0x0 0x024C3108 {$0}", ScratchMessage(write=False, blocks=8, offset=0x108)),
        ("send.dc0 (16|M0) null r0 r1:1 0x0 0x020F0020 {$0}", ScratchMessage(write=True, blocks=1, offset=0x20)),
        ("send.dc0 (8|M0) r2 r255 null:0 0x0 0x021842FD {$0}", OwordMessage(2, 0xFD)),
    ],
)
def test_messages_that_are_no_access_by_addresses(line: str, expected: object) -> None:
    assert one(line).message == expected


LISTED = """
(W) mov (1|M0) s0.0<1>:uq 0xD0C0B0624:uq
    send.slm (16|M0) null r[s0.0] 0x0 0x0A003504 {$11}
"""  # as ocloc writes it for ptl


def test_registers_that_the_scalar_register_lists() -> None:
    payload = parse_listing("k", LISTED).instructions[1].payload
    assert payload is not None
    assert payload.gathered == (36, 6, 11, 12, 13)
    assert (payload.address.number, payload.address_count) == (36, 1)
    assert (payload.data.number, payload.data_count) == (6, 4)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("0xD0C0B0624:uq", "r3.0<0;1,0>:uq"), "that no number in its block lists"),
        (("s0.0<1>:uq 0xD0C0B0624:uq", "s0.0<1>:ud 0xB0624:ud"), "that no number in its block lists"),
        (("(W) mov", "(W&f0.0) mov"), "that no number in its block lists"),
        (("    send", "L16:\n    send"), "that no number in its block lists"),
        (("send.slm (16|M0) null r[s0.0] 0x0 0x0A003504", "send.ugm (1|M0) r3 r[s0.0] 0x0 0x02800203"), "of this kind"),
    ],
)
def test_registers_that_are_listed_elsewhere_are_refused(change: tuple[str, str], named: str) -> None:
    assert change[0] in LISTED
    with pytest.raises(MachineCodeRefused, match=named):
        parse_listing("k", LISTED.replace(*change))


def test_branches_have_the_numbers_of_their_targets() -> None:
    listing = parse_listing("k", "L0:\n(f0.0) goto (16|M0) L16 L32\nL16:\n nop\nL32:\n(W) jmpi L0\nillegal\nillegal\n")
    assert [i.targets for i in listing.instructions] == [(1, 2), (), (0,)]
    assert listing.labels == {"L0": 0, "L16": 1, "L32": 2}


def test_sync_waits_for_tokens() -> None:
    assert one("sync.allwr ($0,$31)").tokens == (Token(0, TokenUse.SET), Token(31, TokenUse.SET))
    assert one("sync.nop null {$5.dst}").tokens == (Token(5, TokenUse.DESTINATION),)
    assert one("sync.bar 0x0").sources == (Immediate(0, DataType.UD),)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("foo (8|M0) r1.0<1>:d r2.0<1;1,0>:d", "opcode foo"),
        ("math.tan (8|M0) r1.0<1>:f r2.0<1;1,0>:f", "math.tan"),
        ("mov.x (8|M0) r1.0<1>:f r2.0<1;1,0>:f", "mov.x"),
        ("mov (8|M0) r1.0<1>:f8 r2.0<1;1,0>:f", "type f8"),
        ("mov (8|M0) r1.0<1>:f r2.0<4;3>:f", "region <4;3>"),
        ("mov (8|M0) r1.0<1>:f", "1 operands"),
        ("mov (8|M0) q1.0<1>:f r2.0<1;1,0>:f", "operand q1.0<1>:f"),
        ("mov (8|M0) r1.0<1>:f abc:f", "operand abc:f"),
        ("mov (8|M0) r1.0<1>:f r2.0<1;1,0>:f {NoSuch}", "annotation NoSuch"),
        ("mov (8|M0) r1.0<1>:f r2.0<1;1,0>:f {I@1,F@1}", "two distances"),
        ("(f0.0&f1.0) mov (8|M0) r1.0<1>:f r2.0<1;1,0>:f", "predicate"),
        ("add (8|M0) (zz)f0.0 r1.0<1>:f r2.0<1;1,0>:f r2.0<1;1,0>:f", "condition zz"),
        ("send.tgm (8|M0) r1 r2 null:0 0x0 0x02108580", "shared function tgm"),
        ("send.ugm (8|M0) r1 r2 null:0 0x0 a0.2", "descriptors"),
        ("send.ugm (8|M0) r1 r2 null:0 0x0 0x0210859B", "operation 0x1b of ugm"),
        ("send.ugm (8|M0) r1 r2 null:0 0x0 0x02118580", "cache control 0x1"),
        ("send.ugm (8|M0) r1 r2 null:0 0x0 0x02108F80", "data size 7"),
        ("send.ugm (8|M0) r1 r2 null:0 0x0 0x42108580", "surface state"),
        ("send.gtwy (8|M0) null r2 null:0 0x0 0x02000002", "operation 0x2 of the gateway"),
        ("(W) jmpi r1.0<0;1,0>:d", "targets"),
    ],
)
def test_what_is_not_known_is_refused_by_name_with_its_line(line: str, named: str) -> None:
    with pytest.raises(MachineCodeRefused, match=re.escape(named)) as refused:
        parse_listing("k", f"nop\n{line}")
    assert refused.value.where == f"2: {line}"


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(MachineCodeRefused, match="take 24 bytes"):
        parse_listing("k", "nop\nsync.nop null {Compacted,I@1}\nL32:\n")
    with pytest.raises(MachineCodeRefused, match="expected a label L48"):
        parse_listing("k", "(W) jmpi L48\n")


def test_descriptors_mean_what_the_disassembler_notes() -> None:
    text = (RECORDED / "messages.asm").read_text() + recorded("straight_pvc").assembly["gemm"]
    lines = [line for line in text.splitlines() if " send." in line]
    assert len(lines) > 50
    for line in lines:
        i = one(line)
        assert i.message is not None
        assert note_of(i.message) == i.note.rpartition("; ")[2]
