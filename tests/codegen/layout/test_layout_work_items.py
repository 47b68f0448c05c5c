"""What work-items hold: the examples of the XeGPU RFC with their fragments as printed, its tables, its errata."""

import re
from itertools import product
from math import prod

import numpy as np
import pytest

from codegen.xe.layout import (
    ERRATA,
    LEGAL_MAPS,
    Access,
    LayoutRefused,
    LegalMap,
    Operand,
    WorkItemMap,
    bitcast_map,
    check_chunk_size,
    check_work_item_map,
    distribute_to_work_items,
    transposed_map,
)
from codegen.xe.layout.work_items import ELEMENT_BITS

# Section and example: shape, wi_layout, wi_data, the fragment that the RFC prints, and how it is loaded.
EXAMPLES = {
    "load_nd bf16": ((8, 16), (1, 16), (1, 1), (8, 1), {}),
    "load_nd int8": ((8, 32), (1, 16), (1, 2), (8, 2), {}),
    "larger, single elements": ((12, 32), (1, 16), (1, 1), (24, 1), {}),
    "larger, pairs": ((12, 32), (1, 16), (1, 2), (12, 2), {}),
    "packed rows": ((16, 16), (1, 16), (2, 1), (8, 2), {}),
    "transposed f32": ((16, 8), (16, 1), (1, 1), (8, 1), {"transpose": True}),
    "transposed fp16": ((16, 16), (16, 1), (1, 1), (16, 1), {"transpose": True}),
    "transposed bf16 in words": ((16, 16), (16, 1), (1, 2), (8, 2), {"transpose": True}),
    "1-D, as corrected": ((32,), (1, 16), (1, 2), (1, 2), {}),
    "array_length": ((8, 16), (1, 16), (1, 1), (16, 1), {"array_length": 2}),
    "scattered f32": ((16,), (1, 16), (1, 1), (1, 1), {}),
    "chunks of f32": ((16, 4), (16, 1), (1, 1), (4, 1), {"transpose": True}),
    "chunks of bf16": ((16, 8), (16, 1), (1, 2), (4, 2), {"transpose": True}),
    "dpas PVC a": ((8, 16), (1, 16), (1, 1), (8, 1), {}),
    "dpas PVC b": ((16, 16), (1, 16), (2, 1), (8, 2), {}),
    "dpas PVC c": ((8, 16), (1, 16), (1, 1), (8, 1), {}),
    "dpas ARC a": ((8, 32), (1, 8), (1, 4), (8, 4), {}),
    "dpas ARC b, as corrected": ((32, 8), (1, 8), (4, 1), (8, 4), {}),
    "dpas ARC c, as corrected": ((8, 8), (1, 8), (1, 1), (8, 1), {}),
    "transpose source": ((16, 16), (16, 1), (1, 2), (8, 2), {}),
    "transpose result": ((16, 16), (1, 16), (2, 1), (8, 2), {}),
    "bitcast source": ((8, 16), (1, 16), (1, 1), (8, 1), {}),
    "bitcast result": ((8, 32), (1, 16), (1, 2), (8, 2), {}),
    "reduction source": ((16, 16), (1, 16), (1, 1), (16, 1), {}),
    "extract source": ((2, 32, 16), (1, 16), (2, 1), (32, 2), {}),
    "extract result": ((32, 16), (1, 16), (2, 1), (16, 2), {}),
    "slice source": ((64, 16), (1, 16), (2, 1), (32, 2), {}),
    "add": ((24, 32), (1, 16), (1, 2), (24, 2), {}),
    "use case 2-D store": ((8, 16), (1, 16), (1, 1), (8, 1), {}),
    "use case regular store": ((64,), (1, 16), (1, 1), (4, 1), {}),
}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_examples_of_the_rfc_have_their_fragments(example) -> None:
    shape, wi_layout, wi_data, expected, how = example
    fragment = distribute_to_work_items(shape, WorkItemMap(wi_layout, wi_data), **how)
    assert fragment.shape == expected
    assert len(fragment.elements) == prod(wi_layout)
    assert all(len(held) == prod(expected) for held in fragment.elements)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_each_element_goes_to_one_work_item(example) -> None:
    shape, wi_layout, wi_data, _, how = example
    fragment = distribute_to_work_items(shape, WorkItemMap(wi_layout, wi_data), **how)
    covered = (*shape[:-1], shape[-1] * how.get("array_length", 1))
    assert sorted(place for held in fragment.elements for place in held) == list(product(*map(range, covered)))


