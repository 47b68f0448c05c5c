"""Errors of all stages name the line of the source, and carry it."""

from collections.abc import Callable

import pytest

from codegen import CompileFailed, Refused, compile_module
from codegen.errors import Place
from codegen.xe.opt import OptFailed, read_passes, run_passes
from hal.facts.xe import find

B580 = find("b580")
MAPS = """#a = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 32]>
#i = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16]>
"""
TILES = """#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 24]>
#b = #xetile.wg_map<sg_layout = [2, 2], sg_data = [24, 32]>
#c = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
"""


def kernel(body: str, arguments: str = "%A: memref<64x32xf32>", maps: str = "") -> str:
    """A module; the kernel's body begins at the third line after the maps."""
    return f"{maps}gpu.module @m {{\n  gpu.func @k({arguments}) kernel {{\n{body}\n    gpu.return\n  }}\n}}\n"


def failure(source: str) -> CompileFailed | Refused:
    """The error of the kernel of a source."""
    with pytest.raises((CompileFailed, Refused)) as raised:
        compile_module(source, B580, "kernel.mlir")
    assert isinstance(raised.value, CompileFailed | Refused)
    return raised.value


CASES = {
    "an undefined value": (
        kernel("    %c = arith.constant 1 : index\n    %d = arith.addi %c, %e : index"),
        Place(4, 25),
        "expected a value that is defined, got %e",
    ),
    "an invalid operation": (
        kernel("    %c = arith.constant 1 : index\n    %x = memref.load %A[%c] : memref<64x32xf32>"),
        Place(4, 5),
        "memref.load: expected 2 indices for memref<64x32xf32>, got 1",
    ),
    "an integer that its type does not hold": (
        kernel("    %c = arith.constant dense<99999999999999999999> : vector<4xindex>"),
        Place(3, 69),
        "expected numbers within the range of their type, got a larger one",
    ),
    "integers of a width that is not stored": (
        kernel("    %c = arith.constant {a = array<i166: 8>} 1 : index"),
        Place(3, 43),
        "expected elements of 1, 8, 16, 32 or 64 bits, got i166",
    ),
    "a loop of other types": (
        kernel(
            "    %c = arith.constant true\n    %x = scf.while (%y = %c) : (i1) -> f32 {\n"
            "      scf.condition(%c) %c : i1\n    } do {\n    ^bb0(%z: i1):\n      scf.yield %c : i1\n    }"
        ),
        Place(4, 5),
        "scf.while: expected values of (f32), got (i1)",
    ),
    "a wrong yield": (
        kernel(
            "    %c = arith.constant true\n    %x = scf.if %c -> (f32) {\n      scf.yield %c : i1\n    } else {\n"
            "      scf.yield %c : i1\n    }"
        ),
        Place(5, 7),
        "scf.yield: expected values of (f32), got (i1)",
    ),
    "an argument that no launch passes": (
        kernel("", "%v: vector<16xf32>"),
        Place(2, 3),
        "kernel k: argument v: expected a memref of known rank or a scalar, got vector<16xf32>",
    ),
    "a call in the forms that are rewritten": (
        kernel("    func.call @f() : () -> ()").replace("  gpu.func", "  func.func private @f()\n  gpu.func"),
        Place(4, 5),
        "k calls f: expected its body in the same gpu.module, got none",
    ),
    "a tile of another matrix in a loop": (
        kernel(
            """    %c0 = arith.constant 0 : index
    %t = xetile.init_tile %A[0, 0] : memref<64x32xf32> -> !xetile.tile<8x16xf32>
    %u = xetile.init_tile %B[0, 0] : memref<64x32xf32> -> !xetile.tile<8x16xf32>
    %r = scf.for %i = %c0 to %c0 step %c0 iter_args(%x = %t) -> (!xetile.tile<8x16xf32>) {
      scf.yield %u : !xetile.tile<8x16xf32>
    }""",
            "%A: memref<64x32xf32>, %B: memref<64x32xf32>",
        ),
        Place(6, 5),
        "expected loops and branches to move their tiles",
    ),
    "a conversion to a layout of other parts": (
        kernel(
            """    %t = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
    %v = xegpu.load_nd %t[0, 0] <{layout = #i}> : !xegpu.tensor_desc<64x32xf32> -> vector<64x32xf32>
    %w = xegpu.convert_layout %v <{input_layout = #a, target_layout = #i}> : vector<64x32xf32>
    xegpu.store_nd %w, %t[0, 0] : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>""",
            maps=MAPS,
        ),
        Place(7, 5),
        "expected convert_layout's input_layout to be that of its source",
    ),
    "a product of two types": (
        kernel(
            """    %t = xegpu.create_nd_tdesc %A : memref<64x32xf16> -> !xegpu.tensor_desc<8x16xf16>
    %u = xegpu.create_nd_tdesc %B : memref<64x32xbf16> -> !xegpu.tensor_desc<16x16xbf16>
    %a = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %b = xegpu.load_nd %u[0, 0] : !xegpu.tensor_desc<16x16xbf16> -> vector<16x16xbf16>
    %d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x16xbf16> -> vector<8x16xf32>""",
            "%A: memref<64x32xf16>, %B: memref<64x32xbf16>",
        ),
        Place(7, 5),
        "expected a and b of dpas alike, of f16, bf16, tf32 or i8, got f16 and bf16",
    ),
    "a product of tf32 that is no whole instructions": (
        kernel(
            """    %t = xegpu.create_nd_tdesc %A : memref<64x7xtf32> -> !xegpu.tensor_desc<8x7xtf32>
    %u = xegpu.create_nd_tdesc %B : memref<7x64xtf32> -> !xegpu.tensor_desc<7x16xtf32>
    %a = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x7xtf32> -> vector<8x7xtf32>
    %b = xegpu.load_nd %u[0, 0] : !xegpu.tensor_desc<7x16xtf32> -> vector<7x16xtf32>
    %d = xegpu.dpas %a, %b : vector<8x7xtf32>, vector<7x16xtf32> -> vector<8x16xf32>""",
            "%A: memref<64x7xtf32>, %B: memref<7x64xtf32>",
        ),
        Place(7, 5),
        "expected a dpas of tf32 with K a multiple of 8, got K 7",
    ),
    "rows whose offsets 64 bits do not hold": (
        kernel(
            """    %p = memref.extract_aligned_pointer_as_index %A : memref<64x32xf32> -> index
    %b = arith.index_cast %p : index to i64
    %t = xegpu.create_nd_tdesc %b, shape : [64, 32], strides : [4611686018427387904, 1] : i64
      -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %v, %t[8, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>"""
        ),
        Place(7, 5),
        "expected numbers within the range of index, got 32281802128991715328",
    ),
    "two symbols of one name": (
        kernel("    %c = arith.constant 1 : index").replace(
            "}\n}\n", "}\n  gpu.func @k() kernel {\n  gpu.return\n  }\n}\n"
        ),
        Place(6, 3),
        "expected symbols of different names, got k twice",
    ),
    "a function without operations": (
        "gpu.module @m {\n  gpu.func @k() kernel {\n  }\n}\n",
        Place(2, 3),
        "gpu.func contains empty block",
    ),
    "a buffer of elements of no known width": (
        kernel(
            """    %s = memref.alloca() : memref<1024xindex, 3>
    %d = xegpu.create_mem_desc %s : memref<1024xindex, 3> -> !xegpu.mem_desc<16x64xf32>"""
        ),
        Place(4, 5),
        "create_mem_desc: expected elements that are integers or floats of at most 64 bits, got index",
    ),
    "an unknown operation with several results": (
        kernel('    %a, %b = "mine.op"() : () -> (i32, i32)'),
        Place(3, 5),
        "expected an operation of the dialects of a kernel, got mine.op: write it with known operations",
    ),
    "a loop with two entries": (
        kernel(
            "    %c = arith.constant true\n    cf.cond_br %c, ^one, ^two\n  ^one:\n    cf.br ^two\n  ^two:\n"
            "    cf.cond_br %c, ^one, ^end\n  ^end:"
        ),
        Place(4, 5),
        "rewrite-forms: k: expected loops with one entry each, got one with several",
    ),
    "a matrix loaded to a scalar": (
        kernel(
            """    %s = memref.alloca() : memref<2048xi8, 3>
    %d = xegpu.create_mem_desc %s : memref<2048xi8, 3> -> !xegpu.mem_desc<16x64xf16>
    %v = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<16x64xf16> -> f16"""
        ),
        Place(5, 5),
        "xegpu.load_matrix: expected a type vector as result result, got f16",
    ),
    "an unknown key of a layout": (
        kernel(
            "    %t = xegpu.create_nd_tdesc %A : memref<64x32xf32> "
            "-> !xegpu.tensor_desc<8x16xf32, #xegpu.layout<lanes = [16]>>"
        ),
        Place(3, 101),
        "layout: expected one of sg_layout, sg_data, inst_data, lane_layout, lane_data, order, got lanes",
    ),
    "an unknown key of a map": (
        kernel("    %t = arith.constant {m = #xetile.wg_map<sg_layout = [1, 1], parts = [8, 16]>} 1 : index"),
        Place(3, 65),
        "expected the key sg_data of a map, got parts",
    ),
    "a type that MLIR refuses": (
        kernel("    %r = arith.index_cast %n : index to ui8", "%n: index"),
        Place(3, 5),
        "'arith.index_cast' op result #0 must be signless",
    ),
    "a type of elements that MLIR refuses": (
        kernel(
            """    %t = xegpu.create_nd_tdesc %A : memref<64x32xi1> -> !xegpu.tensor_desc<8x16xi1>
    %a = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xi1> -> vector<8x16xi1>
    %b = arith.remf %a, %a : vector<8x16xi1>
    xegpu.store_nd %b, %t[0, 0] : vector<8x16xi1>, !xegpu.tensor_desc<8x16xi1>""",
            "%A: memref<64x32xi1>",
        ),
        Place(5, 5),
        "'arith.remf' op operand #0 must be floating-point-like",
    ),
    "a comparison of floats as integers": (
        kernel("    %m = arith.cmpi eq, %x, %x : bf16", "%x: bf16"),
        Place(3, 5),
        "'arith.cmpi' op operand #0 must be signless",
    ),
    "an exponent of 64 bits": (
        kernel(
            "    %c0 = arith.constant 0 : index\n    %y = math.fpowi %x, %n : f32, i64\n"
            "    memref.store %y, %A[%c0, %c0] : memref<64x32xf32>",
            "%A: memref<64x32xf32>, %x: f32, %n: i64",
        ),
        Place(4, 5),
        "math.fpowi: expected exponents of at most 32 bits, got i64",
    ),
    "a product of tiles, distributed to sub-groups": (
        kernel(
            """    %t = xetile.init_tile %A[0, 0] : memref<64x24xf16> -> !xetile.tile<64x24xf16, #a>
    %u = xetile.init_tile %B[0, 0] : memref<24x64xf16> -> !xetile.tile<24x64xf16, #b>
    %a = xetile.load_tile %t : !xetile.tile<64x24xf16, #a> -> vector<64x24xf16>
    %b = xetile.load_tile %u : !xetile.tile<24x64xf16, #b> -> vector<24x64xf16>
    %d = xetile.tile_mma %a, %b {wg_map_c = #c} : vector<64x24xf16>, vector<24x64xf16> -> vector<64x64xf32>""",
            "%A: memref<64x24xf16>, %B: memref<24x64xf16>",
            TILES,
        ),
        Place(10, 5),
        "expected a dpas of f16 with K a multiple of 16, got K 24",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_error_names_the_line_of_its_operation(name: str) -> None:
    source, place, message = CASES[name]
    error = failure(source)
    assert error.place == place
    where, line, marker = error.message.split("\n")
    assert where.startswith(f"kernel.mlir:{place.line}:{place.column}: ")
    assert message in where
    assert line == source.split("\n")[place.line - 1]
    assert marker == " " * (place.column - 1) + "^"


def test_an_error_of_llvm_names_the_line_of_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def aborted(_text: str, _meanwhile: Callable[[], None]) -> bytes:
        raise CompileFailed("spirv", "LLVM ended with exit status 1: unable to legalize G_FPOWI (in function: other)")

    monkeypatch.setattr("codegen.pipeline.emit_spirv", aborted)
    first = kernel("    %c = arith.constant 1 : index")
    error = failure(first + first.replace("@m", "@n").replace("@k", "@other"))
    assert error.place == Place(8, 3)
    assert error.message.startswith("kernel.mlir:8:3: LLVM ended with exit status 1: unable to legalize G_FPOWI (in")


def test_a_refusal_names_the_line_and_its_rule() -> None:
    source = kernel(
        """    %t = xegpu.create_nd_tdesc %A : memref<4096x4096xf32> -> !xegpu.tensor_desc<4096x4096xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<4096x4096xf32> -> vector<4096x4096xf32>
    xegpu.store_nd %v, %t[0, 0] : vector<4096x4096xf32>, !xegpu.tensor_desc<4096x4096xf32>""",
        "%A: memref<4096x4096xf32>",
    )
    error = failure(source)
    assert isinstance(error, Refused)
    assert (error.rule, error.place) == ("module-registers", Place(5, 5))
    assert str(error).startswith("refused by rule module-registers: kernel.mlir:5:5: kernel k: ")


@pytest.mark.parametrize("type_", ["vector<8x16xf32>", "!xegpu.tensor_desc<8x16xf32>"])
def test_the_lowering_to_lanes_refuses_arguments_that_are_no_memory(type_: str) -> None:
    loop = f"    %r = scf.for %i = %n to %n step %n iter_args(%x = %v) -> ({type_})"
    use = f"{loop} {{\n      scf.yield %x : {type_}\n    }}"
    with pytest.raises(OptFailed) as raised:
        run_passes(kernel(use, f"%v: {type_}, %n: index"), read_passes(["lower-to-lanes"]), name="kernel.mlir")
    message = f"kernel.mlir:2:3: lower-to-lanes: expected memrefs and scalars as arguments, got {type_} as v"
    assert str(raised.value).startswith(message)


def test_too_much_nesting_is_refused() -> None:
    error = failure(kernel("    %c = arith.constant {a = " + "[" * 5000 + "]" * 5000 + "} true"))
    assert "expected less nesting: maximum recursion depth exceeded" in error.message
    assert error.place is not None
    assert error.place.line == 3


def test_a_pass_alone_names_the_line() -> None:
    source, place, _ = CASES["a tile of another matrix in a loop"]
    with pytest.raises(OptFailed, match=f"^kernel.mlir:{place.line}:{place.column}: fold-tile-offsets: "):
        run_passes(source, read_passes(["fold-tile-offsets"]), name="kernel.mlir")


def test_locations_of_the_source_are_not_those_of_errors() -> None:
    source, place, _ = CASES["an invalid operation"]
    located = source.replace(": memref<64x32xf32>\n", ': memref<64x32xf32> loc("model.py":7:9)\n')
    assert failure(located).place == place
