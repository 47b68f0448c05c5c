// XeTile's operations on vectors. Six sub-groups; M, N and K are 16, 48 and 32.
#a = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 32]>
#b = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
#c = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 16]>
#t = #xetile.wg_map<sg_layout = [3, 2], sg_data = [16, 8]>
#row = #xetile.wg_map<sg_layout = [2, 3], sg_data = [1, 16]>
#column = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 1]>
#rows = #xetile.wg_map<sg_layout = [2, 3], sg_data = [16, 16]>
#columns = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 48]>
#one = #xetile.wg_map<sg_layout = [2, 3], sg_data = [1, 1]>
#whole = #xetile.wg_map<sg_layout = [6, 1], sg_data = [8, 48]>
!c = !xetile.tile<16x48xf32, #c>

// -----
// xetile.tile_mma: $KIND
// KIND = f16 bf16
// tolerance 1e-4
gpu.func @k(%A: memref<16x32x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x32x$KIND> -> !xetile.tile<16x32x$KIND, #a>
  %tb = xetile.init_tile %B[0, 0] : memref<32x48x$KIND> -> !xetile.tile<32x48x$KIND, #b>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<16x32x$KIND, #a> -> vector<16x32x$KIND>
  %b = xetile.load_tile %tb : !xetile.tile<32x48x$KIND, #b> -> vector<32x48x$KIND>
  %c = xetile.load_tile %tc : !c -> vector<16x48xf32>
  %d = xetile.tile_mma %a, %b, %c {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c}
    : vector<16x32x$KIND>, vector<32x48x$KIND>, vector<16x48xf32> -> vector<16x48xf32>
  xetile.store_tile %d, %tc : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.tile_mma: $KIND to $KIND
// KIND = f16 bf16
// tolerance 0.02
gpu.func @k(%A: memref<16x32x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48x$KIND>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x32x$KIND> -> !xetile.tile<16x32x$KIND, #a>
  %tb = xetile.init_tile %B[0, 0] : memref<32x48x$KIND> -> !xetile.tile<32x48x$KIND, #b>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %a = xetile.load_tile %ta : !xetile.tile<16x32x$KIND, #a> -> vector<16x32x$KIND>
  %b = xetile.load_tile %tb : !xetile.tile<32x48x$KIND, #b> -> vector<32x48x$KIND>
  %c = xetile.load_tile %tc : !xetile.tile<16x48x$KIND, #c> -> vector<16x48x$KIND>
  %d = xetile.tile_mma %a, %b, %c {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c}
    : vector<16x32x$KIND>, vector<32x48x$KIND>, vector<16x48x$KIND> -> vector<16x48x$KIND>
  xetile.store_tile %d, %tc : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #c>
  gpu.return
}
// -----
// xetile.tile_mma: tf32
// tolerance 1e-4
gpu.func @k(%A: memref<16x32xtf32>, %B: memref<32x48xtf32>, %C: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x32xtf32> -> !xetile.tile<16x32xtf32, #a>
  %tb = xetile.init_tile %B[0, 0] : memref<32x48xtf32> -> !xetile.tile<32x48xtf32, #b>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<16x32xtf32, #a> -> vector<16x32xtf32>
  %b = xetile.load_tile %tb : !xetile.tile<32x48xtf32, #b> -> vector<32x48xtf32>
  %c = xetile.load_tile %tc : !c -> vector<16x48xf32>
  %d = xetile.tile_mma %a, %b, %c {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c}
    : vector<16x32xtf32>, vector<32x48xtf32>, vector<16x48xf32> -> vector<16x48xf32>
  xetile.store_tile %d, %tc : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.tile_mma: $KIND
// KIND = i8 si8 ui8
gpu.func @k(%A: memref<16x32x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48xi32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x32x$KIND> -> !xetile.tile<16x32x$KIND, #a>
  %tb = xetile.init_tile %B[0, 0] : memref<32x48x$KIND> -> !xetile.tile<32x48x$KIND, #b>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xi32> -> !xetile.tile<16x48xi32, #c>
  %a = xetile.load_tile %ta : !xetile.tile<16x32x$KIND, #a> -> vector<16x32x$KIND>
  %b = xetile.load_tile %tb : !xetile.tile<32x48x$KIND, #b> -> vector<32x48x$KIND>
  %c = xetile.load_tile %tc : !xetile.tile<16x48xi32, #c> -> vector<16x48xi32>
  %d = xetile.tile_mma %a, %b, %c {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c}
    : vector<16x32x$KIND>, vector<32x48x$KIND>, vector<16x48xi32> -> vector<16x48xi32>
  xetile.store_tile %d, %tc : vector<16x48xi32>, !xetile.tile<16x48xi32, #c>
  gpu.return
}
// -----
// xetile.tile_mma: without c
// tolerance 1e-4
gpu.func @k(%A: memref<16x32xf16>, %B: memref<32x48xf16>, %C: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x32xf16> -> !xetile.tile<16x32xf16, #a>
  %tb = xetile.init_tile %B[0, 0] : memref<32x48xf16> -> !xetile.tile<32x48xf16, #b>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<16x32xf16, #a> -> vector<16x32xf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x48xf16, #b> -> vector<32x48xf16>
  %d = xetile.tile_mma %a, %b {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c}
    : vector<16x32xf16>, vector<32x48xf16> -> vector<16x48xf32>
  xetile.store_tile %d, %tc : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.tile_mma: ragged M, N and K
// tolerance 1e-4
gpu.func @k(%A: memref<13x56xf16>, %B: memref<40x64xf16>, %C: memref<13x40xf32>) kernel {
  %ta = xetile.init_tile %A[0, 32] : memref<13x56xf16> -> !xetile.tile<16x32xf16, #a>
  %tb = xetile.init_tile %B[16, 0] : memref<40x64xf16> -> !xetile.tile<32x48xf16, #b>
  %tc = xetile.init_tile %C[0, 0] : memref<13x40xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<16x32xf16, #a> -> vector<16x32xf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x48xf16, #b> -> vector<32x48xf16>
  %c = xetile.load_tile %tc : !c -> vector<16x48xf32>
  %d = xetile.tile_mma %a, %b, %c : vector<16x32xf16>, vector<32x48xf16>, vector<16x48xf32> -> vector<16x48xf32>
  xetile.store_tile %d, %tc : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.tile_mma: B of order [0, 1]
// tolerance 1e-4
gpu.func @k(%A: memref<16x32xf16>, %B: memref<32x48xf16, strided<[1, 32]>>, %C: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x32xf16> -> !xetile.tile<16x32xf16, #a>
  %tb = xetile.init_tile %B[0, 0] : memref<32x48xf16, strided<[1, 32]>> -> !xetile.tile<32x48xf16, #xetile.tile_attr<wg_map = #b, order = [0, 1]>>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<16x32xf16, #a> -> vector<16x32xf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x48xf16, #xetile.tile_attr<wg_map = #b, order = [0, 1]>> -> vector<32x48xf16>
  %d = xetile.tile_mma %a, %b : vector<16x32xf16>, vector<32x48xf16> -> vector<16x48xf32>
  xetile.store_tile %d, %tc : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.tile_mma: 4-D
// tolerance 1e-4
gpu.func @k(%A: memref<16x32xf16>, %B: memref<32x48xf16>, %C: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x32xf16> -> !xetile.tile<16x32xf16, #xetile.tile_attr<wg_map = #a, inner_blocks = [8, 16]>>
  %tb = xetile.init_tile %B[0, 0] : memref<32x48xf16> -> !xetile.tile<32x48xf16, #xetile.tile_attr<wg_map = #b, inner_blocks = [16, 16]>>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  %a = xetile.load_tile %ta : !xetile.tile<16x32xf16, #xetile.tile_attr<wg_map = #a, inner_blocks = [8, 16]>> -> vector<2x2x8x16xf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x48xf16, #xetile.tile_attr<wg_map = #b, inner_blocks = [16, 16]>> -> vector<2x3x16x16xf16>
  %c = xetile.load_tile %tc : !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>> -> vector<2x3x8x16xf32>
  %d = xetile.tile_mma %a, %b, %c : vector<2x2x8x16xf16>, vector<2x3x16x16xf16>, vector<2x3x8x16xf32> -> vector<2x3x8x16xf32>
  xetile.store_tile %d, %tc : vector<2x3x8x16xf32>, !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  gpu.return
}
// -----
// xetile.tile_mma: in a loop over K
// tolerance 1e-4
gpu.func @k(%A: memref<16x96xf16>, %B: memref<96x48xf16>, %C: memref<16x48xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<16x48xf32>
  %ta0 = xetile.init_tile %A[0, 0] : memref<16x96xf16> -> !xetile.tile<16x32xf16, #a>
  %tb0 = xetile.init_tile %B[0, 0] : memref<96x48xf16> -> !xetile.tile<32x48xf16, #b>
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !c
  %r:3 = scf.for %k = %c0 to %c96 step %c32 iter_args(%c = %zero, %ta = %ta0, %tb = %tb0)
      -> (vector<16x48xf32>, !xetile.tile<16x32xf16, #a>, !xetile.tile<32x48xf16, #b>) {
    %a = xetile.load_tile %ta : !xetile.tile<16x32xf16, #a> -> vector<16x32xf16>
    %b = xetile.load_tile %tb : !xetile.tile<32x48xf16, #b> -> vector<32x48xf16>
    %d = xetile.tile_mma %a, %b, %c : vector<16x32xf16>, vector<32x48xf16>, vector<16x48xf32> -> vector<16x48xf32>
    %ta1 = xetile.update_tile_offset %ta, [0, 32] : !xetile.tile<16x32xf16, #a>
    %tb1 = xetile.update_tile_offset %tb, [32, 0] : !xetile.tile<32x48xf16, #b>
    scf.yield %d, %ta1, %tb1 : vector<16x48xf32>, !xetile.tile<16x32xf16, #a>, !xetile.tile<32x48xf16, #b>
  }
  xetile.store_tile %r#0, %tc : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.transpose: $KIND
// KIND = f32 f16 i8
gpu.func @k(%A: memref<48x16x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<48x16x$KIND> -> !xetile.tile<48x16x$KIND, #t>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %a = xetile.load_tile %ta : !xetile.tile<48x16x$KIND, #t> -> vector<48x16x$KIND>
  %r = xetile.transpose %a, [1, 0] {wg_map_result = #c} : vector<48x16x$KIND> -> vector<16x48x$KIND>
  xetile.store_tile %r, %tr : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #c>
  gpu.return
}
// -----
// xetile.reduction: $KIND, dimension 0, f32
// KIND = add mul minnumf maxnumf minimumf maximumf
// tolerance 1e-5
// floats 0.5 1.5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<1x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !c
  %tr = xetile.init_tile %R[0, 0] : memref<1x48xf32> -> !xetile.tile<1x48xf32, #row>
  %a = xetile.load_tile %ta : !c -> vector<16x48xf32>
  %r = xetile.reduction <$KIND>, %a [0] : vector<16x48xf32> -> vector<1x48xf32>
  xetile.store_tile %r, %tr : vector<1x48xf32>, !xetile.tile<1x48xf32, #row>
  gpu.return
}
// -----
// xetile.reduction: $KIND, dimension 1, f32
// KIND = add mul minnumf maxnumf minimumf maximumf
// tolerance 1e-5
// floats 0.5 1.5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x1xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !c
  %tr = xetile.init_tile %R[0, 0] : memref<16x1xf32> -> !xetile.tile<16x1xf32, #column>
  %a = xetile.load_tile %ta : !c -> vector<16x48xf32>
  %r = xetile.reduction <$KIND>, %a [1] : vector<16x48xf32> -> vector<16x1xf32>
  xetile.store_tile %r, %tr : vector<16x1xf32>, !xetile.tile<16x1xf32, #column>
  gpu.return
}
// -----
// xetile.reduction: $KIND, dimension 0, i32
// KIND = add mul minsi minui maxsi maxui and or xor
gpu.func @k(%A: memref<16x48xi32>, %R: memref<1x48xi32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xi32> -> !xetile.tile<16x48xi32, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<1x48xi32> -> !xetile.tile<1x48xi32, #row>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xi32, #c> -> vector<16x48xi32>
  %r = xetile.reduction <$KIND>, %a [0] : vector<16x48xi32> -> vector<1x48xi32>
  xetile.store_tile %r, %tr : vector<1x48xi32>, !xetile.tile<1x48xi32, #row>
  gpu.return
}
// -----
// xetile.reduction: $KIND, dimension 1, i32
// KIND = add mul minsi minui maxsi maxui and or xor
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x1xi32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xi32> -> !xetile.tile<16x48xi32, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<16x1xi32> -> !xetile.tile<16x1xi32, #column>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xi32, #c> -> vector<16x48xi32>
  %r = xetile.reduction <$KIND>, %a [1] : vector<16x48xi32> -> vector<16x1xi32>
  xetile.store_tile %r, %tr : vector<16x1xi32>, !xetile.tile<16x1xi32, #column>
  gpu.return
}
// -----
// xetile.reduction: add, dimension 0, maps stated
// tolerance 1e-5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<1x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #rows>
  %tr = xetile.init_tile %R[0, 0] : memref<1x48xf32> -> !xetile.tile<1x48xf32, #row>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf32, #rows> -> vector<16x48xf32>
  %r = xetile.reduction <add>, %a [0] {wg_map_result = #row, wg_map_source = #rows} : vector<16x48xf32> -> vector<1x48xf32>
  xetile.store_tile %r, %tr : vector<1x48xf32>, !xetile.tile<1x48xf32, #row>
  gpu.return
}
// -----
// xetile.reduction: add, dimension 1, maps stated
// tolerance 1e-5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x1xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #columns>
  %tr = xetile.init_tile %R[0, 0] : memref<16x1xf32> -> !xetile.tile<16x1xf32, #column>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf32, #columns> -> vector<16x48xf32>
  %r = xetile.reduction <add>, %a [1] {wg_map_result = #column, wg_map_source = #columns} : vector<16x48xf32> -> vector<16x1xf32>
  xetile.store_tile %r, %tr : vector<16x1xf32>, !xetile.tile<16x1xf32, #column>
  gpu.return
}
// -----
// xetile.reduction: add, both dimensions
// tolerance 1e-5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<1x1xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !c
  %tr = xetile.init_tile %R[0, 0] : memref<1x1xf32> -> !xetile.tile<1x1xf32, #one>
  %a = xetile.load_tile %ta : !c -> vector<16x48xf32>
  %r = xetile.reduction <add>, %a [0, 1] : vector<16x48xf32> -> vector<1x1xf32>
  xetile.store_tile %r, %tr : vector<1x1xf32>, !xetile.tile<1x1xf32, #one>
  gpu.return
}
// -----
// xetile.reduction: add, dimension 1, f16
// tolerance 0.01
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x1xf16>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf16> -> !xetile.tile<16x48xf16, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<16x1xf16> -> !xetile.tile<16x1xf16, #column>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf16, #c> -> vector<16x48xf16>
  %r = xetile.reduction <add>, %a [1] : vector<16x48xf16> -> vector<16x1xf16>
  xetile.store_tile %r, %tr : vector<16x1xf16>, !xetile.tile<16x1xf16, #column>
  gpu.return
}
// -----
// xetile.reduction: add, 4-D, dimensions 0, 2, and broadcast
// tolerance 1e-5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>> -> vector<2x3x8x16xf32>
  %s = xetile.reduction <add>, %a [0, 2] : vector<2x3x8x16xf32> -> vector<1x3x1x16xf32>
  %b = xetile.broadcast %s [0, 2] : vector<1x3x1x16xf32> -> vector<2x3x8x16xf32>
  %r = arith.subf %a, %b : vector<2x3x8x16xf32>
  xetile.store_tile %r, %tr : vector<2x3x8x16xf32>, !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  gpu.return
}
// -----
// xetile.reduction: add, 4-D, dimensions 1, 3, and broadcast
// tolerance 1e-5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>> -> vector<2x3x8x16xf32>
  %s = xetile.reduction <add>, %a [1, 3] : vector<2x3x8x16xf32> -> vector<2x1x8x1xf32>
  %b = xetile.broadcast %s [1, 3] : vector<2x1x8x1xf32> -> vector<2x3x8x16xf32>
  %r = arith.subf %a, %b : vector<2x3x8x16xf32>
  xetile.store_tile %r, %tr : vector<2x3x8x16xf32>, !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  gpu.return
}
// -----
// xetile.broadcast: dimension 0
gpu.func @k(%A: memref<1x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<1x48xf32> -> !xetile.tile<1x48xf32, #row>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<1x48xf32, #row> -> vector<1x48xf32>
  %r = xetile.broadcast %a [0] {wg_map_result = #c} : vector<1x48xf32> -> vector<16x48xf32>
  xetile.store_tile %r, %tr : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.broadcast: dimension 1
gpu.func @k(%A: memref<16x1xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x1xf32> -> !xetile.tile<16x1xf32, #column>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<16x1xf32, #column> -> vector<16x1xf32>
  %r = xetile.broadcast %a [1] {wg_map_result = #c} : vector<16x1xf32> -> vector<16x48xf32>
  xetile.store_tile %r, %tr : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.broadcast: both dimensions
gpu.func @k(%A: memref<1x1xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<1x1xf32> -> !xetile.tile<1x1xf32, #one>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !xetile.tile<1x1xf32, #one> -> vector<1x1xf32>
  %r = xetile.broadcast %a [0, 1] {wg_map_result = #c} : vector<1x1xf32> -> vector<16x48xf32>
  xetile.store_tile %r, %tr : vector<16x48xf32>, !c
  gpu.return
}
// -----
// xetile.convert_layout: $KIND
// KIND = f32 f16 i8
// only work-group: without maps there is nothing to convert
gpu.func @k(%A: memref<48x48x$KIND>, %R: memref<48x48x$KIND>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<48x48x$KIND> -> !xetile.tile<48x48x$KIND, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<48x48x$KIND> -> !xetile.tile<48x48x$KIND, #whole>
  %a = xetile.load_tile %ta : !xetile.tile<48x48x$KIND, #c> -> vector<48x48x$KIND>
  %r = xetile.convert_layout %a {wg_map_result = #whole, wg_map_source = #c} : vector<48x48x$KIND>
  xetile.store_tile %r, %tr : vector<48x48x$KIND>, !xetile.tile<48x48x$KIND, #whole>
  gpu.return
}
// -----
// xetile.tile_pack
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf16> -> !xetile.tile<16x48xf16, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf16> -> !xetile.tile<16x48xf16, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf16, #c> -> vector<16x48xf16>
  %r = xetile.tile_pack %a {inner_blocks = array<i64: 8, 16>} : vector<16x48xf16> -> vector<2x3x8x16xf16>
  xetile.store_tile %r, %tr : vector<2x3x8x16xf16>, !xetile.tile<16x48xf16, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  gpu.return
}
// -----
// xetile.tile_unpack
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf16> -> !xetile.tile<16x48xf16, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf16> -> !xetile.tile<16x48xf16, #c>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf16, #xetile.tile_attr<wg_map = #c, inner_blocks = [8, 16]>> -> vector<2x3x8x16xf16>
  %r = xetile.tile_unpack %a {inner_blocks = array<i64: 8, 16>} : vector<2x3x8x16xf16> -> vector<16x48xf16>
  xetile.store_tile %r, %tr : vector<16x48xf16>, !xetile.tile<16x48xf16, #c>
  gpu.return
}
// -----
// xetile.tile_unpack: of what another blocking packed
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !c
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !c
  %a = xetile.load_tile %ta : !c -> vector<16x48xf32>
  %p = xetile.tile_pack %a {inner_blocks = array<i64: 8, 16>} : vector<16x48xf32> -> vector<2x3x8x16xf32>
  %q = vector.shape_cast %p : vector<2x3x8x16xf32> to vector<4x6x4x8xf32>
  %r = xetile.tile_unpack %q {inner_blocks = array<i64: 4, 8>} : vector<4x6x4x8xf32> -> vector<16x48xf32>
  xetile.store_tile %r, %tr : vector<16x48xf32>, !c
  gpu.return
}
