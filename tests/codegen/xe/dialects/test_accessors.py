"""Named operands and results are those of xDSL's accessors, without a view of all."""

from unittest.mock import patch

from xdsl.dialects import arith, scf

from codegen.xe.dialects import parse
from codegen.xe.dialects.xetile.init_tile import InitTileOp

KERNEL = """
gpu.module @m {
  gpu.func @k(%a: i64, %n: index, %x: f32, %y: f32) kernel {
    %t = xetile.init_tile %a[%n, 4], [%n, %n], [64, 1] : i64 -> !xetile.tile<8x16xf32>
    %u, %v = scf.for %i = %n to %n step %n iter_args(%p = %x, %q = %y) -> (f32, f32) {
      %s = arith.addf %p, %q : f32
      scf.yield %s, %q : f32, f32
    }
    %m = vector.create_mask %n, %n : vector<8x16xi1>
    gpu.return
  }
}"""


def test_they_return_what_xdsl_does_without_a_view() -> None:
    ops = list(parse(KERNEL).walk())
    tile = next(op for op in ops if isinstance(op, InitTileOp))
    loop = next(op for op in ops if isinstance(op, scf.ForOp))
    total = next(op for op in ops if isinstance(op, arith.AddfOp))
    with patch("xdsl.ir.core.OpOperands", side_effect=AssertionError):
        found = [tile.source, *tile.dynamic, tile.tile, loop.lb, loop.ub, loop.step, *loop.iter_args]
        found += [total.lhs, total.rhs, total.result]
    needed = [*tile.operands, *tile.results, *loop.operands, *total.operands, *total.results]
    assert all(a is b for a, b in zip(found, needed, strict=True))
    assert [value.type for value in loop.iter_args] == list(loop.iter_args.types), "a list of values, as before"
