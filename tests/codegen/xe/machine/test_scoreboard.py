"""The scoreboard's checker finds planted faults, and nothing in what Intel's compiler wrote."""

import re

import pytest

from codegen.xe.machine import Listing, parse_listing
from codegen.xe.machine.pipes import RULES
from codegen.xe.machine.scoreboard import Hazard, HazardKind, check
from tests.codegen.xe.isa.recordings import recorded

RAW, WAW, WAR = HazardKind.READ_AFTER_WRITE, HazardKind.WRITE_AFTER_WRITE, HazardKind.WRITE_AFTER_READ
STATE = HazardKind.STATE
GRF_BYTES = {"bmg": 64, "lnl-m": 64, "ptl-h": 64, "pvc": 64, "dg2": 32}

LOOP = """
(W)     mov (1|M0)               r30.5<1>:d    0:w
(W)     mov (1|M0)               r31.5<1>:d    0:w
        mov (16|M0)              r40.0<1>:f    0.0:f
        mov (16|M0)              r41.0<1>:f    0.0:f
LOOP:
        sync.nop                             null                             {$10.src}
        send.ugm (1|M0)          r3       r30  null:0  0x0            0x02800203           {I@2,$8} // a
        send.ugm (1|M0)          r11      r31  null:0  0x0            0x03000283           {I@1,$9} // b
(W)     add (1|M0)               r30.5<1>:d    r30.5<0;1,0>:d    32:w                {$8.src}
(W)     cmp (16|M0)   (lt)f0.0   null<1>:d     r30.5<0;1,0>:d    4096:w              {I@1}
(W)     add (1|M0)               r31.5<1>:d    r31.5<0;1,0>:d    32:w                {$9.src}
        sync.allwr                           ($8,$10)
        sync.nop                             null                             {F@1}
        dpas.8x1 (16|M0)         r40:f         r40:f             r11:hf            r3.0:hf           {Atomic,$9.dst}
        dpas.8x1 (16|M0)         r41:f         r41:f             r11:hf            r3.8:hf           {$10}
(W&f0.0) jmpi                                LOOP
        math.inv (16|M0)         r50.0<1>:f    r40.0<1;1,0>:f                    {$10.dst}
        mul (16|M0)              r51.0<1>:f    r50.0<1;1,0>:f    r41.0<1;1,0>:f  {M@1}
        mov (16|M0)              r52.0<2>:b    r51.0<1;1,0>:d                    {F@1}
        mov (16|M0)              r52.1<2>:b    r53.0<1;1,0>:d                    {I@1}
(W)     mov (8|M0)               r30.0<1>:f    r53.0<1;1,0>:f
        send.ugm (1|M0)          null     r31  r51:1  0x0            0x02000407           {A@1,$11} // store
(W)     mov (1|M0)               r31.5<1>:d    0:w                               {$11.src}
(W)     send.gtwy (1|M0)         null     r52  null:0  0x0            0x02000010           {EOT,I@1,$12} // end
"""

HPG = """
        math.exp (8|M0)          r20.0<1>:f    r10.0<1;1,0>:f                    {$0}
        math.exp (8|M0)          r21.0<1>:f    r11.0<1;1,0>:f                    {$1}
        mov (8|M0)               r10.0<1>:f    r12.0<1;1,0>:f                    {$0.src}
        sync.nop                             null                             {$1.dst}
        mul (8|M0)               r22.0<1>:f    r20.0<1;1,0>:f    r21.0<1;1,0>:f  {$0.dst}
        add (4|M0)               r24.0<1>:q    r14.0<1;1,0>:q    r15.0<1;1,0>:q
        mov (4|M0)               r26.0<1>:q    r24.0<1;1,0>:q                    {L@1}
(W)     mov (1|M0)               a0.0<1>:ud    r2.0<0;1,0>:ud                    {A@1}
        send.slm (8|M0)          r28      r22     null:0  0x0            0x02100500           {A@1,$2} // load
        send.slm (8|M0)          r29      r22     null:0  0x0            0x02100500           {$3} // load
        mov (8|M0)               r22.0<1>:f    0.0:f                             {$3.src}
(W)     send.gtwy (1|M0)         null     r26     null:0  0x0            0x02000010           {EOT,A@1} // end
"""


