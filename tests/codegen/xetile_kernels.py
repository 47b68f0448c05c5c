"""XeTile kernels that together have every operation, each at work-group level and, without maps, at sub-group level."""

from collections.abc import Callable
from dataclasses import dataclass

SUBGROUPS = (2, 3)
_SWAPPED = "affine_map<(d0, d1) -> (d1, d0)>"


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes tile types and maps, or no maps at sub-group level."""

    maps: bool

    def map(self, *sg_data: int, layout: tuple[int, int] = SUBGROUPS) -> str:
        """`wg_map = <...>`."""
        return f"wg_map = <sg_layout = {list(layout)}, sg_data = {list(sg_data)}>"

    def tile(self, shape: str, *sg_data: int, traits: str = "", layout: tuple[int, int] = SUBGROUPS) -> str:
        """A tile type."""
        parts = [self.map(*sg_data, layout=layout)] if self.maps else []
        parts += [traits] if traits else []
        return f"!xetile.tile<{shape}{', #xetile.tile_attr<' + ', '.join(parts) + '>' if parts else ''}>"

    def stated(self, name: str, *sg_data: int, layout: tuple[int, int] = SUBGROUPS) -> str:
        """A map on an operation, in braces."""
        said = f"#xetile.wg_map<sg_layout = {list(layout)}, sg_data = {list(sg_data)}>"
        return f"{{{name} = {said}}}" if self.maps else ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel's arguments and body. `arrays` are their shapes and elements by name, a letter."""

    arguments: str
    arrays: dict[str, str]
    body: Callable[[Writer], str]

    def source(self, *, maps: bool) -> str:
        """The module's text."""
        threads = 16 * SUBGROUPS[0] * SUBGROUPS[1] if maps else 16
        return f"""module attributes {{gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @k({self.arguments}) kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c32 = arith.constant 32 : index
      %c96 = arith.constant 96 : index
      %group = gpu.block_id x
{self.body(Writer(maps))}
      gpu.return
    }}
  }}
}}
"""


def elementwise(body: Callable[[Writer], str], load: str = "", store: str = "", **arrays: str) -> Kernel:
    """From A to C, both 64x48: `body` makes %w of %v. `load` and `store` are traits of the tiles."""
    layouts = {"order = [0, 1]": ", strided<[1, 64]>"}
    memrefs = {"A": f"memref<64x48xf32{layouts.get(load, '')}>", "C": f"memref<64x48xf32{layouts.get(store, '')}>"}

    def write(w: Writer) -> str:
        a, c = w.tile("64x48xf32", 32, 16, traits=load), w.tile("64x48xf32", 32, 16, traits=store)
        return f"""
      %ta = xetile.init_tile %A[0, 0] : {memrefs["A"]} -> {a}
      %tc = xetile.init_tile %C[0, 0] : {memrefs["C"]} -> {c}
      xetile.prefetch_tile %ta locality<3> : {a}
      %v = xetile.load_tile %ta : {a} -> vector<64x48xf32>
      {body(w)}
      xetile.store_tile %w, %tc : {V}, {c}"""

    extra = "".join(f", %{name}: memref<{shape}>" for name, shape in arrays.items())
    return Kernel(
        f"%A: {memrefs['A']}, %C: {memrefs['C']}{extra}", {"A": "64x48xf32", "C": "64x48xf32"} | arrays, write
    )


def product(b: str, b_init: Callable[[Writer], str], b_tile: Callable[[Writer], str], **arrays: str) -> Kernel:
    """C [64, 48] = A [64, 32] B [32, 48] of f16; `b_init` makes %tb."""

    def write(w: Writer) -> str:
        a, c = w.tile("64x32xf16", 32, 32), w.tile("64x48xf32", 32, 16)
        return f"""
      %ta = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> {a}
      {b_init(w)}
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> {c}
      %a = xetile.load_tile %ta : {a} -> vector<64x32xf16>
      %b = xetile.load_tile %tb : {b_tile(w)} -> vector<32x48xf16>
      %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x48xf16> -> vector<64x48xf32>
      xetile.store_tile %d, %tc : {V}, {c}"""

    return Kernel(
        f"%A: memref<64x32xf16>, %C: memref<64x48xf32>, {b}", {"A": "64x32xf16", "C": "64x48xf32"} | arrays, write
    )


def _plain_b(w: Writer) -> str:
    return w.tile("32x48xf16", 32, 16)


def _turned_b(w: Writer) -> str:
    return w.tile("32x48xf16", 32, 16, traits="order = [0, 1]")


V = "vector<64x48xf32>"
_ROW, _COLUMN = "vector<1x48xf32>", "vector<64x1xf32>"