def test_units_are_dealt_out_row_by_row() -> None:
    fragment = distribute_to_work_items((4, 32), WorkItemMap((1, 16), (1, 1)))
    assert fragment.elements[3] == ((0, 3), (0, 19), (1, 3), (1, 19), (2, 3), (2, 19), (3, 3), (3, 19))


def test_rows_of_a_unit_are_adjacent() -> None:
    fragment = distribute_to_work_items((4, 16), WorkItemMap((1, 16), (2, 1)))
    assert fragment.elements[5] == ((0, 5), (1, 5), (2, 5), (3, 5))


def test_a_transposed_load_gives_each_work_item_a_row() -> None:
    fragment = distribute_to_work_items((16, 8), WorkItemMap((16, 1), (1, 2)), transpose=True)
    assert fragment.elements[5] == tuple((5, column) for column in range(8))


def test_blocks_of_an_array_follow_one_another() -> None:
    fragment = distribute_to_work_items((2, 16), WorkItemMap((1, 16), (1, 1)), array_length=2)
    assert fragment.elements[7] == ((0, 7), (1, 7), (0, 23), (1, 23))


def test_tf32_rows_share_a_register() -> None:
    fragment = distribute_to_work_items((8, 8), WorkItemMap((2, 8), (1, 1)))
    assert (fragment.shape, fragment.elements[11]) == ((4, 1), ((1, 3), (3, 3), (5, 3), (7, 3)))


def test_a_stored_chunk_lies_where_the_transposed_load_put_it() -> None:
    loaded = distribute_to_work_items((16, 4), WorkItemMap((16, 1), (1, 1)), transpose=True)
    stored = distribute_to_work_items((64,), WorkItemMap((1, 16), (1, 1)))
    source, result = np.arange(64).reshape(16, 4), np.zeros(64, int)
    for held, places in zip(loaded.elements, stored.elements, strict=True):
        for element, (place,) in zip(held, places, strict=True):
            result[place] = source[element]
    assert result.reshape(4, 16).tolist() == source.T.tolist()


def test_a_transpose_moves_nothing_between_work_items() -> None:
    a = WorkItemMap((16, 1), (1, 2))
    b = transposed_map(a)
    assert b == WorkItemMap((1, 16), (2, 1))
    before, after = distribute_to_work_items((16, 32), a), distribute_to_work_items((32, 16), b)
    for held, turned in zip(before.elements, after.elements, strict=True):
        assert sorted(held) == sorted(place[::-1] for place in turned)


def test_a_bitcast_keeps_the_bits_of_a_unit() -> None:
    assert bitcast_map(WorkItemMap((1, 16), (1, 1)), 16, 8) == WorkItemMap((1, 16), (1, 2))
    assert bitcast_map(WorkItemMap((1, 16), (1, 4)), 8, 32) == WorkItemMap((1, 16), (1, 1))


def test_extracting_keeps_a_work_items_own_elements() -> None:
    packed = WorkItemMap((1, 16), (2, 1))
    whole, part = distribute_to_work_items((2, 32, 16), packed), distribute_to_work_items((32, 16), packed)
    for held, extracted in zip(whole.elements, part.elements, strict=True):
        assert [place[1:] for place in held[:32]] == list(extracted)


# Examples as the RFC prints them: they do not follow its rules.
CONTRADICTIONS = [
    ("sg_map, 1-D `load_nd`", (16,), (1, 16), (1, 2), None),
    ("`dpas` on ARC with int8", (32, 16), (1, 8), (4, 1), (16, 4)),
    ("`dpas` on ARC with int8", (8, 16), (1, 8), (1, 1), (16, 1)),
    ("use case 2-D load, `dpas`", (16, 16), (1, 16), (1, 1), (16, 1)),
    ("propagation, `reduction` to one dimension", (8,), (16,), (1,), None),
]


@pytest.mark.parametrize(("where", "shape", "wi_layout", "wi_data", "by_the_rules"), CONTRADICTIONS)
def test_examples_against_the_rules_are_errata(where: str, shape, wi_layout, wi_data, by_the_rules) -> None:
    (entry,) = (e for e in ERRATA if e.where == where)
    if by_the_rules is None:
        with pytest.raises(LayoutRefused, match="deals out multiples of"):
            distribute_to_work_items(shape, WorkItemMap(wi_layout, wi_data))
    else:
        assert distribute_to_work_items(shape, WorkItemMap(wi_layout, wi_data)).shape == by_the_rules
        assert f"{by_the_rules[0]}x{by_the_rules[1]}" in entry.reason


