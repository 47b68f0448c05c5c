// XeTile's tiles and memory. Six sub-groups; what each owns of a matrix is a map of the matrix's name.
#c = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 16]>
#columns = #xetile.wg_map<sg_layout = [1, 6], sg_data = [16, 8]>
#half = #xetile.wg_map<sg_layout = [6, 1], sg_data = [8, 16]>
#robin = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 48]>
!tile = !xetile.tile<16x48xf32, #c>
!turned = !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, order = [0, 1]>>
!scattered = !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, scattered = true>>

// -----
// xetile.init_tile: static memref
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: offsets of values and integers
// with m = 3
gpu.func @k(%A: memref<29x64xf32>, %R: memref<16x48xf32>, %m: index) kernel {
  %ta = xetile.init_tile %A[%m, 16] : memref<29x64xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: partly outside
gpu.func @k(%A: memref<13x40xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[2, -8] : memref<13x40xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: dynamic memref
// with A = 13x40xf32, m = 13, n = 40
gpu.func @k(%A: memref<?x?xf32>, %R: memref<16x48xf32>, %m: index, %n: index) kernel {
  %ta = xetile.init_tile %A[1, 4], [%m, %n], [%n, 1] : memref<?x?xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: address
// with A = 13x40xf32, m = 1
gpu.func @k(%A: i64, %R: memref<16x48xf32>, %m: index) kernel {
  %ta = xetile.init_tile %A[%m, 4], [13, 40], [40, 1] : i64 -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: order [0, 1], strided memref
gpu.func @k(%A: memref<16x48xf32, strided<[1, 16]>>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32, strided<[1, 16]>> -> !turned
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !turned -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: order [0, 1], affine_map to one number
gpu.func @k(%A: memref<20x48xf32, affine_map<(d0, d1) -> (d1 * 20 + d0)>>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[8, 4] : memref<20x48xf32, affine_map<(d0, d1) -> (d1 * 20 + d0)>> -> !turned
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !turned -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: rank 3, sizes and strides given
// with z = 2, n = 13, m = 48, p = 624, A = 3x13x48xf32
gpu.func @k(%A: memref<?x13x48xf32>, %R: memref<16x48xf32>, %z: index, %n: index, %m: index, %p: index) kernel {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %ta = xetile.init_tile %A[%z, 1, 0], [%c3, %n, %m], [%p, %m, %c1] : memref<?x13x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: order [0, 1], affine_map
gpu.func @k(%A: memref<20x48xf32, affine_map<(d0, d1) -> (d1, d0)>>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[8, 4] : memref<20x48xf32, affine_map<(d0, d1) -> (d1, d0)>> -> !turned
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !turned -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: rank 3
// with z = 2
gpu.func @k(%A: memref<3x13x48xf32>, %R: memref<16x48xf32>, %z: index) kernel {
  %ta = xetile.init_tile %A[%z, 1, 0] : memref<3x13x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: rank 4
// with z = 2
gpu.func @k(%A: memref<2x3x13x48xf32>, %R: memref<16x48xf32>, %z: index) kernel {
  %ta = xetile.init_tile %A[1, %z, 1, 0] : memref<2x3x13x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: maps of sub-groups and of work-items
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>>>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>>>
  %a = xetile.load_tile %ta : !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>>> -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>>>
  gpu.return
}
// -----
// xetile.init_tile: dealt out round robin, and shared
gpu.func @k(%A: memref<32x48xf32>, %R: memref<32x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<32x48xf32> -> !xetile.tile<32x48xf32, #robin>
  %tr = xetile.init_tile %R[0, 0] : memref<32x48xf32> -> !xetile.tile<32x48xf32, #robin>
  %a = xetile.load_tile %ta : !xetile.tile<32x48xf32, #robin> -> vector<32x48xf32>
  xetile.store_tile %a, %tr : vector<32x48xf32>, !xetile.tile<32x48xf32, #robin>
  gpu.return
}
// -----
// xetile.init_tile: shared local memory, $KIND
// KIND = f32 f16
gpu.func @k(%A: memref<16x48x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %s = memref.alloc() : memref<16x48x$KIND, 3>
  %ta = xetile.init_tile %A[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %ts = xetile.init_tile %s[0, 0] : memref<16x48x$KIND, 3> -> !xetile.tile<16x48x$KIND, #xetile.tile_attr<wg_map = #c, memory_space = 3 : i32>>
  %x = xetile.load_tile %ta : !xetile.tile<16x48x$KIND, #c> -> vector<16x48x$KIND>
  xetile.store_tile %x, %ts : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #xetile.tile_attr<wg_map = #c, memory_space = 3 : i32>>
  gpu.barrier
  %a = xetile.load_tile %ts : !xetile.tile<16x48x$KIND, #xetile.tile_attr<wg_map = #c, memory_space = 3 : i32>> -> vector<16x48x$KIND>
  xetile.store_tile %a, %tr : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #c>
  gpu.return
}
// -----
// xetile.init_tile: shared local memory, read by another map
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<16x48xf32, 3>
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #columns>
  %ts = xetile.init_tile %s[0, 0] : memref<16x48xf32, 3> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, memory_space = 3 : i32>>
  %tu = xetile.init_tile %s[0, 0] : memref<16x48xf32, 3> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #columns, memory_space = 3 : i32>>
  %x = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %x, %ts : vector<16x48xf32>, !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #c, memory_space = 3 : i32>>
  gpu.barrier
  %a = xetile.load_tile %tu : !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #columns, memory_space = 3 : i32>> -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !xetile.tile<16x48xf32, #columns>
  gpu.return
}
// -----
// xetile.init_tile: scattered
gpu.func @k(%A: memref<1600xf32>, %R: memref<16x48xf32>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %two = arith.constant dense<2> : vector<16x48xindex>
  %at = arith.muli %line, %two : vector<16x48xindex>
  %ts = xetile.init_tile %A, %at : memref<1600xf32>, vector<16x48xindex> -> !scattered
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %v = xetile.load %ts : !scattered -> vector<16x48xf32>
  xetile.store_tile %v, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.init_tile: scattered, address
// with A = 1600xf32
gpu.func @k(%A: i64, %R: memref<16x48xf32>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %two = arith.constant dense<2> : vector<16x48xindex>
  %at = arith.muli %line, %two : vector<16x48xindex>
  %ts = xetile.init_tile %A, %at : i64, vector<16x48xindex> -> !scattered
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %v = xetile.load %ts : !scattered -> vector<16x48xf32>
  xetile.store_tile %v, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.load_tile: $KIND
// KIND = f32 f16 bf16 i8 i32 f64
gpu.func @k(%A: memref<13x64x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %ta = xetile.init_tile %A[0, 16] : memref<13x64x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %a = xetile.load_tile %ta : !xetile.tile<16x48x$KIND, #c> -> vector<16x48x$KIND>
  xetile.store_tile %a, %tr : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #c>
  gpu.return
}
// -----
// xetile.load_tile: padding
gpu.func @k(%A: memref<13x40xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[-2, 4] : memref<13x40xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta {padding = 2.5 : f32} : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.load_tile: hints
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta {l1_hint = #xetile.cache_hint<uncached>, l2_hint = #xetile.cache_hint<cached>} : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.load_tile: array_length
gpu.func @k(%A: memref<48x64xf16>, %R: memref<48x16xf16>) kernel {
  %ta = xetile.init_tile %A[0, 16] : memref<48x64xf16> -> !xetile.tile<48x16xf16, #xetile.tile_attr<wg_map = #half, array_length = 2 : i64>>
  %tr = xetile.init_tile %R[0, 0] : memref<48x16xf16> -> !xetile.tile<48x16xf16, #half>
  %a:2 = xetile.load_tile %ta : !xetile.tile<48x16xf16, #xetile.tile_attr<wg_map = #half, array_length = 2 : i64>> -> vector<48x16xf16>, vector<48x16xf16>
  %r = arith.subf %a#0, %a#1 : vector<48x16xf16>
  xetile.store_tile %r, %tr : vector<48x16xf16>, !xetile.tile<48x16xf16, #half>
  gpu.return
}
// -----
// xetile.store_tile: $KIND
// KIND = f32 f16 bf16 i8 i32
gpu.func @k(%A: memref<16x48x$KIND>, %R: memref<13x64x$KIND>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %tr = xetile.init_tile %R[-2, 32] : memref<13x64x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %a = xetile.load_tile %ta : !xetile.tile<16x48x$KIND, #c> -> vector<16x48x$KIND>
  xetile.store_tile %a, %tr : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #c>
  gpu.return
}
// -----
// xetile.store_tile: order [0, 1]
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32, strided<[1, 16]>>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32, strided<[1, 16]>> -> !turned
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !turned
  gpu.return
}
// -----
// xetile.store_tile: hints
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr {l1_hint = #xetile.cache_hint<write_through>, l2_hint = #xetile.cache_hint<write_back>} : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.prefetch_tile
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  xetile.prefetch_tile %ta : !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.prefetch_tile: hints
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  xetile.prefetch_tile %ta {l1_hint = #xetile.cache_hint<cached>, l2_hint = #xetile.cache_hint<cached>} : !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.prefetch_tile: locality
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  xetile.prefetch_tile %ta locality<2> : !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.prefetch_tile: scattered
gpu.func @k(%A: memref<800xf32>, %R: memref<16x48xf32>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %ts = xetile.init_tile %A, %line : memref<800xf32>, vector<16x48xindex> -> !scattered
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  xetile.prefetch_tile %ts : !scattered
  %v = xetile.load %ts : !scattered -> vector<16x48xf32>
  xetile.store_tile %v, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.update_tile_offset
// with n = 8
gpu.func @k(%A: memref<19x64xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %t0 = xetile.init_tile %A[0, 0] : memref<19x64xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %ta = xetile.update_tile_offset %t0, [4, %n] : !tile
  %a = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store_tile %a, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.update_tile_offset: in a loop
gpu.func @k(%A: memref<19x96xf32>, %R: memref<16x48xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant dense<0.0> : vector<16x48xf32>
  %t0 = xetile.init_tile %A[0, 0] : memref<19x96xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %r, %end = scf.for %k = %c0 to %c48 step %c16 iter_args(%sum = %zero, %t = %t0) -> (vector<16x48xf32>, !tile) {
    %a = xetile.load_tile %t : !tile -> vector<16x48xf32>
    %more = arith.addf %sum, %a : vector<16x48xf32>
    %next = xetile.update_tile_offset %t, [1, %c16] : !tile
    scf.yield %more, %next : vector<16x48xf32>, !tile
  }
  xetile.store_tile %r, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.update_tile_offset: scattered
gpu.func @k(%A: memref<800xf32>, %R: memref<16x48xf32>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %by = arith.constant dense<5> : vector<16x48xindex>
  %t0 = xetile.init_tile %A, %line : memref<800xf32>, vector<16x48xindex> -> !scattered
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %ts = xetile.update_tile_offset %t0, %by : !scattered, vector<16x48xindex>
  %v = xetile.load %ts : !scattered -> vector<16x48xf32>
  xetile.store_tile %v, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.load: $KIND
// KIND = f32 f16 bf16 i8 i32
gpu.func @k(%A: memref<800x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %last = arith.constant dense<777> : vector<16x48xindex>
  %at = arith.subi %last, %line : vector<16x48xindex>
  %ts = xetile.init_tile %A, %at : memref<800x$KIND>, vector<16x48xindex> -> !xetile.tile<16x48x$KIND, #xetile.tile_attr<wg_map = #c, scattered = true>>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %v = xetile.load %ts : !xetile.tile<16x48x$KIND, #xetile.tile_attr<wg_map = #c, scattered = true>> -> vector<16x48x$KIND>
  xetile.store_tile %v, %tr : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #c>
  gpu.return
}
// -----
// xetile.load: mask, padding, hints
gpu.func @k(%A: memref<800xf32>, %R: memref<16x48xf32>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %two = arith.constant dense<2> : vector<16x48xindex>
  %most = arith.constant dense<800> : vector<16x48xindex>
  %at = arith.muli %line, %two : vector<16x48xindex>
  %mask = arith.cmpi ult, %at, %most : vector<16x48xindex>
  %ts = xetile.init_tile %A, %at : memref<800xf32>, vector<16x48xindex> -> !scattered
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %v = xetile.load %ts, %mask {padding = 7.0 : f32, l1_hint = #xetile.cache_hint<cached>, l2_hint = #xetile.cache_hint<uncached>} : !scattered, vector<16x48xi1> -> vector<16x48xf32>
  xetile.store_tile %v, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.store: $KIND
// KIND = f32 f16 bf16 i8 i32
gpu.func @k(%A: memref<16x48x$KIND>, %R: memref<800x$KIND>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %last = arith.constant dense<777> : vector<16x48xindex>
  %at = arith.subi %last, %line : vector<16x48xindex>
  %ts = xetile.init_tile %R, %at : memref<800x$KIND>, vector<16x48xindex> -> !xetile.tile<16x48x$KIND, #xetile.tile_attr<wg_map = #c, scattered = true>>
  %ta = xetile.init_tile %A[0, 0] : memref<16x48x$KIND> -> !xetile.tile<16x48x$KIND, #c>
  %v = xetile.load_tile %ta : !xetile.tile<16x48x$KIND, #c> -> vector<16x48x$KIND>
  xetile.store %v, %ts : vector<16x48x$KIND>, !xetile.tile<16x48x$KIND, #xetile.tile_attr<wg_map = #c, scattered = true>>
  gpu.return
}
// -----
// xetile.store: mask, hints
gpu.func @k(%A: memref<16x48xf32>, %R: memref<800xf32>) kernel {
  %step = vector.step : vector<768xindex>
  %line = vector.shape_cast %step : vector<768xindex> to vector<16x48xindex>
  %two = arith.constant dense<2> : vector<16x48xindex>
  %most = arith.constant dense<800> : vector<16x48xindex>
  %at = arith.muli %line, %two : vector<16x48xindex>
  %mask = arith.cmpi ult, %at, %most : vector<16x48xindex>
  %ts = xetile.init_tile %R, %at : memref<800xf32>, vector<16x48xindex> -> !scattered
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %v = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  xetile.store %v, %ts, %mask {l1_hint = #xetile.cache_hint<write_back>} : vector<16x48xf32>, !scattered, vector<16x48xi1>
  gpu.return
}
// -----
// xetile.atomic_rmw: $KIND f32
// KIND = addf mulf maximumf minimumf maxnumf minnumf assign
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %C: memref<13x40xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xf32> -> !tile
  %tc = xetile.init_tile %C[-2, 4] : memref<13x40xf32> -> !tile
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xf32> -> !tile
  %v = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  %old = xetile.atomic_rmw $KIND %v, %tc : vector<16x48xf32>, !tile -> vector<16x48xf32>
  xetile.store_tile %old, %tr : vector<16x48xf32>, !tile
  gpu.return
}
// -----
// xetile.atomic_rmw: $KIND i32
// KIND = addi muli maxs maxu mins minu andi ori xori assign
gpu.func @k(%A: memref<16x48xi32>, %C: memref<13x40xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xetile.init_tile %A[0, 0] : memref<16x48xi32> -> !xetile.tile<16x48xi32, #c>
  %tc = xetile.init_tile %C[-2, 4] : memref<13x40xi32> -> !xetile.tile<16x48xi32, #c>
  %tr = xetile.init_tile %R[0, 0] : memref<16x48xi32> -> !xetile.tile<16x48xi32, #c>
  %v = xetile.load_tile %ta : !xetile.tile<16x48xi32, #c> -> vector<16x48xi32>
  %old = xetile.atomic_rmw $KIND %v, %tc : vector<16x48xi32>, !xetile.tile<16x48xi32, #c> -> vector<16x48xi32>
  xetile.store_tile %old, %tr : vector<16x48xi32>, !xetile.tile<16x48xi32, #c>
  gpu.return
}
// -----
// xetile.atomic_rmw: by several work-groups
// groups 3
// tolerance 1e-5
gpu.func @k(%A: memref<3x16x48xf32>, %C: memref<16x48xf32>) kernel {
  %g = gpu.block_id x
  %ta = xetile.init_tile %A[%g, 0, 0] : memref<3x16x48xf32> -> !tile
  %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !tile
  %v = xetile.load_tile %ta : !tile -> vector<16x48xf32>
  %old = xetile.atomic_rmw addf %v, %tc : vector<16x48xf32>, !tile -> vector<16x48xf32>
  gpu.return
}