def labelled(text: str) -> str:
    """Name labels by their offsets, of native instructions, as the disassembler does."""
    names: dict[str, str] = {}
    offset = 0
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.endswith(":"):
            names[line[:-1]] = f"L{offset}"
        else:
            offset += 16
    return re.sub(r"\b[A-Z]{2,}\b", lambda m: names.get(m[0], m[0]), text)


def straight() -> str:
    """The whole recording, without the alignment after its end."""
    text = recorded("straight_pvc").assembly["gemm"]
    return text[: text.index("L1288:")]


TEXTS = {"pvc": straight(), "bmg": labelled(LOOP), "dg2": HPG}


def hazards(chip: str, text: str) -> tuple[Hazard, ...]:
    return check(read(text), RULES[chip], GRF_BYTES[chip]).hazards


def read(text: str) -> Listing:
    return parse_listing("k", text)


@pytest.mark.parametrize("chip", TEXTS)
def test_correct_annotations_are_accepted(chip: str) -> None:
    assert hazards(chip, TEXTS[chip]) == ()


def test_code_without_instructions_has_no_hazard() -> None:
    assert hazards("bmg", "") == ()


FAULTS = {
    # straight code of Intel's compiler for pvc
    "distance of a message removed": ("pvc", "0x6218C500", "A@1,", "", RAW, "r255", "I@1"),
    "token removed from a write": ("pvc", "r0.8<0;1,0>:b", ",$0.dst", "", WAW, "r1", "$0.dst"),
    "state register without a wait": ("pvc", "cr0.0<1>", ",A@1", "", STATE, "a state register", "A@1"),
    "other pipe after a state register": ("pvc", "r0.8<0;1,0>:b", "A@1", "I@1", STATE, "a state register", "A@1"),
    "longer distance": ("pvc", "r1.8<1>:d", "I@4", "I@5", RAW, "r1", "I@4"),
    "source swapped": ("pvc", "r1.13<1>:d", "r1.10", "r1.12", RAW, "r1", "I@1"),
    "wrong pipe": ("pvc", "bfn", "I@5", "F@5", RAW, "r1", "I@5"),
    "capped distance removed": ("pvc", "r121:8", "I@7,", "", RAW, "r137", "I@7"),
    "distance of the last message": ("pvc", "r129:8", "A@1,", "", RAW, "r138", "I@1"),
    "sync removed": ("pvc", "{Compacted,$2.dst}", "Compacted,$2.dst", "Compacted", RAW, "r2-r5", "$2.dst"),
    "source for destination": (
        "pvc",
        "null:f            r36:hf            r2.0",
        "$1.dst",
        "$1.src",
        RAW,
        "r36-r43",
        "$1.dst",
    ),
    "token of a chain": ("pvc", "r36:hf            r14.0", "$1", "$9", RAW, "r103-r110", "$9.dst"),
    "chain broken": ("pvc", "r36:hf            r6.0", "{Atomic}", "", RAW, "r103-r110", "a token of the first"),
    "token missing in a mask": ("pvc", "sync.allwr", "$1,$4", "$1", RAW, "r52-r55", "$4.dst"),
    "length of a destination": ("pvc", "r86      r102", "0x03000283", "0x03200283", WAW, "r103", "$3.dst"),
    "other token taken": ("pvc", "r103:8", "$3", "$9", RAW, "r103-r110", "$3.dst"),
    "other token waited": ("pvc", "r86:hf            r52.0", "$3.dst", "$5.dst", RAW, "r86-r93", "$3.dst"),
    "address overwritten": ("pvc", "r111.7<1>", "r111.7<1>", "r85.7<1>", WAR, "r85", "$4.src"),
    "data overwritten": ("pvc", "r111.7<1>", "r111.7<1>", "r52.7<1>", WAW, "r52", "$4.dst"),
    # a loop for bmg
    "address of a block in the loop": ("bmg", "r30.5<1>:d    r30.5", "{$8.src}", "", WAR, "r30", "$8.src"),
    "operand around the loop": ("bmg", "{$10.src}", "{$10.src}", "", WAR, "r11-r18", "$10.src"),
    "accumulator around the loop": ("bmg", "sync.allwr", "$8,$10", "$8", RAW, "r40", "$10.dst"),
    "pipe before dpas": ("bmg", "{F@1}", "{F@1}", "", RAW, "r40", "F@2"),
    "math in order": ("bmg", "mul", "{M@1}", "{F@1}", RAW, "r50", "M@1"),
    "after the loop": ("bmg", "math.inv", "{$10.dst}", "", RAW, "r40", "$10.dst"),
    "bytes of a word": ("bmg", "r52.1<2>", "{I@1}", "", WAW, "r52", "I@1"),
    "result of another pipe": ("bmg", "r52.0<2>", "{F@1}", "", RAW, "r51", "F@1"),
    "address of a store": ("bmg", "{$11.src}", "{$11.src}", "", WAR, "r31", "$11.src"),
    # math and 64-bit integers of dg2
    "result of math": ("dg2", "{$1.dst}", "{$1.dst}", "", RAW, "r21", "$1.dst"),
    "operand of math": ("dg2", "{$0.src}", "{$0.src}", "", WAR, "r10", "$0.src"),
    "long pipe": ("dg2", "{L@1}", "{L@1}", "{I@1}", RAW, "r24", "L@1"),
    "address register": ("dg2", "a0.0", "{A@1}", "", STATE, "a0", "A@1"),
    "second reader": ("dg2", "{$3.src}", "{$3.src}", "{$2.src}", WAR, "r22", "$3.src"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    chip, line, old, new, kind, register, needed = FAULTS[fault]
    lines = TEXTS[chip].splitlines()
    number = next(n for n, text in enumerate(lines) if line in text)
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new)
    found = hazards(chip, "\n".join(lines).replace("{}", ""))
    assert (kind, register, needed) in {(h.kind, h.register, h.needed) for h in found}


def test_paths_are_united_at_a_join() -> None:
    """A load on one of two paths is in flight after both; the wait on the other path does not end it."""
    text = """
(f0.0)  goto (16|M0)                         ELSE                             ELSE
        send.ugm (1|M0)          r3       r30  null:0  0x0            0x02800203           {$8} // load
ELSE:
        join (16|M0)                         AFTER
AFTER:
        mov (16|M0)              r50.0<1>:f    r4.0<1;1,0>:f                    {$9.dst}
"""
    (hazard,) = hazards("bmg", labelled(text))
    assert (hazard.kind, hazard.register, hazard.needed) == (RAW, "r4", "$8.dst")
    assert (hazard.first.offset, hazard.second.offset) == (16, 48)
    assert str(hazard).startswith("read after write of r4: 0x30 `mov")
    assert hazards("bmg", labelled(text).replace("$9.dst", "$8.dst")) == ()


def test_channels_that_left_pass_joins_at_which_none_wait() -> None:
    """The first goto may leave by both joins; the load between them is then not issued, and its wait not reached."""
    text = """
        send.ugm (1|M0)          r3       r30  null:0  0x0            0x02800203           {$8} // load
(f0.0)  goto (16|M0)                         INNER                            OUTER
        nop
INNER:
        join (16|M0)                         OUTER
        sync.nop                             null                             {$8.dst}
OUTER:
        join (16|M0)                         AFTER
AFTER:
        mov (16|M0)              r50.0<1>:f    r4.0<1;1,0>:f
"""
    (hazard,) = hazards("bmg", labelled(text))
    assert (hazard.register, hazard.needed) == ("r4", "$8.dst")


def test_a_taken_branch_takes_longer_than_the_pipes() -> None:
    text = """
        mov (16|M0)              r4.0<1>:f     0.0:f
(W)     jmpi                                 AFTER
        nop
AFTER:
        mov (16|M0)              r50.0<1>:d    r4.0<1;1,0>:d
"""
    assert hazards("bmg", labelled(text)) == ()
    assert [h.needed for h in hazards("bmg", labelled(text.replace("(W)     jmpi", "(W&f0.0) jmpi")))] == ["F@1"]


def test_a_later_message_of_a_unit_reads_after_an_earlier_one() -> None:
    """Both stores read r5; a release of the second one's sources is one of the first one's."""
    text = """
        send.slm (16|M0)         null     r5  r8:4  0x0            0x02003504           {$1} // store
        send.slm (16|M0)         null     r5  r12:4  0x0            0x02003504           {$2} // store
        mov (16|M0)              r5.0<1>:f     0.0:f                             {$2.src}
"""
    assert hazards("bmg", text) == ()
    assert [h.needed for h in hazards("bmg", text.replace("$2.src", "$1.src"))] == ["$2.src"]
    assert [h.needed for h in hazards("bmg", text.replace("send.slm", "send.ugm", 1))] == ["$1.src"]


STORE_AROUND_A_LOOP = """
LOOP:
        send.ugm (1|M0)          r3       r50  null:0  0x0            0x03000203           {$2} // load
        mov (16|M0)              r20.0<1>:hf   r4.0<1;1,0>:hf                    {$2.dst}
(W)     shl (1|M0)               r52.6<1>:d    r49.6<0;1,0>:d    3:w
        mov (16|M0)              r10.0<1>:hf   r2.0<1;1,0>:f                     {F@1}
        send.ugm (1|M0)          null     r52  r10:4  0x0            0x02000207           {A@1,$0} // store
(W&f3.1) jmpi                                LOOP
(W)     send.gtwy (1|M0)         null     r60  null:0  0x0            0x02000010           {EOT,$5} // end
"""
"""Reduced from an s8 GEMM for bmg: the address of a store, r52, is written in the next round without $0.src."""


def test_a_wait_for_a_later_message_of_a_unit_ends_the_reads_of_earlier_ones() -> None:
    """The load reads its address after the store has read r52, so that its result tells that both are done."""
    text = labelled(STORE_AROUND_A_LOOP)
    assert hazards("bmg", text) == ()
    reused = text.replace("{$2.dst}", "").replace("r20.0<1>:hf   r4.0", "r20.0<1>:hf   r60.0")
    taken = "send.slm (16|M0)         r62      r61  null:0  0x0            0x02100500           {$2} // load"
    assert hazards("bmg", reused.replace("(W)     shl", f"        {taken}\n(W)     shl")) == ()  # its owner is done


LOAD = "        send.ugm (1|M0)          r3       r50  null:0  0x0            0x03000203           {$2} // load\n"
WAIT = "        mov (16|M0)              r20.0<1>:hf   r4.0<1;1,0>:hf                    {$2.dst}\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("{$2.dst}", "{$4.dst}", id="another-token"),
        pytest.param(LOAD, LOAD.replace("ugm", "slm"), id="another-unit"),
        pytest.param(LOAD, LOAD.replace("       send", "(W)    send"), id="other-channels"),
        pytest.param(LOAD + WAIT, f"(W&f0.0) jmpi        AFTER\n{LOAD}AFTER:\n{WAIT}", id="on-one-path"),
        pytest.param("LOOP:\n" + LOAD, LOAD + "LOOP:\n", id="before-the-loop"),
        pytest.param(WAIT, "", id="no-wait"),
    ],
)
def test_a_wait_for_another_message_ends_no_reads(old: str, new: str) -> None:
    assert old in STORE_AROUND_A_LOOP
    found = hazards("bmg", labelled(STORE_AROUND_A_LOOP.replace(old, new)))
    assert (WAR, "r52", "$0.src") in {(h.kind, h.register, h.needed) for h in found}