def _reduced(kind: str, dim: int) -> Kernel:
    small = (_ROW, _COLUMN)[dim]
    return elementwise(
        lambda w: (
            f"""%s = xetile.reduction <{kind}>, %v [{dim}] : {V} -> {small}
      %b = xetile.broadcast %s [{dim}] : {small} -> {V}
      %w = arith.subf %v, %b : {V}"""
        )
    )


def _staged(w: Writer) -> str:
    """A product whose A goes through shared local memory, in a loop over K."""
    shared = w.tile("64x32xf16", 32, 32, traits="memory_space = 3 : i32")
    a, b, c = w.tile("64x32xf16", 32, 32), w.tile("32x48xf16", 32, 16), w.tile("64x48xf32", 32, 16)
    acc = V
    return f"""
      %slm = memref.alloc() : memref<64x32xf16, 3>
      %s = xetile.init_tile %slm[0, 0] : memref<64x32xf16, 3> -> {shared}
      %ta0 = xetile.init_tile %A[0, 0] : memref<64x96xf16> -> {a}
      %tb0 = xetile.init_tile %B[0, 0] : memref<96x48xf16> -> {b}
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> {c}
      %zero = arith.constant dense<0.0> : {acc}
      %sum:3 = scf.for %k = %c0 to %c96 step %c32 iter_args(%d = %zero, %ta = %ta0, %tb = %tb0) -> ({acc}, {a}, {b}) {{
        %x = xetile.load_tile %ta : {a} -> vector<64x32xf16>
        gpu.barrier
        xetile.store_tile %x, %s : vector<64x32xf16>, {shared}
        gpu.barrier
        %y = xetile.load_tile %s : {shared} -> vector<64x32xf16>
        %z = xetile.load_tile %tb : {b} -> vector<32x48xf16>
        %e = xetile.tile_mma %y, %z, %d : vector<64x32xf16>, vector<32x48xf16>, {acc} -> {acc}
        %ta1 = xetile.update_tile_offset %ta, [0, 32] : {a}
        %tb1 = xetile.update_tile_offset %tb, [%c32, %c0] : {b}
        scf.yield %e, %ta1, %tb1 : {acc}, {a}, {b}
      }}
      xetile.store_tile %sum#0, %tc : {acc}, {c}"""


def _blocked(w: Writer) -> str:
    """A product of blocked vectors."""
    blocks = "inner_blocks = [16, 16]"
    a, b = w.tile("64x32xf16", 32, 32, traits=blocks), w.tile("32x48xf16", 32, 16, traits=blocks)
    c = w.tile("64x48xf32", 32, 16, traits=blocks)
    va, vb, vc = "vector<4x2x16x16xf16>", "vector<2x3x16x16xf16>", "vector<4x3x16x16xf32>"
    return f"""
      %ta = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> {a}
      %tb = xetile.init_tile %B[0, 0] : memref<32x48xf16> -> {b}
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> {c}
      %a = xetile.load_tile %ta : {a} -> {va}
      %b = xetile.load_tile %tb : {b} -> {vb}
      %start = arith.constant dense<1.0> : {vc}
      %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%d = %start) -> ({vc}) {{
        %e = xetile.tile_mma %a, %b, %d : {va}, {vb}, {vc} -> {vc}
        scf.yield %e : {vc}
      }}
      %most = xetile.reduction <maximumf>, %sum [1, 3] : {vc} -> vector<4x1x16x1xf32>
      %spread = xetile.broadcast %most [1, 3] : vector<4x1x16x1xf32> -> {vc}
      %less = arith.subf %sum, %spread : {vc}
      %rows = xetile.tile_unpack %less {{inner_blocks = array<i64: 16, 16>}} : {vc} -> vector<64x48xf32>
      %again = xetile.tile_pack %rows {{inner_blocks = array<i64: 16, 16>}} : vector<64x48xf32> -> {vc}
      xetile.store_tile %again, %tc : {vc}, {c}"""


def _scattered(w: Writer) -> str:
    """Every second element of A, 300 of them, moved twice; the others become 7."""
    s = w.tile("6x48xf32", 3, 16, traits="scattered = true")
    i, m, v = "vector<6x48xindex>", "vector<6x48xi1>", "vector<6x48xf32>"
    return f"""
      %step = vector.step : vector<288xindex>
      %line = vector.shape_cast %step : vector<288xindex> to {i}
      %two = arith.constant dense<2> : {i}
      %most = arith.constant dense<300> : {i}
      %at = arith.muli %line, %two : {i}
      %mask = arith.cmpi ult, %at, %most : {i}
      %t0 = xetile.init_tile %A, %at : memref<700xf32>, {i} -> {s}
      %u = xetile.init_tile %C, %at : memref<700xf32>, {i} -> {s}
      %t = scf.for %k = %c0 to %c2 step %c1 iter_args(%t1 = %t0) -> ({s}) {{
        %t2 = xetile.update_tile_offset %t1, %two : {s}, {i}
        scf.yield %t2 : {s}
      }}
      xetile.prefetch_tile %t : {s}
      %v = xetile.load %t, %mask {{padding = 7.0 : f32}} : {s}, {m} -> {v}
      xetile.store %v, %u : {v}, {s}
      xetile.store %v, %t, %mask : {v}, {s}, {m}"""