# The tables of "Rules of sg_map setting": element: wi_layout, wi_data, tile, fragment.
PVC = {
    Operand.A: {
        ("bf16", "f16"): ((1, 16), (1, 1), (8, 16), (8, 1)),
        ("tf32",): ((2, 8), (1, 1), (8, 8), (4, 1)),
        ("ui8", "si8"): ((1, 16), (1, 2), (8, 32), (8, 2)),
    },
    Operand.B: {
        ("bf16", "f16"): ((1, 16), (2, 1), (16, 16), (8, 2)),
        ("tf32",): ((1, 16), (1, 1), (8, 16), (8, 1)),
        ("ui8", "si8"): ((1, 16), (4, 1), (32, 16), (8, 4)),
    },
    Operand.C: {("f32", "si32"): ((1, 16), (1, 1), (8, 16), (8, 1))},
    None: {("any",): ((1, 16), (1, 1), (8, 16), (8, 1))},
}
ARC = {
    Operand.A: {
        ("bf16", "f16"): ((1, 8), (1, 2), (8, 16), (8, 2)),
        ("tf32",): ((1, 8), (1, 1), (8, 8), (8, 1)),
        ("ui8", "si8"): ((1, 8), (1, 4), (8, 32), (8, 4)),
    },
    Operand.B: {
        ("bf16", "f16"): ((1, 8), (2, 1), (16, 8), (8, 2)),
        ("tf32",): ((1, 8), (1, 1), (8, 8), (8, 1)),
        ("ui8", "si8"): ((1, 8), (4, 1), (32, 8), (8, 4)),
    },
    Operand.C: {("f32", "si32"): ((1, 8), (1, 1), (8, 8), (8, 1))},
    None: {("any",): ((1, 8), (1, 1), (8, 8), (8, 1))},
}


@pytest.mark.parametrize(("lanes", "table"), [(16, PVC), (8, ARC)])
def test_the_tables_of_block_loads_are_the_rfcs(lanes: int, table) -> None:
    rows = {
        (row.operand, row.element): row
        for row in LEGAL_MAPS
        if (row.subgroup_size, row.access) == (lanes, Access.BLOCK_LOAD)
    }
    expected = {
        (operand, element): entry
        for operand, entries in table.items()
        for elements, entry in entries.items()
        for element in elements
    }
    assert rows.keys() == expected.keys()
    for key, (wi_layout, wi_data, shape, fragment) in expected.items():
        assert rows[key].map == WorkItemMap(wi_layout, wi_data)
        assert rows[key].shape == shape
        assert distribute_to_work_items(shape, rows[key].map).shape == fragment


@pytest.mark.parametrize(("lanes", "shape"), [(16, (16, 8)), (8, (8, 8))])
def test_the_map_of_a_transposed_load_is_the_rfcs(lanes: int, shape: tuple[int, int]) -> None:
    legal = WorkItemMap((lanes, 1), (1, 1))
    assert check_work_item_map(lanes, Access.TRANSPOSED_LOAD, None, "tf32", legal) is None
    assert distribute_to_work_items(shape, legal, transpose=True).shape == (8, 1)


@pytest.mark.parametrize("lanes", [16, 8])
@pytest.mark.parametrize(("element", "packed"), [("f32", 1), ("bf16", 2), ("f16", 2), ("ui8", 4), ("si8", 4)])
def test_linear_and_chunked_accesses_have_units_of_32_bits(lanes: int, element: str, packed: int) -> None:
    linear, chunked = WorkItemMap((1, lanes), (1, packed)), WorkItemMap((lanes, 1), (1, packed))
    assert check_work_item_map(lanes, Access.LINEAR, None, element, linear) is None
    assert check_work_item_map(lanes, Access.CHUNKED, None, element, chunked) is None
    assert check_work_item_map(lanes, Access.LINEAR, None, element, chunked) is not None
    assert check_work_item_map(lanes, Access.CHUNKED, None, element, linear) is not None


@pytest.mark.parametrize("row", LEGAL_MAPS, ids=str)
def test_every_row_is_legal_and_deals_its_tile_out(row: LegalMap) -> None:
    assert check_work_item_map(row.subgroup_size, row.access, row.operand, row.element, row.map) is None
    if row.shape is not None:
        assert distribute_to_work_items(row.shape, row.map).shape[1] == prod(row.map.wi_data)