def test_registers_that_the_scalar_register_lists_are_read() -> None:
    text = """
        (W)     mov (1|M0)               s0.0<1>:uq    0xD0C0B0624:uq
                mov (16|M0)              r12.0<1>:d    7:w
                send.slm (16|M0)         null     r[s0.0]  0x0            0x0A003504           {I@1,$1}
                mov (16|M0)              r13.0<1>:d    8:w                 {$1.src}
        (W)     send.gtwy (1|M0)         null     r52  null:0  0x0            0x02000010           {EOT,$12} // end
    """
    assert not hazards("bmg", text)
    assert [h.kind for h in hazards("bmg", text.replace("I@1,", "").replace("{$1.src}", ""))] == [RAW, WAR]


def test_flags_that_another_pipe_reads_need_a_wait_before_xe3() -> None:
    """As Intel's compiler annotates one GEMM for both: registers need the wait on Xe3, too."""
    text = """
        (f2.1)  sel (16|M0)              r148.0<1>:hf  r147.0<1;1,0>:hf  0.0:hf
                and (16|M0)   (ne)f2.1   null<2>:uw    r174.0<1;1,0>:uw  r175.0<1;1,0>:uw
        (W)     mov (1|M0)               r164.2<1>:f   3.58732e-43:f
        (W)     mov (2|M0)               r164.10<1>:ub  r206.11<0;1,0>:ub
    """
    flag, register = (WAR, "f2", "F@1"), (WAW, "r164", "F@1")
    for chip, expected in (("lnl-m", [flag, register]), ("ptl-h", [register])):
        assert [(h.kind, h.register, h.needed) for h in hazards(chip, text)] == expected