def _gathered(w: Writer) -> str:
    """Every third element of A, those beyond 200 left out."""
    s = w.tile("6x48xf32", 3, 16, traits="scattered = true")
    i, m, v = "vector<6x48xindex>", "vector<6x48xi1>", "vector<6x48xf32>"
    return f"""
      %step = vector.step : vector<288xindex>
      %line = vector.shape_cast %step : vector<288xindex> to {i}
      %three = arith.constant dense<3> : {i}
      %most = arith.constant dense<200> : {i}
      %at = arith.muli %line, %three : {i}
      %mask = arith.cmpi ult, %line, %most : {i}
      %t = xetile.init_tile %A, %at : memref<900xf32>, {i} -> {s}
      %u = xetile.init_tile %C, %line : memref<900xf32>, {i} -> {s}
      %v = xetile.load %t, %mask {{padding = 7.0 : f32}} : {s}, {m} -> {v}
      xetile.store %v, %u : {v}, {s}"""


def _atomic(kind: str, traits: str = "") -> Kernel:
    layout = ", strided<[1, 40]>" if traits else ""

    def write(w: Writer) -> str:
        a, c = w.tile("64x48xf32", 32, 16), w.tile("64x48xf32", 32, 16, traits=traits)
        return f"""
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> {a}
      %tc = xetile.init_tile %C[-8, %c2] : memref<40x40xf32{layout}> -> {c}
      %v = xetile.load_tile %ta : {a} -> vector<64x48xf32>
      %old = xetile.atomic_rmw {kind} %v, %tc : vector<64x48xf32>, {c} -> vector<64x48xf32>"""

    return Kernel(f"%A: memref<64x48xf32>, %C: memref<40x40xf32{layout}>", {"A": "64x48xf32", "C": "40x40xf32"}, write)


def _array(w: Writer) -> str:
    a = w.tile("64x24xf32", 32, 8, traits="array_length = 2 : i64")
    c = w.tile("64x24xf32", 32, 8)
    return f"""
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> {a}
      %tc = xetile.init_tile %C[0, %c1] : memref<64x48xf32> -> {c}
      xetile.prefetch_tile %ta : {a}
      %v:2 = xetile.load_tile %ta : {a} -> vector<64x24xf32>, vector<64x24xf32>
      %w = arith.subf %v#1, %v#0 : vector<64x24xf32>
      xetile.store_tile %w, %tc : vector<64x24xf32>, {c}"""


def _padded(w: Writer) -> str:
    a, c = w.tile("64x48xf32", 32, 16), w.tile("64x48xf32", 32, 16)
    return f"""
      %ta = xetile.init_tile %A[%c2, 3] : memref<50x40xf32> -> {a}
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> {c}
      %v = xetile.load_tile %ta {{padding = 2.5 : f32}} : {a} -> vector<64x48xf32>
      xetile.store_tile %v, %tc : {V}, {c}"""


def _branch(w: Writer) -> str:
    a, c = w.tile("32x48xf32", 16, 16), w.tile("32x48xf32", 16, 16)
    return f"""
      %t0 = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> {a}
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> {c}
      %first = arith.cmpi eq, %group, %c0 : index
      %t, %k = scf.if %first -> ({a}, f32) {{
        %t1 = xetile.update_tile_offset %t0, [%c32, 0] : {a}
        %x = arith.constant 3.0 : f32
        scf.yield %t1, %x : {a}, f32
      }} else {{
        %x = arith.constant 5.0 : f32
        scf.yield %t0, %x : {a}, f32
      }}
      %v = xetile.load_tile %t : {a} -> vector<32x48xf32>
      %f = vector.broadcast %k : f32 to vector<32x48xf32>
      %w = arith.mulf %v, %f : vector<32x48xf32>
      xetile.store_tile %w, %tc : vector<32x48xf32>, {c}"""


def _transposed_product(w: Writer) -> str:
    a, c = w.tile("64x32xf16", 32, 32), w.tile("64x48xf32", 32, 16)
    b = w.tile("48x32xf16", 16, 32, layout=(3, 2))
    return f"""
      %ta = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> {a}
      %tb = xetile.init_tile %B[0, 0] : memref<48x32xf16> -> {b}
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> {c}
      %a = xetile.load_tile %ta : {a} -> vector<64x32xf16>
      %b0 = xetile.load_tile %tb : {b} -> vector<48x32xf16>
      %b = xetile.transpose %b0, [1, 0] {w.stated("wg_map_result", 32, 16)} : vector<48x32xf16> -> vector<32x48xf16>
      %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x48xf16> -> vector<64x48xf32>
      xetile.store_tile %d, %tc : {V}, {c}"""