@pytest.mark.parametrize(
    ("lanes", "access", "operand", "element", "wi_map", "message"),
    [
        (
            *(16, Access.BLOCK_LOAD, Operand.A, "bf16", WorkItemMap((1, 16), (1, 2))),
            "a block load of bf16 as operand a by 16 work-items needs wi_layout = [1, 16], wi_data = [1, 1]; "
            "got wi_layout = [1, 16], wi_data = [1, 2]",
        ),
        (
            *(16, Access.DPAS, Operand.B, "bf16", WorkItemMap((1, 8), (2, 1))),
            "wi_layout must place 16 work-items, got [1, 8]",
        ),
        (
            *(8, Access.DPAS, Operand.C, "f16", WorkItemMap((1, 8), (1, 1))),
            "sub-groups of 8 have no map for a dpas of f16 as operand c",
        ),
        (
            *(16, Access.TRANSPOSED_LOAD, None, "f16", WorkItemMap((16, 1), (1, 1))),
            "a transposed block load of f16 by 16 work-items needs wi_layout = [16, 1], wi_data = [1, 2]; "
            "got wi_layout = [16, 1], wi_data = [1, 1]",
        ),
        (
            *(16, Access.BLOCK_STORE, None, "f32", WorkItemMap((16, 1), (1, 1))),
            "a block store of f32 by 16 work-items needs wi_layout = [1, 16], wi_data = [1, 1]; "
            "got wi_layout = [16, 1], wi_data = [1, 1]",
        ),
    ],
)
def test_illegal_maps_are_told(lanes: int, access: Access, operand, element: str, wi_map, message: str) -> None:
    assert check_work_item_map(lanes, access, operand, element, wi_map) == message


@pytest.mark.parametrize(
    ("element", "legal", "illegal"),
    [("f32", {1, 2, 3, 4, 8}, {16, 32, 5}), ("f16", {1, 2, 4, 8, 16}, {3, 32}), ("si8", {1, 4, 8, 16, 32}, {2, 3, 64})],
)
def test_chunks_are_whole_words_within_512_bytes(element: str, legal: set[int], illegal: set[int]) -> None:
    assert {size for size in legal | illegal if check_chunk_size(16, element, size) is None} == legal


@pytest.mark.parametrize(
    ("element", "size", "message"),
    [
        ("f32", 5, "chunk_size must be one of (1, 2, 3, 4, 8, 16, 32, 64), got 5"),
        ("f16", 3, "a chunk of f16 must be a multiple of 32 bits, got 3 elements"),
        ("f32", 16, "an access is at most 512 bytes, 16 f32 of 16 work-items are 1024"),
    ],
)
def test_impossible_chunks_are_told(element: str, size: int, message: str) -> None:
    assert check_chunk_size(16, element, size) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WorkItemMap((1, 16), (1,)), "equal ranks and positive sizes, got (1, 16) and (1,)"),
        (lambda: WorkItemMap((0, 16), (1, 1)), "equal ranks and positive sizes"),
        (lambda: WorkItemMap((1, 16), (2, 2)), "elements of a unit come from one dimension, got wi_data (2, 2)"),
        (
            lambda: distribute_to_work_items((8, 24), WorkItemMap((1, 16), (1, 1))),
            "wi_layout = [1, 16], wi_data = [1, 1] deals out multiples of [1, 16], got a tile of [8, 24]",
        ),
        (
            lambda: distribute_to_work_items((32,), WorkItemMap((16, 1), (1, 2))),
            "a map of 1 dimensions has 1 in those before, got wi_layout = [16, 1], wi_data = [1, 2]",
        ),
        (
            lambda: bitcast_map(WorkItemMap((1, 16), (1, 1)), 16, 32),
            "of 16 bits cannot be taken as elements of 32 bits",
        ),
        (lambda: bitcast_map(WorkItemMap((1, 16), (2, 1)), 16, 32), "cannot be taken as elements of 32 bits"),
    ],
)
def test_maps_that_cannot_be_are_refused(make, message: str) -> None:
    with pytest.raises(LayoutRefused, match=re.escape(message)):
        make()


def test_every_element_that_the_tables_name_has_its_bits() -> None:
    assert {row.element for row in LEGAL_MAPS} <= ELEMENT_BITS.keys() | {"any"}
