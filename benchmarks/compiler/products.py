"""Products that the GEMM builder does not write: other elements, and operands stored by columns."""

from dataclasses import dataclass

_SIZE = 4096
_SUBGROUPS = (8, 4)
_SOURCE = """
#map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [{rows}, {step}]>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [{step}, {columns}]>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [{rows}, {columns}]>
#a = #xetile.tile_attr<wg_map = #map_a{order_a}>
#b = #xetile.tile_attr<wg_map = #map_b{order_b}>
#c = #xetile.tile_attr<wg_map = #map_c>
!a = vector<{m}x{step}x{element}>
!b = vector<{step}x{n}x{element}>
!c = vector<{m}x{n}x{sum}>
!at = !xetile.tile<{m}x{step}x{element}, #a>
!bt = !xetile.tile<{step}x{n}x{element}, #b>
!ct = !xetile.tile<{m}x{n}x{sum}, #c>

gpu.module @m {{
  gpu.func @product(%A: {memory_a}, %B: {memory_b}, %C: memref<{size}x{size}x{sum}>) kernel {{
    %c0 = arith.constant 0 : index
    %step = arith.constant {step} : index
    %m = arith.constant {m} : index
    %n = arith.constant {n} : index
    %size = arith.constant {size} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %y, %m : index
    %column = arith.muli %x, %n : index
    %zero = arith.constant dense<{zero}> : !c
    %total = scf.for %k = %c0 to %size step %step iter_args(%acc = %zero) -> (!c) {{
      %at = xetile.init_tile %A[%row, %k] : {memory_a} -> !at
      %bt = xetile.init_tile %B[%k, %column] : {memory_b} -> !bt
      %a = xetile.load_tile %at : !at -> !a
      %b = xetile.load_tile %bt : !bt -> !b
      %d = xetile.tile_mma %a, %b, %acc {{wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}} : !a, !b, !c -> !c
      scf.yield %d : !c
    }}
    %ct = xetile.init_tile %C[%row, %column] : memref<{size}x{size}x{sum}> -> !ct
    xetile.store_tile %total, %ct : !c, !ct
    gpu.return
  }}
}}"""


@dataclass(frozen=True, slots=True)
class Product:
    """`element` of A and B; the sub-group's tile: rows and columns of C, and a K step."""

    element: str
    rows: int
    columns: int
    step: int
    a_by_columns: bool = False
    b_by_columns: bool = False

    @property
    def source(self) -> str:
        """The module's text."""
        total, zero = ("i32", "0") if self.element.startswith("i") else ("f32", "0.0")
        return _SOURCE.format(
            element=self.element,
            sum=total,
            zero=zero,
            rows=self.rows,
            columns=self.columns,
            step=self.step,
            m=self.rows * _SUBGROUPS[0],
            n=self.columns * _SUBGROUPS[1],
            size=_SIZE,
            order_a=", order = [0, 1]" if self.a_by_columns else "",
            order_b=", order = [0, 1]" if self.b_by_columns else "",
            memory_a=self._memory(self.a_by_columns),
            memory_b=self._memory(self.b_by_columns),
        )

    def _memory(self, by_columns: bool) -> str:
        strides = f", strided<[1, {_SIZE}]>" if by_columns else ""
        return f"memref<{_SIZE}x{_SIZE}x{self.element}{strides}>"


PRODUCTS = {
    "f16, A by columns": Product("f16", 32, 64, 32, a_by_columns=True),
    "f16, B by columns": Product("f16", 32, 64, 32, b_by_columns=True),
    "f16, both by columns": Product("f16", 32, 64, 32, a_by_columns=True, b_by_columns=True),
    "f16 48x32x32": Product("f16", 48, 32, 32),
    "i8 32x64x64": Product("i8", 32, 64, 64),
    "i8 32x64x64, A by columns": Product("i8", 32, 64, 64, a_by_columns=True),
    "i8 32x64x64, B by columns": Product("i8", 32, 64, 64, b_by_columns=True),
    "i8 32x64x64, both by columns": Product("i8", 32, 64, 64, a_by_columns=True, b_by_columns=True),
    "tf32 32x64x16": Product("tf32", 32, 64, 16),
    "tf32 32x64x16, A by columns": Product("tf32", 32, 64, 16, a_by_columns=True),
    "tf32 32x64x16, B by columns": Product("tf32", 32, 64, 16, b_by_columns=True),
    "tf32 32x64x32": Product("tf32", 32, 64, 32),
}
"""By a name; sizes are a sub-group's tile."""