KERNELS: dict[str, Kernel] = {
    "elementwise": elementwise(lambda w: f"%w = math.exp %v : {V}"),
    "order_loaded": elementwise(lambda w: f"%w = arith.addf %v, %v : {V}", load="order = [0, 1]"),
    "order_stored": elementwise(lambda w: f"%w = arith.addf %v, %v : {V}", store="order = [0, 1]"),
    "convert_layout": elementwise(
        lambda w: (
            f"""%x = xetile.convert_layout %v {w.stated("wg_map_result", 64, 48, layout=(6, 1))} : {V}
      %y = arith.addf %x, %x : {V}
      %w = xetile.convert_layout %y {w.stated("wg_map_result", 32, 16)} : {V}"""
            if w.maps
            else f"%w = arith.addf %v, %v : {V}"
        )
    ),
    **{
        f"reduction_{kind}_{dim}": _reduced(kind, dim)
        for kind in ("add", "mul", "minnumf", "maximumf")
        for dim in (0, 1)
    },
    "reduction_of_all": elementwise(
        lambda w: (
            f"""%s = xetile.reduction <add>, %v [0, 1] : {V} -> vector<1x1xf32>
      %b = xetile.broadcast %s [0, 1] : vector<1x1xf32> -> {V}
      %w = arith.subf %v, %b : {V}"""
        )
    ),
    "product": product(
        "%B: memref<32x48xf16>",
        lambda w: f"%tb = xetile.init_tile %B[0, 0] : memref<32x48xf16> -> {_plain_b(w)}",
        _plain_b,
        B="32x48xf16",
    ),
    "product_of_columns": product(
        "%B: memref<32x48xf16, strided<[1, 32]>>",
        lambda w: f"%tb = xetile.init_tile %B[0, 0] : memref<32x48xf16, strided<[1, 32]>> -> {_turned_b(w)}",
        _turned_b,
        B="32x48xf16",
    ),
    "product_of_swapped": product(
        f"%B: memref<32x48xf16, {_SWAPPED}>",
        lambda w: f"%tb = xetile.init_tile %B[0, 0] : memref<32x48xf16, {_SWAPPED}> -> {_turned_b(w)}",
        _turned_b,
        B="32x48xf16",
    ),
    "product_of_a_batch": product(
        "%B: memref<3x32x48xf16>",
        lambda w: (
            f"""%z = arith.addi %group, %c2 : index
      %tb = xetile.init_tile %B[%z, 0, 0] : memref<3x32x48xf16> -> {_plain_b(w)}"""
        ),
        _plain_b,
        B="3x32x48xf16",
    ),
    "transposed_product": Kernel(
        "%A: memref<64x32xf16>, %B: memref<48x32xf16>, %C: memref<64x48xf32>",
        {"A": "64x32xf16", "B": "48x32xf16", "C": "64x48xf32"},
        _transposed_product,
    ),
    "staged": Kernel(
        "%A: memref<64x96xf16>, %B: memref<96x48xf16>, %C: memref<64x48xf32>",
        {"A": "64x96xf16", "B": "96x48xf16", "C": "64x48xf32"},
        _staged,
    ),
    "blocked": Kernel(
        "%A: memref<64x32xf16>, %B: memref<32x48xf16>, %C: memref<64x48xf32>",
        {"A": "64x32xf16", "B": "32x48xf16", "C": "64x48xf32"},
        _blocked,
    ),
    "scattered": Kernel("%A: memref<700xf32>, %C: memref<700xf32>", {"A": "700xf32", "C": "700xf32"}, _scattered),
    "gathered": Kernel("%A: memref<900xf32>, %C: memref<900xf32>", {"A": "900xf32", "C": "900xf32"}, _gathered),
    "atomic": _atomic("addf"),
    "atomic_columns": _atomic("maximumf", "order = [0, 1]"),
    "array_length": Kernel(
        "%A: memref<64x48xf32>, %C: memref<64x48xf32>", {"A": "64x48xf32", "C": "64x48xf32"}, _array
    ),
    "padding": Kernel("%A: memref<50x40xf32>, %C: memref<64x48xf32>", {"A": "50x40xf32", "C": "64x48xf32"}, _padded),
    "branch": Kernel("%A: memref<64x48xf32>, %C: memref<64x48xf32>", {"A": "64x48xf32", "C": "64x48xf32"}, _branch),
}
